import { BLOCK_BYTES, type ByteSource, kernels, putText, takeEntropy } from './kernels.ts';
import { type Output, putBytes, putPacked, stringHead } from './packed.ts';

/**
 * Writes a JSON string of the next `length` bits as characters 0 and 1, most significant bit first; the bits of the last
 * byte that are not needed are dropped. Returns the end of the string.
 */
export function drawBitstring(
  source: ByteSource,
  length: number,
  target: Uint8Array,
  start: number,
  packed?: Output,
): number {
  if (packed !== undefined) putBytes(stringHead(length), packed);
  target[start] = 0x22; // '"'
  let at = start + 1;
  for (let missing = length; missing > 0; ) {
    const bits = Math.min(missing, 8 * BLOCK_BYTES);
    const bytes = Math.ceil(bits / 8);
    takeEntropy(source, bytes);
    kernels.bits(bytes);
    at = putText(bits, target, at);
    if (packed !== undefined) putPacked(bits, packed);
    missing -= bits;
  }
  target[at] = 0x22;
  return at + 1;
}

export function bitstringTextMax(length: number): number {
  return 2 + length;
}
