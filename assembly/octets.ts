/**
 * Writes values as octets, little-endian like the memory. All functions write to TEXT, and most of them read
 * offsets at OFFSETS; the caller knows the size.
 */
import { ENTROPY, OFFSETS, TEXT } from './windows';

/** Returns the bytes of a UUID with the version and the variant set (RFC 9562 §4.1, §4.2). */
@inline
export function marked(bytes: v128): v128 {
  const kept = i8x16(-1, -1, -1, -1, -1, -1, 0x0f, -1, 0x3f, -1, -1, -1, -1, -1, -1, -1);
  const marks = i8x16(0, 0, 0, 0, 0, 0, 0x40, 0, -0x80, 0, 0, 0, 0, 0, 0, 0); // version 4.2, variant 4.1
  return v128.or(v128.and(bytes, kept), marks);
}

/** Writes min + offset, within int32, from u32 offsets. */
export function int32Octets32(count: i32, min: i32): void {
  const first = i32x4.splat(min);
  const size = usize(count) << 2;
  for (let at: usize = 0; at < size; at += 16) {
    v128.store(TEXT + at, i32x4.add(v128.load(OFFSETS + at), first));
  }
}

export function int32Octets64(count: i32, min: i32): void {
/** Writes min + offset, within int32, from u64 offsets. */
  const first = i32x4.splat(min);
  const size = usize(count) << 2;
  for (let at: usize = 0; at < size; at += 8) {
    const offsets = v128.load(OFFSETS + (at << 1));
    const low = v128.shuffle<i32>(offsets, offsets, 0, 2, 0, 2);
    v128.store64_lane(TEXT + at, i32x4.add(low, first), 0);
  }
}

/** Writes (min + offset) / divisor as float64. With a divisor of 1 it writes integers within ±(2^53 - 1) exactly. */
export function float64Octets32(count: i32, min: f64, divisor: f64): void {
  const first = f64x2.splat(min);
  const by = f64x2.splat(divisor);
  const size = usize(count) << 2;
  for (let at: usize = 0; at < size; at += 8) {
    const offsets = f64x2.convert_low_i32x4_u(v128.load64_zero(OFFSETS + at));
    v128.store(TEXT + (at << 1), f64x2.div(f64x2.add(offsets, first), by));
  }
}

export function float64Octets64(count: i32, min: f64, divisor: f64): void {
  const end = OFFSETS + (usize(count) << 3);
  let out = TEXT;
  for (let at = OFFSETS; at < end; at += 8, out += 8) {
    store<f64>(out, (f64(load<i64>(at)) + min) / divisor);
  }
}

/** Writes multiples of 2^-53 from words of seven bytes at ENTROPY, whose three highest bits are dropped. */
export function unitOctets(words: i32): void {
  let out = TEXT;
  const end = ENTROPY + usize(words) * 7;
  for (let at = ENTROPY; at < end; at += 7, out += 8) {
    store<f64>(out, f64(i64(load<u64>(at) & ((1 << 53) - 1))) * (1.0 / 9007199254740992.0));
  }
}

/** Writes UUIDs of version 4 from 16 bytes each at ENTROPY. */
export function uuidOctets(count: i32): void {
  const size = usize(count) << 4;
  for (let at: usize = 0; at < size; at += 16) v128.store(TEXT + at, marked(v128.load(ENTROPY + at)));
}
