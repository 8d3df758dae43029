/** Sixteen bytes as lower-case hexadecimal digits. */

@inline
export function hexDigits(nibbles: v128): v128 {
  return v128.swizzle(i8x16(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102), nibbles);
}

/** The digits of the bytes of a half, from those of all high and of all low halves of bytes. */
@inline
export function upperHalf(high: v128, low: v128): v128 {
  return v128.shuffle<u8>(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

@inline
export function lowerHalf(high: v128, low: v128): v128 {
  return v128.shuffle<u8>(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
