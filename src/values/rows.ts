import { descendingWords } from './descending.ts';
import type { EntropyReader } from './entropy-reader.ts';
import {
  drawIntegers,
  integersTextMax,
  isSmall as isSmallRange,
  type SortOrder,
  spanOf,
} from './integers.ts';
import {
  BLOCK_VALUES,
  ENTROPY_BYTES,
  kernels,
  moreResults,
  putText,
  rangeNumbers,
  TEXT_BYTES,
  takeEntropy,
  useOffsets,
  useText,
} from './kernels.ts';
import { acceptedBelow, planOffsets, refusedBelow } from './offsets.ts';
import { type Output, putArrayHead, putPacked } from './packed.ts';
import { isDense } from './unique.ts';
import type { SequenceRange } from './value-request.ts';

/**
 * Lists of rows of integers, where each row is a draw of its own. The kernel draws and writes short rows, as many
 * in one call as its words and its memory allow (assembly/rows.ts). A long row is made like an answer of integers.
 */
export interface RowsRequest {
  /** How many times all ranges are drawn. */
  readonly count: number;
  readonly ranges: readonly SequenceRange[];
  readonly sort: SortOrder;
  /** True if the rows of each time form a list of their own. If false, there is one range. */
  readonly isNested: boolean;
}

/** The longest row of the kernel: half of the text window holds so many values. */
const ROW_MAX = 1_024;
/** The longest row of the kernel that is sorted or whose values are compared with each other. */
const COMPARED_ROW_MAX = 64;
/** Where the kernel writes MessagePack in the text window. */
const PACKED_AT = TEXT_BYTES / 2;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const COMMA = 0x2c;

/** Writes the JSON array; returns its end. */
export function drawRows(
  reader: EntropyReader,
  request: RowsRequest,
  target: Uint8Array,
  start: number,
  packed: Output | undefined,
): number {
  if (packed !== undefined) putArrayHead(request.count, packed);
  target[start] = OPEN;
  const end = request.ranges.every((range) => isShort(range, request.sort))
    ? drawShort(reader, request, target, start + 1, packed)
    : drawLong(reader, request, target, start + 1, packed);
  target[end - 1] = CLOSE; // replaces the last comma
  return end;
}

function isShort({ length, min, max, unique }: SequenceRange, sort: SortOrder): boolean {
  const span = spanOf(min, max);
  const isShuffled = unique && isDense(span, length);
  if (isShuffled && span > BLOCK_VALUES) return false;
  return length <= (sort !== 'none' || (unique && !isShuffled) ? COMPARED_ROW_MAX : ROW_MAX);
}

function drawLong(
  reader: EntropyReader,
  { count, ranges, sort, isNested }: RowsRequest,
  target: Uint8Array,
  start: number,
  packed: Output | undefined,
): number {
  let at = start;
  for (let i = 0; i < count; i++) {
    if (isNested) target[at++] = OPEN;
    if (isNested && packed !== undefined) putArrayHead(ranges.length, packed);
    for (const { length, min, max, unique } of ranges) {
      at = drawIntegers(
        reader,
        { kind: 'integers', count: length, min, max, unique, sort },
        target,
        at,
        packed,
      );
      target[at++] = COMMA;
    }
    if (!isNested) continue;
    target[at - 1] = CLOSE;
    target[at++] = COMMA;
  }
  return at;
}

function drawShort(
  reader: EntropyReader,
  { count, ranges, sort, isNested }: RowsRequest,
  target: Uint8Array,
  start: number,
  packed: Output | undefined,
): number {
  const ways = ranges.map((range) => wayOf(range, sort, packed !== undefined));
  for (const [i, { numbers }] of ways.entries()) rangeNumbers.set(numbers, i * numbers.length);
  kernels.beginRows(ranges.length, isNested, packed !== undefined);
  const bytesMin = ways.reduce((bytes, way) => bytes + way.bytesMin, 0);
  useOffsets(8 * ways.reduce((places, way) => Math.max(places, way.places), 0));
  const rowTextMax = ways.reduce((bytes, { numbers }) => Math.max(bytes, numbers[8]), 0);
  // No word is taken that no value needs: all lists together take at least `count` times `bytesMin`.
  let certain = count * bytesMin;
  let fed = 0;
  let at = start;
  for (let missing = count; ; ) {
    missing -= kernels.rows(missing, fed);
    const [textBytes, packedBytes, lack, left] = moreResults;
    at = putText(textBytes, target, at);
    useText(Math.min(TEXT_BYTES, textBytes + rowTextMax)); // the kernel may have begun a row for which words were lacking
    if (packed !== undefined) putPacked(packedBytes, packed, PACKED_AT);
    if (missing === 0) return at;
    const wanted = Math.min(ENTROPY_BYTES - left, Math.max(certain, lack + (missing - 1) * bytesMin));
    fed = lack === 0 ? 0 : Math.max(lack, wanted);
    certain -= fed;
    if (fed > 0) takeEntropy(reader, fed, left);
  }
}

interface Way {
  /** The numbers that the kernel reads of a range. */
  readonly numbers: readonly number[];
  /** Bytes of the words that a row takes at least. */
  readonly bytesMin: number;
  /** Count of offsets that the kernel keeps of a row. */
  readonly places: number;
}

const INDEPENDENT = 0;
const SHUFFLED = 1;
const REPEATS_REFUSED = 2;
const SMALL = 3;
const ORDERS: Readonly<Record<SortOrder, number>> = { none: 0, ascending: 1, descending: 2 };

function wayOf(range: SequenceRange, sort: SortOrder, isPacked: boolean): Way {
  const { length, min, max, unique } = range;
  const span = spanOf(min, max);
  const order = ORDERS[sort];
  const rowTextMax = 4 + integersTextMax(length, min, max);
  if (unique && isDense(span, length)) {
    return {
      numbers: [length, span, min, 4, 1, 0, SHUFFLED, order, rowTextMax, 0, 0],
      bytesMin: 4 * descendingWords(span, length),
      places: span,
    };
  }
  const plan = planOffsets(span);
  const { wordBytes, wordValues } = plan;
  const isSmall = !isPacked && isSmallRange({ ...range, sort });
  const way = isSmall ? SMALL : unique ? REPEATS_REFUSED : INDEPENDENT;
  const refused = [wordValues, length % wordValues].map((size) => (isSmall ? refusedBelow(plan, size) : 0));
  return {
    numbers: [
      length,
      span,
      min,
      wordBytes,
      wordValues,
      acceptedBelow(plan),
      way,
      order,
      rowTextMax,
      ...refused,
    ],
    bytesMin: wordBytes * Math.ceil(length / wordValues),
    // The values of one word lie after the row until they are compared.
    places: isSmall ? 0 : length + 1 + wordValues,
  };
}
