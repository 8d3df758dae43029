import { createCipheriv } from 'node:crypto';
import { assert } from '../core/assert.ts';
import { concatBytes, utf8Bytes, wipe } from '../core/bytes.ts';
import { HashTree, PIECE_BYTES, PIECE_SALT_BYTES, pieceHash } from './merkle.ts';
import { sha256 } from './sha256.ts';

const SALT_LABEL = utf8Bytes('qrn block salts v1\n');
const NO_IV = new Uint8Array(16);

/**
 * The commitment to a block of pure bytes: a hash tree over its pieces of 16 bytes, each with its own salt. The salts
 * are AES-256-CTR keystream under the key SHA-256(label ‖ block). So they need not be stored, and whoever does not hold
 * the whole block knows only the salts that were disclosed to him. The constructor hashes the block and does not keep
 * it.
 */
export class BlockCommitment {
  readonly tree: HashTree;
  readonly #salts: Uint8Array<ArrayBuffer>;

  constructor(block: Uint8Array) {
    assert(block.length > 0 && block.length % PIECE_BYTES === 0, 'a block holds whole pieces');
    this.#salts = saltsOf(block);
    const pieces = block.length / PIECE_BYTES;
    const leaves = Array.from({ length: pieces }, (_, i) =>
      pieceHash(this.salts(i, i + 1), block.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES)),
    );
    this.tree = new HashTree(leaves);
  }

  /** Returns a view of the salts of the pieces [from, before). */
  salts(from: number, before: number): Uint8Array<ArrayBuffer> {
    return this.#salts.subarray(from * PIECE_SALT_BYTES, before * PIECE_SALT_BYTES);
  }

  erase(): void {
    wipe(this.#salts);
  }
}

function saltsOf(block: Uint8Array): Uint8Array<ArrayBuffer> {
  const input = concatBytes(SALT_LABEL, block);
  const key = sha256(input);
  const cipher = createCipheriv('aes-256-ctr', key, NO_IV);
  const stream = cipher.update(new Uint8Array((block.length / PIECE_BYTES) * PIECE_SALT_BYTES));
  wipe(input, key);
  return new Uint8Array(stream.buffer, stream.byteOffset, stream.byteLength) as Uint8Array<ArrayBuffer>;
}
