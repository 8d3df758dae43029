import { assert } from './assert.ts';

/**
 * Texts written as bytes in place: what a reply prints of ids and numbers, without a string between.
 * Each writer returns where it ended; the target is long enough.
 */
const BASE32 = Uint8Array.from('0123456789abcdefghjkmnpqrstvwxyz', (each) => each.charCodeAt(0));
const HEX = Uint8Array.from('0123456789abcdef', (each) => each.charCodeAt(0));
const HYPHEN = 0x2d;
const ZERO = 0x30;

/** 16 bytes as 26 characters, as `base32Of` (ids.ts) prints them. */
export function writeBase32(id: Uint8Array, target: Uint8Array, at: number): number {
  let bits = 2; // 130 = 26 * 5 bits hold 128: two zero bits lead
  let accumulator = 0;
  let end = at;
  for (let i = 0; i < 16; i++) {
    accumulator = ((accumulator << 8) | id[i]) & 0xffff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      target[end++] = BASE32[(accumulator >>> bits) & 31];
    }
  }
  return end;
}

/** Lower-case hex, two characters a byte. */
export function writeHex(bytes: Uint8Array, target: Uint8Array, at: number): number {
  let end = at;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    target[end++] = HEX[byte >> 4];
    target[end++] = HEX[byte & 15];
  }
  return end;
}

/** 16 bytes in the 8-4-4-4-12 form of RFC 9562. */
export function writeUuid(id: Uint8Array, target: Uint8Array, at: number): number {
  let end = at;
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) target[end++] = HYPHEN;
    target[end++] = HEX[id[i] >> 4];
    target[end++] = HEX[id[i] & 15];
  }
  return end;
}

/** Latin-1 text, a byte a character. */
export function writeLatin1(text: string, target: Uint8Array, at: number): number {
  const { length } = text;
  for (let i = 0; i < length; i++) target[at + i] = text.charCodeAt(i);
  return at + length;
}

/** A whole number from 0 to 2^53 - 1 in decimal. */
export function writeNumber(value: number, target: Uint8Array, at: number): number {
  const end = at + decimalDigits(value);
  let place = end - 1;
  let rest = value;
  for (; rest > INT32_MAX; place--) {
    const tenth = Math.floor(rest / 10); // beyond 31 bits an integer division would wrap
    target[place] = ZERO + (rest - tenth * 10);
    rest = tenth;
  }
  for (; place >= at; place--) {
    const tenth = (rest / 10) | 0;
    target[place] = ZERO + (rest - tenth * 10);
    rest = tenth;
  }
  return end;
}

const INT32_MAX = 0x7fff_ffff;

/** How many digits `writeNumber` writes. */
export function decimalDigits(value: number): number {
  if (value < 10 && value >= 0 && (value | 0) === value) return 1;
  assert(Number.isSafeInteger(value) && value >= 0, 'only whole numbers from 0 on are written');
  let digits = 2;
  for (let power = 100; power <= value; power *= 10) digits++;
  return digits;
}
