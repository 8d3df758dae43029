/**
 * The slow estimators of SP 800-90B: the four predictors on bits. The input lies at `bits`, one
 * bit per byte, with 32 zero bytes after it. src/stats/sp800-90b/kernels.ts lays out the memory.
 */
import { advanceBoard, beginBoard, HITS, MADE, ROUND_STEPS, setHits } from './scoreboard';

export { correct, longestRun } from './scoreboard';
export { commonPrefixes, packText, repeats, sortSuffixes } from './suffixes';

/** The start of the memory that the caller lays out. */
export const firstByte: usize = __heap_base;

/** Returns the 32 bits of a round, the first as bit 0; bits after the end are zero. */
@inline
function roundAt(bits: usize): u32 {
  const low = i8x16.bitmask(i8x16.shl(v128.load(bits), 7));
  const high = i8x16.bitmask(i8x16.shl(v128.load(bits, 16), 7));
  return u32(low) | (u32(high) << 16);
}

const MCW_WINDOWS: i32 = 4;
const MCW_LENGTHS: usize = memory.data<i32>([63, 255, 1023, 4095]);
const MCW_ONES: usize = memory.data(4 * MCW_WINDOWS, 16);

/** Multi most common in window (6.3.7) of n > 4,095 bits. A window has an odd length, so it never holds a tie. */
export function multiMcw(bits: usize, n: i32): void {
  beginBoard(MCW_WINDOWS);
  for (let j: usize = 0; j < usize(MCW_WINDOWS); j++) {
    const length = load<i32>(MCW_LENGTHS + (j << 2));
    let ones: i32 = 0;
    for (let i: i32 = 0; i < length; i++) ones += i32(load<u8>(bits + usize(i)));
    store<i32>(MCW_ONES + (j << 2), ones);
  }
  for (let from = load<i32>(MCW_LENGTHS); from < n; from += ROUND_STEPS) {
    const steps = min(ROUND_STEPS, n - from);
    for (let j: usize = 0; j < usize(MCW_WINDOWS); j++) {
      const length = load<i32>(MCW_LENGTHS + (j << 2));
      let ones = load<i32>(MCW_ONES + (j << 2));
      let hits: u32 = 0;
      // A window that is not full yet predicts nothing, so it never leads.
      for (let step = max(0, length - from); step < steps; step++) {
        const at = bits + usize(from + step);
        const bit = i32(load<u8>(at));
        const prediction = (length - 2 * ones) >>> 31;
        hits |= u32(prediction ^ bit ^ 1) << step;
        ones += bit - i32(load<u8>(at - usize(length)));
      }
      store<i32>(MCW_ONES + (j << 2), ones);
      store<u32>(HITS + (j << 2), hits);
    }
    advanceBoard(steps);
  }
}

const LAGS: i32 = 128;

/**
 * Lag prediction (6.3.8). A lag is right where the stream equals itself shifted by the lag. So one comparison covers 32
 * places, and one vector the four lags that differ by whole words. `words` has room for n / 32 + 6 words.
 */
export function lag(bits: usize, n: i32, words: usize): void {
  memory.fill(words, 0, 20); // the first lags look back at these
  words += 20;
  const rounds = (n + 31) >> 5;
  for (let r: usize = 0; r < usize(rounds); r++) store<u32>(words + (r << 2), roundAt(bits + (r << 5)));
  beginBoard(LAGS);
  for (let from: i32 = 0, at = words; from < n; from += ROUND_STEPS, at += 4) {
    const now = v128.load32_splat(at);
    // The lanes are the lags of 4, 3, 2 and 1 whole words.
    storeHits(v128.not(v128.xor(now, v128.load(at - 16))), 31);
    for (let shift: i32 = 1; shift < 32; shift++) {
      const up = i32x4.shl(v128.load(at - 12), shift);
      const carried = i32x4.shr_u(v128.load(at - 16), 32 - shift);
      storeHits(v128.not(v128.xor(now, v128.or(up, carried))), shift - 1);
    }
    // Places before the first bit and after the last are no hits.
    for (let d = from + 1; from < LAGS && d <= LAGS; d++) {
      const hits = HITS + (usize(d - 1) << 2);
      store<u32>(hits, d - from < 32 ? load<u32>(hits) & (u32(-1) << (d - from)) : 0);
    }
    const steps = min(ROUND_STEPS, n - from);
    if (steps < 32) {
      const exist = (u32(1) << steps) - 1;
      for (let p: usize = 0; p < usize(LAGS); p++) store<u32>(HITS + (p << 2), load<u32>(HITS + (p << 2)) & exist);
    }
    advanceBoard(steps);
  }
}

/** Stores lanes 3 to 0, the hits of sub-predictors p, p + 32, p + 64 and p + 96. */
@inline
function storeHits(hits: v128, p: i32): void {
  const at = HITS + (usize(p) << 2);
  v128.store_lane<u32>(at, hits, 3);
  v128.store_lane<u32>(at, hits, 2, 128);
  v128.store_lane<u32>(at, hits, 1, 256);
  v128.store_lane<u32>(at, hits, 0, 384);
}

const ORDERS: i32 = 16;
/** Pairs of context and successor that the model of one order may hold (6.3.9). Only order 16 can have more. */
const PAIRS_MAX: i32 = 100000;

/**
 * Multi Markov model with counting (6.3.9). Order d predicts the bit that followed the last d bits most often, 1 among
 * equals. A context needs only one number: how much more often 1 followed it than 0, and whether any bit did. `models` has
 * room for 2^17 numbers of 4 bytes, initially zero: context c of order d is at index 2^d + c.
 */
export function multiMmc(bits: usize, n: i32, models: usize): void {
  beginBoard(ORDERS);
  let history: u32 = 0;
  let pairs: i32 = 0;
  for (let from: i32 = 0; from < n; from += ROUND_STEPS) {
    const steps = min(ROUND_STEPS, n - from);
    const round = roundAt(bits + usize(from));
    for (let order: i32 = 1; order < ORDERS; order++) {
      const start = max(0, order - from);
      const model = models + (4 << order);
      const mask = (u32(1) << order) - 1;
      let context = history & mask;
      if (start > 0) context = firstBits(round, start);
      let hits: u32 = 0;
      let made: u32 = 0;
      for (let step = start; step < steps; step++) {
        // Twice the lead of 1 over 0, plus 1 if the context was seen.
        const at = model + (usize(context) << 2);
        const value = load<i32>(at);
        const bit = i32((round >>> step) & 1);
        const isSeen = value & 1;
        made |= u32(isSeen) << step;
        hits |= u32(((value >>> 31) ^ bit) & isSeen) << step;
        store<i32>(at, (value | 1) + (bit << 2) - 2);
        context = ((context << 1) | u32(bit)) & mask;
      }
      store<u32>(HITS + (usize(order - 1) << 2), hits);
      store<u32>(MADE + (usize(order - 1) << 2), made);
    }
    // Order 16, whose model may be full: four times the lead of 1 over 0, plus 1 if it holds successor 0, plus 2 if it
    // holds 1.
    const start = max(0, ORDERS - from);
    const model = models + (4 << ORDERS);
    let context = start > 0 ? firstBits(round, min(start, steps)) : history;
    let hits: u32 = 0;
    let made: u32 = 0;
    for (let step = start; step < steps; step++) {
      const at = model + (usize(context) << 2);
      const value = load<i32>(at);
      const bit = i32((round >>> step) & 1);
      const isSeen = i32((value & 3) != 0);
      made |= u32(isSeen) << step;
      hits |= u32(((value >>> 31) ^ bit) & isSeen) << step;
      const isHeld = (value >>> bit) & 1;
      const isCounted = isHeld | i32(pairs < PAIRS_MAX);
      pairs += isCounted & (isHeld ^ 1);
      store<i32>(at, isCounted ? (value | (1 << bit)) + (bit << 3) - 4 : value);
      context = ((context << 1) | u32(bit)) & 0xffff;
    }
    store<u32>(HITS + (usize(ORDERS - 1) << 2), hits);
    store<u32>(MADE + (usize(ORDERS - 1) << 2), made);
    history = context;
    advanceBoard(steps);
  }
}

/** Returns the first bits of a round as a context, whose lowest bit is the last of them. */
@inline
function firstBits(round: u32, count: i32): u32 {
  let context: u32 = 0;
  for (let step: i32 = 0; step < count; step++) context = (context << 1) | ((round >>> step) & 1);
  return context;
}

// Not local to lz78y, whose loop has no registers left for them.
let lzCorrect: i32 = 0;
let lzLongestRun: i32 = 0;

/**
 * LZ78Y prediction (6.3.10). The number of a context of d bits is the bit 1 followed by those bits, and its two counts are
 * side by side in `counts`, which has 2^18 zeros initially.
 *
 * Whenever a longer context counts y, the context of its last bit s alone counts y too. Once y has followed s after both
 * values of the bit before s, each longer context has a smaller count of y than s for good, and cannot predict. When all
 * four (s, y) have followed both bits, contexts of one bit decide alone. On random bits that takes some dozen steps.
 *
 * Until then some word of three bits is missing from the stream, so at most 42,760 contexts exist (those without 111) and
 * some 256 that reach into the first 16 bits: the dictionary, which holds 65,536, is never full.
 */
export function lz78y(bits: usize, n: i32, counts: usize): void {
  let history: u32 = 0;
  for (let i: i32 = 0; i < ORDERS; i++) history = (history << 1) | u32(load<u8>(bits + usize(i)));
  /** Bits 4s + 2y and 4s + 2y + 1: whether a 0 and whether a 1 came before s when y followed s. */
  let metAfter: u32 = 0;
  let longest = ORDERS;
  let run: i32 = 0;
  lzCorrect = 0;
  lzLongestRun = 0;
  for (let i = ORDERS; i < n; i++) {
    const bit = u32(load<u8>(bits + usize(i)));
    let prediction: u32 = 2;
    let mostOften: u32 = 0;
    for (let d = longest; d >= 1; d--) {
      const mask = (u32(1) << d) - 1;
      const context = counts + (usize((mask + 1) | (history & mask)) << 3);
      const zeros = load<u32>(context);
      const ones = load<u32>(context, 4);
      if (max(zeros, ones) > mostOften) {
        mostOften = max(zeros, ones);
        prediction = u32(ones >= zeros);
      }
      const own = context + (usize(bit) << 2);
      store<u32>(own, load<u32>(own) + 1);
    }
    run = prediction == bit ? run + 1 : 0;
    lzCorrect += i32(prediction == bit);
    lzLongestRun = max(lzLongestRun, run);
    if (longest > 1) {
      metAfter |= 1 << (((history & 1) << 2) | (bit << 1) | ((history >>> 1) & 1));
      if (metAfter == 0xff) longest = 1;
    }
    history = (history << 1) | bit;
  }
  setHits(lzCorrect, lzLongestRun);
}
