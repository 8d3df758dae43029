import { assert } from '../core/assert.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { fromBase64, toBase64 } from '../crypto/base64.ts';
import { type CompactRange, HashTree, leafHash, splitHashes } from '../crypto/merkle.ts';
import type { EntropyStore } from '../ledger/ledger.ts';
import {
  type DrawnRange,
  type LotCommitment,
  type LotRecord,
  PURE_BLOCK_BYTES,
  SEED_BLOCK_BYTES,
} from '../ledger/records.ts';
import type { LotProof } from './document.ts';
import { type LotLeaf, type LotTrees, lotLeafOf } from './lot-members.ts';
import { canonicalText } from './members.ts';

/**
 * The leaf of a lot, which a signed checkpoint covers before any block of the lot is claimed, and the statement of
 * which lots have been withdrawn. Anybody may read the text of both.
 */

/** A lot as certificates name it. */
export interface CertifiedLot {
  readonly leaf: LotLeaf;
  /** The leaf in canonical JSON. */
  readonly text: string;
  /** The hash of the leaf in the log, in base64. */
  readonly hash: string;
  readonly trees: LotTrees;
}

/** Returns the leaf and trees of an accepted lot. It hashes the trees each time: see CertifiedLots. */
export function certifiedLot(lot: LotRecord): CertifiedLot {
  const { commitment } = lot;
  assert(commitment !== undefined, `lot ${lot.id} was accepted, and so committed to its blocks`);
  const trees = treesOf(commitment);
  const leaf = lotLeafOf(lot, trees);
  const text = canonicalText(leaf);
  return { leaf, text, hash: toBase64(leafHash(utf8Bytes(text))), trees };
}

const LOTS_MAX = 1_024;
/** Hashes kept in the trees of all lots together, 32 bytes each: 4 MiB. A lot of 4 Mbit has 300 hashes. */
const HASHES_MAX = 2 ** 17;

/**
 * A cache of the lots that were asked for last. Anybody may look up certificates without a key, and a look-up takes 20
 * times as long if it must decode the lot and hash its trees.
 */
export class CertifiedLots {
  readonly #store: Pick<EntropyStore, 'lot'>;
  /** By lot id; the lot that nobody asked for the longest comes first. */
  readonly #kept = new Map<string, CertifiedLot>();
  #hashes = 0;

  constructor(store: Pick<EntropyStore, 'lot'>) {
    this.#store = store;
  }

  /** Returns the lot with this id; undefined if there is none. */
  async get(id: string): Promise<CertifiedLot | undefined> {
    const kept = this.#kept.get(id);
    const lot = kept === undefined ? await this.#store.lot(id) : undefined;
    const certified = kept ?? (lot && certifiedLot(lot));
    if (certified === undefined) return undefined;
    this.#forget(id);
    this.#kept.set(id, certified);
    this.#hashes += hashesOf(certified);
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= LOTS_MAX && this.#hashes <= HASHES_MAX) break;
      this.#forget(oldest);
    }
    return certified;
  }

  #forget(id: string): void {
    const kept = this.#kept.get(id);
    if (kept !== undefined) this.#hashes -= hashesOf(kept);
    this.#kept.delete(id);
  }
}

function hashesOf({ trees: { blocks, seeds } }: CertifiedLot): number {
  return blocks.nodes + seeds.nodes;
}

/**
 * Returns the statement leaf, canonical JSON. It says how many lots had been withdrawn before it, and has the root of
 * the tree (RFC 9162 §2.1) over the leaves of those withdrawals.
 */
export function statementText(atMs: number, withdrawn: CompactRange): string {
  const withdrawals = { count: withdrawn.size, root: toBase64(withdrawn.root()) };
  return canonicalText({ type: 'statement', version: 1, at: new Date(atMs).toISOString(), withdrawals });
}

/**
 * Returns the proofs that the lot's leaf commits to what an answer drew, one for each range: in pure mode from the
 * roots of the blocks to the root in the leaf, in seeded mode from the hash of the seed.
 */
export function runsOf(
  { blocks, seeds }: LotTrees,
  mode: string,
  ranges: readonly DrawnRange[],
): LotProof['runs'] {
  const [tree, size] = mode === 'pure' ? [blocks, PURE_BLOCK_BYTES] : [seeds, SEED_BLOCK_BYTES];
  return ranges.map(({ offset, bytes }) => {
    const first = Math.floor(offset / size);
    const before = Math.ceil((offset + bytes) / size);
    const run = Array.from({ length: before - first }, (_, i) => tree.leaf(first + i));
    return { first, hashes: run.map(toBase64), path: tree.runProof(first, before).map(toBase64) };
  });
}

function treesOf({ blockRoots, seedHashes }: LotCommitment): LotTrees {
  return { blocks: treeOf(blockRoots), seeds: treeOf(seedHashes) };
}

function treeOf(hashes: string): HashTree {
  const bytes = fromBase64(hashes);
  assert(bytes !== undefined, 'a commitment holds hashes in base64');
  return new HashTree(splitHashes(bytes));
}
