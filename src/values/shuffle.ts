import { fillDescending } from './descending.ts';
import type { WordSource } from './offsets.ts';

/** The places of `count` items in random order, every order equally likely (Fisher and Yates; Durstenfeld 1964). */
export function shuffledPlaces(
  source: WordSource,
  count: number,
  wordBits: number,
): Uint32Array<ArrayBuffer> {
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  const indices = new Uint32Array(count - 1); // the last place has no choice
  fillDescending(source, order.length, indices, wordBits);
  for (let i = 0; i < indices.length; i++) {
    const j = i + indices[i];
    const drawn = order[j];
    order[j] = order[i];
    order[i] = drawn;
  }
  indices.fill(0);
  return order;
}

/** Bytes of the item as a JSON string in UTF-8. */
export function jsonStringBytes(item: string): number {
  let bytes = 2;
  for (let i = 0; i < item.length; i++) {
    const code = item.charCodeAt(i);
    if (code >= 0x800)
      bytes += code >= 0xd800 && code <= 0xdfff ? 2 : 3; // a surrogate pair takes four bytes
    else if (code >= 0x80) bytes += 2;
    else if (code >= 0x20)
      bytes += code === 0x22 || code === 0x5c ? 2 : 1; // '"' and '\' are escaped
    else bytes += SHORT_ESCAPES.has(code) ? 2 : 6;
  }
  return bytes;
}

/** \b \t \n \f \r; every other control character takes the form \u00xx (RFC 8785 §3.2.2.2). */
const SHORT_ESCAPES: ReadonlySet<number> = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);
