import { bisect, minEntropyOf, upperBound } from './confidence.ts';

/** Probability that a run as long as the longest one seen does not occur (SP 800-90B 6.3.7). */
const LOG_CONFIDENCE = Math.log(0.99);

/** What a predictor of SP 800-90B 6.3.7 to 6.3.10 did. */
export interface Hits {
  /** C: correct predictions. */
  readonly correct: number;
  /** The longest run of them. */
  readonly longestRun: number;
}

export interface PredictorRun extends Hits {
  /** N: predictions made or declined. */
  readonly predictions: number;
}

/**
 * Turns what a predictor did into min-entropy (SP 800-90B 6.3.7, steps 4 to 7; the same in 6.3.8 to 6.3.10).
 */
export function predictionEstimate(run: PredictorRun, alphabetSize: number) {
  const { predictions, correct, longestRun } = run;
  const pGlobal = correct / predictions;
  // The upper end of the 99 % interval of pGlobal.
  const pGlobalUpper = pGlobal > 0 ? upperBound(pGlobal, predictions) : 1 - 0.01 ** (1 / predictions);
  const floor = Math.max(pGlobalUpper, 1 / alphabetSize);
  const isRunUnlikely = (p: number): boolean => logNoRun(p, longestRun + 1, predictions) > LOG_CONFIDENCE;
  // The probability that makes the longest run likely; null when it cannot exceed pGlobalUpper.
  const pLocal = floor < 1 && isRunUnlikely(floor) ? bisect(floor, 1, isRunUnlikely) : null;
  return { ...run, pGlobal, pGlobalUpper, pLocal, minEntropy: minEntropyOf(pLocal ?? floor) };
}

/**
 * Logarithm of the probability that n trials of success probability p hold no run of r successes, by
 * Feller's approximation (SP 800-90B 6.3.7): (1 - px) / ((r + 1 - rx) q) * x^-(n+1), x being the
 * smallest root above 1 of x = 1 + q p^r x^(r+1). The excess y = x - 1 is carried in place of x: it is near
 * 1e-8 for a million samples, and x itself would keep half of its digits.
 */
export function logNoRun(p: number, r: number, n: number): number {
  const q = 1 - p;
  const first = q * p ** r;
  let y = 0;
  // The recurrence rises to its root; NIST's tool goes as far. Where that falls short a run is near certain.
  for (let round = 0; round <= 65; round++) {
    const next = first * Math.exp((r + 1) * Math.log1p(y));
    if (next - y <= Number.EPSILON * y) break;
    y = next;
  }
  // From p = r / (r + 1) on the smallest root is 1/p, where the quotient is 0: a run that short is certain
  // to occur.
  if (p * y >= q || r * y >= 1) return Number.NEGATIVE_INFINITY;
  return Math.log1p((-p * y) / q) - Math.log1p(-r * y) - (n + 1) * Math.log1p(y);
}
