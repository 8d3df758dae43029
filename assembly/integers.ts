/** Writes integers as JSON text, each followed by a comma. All functions write to TEXT and return the size in bytes. */
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
 * Draws as `batched` does and writes min + offset at once, all from 0 to 999. These are the most requested ranges, and the
 * only ones so cheap that the way through OFFSETS would be a third of the time. Second result: the count of values.
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

/** Vectors of one value in all lanes, which `fourSmall` loads before its loop (see `constant` in digits.ts). */
const LANES_OF: usize = memory.data<u8>(
  [
    100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
    103, 0, 103, 0, 103, 0, 103, 0, 103, 0, 103, 0, 103, 0, 103, 0,
    0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30,
    0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c, 0x2c,
  ],
  16,
);
/**
 * The lanes that remain of four numbers of three digits and a comma each, without leading zeros. The index has a bit for
 * each number of at least two digits, and above those a bit for each of three.
 */
const COMPACT: usize = memory.data(16 * 256, 64);

for (let lengths: u32 = 0; lengths < 256; lengths++) {
  let to = COMPACT + (usize(lengths) << 4);
  for (let i: u32 = 0; i < 4; i++) {
    const dropped = 2 - ((lengths >> i) & 1) - ((lengths >> (i + 4)) & 1);
    for (let lane = 4 * i + dropped; lane < 4 * i + 4; lane++) store<u8>(to++, lane);
  }
}

/** Writes the four numbers of group 0 to 3 out of sixteen. */
@inline
function putQuad(at: usize, quad: v128, twoDigits: u32, threeDigits: u32, group: u32): usize {
  const lengths = ((twoDigits >> (4 * group)) & 15) | (((threeDigits >> (4 * group)) & 15) << 4);
  v128.store(at, v128.swizzle(quad, v128.load(COMPACT + (usize(lengths) << 4))));
  return at + 8 + usize(popcnt(lengths));
}

/**
 * Does what `batchedSmall` does for four values a word and numbers up to 255, such as most spans of 68 to 256 and 0..100.
 * It draws from four words at once, with the same arithmetic, and makes the digits of sixteen numbers in vectors. If one of
 * the four words is refused, it writes them one by one.
 */
export function fourSmall(words: i32, span: f64, refused: u32, min: i32): i32 {
  const hundred = v128.load(LANES_OF);
  const tenth = v128.load(LANES_OF, 16); // n / 10 for k = 10: e = 6, exact below 170 (digits.ts)
  const zero = v128.load(LANES_OF, 32);
  const comma = v128.load(LANES_OF, 48);
  const factor = i32x4.splat(u32(span));
  const bound = i32x4.splat(refused);
  const first = i8x16.splat(u8(min));
  let out = TEXT;
  let lost = 0;
  const end = ENTROPY + (usize(words) << 2);
  for (let at = ENTROPY; at < end; at += 16) {
    let low = v128.load(at);
    let numbers = first;
    let left = v128.extmul_low<u32>(low, factor);
    let right = v128.extmul_high<u32>(low, factor);
    numbers = i8x16.add(numbers, v128.shuffle<u32>(left, right, 1, 3, 5, 7));
    low = v128.shuffle<u32>(left, right, 0, 2, 4, 6);
    left = v128.extmul_low<u32>(low, factor);
    right = v128.extmul_high<u32>(low, factor);
    numbers = i8x16.add(numbers, i32x4.shl(v128.shuffle<u32>(left, right, 1, 3, 5, 7), 8));
    low = v128.shuffle<u32>(left, right, 0, 2, 4, 6);
    left = v128.extmul_low<u32>(low, factor);
    right = v128.extmul_high<u32>(low, factor);
    numbers = i8x16.add(numbers, i32x4.shl(v128.shuffle<u32>(left, right, 1, 3, 5, 7), 16));
    low = v128.shuffle<u32>(left, right, 0, 2, 4, 6);
    left = v128.extmul_low<u32>(low, factor);
    right = v128.extmul_high<u32>(low, factor);
    numbers = i8x16.add(numbers, i32x4.shl(v128.shuffle<u32>(left, right, 1, 3, 5, 7), 24));
    low = v128.shuffle<u32>(left, right, 0, 2, 4, 6);
    if (at + 16 > end || v128.any_true(i32x4.lt_u(low, bound))) {
      const groupEnd = at + 16 > end ? end : at + 16;
      for (let word = at; word < groupEnd; word += 4) {
        const a = u64(load<u32>(word)) * u64(span);
        const b = (a & 0xffffffff) * u64(span);
        const c = (b & 0xffffffff) * u64(span);
        const d = (c & 0xffffffff) * u64(span);
        if (u32(d) < refused) {
          lost += 4;
          continue;
        }
        const table = SMALL_COMMA + (usize(min) << 3);
        out = putEntry(out, load<u64>(table + (usize(a >> 32) << 3)));
        out = putEntry(out, load<u64>(table + (usize(b >> 32) << 3)));
        out = putEntry(out, load<u64>(table + (usize(c >> 32) << 3)));
        out = putEntry(out, load<u64>(table + (usize(d >> 32) << 3)));
      }
      continue;
    }
    const areHundreds = i8x16.ge_u(numbers, hundred);
    const areTwo = i8x16.ge_u(numbers, i8x16.add(hundred, hundred));
    const hundreds = i8x16.sub(zero, i8x16.add(areHundreds, areTwo));
    const rest = i8x16.sub(
      i8x16.sub(numbers, v128.and(areHundreds, hundred)),
      v128.and(areTwo, hundred),
    );
    const tens = i8x16.narrow_i16x8_u(
      i16x8.shr_u(i16x8.mul(i16x8.extend_low_i8x16_u(rest), tenth), 10),
      i16x8.shr_u(i16x8.mul(i16x8.extend_high_i8x16_u(rest), tenth), 10),
    );
    const twice = i8x16.add(tens, tens);
    const fourTimes = i8x16.add(twice, twice);
    const ones = i8x16.sub(rest, i8x16.add(i8x16.add(fourTimes, fourTimes), twice));
    const threeDigits = u32(i8x16.bitmask(areHundreds));
    const twoDigits = u32(i8x16.bitmask(i8x16.gt_u(tens, i8x16.splat(0)))) | threeDigits;
    const tensText = i8x16.add(tens, zero);
    const onesText = i8x16.add(ones, zero);
    const front = v128.shuffle<u8>(hundreds, tensText, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const back = v128.shuffle<u8>(hundreds, tensText, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    const frontEnds = v128.shuffle<u8>(onesText, comma, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const backEnds = v128.shuffle<u8>(onesText, comma, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    out = putQuad(out, v128.shuffle<u16>(front, frontEnds, 0, 8, 1, 9, 2, 10, 3, 11), twoDigits, threeDigits, 0);
    out = putQuad(out, v128.shuffle<u16>(front, frontEnds, 4, 12, 5, 13, 6, 14, 7, 15), twoDigits, threeDigits, 1);
    out = putQuad(out, v128.shuffle<u16>(back, backEnds, 0, 8, 1, 9, 2, 10, 3, 11), twoDigits, threeDigits, 2);
    out = putQuad(out, v128.shuffle<u16>(back, backEnds, 4, 12, 5, 13, 6, 14, 7, 15), twoDigits, threeDigits, 3);
  }
  store<i32>(SECOND, (words << 2) - lost);
  return i32(out - TEXT);
}

/** Writes a number below 10^6 without leading zeros, and a comma. */
@inline
function putUpToSixDigits(at: usize, v: u32): usize {
  const high = u32((u64(v) * 536871) >> 29); // v / 1000, e = 88: exact below 6.1·10^6 (digits.ts)
  if (high == 0) return putEntry(at, load<u64>(v << 3, SMALL_COMMA));
  const end = putEntry(at, load<u64>(high << 3, SMALL_COMMA)) - 1; // the next digits replace its comma
  store<u32>(end, load<u32>((v - high * 1000) << 2, THREE_COMMA));
  return end + 4;
}

/** Writes any integer within ±(2^53 - 1), and a comma. */
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

/** Writes min + offset, within int32; the offsets are u32. */
export function int32(count: i32, min: i32): i32 {
  let out = TEXT;
  const end = OFFSETS + (usize(count) << 2);
  for (let at = OFFSETS; at < end; at += 4) {
    const value = load<i32>(at) + min;
    // The sign takes no branch, because signs of random numbers are mispredicted half of the time.
    const sign = value >> 31; // 0 or -1
    store<u8>(out, MINUS); // the first digit overwrites it when there is no sign
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

/** Writes min + offset, within ±(2^53 - 1), with any number of digits. */
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
    const leading = ctz<u32>(nonZero(digits) | 0x8000); // the number zero keeps its last digit
    v128.store(out, v128.swizzle(textOf(digits, k6), v128.load(leading, LANES)));
    out += 16 - leading;
    store<u8>(out, COMMA);
    out++;
  }
  return i32(out - TEXT);
}

/** Sixteen of these from index n on are the lanes of a swizzle that moves the digits n places to the front. */
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
