/**
 * How often each m-bit pattern stands in the sequence read as a ring (the first m - 1 bits are appended: SP
 * 800-22 2.11.4 step 1, 2.12.4 step 1). The serial and the approximate-entropy test share these counts.
 */
import { assert } from '../../core/assert.ts';
import { type BitSequence, wordAt } from './sequence.ts';

export interface PatternCounts {
  /** m; 0 stands for the empty pattern, found n times. */
  readonly patternBits: number;
  readonly counts: Int32Array;
}

/**
 * Adds to `counts` the m-bit words (m <= 16) that begin at bits start .. start + windows - 1. A 32-bit word
 * holds sixteen windows whole; two such words go side by side, since the loop waits for memory, not for
 * arithmetic.
 */
export function addWindows(
  counts: Int32Array,
  words: Int32Array,
  start: number,
  windows: number,
  patternBits: number,
): void {
  const shift = 32 - patternBits;
  const end = start + windows;
  let at = start;
  for (; at + 32 <= end; at += 32) {
    let first = wordAt(words, at);
    let second = wordAt(words, at + 16);
    for (let i = 0; i < 16; i++) {
      counts[first >>> shift]++;
      counts[second >>> shift]++;
      first <<= 1;
      second <<= 1;
    }
  }
  for (; at < end; at++) counts[wordAt(words, at) >>> shift]++;
}

export function countPatterns(bits: BitSequence, patternBits: number): PatternCounts {
  const { words, length } = bits;
  assert(patternBits >= 1 && patternBits <= 16 && patternBits <= length, 'patterns have 1 to 16 bits');
  const counts = new Int32Array(2 ** patternBits);
  const straight = length - patternBits + 1;
  addWindows(counts, words, 0, straight, patternBits);
  // The windows that run over the end, from the last m - 1 bits followed by the first m - 1.
  const mask = counts.length - 1;
  let window = wordAt(words, straight - 1) >>> (32 - patternBits);
  for (let i = 0; i < patternBits - 1; i++) {
    window = ((window << 1) | (wordAt(words, i) >>> 31)) & mask;
    counts[window]++;
  }
  return { patternBits, counts };
}

/** The counts of a shorter pattern: on a ring every pattern goes on with a zero or a one. */
export function foldPatterns(patterns: PatternCounts, patternBits: number): PatternCounts {
  let { counts } = patterns;
  for (let m = patterns.patternBits; m > patternBits; m--) {
    const shorter = new Int32Array(counts.length / 2);
    for (let i = 0; i < shorter.length; i++) shorter[i] = counts[2 * i] + counts[2 * i + 1];
    counts = shorter;
  }
  return { patternBits, counts };
}
