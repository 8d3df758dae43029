import { assert } from '../../../core/assert.ts';

/**
 * The mathematics of evidence, without a read in sight. Entropies are bits, failure probabilities are given
 * as
 * `failureNats` = -ln(probability).
 */

/**
 * The largest rate that `count` events in `samples` trials leave possible: P(so few or fewer) <= exp(-samples
 * · KL(count / samples ‖ rate)) (Hoeffding 1963, Theorem 1, in relative entropy), so every rate at which that
 * is above the failure probability. It is
 * never below the bound of Clopper and Pearson, which inverts the exact tail.
 */
export function rateUpperBound(count: number, samples: number, failureNats: number): number {
  assert(samples >= 1 && count >= 0 && count <= samples, 'events are counted among trials');
  const seen = count / samples;
  let possible = seen;
  let refuted = 1;
  if (samples * divergence(seen, refuted) < failureNats) return 1;
  for (let halving = 0; halving < 60; halving++) {
    const middle = (possible + refuted) / 2;
    if (samples * divergence(seen, middle) < failureNats) possible = middle;
    else refuted = middle;
  }
  return refuted;
}

/** KL(seen ‖ rate) of two coins, in nats. */
function divergence(seen: number, rate: number): number {
  const part = (a: number, b: number) => (a === 0 ? 0 : a * Math.log(a / b));
  return part(seen, rate) + part(1 - seen, 1 - rate);
}

/** Published errors of one channel's readout: e01 = P(reads 1 | state 0), e10 = P(reads 0 | state 1). */
export interface ReadoutErrors {
  readonly e01: number;
  readonly e10: number;
}

/**
 * Min-entropy of one measured qubit against somebody who knows, shot by shot, whether its readout worked. A
 * readout with errors (e01, e10) is a perfect one with probability 1 - e01 - e10, else the fixed answer 1
 * (e01) or 0 (e10). The fixed answers are known; a perfect one shows 1 with probability q, where the whole
 * shows 1 with p1 = e01 + (1 - e01 - e10) q. So
 *
 *   guess = e01 + e10 + (1 - e01 - e10) max(q, 1 - q) = max(p1 + e10, p0 + e01),   H = -log2(guess).
 *
 * p1 and p0 are taken at their largest by the lot's own counts. At q = 1/2, the ideal |+>, p1 - p0 = e01 -
 * e10 and this is 1 - log2(1 + e01 + e10), which two errors that cancel in the bias cannot raise.
 */
export function readoutMinEntropy({ e01, e10 }: ReadoutErrors, p1: number, p0: number): number {
  const guess = Math.max(p1 + e10, p0 + e01);
  return guess >= 1 ? 0 : -Math.log2(guess);
}
