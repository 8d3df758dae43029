/**
 * Strings of texts that are picked, each followed by a comma: characters of an alphabet, or whole items. The places of the picks are at OFFSETS
 * (u32). The texts lie one behind the other; the caller writes them and where each begins.
 */
import { OFFSETS, SECOND, TEXT } from './windows';

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
