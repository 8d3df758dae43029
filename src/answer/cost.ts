import { assert } from '../core/assert.ts';
import { type BareType, isTextType } from '../core/vocabulary.ts';
import { usualCostUs, workKindOf } from '../values/cost.ts';
import type { ValueRequest } from '../values/value-request.ts';
import type { AnswerForm } from './request.ts';

/** Weight of the newest answer in a running average. About the last three dozen answers count. */
const NEWEST_SHARE = 1 / 16;

/**
 * One answer counts as at most so many times the average, and at least the same fraction of it. So an answer that another process
 * or the garbage collector held up does not change the average much.
 */
const STEP_MAX = 4;

interface CostedAnswer {
  readonly values: ValueRequest;
  readonly form: AnswerForm;
  /** How bare values are written; undefined for JSON and MessagePack. */
  readonly octets?: BareType | undefined;
}

/** What answers cost the thread that makes them, learnt from the times that they took. */
export class MeasuredCosts {
  /** Running averages of the cost in proportion to the usual one, by form and kind of work. */
  readonly #ratios = new Map<string, number>();

  /** Estimates what the answer will cost, in whole microseconds. */
  us(answer: CostedAnswer): number {
    return Math.ceil(usualCostUs(answer.values) * this.#ratio(answer));
  }

  /** Takes the time that an answer took into the average. */
  learn(answer: CostedAnswer, busyMs: number): void {
    assert(busyMs >= 0, 'who made an answer says how long it took (MadeByWorker.busyMs)');
    const ratio = this.#ratio(answer);
    const seen = (busyMs * 1_000) / usualCostUs(answer.values);
    const newest = Math.min(STEP_MAX * ratio, Math.max(ratio / STEP_MAX, seen));
    this.#ratios.set(keyOf(answer), ratio + NEWEST_SHARE * (newest - ratio));
  }

  #ratio(answer: CostedAnswer): number {
    return this.#ratios.get(keyOf(answer)) ?? 1;
  }
}

/** Text lines are made from JSON and cost the same as JSON; octets have their own average. */
function keyOf({ values, form, octets }: CostedAnswer): string {
  const madeLike = octets !== undefined && isTextType(octets) ? 'json' : form;
  return `${madeLike} ${workKindOf(values)}`;
}
