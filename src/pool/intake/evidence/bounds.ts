import { assert } from '../../../core/assert.ts';

/**
 * The mathematics of evidence, without a read in sight. Entropies are bits, failure probabilities are given as
 * `failureNats` = -ln(probability).
 */

/**
 * The largest rate that `count` events in `samples` trials leave possible: P(so few or fewer) <= exp(-samples · KL(count /
 * samples ‖ rate)) (Hoeffding 1963, Theorem 1, in relative entropy), so every rate at which that is above the failure
 * probability. It is never below the bound of Clopper and Pearson, which inverts the exact tail; and unlike theirs it holds
 * for a random sample without replacement as well (Hoeffding 1963, §6), as Serfling's does, which is far wider at small
 * rates.
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

/**
 * The largest rate among `rest` trials that nobody looked at, when `samples` others, picked at random from all of them,
 * had `count` events: all together have at most the rate U of `rateUpperBound`, of which the sample's own share is known,
 * so the rest has at most U + (samples / rest)(U - count / samples).
 */
export function restUpperBound(count: number, samples: number, rest: number, failureNats: number): number {
  const all = rateUpperBound(count, samples, failureNats);
  return Math.min(1, all + (samples / rest) * (all - count / samples));
}

/** Published errors of one channel's readout: e01 = P(reads 1 | state 0), e10 = P(reads 0 | state 1). */
export interface ReadoutErrors {
  readonly e01: number;
  readonly e10: number;
}

/**
 * Min-entropy of one measured qubit against somebody who knows, shot by shot, whether its readout worked. A readout with
 * errors (e01, e10) is a perfect one with probability 1 - e01 - e10, else the fixed answer 1 (e01) or 0 (e10). The fixed
 * answers are known; a perfect one shows 1 with probability q, where the whole shows 1 with p1 = e01 + (1 - e01 - e10) q. So
 *
 *   guess = e01 + e10 + (1 - e01 - e10) max(q, 1 - q) = max(p1 + e10, p0 + e01),   H = -log2(guess).
 *
 * p1 and p0 are taken at their largest by the lot's own counts. At q = 1/2, the ideal |+>, p1 - p0 = e01 - e10 and this is
 * 1 - log2(1 + e01 + e10), which two errors that cancel in the bias cannot raise.
 */
export function readoutMinEntropy({ e01, e10 }: ReadoutErrors, p1: number, p0: number): number {
  const guess = Math.max(p1 + e10, p0 + e01);
  return guess >= 1 ? 0 : -Math.log2(guess);
}

/**
 * Min-entropy per bit of a qubit measured in Z, against whoever holds the rest of the world, when the same preparation
 * measured in X errs with probability `xError`: 1 - 2 log2(sqrt(e) + sqrt(1 - e)), the uncertainty relation
 * H_min(Z|E) + H_max(X) >= 1 with H_max = H_1/2 (Vallone et al., arXiv:1401.7917). At e >= 1/2 nothing is left.
 */
export function xBasisMinEntropy(xError: number): number {
  if (xError >= 0.5) return 0;
  return 1 - 2 * Math.log2(Math.sqrt(xError) + Math.sqrt(1 - xError));
}

/**
 * Min-entropy of one run of a Bell test, that is of both its outcomes together: f(S) = 1 - log2(1 + sqrt(2 - S²/4)) for the
 * CHSH value S (Pironio et al. 2010, arXiv:0911.3427). 0 up to the classical S = 2, 1 bit at 2 sqrt 2.
 */
export function chshMinEntropyPerRun(s: number): number {
  if (s <= 2) return 0;
  return 1 - Math.log2(1 + Math.sqrt(Math.max(0, 2 - (s * s) / 4)));
}

/**
 * How far the S of `runs` runs may lie above that of the devices: eps with delta = exp(-runs eps² / (2 (1/q + 2 sqrt 2)²)), q the
 * probability of the rarest setting (Pironio et al. 2010, from Azuma's inequality; runs may depend on earlier ones).
 */
export function chshMargin(runs: number, leastSettingShare: number, failureNats: number): number {
  return (1 / leastSettingShare + 2 * Math.SQRT2) * Math.sqrt((2 * failureNats) / runs);
}
