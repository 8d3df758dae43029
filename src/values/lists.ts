import { assert } from '../core/assert.ts';
import { copyBytes } from '../core/bytes.ts';
import { writeJsonText } from '../core/text-bytes.ts';
import type { EntropyReader } from './entropy-reader.ts';
import {
  kernels,
  moreResults,
  offsetAt,
  offsets32,
  PICK_TEXT_MAX,
  putAlphabet,
  putPicks,
  putText,
  putTexts,
  secondResult,
  useOffsets,
} from './kernels.ts';
import {
  drawnBlocks,
  drawPlanned,
  type OffsetBlocks,
  type Offsets,
  planOffsets,
  writeBatches,
} from './offsets.ts';
import { type Output, packTexts } from './packed.ts';
import { drawRows } from './rows.ts';
import { drawUnique, shuffledPlaces } from './unique.ts';
import type { ListRequest, SequenceRange } from './value-request.ts';

const OPEN = 0x5b;
const CLOSE = 0x5d;
const COMMA = 0x2c;
const QUOTE = 0x22;

/**
 * Kinds whose values are picked from a list or come in lists: shuffles, samples, weighted picks, strings over an
 * alphabet, sequences and permutations. Like numbers, they are written into the answer's memory while they are drawn: a
 * batch of the longest strings takes 40 MB there, and took 300 MB as JavaScript strings. Most kinds map exactly uniform
 * offsets (offsets.ts, unique.ts, descending.ts) to values one to one; the proof for weighted picks is at
 * `drawWeighted`.
 */

/** Writes the JSON array of the values; returns its end. The MessagePack of texts is made from their JSON. */
export function drawList(
  reader: EntropyReader,
  request: ListRequest,
  target: Uint8Array,
  at: number,
  packed?: Output,
): number {
  switch (request.kind) {
    case 'sequences':
      return drawRows(reader, { ...request, isNested: true }, target, at, packed);
    case 'permutations': {
      const { count, length } = request;
      const rows = { count, ranges: [wholeRange(length)], sort: 'none', isNested: false } as const;
      return drawRows(reader, rows, target, at, packed);
    }
  }
  const end = drawTexts(reader, request, target, at);
  if (packed !== undefined)
    packTexts(target, at, request.kind === 'shuffle' ? request.items.length : request.count, packed);
  return end;
}

type TextsRequest = Exclude<ListRequest, { kind: 'sequences' | 'permutations' }>;

function drawTexts(reader: EntropyReader, request: TextsRequest, target: Uint8Array, at: number): number {
  switch (request.kind) {
    case 'shuffle':
      return writePicks(request.items, shuffledPlaces(reader, request.items.length), target, at);
    case 'sample':
      return writePicks(request.items, drawUnique(reader, request.items.length, request.count), target, at);
    case 'weighted':
      return drawWeighted(reader, request, target, at);
    case 'strings':
      return drawStrings(reader, request, target, at);
  }
}

/** Writes the items at `places`, after encoding each item once with the comma before it, and erases the places. */
function writePicks(items: readonly string[], places: Offsets, target: Uint8Array, start: number): number {
  const bytes = new Uint8Array(items.reduce((size, item) => size + 3 + 6 * item.length, 0));
  const starts = new Uint32Array(items.length + 1);
  for (let i = 0; i < items.length; i++) {
    const at = starts[i];
    bytes[at] = COMMA;
    bytes[at + 1] = QUOTE;
    const end = writeJsonText(items[i], bytes, at + 2);
    bytes[end] = QUOTE;
    starts[i + 1] = end + 1;
  }
  let at = start;
  for (let i = 0; i < places.length; i++) {
    const from = starts[places[i]];
    const size = starts[places[i] + 1] - from;
    copyBytes(bytes, from, target, at, size);
    at += size;
  }
  target[start] = OPEN;
  target[at] = CLOSE;
  places.fill(0);
  return at + 1;
}

/**
 * Makes independent picks, item i with probability exactly weights[i] / sum: an offset is uniform in [0, sum), and
 * weights[i] of its values belong to item i.
 */
function drawWeighted(
  reader: EntropyReader,
  { items, weights, count }: Extract<ListRequest, { kind: 'weighted' }>,
  target: Uint8Array,
  start: number,
): number {
  const ends = endsOf(weights);
  const sum = ends[ends.length - 1];
  const plan = planOffsets(sum);
  if (sum <= count && plan.method === 'batched' && putPicks(items, ends)) {
    target[start] = OPEN;
    const end = writeBatches(reader, plan, count, PICK_TEXT_MAX, target, start + 1, (words, size, refused) =>
      kernels.batchedPicks(words, sum, size, refused),
    );
    target[end - 1] = CLOSE; // replaces the last comma
    return end;
  }
  // When there are at least as many picks as offsets, a table of places is cheaper than a search for each pick.
  const placeAt =
    sum <= count ? Uint32Array.from({ length: sum }, (_, offset) => placeOf(ends, offset)) : null;
  if (putTexts(items)) {
    const blocks = drawnBlocks(reader, plan, count);
    return writeStrings(blocks, 1, target, start, (drawn) => {
      for (let i = 0; i < drawn; i++) {
        const offset = offsetAt(i, blocks.isWide);
        offsets32[i] = placeAt?.[offset] ?? placeOf(ends, offset);
      }
    });
  }
  const places = drawPlanned(reader, plan, count);
  for (let i = 0; i < count; i++) places[i] = placeAt?.[places[i]] ?? placeOf(ends, places[i]);
  return writePicks(items, places, target, start);
}

/**
 * Returns the end of each item's offsets. Weights are divided by their greatest common divisor, which changes no
 * probability.
 */
function endsOf(weights: readonly number[]): Float64Array {
  const divisor = weights.reduce(greatestCommonDivisor);
  const ends = new Float64Array(weights.length);
  let sum = 0;
  weights.forEach((weight, i) => {
    sum += weight / divisor;
    ends[i] = sum;
  });
  return ends;
}

/** Returns the count of equally likely offsets that a weighted pick is made from. */
export function weightSpan(weights: readonly number[]): number {
  const ends = endsOf(weights);
  return ends[ends.length - 1];
}

function greatestCommonDivisor(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}

/** Returns the first place whose end is above the offset. */
function placeOf(ends: Float64Array, offset: number): number {
  let low = 0;
  let high = ends.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ends[middle] > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Limits a block to 16,384 letters. A letter takes a byte in the offsets' window and at most four bytes of text, as a
 * string of its own, so that exactly this many fit into both windows.
 */
const LETTER_TEXT = 2;

/** Writes strings whose characters are independent uniform choices from the alphabet. */
function drawStrings(
  reader: EntropyReader,
  { alphabet, length, count }: Extract<ListRequest, { kind: 'strings' }>,
  target: Uint8Array,
  start: number,
): number {
  const plan = planOffsets(alphabet.length);
  assert(plan.method !== 'divided', 'offsets of an alphabet take 32 bits');
  if (plan.method === 'batched' && putAlphabet(alphabet)) {
    let missing = length;
    target[start] = OPEN;
    const end = writeBatches(
      reader,
      plan,
      count * length,
      LETTER_TEXT,
      target,
      start + 1,
      (words, size, refused) => {
        useOffsets(words * size);
        const bytes = kernels.letters(words, plan.span, size, refused, length, missing);
        missing = moreResults[1];
        return bytes;
      },
    );
    target[end - 1] = CLOSE; // replaces the last comma
    return end;
  }
  const blocks = drawnBlocks(reader, plan, count * length);
  assert(putTexts(alphabet), 'the table of the kernel holds any alphabet');
  return writeStrings(blocks, length, target, start);
}

/**
 * Writes strings of `length` texts of the kernel's table each; calls `each` for every block in the window before it is
 * written.
 */
function writeStrings(
  blocks: OffsetBlocks,
  length: number,
  target: Uint8Array,
  start: number,
  each: (drawn: number) => void = () => {},
): number {
  let at = start + 1;
  let missing = length;
  for (let drawn = blocks.next(); drawn > 0; drawn = blocks.next()) {
    each(drawn);
    const size = kernels.strings(drawn, length, missing);
    missing = secondResult();
    at = putText(size, target, at);
  }
  target[start] = OPEN;
  target[at - 1] = CLOSE; // replaces the last comma
  return at;
}

/** Returns the range of a permutation, which is a sample without repeats of all of 0 .. length - 1. */
function wholeRange(length: number): SequenceRange {
  return { length, min: 0, max: length - 1, unique: true };
}
