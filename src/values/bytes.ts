import { assert } from '../core/assert.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { BLOCK_BYTES, type ByteSource, kernels, putText, takeEntropy } from './kernels.ts';

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

/** The JSON text of the next `count` values of `source`: an array, or one string. */
export function drawBytes(
  source: ByteSource,
  { count, length, encoding, single }: { count: number } & Omit<ByteSample, 'kind' | 'octets'>,
  target: Uint8Array,
  start: number,
): number {
  assert(length <= BLOCK_BYTES, 'a value fits into a block');
  const write = encoding === 'hex' ? kernels.hex : kernels.base64;
  const blockValues = Math.floor(BLOCK_BYTES / length);
  let at = start;
  if (!single) target[at++] = 0x5b; // '['
  for (let missing = count; missing > 0; ) {
    const values = Math.min(missing, blockValues);
    takeEntropy(source, values * length);
    const size = write(values, length);
    at = putText(single ? size - 1 : size, target, at); // one string has no comma behind it
    missing -= values;
  }
  if (!single) target[at - 1] = 0x5d; // ']' over the last comma
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
  return 2 + count * (3 + (encoding === 'hex' ? 2 * length : 4 * Math.ceil(length / 3)));
}
