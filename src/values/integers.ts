import { assert } from '../core/assert.ts';
import { SMALL_END, writeInt32List, writeSafeList, writeSmallList } from './digits.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { drawOffsets, type Offsets } from './offsets.ts';
import { drawUnique } from './unique.ts';

export type SortOrder = 'none' | 'ascending' | 'descending';

/** Whole numbers min + offset. The offsets are what was drawn; keeping them apart keeps them small. */
export interface IntegerSample {
  readonly kind: 'integers';
  readonly min: number;
  readonly max: number;
  readonly offsets: Offsets;
}

/** How many values lie in [min, max]; at most 2^53. */
export function spanOf(min: number, max: number): number {
  assert(Number.isSafeInteger(min) && Number.isSafeInteger(max), 'a range has safe integers as its ends');
  assert(min <= max && max - min < 2 ** 53, 'a range holds 1 to 2^53 values'); // the sum below would round
  return max - min + 1;
}

/** `count` whole numbers, each uniform in [min, max]; with `unique` without repeats, every sequence equally likely. */
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

function fitsInt32(sample: IntegerSample): boolean {
  return sample.min >= -(2 ** 31) && sample.max < 2 ** 31;
}

/** The JSON array of the values. */
export function writeIntegers(sample: IntegerSample, view: DataView, at: number): number {
  const { min, max, offsets } = sample;
  view.setUint8(at, 0x5b); // '['
  const isSmall = min >= 0 && max < SMALL_END;
  const writeList = isSmall ? writeSmallList : fitsInt32(sample) ? writeInt32List : writeSafeList;
  const end = writeList(view, at + 1, min, offsets);
  view.setUint8(end - 1, 0x5d); // ']' over the last comma
  return end;
}

/** Little-endian int32 when min and max fit, else float64. */
export function integerOctets(sample: IntegerSample): Uint8Array<ArrayBuffer> {
  const { min, offsets } = sample;
  const width = fitsInt32(sample) ? 4 : 8;
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
