import { concatBytes, secretBytes, wipe } from '../../core/bytes.ts';
import type { BlockCommitment } from '../../crypto/block-commitment.ts';
import { PIECE_BYTES } from '../../crypto/merkle.ts';

/** Answers that drew more bytes carry no opening. It is twice the longest answer of the bytes endpoint. */
const OPENED_BYTES_MAX = 2_048;

/** A block that a draw may read. */
interface OpenedBlock {
  readonly commitment: BlockCommitment | undefined;
  readonly size: number;
  readonly bytes: Uint8Array;
  /** How many bytes, at the end of the block, nobody has read. */
  readonly left: number;
}

/**
 * Makes the opening of an answer, by which its holder can check that the answer's bytes are those that the lot's leaf
 * commits to: the drawn pieces, their salts, and the hashes that lead to the roots of their blocks. It copies the bytes
 * before the draw, which erases them.
 */
export class Opening {
  readonly #blocks: readonly OpenedBlock[];
  readonly #bytes: Uint8Array<ArrayBuffer>;

  /** Prepares for a draw of up to `bytesMax` bytes from the blocks, in their order. */
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
   * Returns the opening of a draw that has taken these shares: canonical JSON of `{bytes, path, salts}`, each in
   * base64. They are the pieces and their salts in order, and the hashes of `HashTree.runProof` for each block.
   * Undefined if the draw took nothing, or more than was copied. Erases the copy.
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
