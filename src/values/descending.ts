import { assert } from '../core/assert.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { power, refusalsMax, remainder } from './offsets.ts';

/**
 * The indices of a Fisher-Yates shuffle: index[i] is uniform in [0, bound - i) and independent of the others.
 * One word gives several indices (Brackett-Rozinsky and Lemire 2024). The proof is that of offsets.ts, with S the
 * product of the bounds and the results as digits of mixed radix.
 */

/** Bounds are multiplied while their product is at most a sixteenth of 2^32, so that a word is refused with p < 1/16. */
const REFUSAL_MAX = 1 / 16;

/** Largest bound for which word · bound is exact in a double. */
const EXACT_BOUND_MAX = 2 ** 21;

/** Fills `out`: out[i] is uniform in [0, bound - i). `out` holds at most `bound` indices. */
export function fillDescending(source: EntropyReader, bound: number, out: Uint32Array): void {
  assert(out.length <= bound && bound <= EXACT_BOUND_MAX, 'at most as many indices as there are places');
  for (let from = 0, to = 0; from < out.length; from = to) {
    to = endOfWord(bound, from, out.length);
    let product = 1;
    for (let i = from; i < to; i++) product *= bound - i;
    let low: number;
    do {
      low = source.u32();
      for (let i = from, radix = bound - from; i < to; i++, radix--) {
        out[i] = (low * radix * 2 ** -32) | 0; // exact: low has at most 32 bits and the bound 21
        low = Math.imul(low, radix) >>> 0;
      }
      // The remainder is below the product, so most words are accepted without a division.
    } while (low < product && low < remainder(2 ** 32, product));
  }
}

/** Returns the count of words that `count` indices take, without refused ones. */
export function descendingWords(bound: number, count: number): number {
  let words = 0;
  for (let from = 0; from < count; from = endOfWord(bound, from, count)) words++;
  return words;
}

/** Returns the index after those that come from the same word as index `from`. */
function endOfWord(bound: number, from: number, count: number): number {
  let product = bound - from;
  let to = from + 1;
  while (to < count && product * (bound - to) <= 2 ** 32 * REFUSAL_MAX) product *= bound - to++;
  return to;
}

/**
 * Returns the bytes that `times` calls of `fillDescending` for `count` indices take at most, exceeded with probability
 * below 2^-`securityBits`.
 */
export function descendingBytesMax(bound: number, count: number, securityBits: number, times = 1): number {
  // Every word but the last gives at least as many indices as if all bounds were the largest.
  let perWord = 1;
  while (perWord < count && power(bound, perWord + 1) <= 2 ** 32 * REFUSAL_MAX) perWord++;
  const words = times * Math.ceil(count / perWord);
  return 4 * (words + refusalsMax(words, REFUSAL_MAX, securityBits));
}
