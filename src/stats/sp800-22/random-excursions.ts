/**
 * SP 800-22 2.14, Random excursions test, and 2.15, its variant: does the walk visit each state near zero as
 * often as it should, in a cycle and altogether?
 */
import { erfc, igamc } from '../special.ts';
import { chiSquaredOf } from './chi-squared.ts';
import { CYCLE_CLASSES, CYCLE_STATES, VISIT_STATES, type Walk } from './walk.ts';

export interface ExcursionState {
  /** x, a state of the walk. */
  readonly state: number;
  /** ν_0(x) .. ν_5(x): cycles with 0, 1, 2, 3, 4, and 5 or more visits to x. */
  readonly counts: readonly number[];
  readonly pValue: number;
}

export interface VariantState {
  readonly state: number;
  /** ξ(x), visits to x in all cycles. */
  readonly visits: number;
  readonly pValue: number;
}

/** 3.14: the chances that a cycle visits x in each class. Exact; sts-2.1.2 has them with ten digits. */
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

/** 2.14.4: the p-values apply when `walk.cycles` is at least `minimumCycles(n)`. */
export function randomExcursionsTest(walk: Walk): ExcursionState[] {
  return statesUpTo(CYCLE_STATES).map((state) => {
    const first = CYCLE_CLASSES * (state + CYCLE_STATES);
    const counts = Array.from(walk.cycleCounts.subarray(first, first + CYCLE_CLASSES)); // step 5
    const chiSquared = chiSquaredOf(counts, visitChances(state), walk.cycles); // step 6
    return { state, counts, pValue: igamc((CYCLE_CLASSES - 1) / 2, chiSquared / 2) }; // step 7
  });
}

/** 2.15.4: likewise. */
export function randomExcursionsVariantTest(walk: Walk): VariantState[] {
  const J = walk.cycles;
  return statesUpTo(VISIT_STATES).map((state) => {
    const visits = walk.visits[state + VISIT_STATES]; // step 4
    const deviation = Math.abs(visits - J) / Math.sqrt(2 * J * (4 * Math.abs(state) - 2)); // step 5
    return { state, visits, pValue: erfc(deviation) };
  });
}

/** 2.14.4 step 3: with fewer cycles than this the tests do not apply; that is no failure of the sequence. */
export function minimumCycles(length: number): number {
  return Math.max(500, 0.005 * Math.sqrt(length));
}
