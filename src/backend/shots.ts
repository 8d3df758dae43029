import { assert } from '../core/assert.ts';

/**
 * The largest single read: 32 MiB of raw noise. Larger harvests are several reads, so that each is tested
 * soon.
 */
export const MAX_READ_BITS = 2 ** 28;

/**
 * Shots of `width` channels that hold at least `bits` bits. Where the width divides 8 the shots fill whole
 * bytes, so that such reads can be joined without shifting.
 */
export function wholeShots(bits: number, width: number): number {
  assert(
    Number.isSafeInteger(bits) && bits >= 1 && bits <= MAX_READ_BITS,
    `a read is of 1 to ${MAX_READ_BITS} bits`,
  );
  assert(Number.isInteger(width) && width >= 1, 'a shot has at least one channel');
  const unit = 8 % width === 0 ? 8 : width;
  return (Math.ceil(bits / unit) * unit) / width;
}
