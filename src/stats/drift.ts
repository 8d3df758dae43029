import { assert } from '../core/assert.ts';

/**
 * -log2 of the chance, for each lot, that a source whose figures do not drift raises the alarm in one
 * direction.
 */
const ALPHA_BITS = 20;
/**
 * Figures that ranks are taken among; then the test begins again. A busy source makes so many lots in some
 * months.
 */
const FIGURES_MAX = 4096;
/** How much the test bets on the extreme ranks: the largest gain of one lot is log2(1 + 3) = 2 bits. */
const EXPONENT = 3;

/** Where the drift test of one source stands. */
export interface DriftState {
  /** Figures compared since the test began. */
  readonly figures: number;
  /** Evidence for a fall and for a rise, in bits; the alarm is at `alarmBits`. */
  readonly fallBits: number;
  readonly riseBits: number;
  readonly alarmBits: number;
  /** The direction whose evidence reached the alarm last, until the test begins again; null when none did. */
  readonly drifts: 'down' | 'up' | null;
}

/**
 * Page's CUSUM on a figure of one source, such as the min-entropy estimate of each lot, by sequential ranks.
 * It needs no baseline and no distribution: as long as the figures are exchangeable (as those of a source
 * that does not change are), the rank r of the n-th figure among the first n is uniform on 1 to n and
 * independent of all earlier ranks (McDonald, "A cusum procedure based on sequential ranks", Naval Research
 * Logistics 37, 1990).
 *
 * A figure adds log2 L to the score for a fall, L = w(r) / mean of w over all ranks, w(r) = (1 - (r - 1/2) /
 * n)^3, and the mirror image to that for a rise; neither score falls below zero. L has mean 1 whatever came
 * before, so that a source without drift reaches 20 bits within its first n lots with a chance of at most n ·
 * 2^-20 in either direction; the proof is that of RefusalTest (pool/intake/refusals.ts). Equal figures count
 * as the rank that is least evidence.
 */
export class DriftTest {
  /** Sorted. */
  #figures: number[] = [];
  #fallBits = 0;
  #riseBits = 0;
  #drifts: 'down' | 'up' | null = null;

  add(figure: number): void {
    assert(Number.isFinite(figure), 'a drift is looked for in numbers');
    if (this.#figures.length === FIGURES_MAX) this.#begin();
    const below = countBelow(this.#figures, figure);
    const notAbove = countNotAbove(this.#figures, figure);
    this.#figures.splice(notAbove, 0, figure);
    const n = this.#figures.length;
    this.#fallBits = Math.max(0, this.#fallBits + gainBits(notAbove + 1, n));
    this.#riseBits = Math.max(0, this.#riseBits + gainBits(n - below, n));
    if (this.#fallBits >= ALPHA_BITS) this.#drifts = 'down';
    else if (this.#riseBits >= ALPHA_BITS) this.#drifts = 'up';
  }

  state(): DriftState {
    return {
      figures: this.#figures.length,
      fallBits: this.#fallBits,
      riseBits: this.#riseBits,
      alarmBits: ALPHA_BITS,
      drifts: this.#drifts,
    };
  }

  #begin(): void {
    this.#figures = [];
    this.#fallBits = 0;
    this.#riseBits = 0;
    this.#drifts = null;
  }
}

/** log2 L of rank r among n. */
function gainBits(r: number, n: number): number {
  // The mean of (1 - (r - 1/2) / n)^3 over r = 1 to n is 1/4 - 1/(8 n²).
  const mean = 1 / (EXPONENT + 1) - 1 / (8 * n * n);
  return Math.log2((1 - (r - 0.5) / n) ** EXPONENT / mean);
}

function countBelow(sorted: readonly number[], figure: number): number {
  return firstWhere(sorted, (each) => each >= figure);
}

function countNotAbove(sorted: readonly number[], figure: number): number {
  return firstWhere(sorted, (each) => each > figure);
}

/** The first place from which on the predicate holds, by halving. */
function firstWhere(sorted: readonly number[], holds: (each: number) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(sorted[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}
