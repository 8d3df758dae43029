import { bisect, minEntropyOf, upperBound } from './confidence.ts';

/** ln of the probability that no run is longer than the longest one seen (SP 800-90B 6.3.7). */
const LOG_CONFIDENCE = Math.log(0.99);

/** The result of a predictor of SP 800-90B 6.3.7 to 6.3.10. */
export interface Hits {
  /** C: correct predictions. */
  readonly correct: number;
  /** Length of the longest run of correct predictions. */
  readonly longestRun: number;
}

export interface PredictorRun extends Hits {
  /** N: predictions made or declined. */
  readonly predictions: number;
}

/** Computes min-entropy from the hits of a predictor (SP 800-90B 6.3.7, steps 4 to 7; the same in 6.3.8 to 6.3.10). */
export function predictionEstimate(run: PredictorRun, alphabetSize: number) {
  const { predictions, correct, longestRun } = run;
  const pGlobal = correct / predictions;
  // The upper end of the 99 % interval of pGlobal.
  const pGlobalUpper = pGlobal > 0 ? upperBound(pGlobal, predictions) : 1 - 0.01 ** (1 / predictions);
  const floor = Math.max(pGlobalUpper, 1 / alphabetSize);
  const isRunUnlikely = (p: number): boolean => logNoRun(p, longestRun + 1, predictions) > LOG_CONFIDENCE;
  // The probability at which a run as long as the longest one becomes likely; null when it cannot exceed pGlobalUpper.
  const pLocal = floor < 1 && isRunUnlikely(floor) ? bisect(floor, 1, isRunUnlikely) : null;
  return { ...run, pGlobal, pGlobalUpper, pLocal, minEntropy: minEntropyOf(pLocal ?? floor) };
}

/**
 * Returns the logarithm of the probability that n trials of success probability p contain no run of r successes, by
 * Feller's approximation (SP 800-90B 6.3.7): (1 - px) / ((r + 1 - rx) q) * x^-(n+1), where x is the
 * smallest root above 1 of x = 1 + q p^r x^(r+1). The code computes y = x - 1 instead of x: y is near
 * 1e-8 for a million samples, and x would keep only half of its digits.
 */
export function logNoRun(p: number, r: number, n: number): number {
  const q = 1 - p;
  const first = q * p ** r;
  let y = 0;
  // The recurrence rises to its root; NIST's tool makes as many rounds. Where these are too few, a run is nearly certain.
  for (let round = 0; round <= 65; round++) {
    const next = first * Math.exp((r + 1) * Math.log1p(y));
    if (next - y <= Number.EPSILON * y) break;
    y = next;
  }
  // For p >= r / (r + 1) the smallest root is 1/p, where the quotient is 0: a run so short is certain
  // to occur.
  if (p * y >= q || r * y >= 1) return Number.NEGATIVE_INFINITY;
  return Math.log1p((-p * y) / q) - Math.log1p(-r * y) - (n + 1) * Math.log1p(y);
}
