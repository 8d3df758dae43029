/** Whole numbers as JSON text, each followed by a comma. All functions write to TEXT and return how many bytes. */
import {
  constant,
  eightDigits,
  nonZero,
  putEightDigits,
  putEntry,
  sixteenDigits,
  SMALL_COMMA,
  textOf,
  THREE_COMMA,
  ZEROS,
} from './digits';
import { ENTROPY, loseValues, OFFSETS, SECOND, TEXT } from './windows';

const COMMA: u8 = 0x2c;
const MINUS: u8 = 0x2d;

/**
 * Draws as `batched` does and writes min + offset, all from 0 to 999, at once: the ranges most asked for, and the only
 * ones so cheap that the way through OFFSETS would be a third of the time. Second result: how many values.
 */
export function batchedSmall(words: i32, span: f64, size: i32, refused: u32, min: i32): i32 {
  let out = TEXT;
  store<i32>(SECOND, words * size);
  const factor = u64(span);
  const table = SMALL_COMMA + (usize(min) << 3);
  const end = ENTROPY + (usize(words) << 2);
  for (let at = ENTROPY; at < end; at += 4) {
    let low = u64(load<u32>(at));
    let to = out;
    for (let left = size; left > 0; left--) {
      const product = low * factor;
      low = product & 0xffffffff;
      to = putEntry(to, load<u64>(table + (usize(product >> 32) << 3)));
    }
    if (u32(low) < refused) loseValues(size);
    else out = to;
  }
  return i32(out - TEXT);
}

/** The same for four values a word, most spans of 68 to 256 and 0..100 among them: without the inner loop. */
export function fourSmall(words: i32, span: f64, refused: u32, min: i32): i32 {
  let out = TEXT;
  store<i32>(SECOND, words << 2);
  const factor = u64(span);
  const table = SMALL_COMMA + (usize(min) << 3);
  const end = ENTROPY + (usize(words) << 2);
  for (let at = ENTROPY; at < end; at += 4) {
    const a = u64(load<u32>(at)) * factor;
    const b = (a & 0xffffffff) * factor;
    const c = (b & 0xffffffff) * factor;
    const d = (c & 0xffffffff) * factor;
    if (u32(d) < refused) {
      loseValues(4);
      continue;
    }
    out = putEntry(out, load<u64>(table + (usize(a >> 32) << 3)));
    out = putEntry(out, load<u64>(table + (usize(b >> 32) << 3)));
    out = putEntry(out, load<u64>(table + (usize(c >> 32) << 3)));
    out = putEntry(out, load<u64>(table + (usize(d >> 32) << 3)));
  }
  return i32(out - TEXT);
}

/** Without leading zeros, and a comma. */
@inline
function putUpToSixDigits(at: usize, v: u32): usize {
  const high = u32((u64(v) * 536871) >> 29); // v / 1000, e = 88: exact below 6.1·10^6 (digits.ts)
  if (high == 0) return putEntry(at, load<u64>(v << 3, SMALL_COMMA));
  const end = putEntry(at, load<u64>(high << 3, SMALL_COMMA)) - 1; // over its comma
  store<u32>(end, load<u32>((v - high * 1000) << 2, THREE_COMMA));
  return end + 4;
}

/** Any whole number within ±(2^53 - 1). */
@inline
export function putInteger(at: usize, value: i64): usize {
  const sign = value >> 63;
  store<u8>(at, MINUS);
  const out = at - usize(sign);
  const magnitude = u64((value ^ sign) - sign);
  return magnitude < 1000000 ? putUpToSixDigits(out, u32(magnitude)) : putLong(out, magnitude);
}

function putLong(at: usize, magnitude: u64): usize {
  const high = magnitude / 100000000;
  const digits = sixteenDigits(
    high,
    magnitude - high * 100000000,
    constant(0),
    constant(1),
    constant(2),
    constant(3),
    constant(4),
    constant(5),
  );
  const leading = ctz<u32>(nonZero(digits));
  v128.store(at, v128.swizzle(textOf(digits, constant(6)), v128.load(leading, LANES)));
  store<u8>(at + 16 - leading, COMMA);
  return at + 17 - leading;
}

/** min + offset, within int32; the offsets are u32. */
export function int32(count: i32, min: i32): i32 {
  let out = TEXT;
  const end = OFFSETS + (usize(count) << 2);
  for (let at = OFFSETS; at < end; at += 4) {
    const value = load<i32>(at) + min;
    // The sign takes no branch: signs of random numbers are foreseen half of the time.
    const sign = value >> 31; // 0 or -1
    store<u8>(out, MINUS); // overwritten by the first digit when there is no sign
    out -= sign;
    const magnitude = u32((value ^ sign) - sign);
    if (magnitude < 1000000) {
      out = putUpToSixDigits(out, magnitude);
    } else if (magnitude >= 100000000) {
      const high = magnitude / 100000000; // up to 21
      out = putEntry(out, load<u64>(high << 3, SMALL_COMMA)) - 1;
      putEightDigits(out, magnitude - high * 100000000);
      store<u8>(out, COMMA, 8);
      out += 9;
    } else {
      const digits = eightDigits(magnitude);
      const leading = usize(ctz<u64>(digits ^ ZEROS)) & ~7; // 0 or 8
      store<u64>(out, digits >> leading);
      out += 8 - (leading >> 3);
      store<u8>(out, COMMA);
      out++;
    }
  }
  return i32(out - TEXT);
}

/** min + offset, within ±(2^53 - 1), whatever their number of digits. */
@inline
function safe<Offset extends number>(count: i32, min: f64): i32 {
  const k0 = constant(0), k1 = constant(1), k2 = constant(2), k3 = constant(3);
  const k4 = constant(4), k5 = constant(5), k6 = constant(6);
  let out = TEXT;
  const first = i64(min);
  const end = OFFSETS + usize(count) * sizeof<Offset>();
  for (let at = OFFSETS; at < end; at += sizeof<Offset>()) {
    const value = i64(load<Offset>(at)) + first;
    const sign = value >> 63;
    store<u8>(out, MINUS);
    out -= usize(sign);
    const magnitude = u64((value ^ sign) - sign);
    const high = magnitude / 100000000;
    const digits = sixteenDigits(high, magnitude - high * 100000000, k0, k1, k2, k3, k4, k5);
    const leading = ctz<u32>(nonZero(digits) | 0x8000); // zero itself keeps its last digit
    v128.store(out, v128.swizzle(textOf(digits, k6), v128.load(leading, LANES)));
    out += 16 - leading;
    store<u8>(out, COMMA);
    out++;
  }
  return i32(out - TEXT);
}

/** Sixteen of these from place n on are the lanes that a swizzle moves n places to the front. */
const LANES: usize = memory.data<u8>(
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31],
  16,
);

export function safe32(count: i32, min: f64): i32 {
  return safe<u32>(count, min);
}

export function safe64(count: i32, min: f64): i32 {
  return safe<u64>(count, min);
}
