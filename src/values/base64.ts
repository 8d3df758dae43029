/** Bytes as base64 with padding (RFC 4648 §4). */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const PADDING = 0x3d; // '='

/** The two characters of each 12-bit group, first character in the lower byte. */
const PAIRS = new Uint16Array(4_096);
for (let group = 0; group < 4_096; group++) {
  PAIRS[group] = ALPHABET.charCodeAt(group >> 6) | (ALPHABET.charCodeAt(group & 63) << 8);
}

export function base64Length(size: number): number {
  return 4 * Math.ceil(size / 3);
}

/** Writes bytes `from` to `to` of `octets`; returns the end. */
export function writeBase64(
  octets: DataView,
  from: number,
  to: number,
  view: DataView,
  start: number,
): number {
  let at = start;
  let i = from;
  for (; i + 3 <= to; i += 3, at += 4) {
    const group = (octets.getUint16(i) << 8) | octets.getUint8(i + 2); // big-endian
    view.setUint32(at, PAIRS[group >> 12] | (PAIRS[group & 0xfff] << 16), true);
  }
  if (i === to) return at;
  // One or two bytes are left: 8 or 16 bits make 2 or 3 characters, zero bits filling the last.
  const second = i + 1 < to ? octets.getUint8(i + 1) : 0;
  const group = (octets.getUint8(i) << 16) | (second << 8);
  view.setUint16(at, PAIRS[group >> 12], true);
  view.setUint16(at + 2, PAIRS[group & 0xfff], true);
  if (i + 1 === to) view.setUint8(at + 2, PADDING);
  view.setUint8(at + 3, PADDING);
  return at + 4;
}
