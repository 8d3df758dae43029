/**
 * Decimal digits, from tables of three and four digits or sixteen at once in a vector. The first character of a text is in
 * the lowest byte, so a little-endian store writes it in order.
 *
 * Divisions by a constant are multiplications by its reciprocal, rounded up to M = (2^k + e) / d: floor(n·M / 2^k) is
 * floor(n / d) for all n with n·e < 2^k (Granlund and Montgomery 1994, theorem 4.2).
 */

/** '00000000' */
export const ZEROS: u64 = 0x3030303030303030;

/** The four digits of 0..9999, zero-padded. */
const FOUR: usize = memory.data(4 * 10000, 64);
/** The three digits of 0..999, zero-padded, and a comma. */
export const THREE_COMMA: usize = memory.data(4 * 1000, 64);
/** The text of 0..999 and a comma in the lower four bytes, its length in the upper four. */
export const SMALL_COMMA: usize = memory.data(8 * 1000, 64);
/** '0.' and the three digits of 0..999, in five bytes. */
export const POINT_THREE: usize = memory.data(8 * 1000, 64);
/** The three digits of 0..999 without trailing zeros, and a comma; the length in the upper four bytes. */
export const TRIMMED_COMMA: usize = memory.data(8 * 1000, 64);

for (let n: u32 = 0; n < 10000; n++) {
  const text = 0x30303030 | (n / 1000) | ((n / 100) % 10 << 8) | ((n / 10) % 10 << 16) | (n % 10 << 24);
  store<u32>(FOUR + (n << 2), text);
}
for (let n: u32 = 0; n < 1000; n++) {
  const digits = load<u32>(FOUR + (n << 2)) >> 8;
  const leading: u32 = n < 10 ? 2 : n < 100 ? 1 : 0;
  const trailing: u32 = n == 0 ? 3 : n % 100 == 0 ? 2 : n % 10 == 0 ? 1 : 0;
  const withComma = digits | 0x2c000000;
  store<u32>(THREE_COMMA + (n << 2), withComma);
  store<u64>(SMALL_COMMA + (n << 3), u64(withComma >> (leading << 3)) | (u64(4 - leading) << 32));
  store<u64>(POINT_THREE + (n << 3), 0x2e30 | (u64(digits) << 16));
  const kept = (digits << (trailing << 3)) & 0xffffff; // drops the last digits; then the comma goes after the others
  const trimmed = (kept >> (trailing << 3)) | (0x2c << ((3 - trailing) << 3));
  store<u64>(TRIMMED_COMMA + (n << 3), u64(trimmed) | (u64(4 - trailing) << 32));
}

/** Writes an entry of a table, whose lower four bytes are text and whose upper four are its length; returns the end. */
@inline
export function putEntry(at: usize, entry: u64): usize {
  store<u32>(at, u32(entry));
  return at + usize(entry >> 32);
}

/** Returns v / 10000 for v below 4.9·10^8: e = 2224 for k = 40. */
@inline
function quotientOf10000(v: u32): u32 {
  return u32((u64(v) * 109951163) >> 40);
}

/** Returns the eight digits of v < 10^8, zero-padded. */
@inline
export function eightDigits(v: u32): u64 {
  const high = quotientOf10000(v);
  const low = v - high * 10000;
  return u64(load<u32>(high << 2, FOUR)) | (u64(load<u32>(low << 2, FOUR)) << 32);
}

/** Writes the eight digits of v < 10^8. Two stores are faster than joining the halves. */
@inline
export function putEightDigits(at: usize, v: u32): void {
  const high = quotientOf10000(v);
  store<u32>(at, load<u32>(high << 2, FOUR));
  store<u32>(at, load<u32>((v - high * 10000) << 2, FOUR), 4);
}

const M_10000: u32 = 0xd1b71759; // n / 10000 for k = 45: e = 6,625, exact below 5·10^9
/** The arguments `k0` to `k6` of `sixteenDigits` and its companions. */
const CONSTANTS: usize = memory.data<u32>(
  [
    M_10000, M_10000, M_10000, M_10000,
    10000, 10000, 10000, 10000,
    10486, 10486, 10486, 10486, // n / 100 for k = 20: e = 24, exact below 43,690
    100, 100, 100, 100,
    103 * 0x10001, 103 * 0x10001, 103 * 0x10001, 103 * 0x10001, // n / 10 for k = 10: e = 6, exact below 170
    10 * 0x10001, 10 * 0x10001, 10 * 0x10001, 10 * 0x10001,
    0x30303030, 0x30303030, 0x30303030, 0x30303030,
  ],
  16,
);

/**
 * Returns constant n. Callers that use constants in a loop load them before it. Otherwise the engine would build each vector
 * constant anew in every iteration, which takes as long as a third of the digits.
 */
@inline
export function constant(n: usize): v128 {
  return v128.load(CONSTANTS + (n << 4));
}

/** Returns the digits of high·10^8 + low as numbers 0 to 9, the first in lane 0; both arguments are below 10^8. */
@inline
export function sixteenDigits(
  high: u64,
  low: u64,
  k0: v128,
  k1: v128,
  k2: v128,
  k3: v128,
  k4: v128,
  k5: v128,
): v128 {
  const pair = v128.replace_lane<u64>(v128.splat<u64>(high), 1, low);
  // 32-bit lanes of four digits each: the quotient by 10^4, then the remainder.
  const q4 = v128.shr<u64>(v128.extmul_low<u32>(v128.shuffle<u32>(pair, pair, 0, 2, 0, 2), k0), 45);
  const r4 = v128.sub<i32>(pair, v128.mul<i32>(q4, k1));
  const fours = v128.add<i64>(v128.shl<i64>(r4, 32), q4);
  // 16-bit lanes of two digits. `dot` multiplies 16-bit numbers; the upper halves are zero.
  const q2 = v128.shr<u32>(v128.dot<i16>(fours, k2), 20);
  const r2 = v128.sub<i32>(fours, v128.dot<i16>(q2, k3));
  const twos = v128.add<i32>(v128.shl<i32>(r2, 16), q2);
  // Bytes of one digit.
  const q1 = v128.shr<u16>(v128.mul<i16>(twos, k4), 10);
  const r1 = v128.sub<i16>(twos, v128.mul<i16>(q1, k5));
  return v128.add<i16>(v128.shl<i16>(r1, 8), q1);
}

@inline
export function textOf(digits: v128, k6: v128): v128 {
  return v128.add<i8>(digits, k6);
}

/** Returns a bit for each digit, set if it is not zero; the first digit has the lowest bit. */
@inline
export function nonZero(digits: v128): u32 {
  return u32(v128.bitmask<i8>(v128.gt<i8>(digits, i8x16.splat(0))));
}
