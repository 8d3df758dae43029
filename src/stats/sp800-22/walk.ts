/**
 * The random walk S_0 = 0, S_k = S_(k-1) ± 1 of a sequence, gone once for the three tests that look at it (SP
 * 800-22 2.13, 2.14, 2.15). A walk of 10^6 steps spends about 5 % of them near zero; elsewhere it goes a byte
 * at a time.
 */
import { type BitSequence, byteAt } from './sequence.ts';

/** States counted over the whole walk: -9 .. 9 (2.15.4 step 4). */
export const VISIT_STATES = 9;
/** States counted cycle by cycle: -4 .. 4 (2.14.4 step 4). */
export const CYCLE_STATES = 4;
/** Visits in one cycle fall into the classes 0, 1, 2, 3, 4, and 5 or more (2.14.4 step 5). */
export const CYCLE_CLASSES = 6;

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
  const far = VISIT_STATES + 8; // beyond it, eight steps cannot touch a counted state
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
    near.visits[VISIT_STATES]--; // it is no S_k
  }
  const { visits, cycleCounts, cycles } = near;
  return { end: sum, minimum, maximum, cycles, visits, cycleCounts };
}
