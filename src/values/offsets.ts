import { assert } from '../core/assert.ts';
import type { Blocks } from './blocks.ts';
import type { EntropyReader } from './entropy-reader.ts';
import {
  BLOCK_VALUES,
  type ByteSource,
  ENTROPY_BYTES,
  kernels,
  offsets32,
  offsets64,
  putText,
  secondResult,
  takeEntropy,
  useOffsets,
} from './kernels.ts';

/**
 * Exactly uniform integers in [0, span), span from 1 to 2^53: the core of integers, floats with a
 * precision and samples without repeats.
 *
 * Why they are exactly uniform. A word w is uniform on [0, N). Both methods below map N - (N mod S) of its
 * values onto [0, S), each result from the same number of words, and refuse the other N mod S words; a
 * fresh word replaces a refused one.
 * - *Multiplied* (Lemire 2019, "Fast random integer generation in an interval"): the result is floor(w·S / N), and the
 *   word is refused when (w·S) mod N < N mod S. For a fixed result k the products w·S in [kN, (k+1)N) are the multiples
 *   of S there; those at least N mod S above kN lie in a half-open run of N - (N mod S) numbers, a multiple of S, which
 *   holds exactly (N - (N mod S)) / S of them, whatever k is.
 * - *Divided*: the result is w mod S, and the word is refused when w >= S·floor(N / S).
 *
 * Several values from one word (Brackett-Rozinsky and Lemire 2024, "Batched ranged random integer
 * generation"): with S = span^k the one result below S has k digits of base `span`, which are independent and
 * uniform. The first digit is floor(w·span / N), and the rest (w·span) mod N replaces the word for
 * the next digit. After k digits the rest is (w·S) mod N, which the multiplied method compares with N mod S.
 *
 * assembly/offsets.ts does the arithmetic. Words are taken in the order in which drawing one value
 * after the other would take them, and no word is taken that no value needs.
 */

export interface OffsetPlan {
  readonly span: number;
  readonly method: 'constant' | 'batched' | 'multiplied' | 'divided';
  /** Bytes of one word. */
  readonly wordBytes: 0 | 4 | 5 | 6 | 7;
  /** Values made from one word. */
  readonly wordValues: number;
}

const WORDS_32 = 2 ** 32;

/** Above this span no two values fit into one word of 32 bits. */
const BATCHED_SPAN_MAX = 2 ** 16;

/** The last plan is kept, because consecutive requests often have the same range. */
let lastPlan: OffsetPlan = { span: 1, method: 'constant', wordBytes: 0, wordValues: 1 };

/** Chooses the method that takes the fewest bytes per value, refused words included. */
export function planOffsets(span: number): OffsetPlan {
  if (lastPlan.span !== span) lastPlan = choosePlan(span);
  return lastPlan;
}

function choosePlan(span: number): OffsetPlan {
  assert(Number.isInteger(span) && span >= 1 && span <= 2 ** 53, 'a span is a whole number from 1 to 2^53');
  if (span === 1) return { span, method: 'constant', wordBytes: 0, wordValues: 1 };
  const batch = span <= BATCHED_SPAN_MAX ? cheapestBatch(span) : 1;
  if (batch > 1) return { span, method: 'batched', wordBytes: 4, wordValues: batch };
  let best: OffsetPlan = { span, method: 'multiplied', wordBytes: 4, wordValues: 1 };
  for (const wordBytes of [5, 6, 7] as const) {
    if (bytesPerValue(best) <= wordBytes) break; // no wider word is cheaper
    const plan: OffsetPlan = { span, method: 'divided', wordBytes, wordValues: 1 };
    if (bytesPerValue(plan) < bytesPerValue(best)) best = plan;
  }
  return best;
}

/** Returns how many values a word of 32 bits should give, so that the mean count of words per value is least. */
function cheapestBatch(span: number): number {
  let best = 1;
  let bestYield = 0;
  let product = span;
  for (let size = 1; product <= WORDS_32; size++) {
    const valuesPerWord = size * (1 - remainder(WORDS_32, product) / WORDS_32);
    if (valuesPerWord > bestYield) {
      best = size;
      bestYield = valuesPerWord;
    }
    product *= span;
  }
  return best;
}

/**
 * Returns the probability that a word is refused which is to give `values` values (by default as many as it can give).
 */
export function refusal(plan: OffsetPlan, values: number = plan.wordValues): number {
  if (plan.method === 'constant') return 0;
  const words = wordsOf(plan.wordBytes);
  if (plan.span > words) return 1;
  return remainder(words, power(plan.span, values)) / words;
}

function bytesPerValue(plan: OffsetPlan): number {
  return plan.wordBytes / (plan.wordValues * (1 - refusal(plan)));
}

function wordsOf(wordBytes: number): number {
  return wordBytes === 7 ? 2 ** 53 : 2 ** (8 * wordBytes);
}

/** Returns base^exponent by multiplication, exact below 2^53; `**` is only an approximation (ECMA-262 6.1.6.1.3). */
export function power(base: number, exponent: number): number {
  let product = 1;
  for (let i = 0; i < exponent; i++) product *= base;
  return product;
}

/**
 * Returns words mod divisor. Up to 2^32 it uses an integer instruction, which is several times faster than that of
 * doubles.
 */
export function remainder(words: number, divisor: number): number {
  if (words === WORDS_32 && divisor < WORDS_32) return ((WORDS_32 - divisor) >>> 0) % (divisor >>> 0);
  return words % divisor;
}

/** A Float64Array when words are wider than 32 bits, else a Uint32Array. */
export type Offsets = Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** Tells whether the plan's offsets take 64 bits in the window. */
function isWide(plan: OffsetPlan): boolean {
  return plan.method === 'divided';
}

/**
 * Draws a block of the missing offsets into the window: as many as the window holds, less those
 * whose word was refused. Returns their count.
 */
function drawBlock(source: ByteSource, plan: OffsetPlan, missing: number): number {
  const { span, wordBytes } = plan;
  switch (plan.method) {
    case 'constant':
      return putZeros(Math.min(missing, BLOCK_VALUES));
    case 'batched': {
      const { size, words, refused } = takeBatch(source, plan, missing);
      useOffsets(4 * words * size);
      return kernels.batched(words, span, size, refused);
    }
    case 'multiplied': {
      const words = takeWords(source, 4, missing);
      useOffsets(4 * words);
      return kernels.multiplied(words, span, remainder(WORDS_32, span));
    }
    case 'divided': {
      const words = takeWords(source, wordBytes, missing);
      useOffsets(8 * words);
      return kernels.divided(words, wordBytes, span, acceptedBelow(plan));
    }
  }
}

/** Returns the bound below which a divided word is accepted. */
export function acceptedBelow({ wordBytes, span }: OffsetPlan): number {
  const all = wordsOf(wordBytes);
  return all - (all % span);
}

/** Copies the words of the next block into the entropy window, one word for each value. Returns their count. */
export function takeWords(source: ByteSource, wordBytes: number, missing: number): number {
  const words = Math.min(missing, BLOCK_VALUES);
  takeEntropy(source, wordBytes * words);
  return words;
}

/**
 * Copies the words of the next block, each for several values, at most `blockValues` in all. The last word gives only
 * the values that are still missing.
 */
function takeBatch(
  source: ByteSource,
  plan: OffsetPlan,
  missing: number,
  blockValues = BLOCK_VALUES,
): { size: number; words: number; refused: number } {
  const size = Math.min(plan.wordValues, missing);
  const words = Math.floor(Math.min(missing, blockValues) / size);
  takeEntropy(source, 4 * words);
  return { size, words, refused: refusedBelow(plan, size) };
}

/** Returns the bound below which the rest of a word of 32 bits after `size` values makes it refused. */
export function refusedBelow({ span }: OffsetPlan, size: number): number {
  return remainder(WORDS_32, power(span, size));
}

/**
 * Size of a block of text that is drawn and written at once. Larger blocks take fewer calls; smaller ones stay in the
 * cache.
 */
const BATCH_TEXT_BYTES = 32_768;

/**
 * Draws `count` values of a batched plan and writes them at once, up to `textMax` bytes each; returns their end. `write`
 * returns the size of their text, and as its second result the count of values that were not refused.
 */
export function writeBatches(
  source: ByteSource,
  plan: OffsetPlan,
  count: number,
  textMax: number,
  target: Uint8Array,
  start: number,
  write: (words: number, size: number, refused: number) => number,
): number {
  const blockValues = Math.min(BATCH_TEXT_BYTES / textMax, (ENTROPY_BYTES / 4) * plan.wordValues);
  let at = start;
  for (let missing = count; missing > 0; ) {
    const { size, words, refused } = takeBatch(source, plan, missing, blockValues);
    const bytes = write(words, size, refused);
    missing -= secondResult();
    at = putText(bytes, target, at);
  }
  return at;
}

function putZeros(count: number): number {
  offsets32.fill(0, 0, count);
  return count;
}

/** Returns `count` independent offsets, each uniform in the span of the plan. */
export function drawPlanned(source: EntropyReader, plan: OffsetPlan, count: number): Offsets {
  const out = roomFor(plan, count);
  fillPlanned(source, plan, out, count);
  return out;
}

export function roomFor(plan: OffsetPlan, count: number): Offsets {
  return isWide(plan) ? new Float64Array(count) : new Uint32Array(count);
}

/** Draws `count` independent offsets into `out`. */
export function fillPlanned(source: EntropyReader, plan: OffsetPlan, out: Offsets, count: number): void {
  let done = 0;
  while (done < count) {
    const drawn = drawBlock(source, plan, count - done);
    if (isWide(plan)) kernels.toDoubles(drawn);
    out.set((isWide(plan) ? offsets64 : offsets32).subarray(0, drawn), done);
    done += drawn;
  }
}

export interface OffsetBlocks extends Blocks {
  /** True when the offsets take 64 bits in the window. */
  readonly isWide: boolean;
}

/** Returns blocks of `count` independent offsets that are drawn as they are requested. */
export function drawnBlocks(source: ByteSource, plan: OffsetPlan, count: number): OffsetBlocks {
  let missing = count;
  return {
    isWide: isWide(plan),
    next() {
      let drawn = 0;
      while (drawn === 0 && missing > 0) drawn = drawBlock(source, plan, missing);
      missing -= drawn;
      return drawn;
    },
  };
}

/** Returns blocks of offsets that were drawn before, because they had to be sorted or compared. */
export function blocksOf(offsets: Offsets): OffsetBlocks {
  let at = 0;
  return {
    isWide: offsets instanceof Float64Array,
    next() {
      const count = putBlock(offsets, at);
      at += count;
      return count;
    },
  };
}

/** Copies offsets from `from` on into the window, in the form in which a draw leaves them. */
function putBlock(offsets: Offsets, from: number): number {
  const block = offsets.subarray(from, from + BLOCK_VALUES);
  useOffsets(block.byteLength);
  if (offsets instanceof Uint32Array) {
    offsets32.set(block);
  } else {
    offsets64.set(block);
    kernels.fromDoubles(block.length);
  }
  return block.length;
}

/**
 * Returns how many further words `words` accepted ones may cost, exceeded with probability below 2^-`securityBits`
 * if each word is refused with probability at most `refused`.
 *
 * Proof. The number R of refusals before m acceptances has E[z^R] <= ((1-p) / (1-pz))^m for 1 <= z < 1/p, so
 * by Markov P(R > r) < z^-r · ((1-p) / (1-pz))^m. With z = 1/sqrt(p) the fraction is 1 + sqrt(p), and the
 * bound p^(r/2) · (1 + sqrt(p))^m is at most 2^-b when r >= 2·(b + m·log2(1 + sqrt(p))) / log2(1/p).
 */
export function refusalsMax(words: number, refused: number, securityBits: number): number {
  if (words === 0 || refused === 0) return 0;
  return Math.ceil((2 * (securityBits + words * Math.log2(1 + Math.sqrt(refused)))) / -Math.log2(refused));
}

/**
 * Returns the bytes that `times` calls of `drawPlanned` for `count` values take at most, exceeded with probability below
 * 2^-`securityBits`.
 */
export function offsetBytesMax(plan: OffsetPlan, count: number, securityBits: number, times = 1): number {
  const words = times * Math.ceil(count / plan.wordValues);
  const rest = count % plan.wordValues;
  const refused = Math.max(rest < count ? refusal(plan) : 0, rest > 0 ? refusal(plan, rest) : 0);
  return plan.wordBytes * (words + refusalsMax(words, refused, securityBits));
}
