import { assert } from '../../../core/assert.ts';

/**
 * The mathematics of evidence, without a read in sight. Entropies are bits, failure probabilities are given
 * as
 * `failureNats` = -ln(probability).
 */

/**
 * The largest rate that `count` events in `samples` trials leave possible: P(so few or fewer) <= exp(-samples
 * · KL(count / samples ‖ rate)) (Hoeffding 1963, Theorem 1, in relative entropy), so every rate at which that
 * is above the failure probability. A trial may give any value in [0, 1], of which `count` is the sum. It is
 * never below the bound of Clopper and Pearson, which inverts the exact tail; and unlike theirs it holds for
 * a random sample without replacement as well (Hoeffding 1963, Theorem 4).
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
 * The largest mean of the `rest` values that nobody looked at, when `tested` others, drawn uniformly without
 * replacement from all of them, have the mean `seen`. Values lie in [0, 1] and may depend on each other in
 * any way. The lesser of two bounds, each of which fails with half of the probability:
 *
 * - Serfling 1974, as Tomamichel, Lim, Gisin and Renner use it (arXiv:1103.4130): seen + mu with
 *   mu² = M (K + 1) ln(1/eps) / (2 n K²), K = tested, n = rest, M = K + n;
 * - `rateUpperBound` of all M values, U, less the tested ones, which are known: U + (K / n)(U - seen). It is
 *   the lesser one
 *   at small means.
 */
export function restUpperBound(seen: number, tested: number, rest: number, failureNats: number): number {
  assert(tested >= 1 && rest >= 1, 'there are values on both sides');
  const nats = failureNats + Math.LN2;
  const serfling = seen + Math.sqrt(((tested + rest) * (tested + 1) * nats) / (2 * rest * tested * tested));
  const all = rateUpperBound(seen * tested, tested, nats);
  return Math.min(1, serfling, all + (tested / rest) * (all - seen));
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

/**
 * Min-entropy of one qubit measured in Z, against whoever holds the rest of the world, when each shot of the
 * same preparation measured in X errs with probability `xError`: 1 - 2 log2(sqrt(e) + sqrt(1 - e)), the
 * uncertainty relation H_min(Z|E) + H_max(X) >= 1 with H_max = H_1/2 (Vallone et al., arXiv:1401.7917). At e
 * >= 1/2 nothing is left.
 */
export function xBasisMinEntropy(xError: number): number {
  if (xError >= 0.5) return 0;
  return 1 - 2 * Math.log2(Math.sqrt(xError) + Math.sqrt(1 - xError));
}

/**
 * Smooth min-entropy per raw bit of a whole lot, whose bits measured in X instead would err in at most the
 * share `xError` of them: 1 - h(xError), h the binary entropy. The uncertainty relation H_min^eps(Z|E) +
 * H_max^eps(X) >= N (Tomamichel and Renner, arXiv:1009.2015), and at most 2^(N h(Q)) strings of N bits have
 * QN ones or fewer. At Q >= 1/2 nothing is left.
 */
export function jointMinEntropyRate(xError: number): number {
  if (xError >= 0.5) return 0;
  return 1 - (xError === 0 ? 0 : -xError * Math.log2(xError) - (1 - xError) * Math.log2(1 - xError));
}

/** The most that a local strategy wins of CHSH, and the most that a quantum one does, (2 + sqrt 2) / 4. */
const LOCAL_WINS = 3 / 4;
const QUANTUM_WINS = (2 + Math.SQRT2) / 4;

/** S = 8 (w - 1/2) for the share w of runs that win: S = 2 at 3/4, 2 sqrt 2 at most by quantum means. */
export function chshOfWins(wins: number): number {
  return 8 * (wins - 0.5);
}

/**
 * -ln of the probability that a local device wins the mean share `wins` of `clusters` clusters, at most:
 * clusters · KL(wins ‖ 3/4). Whatever a local device does in a cluster, with memory of all earlier ones, its
 * expected share is at most 3/4 when the setting is drawn uniformly and independently of the past. A value in
 * [0, 1] of mean p or less has E[exp(λ x)] <= 1 + p (exp(λ) - 1), so the product over clusters is a
 * supermartingale and Hoeffding's bound (1963, Theorem 1) holds as for independent trials. It is never above
 * Azuma and Hoeffding's 2 · clusters · (wins - 3/4)².
 */
export function localNats(wins: number, clusters: number): number {
  return wins <= LOCAL_WINS ? 0 : clusters * divergence(wins, LOCAL_WINS);
}

/**
 * Clusters at which a device of that share of wins refutes local devices, with that probability of failure.
 */
export function clustersNeeded(wins: number, failureNats: number): number {
  return Math.ceil(failureNats / localNats(wins, 1));
}

/** Standard errors by which S may lie above 2 sqrt 2: chance does it once in 10^9 times. */
const STANDARD_ERRORS = 6;

/**
 * Whether no quantum device wins so much: more than (2 + sqrt 2) / 4 by STANDARD_ERRORS. `meanSquare` is that
 * of the clusters' shares. The variance is taken as seen between clusters, and never below that of
 * independent runs.
 */
export function isAboveQuantum(wins: number, meanSquare: number, clusters: number, runs: number): boolean {
  const between = Math.max(0, meanSquare - wins * wins) / Math.max(1, clusters - 1);
  const within = (QUANTUM_WINS * (1 - QUANTUM_WINS)) / runs;
  return wins - QUANTUM_WINS > STANDARD_ERRORS * Math.sqrt(Math.max(between, within));
}
