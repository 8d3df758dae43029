/**
 * The instance's memory: three windows through which an answer passes block by block, and the tables. Nothing is ever
 * allocated, so the memory stays as large as it starts, whatever the answer. Kernels read and write whole words: each
 * window has room behind it for what they touch beyond its end.
 */

/** Values of one block. From 1,024 to 4,096 the time of an answer changes by less than 5 % (bench `values`). */
export const BLOCK_VALUES: i32 = 2048;
/** Bytes of one block of values that are bytes or bits themselves. */
export const BLOCK_BYTES: i32 = 8192;
/** A word of entropy has at most 7 bytes. */
export const ENTROPY_BYTES: i32 = 7 * BLOCK_VALUES;
/** The longest texts: 8 characters for a byte (its bits, or `"AA==",` in base64), 25 for a float of 53 bits. */
export const TEXT_BYTES: i32 = 65536;

/** A kernel reads at most 15 bytes beyond what it is given, and windows are erased in pieces of 16. */
const SLACK: i32 = 16;
/** A kernel writes at most 132 bytes beyond what it returns: 32 refused numbers of 4 characters, or part of a vector. */
const TEXT_SLACK: i32 = 160;

/** Entropy whose bits are drawn one by one, each block with what the one before has left. */
export const STREAM_BYTES: i32 = 8192;
/** Bits of a number in (0, 1) beyond its first 64. A longer one has a probability below 2^-500. */
export const MORE_BITS: i32 = 500;

/** Raw entropy. */
export const ENTROPY: usize = memory.data(ENTROPY_BYTES + SLACK, 64);
/** What was drawn: u32 or u64. */
export const OFFSETS: usize = memory.data(8 * BLOCK_VALUES + SLACK, 64);
/** What was written. */
export const TEXT: usize = memory.data(TEXT_BYTES + TEXT_SLACK, 64);
/** Entropy backwards, its last byte first (gaussians.ts). */
export const STREAM: usize = memory.data(STREAM_BYTES + SLACK, 64);
export const STREAM_END: usize = STREAM + STREAM_BYTES + SLACK;
/** Four numbers that are drawn bit by bit. */
export const FRACTIONS: usize = memory.data(4 * (12 + MORE_BITS), 64);
/** The second result (u32) of a kernel that has two, and those behind it. */
export const SECOND: usize = memory.data(24, 8);

/** Counts values off the second result. It lies in memory because a word is seldom refused, and registers are few. */
@inline
export function loseValues(count: i32): void {
  store<i32>(SECOND, load<i32>(SECOND) - count);
}

/** Zeroes the first bytes of the windows, all that an answer used, with what kernels touched beyond. */
export function erase(entropyBytes: i32, offsetBytes: i32, textBytes: i32): void {
  zero(ENTROPY, entropyBytes);
  if (offsetBytes > 0) zero(OFFSETS, offsetBytes + SLACK);
  zero(TEXT, textBytes + TEXT_SLACK);
}

/** Zeroes what bits are drawn from, and the numbers that they made. */
export function eraseStream(): void {
  zero(STREAM, STREAM_BYTES + SLACK);
  zero(FRACTIONS, 4 * (12 + MORE_BITS));
}

/** In whole vectors: for the little of a small answer a loop takes a fifth of what the engine's own fill does. */
@inline
function zero(at: usize, size: i32): void {
  const end = at + usize(size);
  for (; at < end; at += 16) v128.store(at, i8x16.splat(0));
}
