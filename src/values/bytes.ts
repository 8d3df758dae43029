import { base64Length, writeBase64 } from './base64.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { writeHex } from './hex.ts';

export type ByteEncoding = 'hex' | 'base64';

/** `octets` holds values of `length` bytes one behind the other. */
export interface ByteSample {
  readonly kind: 'bytes';
  readonly octets: Uint8Array<ArrayBuffer>;
  readonly length: number;
  readonly encoding: ByteEncoding;
  /** True: the answer is one string, not an array of strings. */
  readonly single: boolean;
}

/** `count` values of `length` uniformly random bytes. */
export function sampleBytes(
  reader: EntropyReader,
  count: number,
  length: number,
  encoding: ByteEncoding,
  single: boolean,
): ByteSample {
  const octets = new Uint8Array(count * length);
  reader.fill(octets);
  return { kind: 'bytes', octets, length, encoding, single };
}

export function writeBytes(sample: ByteSample, view: DataView, start: number): number {
  const { octets, length, encoding, single } = sample;
  const write = encoding === 'hex' ? writeHex : writeBase64;
  const source = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  let at = start;
  if (!single) view.setUint8(at++, 0x5b); // '['
  for (let from = 0; from < octets.length; from += length) {
    if (from > 0) view.setUint8(at++, 0x2c); // ','
    view.setUint8(at++, 0x22); // '"'
    at = write(source, from, from + length, view, at);
    view.setUint8(at++, 0x22);
  }
  if (!single) view.setUint8(at++, 0x5d); // ']'
  return at;
}

export function plainBytes({ octets, length, encoding, single }: ByteSample): string | string[] {
  const all = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
  if (single) return all.toString(encoding);
  const values: string[] = [];
  for (let from = 0; from < octets.length; from += length)
    values.push(all.toString(encoding, from, from + length));
  return values;
}

export function bytesTextMax(count: number, length: number, encoding: ByteEncoding): number {
  return 2 + count * (3 + (encoding === 'hex' ? 2 * length : base64Length(length)));
}
