import { setImmediate as nextTurn } from 'node:timers/promises';
import { concatBytes } from '../../core/bytes.ts';
import { toBase64 } from '../../crypto/base64.ts';
import { BlockCommitment } from '../../crypto/block-commitment.ts';
import { seedHash } from '../../crypto/merkle.ts';
import type { BlockKind, LotCommitment } from '../../ledger/records.ts';

/** Blocks hashed between two turns of the event loop. Each takes half a millisecond. */
const BLOCKS_PER_TURN = 4;

/**
 * Resolves to what the lot's leaf in the log commits to: the root of the tree over the pieces of each pure block, and
 * the hash of each seed. Gives the event loop turns meanwhile.
 */
export async function commitmentOf(
  blocks: readonly { kind: BlockKind; bytes: Uint8Array }[],
): Promise<LotCommitment> {
  const roots: Uint8Array[] = [];
  const seeds: Uint8Array[] = [];
  let pureBytes = 0;
  for (const { kind, bytes } of blocks) {
    if (kind === 'seed') {
      seeds.push(seedHash(bytes));
      continue;
    }
    if (roots.length % BLOCKS_PER_TURN === 0) await nextTurn();
    const committed = new BlockCommitment(bytes);
    committed.erase();
    roots.push(committed.tree.root);
    pureBytes += bytes.length;
  }
  return {
    pureBytes,
    blockRoots: toBase64(concatBytes(...roots)),
    seedHashes: toBase64(concatBytes(...seeds)),
  };
}
