import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SeededTier } from '../../core/vocabulary.ts';
import { type EntropyStore, LedgerError, LOTS_SEARCHED_MAX } from '../ledger.ts';
import type { BlockKind, ClaimedBlock, LotRecord, LotRevocation } from '../records.ts';
import type { LmdbBlocks } from './blocks.ts';
import type { GroupWriter } from './group-writer.ts';
import type { LmdbSourceStore } from './sources.ts';
import type { Store } from './store.ts';
import {
  type BlockRanges,
  count,
  increase,
  isHeld,
  noteChange,
  raise,
  type StoredLot,
  type Tables,
} from './tables.ts';

/** Records of lots read between two turns of the event loop. */
const LOTS_PER_TURN = 256;

export interface LmdbEntropyOptions {
  readonly store: Store;
  readonly tables: Tables;
  readonly writer: GroupWriter;
  readonly sources: LmdbSourceStore;
  readonly blocks: LmdbBlocks;
}

/**
 * Lots, over their blocks. A lot comes in two steps, because the blocks may lie elsewhere than the lot: its blocks are
 * staged, then the lot is stored, and only with it they can be claimed.
 */
export class LmdbEntropyStore implements EntropyStore {
  readonly #store: Store;
  readonly #tables: Tables;
  readonly #writer: GroupWriter;
  readonly #sources: LmdbSourceStore;
  readonly #blocks: LmdbBlocks;

  constructor(options: LmdbEntropyOptions) {
    this.#store = options.store;
    this.#tables = options.tables;
    this.#writer = options.writer;
    this.#sources = options.sources;
    this.#blocks = options.blocks;
  }

  async addLot(
    lot: LotRecord,
    blocks: readonly { kind: BlockKind; bytes: Uint8Array }[],
    jobKey?: string,
  ): Promise<boolean> {
    if (!lot.accepted && blocks.length > 0) {
      throw new LedgerError('refused', `lot ${lot.id} was not accepted: nothing may be drawn from it`);
    }
    const ranges = await this.#blocks.stage(lot.id, blocks);
    try {
      return await this.#writer.submit(() => this.#addLot(lot, ranges, jobKey));
    } finally {
      await this.#blocks.unstage(lot.id); // after a crash the next start does it
    }
  }

  async lot(id: string): Promise<LotRecord | undefined> {
    return this.#tables.lots.get(id)?.lot;
  }

  async lots(limit: number, source?: string): Promise<LotRecord[]> {
    const searched = source === undefined ? limit : Math.max(limit, LOTS_SEARCHED_MAX);
    const newest = this.#tables.lotOrder.entries({ reverse: true, limit: searched });
    const ids = Array.from(newest, ({ value }) => value);
    const lots: LotRecord[] = [];
    for (let at = 0; at < ids.length && lots.length < limit; at++) {
      if (at > 0 && at % LOTS_PER_TURN === 0) await nextTurn();
      const { lot } = this.#storedLot(ids[at]);
      if (source === undefined || lot.source === source) lots.push(lot);
    }
    return lots;
  }

  unclaimedBlocks(lotId: string): Promise<number> {
    return this.#blocks.unclaimedBlocks(lotId);
  }

  /** The first revocation of a lot stays; its unclaimed blocks are erased with it. */
  async revokeLot(revocation: LotRevocation): Promise<void> {
    await this.#writer.submit(() => {
      const { lots, revocations, meta } = this.#tables;
      const stored = lots.get(revocation.lotId);
      if (stored === undefined) throw new LedgerError('refused', `there is no lot ${revocation.lotId}`);
      if (revocations.has(revocation.lotId)) return;
      revocations.put(revocation.lotId, revocation);
      increase(meta, 'revocations', 1);
      this.#blocks.withdraw(stored.blocks);
      noteChange(this.#tables, ['lot', revocation.lotId]);
    });
    this.#blocks.eraseKeys();
  }

  async revocations(): Promise<LotRevocation[]> {
    this.#store.refresh();
    const revocations = [...this.#tables.revocations.entries()].map(({ value }) => value);
    return revocations.sort((a, b) => a.atMs - b.atMs || (a.lotId < b.lotId ? -1 : 1));
  }

  claimBlocks(kind: BlockKind, max: number): Promise<ClaimedBlock[]> {
    return this.#blocks.claimBlocks(kind, max);
  }

  async heldLots(limit: number): Promise<LotRecord[]> {
    this.#store.refresh();
    const { lotOrder, meta } = this.#tables;
    const held: LotRecord[] = [];
    const from = count(meta, 'releasedLots') + 1;
    const before = count(meta, 'lots') + 1;
    if (from === before) return held;
    for (const { value: id } of lotOrder.entries({ from, before })) {
      if (held.length >= limit) break;
      const stored = this.#storedLot(id);
      if (isHeld(stored)) held.push(stored.lot);
    }
    return held;
  }

  async releaseLots(lotIds: readonly string[], atMs: number): Promise<void> {
    await this.#writer.submit(() => {
      for (const id of lotIds) {
        const stored = this.#tables.lots.get(id);
        if (stored === undefined) throw new LedgerError('refused', `there is no lot ${id}`);
        if (isHeld(stored)) this.#tables.lots.put(id, { ...stored, releasedAtMs: atMs });
      }
      this.#release();
    });
  }

  nextSeedGeneration(tier: SeededTier): Promise<number> {
    return this.#writer.submit(() => increase(this.#tables.meta, `seedGeneration/${tier}`, 1));
  }

  blockLevels(): Promise<Record<BlockKind, { blocks: number; bytes: number }>> {
    return this.#blocks.blockLevels();
  }

  #addLot(lot: LotRecord, blocks: BlockRanges, jobKey: string | undefined): boolean {
    const { lots, lotOrder, meta } = this.#tables;
    if (lots.has(lot.id)) return jobKey === undefined || this.#sources.gaveLot(jobKey, lot.id);
    if (jobKey !== undefined && !this.#sources.mayGiveLot(jobKey)) return false;
    lots.put(lot.id, { lot, blocks });
    lotOrder.put(increase(meta, 'lots', 1), lot.id);
    if (jobKey !== undefined) this.#sources.lotStored(jobKey, lot.id);
    this.#release();
    return true;
  }

  /** Moves on over the lots that are not held back, up to the first that is. */
  #release(): void {
    const { lotOrder, meta } = this.#tables;
    const from = count(meta, 'releasedLots') + 1;
    for (const { key, value: id } of lotOrder.entries({ from, before: count(meta, 'lots') + 1 })) {
      const stored = this.#storedLot(id);
      if (isHeld(stored)) return;
      meta.put('releasedLots', key);
      for (const { first, count } of Object.values(stored.blocks)) {
        if (count > 0) raise(meta, 'releasedBlocks', first + count - 1);
      }
    }
  }

  #storedLot(id: string): StoredLot {
    const stored = this.#tables.lots.get(id);
    if (stored === undefined)
      throw new LedgerError('damaged', `lotOrder names lot ${id}, which is not stored`);
    return stored;
  }
}
