/** Hashes four short messages of any lengths: the data that small answers are committed to. */
import { BLOCK, begin, compress, eraseSchedule, HASH, padded, STATE } from './sha256';

/** Messages of more blocks take less time in OpenSSL, despite the cost of its calls. */
const BLOCKS: usize = 7;
const ROOM: usize = BLOCKS * BLOCK;
/** Room for each message; its padding takes at least nine bytes. */
export const roomBytes: i32 = i32(ROOM);
export const messagesAt: usize = memory.data(4 * ROOM, 16);
export const digestsAt: usize = memory.data(4 * HASH, 16);

/** Hashes the messages, which have the given sizes and zeros after them, and zeroes them. */
export function messages(bytesA: i32, bytesB: i32, bytesC: i32, bytesD: i32): void {
  const endA = padded(messagesAt, bytesA);
  const endB = padded(messagesAt + ROOM, bytesB);
  const endC = padded(messagesAt + 2 * ROOM, bytesC);
  const endD = padded(messagesAt + 3 * ROOM, bytesD);
  const end = max(max(endA, endB), max(endC, endD));
  begin();
  for (let at: usize = 0; at < end; ) {
    compress(messagesAt + at, ROOM);
    at += BLOCK;
    if (at == endA) put(0);
    if (at == endB) put(1);
    if (at == endC) put(2);
    if (at == endD) put(3);
  }
  for (let lane: usize = 0; lane < 4; lane++) memory.fill(messagesAt + lane * ROOM, 0, end);
  eraseSchedule();
}

/** Writes the hash of one lane. */
function put(lane: usize): void {
  const digest = digestsAt + lane * HASH;
  for (let i: usize = 0; i < 8; i++)
    store<u32>(digest + (i << 2), bswap(load<u32>(STATE + (i << 4) + (lane << 2))));
}
