import { assert } from '../../core/assert.ts';

/**
 * Pearson's χ² of counts against probabilities, as SP 800-22 uses it throughout: Σ (ν_i - N π_i)² / (N π_i).
 */
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
 * Which probabilities three of the tests use. `reference` is what NIST's sts-2.1.2 computes with, for
 * comparison with its published figures; `corrected` (the default) is what the null hypothesis implies. They
 * differ in
 * - LongestRun, M = 10^4: a four-digit table against the exact distribution (longest-run.ts);
 * - OverlappingTemplate: an asymptotic formula against the exact distribution (overlapping-template.ts);
 * - LinearComplexity: π_0 = 0.01047, a misprint, against 1/96 (linear-complexity.ts).
 */
export type Constants = 'corrected' | 'reference';
