import { assert } from '../core/assert.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { type ByteSource, kernels, putText, secondResult } from './kernels.ts';
import {
  drawBlock,
  drawOffsets,
  isWide,
  type OffsetPlan,
  type Offsets,
  planOffsets,
  putBlock,
  takeBatch,
} from './offsets.ts';
import { drawUnique } from './unique.ts';

export type SortOrder = 'none' | 'ascending' | 'descending';

/** Whole numbers min + offset. The offsets are what was drawn; keeping them apart keeps them small. */
export interface IntegerSample {
  readonly kind: 'integers';
  readonly min: number;
  readonly max: number;
  readonly offsets: Offsets;
}

/** Below this, a number and its comma fit into one store: the most asked-for ranges. */
const SMALL_END = 1_000;

/** How many values lie in [min, max]; at most 2^53. */
export function spanOf(min: number, max: number): number {
  assert(Number.isSafeInteger(min) && Number.isSafeInteger(max), 'a range has safe integers as its ends');
  assert(min <= max && max - min < 2 ** 53, 'a range holds 1 to 2^53 values'); // the sum below would round
  return max - min + 1;
}

/**
 * `count` whole numbers, each uniform in [min, max]; with `unique` without repeats, every sequence equally likely.
 */
export function sampleIntegers(
  reader: EntropyReader,
  count: number,
  min: number,
  max: number,
  unique: boolean,
  sort: SortOrder,
): IntegerSample {
  const span = spanOf(min, max);
  const offsets = unique ? drawUnique(reader, span, count) : drawOffsets(reader, span, count);
  if (sort !== 'none') offsets.sort(); // typed arrays sort by number
  if (sort === 'descending') offsets.reverse();
  return { kind: 'integers', min, max, offsets };
}

/**
 * What `writeIntegers` writes of a sample that is neither unique nor sorted, drawn and written block by
 * block.
 */
export function drawIntegers(
  source: ByteSource,
  count: number,
  min: number,
  max: number,
  target: Uint8Array,
  start: number,
): number {
  const plan = planOffsets(spanOf(min, max));
  const isSmall = plan.method === 'batched' && min >= 0 && max < SMALL_END;
  target[start] = 0x5b; // '['
  let at = start + 1;
  for (let missing = count; missing > 0; ) {
    const drawn = isSmall ? 0 : drawBlock(source, plan, missing);
    const size = isSmall ? drawSmall(source, plan, missing, min) : writeBlock(drawn, min, max, isWide(plan));
    missing -= isSmall ? secondResult() : drawn;
    at = putText(size, target, at);
  }
  target[at - 1] = 0x5d; // ']' over the last comma
  return at;
}

function drawSmall(source: ByteSource, plan: OffsetPlan, missing: number, min: number): number {
  const { size, words, refused } = takeBatch(source, plan, missing);
  if (size === 4) return kernels.fourSmall(words, plan.span, refused, min);
  return kernels.batchedSmall(words, plan.span, size, refused, min);
}

function writeBlock(count: number, min: number, max: number, wide: boolean): number {
  if (wide) return kernels.safe64(count, min);
  return fitsInt32(min, max) ? kernels.int32(count, min) : kernels.safe32(count, min);
}

function fitsInt32(min: number, max: number): boolean {
  return min >= -(2 ** 31) && max < 2 ** 31;
}

/** The JSON array of the values. */
export function writeIntegers(
  { min, max, offsets }: IntegerSample,
  target: Uint8Array,
  start: number,
): number {
  target[start] = 0x5b;
  let at = start + 1;
  for (let done = 0; done < offsets.length; ) {
    const count = putBlock(offsets, done);
    at = putText(writeBlock(count, min, max, offsets instanceof Float64Array), target, at);
    done += count;
  }
  target[at - 1] = 0x5d;
  return at;
}

/** Little-endian int32 when min and max fit, else float64. */
export function integerOctets({ min, max, offsets }: IntegerSample): Uint8Array<ArrayBuffer> {
  const width = fitsInt32(min, max) ? 4 : 8;
  const octets = new Uint8Array(offsets.length * width);
  const view = new DataView(octets.buffer);
  for (let i = 0; i < offsets.length; i++) {
    if (width === 4) view.setInt32(4 * i, min + offsets[i], true);
    else view.setFloat64(8 * i, min + offsets[i], true);
  }
  return octets;
}

export function plainIntegers({ min, offsets }: IntegerSample): number[] {
  return Array.from(offsets, (offset) => min + offset);
}

/** An upper bound of the text of `count` values. */
export function integersTextMax(count: number, min: number, max: number): number {
  return 2 + count * (Math.max(String(min).length, String(max).length) + 1);
}
