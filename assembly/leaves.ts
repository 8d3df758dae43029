/** The members in which leaves of one template differ, printed over its text: each answer has a leaf. */
import { base32, hex } from './hex';

/** Room for 512 entries of a segment (src/ledger/segment.ts), and for the ids of their certificates before they are printed. */
export const entriesAt: usize = memory.data(512 * 80, 16);
export const idsAt: usize = memory.data(512 * 16, 16);
export const textBytesMax: i32 = 65536;
/** 0x00, then the text of a leaf. */
export const textAt: usize = memory.data(65536, 16);

/** Prints the id, the request id and the hash of what was delivered of an entry where they stand in the text. */
export function print(index: i32, id: i32, requestId: i32, delivered: i32): void {
  const entry = entriesAt + usize(index) * 80;
  base32(idsAt + usize(index) * 16, textAt + usize(id));
  base32(entry, textAt + usize(requestId));
  hex(v128.load(entry, 16), textAt + usize(delivered));
  hex(v128.load(entry, 32), textAt + usize(delivered) + 32);
}
