import { assert } from './assert.ts';

/**
 * Identifiers are 128-bit values printed in lower-case Crockford base32 (26 characters; the first carries the
 * two leading zero bits, so it is one of 0..7). The alphabet leaves out i, l, o and u.
 */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_TEXT = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** The forms of the ids that clients send: the kind of thing that is named, and the 26 characters. */
export const CERTIFICATE_ID = /^cert_[0-9a-hjkmnp-tv-z]{26}$/;
export const LOT_ID = /^lot_[0-9a-hjkmnp-tv-z]{26}$/;
export const DRAW_ID = /^draw_[0-9a-hjkmnp-tv-z]{26}$/;
export const SERIES_ID = /^series_[0-9a-hjkmnp-tv-z]{26}$/;
export const REQUEST_ID = /^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Returns 16 bytes as 26 characters, most significant bits first, after two zero bits. */
export function base32Of(id: Uint8Array): string {
  assert(id.length === 16, 'an id has 16 bytes');
  let text = '';
  let bits = 2;
  let accumulator = 0;
  for (let i = 0; i < id.length; i++) {
    accumulator = (accumulator << 8) | id[i]; // bits that are already printed drop out at the top
    bits += 8;
    for (; bits >= 5; bits -= 5) text += ALPHABET[(accumulator >>> (bits - 5)) & 31];
  }
  return text;
}

/** Returns the 16 bytes of 26 characters; undefined for a text that `base32Of` cannot produce. */
export function bytesOfBase32(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!ID_TEXT.test(text)) return undefined;
  const id = new Uint8Array(16);
  let at = 0;
  let bits = -2;
  let accumulator = 0;
  for (const digit of text) {
    accumulator = (accumulator << 5) | ALPHABET.indexOf(digit);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      id[at++] = accumulator >>> bits;
    }
  }
  return id;
}

/** Returns 16 bytes in the 8-4-4-4-12 form of RFC 9562. */
export function uuidText(id: Uint8Array): string {
  const hex = Buffer.from(id.buffer, id.byteOffset, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * Makes 16 random bytes a UUID of version 7 (RFC 9562 §5.7): overwrites 48 bits with Unix milliseconds, and the fields
 * of version and variant. 74 random bits remain.
 */
export function stampUuidV7(id: Uint8Array, wallMs: number): Uint8Array {
  const high = Math.floor(wallMs / 0x1_0000_0000);
  const low = wallMs >>> 0;
  id[0] = high >>> 8;
  id[1] = high;
  id[2] = low >>> 24;
  id[3] = low >>> 16;
  id[4] = low >>> 8;
  id[5] = low;
  id[6] = (id[6] & 0x0f) | 0x70;
  id[8] = (id[8] & 0x3f) | 0x80;
  return id;
}
