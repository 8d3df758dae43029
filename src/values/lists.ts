import { assert } from '../core/assert.ts';
import { copyBytes } from '../core/bytes.ts';
import { writeJsonText, writeUtf8 } from '../core/text-bytes.ts';
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
import { type Output, putArrayHead, putStringHead, stringHead } from './packed.ts';
import { drawRows } from './rows.ts';
import { drawUnique, shuffledPlaces } from './unique.ts';
import type { ListRequest, SequenceRange } from './value-request.ts';

const OPEN = 0x5b;
const CLOSE = 0x5d;
const COMMA = 0x2c;
const QUOTE = 0x22;

/**
 * Kinds whose values are picked from a list or come in lists: shuffles, samples, weighted picks, strings over an alphabet,
 * sequences and permutations. They are written into the answer's memory as they are drawn, like numbers: a batch of the longest
 * strings takes 40 MB there, and took 300 MB as JavaScript strings. Most map exactly uniform offsets (offsets.ts, unique.ts,
 * descending.ts) to values one to one; the proof for weighted picks is at `drawWeighted`.
 */

/** Writes the JSON array of the values; returns where it ends. */
export function drawList(
  reader: EntropyReader,
  request: ListRequest,
  target: Uint8Array,
  at: number,
  packed?: Output,
): number {
  switch (request.kind) {
    case 'shuffle':
      return writePicks(request.items, shuffledPlaces(reader, request.items.length), target, at, packed);
    case 'sample':
      return writePicks(
        request.items,
        drawUnique(reader, request.items.length, request.count),
        target,
        at,
        packed,
      );
    case 'weighted':
      return drawWeighted(reader, request, target, at, packed);
    case 'strings':
      return drawStrings(reader, request, target, at, packed);
    case 'sequences':
      return drawRows(reader, { ...request, isNested: true }, target, at, packed);
    case 'permutations': {
      const { count, length } = request;
      const rows = { count, ranges: [wholeRange(length)], sort: 'none', isNested: false } as const;
      return drawRows(reader, rows, target, at, packed);
    }
  }
}

/** Texts one behind the other; text i ends where the next begins. */
interface TextRow {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly starts: Uint32Array;
}

function rowOf(
  texts: readonly string[],
  bytesMax: number,
  write: (text: string, bytes: Uint8Array<ArrayBuffer>, at: number) => number,
): TextRow {
  const bytes = new Uint8Array(bytesMax);
  const starts = new Uint32Array(texts.length + 1);
  for (let i = 0; i < texts.length; i++) starts[i + 1] = write(texts[i], bytes, starts[i]);
  return { bytes, starts };
}

function writeText({ bytes, starts }: TextRow, i: number, target: Uint8Array, at: number): number {
  const size = starts[i + 1] - starts[i];
  copyBytes(bytes, starts[i], target, at, size);
  return at + size;
}

/** An item and what stands before it in a list. */
function writeItem(item: string, target: Uint8Array, at: number): number {
  target[at] = COMMA;
  target[at + 1] = QUOTE;
  const end = writeJsonText(item, target, at + 2);
  target[end] = QUOTE;
  return end + 1;
}

function packItem(item: string, bytes: Uint8Array<ArrayBuffer>, at: number): number {
  const output = { bytes, at };
  putStringHead(Buffer.byteLength(item), output);
  return writeUtf8(item, bytes, output.at);
}

/** Writes the items, each made into bytes once, and erases the places. */
function writePicks(
  items: readonly string[],
  places: Offsets,
  target: Uint8Array,
  start: number,
  packed: Output | undefined,
): number {
  const bytesMax = items.reduce((bytes, item) => bytes + 3 + 6 * item.length, 0);
  const written = rowOf(items, bytesMax, writeItem);
  let at = start;
  for (let i = 0; i < places.length; i++) at = writeText(written, places[i], target, at);
  target[start] = OPEN;
  target[at] = CLOSE;
  if (packed !== undefined) {
    const row = rowOf(items, bytesMax, packItem);
    putArrayHead(places.length, packed);
    for (let i = 0; i < places.length; i++) packed.at = writeText(row, places[i], packed.bytes, packed.at);
  }
  places.fill(0);
  return at + 1;
}

/**
 * Independent picks, item i with probability weights[i] / sum, exactly: an offset is uniform in [0, sum), and weights[i] of its
 * values belong to item i.
 */
function drawWeighted(
  reader: EntropyReader,
  { items, weights, count }: Extract<ListRequest, { kind: 'weighted' }>,
  target: Uint8Array,
  start: number,
  packed: Output | undefined,
): number {
  const ends = endsOf(weights);
  const sum = ends[ends.length - 1];
  const plan = planOffsets(sum);
  if (packed === undefined && sum <= count && plan.method === 'batched' && putPicks(items, ends)) {
    target[start] = OPEN;
    const end = writeBatches(reader, plan, count, PICK_TEXT_MAX, target, start + 1, (words, size, refused) =>
      kernels.batchedPicks(words, sum, size, refused),
    );
    target[end - 1] = CLOSE; // over the last comma
    return end;
  }
  // where picks are many, the place of each offset is looked for once
  const placeAt =
    sum <= count ? Uint32Array.from({ length: sum }, (_, offset) => placeOf(ends, offset)) : null;
  if (packed === undefined && putTexts(items)) {
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
  return writePicks(items, places, target, start, packed);
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
export function weightSpan(weights: readonly number[]): number {
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

/** A letter takes a byte in the offsets' window, and four of text where it is a string. */
const LETTER_TEXT = 2;

/** Each character is an independent uniform choice from the alphabet. */
function drawStrings(
  reader: EntropyReader,
  { alphabet, length, count }: Extract<ListRequest, { kind: 'strings' }>,
  target: Uint8Array,
  start: number,
  packed: Output | undefined,
): number {
  const plan = planOffsets(alphabet.length);
  assert(plan.method !== 'divided', 'offsets of an alphabet take 32 bits');
  if (packed === undefined && plan.method === 'batched' && putAlphabet(alphabet)) {
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
    target[end - 1] = CLOSE; // over the last comma
    return end;
  }
  const blocks = drawnBlocks(reader, plan, count * length);
  const packer = packed && new StringPacker(alphabet, length, count, packed);
  assert(putTexts(alphabet), 'the table of the kernel holds any alphabet');
  return writeStrings(blocks, length, target, start, (drawn) => packer?.put(drawn));
}

/** Writes strings of `length` texts of the kernel's table each; `each` sees a block in the window before it is written. */
function writeStrings(
  blocks: OffsetBlocks,
  length: number,
  target: Uint8Array,
  start: number,
  each: (drawn: number) => void,
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
  target[at - 1] = CLOSE; // over the last comma
  return at;
}

/** Short texts as bytes: `SHORT_ROOM` bytes of room each, of which the first are used. */
interface ShortTexts {
  readonly bytes: Uint8Array;
  readonly widths: Uint8Array;
}

/** A character in UTF-8. */
const SHORT_ROOM = 4;

function tableOf(texts: readonly string[]): ShortTexts {
  const bytes = new Uint8Array(SHORT_ROOM * texts.length);
  const widths = new Uint8Array(texts.length);
  for (let i = 0; i < texts.length; i++) {
    widths[i] = writeUtf8(texts[i], bytes, SHORT_ROOM * i) - SHORT_ROOM * i;
  }
  return { bytes, widths };
}

/** Writes the texts at the places in the window from `from` to `to`; returns where they end. */
function writePlaces(
  { bytes, widths }: ShortTexts,
  from: number,
  to: number,
  target: Uint8Array,
  start: number,
): number {
  let at = start;
  for (let i = from; i < to; i++) {
    const first = SHORT_ROOM * offsets32[i];
    const end = first + widths[offsets32[i]];
    for (let j = first; j < end; j++) target[at++] = bytes[j];
  }
  return at;
}

/** Strings in MessagePack: the head of one tells its bytes, which are known behind its last character. */
class StringPacker {
  readonly #output: Output;
  readonly #characters: ShortTexts;
  readonly #length: number;
  /** Of the longest string. */
  readonly #headBytes: number;
  #missing: number;
  #start: number;
  #at: number;

  constructor(alphabet: readonly string[], length: number, count: number, output: Output) {
    putArrayHead(count, output);
    this.#output = output;
    this.#characters = tableOf(alphabet);
    this.#length = length;
    this.#headBytes = stringHead(length * this.#characters.widths.reduce((a, b) => Math.max(a, b), 0)).length;
    this.#missing = length;
    this.#start = output.at + this.#headBytes;
    this.#at = this.#start;
  }

  /** Takes the places of a block in the window. */
  put(drawn: number): void {
    for (let from = 0; from < drawn; ) {
      const to = Math.min(drawn, from + this.#missing);
      this.#at = writePlaces(this.#characters, from, to, this.#output.bytes, this.#at);
      this.#missing -= to - from;
      if (this.#missing === 0) this.#end();
      from = to;
    }
  }

  #end(): void {
    const output = this.#output;
    putStringHead(this.#at - this.#start, output);
    if (output.at < this.#start) output.bytes.copyWithin(output.at, this.#start, this.#at);
    output.at += this.#at - this.#start;
    this.#missing = this.#length;
    this.#start = output.at + this.#headBytes;
    this.#at = this.#start;
  }
}

/** A permutation is a sample of all of 0 .. length - 1 without repeats. */
function wholeRange(length: number): SequenceRange {
  return { length, min: 0, max: length - 1, unique: true };
}
