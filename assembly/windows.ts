/**
 * The instance's memory: three windows through which an answer passes block by block, and the tables. Nothing is ever
 * allocated, so the memory stays as large as it starts, whatever the answer. Kernels read and write whole words: each
 * window has room behind it for what they touch beyond its end.
 */

/** Values of one block. The time of an answer changes by less than 3 % from 1,024 to 4,096 (bench `values`). */
export const BLOCK_VALUES: i32 = 2048;
/** Bytes of one block of values that are bytes or bits themselves. */
export const BLOCK_BYTES: i32 = 8 * 1024;
/** A word of entropy has at most 7 bytes. */
export const ENTROPY_BYTES: i32 = 7 * 2048;
/** The longest texts: 8 characters for a byte (its bits, or `"AA==",` in base64), 25 for a float of 53 bits. */
export const TEXT_BYTES: i32 = 64 * 1024;

/** A kernel reads at most 15 bytes beyond what it is given. */
const SLACK: i32 = 16;
/** A kernel writes at most 132 bytes beyond what it returns: 32 refused numbers of 4 characters, or part of a vector. */
const TEXT_SLACK: i32 = 160;

/** Raw entropy. */
export const ENTROPY: usize = memory.data(ENTROPY_BYTES + SLACK, 64);
/** What was drawn: u32 or u64. */
export const OFFSETS: usize = memory.data(8 * BLOCK_VALUES + SLACK, 64);
/** What was written. */
export const TEXT: usize = memory.data(TEXT_BYTES + TEXT_SLACK, 64);
/** The second result (u32) of a kernel that has two. */
export const SECOND: usize = memory.data(4, 4);

/** Zeroes the first bytes of the windows, all that an answer used, with what kernels touched beyond. */
export function erase(entropyBytes: i32, offsetBytes: i32, textBytes: i32): void {
  memory.fill(ENTROPY, 0, entropyBytes);
  memory.fill(OFFSETS, 0, offsetBytes + SLACK);
  memory.fill(TEXT, 0, textBytes + TEXT_SLACK);
}
