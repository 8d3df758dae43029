/**
 * Strings of picked texts, each followed by a comma: characters of an alphabet, or whole items. The places of the picks are
 * at OFFSETS (u32). The caller writes the texts one after another, and where each begins.
 */
import { ENTROPY, loseValues, OFFSETS, SECOND, TEXT } from './windows';

const QUOTE: u8 = 0x22;
/** '",' */
const QUOTE_COMMA: u16 = 0x2c22;

export const textsMax: i32 = 1024;
export const textsBytesMax: i32 = 12288;
/** The start of each text, and the end of the last one. */
export const textStarts: usize = memory.data(4 * 1025, 4);
export const texts: usize = memory.data(12288 + 16, 16);

/**
 * Writes the picks as strings of `length` picks each; the first string continues if `missing` is less than that. Second
 * result: how many picks the last string misses.
 */
export function strings(count: i32, length: i32, missing: i32): i32 {
  let out = TEXT;
  let left = missing;
  const end = OFFSETS + (usize(count) << 2);
  for (let at = OFFSETS; at < end; at += 4) {
    if (left == length) store<u8>(out++, QUOTE);
    const entry = textStarts + (usize(load<u32>(at)) << 2);
    const from = usize(load<u32>(entry));
    const size = usize(load<u32>(entry, 4)) - from;
    v128.store(out, v128.load(texts + from));
    for (let i: usize = 16; i < size; i += 16) v128.store(out + i, v128.load(texts + from + i));
    out += size;
    left--;
    if (left == 0) {
      store<u16>(out, QUOTE_COMMA);
      out += 2;
      left = length;
    }
  }
  store<i32>(SECOND, left);
  return i32(out - TEXT);
}

export const picksMax: i32 = 1024;
/** The text that each offset below the sum of the weights picks: up to 15 bytes, with its size in byte 15. */
export const picks: usize = memory.data(16 * 1024, 16);

/** Draws as `batched` does (offsets.ts) and writes the texts that the offsets pick. Second result: the count of values. */
export function batchedPicks(words: i32, span: f64, size: i32, refused: u32): i32 {
  let out = TEXT;
  store<i32>(SECOND, words * size);
  const factor = u64(span);
  const product = powerOf(factor, size);
  const end = ENTROPY + (usize(words) << 2);
  for (let at = ENTROPY; at < end; at += 4) {
    const word = load<u32>(at);
    if (word * product < refused) {
      loseValues(size);
      continue;
    }
    let low = u64(word);
    for (let left = size; left > 0; left--) {
      const scaled = low * factor;
      low = scaled & 0xffffffff;
      const entry = picks + (usize(scaled >> 32) << 4);
      v128.store(out, v128.load(entry));
      out += usize(load<u8>(entry, 15));
    }
  }
  return i32(out - TEXT);
}

/** One byte for each offset below the size of the alphabet, all of whose characters are one byte in JSON. */
export const alphabet: usize = memory.data(128, 16);

/**
 * Draws as `batched` does and writes strings of `length` such characters each; the first string continues if `missing` is
 * less than that. The characters pass through OFFSETS, a byte each. Second result: their count; third: how many the last
 * string misses.
 */
export function letters(words: i32, span: f64, size: i32, refused: u32, length: i32, missing: i32): i32 {
  store<i32>(SECOND, words * size);
  const factor = u64(span);
  const product = powerOf(factor, size);
  const wordsEnd = ENTROPY + (usize(words) << 2);
  let to = OFFSETS;
  for (let at = ENTROPY; at < wordsEnd; at += 4) {
    const word = load<u32>(at);
    if (word * product < refused) {
      loseValues(size);
      continue;
    }
    let low = u64(word);
    for (const next = to + usize(size); to < next; to++) {
      const scaled = low * factor;
      low = scaled & 0xffffffff;
      store<u8>(to, load<u8>(alphabet + usize(scaled >> 32)));
    }
  }
  let out = TEXT;
  let left = usize(missing);
  for (let at = OFFSETS; at < to; ) {
    if (left == usize(length)) store<u8>(out++, QUOTE);
    const part = min(left, to - at);
    for (let i: usize = 0; i < part; i += 16) v128.store(out + i, v128.load(at + i));
    at += part;
    out += part;
    left -= part;
    if (left == 0) {
      store<u16>(out, QUOTE_COMMA);
      out += 2;
      left = usize(length);
    }
  }
  store<u32>(SECOND, u32(left), 4);
  return i32(out - TEXT);
}

/**
 * Returns span^size modulo 2^32. The rest of a word w after `size` values is w times that, so it is known before a value is
 * written.
 */
@inline
function powerOf(span: u64, size: i32): u32 {
  let product: u32 = 1;
  for (let i = 0; i < size; i++) product *= u32(span);
  return product;
}
