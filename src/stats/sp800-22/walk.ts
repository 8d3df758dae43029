import { erfc, igamc, normalBetween, normalCdf } from '../special.ts';
import { type BitSequence, byteAt, chiSquaredOf } from './sequence.ts';

/*
 * The random walk S_0 = 0, S_k = S_(k-1) ± 1 of a sequence, computed once for the three tests that use it (SP
 * 800-22 2.13, 2.14, 2.15). A walk of 10^6 steps spends about 5 % of them near zero; elsewhere the code advances a byte
 * at a time.
 */

/** States counted over the whole walk: -9 .. 9 (2.15.4 step 4). */
const VISIT_STATES = 9;
/** States counted cycle by cycle: -4 .. 4 (2.14.4 step 4). */
const CYCLE_STATES = 4;
/** Visits in one cycle fall into the classes 0, 1, 2, 3, 4, and 5 or more (2.14.4 step 5). */
const CYCLE_CLASSES = 6;

export interface Walk {
  /** S_n. */
  readonly end: number;
  /** The least and the greatest of S_0 .. S_n. */
  readonly minimum: number;
  readonly maximum: number;
  /** J: returns to zero, the end counted as one (2.14.4 steps 3, 4). */
  readonly cycles: number;
  /** visits[x + 9]: how often S_k = x, for |x| <= 9. */
  readonly visits: Int32Array;
  /** cycleCounts[6 (x + 4) + c]: ν_c(x), the cycles that visit x in class c. */
  readonly cycleCounts: Int32Array;
}

/** Sum, least and greatest partial sum of the eight steps of each byte value. */
const NET = new Int8Array(256);
const LOWEST = new Int8Array(256);
const HIGHEST = new Int8Array(256);
for (let byte = 0; byte < 256; byte++) {
  let sum = 0;
  for (let shift = 7; shift >= 0; shift--) {
    sum += (byte >>> shift) & 1 ? 1 : -1;
    LOWEST[byte] = Math.min(LOWEST[byte], sum);
    HIGHEST[byte] = Math.max(HIGHEST[byte], sum);
  }
  NET[byte] = sum;
}

/** Counts the visits near zero, step by step and cycle by cycle. */
class NearZero {
  readonly visits = new Int32Array(2 * VISIT_STATES + 1);
  readonly cycleCounts = new Int32Array((2 * CYCLE_STATES + 1) * CYCLE_CLASSES);
  readonly #thisCycle = new Int32Array(2 * CYCLE_STATES + 1);
  cycles = 0;

  visit(state: number): void {
    if (state === 0) this.endCycle();
    else if (state <= VISIT_STATES && state >= -VISIT_STATES) {
      this.visits[state + VISIT_STATES]++;
      if (state <= CYCLE_STATES && state >= -CYCLE_STATES) this.#thisCycle[state + CYCLE_STATES]++;
    }
  }

  endCycle(): void {
    this.cycles++;
    this.visits[VISIT_STATES]++;
    for (let i = 0; i < this.#thisCycle.length; i++) {
      this.cycleCounts[CYCLE_CLASSES * i + Math.min(this.#thisCycle[i], CYCLE_CLASSES - 1)]++;
    }
    this.#thisCycle.fill(0);
  }
}

export function walkOf(bits: BitSequence): Walk {
  const near = new NearZero();
  let sum = 0;
  let minimum = 0;
  let maximum = 0;
  const far = VISIT_STATES + 8; // beyond it, eight steps cannot reach a counted state
  const bytes = Math.ceil(bits.length / 8);
  for (let i = 0; i < bytes; i++) {
    const byte = byteAt(bits.words, i);
    const steps = Math.min(8, bits.length - 8 * i);
    if (steps === 8 && (sum > far || sum < -far)) {
      const low = sum + LOWEST[byte];
      const high = sum + HIGHEST[byte];
      if (low < minimum) minimum = low;
      if (high > maximum) maximum = high;
      sum += NET[byte];
      continue;
    }
    for (let step = 0; step < steps; step++) {
      sum += 2 * ((byte >>> (7 - step)) & 1) - 1;
      if (sum < minimum) minimum = sum;
      if (sum > maximum) maximum = sum;
      near.visit(sum);
    }
  }
  if (sum !== 0) {
    near.endCycle(); // 2.14.4 step 3: a zero is appended
    near.visits[VISIT_STATES]--; // the appended zero is not an S_k
  }
  const { visits, cycleCounts, cycles } = near;
  return { end: sum, minimum, maximum, cycles, visits, cycleCounts };
}

/* SP 800-22 2.13, Cumulative sums test: does the walk go too far from zero, or stay too close? */

/** Returns z, the largest distance from the start, and its p-value: forward, then for the reversed sequence. */
export function cumulativeSumsTest(walk: Walk, length: number) {
  const { minimum, maximum, end } = walk;
  // 2.13.4 steps 2, 3. The reversed walk's sums are S_n - S_k.
  const forward = Math.max(-minimum, maximum);
  const reverse = Math.max(end - minimum, maximum - end);
  return { z: [forward, reverse], pValues: [pValueOf(forward, length), pValueOf(reverse, length)] };
}

/**
 * The p-value of 2.13.4 step 4. The bounds of the sums are truncated as sts-2.1.2's integer division does; the printed
 * example 2.13.4 needs that, and at n >= 100 it makes no difference. The term k = 0 of the first sum is combined
 * with the leading 1, so that a small p keeps its digits: 1 - (Φ(z/√n) - Φ(-z/√n)) = 2 Φ(-z/√n).
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

/*
 * SP 800-22 2.14, Random excursions test, and 2.15, its variant: does the walk visit each state near zero as
 * often as expected, in each cycle and over all cycles?
 */

/** 3.14: the probabilities of the classes of visits to x in a cycle. They are exact; sts-2.1.2 has ten digits. */
function visitChances(state: number): number[] {
  const chanceOne = 1 / (2 * Math.abs(state));
  const chances = [1 - chanceOne];
  for (let c = 1; c < CYCLE_CLASSES - 1; c++) chances.push(chanceOne ** 2 * (1 - chanceOne) ** (c - 1));
  chances.push(chanceOne * (1 - chanceOne) ** (CYCLE_CLASSES - 2));
  return chances;
}

function statesUpTo(limit: number): number[] {
  return Array.from({ length: 2 * limit + 1 }, (_, i) => i - limit).filter((state) => state !== 0);
}

/** The p-values apply when `walk.cycles` is at least `minimumCycles(n)` (2.14.4). */
export function randomExcursionsTest(walk: Walk) {
  return statesUpTo(CYCLE_STATES).map((state) => {
    const first = CYCLE_CLASSES * (state + CYCLE_STATES);
    const counts = Array.from(walk.cycleCounts.subarray(first, first + CYCLE_CLASSES)); // step 5: ν_c(x)
    const chiSquared = chiSquaredOf(counts, visitChances(state), walk.cycles); // step 6
    return { state, counts, pValue: igamc((CYCLE_CLASSES - 1) / 2, chiSquared / 2) }; // step 7
  });
}

/** The p-values apply when `walk.cycles` is at least `minimumCycles(n)` (2.15.4). */
export function randomExcursionsVariantTest(walk: Walk) {
  const J = walk.cycles;
  return statesUpTo(VISIT_STATES).map((state) => {
    const visits = walk.visits[state + VISIT_STATES]; // step 4: ξ(x), in all cycles
    const deviation = Math.abs(visits - J) / Math.sqrt(2 * J * (4 * Math.abs(state) - 2)); // step 5
    return { state, visits, pValue: erfc(deviation) };
  });
}

/** With fewer cycles the excursion tests do not apply, which is not a failure of the sequence (2.14.4 step 3). */
export function minimumCycles(length: number): number {
  return Math.max(500, 0.005 * Math.sqrt(length));
}
