/** Hashes the nodes of a log's tree, four at a time; a log makes one for each answer. */
import { BLOCK, begin, compress, finish, HASH } from './sha256';

/** The room after the pairs and the nodes is for the lanes that the last call of `compress` does not need. */
const PAIRS: usize = 512;
export const pairsMax: i32 = i32(PAIRS);
export const hashesAt: usize = memory.data((PAIRS + 4) * 2 * HASH, 16);
export const nodesAt: usize = memory.data((PAIRS + 4) * HASH, 16);

/** Four messages: 0x01 ‖ left ‖ right (RFC 9162 §2.1.1), and the padding of two blocks. */
const MESSAGE: usize = 2 * BLOCK;
const MESSAGES: usize = memory.data(4 * MESSAGE, 16);

/** Writes the parents of `pairs` pairs of hashes; both are concatenations of hashes. */
export function nodes(pairs: i32): void {
  for (let lane: usize = 0; lane < 4; lane++) {
    const message = MESSAGES + lane * MESSAGE;
    store<u8>(message, 1);
    store<u8>(message, 0x80, 65);
    store<u16>(message, 0x0802, 126); // 520 bits, the first byte the highest
  }
  let at = hashesAt;
  let out = nodesAt;
  for (const end = at + usize(pairs) * 2 * HASH; at < end; at += 8 * HASH, out += 4 * HASH) {
    for (let lane: usize = 0; lane < 4; lane++)
      copy(at + lane * 2 * HASH, MESSAGES + lane * MESSAGE + 1);
    begin();
    compress(MESSAGES, MESSAGE);
    compress(MESSAGES + BLOCK, MESSAGE);
    finish(out, out + HASH, out + 2 * HASH, out + 3 * HASH);
  }
}

/** Copies both hashes of a pair. */
@inline
function copy(from: usize, to: usize): void {
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
  v128.store(to, v128.load(from, 32), 32);
  v128.store(to, v128.load(from, 48), 48);
}
