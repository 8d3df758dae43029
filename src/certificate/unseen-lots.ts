import type { VerifierKey } from '../crypto/note.ts';
import type { EntropyStore, LogStore } from '../ledger/ledger.ts';
import type { LotRecord } from '../ledger/records.ts';
import { noteOf } from './log-state.ts';
import { lotLeafKey, namedLeaf } from './public-leaves.ts';
import { witnessedBy } from './witnessed.ts';

/** Who must have cosigned the leaf of a lot before anything is drawn from it. */
export interface ReleasePolicy {
  /** The witnesses; one that has another key now has not cosigned by the one before. */
  readonly witnesses: readonly Pick<VerifierKey, 'name' | 'keyId'>[];
  readonly quorum: number;
}

/** The newest lots that are looked through: far more than can hold blocks that are not claimed yet. */
const LOTS_LOOKED_AT = 1_024;

export type UnseenLots = Awaited<ReturnType<typeof findUnseenLots>>;

/**
 * Lots that were released before the operator asked for these witnesses, and of which something is left to draw. An
 * answer drawn from one would fail a verifier who asks for the same witnesses, so that nothing is drawn until a
 * checkpoint with all of their leaves has enough of their cosignatures. The first round after a start brings them: the
 * newest checkpoint is sent to every witness again.
 */
export async function findUnseenLots(
  ledger: Pick<EntropyStore, 'lots' | 'pendingLots' | 'unclaimedBlocks'>,
  store: LogStore,
  policy: ReleasePolicy,
) {
  const seen = await sizeSeenBy(store, policy);
  const pending = new Set((await ledger.pendingLots(LOTS_LOOKED_AT)).map(({ id }) => id));
  let waiting: LotRecord[] = [];
  /** Leaves that a checkpoint with all of theirs has at least. */
  let size = 0;
  for (const lot of await ledger.lots(LOTS_LOOKED_AT)) {
    const leaf = pending.has(lot.id) ? undefined : await namedLeaf(store, lotLeafKey(lot.id));
    if (leaf === undefined || leaf.size <= seen || (await ledger.unclaimedBlocks(lot.id)) === 0) continue;
    waiting.unshift(lot);
    size = Math.max(size, leaf.size);
  }
  return {
    /** Those that still wait, in the order in which they came. */
    lots: (): readonly LotRecord[] => waiting,
    /** Looks whether enough witnesses have seen them by now. Resolves to whether none waits any more. */
    async settle(): Promise<boolean> {
      if (waiting.length > 0 && (await sizeSeenBy(store, policy)) >= size) waiting = [];
      return waiting.length === 0;
    },
  };
}

/** Leaves of the newest checkpoint that witnesses have cosigned; 0 where these are not enough of them. */
async function sizeSeenBy(store: LogStore, { witnesses, quorum }: ReleasePolicy): Promise<number> {
  const newest = await witnessedBy(store, Number.POSITIVE_INFINITY);
  const signatures = newest === undefined ? [] : noteOf(newest.note).signatures;
  const isSigner = ({ name, keyId }: ReleasePolicy['witnesses'][number]) =>
    signatures.some((each) => each.name === name && each.keyId === keyId);
  return newest !== undefined && witnesses.filter(isSigner).length >= quorum ? newest.size : 0;
}
