import { assert } from '../core/assert.ts';
import { concatBytes, copyBytes } from '../core/bytes.ts';
import { isCount } from '../core/json.ts';
import { sha256 } from './sha256.ts';

/**
 * The Merkle tree of RFC 9162 §2.1. A node is identified by its level (leaves have 0) and its index in the level. It
 * covers the leaves [index * 2^level, (index + 1) * 2^level), exists once the tree has all of them, and never changes
 * after that. Sizes and indices are integers up to 2^53, so this file divides and never shifts by `>>`.
 */
export type Hash = Uint8Array<ArrayBuffer>;

/** Reads the hash of a node that exists. */
export type ReadNode = (level: number, index: number) => Promise<Hash>;

export const HASH_BYTES = 32;

/** Splits a concatenation of hashes. */
export function splitHashes(bytes: Uint8Array): Hash[] {
  assert(bytes.length % HASH_BYTES === 0, 'a whole number of hashes');
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, i) => new Uint8Array(hashAt(bytes, i)));
}

/** Returns a view of one hash of a concatenation. */
function hashAt(hashes: Uint8Array, index: number): Uint8Array {
  return hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);
}

/** Returns the root of the tree without leaves: the hash of an empty string (RFC 9162 §2.1.1). */
export function emptyRoot(): Hash {
  return sha256(new Uint8Array(0));
}

/** SHA-256(0x00 || entry) of RFC 9162 §2.1.1: the prefix keeps a leaf from being taken for a node. */
export function leafHash(entry: Uint8Array): Hash {
  return taggedHash(0x00, entry);
}

/** Size of a piece, the unit of commitment: every draw in pure mode takes whole pieces. */
export const PIECE_BYTES = 16;
/** Size of the salt of a piece. */
export const PIECE_SALT_BYTES = 16;

/** SHA-256(0x02 || salt || piece): a leaf of the tree over a block of pure bytes. */
export function pieceHash(salt: Uint8Array, piece: Uint8Array): Hash {
  return taggedHash(0x02, salt, piece);
}

/** SHA-256(0x03 || seed). A seed is 32 random bytes that are never disclosed, so it needs no salt. */
export function seedHash(seed: Uint8Array): Hash {
  return taggedHash(0x03, seed);
}

/**
 * Hashes the parts after a tag that separates the kinds of leaves from each other and from nodes (0x01). Erases its
 * input.
 */
function taggedHash(tag: number, ...parts: readonly Uint8Array[]): Hash {
  const input = concatBytes(Uint8Array.of(tag), ...parts);
  const hash = sha256(input);
  input.fill(0);
  return hash;
}

/**
 * One input buffer for all nodes, because a log hashes a node for each leaf. Each hash is complete before the next
 * begins.
 */
const nodeInput = new Uint8Array(1 + 2 * HASH_BYTES);
nodeInput[0] = 0x01;

/** SHA-256(0x01 || left || right): RFC 9162 §2.1.1. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Hash {
  assert(left.length === HASH_BYTES && right.length === HASH_BYTES, 'a node has two hashes of 32 bytes');
  nodeInput.set(left, 1);
  nodeInput.set(right, 1 + HASH_BYTES);
  return sha256(nodeInput);
}

/** Returns the parents of an even number of nodes; both are concatenations of hashes. */
export function nodeHashes(level: Uint8Array): Uint8Array<ArrayBuffer> {
  const above = new Uint8Array(level.length / 2);
  for (let at = 0; at < above.length; at += HASH_BYTES) {
    copyBytes(level, 2 * at, nodeInput, 1, 2 * HASH_BYTES);
    sha256(nodeInput, above, at);
  }
  return above;
}

/** Returns the fewest nodes that cover the leaves [from, to), in order. */
export function nodesCovering(
  from: number,
  to: number,
): { readonly level: number; readonly index: number }[] {
  const nodes: { level: number; index: number }[] = [];
  for (let at = from; at < to; ) {
    let level = 0;
    while (at % 2 ** (level + 1) === 0 && at + 2 ** (level + 1) <= to) level++;
    nodes.push({ level, index: at / 2 ** level });
    at += 2 ** level;
  }
  return nodes;
}

/**
 * The right edge of a growing tree: the roots of its maximal complete subtrees, largest first, one for each bit
 * that is set in the size. That is all it takes to append leaves and to compute the root.
 */
export class CompactRange {
  readonly #roots: Hash[];
  #size: number;

  /** Starts with an empty tree, or with the tree of this size and these `roots` (see the property). */
  constructor(size = 0, roots: readonly Hash[] = []) {
    assert(Number.isSafeInteger(size) && size >= 0, 'a tree has a whole number of leaves');
    assert(roots.length === nodesCovering(0, size).length, 'one root for each complete subtree');
    this.#size = size;
    this.#roots = [...roots];
  }

  get size(): number {
    return this.#size;
  }

  get roots(): readonly Hash[] {
    return this.#roots;
  }

  /**
   * Appends a concatenation of leaves. Calls `completed` for each level with the run of nodes that this completes: the
   * index of the first one and their hashes. `nodesAbove` may be a faster implementation of nodeHashes.
   */
  append(
    leaves: Uint8Array<ArrayBuffer>,
    completed: (level: number, index: number, hashes: Uint8Array<ArrayBuffer>) => void = () => {},
    nodesAbove = nodeHashes,
  ): void {
    const added: Hash[] = []; // roots, smallest first
    let first = this.#size;
    this.#size += leaves.length / HASH_BYTES;
    for (let level = 0, run = leaves; run.length > 0; level++) {
      completed(level, first, run);
      const left = first % 2 === 1 ? this.#roots.pop() : undefined;
      const nodes = left === undefined ? run : concatBytes(left, run);
      const paired = nodes.length - (nodes.length % (2 * HASH_BYTES));
      if (paired < nodes.length) added.push(new Uint8Array(nodes.subarray(paired)));
      run = nodesAbove(nodes.subarray(0, paired));
      first = half(first);
    }
    this.#roots.push(...added.reverse());
  }

  root(): Hash {
    const last = this.#roots.at(-1);
    if (last === undefined) return emptyRoot();
    let hash = last;
    for (let i = this.#roots.length - 2; i >= 0; i--) hash = nodeHash(this.#roots[i], hash);
    return hash;
  }
}

/** All nodes of a tree that is held in memory, from its leaves up to its root. */
export class HashTree {
  /** The hashes of each level, concatenated; a node without a right sibling is also in the level above. */
  readonly #levels: readonly Uint8Array[];

  constructor(leaves: readonly Hash[]) {
    let level = concatBytes(...leaves);
    const levels = [level];
    for (let width = leaves.length; width > 1; width = Math.ceil(width / 2)) {
      const paired = HASH_BYTES * (width - (width % 2));
      level = concatBytes(nodeHashes(level.subarray(0, paired)), level.subarray(paired));
      levels.push(level);
    }
    this.#levels = levels;
  }

  /** Count of leaves. */
  get size(): number {
    return this.#levels[0].length / HASH_BYTES;
  }

  /** Count of hashes held, including leaves and root. */
  get nodes(): number {
    return this.#levels.reduce((sum, level) => sum + level.length / HASH_BYTES, 0);
  }

  get root(): Hash {
    const top = this.#levels[this.#levels.length - 1];
    return top.length === 0 ? emptyRoot() : new Uint8Array(top);
  }

  leaf(index: number): Hash {
    return new Uint8Array(hashAt(this.#levels[0], index));
  }

  /** Returns the hashes that lead from the leaves [from, before) to the root, in the order of `nodesBeside`. */
  runProof(from: number, before: number): Hash[] {
    return nodesBeside(from, before, this.size).map(
      ({ level, index }) => new Uint8Array(hashAt(this.#levels[level], index)),
    );
  }
}

/**
 * Returns the nodes that lead from the leaves [from, before) of a tree of `size` leaves to its root. In each level these
 * are the left neighbour of the run and then its right neighbour, each only if the run needs it to make whole pairs. For
 * one leaf these are the nodes of RFC 9162 §2.1.3.1.
 */
function nodesBeside(from: number, before: number, size: number): { level: number; index: number }[] {
  assert(from >= 0 && from < before && before <= size, 'a proof is of leaves of the tree');
  const nodes: { level: number; index: number }[] = [];
  let first = from;
  let last = before - 1;
  let level = 0;
  for (let width = size; width > 1; width = Math.ceil(width / 2), level++) {
    if (first % 2 === 1) nodes.push({ level, index: first - 1 });
    if (last % 2 === 0 && last + 1 < width) nodes.push({ level, index: last + 1 });
    first = half(first);
    last = half(last);
  }
  return nodes;
}

/**
 * Returns the root of a tree of `size` leaves in which `run` begins at index `from`. Removes the hashes it needs from the
 * front of `proof`, which may hold more. Undefined when the run does not fit or the proof is too short.
 */
export function rootOfRun(size: number, from: number, run: readonly Hash[], proof: Hash[]): Hash | undefined {
  if (!isCount(size) || !isCount(from) || run.length === 0 || from + run.length > size) return undefined;
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
      above.push(i + 1 < level.length ? nodeHash(level[i], level[i + 1]) : level[i]);
    }
    level = above;
    first = half(first);
  }
  return level[0];
}

/** Returns the hashes from the leaf's sibling up to the child of the root (RFC 9162 §2.1.3.1). */
export function inclusionProof(index: number, size: number, readNode: ReadNode): Promise<Hash[]> {
  const path = nodesBeside(index, index + 1, size).map((node) => {
    const leaves = 2 ** node.level;
    const start = node.index * leaves;
    return rangeHash(start, Math.min(start + leaves, size), readNode);
  });
  return Promise.all(path);
}

/**
 * Returns the hashes that lead from the tree of `from` leaves to the one of `to` leaves (RFC 9162 §2.1.4.1). Empty when
 * `from` is 0 or equals `to`.
 */
export async function consistencyProof(from: number, to: number, readNode: ReadNode): Promise<Hash[]> {
  assert(from >= 0 && from <= to, 'a tree only grows');
  if (from === 0 || from === to) return [];
  const path: Promise<Hash>[] = [];
  let start = 0;
  let end = to;
  let whole = true; // "b" of SUBPROOF: start is 0, so the verifier knows the root of [start, from)
  while (end !== from) {
    const middle = start + splitOf(end - start);
    if (from <= middle) {
      path.push(rangeHash(middle, end, readNode));
      end = middle;
    } else {
      path.push(rangeHash(start, middle, readNode));
      start = middle;
      whole = false;
    }
  }
  if (!whole) path.push(rangeHash(start, end, readNode));
  return await Promise.all(path.reverse());
}

/** Tells whether the leaf is at `index` of the tree (RFC 9162 §2.1.3.2). */
export function verifyInclusion(
  leaf: Hash,
  index: number,
  size: number,
  proof: readonly Hash[],
  root: Uint8Array,
): boolean {
  const path = [...proof];
  const own = rootOfRun(size, index, [leaf], path);
  return own !== undefined && path.length === 0 && equalHashes(own, root);
}

/** Tells whether the second tree is the first with leaves appended (RFC 9162 §2.1.4.2). */
export function verifyConsistency(
  from: number,
  fromRoot: Uint8Array,
  to: number,
  toRoot: Uint8Array,
  proof: readonly Hash[],
): boolean {
  if (!isCount(from) || !isCount(to) || from > to) return false;
  if (from === to) return proof.length === 0 && equalHashes(fromRoot, toRoot);
  if (from === 0) return proof.length === 0 && equalHashes(fromRoot, emptyRoot());
  if (proof.length === 0) return false;
  let fn = from - 1;
  let sn = to - 1;
  while (fn % 2 === 1) [fn, sn] = [half(fn), half(sn)];
  // Step 2: if the first tree is one complete subtree, its root is the first hash of the path.
  const path = fn === 0 ? [fromRoot, ...proof] : proof;
  let fromHash: Uint8Array = path[0];
  let toHash: Uint8Array = path[0];
  for (const sibling of path.slice(1)) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      fromHash = nodeHash(sibling, fromHash);
      toHash = nodeHash(sibling, toHash);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [half(fn), half(sn)];
    } else {
      toHash = nodeHash(toHash, sibling);
    }
    [fn, sn] = [half(fn), half(sn)];
  }
  return sn === 0 && equalHashes(fromHash, fromRoot) && equalHashes(toHash, toRoot);
}

/** Returns the root of the first `size` leaves, from nodes that exist. */
export async function rootOf(size: number, readNode: ReadNode): Promise<Hash> {
  return size === 0 ? emptyRoot() : await rangeHash(0, size, readNode);
}

/** MTH(D[start:end]) of RFC 9162 §2.1.1, from nodes that exist. */
async function rangeHash(start: number, end: number, readNode: ReadNode): Promise<Hash> {
  const count = end - start;
  const level = Math.log2(count);
  if (Number.isInteger(level) && 2 ** level === count) return await readNode(level, start / count);
  const middle = start + splitOf(count);
  const [left, right] = await Promise.all([
    rangeHash(start, middle, readNode),
    rangeHash(middle, end, readNode),
  ]);
  return nodeHash(left, right);
}

/** Returns the largest power of two below `count`, which is at least 2: where RFC 9162 §2.1.1 splits. */
function splitOf(count: number): number {
  let split = 1;
  while (split * 2 < count) split *= 2;
  return split;
}

function half(count: number): number {
  return Math.floor(count / 2);
}

export function equalHashes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
