/** SP 800-22 2.13, Cumulative sums test: does the walk stray too far, or stay too close? */
import { normalBetween, normalCdf } from '../special.ts';
import type { Walk } from './walk.ts';

export interface CumulativeSumsResult {
  /**
   * z, the largest distance from the start, for the walk forward and for the walk over the reversed sequence.
   */
  readonly z: readonly [forward: number, reverse: number];
  readonly pValues: readonly [forward: number, reverse: number];
}

export function cumulativeSumsTest(walk: Walk, length: number): CumulativeSumsResult {
  const { minimum, maximum, end } = walk;
  // 2.13.4 steps 2, 3. The reversed walk's sums are S_n - S_k.
  const forward = Math.max(-minimum, maximum);
  const reverse = Math.max(end - minimum, maximum - end);
  return { z: [forward, reverse], pValues: [pValueOf(forward, length), pValueOf(reverse, length)] };
}

/**
 * 2.13.4 step 4. The bounds of the sums are truncated as the reference's integer division does; the printed
 * example 2.13.4 needs that, and at n >= 100 it makes no difference. The term k = 0 of the first sum is taken
 * from the leading 1, so that a small p keeps its digits: 1 - (Φ(z/√n) - Φ(-z/√n)) = 2 Φ(-z/√n).
 */
function pValueOf(z: number, length: number): number {
  const unit = z / Math.sqrt(length);
  const ratio = Math.trunc(length / z);
  // Beyond 40 standard deviations Φ is 0 or 1 in float64: such terms are exactly zero.
  const reach = Math.ceil(10 / unit) + 1;
  const last = Math.min(Math.trunc((ratio - 1) / 4), reach);
  let p = 2 * normalCdf(-unit);
  for (let k = Math.max(Math.trunc((-ratio + 1) / 4), -reach); k <= last; k++) {
    if (k !== 0) p -= normalBetween((4 * k - 1) * unit, (4 * k + 1) * unit);
  }
  for (let k = Math.max(Math.trunc((-ratio - 3) / 4), -reach); k <= last; k++) {
    p += normalBetween((4 * k + 1) * unit, (4 * k + 3) * unit);
  }
  return Math.min(1, Math.max(0, p));
}
