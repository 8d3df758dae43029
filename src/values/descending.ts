import { assert } from '../core/assert.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { drawMixedRadix, EXACT_BOUND_MAX, power, refusalsMax } from './offsets.ts';

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

/** Fills `out`: out[i] is uniform in [0, bound - i). `out` holds at most `bound` indices. */
export function fillDescending(source: EntropyReader, bound: number, out: Uint32Array): void {
  assert(out.length <= bound && bound <= EXACT_BOUND_MAX, 'at most as many indices as there are places');
  let from = 0;
  while (from < out.length) {
    let product = bound - from;
    let to = from + 1;
    while (to < out.length && product * (bound - to) <= 2 ** 32 * REFUSAL_MAX) product *= bound - to++;
    drawMixedRadix(source, bound, 1, from, to, product, out);
    from = to;
  }
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
