/**
 * Strings of texts that are picked, each followed by a comma: characters of an alphabet, or whole items. The places of the picks are at OFFSETS
 * (u32). The texts lie one behind the other; the caller writes them and where each begins.
 */
import { ENTROPY, loseValues, OFFSETS, SECOND, TEXT } from './windows';

const QUOTE: u8 = 0x22;
/** '",' */
const QUOTE_COMMA: u16 = 0x2c22;

export const textsMax: i32 = 1024;
export const textsBytesMax: i32 = 12288;
/** Of text i, and where the last one ends. */
export const textStarts: usize = memory.data(4 * 1025, 4);
export const texts: usize = memory.data(12288 + 16, 16);

/** Writes the picks as strings of `length` each, the first of which goes on while it misses some. Second result: how many the last one misses. */
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
/** What each offset below the sum of the weights picks: up to 15 bytes of text, and in byte 15 how many they are. */
export const picks: usize = memory.data(16 * 1024, 16);

/** Draws as `batched` does (offsets.ts) and writes what the offsets pick. Second result: how many values. */
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

/** A byte for each offset below the size of an alphabet of characters that JSON writes as one. */
export const alphabet: usize = memory.data(128, 16);

/**
 * Draws as `batched` does and writes strings of `length` such characters each, the first of which goes on while it misses some. They come by
 * way of OFFSETS, a byte each. Second result: how many; third: how many the last string misses.
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

/** What `size` values leave of a word w is w · span^size modulo 2^32: known before any of them is written. */
@inline
function powerOf(span: u64, size: i32): u32 {
  let product: u32 = 1;
  for (let i = 0; i < size; i++) product *= u32(span);
  return product;
}
