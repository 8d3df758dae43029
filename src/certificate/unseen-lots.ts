import type { EntropyStore, LogStore } from '../ledger/ledger.ts';
import type { LotRecord } from '../ledger/records.ts';
import { noteOf } from './log-state.ts';
import { lotLeafKey, namedLeaf } from './public-leaves.ts';
import { type AskedWitness, type Witnesses, witnessedBy } from './witnessed.ts';

/** How many of the newest lots are examined: far more than can have unclaimed blocks. */
const LOTS_LOOKED_AT = 1_024;

export type UnseenLots = Awaited<ReturnType<typeof findUnseenLots>>;

/**
 * Finds the lots that were released before the operator configured these witnesses and that still have unclaimed
 * blocks. A verifier who asks for the same witnesses would refuse an answer drawn from such a lot. So nothing may be
 * drawn until enough witnesses have cosigned a checkpoint that covers all leaves of these lots. The first round of
 * cosigning after a start brings that about, because it sends the newest checkpoint to every witness.
 */
export async function findUnseenLots(
  ledger: Pick<EntropyStore, 'lots' | 'pendingLots' | 'unclaimedBlocks'>,
  store: LogStore,
  policy: Witnesses,
) {
  const seen = await sizeSeenBy(store, policy);
  const pending = new Set((await ledger.pendingLots(LOTS_LOOKED_AT)).map(({ id }) => id));
  let waiting: LotRecord[] = [];
  /** Leaves of the smallest checkpoint that covers the leaves of all waiting lots. */
  let size = 0;
  for (const lot of await ledger.lots(LOTS_LOOKED_AT)) {
    const leaf = pending.has(lot.id) ? undefined : await namedLeaf(store, lotLeafKey(lot.id));
    if (leaf === undefined || leaf.size <= seen || (await ledger.unclaimedBlocks(lot.id)) === 0) continue;
    waiting.unshift(lot);
    size = Math.max(size, leaf.size);
  }
  return {
    /** The lots that still wait, oldest first. */
    lots: (): readonly LotRecord[] => waiting,
    /** Checks whether enough witnesses have cosigned by now. Resolves to true when no lot waits any more. */
    async settle(): Promise<boolean> {
      if (waiting.length > 0 && (await sizeSeenBy(store, policy)) >= size) waiting = [];
      return waiting.length === 0;
    },
  };
}

/** Returns the size of the newest witnessed checkpoint; 0 if too few of these witnesses have cosigned it. */
async function sizeSeenBy(store: LogStore, { witnesses, quorum }: Witnesses): Promise<number> {
  const newest = await witnessedBy(store, Number.POSITIVE_INFINITY);
  const signatures = newest === undefined ? [] : noteOf(newest.note).signatures;
  // a cosignature of an earlier key of a witness does not count
  const isSigner = ({ key }: AskedWitness) =>
    signatures.some(({ name, keyId }) => name === key.name && keyId === key.keyId);
  return newest !== undefined && witnesses.filter(isSigner).length >= quorum ? newest.size : 0;
}
