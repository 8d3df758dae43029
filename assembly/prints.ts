/**
 * Prints the head and the body of a reply around the data of an answer (src/answer/template.ts). Members that change with
 * each answer are printed over the text of the previous one: hexadecimal, base32 (src/core/ids.ts) and the form of a UUID
 * (RFC 9562). A reply has six of them, and printing them character by character took a third of its time.
 */
import { base32, hex, hexDigits, lowerHalf, upperHalf } from './hex';

const DASH: u8 = 0x2d;
/** `{"data":`, the beginning of every body. */
const OPENING: u64 = 0x3a2261746164227b;
const OPENING_BYTES: i32 = 8;

/**
 * A layout is the text of a reply: its head from the start on, and the end of its body from `dataEnd` on. When a reply is
 * printed, the record of an answer (src/answer/make.ts) ends at `dataEnd`: ids and salt, and then the data of the body.
 */
const LAYOUTS: i32 = 64;
const HEAD_BYTES: i32 = 2048;
const RECORD_BYTES: i32 = 4096;
const TAIL_BYTES: i32 = 2048;
const DATA_END: i32 = HEAD_BYTES + RECORD_BYTES;
const LAYOUT_BYTES: i32 = DATA_END + TAIL_BYTES;
export const layoutsMax: i32 = LAYOUTS;
export const headBytesMax: i32 = HEAD_BYTES;
export const recordBytesMax: i32 = RECORD_BYTES;
export const tailBytesMax: i32 = TAIL_BYTES;
export const dataEnd: i32 = DATA_END;
export const layoutBytes: i32 = LAYOUT_BYTES;
export const layoutsAt: usize = memory.data(LAYOUTS * LAYOUT_BYTES, 16);

/** Size of the part of a record before its data. */
const RECORD_HEAD: i32 = 64;
/** For each layout, the places of members: form, offset of the bytes in the record, and offset of the text in the layout. */
const PLACES: i32 = 12;
const PLACE_BYTES: i32 = 12;
export const placesMax: i32 = PLACES - 1;
export const openingBytes: i32 = OPENING_BYTES;
export const recordHeadBytes: i32 = RECORD_HEAD;
export const placesAt: usize = memory.data(LAYOUTS * PLACES * PLACE_BYTES, 16);

/** The form that ends the places of a layout. */
export const noMore: i32 = 0;
export const asHex: i32 = 1;
export const asBase32: i32 = 2;
export const asUuid: i32 = 3;

/** Prints the members of the record in a layout, and the opening of the body before its data. */
export function print(layout: i32, recordBytes: i32): void {
  const text = layoutsAt + usize(layout * LAYOUT_BYTES);
  const record = text + DATA_END - recordBytes;
  let place = placesAt + usize(layout * PLACES * PLACE_BYTES);
  for (let form = load<i32>(place); form != noMore; form = load<i32>(place)) {
    const value = record + load<u32>(place, 4);
    const at = text + load<u32>(place, 8);
    if (form == asBase32) base32(value, at);
    else if (form == asUuid) uuid(v128.load(value), at);
    else {
      hex(v128.load(value), at);
      hex(v128.load(value, 16), at + 32);
    }
    place += PLACE_BYTES;
  }
  store<u64>(record + RECORD_HEAD - OPENING_BYTES, OPENING);
}

/** Zeroes a record and the hexadecimal digits, which are secret. */
export function forget(layout: i32, recordBytes: i32): void {
  const text = layoutsAt + usize(layout * LAYOUT_BYTES);
  zero(text + DATA_END - recordBytes, text + DATA_END);
  let place = placesAt + usize(layout * PLACES * PLACE_BYTES);
  for (let form = load<i32>(place); form != noMore; form = load<i32>(place)) {
    const at = text + load<u32>(place, 8);
    if (form == asHex) zero(at, at + 64);
    place += PLACE_BYTES;
  }
}

/**
 * Zeroes whole vectors from the end backwards. Before the beginning they reach room for longer records, or nothing if the
 * size is a multiple of 16.
 */
@inline
function zero(from: usize, to: usize): void {
  let at = to;
  while (at > from) {
    at -= 16;
    v128.store(at, i8x16.splat(0));
  }
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
