import { concatBytes, utf8Bytes } from '../../core/bytes.ts';
import type { Key } from '../store.ts';

const NUMBER = 1;
const TEXT = 2;

/** Bytes of which PostgreSQL's order is that of the keys (ledger/store.ts). */
export function orderedKey(key: Key): Uint8Array {
  const parts = typeof key === 'object' ? key : [key];
  return concatBytes(...parts.map((part) => (typeof part === 'number' ? ofNumber(part) : ofText(part))));
}

/** The order of doubles is that of their bits, which are turned over where they are negative. */
function ofNumber(value: number): Uint8Array {
  const bytes = new Uint8Array(9);
  const view = new DataView(bytes.buffer);
  bytes[0] = NUMBER;
  view.setFloat64(1, value + 0); // without a negative zero
  if (value < 0) view.setBigUint64(1, ~view.getBigUint64(1));
  else bytes[1] |= 0x80;
  return bytes;
}

/** Ends with a zero, which no text has. */
function ofText(value: string): Uint8Array {
  return concatBytes(Uint8Array.of(TEXT), utf8Bytes(value), Uint8Array.of(0));
}
