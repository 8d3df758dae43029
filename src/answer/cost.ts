import { assert } from '../core/assert.ts';
import { type BareType, isTextType } from '../core/vocabulary.ts';
import { drawCount, jsonBytesMax, type ValueRequest, valueCount } from '../values/value-request.ts';
import type { AnswerForm } from './request.ts';

/**
 * Nanoseconds for each unit of work (`unitsOf`) as JSON, measured on a quiet core in November 2026. The running averages of all
 * forms begin with these values.
 */
const START_NS = {
  integers: 15,
  'integers, sorted': 100,
  'integers, unique': 60,
  decimals: 20,
  floats: 30,
  bytes: 4,
  uuid: 50,
  bitstring: 1,
  shuffle: 60,
  sample: 60,
  weighted: 10,
  strings: 15,
  sequences: 60,
  permutations: 60,
  gaussians: 200,
};
type WorkKind = keyof typeof START_NS;

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

/** Returns the microseconds that the values took to make as JSON on the machine of START_NS. */
export function usualCostUs(values: ValueRequest): number {
  return (START_NS[kindOf(values)] * unitsOf(values)) / 1_000;
}

/** What answers cost the thread that makes them, by form and kind: running averages of the times that they took. */
export class MeasuredCosts {
  readonly #ns = { json: { ...START_NS }, msgpack: { ...START_NS }, 'octet-stream': { ...START_NS } };

  /** Estimates what the answer will cost, in whole microseconds. */
  us(answer: CostedAnswer): number {
    return Math.ceil((this.#ns[madeLike(answer)][kindOf(answer.values)] * unitsOf(answer.values)) / 1_000);
  }

  /** Takes the time that an answer took into the average. */
  learn(answer: CostedAnswer, busyMs: number): void {
    assert(busyMs >= 0, 'who made an answer says how long it took (MadeByWorker.busyMs)');
    const averages = this.#ns[madeLike(answer)];
    const kind = kindOf(answer.values);
    const ns = averages[kind];
    const seen = (busyMs * 1e6) / unitsOf(answer.values);
    const newest = Math.min(STEP_MAX * ns, Math.max(ns / STEP_MAX, seen));
    averages[kind] += NEWEST_SHARE * (newest - ns);
  }
}

function kindOf(values: ValueRequest): WorkKind {
  switch (values.kind) {
    case 'integers':
      if (values.unique) return 'integers, unique';
      return values.sort === 'none' ? 'integers' : 'integers, sorted';
    case 'floats':
      return values.precision === null ? 'floats' : 'decimals';
    default:
      return values.kind;
  }
}

/** Returns the amount that the cost of a kind grows with: values, bytes of values, characters, bits or items. */
function unitsOf(values: ValueRequest): number {
  switch (values.kind) {
    case 'bytes':
      return values.count * (values.length + 2); // the 2 stands for the fixed cost of each string
    case 'bitstring':
      return values.length;
    case 'sample':
      return values.items.length; // a few of many items still cost a pass over the items
    case 'strings':
      return values.count * (values.length + 4); // the 4 stands for the fixed cost of each string
    case 'weighted':
      return 8 * values.count + jsonBytesMax(values); // the items may be long texts
    case 'sequences':
    case 'permutations':
      return valueCount(values) + 25 * drawCount(values); // of many short lists the fixed cost of each draw dominates
    default:
      return valueCount(values);
  }
}

/** Returns the form whose average applies: text lines are made from JSON and cost the same as JSON; octets have their own. */
function madeLike({ form, octets }: CostedAnswer): AnswerForm {
  return octets !== undefined && isTextType(octets) ? 'json' : form;
}
