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
 * The leaf of a lot, which is in a signed checkpoint before any of its blocks is claimed, and the statement of which
 * lots have been withdrawn. Both are public, with their text.
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

/** Of a lot that was accepted. It hashes the trees again, so whoever asks often keeps what it gives. */
export function certifiedLot(lot: LotRecord): CertifiedLot {
  const { commitment } = lot;
  assert(commitment !== undefined, `lot ${lot.id} was accepted, and so committed to its blocks`);
  const trees = treesOf(commitment);
  const leaf = lotLeafOf(lot, trees);
  const text = canonicalText(leaf);
  return { leaf, text, hash: toBase64(leafHash(utf8Bytes(text))), trees };
}

const LOTS_MAX = 1_024;
/** Hashes of the trees that are kept, 32 bytes each: 4 MiB. A lot of 4 Mbit has 300. */
const HASHES_MAX = 2 ** 17;

/**
 * The lots that were asked for last: whoever may look certificates up needs no key, and a look-up that decoded the lot and
 * hashed its trees again took 20 times as long.
 */
export class CertifiedLots {
  readonly #store: Pick<EntropyStore, 'lot'>;
  /** The one asked for longest ago first. */
  readonly #kept = new Map<string, CertifiedLot>();
  #hashes = 0;

  constructor(store: Pick<EntropyStore, 'lot'>) {
    this.#store = store;
  }

  /** Undefined for an unknown lot. */
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
 * Canonical JSON of the leaf that says which lots had been withdrawn before it: how many, and the root of the tree
 * (RFC 9162 §2.1) over the leaves of their withdrawals.
 */
export function statementText(atMs: number, withdrawn: CompactRange): string {
  const withdrawals = { count: withdrawn.size, root: toBase64(withdrawn.root()) };
  return canonicalText({ type: 'statement', version: 1, at: new Date(atMs).toISOString(), withdrawals });
}

/** What leads from the roots of the blocks, or from the seed, that an answer was drawn from to the leaf of their lot. */
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
