import { assert } from '../core/assert.ts';
import type { VerifierKey } from '../crypto/note.ts';
import type { EntropyStore, LogStore } from '../ledger/ledger.ts';
import type { LotRecord } from '../ledger/records.ts';
import { noteOf } from './log-state.ts';
import { leafRecord, lotLeafKey, namedLeaf } from './public-leaves.ts';
import { newestWitnessed, readWitnessed } from './witnessed.ts';

/** Who must have cosigned the leaf of a lot before anything is drawn from it. */
export interface ReleasePolicy {
  /** The witnesses; one that has another key now has not cosigned by the one before. */
  readonly witnesses: readonly Pick<VerifierKey, 'name' | 'keyId'>[];
  readonly quorum: number;
}

/** The newest lots that are looked through: far more than can hold blocks that are not claimed yet. */
const LOTS_LOOKED_AT = 1_024;

/**
 * Lots that were released before the operator asked for these witnesses, and of which something is left to draw. An
 * answer drawn from one would fail a verifier who asks for the same witnesses, so that nothing is drawn until a
 * checkpoint with its leaf has enough of their cosignatures. The first round after a start brings them: the newest
 * checkpoint is sent to every witness again.
 */
export class UnseenLots {
  readonly #options: UnseenLotsOptions;
  #waiting: LotRecord[];
  #settling: Promise<unknown> = Promise.resolve();

  private constructor(options: UnseenLotsOptions, waiting: LotRecord[]) {
    this.#options = options;
    this.#waiting = waiting;
  }

  static async find(options: UnseenLotsOptions): Promise<UnseenLots> {
    const { ledger, store, policy } = options;
    const waiting: LotRecord[] = [];
    for (const lot of await ledger.lots(LOTS_LOOKED_AT)) {
      const witnessed = (await namedLeaf(store, lotLeafKey(lot.id)))?.witnessed;
      if (witnessed === undefined) continue; // without a leaf, or held back by the ledger
      const isSeen = witnessed !== null && isEnough((await readWitnessed(store, witnessed)).note, policy);
      if (!isSeen && (await ledger.unclaimedBlocks(lot.id)) > 0) waiting.push(lot);
    }
    return new UnseenLots(options, waiting.reverse());
  }

  /** Those that still wait, in the order in which they came. */
  get lots(): readonly LotRecord[] {
    return this.#waiting;
  }

  /** Looks whether enough witnesses have seen them by now. Resolves to whether none waits any more. */
  async settle(): Promise<boolean> {
    if (this.#waiting.length === 0) return true;
    const settled = this.#settling.then(() => this.#settle());
    this.#settling = settled.catch(() => {}); // told to the caller; the next call tries again
    await settled;
    return this.#waiting.length === 0;
  }

  async #settle(): Promise<void> {
    const { store, policy, onSeen } = this.#options;
    const newest = await newestWitnessed(store);
    if (newest === undefined || !isEnough(newest.note, policy)) return;
    for (const lot of this.#waiting) {
      const leaf = await namedLeaf(store, lotLeafKey(lot.id));
      assert(leaf?.witnessed !== undefined, 'a lot that was released has a leaf');
      if (leaf.size > newest.size) return;
      const earlier = [...(leaf.earlier ?? []), leaf.witnessed];
      await store.putLog([leafRecord({ ...leaf, witnessed: newest.n, earlier })]);
      onSeen(lot.id);
      this.#waiting = this.#waiting.filter((each) => each !== lot);
    }
  }
}

export interface UnseenLotsOptions {
  readonly ledger: Pick<EntropyStore, 'lots' | 'unclaimedBlocks'>;
  readonly store: LogStore;
  readonly policy: ReleasePolicy;
  /** Told each lot whose proof is another from now on. */
  readonly onSeen: (lotId: string) => void;
}

function isEnough(note: string, { witnesses, quorum }: ReleasePolicy): boolean {
  const { signatures } = noteOf(note);
  const isSigner = ({ name, keyId }: ReleasePolicy['witnesses'][number]) =>
    signatures.some((each) => each.name === name && each.keyId === keyId);
  return witnesses.filter(isSigner).length >= quorum;
}
