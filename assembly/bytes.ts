/**
 * Writes bytes as JSON strings, each followed by a comma, or as MessagePack strings. All functions read at ENTROPY, write
 * to TEXT and return the size in bytes.
 */
import { hexDigits, lowerHalf, upperHalf } from './hex';
import { marked } from './octets';
import { ENTROPY, TEXT } from './windows';

const QUOTE: u8 = 0x22;
/** '",' */
const QUOTE_COMMA: u16 = 0x2c22;
const DASH: u8 = 0x2d;

/** Writes `count` values of `length` bytes as lower-case hexadecimal, as JSON. */
export function hex(count: i32, length: i32): i32 {
  return hexStrings(count, length, QUOTE, 1, 2);
}

/** Writes them in MessagePack; the lowest `headBytes` bytes of `head` precede each value. */
export function packedHex(count: i32, length: i32, head: u32, headBytes: i32): i32 {
  return hexStrings(count, length, head, headBytes, 0);
}

/** `tailBytes` is 2 for a quote and a comma after each value. */
@inline
function hexStrings(count: i32, length: i32, head: u32, headBytes: usize, tailBytes: usize): i32 {
  let out = TEXT;
  let at = ENTROPY;
  for (let i = 0; i < count; i++) {
    store<u32>(out, head);
    out += headBytes;
    const end = at + usize(length);
    const textEnd = out + (usize(length) << 1);
    for (; at < end; at += 16, out += 32) {
      const bytes = v128.load(at);
      const high = i8x16.shr_u(bytes, 4);
      const low = v128.and(bytes, i8x16.splat(15));
      v128.store(out, hexDigits(lowerHalf(high, low)));
      v128.store(out, hexDigits(upperHalf(high, low)), 16);
    }
    at = end;
    if (tailBytes != 0) store<u16>(textEnd, QUOTE_COMMA);
    out = textEnd + tailBytes;
  }
  return i32(out - TEXT);
}

/** Writes `count` values of `length` bytes as base64 with padding (RFC 4648 §4), as JSON. */
export function base64(count: i32, length: i32): i32 {
  return base64Strings(count, length, QUOTE, 1, 2);
}

export function packedBase64(count: i32, length: i32, head: u32, headBytes: i32): i32 {
  return base64Strings(count, length, head, headBytes, 0);
}

@inline
function base64Strings(count: i32, length: i32, head: u32, headBytes: usize, tailBytes: usize): i32 {
  let out = TEXT;
  let at = ENTROPY;
  const padding = (3 - (length % 3)) % 3;
  const characters = (usize(length + padding) / 3) << 2;
  for (let i = 0; i < count; i++) {
    store<u32>(out, head);
    out += headBytes;
    const end = at + usize(length);
    const textEnd = out + characters;
    // Twelve bytes at a time. In the last group, zeros replace the bytes after the value.
    for (; at + 12 <= end; at += 12, out += 16) v128.store(out, base64Text(v128.load(at)));
    if (at < end) {
      const kept = v128.load(12 - (end - at), KEEP);
      v128.store(out, base64Text(v128.and(v128.load(at), kept)));
    }
    at = end;
    if (padding > 0) store<u16>(textEnd - 2, padding == 2 ? 0x3d3d : u16(load<u8>(textEnd - 2)) | 0x3d00);
    if (tailBytes != 0) store<u16>(textEnd, QUOTE_COMMA);
    out = textEnd + tailBytes;
  }
  return i32(out - TEXT);
}

/** Sixteen of these bytes from index n on are a mask that keeps the first 12 - n bytes of a vector. */
const KEEP: usize = memory.data<u8>(
  [255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  16,
);

/** Returns the sixteen base64 characters of the first twelve bytes. */
@inline
function base64Text(bytes: v128): v128 {
  // First each 32-bit lane gets the 24 bits of three bytes, the first byte highest; then each byte gets six of the bits.
  const groups = v128.swizzle(bytes, i8x16(2, 1, 0, 16, 5, 4, 3, 16, 8, 7, 6, 16, 11, 10, 9, 16));
  const sextets = v128.or(
    v128.or(
      v128.and(i32x4.shr_u(groups, 18), i32x4.splat(0x3f)),
      v128.and(i32x4.shr_u(groups, 4), i32x4.splat(0x3f00)),
    ),
    v128.or(
      v128.and(i32x4.shl(groups, 10), i32x4.splat(0x3f0000)),
      v128.and(i32x4.shl(groups, 24), i32x4.splat(0x3f000000)),
    ),
  );
  // The shift to add: 0..25 'A', 26..51 'a' - 26, 52..61 '0' - 52, 62 '+' - 62, 63 '/' - 63. Its index in `shifts` is
  // 13 for values below 26, 0 up to 51, and from 52 on the amount above 51.
  const above51 = i8x16.sub_sat_u(sextets, i8x16.splat(51));
  const below26 = v128.and(i8x16.lt_u(sextets, i8x16.splat(26)), i8x16.splat(13));
  const shifts = i8x16(71, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -19, -16, 65, 0, 0);
  return i8x16.add(sextets, v128.swizzle(shifts, v128.or(above51, below26)));
}

/** Writes `count` UUIDs of version 4 from 16 bytes each, in the form 8-4-4-4-12 (RFC 9562 §4, §5.4), as JSON. */
export function uuid(count: i32): i32 {
  return uuidStrings(count, QUOTE, 1, 2);
}

/** Writes them in MessagePack, where a string of 36 characters has a head of two bytes. */
export function packedUuid(count: i32): i32 {
  return uuidStrings(count, 0x24d9, 2, 0);
}

@inline
function uuidStrings(count: i32, head: u16, headBytes: usize, tailBytes: usize): i32 {
  let out = TEXT;
  const end = ENTROPY + (usize(count) << 4);
  for (let at = ENTROPY; at < end; at += 16) {
    const bytes = marked(v128.load(at));
    const high = i8x16.shr_u(bytes, 4);
    const low = v128.and(bytes, i8x16.splat(15));
    const first = hexDigits(lowerHalf(high, low));
    const second = hexDigits(upperHalf(high, low));
    // Each store leaves room for the next dash, or the dash overwrites it.
    const middle = i64x2.extract_lane(first, 1);
    store<u16>(out, head);
    out += headBytes;
    v128.store(out, first);
    store<u8>(out, DASH, 8);
    store<u32>(out, u32(middle), 9);
    store<u8>(out, DASH, 13);
    store<u32>(out, u32(middle >> 32), 14);
    store<u8>(out, DASH, 18);
    v128.store(out, second, 20);
    store<u32>(out, i32x4.extract_lane(second, 0), 19);
    store<u8>(out, DASH, 23);
    if (tailBytes != 0) store<u16>(out, QUOTE_COMMA, 36);
    out += 36 + tailBytes;
  }
  return i32(out - TEXT);
}

/** Writes the bits of `count` bytes as characters 0 and 1, most significant bit first, without quotes. */
export function bits(count: i32): i32 {
  let out = TEXT;
  const end = ENTROPY + usize(count);
  for (let at = ENTROPY; at < end; at += 2, out += 16) {
    const pair = v128.load16_splat(at);
    const spread = v128.shuffle<u8>(pair, pair, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    const places = i8x16(-128, 64, 32, 16, 8, 4, 2, 1, -128, 64, 32, 16, 8, 4, 2, 1);
    const isSet = i8x16.eq(v128.and(spread, places), places); // -1 or 0
    v128.store(out, i8x16.sub(i8x16.splat(0x30), isSet));
  }
  return count << 3;
}
