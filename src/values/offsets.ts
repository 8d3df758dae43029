import { assert } from '../core/assert.ts';
import type { EntropyReader } from './entropy-reader.ts';

/**
 * Exactly uniform whole numbers in [0, span), span from 1 to 2^53: the core of integers, floats with a precision and
 * samples without repeats.
 *
 * Why they are exactly uniform. A word w is uniform on [0, N). Both ways below map N - (N mod S) of its values onto
 * [0, S), each result from the same number of words, and refuse the other N mod S words; a refused word is replaced
 * by a fresh one.
 * - *Multiplied* (Lemire 2019, "Fast random integer generation in an interval"): the result is floor(w·S / N) and the
 *   word is refused when (w·S) mod N < N mod S. For a fixed result k the products w·S in [kN, (k+1)N) are the multiples
 *   of S there; those at least N mod S above kN lie in a half-open run of N - (N mod S) numbers, a multiple of S, which
 *   holds exactly (N - (N mod S)) / S of them, whatever k is.
 * - *Divided*: the result is w mod S, and the word is refused when w >= S·floor(N / S).
 *
 * Several values from one word (Brackett-Rozinsky and Lemire 2024, "Batched ranged random integer generation"): with
 * S = span^k the one result below S has k digits of base `span`, which are independent and uniform. The first digit is
 * floor(w·span / N), and the rest (w·span) mod N takes the place of the word for the next; after k digits it is
 * (w·S) mod N, what the multiplied way compares with N mod S.
 */

/** Where words come from. Production passes an EntropyReader; a proof by enumeration passes smaller words. */
export type WordSource = Pick<EntropyReader, 'u32' | 'fillWords'>;

export interface OffsetPlan {
  readonly span: number;
  readonly method: 'constant' | 'batched' | 'multiplied' | 'divided';
  /** Bytes of one word. */
  readonly wordBytes: 0 | 4 | 5 | 6 | 7;
  /** Values made from one word. */
  readonly wordValues: number;
}

const WORDS_32 = 2 ** 32;

/** Largest span for which word · span is exact in a double: 32 + 21 = 53 bits. */
const BATCHED_SPAN_MAX = 2 ** 21;

/** Chooses the way that costs the fewest bytes per value, refused words included. */
export function planOffsets(span: number): OffsetPlan {
  assert(Number.isInteger(span) && span >= 1 && span <= 2 ** 53, 'a span is a whole number from 1 to 2^53');
  if (span === 1) return { span, method: 'constant', wordBytes: 0, wordValues: 1 };
  const batch = span <= BATCHED_SPAN_MAX ? cheapestBatch(span, 32) : 1;
  if (batch > 1) return { span, method: 'batched', wordBytes: 4, wordValues: batch };
  let best: OffsetPlan = { span, method: 'multiplied', wordBytes: 4, wordValues: 1 };
  for (const wordBytes of [5, 6, 7] as const) {
    if (bytesPerValue(best) <= wordBytes) break; // no wider word is cheaper
    const plan: OffsetPlan = { span, method: 'divided', wordBytes, wordValues: 1 };
    if (bytesPerValue(plan) < bytesPerValue(best)) best = plan;
  }
  return best;
}

/** Values per word of `wordBits` bits that make a value cheapest: words taken / (values · chance of acceptance). */
export function cheapestBatch(span: number, wordBits: number): number {
  const words = 2 ** wordBits;
  let best = 1;
  let bestYield = 0;
  let product = span;
  for (let size = 1; product <= words; size++) {
    const valuesPerWord = size * (1 - remainder(words, product) / words);
    if (valuesPerWord > bestYield) {
      best = size;
      bestYield = valuesPerWord;
    }
    product *= span;
  }
  return best;
}

/** The chance that a word is refused when it is asked for `values` values (by default as many as it can give). */
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

/** base^exponent by multiplication, exact below 2^53; `**` promises only an approximation (ECMA-262 6.1.6.1.3). */
export function power(base: number, exponent: number): number {
  let product = 1;
  for (let i = 0; i < exponent; i++) product *= base;
  return product;
}

/** words mod divisor. Within 32 bits an integer instruction does it, several times faster than a double's remainder. */
export function remainder(words: number, divisor: number): number {
  if (words === WORDS_32 && divisor < WORDS_32) return ((WORDS_32 - divisor) >>> 0) % (divisor >>> 0);
  return words % divisor;
}

/** A Float64Array when words are wider than 32 bits, else a Uint32Array. */
export type Offsets = Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** `count` independent offsets, each uniform in [0, span). */
export function drawOffsets(reader: EntropyReader, span: number, count: number): Offsets {
  return drawPlanned(reader, planOffsets(span), count);
}

/** The same with a plan made before. */
export function drawPlanned(reader: EntropyReader, plan: OffsetPlan, count: number): Offsets {
  const { span, method, wordBytes } = plan;
  if (method === 'divided') {
    const out = new Float64Array(count);
    fillDivided(reader, span, (wordBytes - 4) as 1 | 2 | 3, wordsOf(wordBytes), out);
    return out;
  }
  const out = new Uint32Array(count);
  if (method === 'batched') fillBatched(reader, span, plan.wordValues, out, 32);
  else if (method === 'multiplied') fillMultiplied(reader, span, out);
  return out;
}

/*
 * The words are read into the array of the results and replaced there: as many as results are missing, then as many
 * as were refused, and so on. That uses the words in the order in which drawing one after the other would.
 */

/** `size` values from every word of `wordBits` bits; the last word gives what is still missing. */
export function fillBatched(
  source: WordSource,
  span: number,
  size: number,
  out: Uint32Array,
  wordBits: number,
): void {
  const words = 2 ** wordBits;
  const rest = out.length % size;
  const restAt = out.length - rest;
  drawBatches(source, span, 0, restAt, size, out, words);
  if (rest > 0) drawBatches(source, span, restAt, out.length, rest, out, words);
}

function drawBatches(
  source: WordSource,
  span: number,
  start: number,
  end: number,
  size: number,
  out: Uint32Array,
  words: number,
): void {
  const scale = span / words;
  const mask = (words - 1) | 0;
  const refused = remainder(words, power(span, size));
  let at = start;
  while (at < end) {
    // The words wait at the far end. After t of m words at most t·size places are filled, which reaches only to the
    // word in hand: (m·size - m) + t >= t·size for t <= m.
    const missing = (end - at) / size;
    const from = end - missing;
    source.fillWords(out, from, missing);
    for (let i = from; i < end; i++) {
      let low = out[i];
      const to = at + size;
      for (let j = at; j < to; j++) {
        out[j] = (low * scale) | 0; // exact: low has at most 32 bits and span 21
        low = (Math.imul(low, span) & mask) >>> 0;
      }
      if (low >= refused) at = to;
    }
  }
}

/** One value from every four bytes, span up to 2^32. */
function fillMultiplied(source: WordSource, span: number, out: Uint32Array): void {
  const refused = remainder(WORDS_32, span);
  let at = 0;
  while (at < out.length) {
    const from = at;
    source.fillWords(out, from, out.length - from);
    for (let i = from; i < out.length; i++) {
      const word = out[i];
      const low = Math.imul(word, span) >>> 0;
      out[at] = multiplyHigh(word, span, low);
      if (low >= refused) at++;
    }
  }
}

/** floor(a · b / 2^32) for a below 2^32 and b up to 2^32, given low = (a · b) mod 2^32. */
export function multiplyHigh(a: number, b: number, low: number): number {
  // The product and the difference round by at most 2^10 each, so the quotient is within 2^-21 of a whole number.
  return Math.floor((a * b - low) * 2 ** -32 + 0.5);
}

/** One value from every word of 4 + highBytes bytes, of which there are `words` different ones; span up to that. */
export function fillDivided(
  source: Pick<EntropyReader, 'fillWide'>,
  span: number,
  highBytes: 1 | 2 | 3,
  words: number,
  out: Float64Array,
): void {
  const accepted = words - (words % span);
  let at = 0;
  while (at < out.length) {
    const from = at;
    source.fillWide(out, from, out.length - from, highBytes);
    for (let i = from; i < out.length; i++) {
      const word = out[i];
      // The quotient's floor is right although the division rounds: a rounded quotient q has
      // q·span <= word·(1 + 2^-53) < word + 1, and q·span is whole, so it does not exceed the word.
      out[at] = word - Math.floor(word / span) * span;
      if (word < accepted) at++;
    }
  }
}

/**
 * How many further words `words` accepted ones may cost: exceeded with probability below 2^-`securityBits` when each
 * word is refused with probability at most `refused`.
 *
 * Proof. The number R of refusals before m acceptances has E[z^R] <= ((1-p) / (1-pz))^m for 1 <= z < 1/p, so by Markov
 * P(R > r) < z^-r · ((1-p) / (1-pz))^m. With z = 1/sqrt(p) the fraction is 1 + sqrt(p), and the bound
 * p^(r/2) · (1 + sqrt(p))^m is at most 2^-b when r >= 2·(b + m·log2(1 + sqrt(p))) / log2(1/p).
 */
export function refusalsMax(words: number, refused: number, securityBits: number): number {
  if (words === 0 || refused === 0) return 0;
  return Math.ceil((2 * (securityBits + words * Math.log2(1 + Math.sqrt(refused)))) / -Math.log2(refused));
}

/** Bytes that `drawOffsets` takes for `count` values; exceeded with probability below 2^-`securityBits`. */
export function offsetBytesMax(plan: OffsetPlan, count: number, securityBits: number): number {
  const words = Math.ceil(count / plan.wordValues);
  const rest = count % plan.wordValues;
  const refused = Math.max(rest < count ? refusal(plan) : 0, rest > 0 ? refusal(plan, rest) : 0);
  return plan.wordBytes * (words + refusalsMax(words, refused, securityBits));
}
