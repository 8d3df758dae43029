/** Bytes as lower-case digits: hexadecimal, and the base32 of ids (src/core/ids.ts). */

@inline
export function hexDigits(nibbles: v128): v128 {
  return v128.swizzle(i8x16(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102), nibbles);
}

/** Returns the nibbles of the upper eight bytes in order, from the high and the low nibbles of all sixteen. */
@inline
export function upperHalf(high: v128, low: v128): v128 {
  return v128.shuffle<u8>(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

@inline
/** Returns the nibbles of the lower eight bytes in order. */
export function lowerHalf(high: v128, low: v128): v128 {
  return v128.shuffle<u8>(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

/** Writes sixteen bytes as 32 digits. */
@inline
export function hex(bytes: v128, at: usize): void {
  const high = i8x16.shr_u(bytes, 4);
  const low = v128.and(bytes, i8x16.splat(15));
  v128.store(at, hexDigits(lowerHalf(high, low)));
  v128.store(at, hexDigits(upperHalf(high, low)), 16);
}

/** Writes sixteen bytes as 26 digits: two zero bits and the first byte give two, and each five bytes after it give eight. */
@inline
export function base32(value: usize, at: usize): void {
  const high = bswap<u64>(load<u64>(value));
  const low = bswap<u64>(load<u64>(value, 8));
  const first = u64(load<u8>(value));
  v128.store16_lane(at, base32Digits(i64x2.splat(i64((first >> 5) | ((first & 31) << 8)))), 0);
  const middle = i64x2.splat(i64(fives(high >> 16)));
  v128.store(at, base32Digits(i64x2.replace_lane(middle, 1, i64(fives((high << 24) | (low >> 40))))), 2);
  v128.store64_lane(at, base32Digits(i64x2.splat(i64(fives(low)))), 0, 18);
}

/** Returns the lowest forty bits as eight bytes of five bits, the highest bits first. */
@inline
function fives(bits: u64): u64 {
  const halves = ((bits >> 20) & 0xfffff) | ((bits & 0xfffff) << 32);
  const quarters = ((halves >> 10) & 0x000003ff000003ff) | ((halves & 0x000003ff000003ff) << 16);
  return ((quarters >> 5) & 0x001f001f001f001f) | ((quarters & 0x001f001f001f001f) << 8);
}

/**
 * Maps 5-bit values to digits: those after the hexadecimal ones are ghjkmnpqrstvwxyz. Each half gives 0 for values of the
 * other.
 */
@inline
function base32Digits(values: v128): v128 {
  const upper = i8x16(103, 104, 106, 107, 109, 110, 112, 113, 114, 115, 116, 118, 119, 120, 121, 122);
  return v128.or(hexDigits(values), v128.swizzle(upper, i8x16.sub(values, i8x16.splat(16))));
}
