import { assert } from '../core/assert.ts';
import { writeBlocks } from './blocks.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { kernels } from './kernels.ts';
import {
  blocksOf,
  drawnBlocks,
  drawPlanned,
  type OffsetBlocks,
  type Offsets,
  planOffsets,
  writeBatches,
} from './offsets.ts';
import { type Output, putArrayHead } from './packed.ts';
import { drawUnique } from './unique.ts';
import type { ValueRequest } from './value-request.ts';

export type SortOrder = 'none' | 'ascending' | 'descending';

type IntegersRequest = Extract<ValueRequest, { kind: 'integers' }>;

/** Below this a number and its comma fit into one store; these are the most requested ranges. */
const SMALL_END = 1_000;
const SMALL_TEXT_MAX = 4;
/** Up to this maximum the kernel writes four values per word, sixteen at a time. */
const FOUR_SMALL_MAX = 255;

/** Returns the count of values in [min, max]; at most 2^53. */
export function spanOf(min: number, max: number): number {
  assert(Number.isSafeInteger(min) && Number.isSafeInteger(max), 'a range has safe integers as its ends');
  assert(min <= max && max - min < 2 ** 53, 'a range holds 1 to 2^53 values'); // or the sum below would round
  return max - min + 1;
}

/**
 * Draws the values less `min`, each uniform in the range. With `unique` there are no repeats, and every sequence is
 * equally likely.
 */
function offsetBlocks(
  reader: EntropyReader,
  { count, min, max, unique, sort }: IntegersRequest,
): OffsetBlocks {
  const span = spanOf(min, max);
  if (!unique && sort === 'none') return drawnBlocks(reader, planOffsets(span), count);
  const offsets = unique ? drawUnique(reader, span, count) : drawPlanned(reader, planOffsets(span), count);
  sortOffsets(offsets, sort);
  return blocksOf(offsets);
}

function sortOffsets(offsets: Offsets, sort: SortOrder): void {
  if (sort !== 'none') offsets.sort(); // typed arrays sort by number
  if (sort === 'descending') offsets.reverse();
}

/** Writes the JSON array of the values; returns its end. */
export function drawIntegers(
  reader: EntropyReader,
  request: IntegersRequest,
  target: Uint8Array,
  start: number,
  packed?: Output,
): number {
  if (packed !== undefined) putArrayHead(request.count, packed);
  target[start] = 0x5b; // '['
  const end =
    packed === undefined && isSmall(request)
      ? drawSmall(reader, request, target, start + 1)
      : writeIntegers(offsetBlocks(reader, request), request, target, start + 1, packed);
  target[end - 1] = 0x5d; // ']' replaces the last comma
  return end;
}

/** Writes each value and a comma; returns their end. */
export function writeIntegers(
  blocks: OffsetBlocks,
  { min, max }: Pick<IntegersRequest, 'min' | 'max'>,
  target: Uint8Array,
  start: number,
  packed?: Output,
): number {
  const pack = blocks.isWide ? kernels.packedIntegers64 : kernels.packedIntegers32;
  const write = (count: number) => writeIntegerBlock(count, min, max, blocks.isWide);
  return writeBlocks(blocks, write, target, start, packed, (count) => pack(count, min));
}

function writeIntegerBlock(count: number, min: number, max: number, wide: boolean): number {
  if (wide) return kernels.safe64(count, min);
  return fitsInt32(min, max) ? kernels.int32(count, min) : kernels.safe32(count, min);
}

export function fitsInt32(min: number, max: number): boolean {
  return min >= -(2 ** 31) && max < 2 ** 31;
}

/** Tells whether one word gives several values and a table their texts, which suits the most requested ranges. */
export function isSmall({ min, max, unique, sort }: Omit<IntegersRequest, 'kind' | 'count'>): boolean {
  if (min < 0 || max >= SMALL_END || unique || sort !== 'none') return false;
  return planOffsets(spanOf(min, max)).method === 'batched';
}

function drawSmall(
  reader: EntropyReader,
  { count, min, max }: IntegersRequest,
  target: Uint8Array,
  start: number,
): number {
  const plan = planOffsets(spanOf(min, max));
  return writeBatches(reader, plan, count, SMALL_TEXT_MAX, target, start, (words, size, refused) =>
    size === 4 && max <= FOUR_SMALL_MAX
      ? kernels.fourSmall(words, plan.span, refused, min)
      : kernels.batchedSmall(words, plan.span, size, refused, min),
  );
}

/** Writes the values as octets, int32 if that holds the range, else float64; returns their end. */
export function drawIntegerOctets(
  reader: EntropyReader,
  request: IntegersRequest,
  target: Uint8Array,
  start: number,
): number {
  const { min, max } = request;
  const blocks = offsetBlocks(reader, request);
  const [int32, float64] = blocks.isWide
    ? [kernels.int32Octets64, kernels.float64Octets64]
    : [kernels.int32Octets32, kernels.float64Octets32];
  const write = (count: number) => {
    if (!fitsInt32(min, max)) {
      float64(count, min, 1);
      return 8 * count;
    }
    int32(count, min);
    return 4 * count;
  };
  return writeBlocks(blocks, write, target, start);
}

/** Returns an upper bound of the text size of `count` values. */
export function integersTextMax(count: number, min: number, max: number): number {
  return 2 + count * (Math.max(String(min).length, String(max).length) + 1);
}
