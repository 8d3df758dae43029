/**
 * The instance's memory: three windows through which an answer passes block by block, and the tables. Nothing is ever
 * allocated, so the memory keeps its initial size, whatever the answer. Kernels read and write whole words, so each
 * window is followed by room for what they touch beyond its end.
 */

/** Count of values in a block. From 1,024 to 4,096 the time of an answer changes by less than 5 % (bench `micro`). */
export const BLOCK_VALUES: i32 = 2048;
/** Size of a block whose values are bytes or bits themselves. */
export const BLOCK_BYTES: i32 = 8192;
/** Size of the entropy window: a word has at most 7 bytes. */
export const ENTROPY_BYTES: i32 = 7 * BLOCK_VALUES;
/**
 * Size of the text window. The longest texts are 8 characters for a byte (its bits, or `"AA==",` in base64) and 25 for a
 * float of 53 bits.
 */
export const TEXT_BYTES: i32 = 65536;

/** A kernel reads at most 15 bytes beyond its input, and windows are erased 16 bytes at a time. */
const SLACK: i32 = 16;
/** A kernel writes at most 132 bytes beyond the size it returns: 32 refused numbers of 4 characters, or part of a vector. */
const TEXT_SLACK: i32 = 160;

/** Size of the stream, whose bits are drawn one by one; each block of entropy is added to the rest of the previous one. */
export const STREAM_BYTES: i32 = 8192;
/** Count of bits of a number in (0, 1) beyond its first 64. A longer one has a probability below 2^-500. */
export const MORE_BITS: i32 = 500;

/** Raw entropy. */
export const ENTROPY: usize = memory.data(ENTROPY_BYTES + SLACK, 64);
/** Offsets that were drawn: u32 or u64. */
export const OFFSETS: usize = memory.data(8 * BLOCK_VALUES + SLACK, 64);
/** Text or octets. */
export const TEXT: usize = memory.data(TEXT_BYTES + TEXT_SLACK, 64);
/** Entropy backwards, its last byte first (gaussians.ts). */
export const STREAM: usize = memory.data(STREAM_BYTES + SLACK, 64);
export const STREAM_END: usize = STREAM + STREAM_BYTES + SLACK;
/** Four numbers in (0, 1) that are drawn bit by bit. */
export const FRACTIONS: usize = memory.data(4 * (12 + MORE_BITS), 64);
/** The second and further results of a kernel (u32). */
export const SECOND: usize = memory.data(24, 8);

/** Subtracts values from the second result, which is in memory because words are seldom refused and registers are few. */
@inline
export function loseValues(count: i32): void {
  store<i32>(SECOND, load<i32>(SECOND) - count);
}

/** Zeroes the parts of the windows that an answer used, and what kernels touched beyond them. */
export function erase(entropyBytes: i32, offsetBytes: i32, textBytes: i32): void {
  zero(ENTROPY, entropyBytes);
  if (offsetBytes > 0) zero(OFFSETS, offsetBytes + SLACK);
  zero(TEXT, textBytes + TEXT_SLACK);
}

/** Zeroes the stream and the numbers that were drawn from it. */
export function eraseStream(): void {
  zero(STREAM, STREAM_BYTES + SLACK);
  zero(FRACTIONS, 4 * (12 + MORE_BITS));
}

/** Zeroes whole vectors: for the few bytes of a small answer this loop takes a fifth of the time of the engine's own fill. */
@inline
function zero(at: usize, size: i32): void {
  const end = at + usize(size);
  for (; at < end; at += 16) v128.store(at, i8x16.splat(0));
}
