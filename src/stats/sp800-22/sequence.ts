/**
 * The bits under test, ε_1 .. ε_n of SP 800-22, as big-endian words: bit i is bit 31 - (i mod 32) of word
 * floor(i / 32). All fifteen tests read this form. Bits beyond the length are zero, and one spare word follows, so that
 * a window of 32 bits may start at any bit.
 */
import { assert } from '../../core/assert.ts';

export interface BitSequence {
  /** n, in bits. */
  readonly length: number;
  readonly words: Int32Array;
}

/** Callers split longer sequences: up to here counts stay exact in float64 and the spectral test stays within 1 GB. */
const SEQUENCE_BITS_MAX = 2 ** 26;

/** The first `bitLength` bits of packed bytes, most significant bit first. */
export function bitSequence(bytes: Uint8Array, bitLength: number): BitSequence {
  assert(Number.isSafeInteger(bitLength) && bitLength >= 1, 'a sequence has at least one bit');
  assert(bitLength <= SEQUENCE_BITS_MAX, 'a sequence is at most 2^26 bits long');
  assert(bitLength <= bytes.length * 8, 'a sequence lies within its bytes');
  const wordCount = Math.ceil(bitLength / 32);
  const words = new Int32Array(wordCount + 1);
  const byteCount = Math.ceil(bitLength / 8);
  for (let i = 0; i < byteCount; i++) words[i >>> 2] |= bytes[i] << (24 - 8 * (i & 3));
  const tail = bitLength & 31;
  if (tail !== 0) words[wordCount - 1] &= -1 << (32 - tail);
  return { length: bitLength, words };
}

/** The 32 bits that start at bit `position`, as a signed word. */
export function wordAt(words: Int32Array, position: number): number {
  const index = position >>> 5;
  const shift = position & 31;
  // In two steps, since a shift by 32 is a shift by 0.
  return (words[index] << shift) | ((words[index + 1] >>> 1) >>> (31 - shift));
}

/** Byte `index` of the sequence (8 bits from bit 8·index). */
export function byteAt(words: Int32Array, index: number): number {
  return (words[index >>> 2] >>> (24 - 8 * (index & 3))) & 255;
}

/** The number of ones in a 32-bit word (Hacker's Delight, figure 5-2). */
export function popcount(word: number): number {
  let x = word - ((word >>> 1) & 0x55555555);
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  x = (x + (x >>> 4)) & 0x0f0f0f0f;
  return Math.imul(x, 0x01010101) >>> 24;
}

/** The number of ones in `count` bits from bit `start`. */
export function onesIn(words: Int32Array, start: number, count: number): number {
  let ones = 0;
  let at = start;
  let rest = count;
  for (; rest >= 32; rest -= 32, at += 32) ones += popcount(wordAt(words, at));
  if (rest > 0) ones += popcount(wordAt(words, at) & (-1 << (32 - rest)));
  return ones;
}

/** Pearson's χ² of counts against probabilities, as all tests of SP 800-22 use it: Σ (ν_i - N π_i)² / (N π_i). */
export function chiSquaredOf(
  counts: ArrayLike<number>,
  probabilities: readonly number[],
  trials: number,
): number {
  assert(trials > 0, 'a sequence holds at least one whole block');
  let sum = 0;
  for (let i = 0; i < probabilities.length; i++) {
    const expected = trials * probabilities[i];
    sum += (counts[i] - expected) ** 2 / expected;
  }
  return sum;
}

/**
 * Selects the probabilities that three of the tests use. `reference` is what NIST's sts-2.1.2 computes with, for
 * comparison with its published figures; `corrected` (the default) is what the null hypothesis implies. They
 * differ in
 * - LongestRun, M = 10^4: a four-digit table against the exact distribution (counting.ts);
 * - OverlappingTemplate: an asymptotic formula against the exact distribution (templates.ts);
 * - LinearComplexity: π_0 = 0.01047, a misprint, against 1/96 (linear-complexity.ts).
 */
export type Constants = 'corrected' | 'reference';
