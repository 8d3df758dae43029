/**
 * Writes values in MessagePack, one after another. Numbers are read at OFFSETS or ENTROPY and written to TEXT, over the JSON
 * text; bytes.ts writes strings. All functions return the size in bytes.
 */
import { ENTROPY, OFFSETS, TEXT } from './windows';

const FLOAT64: u8 = 0xcb;

/** Writes a float64, most significant byte first. */
@inline
function putFloat(at: usize, value: f64): void {
  store<u8>(at, FLOAT64);
  store<u64>(at, bswap<u64>(reinterpret<u64>(value)), 1);
}

/** Writes an integer in the fewest bytes; beyond 32 bits as float64, which holds it exactly and which every reader knows. */
@inline
export function putInteger(at: usize, value: i64): usize {
  if (value >= 0) {
    if (value < 0x80) {
      store<u8>(at, u8(value));
      return at + 1;
    }
    if (value < 0x100) {
      store<u16>(at, 0xcc | (u16(value) << 8));
      return at + 2;
    }
    if (value < 0x10000) {
      store<u8>(at, 0xcd);
      store<u16>(at, bswap<u16>(u16(value)), 1);
      return at + 3;
    }
    if (value < 0x100000000) {
      store<u8>(at, 0xce);
      store<u32>(at, bswap<u32>(u32(value)), 1);
      return at + 5;
    }
  } else {
    if (value >= -0x20) {
      store<u8>(at, u8(value));
      return at + 1;
    }
    if (value >= -0x80) {
      store<u16>(at, 0xd0 | (u16(value) << 8));
      return at + 2;
    }
    if (value >= -0x8000) {
      store<u8>(at, 0xd1);
      store<u16>(at, bswap<u16>(u16(value)), 1);
      return at + 3;
    }
    if (value >= -0x80000000) {
      store<u8>(at, 0xd2);
      store<u32>(at, bswap<u32>(u32(value)), 1);
      return at + 5;
    }
  }
  putFloat(at, f64(value));
  return at + 9;
}

/** Writes min + offset. */
@inline
function integers<Offset extends number>(count: i32, min: f64): i32 {
  const first = i64(min);
  let out = TEXT;
  const end = OFFSETS + usize(count) * sizeof<Offset>();
  for (let at = OFFSETS; at < end; at += sizeof<Offset>()) out = putInteger(out, i64(load<Offset>(at)) + first);
  return i32(out - TEXT);
}

export function packedIntegers32(count: i32, min: f64): i32 {
  return integers<u32>(count, min);
}

export function packedIntegers64(count: i32, min: f64): i32 {
  return integers<u64>(count, min);
}

/** Writes float64 values below 2^31, whole ones as integers. */
export function packedNumbers(count: i32): i32 {
  let out = TEXT;
  const end = OFFSETS + (usize(count) << 3);
  for (let at = OFFSETS; at < end; at += 8) {
    const value = load<f64>(at);
    const whole = i64(value);
    if (f64(whole) == value) {
      out = putInteger(out, whole);
      continue;
    }
    putFloat(out, value);
    out += 9;
  }
  return i32(out - TEXT);
}

/** Writes offset / divisor. */
@inline
function quotients<Offset extends number>(count: i32, divisor: f64): i32 {
  let out = TEXT;
  const end = OFFSETS + usize(count) * sizeof<Offset>();
  for (let at = OFFSETS; at < end; at += sizeof<Offset>(), out += 9) {
    putFloat(out, f64(i64(load<Offset>(at))) / divisor);
  }
  return i32(out - TEXT);
}

export function packedQuotients32(count: i32, divisor: f64): i32 {
  return quotients<u32>(count, divisor);
}

export function packedQuotients64(count: i32, divisor: f64): i32 {
  return quotients<u64>(count, divisor);
}

/** Writes multiples of 2^-53 from words of seven bytes at ENTROPY, whose three highest bits are dropped. */
export function packedUnits(words: i32): i32 {
  let out = TEXT;
  const end = ENTROPY + usize(words) * 7;
  for (let at = ENTROPY; at < end; at += 7, out += 9) {
    putFloat(out, f64(i64(load<u64>(at) & ((1 << 53) - 1))) * (1.0 / 9007199254740992.0));
  }
  return i32(out - TEXT);
}
