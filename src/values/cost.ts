import { drawCount, jsonBytesMax, type ValueRequest, valueCount } from './value-request.ts';

/** Nanoseconds for each unit of work (`unitsOf`) as JSON, measured on a quiet core in November 2026. */
const USUAL_NS = {
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
type WorkKind = keyof typeof USUAL_NS;

/** Returns the microseconds that the values usually take to make as JSON. */
export function usualCostUs(values: ValueRequest): number {
  return (USUAL_NS[workKindOf(values)] * unitsOf(values)) / 1_000;
}

/** Returns the kind of work that the values are: of one kind, the cost is proportional to `usualCostUs`. */
export function workKindOf(values: ValueRequest): WorkKind {
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
