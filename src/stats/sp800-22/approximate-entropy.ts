/** SP 800-22 2.12, Approximate entropy test: how often do patterns of m bits go on as they did before? */
import { igamc } from '../special.ts';
import { foldPatterns, type PatternCounts } from './patterns.ts';

export interface ApproximateEntropyResult {
  /** ApEn(m), in nats. */
  readonly entropy: number;
  readonly chiSquared: number;
  readonly pValue: number;
}

/**
 * φ_m + m ln 2 = Σ (C_i/n) ln(2^m C_i/n): zero for equal counts, so that small differences keep their digits.
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
export function approximateEntropyTest(
  patterns: PatternCounts,
  length: number,
  patternBits: number,
): ApproximateEntropyResult {
  const longer = foldPatterns(patterns, patternBits + 1);
  // ApEn(m) = φ_m - φ_(m+1), so ln 2 - ApEn(m) is the difference of the excesses (step 6).
  const missing = excess(longer, length) - excess(foldPatterns(longer, patternBits), length);
  const chiSquared = Math.max(0, 2 * length * missing); // step 7; rounding may leave -1e-16
  return {
    entropy: Math.LN2 - missing,
    chiSquared,
    pValue: igamc(2 ** (patternBits - 1), chiSquared / 2), // step 8
  };
}
