/** Writes floats to TEXT as JSON text in the form of String(x) (ECMA-262 6.1.6.1.20), each followed by a comma. */
import { constant, nonZero, POINT_THREE, putEntry, sixteenDigits, textOf, TRIMMED_COMMA } from './digits';
import { ENTROPY, loseValues, OFFSETS, SECOND, TEXT } from './windows';

const COMMA: u8 = 0x2c;
/** '0.' */
const ZERO_POINT: u16 = 0x2e30;
/** '0.000000' */
const ZERO_POINT_ZEROS: u64 = 0x3030303030302e30;

/**
 * Draws as `multiplied` does, with S = highSpan·1000, and writes k / S. No division is needed for the digits, as in
 * a batch of two (src/values/offsets.ts): the first are the integer part of word·highSpan / 2^32, the others that of the rest
 * times 1000. `highSpan` is 10^(places - 3), and `padding` makes its digits three. Second result: the count of values.
 */
@inline
function placesOfWords(words: i32, refused: u32, places: usize, highSpan: u64, padding: usize): i32 {
  let out = TEXT;
  store<i32>(SECOND, words);
  const end = ENTROPY + (usize(words) << 2);
  for (let at = ENTROPY; at < end; at += 4) {
    const high = u64(load<u32>(at)) * highSpan;
    const low = (high & 0xffffffff) * 1000;
    if (u32(low) < refused) {
      loseValues(1);
      continue;
    }
    const first = usize(high >> 32) * padding;
    const last = usize(low >> 32);
    store<u64>(out, load<u64>(first << 3, POINT_THREE));
    if (last != 0) {
      out = putEntry(out + places - 1, load<u64>(last << 3, TRIMMED_COMMA));
    } else if (first != 0) {
      out = putEntry(out + 2, load<u64>(first << 3, TRIMMED_COMMA));
    } else {
      store<u8>(out, COMMA, 1);
      out += 2;
    }
  }
  return i32(out - TEXT);
}

/** Writes multiples of 10^-5. */
export function fivePlaces(words: i32, refused: u32): i32 {
  return placesOfWords(words, refused, 5, 100, 10);
}

/** Writes multiples of 10^-6. */
export function sixPlaces(words: i32, refused: u32): i32 {
  return placesOfWords(words, refused, 6, 1000, 1);
}

/**
 * Writes k / 10^places as its digits without trailing zeros; `scale` is 10^(16 - places). Continues with value `from` at
 * `textBytes` of the text and returns the index at which it stopped: `count`, or that of a value below 10^-6, which the
 * caller prints with an exponent. Second result: the size of the text in bytes.
 */
@inline
function decimals<Offset extends number>(from: i32, count: i32, textBytes: i32, scale: f64): i32 {
  const k0 = constant(0), k1 = constant(1), k2 = constant(2), k3 = constant(3);
  const k4 = constant(4), k5 = constant(5), k6 = constant(6);
  let out = TEXT + usize(textBytes);
  const factor = u64(scale);
  let i = from;
  for (; i < count; i++) {
    const scaled = u64(load<Offset>(OFFSETS + usize(i) * sizeof<Offset>())) * factor;
    if (scaled < 10000000000) {
      if (scaled != 0) break;
      store<u16>(out, 0x2c30); // '0,'
      out += 2;
      continue;
    }
    const high = scaled / 100000000;
    const digits = sixteenDigits(high, scaled - high * 100000000, k0, k1, k2, k3, k4, k5);
    store<u16>(out, ZERO_POINT);
    v128.store(out, textOf(digits, k6), 2);
    out += 34 - usize(clz<u32>(nonZero(digits)));
    store<u8>(out, COMMA);
    out++;
  }
  store<i32>(SECOND, i32(out - TEXT));
  return i;
}

export function decimals32(from: i32, count: i32, textBytes: i32, scale: f64): i32 {
  return decimals<u32>(from, count, textBytes, scale);
}

export function decimals64(from: i32, count: i32, textBytes: i32, scale: f64): i32 {
  return decimals<u64>(from, count, textBytes, scale);
}

/**
 * Draws as `divided` does with words of seven bytes and S = 10^15, and writes (w mod S) / S. The first eight digits
 * and the refusal come from one quotient, w / 10^7, instead of a division by S and another of the remainder. Starts and
 * stops as `decimals` does, but counts words instead of values, and also stops at refused words.
 */
export function fifteenPlaces(from: i32, count: i32, textBytes: i32): i32 {
  const k0 = constant(0), k1 = constant(1), k2 = constant(2), k3 = constant(3);
  const k4 = constant(4), k5 = constant(5), k6 = constant(6);
  let out = TEXT + usize(textBytes);
  let at = ENTROPY + usize(from) * 7;
  const end = ENTROPY + usize(count) * 7;
  for (; at < end; at += 7) {
    const word = load<u64>(at) & ((1 << 53) - 1);
    const quotient = word / 10000000;
    const spans = (quotient * 720575941) >> 56; // quotient / 10^8, e = 62,072,064: exact below 1.1·10^9 (digits.ts)
    const high = quotient - spans * 100000000;
    if (spans == 9 || high < 100) break; // 2^53 holds nine spans and a part of the tenth
    const digits = sixteenDigits(high, (word - quotient * 10000000) * 10, k0, k1, k2, k3, k4, k5);
    store<u16>(out, ZERO_POINT);
    v128.store(out, textOf(digits, k6), 2);
    out += 34 - usize(clz<u32>(nonZero(digits)));
    store<u8>(out, COMMA);
    out++;
  }
  store<i32>(SECOND, i32(out - TEXT));
  return i32((at - ENTROPY) / 7);
}

/** 2^37: one unit of the sixteenth digit. */
const UNIT: u64 = 1 << 37;
const FIVE_8: u64 = 390625;
/** 2^53 / 10, rounded up: from here on the first digit of a numerator comes right after the point. */
const ONE_TENTH: u64 = 900719925474100;
/** 2^53 / 10^6, rounded up. */
const MILLIONTH: u64 = 9007199255;
/** 5^(16+z)·2^(z+10) for z zeros after the point. */
const SPACINGS: usize = memory.data<u64>(
  [
    156250000000000, 1562500000000000, 15625000000000000, 156250000000000000, 1562500000000000000, 15625000000000000000,
  ],
  8,
);

/**
 * Writes the shortest decimal of m / 2^53 for integers m below 2^53, the lower 53 bits of words of seven bytes. Starts and
 * stops as `decimals` does, at values below 10^-6 and, rarely, where two decimals may be equally near.
 *
 * Let x = m / 2^53 and z the count of zeros after the point, so that y = x·10^(16+z) lies in [10^15, 10^16). With n =
 * m·10^z, y = n·10^16 / 2^53 is computed exactly as a·10^8 + t / 2^37: sixteen digits, of which t holds the last eight, and
 * a fraction of 37 bits. A decimal reads back as x when it is nearer to x than half the distance between doubles there, H
 * below, in units of 2^-37 of the sixteenth digit: for x in [2^-(j+1), 2^-j) that is 2^-(54+j), so H = 5^(16+z)·2^(z-1-j).
 * - H is not an integer (j >= z), so it never matters whether the border itself counts: an integer distance is
 *   below H when it is at most floor(H).
 * - H / y lies between 2^-54 and 2^-53, so H is between 0.055 and 1.11 sixteenth digits: at most one number of fifteen
 *   digits is that near, and one of seventeen digits always is. If none of sixteen digits is, the seventeenth digit is
 *   neither 0 nor rounded up to 10: it would be within 0.05 of a number of sixteen digits.
 * - Carries do not reach 10^16: y is at least 1.11 below it when z = 0, where H = 0.56. Otherwise n is even, so at
 *   least 2, and y at least 2.22, below.
 * - A power of two has its lower neighbour nearer than H says. But from 2^-19 on it has at most 14 digits itself, which
 *   the search for the nearest decimal finds, and no shorter decimal reads as the same double (DBL_DIG = 15).
 * - Two decimals of sixteen digits are equally near when t is an odd multiple of 2^36, two of seventeen when 10·t is:
 *   then t is a multiple of 2^35, and its lower 32 bits are zero.
 * Choosing among the three lengths takes no branch, because no branch prediction is right more often than in two cases of
 * three.
 */
const STEP: usize = memory.data<u32>([7, 7, 7, 7], 16);

export function shortestOfWords(from: i32, count: i32, textBytes: i32): i32 {
  const k0 = constant(0), k1 = constant(1), k2 = constant(2), k3 = constant(3);
  const k4 = constant(4), k5 = constant(5), k6 = constant(6);
  let out = TEXT + usize(textBytes);
  const end = ENTROPY + usize(count) * 7;
  // The counter is in a vector because the engine, short of general registers, would keep it on the stack. Then, in one
  // process of two, each value would wait for the stores of the previous one, which takes three times as long.
  const step = v128.load(STEP);
  let cursor = i32x4.splat(i32(ENTROPY + usize(from) * 7));
  for (;;) {
    const at = usize(i32x4.extract_lane(cursor, 0));
    if (at >= end) break;
    const m = load<u64>(at) & ((1 << 53) - 1);
    let n = m;
    let zeros: usize = 0;
    if (m < ONE_TENTH) {
      if (m < MILLIONTH) break;
      do {
        n *= 10;
        zeros++;
      } while (n < ONE_TENTH);
    }
    // n·5^8 / 2^45 = a + rest / 2^45
    const low = (n & 0xffffffff) * FIVE_8;
    const high = (n >> 32) * FIVE_8 + (low >> 32);
    let a = high >> 13;
    const t = (((high & 0x1fff) << 32) | (low & 0xffffffff)) * FIVE_8;
    if (u32(t) == 0) break;

    const half = load<u64>(zeros << 3, SPACINGS) >> clz(m); // j = clz(m) - 11: m has 53 - j bits
    // The nearest of fifteen digits. n / 5 is n·107374183 / 2^29, e = 3, exact below 1.7·10^8 (digits.ts).
    const fifteen = ((((t + 5 * UNIT) >> 38) * 107374183) >> 29) * 10;
    const isFifteen = u64(t - (fifteen << 37) + half <= 2 * half); // unsigned: within half to either side
    const down = t >> 37;
    const sixteen = (t + UNIT / 2) >> 37;
    const isUpTo16 = u64(t - (sixteen << 37) + half <= 2 * half) | isFifteen;
    let b = down + ((sixteen - down) & isUpTo16);
    b += (fifteen - b) & (0 - isFifteen);
    const seventeenth = u32((10 * (t & (UNIT - 1)) + UNIT / 2) >> 37) & u32(isUpTo16 - 1);
    if (b == 100000000) {
      b = 0;
      a++;
    }
    const digits = sixteenDigits(a, b, k0, k1, k2, k3, k4, k5);
    store<u64>(out, ZERO_POINT_ZEROS);
    out += zeros + 2;
    v128.store(out, textOf(digits, k6));
    store<u8>(out, 0x30 + seventeenth, 16);
    out += 32 - usize(clz<u32>(nonZero(digits) | (u32(isUpTo16 - 1) & 0x10000)));
    store<u8>(out, COMMA);
    out++;
    cursor = i32x4.add(cursor, step);
  }
  store<i32>(SECOND, i32(out - TEXT));
  return (i32x4.extract_lane(cursor, 0) - i32(ENTROPY)) / 7;
}
