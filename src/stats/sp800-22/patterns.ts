import { assert } from '../../core/assert.ts';
import { igamc } from '../special.ts';
import { type BitSequence, wordAt } from './sequence.ts';

/*
 * Counts of each m-bit pattern in the sequence read as a ring: the first m - 1 bits are appended (SP 800-22 2.11.4 step
 * 1, 2.12.4 step 1). The serial and the approximate-entropy test share these counts.
 */

export interface PatternCounts {
  /** m; 0 means the empty pattern, which occurs n times. */
  readonly patternBits: number;
  readonly counts: Int32Array;
}

/**
 * Adds to `counts` the m-bit words (m <= 16) that begin at bits start .. start + windows - 1. A 32-bit word
 * holds sixteen whole windows. The loop processes two such words at once, since it waits for memory, not for
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
  // The windows across the end consist of the last m - 1 bits and the first m - 1.
  const mask = counts.length - 1;
  let window = wordAt(words, straight - 1) >>> (32 - patternBits);
  for (let i = 0; i < patternBits - 1; i++) {
    window = ((window << 1) | (wordAt(words, i) >>> 31)) & mask;
    counts[window]++;
  }
  return { patternBits, counts };
}

/** Returns the counts of a shorter pattern: on a ring a zero or a one follows every occurrence. */
function foldPatterns(patterns: PatternCounts, patternBits: number): PatternCounts {
  let { counts } = patterns;
  for (let m = patterns.patternBits; m > patternBits; m--) {
    const shorter = new Int32Array(counts.length / 2);
    for (let i = 0; i < shorter.length; i++) shorter[i] = counts[2 * i] + counts[2 * i + 1];
    counts = shorter;
  }
  return { patternBits, counts };
}

/* SP 800-22 2.12, Approximate entropy test: do the bits after a pattern of m bits depend on the pattern? */

/**
 * Returns φ_m + m ln 2 = Σ (C_i/n) ln(2^m C_i/n). It is zero for equal counts, so that small differences keep their
 * digits.
 */
function excess({ counts }: PatternCounts, length: number): number {
  const expected = length / counts.length;
  let sum = 0;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i];
    if (count !== 0) sum += (count / length) * Math.log1p((count - expected) / expected); // 2.12.4 steps 3, 4
  }
  return sum;
}

/** `patterns` counts patterns of at least m + 1 bits of a sequence of `length` bits. */
export function approximateEntropyTest(patterns: PatternCounts, length: number, patternBits: number) {
  const longer = foldPatterns(patterns, patternBits + 1);
  // ApEn(m) = φ_m - φ_(m+1), so ln 2 - ApEn(m) is the difference of the excesses (step 6).
  const missing = excess(longer, length) - excess(foldPatterns(longer, patternBits), length);
  const chiSquared = Math.max(0, 2 * length * missing); // step 7; rounding may leave -1e-16
  return {
    entropy: Math.LN2 - missing, // ApEn(m), in nats
    chiSquared,
    pValue: igamc(2 ** (patternBits - 1), chiSquared / 2), // step 8
  };
}

/* SP 800-22 2.11, Serial test: are all patterns of m bits equally frequent? */

/** n ψ²_m = 2^m Σ ν² - n², a whole number (2.11.4 step 3). */
function scaledPsiSquared({ counts }: PatternCounts, length: number): number {
  let squares = 0;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i];
    squares += count * count;
  }
  return counts.length * squares - length * length;
}

/** `patterns` counts the patterns of m >= 2 bits of a sequence of `length` bits. */
export function serialTest(patterns: PatternCounts, length: number) {
  const m = patterns.patternBits;
  assert(m >= 2, 'the serial test needs patterns of two bits or more');
  const full = scaledPsiSquared(patterns, length);
  const shorter = scaledPsiSquared(foldPatterns(patterns, m - 1), length);
  const shortest = scaledPsiSquared(foldPatterns(patterns, m - 2), length); // for m = 2 this is ψ²_0 = 0
  // Step 4: the differences are of whole numbers, so that no digits cancel.
  const delta = (full - shorter) / length;
  const deltaSquared = (full - 2 * shorter + shortest) / length;
  return {
    psiSquared: [full / length, shorter / length, shortest / length], // ψ²_m, ψ²_(m-1), ψ²_(m-2)
    pValues: [igamc(2 ** (m - 2), delta / 2), igamc(2 ** (m - 3), deltaSquared / 2)], // step 5
  };
}
