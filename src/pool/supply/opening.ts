import { concatBytes, secretBytes, wipe } from '../../core/bytes.ts';
import type { BlockCommitment } from '../../crypto/block-commitment.ts';
import { PIECE_BYTES } from '../../crypto/merkle.ts';

/** Bytes drawn that are opened at most: the longest answer of the bytes endpoint twice. Larger answers carry none. */
const OPENED_BYTES_MAX = 2_048;

/** A block that a draw may read, and how much of it nobody has read. */
interface OpenedBlock {
  readonly commitment: BlockCommitment | undefined;
  readonly size: number;
  readonly bytes: Uint8Array;
  readonly left: number;
}

/**
 * What lets the holder of an answer check that its bytes are those of the lot's leaf: the drawn pieces, their salts,
 * and the hashes that lead from them to the roots of their blocks. The bytes are copied before they are drawn, since
 * the draw erases them.
 */
export class Opening {
  readonly #blocks: readonly OpenedBlock[];
  readonly #bytes: Uint8Array<ArrayBuffer>;

  /** Of a draw of up to `bytesMax` bytes from the blocks, in their order. */
  constructor(held: readonly OpenedBlock[], bytesMax: number) {
    const wanted = Math.min(bytesMax + PIECE_BYTES - 1, OPENED_BYTES_MAX);
    const blocks: OpenedBlock[] = [];
    let size = 0;
    for (const { commitment, size: whole, bytes, left } of held) {
      if (size >= wanted || commitment === undefined) break;
      blocks.push({ commitment, size: whole, bytes, left });
      size += left;
    }
    this.#blocks = blocks;
    this.#bytes = secretBytes(Math.min(size, wanted));
    let at = 0;
    for (const { bytes, left } of blocks) {
      const part = bytes.subarray(bytes.length - left).subarray(0, this.#bytes.length - at);
      this.#bytes.set(part, at);
      at += part.length;
    }
  }

  /**
   * Canonical JSON of `{bytes, path, salts}`, each in base64, when the draw has taken these shares: the pieces and
   * their salts in order, and of each block the hashes of `HashTree.runProof`. Undefined when not all of them are at
   * hand. Erases the copy.
   */
  finish(shares: readonly { readonly bytes: number }[]): string | undefined {
    const drawn = shares.reduce((sum, { bytes }) => sum + bytes, 0);
    try {
      return drawn === 0 || drawn > this.#bytes.length ? undefined : this.#text(drawn);
    } finally {
      wipe(this.#bytes);
    }
  }

  #text(drawn: number): string {
    const salts: Uint8Array[] = [];
    const path: Uint8Array[] = [];
    let missing = drawn;
    for (const { commitment, size, left } of this.#blocks) {
      if (missing === 0 || commitment === undefined) break;
      const taken = Math.min(missing, left);
      missing -= taken;
      const from = (size - left) / PIECE_BYTES;
      const before = from + taken / PIECE_BYTES;
      salts.push(commitment.salts(from, before));
      path.push(...commitment.tree.runProof(from, before));
    }
    const text = (...parts: readonly Uint8Array[]) => Buffer.from(concatBytes(...parts)).toString('base64');
    const bytes = text(this.#bytes.subarray(0, drawn));
    return JSON.stringify({ bytes, path: text(...path), salts: text(...salts) });
  }
}
