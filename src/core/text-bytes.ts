import { assert } from './assert.ts';

/**
 * Writes texts and numbers of replies as bytes directly into the reply's memory, without an intermediate string. Each
 * writer returns the offset after the last byte it wrote. The caller makes sure that the target is long enough.
 */
const ZERO = 0x30;

/** Writes text whose characters are all Latin-1, one byte each. */
export function writeLatin1(text: string, target: Uint8Array, at: number): number {
  const { length } = text;
  for (let i = 0; i < length; i++) target[at + i] = text.charCodeAt(i);
  return at + length;
}

/** Writes a code point of 0x80 or above in UTF-8. */
function writeCodePoint(code: number, target: Uint8Array, at: number): number {
  let end = at;
  if (code < 0x800) target[end++] = 0xc0 | (code >> 6);
  else {
    if (code < 0x1_0000) target[end++] = 0xe0 | (code >> 12);
    else {
      target[end++] = 0xf0 | (code >> 18);
      target[end++] = 0x80 | ((code >> 12) & 0x3f);
    }
    target[end++] = 0x80 | ((code >> 6) & 0x3f);
  }
  target[end++] = 0x80 | (code & 0x3f);
  return end;
}

/** Writes well-formed text as the inside of a canonical JSON string, without its quotes (RFC 8785 §3.2.2.2). */
export function writeJsonText(text: string, target: Uint8Array, at: number): number {
  let end = at;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c) {
      end = writeLatin1(JSON.stringify(text[i]).slice(1, -1), target, end);
    } else if (unit < 0x80) target[end++] = unit;
    else {
      const code = text.codePointAt(i)!;
      if (code >= 0x1_0000) i++;
      end = writeCodePoint(code, target, end);
    }
  }
  return end;
}

const LETTER_U = 0x75;

/** The escapes of one letter that do not stand for the letter: b, f, n, r, t. */
const SHORT_ESCAPES: ReadonlyMap<number, number> = new Map([
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
]);

/** Returns the size of the escape in canonical JSON whose backslash is at `at`. */
export function escapeBytes(json: Uint8Array, at: number): number {
  return json[at + 1] === LETTER_U ? 6 : 2;
}

/** Returns the byte that the escape in canonical JSON stands for whose backslash is at `at`. */
export function unescaped(json: Uint8Array, at: number): number {
  const letter = json[at + 1];
  if (letter !== LETTER_U) return SHORT_ESCAPES.get(letter) ?? letter;
  return Number.parseInt(String.fromCharCode(json[at + 4], json[at + 5]), 16);
}

/**
 * Writes a whole number from 0 to 2^53 - 1 in decimal. Only 32-bit divisions are cheap, so a long number is split into
 * its last eight digits and those before them, which fit 32 bits each.
 */
export function writeNumber(value: number, target: Uint8Array, at: number): number {
  const digits = decimalDigits(value);
  const end = at + digits;
  if (digits <= LOW_DIGITS) writeDigits(value, target, at, end);
  else {
    const high = Math.floor(value / LOW_END);
    writeDigits(high, target, at, end - LOW_DIGITS);
    writeDigits(value - high * LOW_END, target, end - LOW_DIGITS, end);
  }
  return end;
}

const LOW_DIGITS = 8;
const LOW_END = 1e8;

/** Writes a whole number below 2^31 to the places from `at` up to `end`, with leading zeros. */
function writeDigits(value: number, target: Uint8Array, at: number, end: number): void {
  let rest = value | 0;
  for (let place = end - 1; place >= at; place--) {
    const tenth = (rest / 10) | 0;
    target[place] = ZERO + (rest - tenth * 10);
    rest = tenth;
  }
}

/** Returns the number of digits that `writeNumber` writes. */
function decimalDigits(value: number): number {
  assert(Number.isSafeInteger(value) && value >= 0, 'only whole numbers from 0 on are written');
  if (value >= LOW_END) return LOW_DIGITS + digitsBelow(Math.floor(value / LOW_END));
  return digitsBelow(value);
}

/** Returns the number of digits of a number below 10^8. */
function digitsBelow(value: number): number {
  if (value < 1e4) return value < 100 ? (value < 10 ? 1 : 2) : value < 1e3 ? 3 : 4;
  return value < 1e6 ? (value < 1e5 ? 5 : 6) : value < 1e7 ? 7 : 8;
}
