/** Bytes as lower-case hexadecimal digits. */

/** The two digits of each byte, first digit in the lower byte (a little-endian store writes them in order). */
const DIGITS = new Uint16Array(256);
for (let byte = 0; byte < 256; byte++) {
  const text = byte.toString(16).padStart(2, '0');
  DIGITS[byte] = text.charCodeAt(0) | (text.charCodeAt(1) << 8);
}

/** The four digits of two bytes from `at` on, first digit in the lowest byte. */
export function hexOfTwo(octets: Uint8Array, at: number): number {
  return DIGITS[octets[at]] | (DIGITS[octets[at + 1]] << 16);
}

/** Writes bytes `from` to `to` of `octets`; returns the end. */
export function writeHex(
  octets: Uint8Array,
  from: number,
  to: number,
  view: DataView,
  start: number,
): number {
  let at = start;
  let i = from;
  for (; i + 2 <= to; i += 2, at += 4) view.setUint32(at, hexOfTwo(octets, i), true);
  if (i === to) return at;
  view.setUint16(at, DIGITS[octets[i]], true);
  return at + 2;
}
