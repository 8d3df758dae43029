import type { EntropyReader } from './entropy-reader.ts';
import { BLOCK_BYTES, type ByteSource, kernels, putText, takeEntropy } from './kernels.ts';

/** `length` random bits, most significant bit first; the last byte is filled up with zero bits. */
export interface BitstringSample {
  readonly kind: 'bitstring';
  readonly octets: Uint8Array<ArrayBuffer>;
  readonly length: number;
}

export function sampleBitstring(reader: EntropyReader, length: number): BitstringSample {
  const octets = new Uint8Array(Math.ceil(length / 8));
  reader.fill(octets);
  const unused = 8 * octets.length - length;
  octets[octets.length - 1] &= 0xff << unused;
  return { kind: 'bitstring', octets, length };
}

/**
 * A JSON string of the next `length` bits of `source` as characters 0 and 1; what its last byte has more is
 * dropped.
 */
export function drawBitstring(source: ByteSource, length: number, target: Uint8Array, start: number): number {
  target[start] = 0x22; // '"'
  let at = start + 1;
  for (let missing = length; missing > 0; ) {
    const bits = Math.min(missing, 8 * BLOCK_BYTES);
    const bytes = Math.ceil(bits / 8);
    takeEntropy(source, bytes);
    kernels.bits(bytes);
    at = putText(bits, target, at);
    missing -= bits;
  }
  target[at] = 0x22;
  return at + 1;
}

export function plainBitstring({ octets, length }: BitstringSample): string {
  let text = '';
  for (const byte of octets) text += byte.toString(2).padStart(8, '0');
  return text.slice(0, length);
}

export function bitstringTextMax(length: number): number {
  return 2 + length;
}
