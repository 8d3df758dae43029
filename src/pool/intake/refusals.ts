import type { RawRead } from '../../backend/backend.ts';
import { FALSE_REJECT_RATE } from '../../stats/sp800-22/verdict.ts';
import { falseAlarmChance } from './health.ts';

/**
 * The share of refused lots that a source is held against: one in eight is refused for a reason. Any share
 * above about 4 % closes a source in the end (test/adversary/liars/refusals.test.ts has the figures); below,
 * /v1/health warns.
 */
const BROKEN_SHARE = 1 / 8;
/** -log2 of the chance, for each lot, that a sound source is closed: the least alpha of SP 800-90B §4.4. */
const ALPHA_BITS = 40;

/**
 * Page's CUSUM over the lots of one source. Three refused lots in a row close it, and five failed health
 * tests; a source whose lots are refused again and again with good ones between shows here. A lot adds the
 * logarithm of the likelihood ratio L of the hypotheses "one lot in eight is refused" and "chance refuses":
 * for a lot that chance refuses with at most p, log2(1/8 / p) when it is refused and log2(7/8 / (1 - p)) when
 * it may serve. The score never falls below zero.
 *
 * Why a sound source is closed within its first n lots with a chance of at most n · 2^-40: let R_n = (1 +
 * R_(n-1)) L_n (Shiryaev, Roberts). L_n has a mean of at most 1, so R_n - n is a supermartingale and E[R] <=
 * n wherever it is stopped within n lots. By induction 2^score <= max(1, R_n), so a score of 40 needs R_n >=
 * 2^40; Markov's inequality does the rest (Lorden 1971 has the bound on the mean time, 2^40 lots).
 */
export class RefusalTest {
  #score = 0;
  #lots = 0;
  #refused = 0;

  /** `chance`: how often a lot of this kind of a sound source is refused, at most. */
  add(isRefused: boolean, chance: number): void {
    // Where chance alone refuses as many, a refusal says nothing: lots of 130 Mbit and more.
    if (chance >= BROKEN_SHARE) return;
    const ratio = isRefused ? BROKEN_SHARE / chance : (1 - BROKEN_SHARE) / (1 - chance);
    this.#score = Math.max(0, this.#score + Math.log2(ratio));
    const isAtRest = this.#score === 0;
    this.#lots = isAtRest ? 0 : this.#lots + 1;
    this.#refused = isAtRest ? 0 : this.#refused + (isRefused ? 1 : 0);
  }

  /** True when a sound source has so many refused lots less often than once in 2^40 lots. */
  get isBeyondChance(): boolean {
    return this.#score >= ALPHA_BITS;
  }

  /** What is counted, since the score last was zero. */
  get inWords(): string {
    return `${this.#refused} of ${this.#lots} lots were refused`;
  }
}

/**
 * How often a lot of a source that meets its claim is refused, at most: by its health tests, or by SP 800-22
 * on a single block. Several blocks are refused by a rule that good ones meet with 0.1 % at most, and the
 * floor of min-entropy adds less than lies between a block's 0.08 % and its bound of 0.2 %.
 */
export function refusalChance(read: Pick<RawRead, 'shots' | 'width'>): number {
  return Math.min(1, falseAlarmChance(read) + FALSE_REJECT_RATE);
}
