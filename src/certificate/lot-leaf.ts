import { assert } from '../core/assert.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { fromBase64, toBase64 } from '../crypto/base64.ts';
import { sha256, sha256Hex } from '../crypto/digest.ts';
import { HashTree, PIECE_BYTES } from '../crypto/hash-tree.ts';
import { type CompactRange, splitHashes } from '../crypto/merkle.ts';
import {
  type DrawnRange,
  type LotCommitment,
  type LotRecord,
  PURE_BLOCK_BYTES,
  SEED_BLOCK_BYTES,
} from '../ledger/records.ts';
import type { LotProof } from './document.ts';
import { canonicalText } from './leaf.ts';
import { certifiedFacts } from './record.ts';

/**
 * The leaf of a lot, which is in a signed checkpoint before any of its blocks is claimed, and the statement of which
 * lots have been withdrawn. Both are public, with their text.
 */

/** Which lots had been withdrawn when a public leaf was logged: a tree (RFC 9162 §2.1) over those leaves. */
function withdrawalsOf(range: CompactRange): { readonly count: number; readonly root: string } {
  return { count: range.size, root: toBase64(range.root()) };
}

/**
 * Canonical JSON: `facts` is the hash of what certificates of version 4 say of the lot, the canonical JSON of its
 * member of `provenance.lots`; `pure.root` is the root of the tree over the roots of its blocks, `seeds.root` of the
 * tree over the hashes of its seeds, both in base64.
 */
export function lotLeafText(lot: LotRecord, withdrawn: CompactRange): string {
  const { commitment } = lot;
  assert(commitment !== undefined, 'a lot with a leaf has a commitment');
  const { blocks, seeds } = treesOf(commitment);
  return canonicalText({
    type: 'lot',
    version: 1,
    lot_id: lot.id,
    facts: `sha256:${sha256Hex(utf8Bytes(canonicalText(certifiedFacts(lot))))}`,
    pure: {
      bytes: commitment.pureBytes,
      block_bytes: PURE_BLOCK_BYTES,
      piece_bytes: PIECE_BYTES,
      root: toBase64(blocks.root),
    },
    seeds: { count: seeds.size, root: toBase64(seeds.root) },
    withdrawals: withdrawalsOf(withdrawn),
  });
}

/** Canonical JSON of a leaf that only states which lots have been withdrawn so far, for who asks after a lot. */
export function statementText(atMs: number, withdrawn: CompactRange): string {
  const at = new Date(atMs).toISOString();
  return canonicalText({ type: 'statement', version: 1, at, withdrawals: withdrawalsOf(withdrawn) });
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

/** The trees over the roots of a lot's pure blocks and over the hashes of its seeds. */
export interface LotTrees {
  readonly blocks: HashTree;
  readonly seeds: HashTree;
}

export function treesOf({ blockRoots, seedHashes }: LotCommitment): LotTrees {
  return { blocks: treeOf(blockRoots), seeds: treeOf(seedHashes) };
}

function treeOf(hashes: string): HashTree {
  const bytes = fromBase64(hashes);
  assert(bytes !== undefined, 'a commitment holds hashes in base64');
  return new HashTree(sha256, splitHashes(bytes));
}
