/**
 * Values of bytes, printed over the text that stands around them (core/template.ts): hexadecimal, base32 (core/ids.ts) and the
 * form of a UUID (RFC 9562). A text prints five of them, and character by character they took a third of the time of its reply.
 */
import { base32, hex, hexDigits, lowerHalf, upperHalf } from './hex';

const DASH: u8 = 0x2d;

/** What is printed: 16 or 32 bytes each. */
const VALUE_BYTES: i32 = 32;
const VALUES: i32 = 4;
export const valueBytes: i32 = VALUE_BYTES;
export const valuesMax: i32 = VALUES;
export const valuesAt: usize = memory.data(VALUE_BYTES * VALUES, 16);

/** Texts that are printed over, and of each the places of its values: form, value, and where in the text it stands. */
const LAYOUTS: i32 = 64;
const LAYOUT_BYTES: i32 = 4096;
const PLACES: i32 = 10;
const PLACE_BYTES: i32 = 12;
export const layoutsMax: i32 = LAYOUTS;
export const layoutBytes: i32 = LAYOUT_BYTES;
export const placesMax: i32 = PLACES;
export const layoutsAt: usize = memory.data(LAYOUTS * LAYOUT_BYTES, 16);
export const placesAt: usize = memory.data(LAYOUTS * PLACES * PLACE_BYTES, 16);

export const asHex: i32 = 0;
export const asBase32: i32 = 1;
export const asUuid: i32 = 2;

/** Prints the values into a layout, at its first `count` places. */
export function print(layout: i32, count: i32): void {
  const text = layoutsAt + usize(layout * LAYOUT_BYTES);
  let place = placesAt + usize(layout * PLACES * PLACE_BYTES);
  for (const end = place + usize(count * PLACE_BYTES); place < end; place += PLACE_BYTES) {
    const form = load<i32>(place);
    const value = valuesAt + usize(load<i32>(place, 4) * VALUE_BYTES);
    const at = text + load<u32>(place, 8);
    if (form == asBase32) base32(value, at);
    else if (form == asUuid) uuid(v128.load(value), at);
    else {
      hex(v128.load(value), at);
      hex(v128.load(value, 16), at + 32);
    }
  }
}

/** Zeroes a value, and the 64 digits that were printed of it. */
export function forget(value: i32, layout: i32, at: i32): void {
  memory.fill(valuesAt + usize(value * VALUE_BYTES), 0, VALUE_BYTES);
  memory.fill(layoutsAt + usize(layout * LAYOUT_BYTES + at), 0, 2 * VALUE_BYTES);
}

@inline
function uuid(bytes: v128, at: usize): void {
  const high = i8x16.shr_u(bytes, 4);
  const low = v128.and(bytes, i8x16.splat(15));
  const first = hexDigits(lowerHalf(high, low));
  const second = hexDigits(upperHalf(high, low));
  const dashes = i8x16.splat(DASH);
  v128.store(at, v128.shuffle<u8>(first, dashes, 0, 1, 2, 3, 4, 5, 6, 7, 16, 8, 9, 10, 11, 16, 12, 13));
  const rest = v128.shuffle<u8>(first, second, 14, 15, 0, 16, 17, 18, 19, 0, 20, 21, 22, 23, 24, 25, 26, 27);
  v128.store(at, i8x16.replace_lane(i8x16.replace_lane(rest, 2, DASH), 7, DASH), 16);
  v128.store32_lane(at, second, 3, 32);
}
