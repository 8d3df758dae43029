import { assert } from '../../../core/assert.ts';

/**
 * The mathematics of evidence. Entropies are in bits. Failure probabilities are given as `failureNats` =
 * -ln(probability).
 */

/**
 * Returns an upper bound of the rate of an event that occurred `count` times in `samples` trials. At a given rate, P(at
 * most `count` events) <= exp(-samples · KL(count / samples ‖ rate)) (Hoeffding 1963, Theorem 1, in relative entropy).
 * The bound is the largest rate for which that is at least the failure probability. It is never below the bound of
 * Clopper and Pearson, which inverts the exact tail.
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

/** Returns KL(seen ‖ rate) of two Bernoulli distributions, in nats. */
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
 * Returns the min-entropy of one measured qubit against an adversary who knows for each shot whether the readout
 * worked. A readout with errors (e01, e10) is perfect with probability 1 - e01 - e10; otherwise it gives the fixed
 * answer 1 (e01) or 0 (e10). The adversary knows the fixed answers. A perfect readout shows 1 with probability q, so
 * that all readouts together show 1 with p1 = e01 + (1 - e01 - e10) q. Hence
 *
 *   guess = e01 + e10 + (1 - e01 - e10) max(q, 1 - q) = max(p1 + e10, p0 + e01),   H = -log2(guess).
 *
 * The caller gives p1 and p0 as the largest values that the lot's own counts allow. For the ideal |+>, q = 1/2, this is
 * 1 - log2(1 + e01 + e10): two errors do not raise it even if they cancel in the bias.
 */
export function readoutMinEntropy({ e01, e10 }: ReadoutErrors, p1: number, p0: number): number {
  const guess = Math.max(p1 + e10, p0 + e01);
  return guess >= 1 ? 0 : -Math.log2(guess);
}
