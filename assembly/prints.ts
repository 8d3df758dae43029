/**
 * Prints the head and the body of a reply around the data of an answer (src/answer/template.ts), by a program: a list of fixed
 * texts and of places for what changes. Ids and salts are printed as hexadecimal, base32 (src/core/ids.ts) and UUIDs (RFC 9562).
 */
import { base32, hex, hexDigits, lowerHalf, upperHalf } from './hex';

const DASH: u8 = 0x2d;
/** `{"data":`, the beginning of every body. */
const OPENING: u64 = 0x3a2261746164227b;
const OPENING_BYTES: i32 = 8;

/** Texts are copied in whole vectors, so each area has room for the rest of the last one, and of a cell. */
const SPARE_BYTES: i32 = 32;
const HEAD_BYTES: i32 = 2048;
const RECORD_BYTES: i32 = 4096;
const TAIL_BYTES: i32 = 2048;
/**
 * Where a reply is printed: the head from the start on, and the end of the body from `dataEnd` on. The record of an answer
 * (src/answer/make.ts) ends at `dataEnd`: ids and salt, and then the data of the body.
 */
const DATA_END: i32 = HEAD_BYTES + SPARE_BYTES + RECORD_BYTES;
export const headBytesMax: i32 = HEAD_BYTES;
export const recordBytesMax: i32 = RECORD_BYTES;
export const tailBytesMax: i32 = TAIL_BYTES;
export const headAt: usize = memory.data(DATA_END + TAIL_BYTES + SPARE_BYTES, 16);
export const dataEndAt: usize = headAt + DATA_END;
export const openingBytes: i32 = OPENING_BYTES;
/** Size of the part of a record before its data. */
const RECORD_HEAD: i32 = 64;
export const recordHeadBytes: i32 = RECORD_HEAD;

/** A slot holds the cells of a template, the texts of its numbers and times, and behind them its program. */
const SLOTS: i32 = 64;
const CELLS: i32 = 16;
/** A cell is a text, and its length in the last byte. */
const CELL_BYTES: i32 = 32;
const PROGRAM_BYTES: i32 = HEAD_BYTES + TAIL_BYTES + 1024;
const SLOT_BYTES: i32 = CELLS * CELL_BYTES + PROGRAM_BYTES;
export const slotsMax: i32 = SLOTS;
export const cellsMax: i32 = CELLS;
export const cellBytes: i32 = CELL_BYTES;
export const programBytesMax: i32 = PROGRAM_BYTES;
export const slotBytes: i32 = SLOT_BYTES;
export const slotsAt: usize = memory.data(SLOTS * SLOT_BYTES, 16);

/** Instructions: a code and an operand of two bytes each. The operand of a text is its size; the text follows. */
export const asEnd: i32 = 0;
export const asText: i32 = 1;
/** Prints the cell with this index. */
export const asCell: i32 = 2;
/** Prints the bytes of the record from this offset on. */
export const asHex: i32 = 3;
export const asBase32: i32 = 4;
export const asUuid: i32 = 5;
/** Goes on behind the data. */
export const asTail: i32 = 6;

/** Runs the program of a slot, and prints the opening of the body before the data. Returns the size of head + 2^16 × tail. */
export function print(slot: i32, recordBytes: i32): i32 {
  const cells = slotsAt + usize(slot * SLOT_BYTES);
  const record = dataEndAt - recordBytes;
  let next = cells + CELLS * CELL_BYTES;
  let at = headAt;
  let headBytes: i32 = 0;
  for (let code = load<u16>(next); code != asEnd; code = load<u16>(next)) {
    const operand = usize(load<u16>(next, 2));
    next += 4;
    if (code == asText) {
      for (let done: usize = 0; done < operand; done += 16) v128.store(at + done, v128.load(next + done));
      next += operand;
      at += operand;
    } else if (code == asCell) {
      const cell = cells + operand * CELL_BYTES;
      v128.store(at, v128.load(cell));
      v128.store(at, v128.load(cell, 16), 16);
      at += usize(load<u8>(cell, CELL_BYTES - 1));
    } else if (code == asBase32) {
      base32(record + operand, at);
      at += 26;
    } else if (code == asUuid) {
      uuid(v128.load(record + operand), at);
      at += 36;
    } else if (code == asHex) {
      hex(v128.load(record + operand), at);
      hex(v128.load(record + operand, 16), at + 32);
      at += 64;
    } else {
      headBytes = i32(at - headAt);
      at = dataEndAt;
    }
  }
  store<u64>(record + RECORD_HEAD - OPENING_BYTES, OPENING);
  return headBytes | (i32(at - dataEndAt) << 16);
}

/** Zeroes a reply. */
export function forget(recordBytes: i32, headBytes: i32, tailBytes: i32): void {
  zero(headAt, headAt + headBytes);
  zero(dataEndAt - recordBytes, dataEndAt + tailBytes);
}

/** Zeroes whole vectors; the last one may reach into the spare bytes. */
@inline
function zero(from: usize, to: usize): void {
  for (let at = from; at < to; at += 16) v128.store(at, i8x16.splat(0));
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
