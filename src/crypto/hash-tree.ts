import { assert } from '../core/assert.ts';
import { concatBytes } from '../core/bytes.ts';
import { HASH_BYTES, type Hash, hashAt, nodeHash, type Sha256 } from './merkle.ts';

/**
 * A small Merkle tree that is held as a whole, and proofs of runs of its leaves. It is the tree of RFC 9162 §2.1
 * over hashes that are given: a node without a right sibling moves up unchanged. What the leaves are stands in
 * `pieceHash` and `seedHash`; their first byte keeps them apart from nodes (0x01) and from leaves of the log (0x00).
 */

/** Bytes that are committed to as one: every draw in pure mode takes whole pieces. */
export const PIECE_BYTES = 16;
/** Bytes of the salt of a piece. */
export const PIECE_SALT_BYTES = 16;

const PIECE = 0x02;
const SEED = 0x03;

/** SHA-256(0x02 ‖ salt ‖ piece). */
export function pieceHash(sha256: Sha256, salt: Uint8Array, piece: Uint8Array): Hash {
  const input = new Uint8Array(1 + PIECE_SALT_BYTES + PIECE_BYTES);
  input[0] = PIECE;
  input.set(salt, 1);
  input.set(piece, 1 + PIECE_SALT_BYTES);
  const hash = sha256(input);
  input.fill(0);
  return hash;
}

/** SHA-256(0x03 ‖ seed). A seed is 32 random bytes that are never told, so it needs no salt. */
export function seedHash(sha256: Sha256, seed: Uint8Array): Hash {
  const input = new Uint8Array(1 + seed.length);
  input[0] = SEED;
  input.set(seed, 1);
  const hash = sha256(input);
  input.fill(0);
  return hash;
}

/** All nodes of a tree, from its leaves up to its root. */
export class HashTree {
  /** Hashes one behind the other. */
  readonly #levels: readonly Uint8Array[];
  readonly #sha256: Sha256;

  constructor(sha256: Sha256, leaves: readonly Hash[]) {
    this.#sha256 = sha256;
    let level = concatBytes(...leaves);
    const levels = [level];
    for (let width = leaves.length; width > 1; width = Math.ceil(width / 2)) {
      const above = new Uint8Array(Math.ceil(width / 2) * HASH_BYTES);
      for (let i = 0; i < width; i += 2) {
        const left = hashAt(level, i);
        above.set(i + 1 < width ? nodeHash(sha256, left, hashAt(level, i + 1)) : left, (i / 2) * HASH_BYTES);
      }
      levels.push(above);
      level = above;
    }
    this.#levels = levels;
  }

  /** Leaves. */
  get size(): number {
    return this.#levels[0].length / HASH_BYTES;
  }

  /** Hashes that it holds, leaves and root too. */
  get nodes(): number {
    return this.#levels.reduce((sum, level) => sum + level.length / HASH_BYTES, 0);
  }

  /** Of the tree without leaves it is the hash of nothing. */
  get root(): Hash {
    const top = this.#levels[this.#levels.length - 1];
    return top.length === 0 ? this.#sha256(new Uint8Array(0)) : new Uint8Array(top);
  }

  leaf(index: number): Hash {
    return new Uint8Array(hashAt(this.#levels[0], index));
  }

  /**
   * The hashes that lead from the leaves [from, before) to the root: of each level the left neighbour of the run,
   * then the right one, where there is one that the run does not hold.
   */
  runProof(from: number, before: number): Hash[] {
    assert(
      from >= 0 && from < before && before * HASH_BYTES <= this.#levels[0].length,
      'a run is in the tree',
    );
    const proof: Hash[] = [];
    let first = from;
    let last = before - 1;
    for (const level of this.#levels.slice(0, -1)) {
      if (first % 2 === 1) proof.push(new Uint8Array(hashAt(level, first - 1)));
      if (last % 2 === 0 && (last + 1) * HASH_BYTES < level.length)
        proof.push(new Uint8Array(hashAt(level, last + 1)));
      first = Math.floor(first / 2);
      last = Math.floor(last / 2);
    }
    return proof;
  }
}

/**
 * The root of a tree of `size` leaves in which `run` stands at `from`. Takes from `proof`, which may hold more, what
 * it needs, from the front. Undefined when the run does not fit or the proof is too short.
 */
export function rootOfRun(
  sha256: Sha256,
  size: number,
  from: number,
  run: readonly Hash[],
  proof: Hash[],
): Hash | undefined {
  const isPlaced = Number.isSafeInteger(size) && Number.isSafeInteger(from) && from >= 0;
  if (!isPlaced || run.length === 0 || from + run.length > size) return undefined;
  let first = from;
  let level = [...run];
  for (let width = size; width > 1; width = Math.ceil(width / 2)) {
    const last = first + level.length - 1;
    const hasLeft = first % 2 === 1;
    const hasRight = last % 2 === 0 && last + 1 < width;
    if (proof.length < Number(hasLeft) + Number(hasRight)) return undefined;
    if (hasLeft) level.unshift(proof.shift()!);
    if (hasRight) level.push(proof.shift()!);
    const above: Hash[] = [];
    for (let i = 0; i < level.length; i += 2) {
      above.push(i + 1 < level.length ? nodeHash(sha256, level[i], level[i + 1]) : level[i]);
    }
    level = above;
    first = Math.floor(first / 2);
  }
  return level[0];
}
