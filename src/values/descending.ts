import { assert } from '../core/assert.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { power, refusalsMax, remainder } from './offsets.ts';

/**
 * The indices of a Fisher-Yates shuffle: index[i] uniform in [0, bound - i), independent of the others.
 * Several come from one word (Brackett-Rozinsky and Lemire 2024; the proof is that of offsets.ts with S = the
 * product of the bounds and digits of mixed radix).
 */

/**
 * Bounds are multiplied while their product stays a sixteenth of the words: then a word is refused with p <
 * 1/16.
 */
const REFUSAL_MAX = 1 / 16;

/**
 * Largest bound for which word · bound is exact in a double and a word is refused with p < 1/16 even alone.
 */
const DESCENDING_BOUND_MAX = 2 ** 21;

/** Where words come from. Production passes an EntropyReader; a proof by enumeration passes smaller words. */
export type WordSource = Pick<EntropyReader, 'u32'>;

/** Fills `out`: out[i] is uniform in [0, bound - i). `out` holds at most `bound` indices. */
export function fillDescending(source: WordSource, bound: number, out: Uint32Array, wordBits: number): void {
  assert(out.length <= bound && bound <= DESCENDING_BOUND_MAX, 'at most as many indices as there are places');
  const words = 2 ** wordBits;
  let from = 0;
  while (from < out.length) {
    let product = bound - from;
    let to = from + 1;
    while (to < out.length && product * (bound - to) <= words * REFUSAL_MAX) product *= bound - to++;
    drawMixedRadix(source, bound, from, to, product, out, words);
    from = to;
  }
}

function drawMixedRadix(
  source: WordSource,
  bound: number,
  from: number,
  to: number,
  product: number,
  out: Uint32Array,
  words: number,
): void {
  const unit = 1 / words;
  const mask = (words - 1) | 0;
  let low: number;
  do {
    low = source.u32();
    for (let i = from; i < to; i++) {
      out[i] = (low * (bound - i) * unit) | 0; // exact: low has at most 32 bits and the bound 21
      low = (Math.imul(low, bound - i) & mask) >>> 0;
    }
    // the remainder is below the product: most words need no division to be accepted
  } while (low < product && low < remainder(words, product));
}

/**
 * Bytes that so many calls of `fillDescending` take together with 32-bit words; exceeded with probability below
 * 2^-`securityBits`.
 */
export function descendingBytesMax(bound: number, count: number, securityBits: number, times = 1): number {
  // Every word but the last gives at least the indices that a product of the largest bound allows.
  let perWord = 1;
  while (perWord < count && power(bound, perWord + 1) <= 2 ** 32 * REFUSAL_MAX) perWord++;
  const words = times * Math.ceil(count / perWord);
  return 4 * (words + refusalsMax(words, REFUSAL_MAX, securityBits));
}
