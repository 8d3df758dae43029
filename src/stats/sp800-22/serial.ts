/** SP 800-22 2.11, Serial test: are all patterns of m bits equally frequent? */
import { assert } from '../../core/assert.ts';
import { igamc } from '../special.ts';
import { foldPatterns, type PatternCounts } from './patterns.ts';

export interface SerialResult {
  /** ψ²_m, ψ²_(m-1), ψ²_(m-2). */
  readonly psiSquared: readonly [number, number, number];
  /** Of ∇ψ²_m and of ∇²ψ²_m. */
  readonly pValues: readonly [number, number];
}

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
export function serialTest(patterns: PatternCounts, length: number): SerialResult {
  const m = patterns.patternBits;
  assert(m >= 2, 'the serial test needs patterns of two bits or more');
  const full = scaledPsiSquared(patterns, length);
  const shorter = scaledPsiSquared(foldPatterns(patterns, m - 1), length);
  const shortest = scaledPsiSquared(foldPatterns(patterns, m - 2), length); // ψ²_0 = 0 comes out by itself
  // Step 4: the differences are taken of whole numbers, so that nothing cancels.
  const delta = (full - shorter) / length;
  const deltaSquared = (full - 2 * shorter + shortest) / length;
  return {
    psiSquared: [full / length, shorter / length, shortest / length],
    pValues: [igamc(2 ** (m - 2), delta / 2), igamc(2 ** (m - 3), deltaSquared / 2)], // step 5
  };
}
