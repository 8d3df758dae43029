import type { EntropyReader } from './entropy-reader.ts';

/** `length` random bits, most significant bit first; the last byte is filled up with zero bits. */
export interface BitstringSample {
  readonly kind: 'bitstring';
  readonly octets: Uint8Array<ArrayBuffer>;
  readonly length: number;
}

/** The four characters of each half byte, first character in the lowest byte. */
const NIBBLES = new Uint32Array(16);
for (let nibble = 0; nibble < 16; nibble++) {
  for (let bit = 0; bit < 4; bit++) NIBBLES[nibble] |= (0x30 | ((nibble >> (3 - bit)) & 1)) << (8 * bit);
}

export function sampleBitstring(reader: EntropyReader, length: number): BitstringSample {
  const octets = new Uint8Array(Math.ceil(length / 8));
  reader.fill(octets);
  const unused = 8 * octets.length - length;
  octets[octets.length - 1] &= 0xff << unused;
  return { kind: 'bitstring', octets, length };
}

/** A JSON string of the characters 0 and 1. */
export function writeBitstring({ octets, length }: BitstringSample, view: DataView, start: number): number {
  view.setUint8(start, 0x22); // '"'
  let at = start + 1;
  for (let i = 0; i < octets.length; i++, at += 8) {
    view.setUint32(at, NIBBLES[octets[i] >> 4], true);
    view.setUint32(at + 4, NIBBLES[octets[i] & 15], true);
  }
  const end = start + 1 + length;
  view.setUint8(end, 0x22); // over what the last byte has too many
  return end + 1;
}

export function plainBitstring({ octets, length }: BitstringSample): string {
  let text = '';
  for (const byte of octets) text += byte.toString(2).padStart(8, '0');
  return text.slice(0, length);
}

export function bitstringTextMax(length: number): number {
  return 2 + length;
}
