/** Bytes as lower-case hexadecimal digits. */

/** The two digits of each byte, first digit in the lower byte (a little-endian store writes them in order). */
const DIGITS = new Uint16Array(256);
for (let byte = 0; byte < 256; byte++) {
  const text = byte.toString(16).padStart(2, '0');
  DIGITS[byte] = text.charCodeAt(0) | (text.charCodeAt(1) << 8);
}

/** The four digits of two bytes, a little-endian word, first digit in the lowest byte. */
export function hexOfTwo(word: number): number {
  return DIGITS[word & 0xff] | (DIGITS[(word >>> 8) & 0xff] << 16);
}

/**
 * Writes bytes `from` to `to` of `octets`; returns the end. A DataView gives two bytes at a time: reading single ones
 * from a Uint8Array takes twice as long.
 */
export function writeHex(octets: DataView, from: number, to: number, view: DataView, start: number): number {
  let at = start;
  let i = from;
  for (; i + 2 <= to; i += 2, at += 4) view.setUint32(at, hexOfTwo(octets.getUint16(i, true)), true);
  if (i === to) return at;
  view.setUint16(at, DIGITS[octets.getUint8(i)], true);
  return at + 2;
}
