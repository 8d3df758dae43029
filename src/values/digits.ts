/**
 * Whole numbers as decimal text, four digits at a time from a table. Every function writes into a DataView (unaligned
 * 32-bit stores) and returns where the text ends; up to three bytes behind that end may be scratch.
 */

const MINUS = 0x2d;
const COMMA = 0x2c;

/** The four digits of 0..9999, zero-padded, first digit in the lowest byte (a little-endian store writes them in order). */
const PADDED = new Uint32Array(10_000);
/** How many digits 0..9999 have without leading zeros. */
const LENGTH = new Uint8Array(10_000);
/** How many digits zero-padded 0..9999 have without trailing zeros. */
const TRIMMED_LENGTH = new Uint8Array(10_000);
/** Below this, a number and its comma fit into one store: the most asked-for ranges. */
export const SMALL_END = 1_000;
/** The text of 0..999 and a comma, first character in the lowest byte, and its length. */
const WITH_COMMA = new Uint32Array(SMALL_END);
const WITH_COMMA_LENGTH = new Uint8Array(SMALL_END);

for (let n = 0; n < 10_000; n++) {
  const text = String(n).padStart(4, '0');
  PADDED[n] = wordOf(text);
  LENGTH[n] = String(n).length;
  TRIMMED_LENGTH[n] = text.replace(/0+$/, '').length;
  if (n < SMALL_END) {
    WITH_COMMA[n] = wordOf(`${n},`);
    WITH_COMMA_LENGTH[n] = LENGTH[n] + 1;
  }
}

function wordOf(text: string): number {
  let word = 0;
  for (let i = 0; i < text.length; i++) word |= text.charCodeAt(i) << (8 * i);
  return word >>> 0;
}

/*
 * Sums carry `| 0` and products Math.imul where they stay within int32: the engine then keeps to integer registers
 * instead of guarding against fractions and overflow, which costs a third of the time.
 */

/** Writes the 4 digits of `value` (0..9999), zero-padded. */
function writeFourDigits(view: DataView, at: number, value: number): void {
  view.setUint32(at, PADDED[value], true);
}

/** Writes the 8 digits of `value` (0..99,999,999), zero-padded. */
export function writeEightDigits(view: DataView, at: number, value: number): void {
  const high = (value / 10_000) | 0;
  writeFourDigits(view, at, high);
  writeFourDigits(view, (at + 4) | 0, (value - Math.imul(high, 10_000)) | 0);
}

/** The same, and returns where the digits end without trailing zeros: `at` itself when all are zero. */
export function writeTrimmedEightDigits(view: DataView, at: number, value: number): number {
  const high = (value / 10_000) | 0;
  const low = (value - Math.imul(high, 10_000)) | 0;
  writeFourDigits(view, at, high);
  writeFourDigits(view, (at + 4) | 0, low);
  return low === 0 ? (at + TRIMMED_LENGTH[high]) | 0 : (at + 4 + TRIMMED_LENGTH[low]) | 0;
}

/** Writes `value` (0..9999) without leading zeros. */
function writeUpToFourDigits(view: DataView, at: number, value: number): number {
  const length = LENGTH[value];
  view.setUint32(at, PADDED[value] >>> (32 - 8 * length), true);
  return (at + length) | 0;
}

/** Writes `value`, a whole number below 2^32. */
export function writeUint32(view: DataView, at: number, value: number): number {
  if (value < 10_000) return writeUpToFourDigits(view, at, value);
  if (value < 100_000_000) {
    const high = (value / 10_000) | 0;
    const end = writeUpToFourDigits(view, at, high);
    writeFourDigits(view, end, (value - Math.imul(high, 10_000)) | 0);
    return (end + 4) | 0;
  }
  const high = (value / 100_000_000) | 0;
  const end = writeUpToFourDigits(view, at, high);
  writeEightDigits(view, end, (value - Math.imul(high, 100_000_000)) | 0);
  return (end + 8) | 0;
}

/** Writes `value`, a whole number within ±(2^53 - 1). */
export function writeSafeInteger(view: DataView, at: number, value: number): number {
  view.setUint8(at, MINUS); // overwritten by the first digit when there is no sign; see writeInt32List
  const start = (at + Number(value < 0)) | 0;
  const magnitude = Math.abs(value);
  if (magnitude < 2 ** 32) return writeUint32(view, start, magnitude >>> 0);
  // Rounding cannot lift the quotient to the next whole number: it is below 2^27, where half the spacing of doubles is
  // at most 2^-27 < 10^-8, the least distance that a fraction with denominator 10^8 has from a whole number.
  const high = Math.floor(magnitude / 100_000_000) | 0;
  const end = writeUint32(view, start, high);
  writeEightDigits(view, end, (magnitude - high * 100_000_000) | 0);
  return (end + 8) | 0;
}

/** Writes min + offset, each from 0 to 999 and followed by a comma. */
export function writeSmallList(
  view: DataView,
  start: number,
  min: number,
  offsets: ArrayLike<number>,
): number {
  let at = start;
  for (let i = 0; i < offsets.length; i++) {
    const value = (min + offsets[i]) | 0;
    view.setUint32(at, WITH_COMMA[value], true);
    at = (at + WITH_COMMA_LENGTH[value]) | 0;
  }
  return at;
}

/**
 * Writes min + offset, each within int32 and followed by a comma. The sign takes no branch: signs of random numbers
 * are mispredicted half of the time, which costs more than all the digits of a small number.
 */
export function writeInt32List(
  view: DataView,
  start: number,
  min: number,
  offsets: ArrayLike<number>,
): number {
  let at = start;
  for (let i = 0; i < offsets.length; i++) {
    const value = (min + offsets[i]) | 0;
    const sign = value >> 31; // 0 or -1
    view.setUint8(at, MINUS); // overwritten by the first digit when there is no sign
    at = writeUint32(view, (at - sign) | 0, ((value ^ sign) - sign) >>> 0);
    view.setUint8(at, COMMA);
    at = (at + 1) | 0;
  }
  return at;
}

/** Writes min + offset, each within ±(2^53 - 1) and followed by a comma. */
export function writeSafeList(
  view: DataView,
  start: number,
  min: number,
  offsets: ArrayLike<number>,
): number {
  let at = start;
  for (let i = 0; i < offsets.length; i++) {
    at = writeSafeInteger(view, at, min + offsets[i]);
    view.setUint8(at, COMMA);
    at = (at + 1) | 0;
  }
  return at;
}

/** Writes ASCII text byte by byte: for the rare forms. */
export function writeAscii(view: DataView, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) view.setUint8(at + i, text.charCodeAt(i));
  return at + text.length;
}
