import { assert } from '../core/assert.ts';
import { descendingBytesMax } from './descending.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { drawGaussians, GAUSSIAN_TEXT_MAX, gaussianBytesMax, gaussianChoices } from './gaussians.ts';
import { bitsOfChoices, type Choices } from './information.ts';
import { type SortOrder, sortOffsets, spanOf } from './integers.ts';
import { offsets32 } from './kernels.ts';
import { drawnBlocks, drawPlanned, offsetBytesMax, planOffsets } from './offsets.ts';
import { jsonStringBytes, shuffled } from './shuffle.ts';
import { drawUnique, uniqueBytesMax } from './unique.ts';
import type { ListRequest, SequenceRange, ValueRequest } from './value-request.ts';

/**
 * Kinds that are drawn as JavaScript values, from which each form of an answer is written: shuffles, samples, weighted
 * picks, strings over an alphabet, sequences, permutations and normally distributed decimals. Most map exactly uniform
 * offsets (offsets.ts, unique.ts, descending.ts) to values one to one. The proof for weighted picks is at `weightedPicks`,
 * that for normally distributed decimals in gaussians.ts.
 */
export type ListValue = string | number | readonly number[] | readonly (readonly number[])[];

export function isList(request: ValueRequest): request is ListRequest {
  switch (request.kind) {
    case 'shuffle':
    case 'sample':
    case 'weighted':
    case 'strings':
    case 'sequences':
    case 'permutations':
    case 'gaussians':
      return true;
    default:
      return false;
  }
}

export function drawList(reader: EntropyReader, request: ListRequest): readonly ListValue[] {
  switch (request.kind) {
    case 'shuffle':
      return shuffled(reader, request.items, 32);
    case 'sample':
      return sampled(reader, request.items, request.count);
    case 'weighted':
      return weightedPicks(reader, request.items, request.weights, request.count);
    case 'strings':
      return strings(reader, request.alphabet, request.length, request.count);
    case 'sequences':
      return times(request.count, () => request.ranges.map((range) => sequence(reader, range, request.sort)));
    case 'permutations':
      return times(request.count, () => sequence(reader, wholeRange(request.length), 'none'));
    case 'gaussians':
      return drawGaussians(reader, request);
  }
}

function times<T>(count: number, make: () => T): T[] {
  const made: T[] = [];
  for (let i = 0; i < count; i++) made.push(make());
  return made;
}

/** `count` of the items in the order in which they are drawn: every such sequence is equally likely. */
function sampled(reader: EntropyReader, items: readonly string[], count: number): string[] {
  return Array.from(drawUnique(reader, items.length, count), (place) => items[place]);
}

/**
 * `count` independent picks, item i with probability weights[i] / sum, exactly: an offset is uniform in [0, sum), and
 * weights[i] of its values belong to item i.
 */
function weightedPicks(
  reader: EntropyReader,
  items: readonly string[],
  weights: readonly number[],
  count: number,
): string[] {
  const ends = endsOf(weights);
  const offsets = drawPlanned(reader, planOffsets(ends[ends.length - 1]), count);
  const picks = Array.from(offsets, (offset) => items[placeOf(ends, offset)]);
  offsets.fill(0);
  return picks;
}

/** Where the offsets of each item end. Weights are divided by their greatest common divisor, which changes no probability. */
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

/** The number of equally likely offsets that a weighted pick is made from. */
function weightSpan(weights: readonly number[]): number {
  const ends = endsOf(weights);
  return ends[ends.length - 1];
}

function greatestCommonDivisor(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}

/** The first place whose end lies above the offset. */
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

/** Each character is an independent uniform choice from the alphabet. */
function strings(
  reader: EntropyReader,
  alphabet: readonly string[],
  length: number,
  count: number,
): string[] {
  const plan = planOffsets(alphabet.length);
  assert(plan.method !== 'divided', 'offsets of an alphabet take 32 bits');
  const blocks = drawnBlocks(reader, plan, count * length);
  const made: string[] = [];
  let text = '';
  let missing = length;
  for (let drawn = blocks.next(); drawn > 0; drawn = blocks.next()) {
    for (let i = 0; i < drawn; i++) {
      text += alphabet[offsets32[i]];
      if (--missing > 0) continue;
      made.push(text);
      text = '';
      missing = length;
    }
  }
  return made;
}

function sequence(
  reader: EntropyReader,
  { length, min, max, unique }: SequenceRange,
  sort: SortOrder,
): number[] {
  const span = spanOf(min, max);
  const offsets = unique ? drawUnique(reader, span, length) : drawPlanned(reader, planOffsets(span), length);
  sortOffsets(offsets, sort);
  const values = Array.from(offsets, (offset) => offset + min);
  offsets.fill(0);
  return values;
}

/** A permutation is a sample of all of 0 .. length - 1 without repeats. */
function wholeRange(length: number): SequenceRange {
  return { length, min: 0, max: length - 1, unique: true };
}

/** How many values the answer holds: items, strings, or the numbers of all sequences. */
export function listCount(request: ListRequest): number {
  switch (request.kind) {
    case 'shuffle':
      return request.items.length;
    case 'sequences':
      return request.count * request.ranges.reduce((sum, { length }) => sum + length, 0);
    case 'permutations':
      return request.count * request.length;
    default:
      return request.count;
  }
}

/** Draws that are made one after the other: each costs as much as some 25 numbers of a long one. */
export function listDraws(request: ListRequest): number {
  switch (request.kind) {
    case 'sequences':
      return request.count * request.ranges.length;
    case 'permutations':
    case 'gaussians':
      return request.count;
    default:
      return 1;
  }
}

/** The independent choices that the answer is made of: what it is priced by. */
export function listBits(request: ListRequest): number {
  return bitsOfChoices(choicesOf(request));
}

function choicesOf(request: ListRequest): readonly Choices[] {
  switch (request.kind) {
    case 'shuffle':
      return [choices(request.items.length, request.items.length, true)];
    case 'sample':
      return [choices(request.items.length, request.count, true)];
    case 'weighted':
      return [choices(weightSpan(request.weights), request.count, false)];
    case 'strings':
      return [choices(request.alphabet.length, request.count * request.length, false)];
    case 'sequences':
      return request.ranges.map(({ length, min, max, unique }) =>
        choices(spanOf(min, max), length, unique, request.count),
      );
    case 'permutations':
      return [choices(request.length, request.length, true, request.count)];
    case 'gaussians':
      return [choices(gaussianChoices(request), request.count, false)];
  }
}

function choices(of: number, count: number, unique: boolean, times = 1): Choices {
  return { of, count, unique, times };
}

/** Bytes that `drawList` takes, at most; exceeded with probability below 2^-`securityBits`. */
export function listEntropyBytesMax(request: ListRequest, securityBits: number): number {
  if (request.kind === 'shuffle') {
    const { length } = request.items;
    return descendingBytesMax(length, length - 1, securityBits);
  }
  if (request.kind === 'gaussians') return gaussianBytesMax(request);
  const all = choicesOf(request);
  // each kind of choice may run over with an equal part of the probability
  const bits = securityBits + Math.ceil(Math.log2(all.length));
  let bytes = 0;
  for (const { of, count, unique, times: repeats } of all) {
    bytes += unique
      ? uniqueBytesMax(of, count, bits, repeats)
      : offsetBytesMax(planOffsets(of), count, bits, repeats);
  }
  return bytes;
}

/** Bytes of the list as JSON, at most. */
export function listTextMax(request: ListRequest): number {
  switch (request.kind) {
    case 'shuffle':
      // no order of the items changes the size
      return wholeListText(request.items);
    case 'sample':
      return Math.min(wholeListText(request.items), 2 + request.count * (1 + longest(request.items)));
    case 'weighted':
      return 2 + request.count * (1 + longest(request.items));
    case 'strings':
      // jsonStringBytes counts two quotes for each character
      return 2 + request.count * (3 + request.length * (longest(request.alphabet) - 2));
    case 'sequences': {
      const bytes = request.ranges.reduce(
        (sum, { length, min, max }) =>
          sum + 3 + length * (Math.max(String(min).length, String(max).length) + 1),
        3,
      );
      return 2 + request.count * bytes;
    }
    case 'permutations':
      return 2 + request.count * (3 + request.length * (String(request.length - 1).length + 1));
    case 'gaussians':
      return 2 + request.count * (GAUSSIAN_TEXT_MAX + 1);
  }
}

/** Bytes of all items as JSON: brackets and commas, and the items themselves. */
function wholeListText(items: readonly string[]): number {
  return items.reduce((bytes, item) => bytes + jsonStringBytes(item), 1 + items.length);
}

/** Bytes of the longest text as a JSON string. */
function longest(texts: readonly string[]): number {
  return texts.reduce((bytes, text) => Math.max(bytes, jsonStringBytes(text)), 0);
}
