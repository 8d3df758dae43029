import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert } from '../../core/assert.ts';
import { wipe } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { SeededTier } from '../../core/vocabulary.ts';
import type { BlockKeys } from '../block-keys.ts';
import { type EntropyStore, LedgerError, LOTS_SEARCHED_MAX } from '../ledger.ts';
import {
  BLOCK_KINDS,
  type BlockKind,
  type ClaimedBlock,
  type LotRecord,
  type LotRevocation,
} from '../records.ts';
import type { GroupWriter } from './group-writer.ts';
import type { LmdbSourceStore } from './sources.ts';
import type { Store } from './store.ts';
import {
  count,
  increase,
  noteChange,
  raise,
  SEALED_FORMAT,
  type StoredBlock,
  type StoredLot,
  type Tables,
  WITHDRAWN,
} from './tables.ts';

/** Records of lots read between two turns of the event loop. */
const LOTS_PER_TURN = 256;

function isHeld({ lot, releasedAtMs }: StoredLot): boolean {
  return lot.commitment !== undefined && releasedAtMs === undefined;
}

/** The keys of one kind's blocks, oldest first. */
function blocksOf(kind: BlockKind): { from: [BlockKind, number]; before: [BlockKind, number] } {
  return { from: [kind, 0], before: [kind, Number.MAX_SAFE_INTEGER] };
}

export interface LmdbEntropyOptions {
  readonly store: Store;
  readonly tables: Tables;
  readonly writer: GroupWriter;
  readonly sources: LmdbSourceStore;
  /** Undefined for a tool, which neither stores nor claims blocks. */
  readonly keys: BlockKeys | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Written into each claim: says which start of the server took the block. */
  readonly epoch: number;
}

/**
 * Lots, and the blocks that came from them: stored once, under seal, and claimed once. The transaction that
 * claims a block removes it, and then its key is erased: the file may keep the sealed bytes (BlockKeys).
 */
export class LmdbEntropyStore implements EntropyStore {
  readonly #store: Store;
  readonly #tables: Tables;
  readonly #writer: GroupWriter;
  readonly #sources: LmdbSourceStore;
  readonly #keys: BlockKeys | undefined;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #epoch: number;

  constructor(options: LmdbEntropyOptions) {
    this.#store = options.store;
    this.#tables = options.tables;
    this.#writer = options.writer;
    this.#sources = options.sources;
    this.#keys = options.keys;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#epoch = options.epoch;
    if (this.#keys !== undefined) this.#settle(this.#keys);
  }

  async addLot(
    lot: LotRecord,
    blocks: readonly { kind: BlockKind; bytes: Uint8Array }[],
    jobKey?: string,
  ): Promise<boolean> {
    if (!lot.accepted && blocks.length > 0) {
      throw new LedgerError('refused', `lot ${lot.id} was not accepted: nothing may be drawn from it`);
    }
    return this.#writer.submit(() => this.#addLot(lot, blocks, jobKey));
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

  async unclaimedBlocks(lotId: string): Promise<number> {
    this.#store.refresh();
    const stored = this.#tables.lots.get(lotId);
    if (stored === undefined) return 0;
    let unclaimed = 0;
    for (const kind of BLOCK_KINDS) {
      const { first, count } = stored.blocks[kind];
      for (let ordinal = first; ordinal < first + count; ordinal++) {
        if (this.#tables.blocks.has([kind, ordinal])) unclaimed++;
      }
    }
    return unclaimed;
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
      for (const kind of BLOCK_KINDS) this.#withdraw(kind, stored.blocks[kind]);
      noteChange(this.#tables, ['lot', revocation.lotId]);
    });
    this.#eraseKeys();
  }

  async revocations(): Promise<LotRevocation[]> {
    this.#store.refresh();
    const revocations = [...this.#tables.revocations.entries()].map(({ value }) => value);
    return revocations.sort((a, b) => a.atMs - b.atMs || (a.lotId < b.lotId ? -1 : 1));
  }

  async claimBlocks(kind: BlockKind, max: number): Promise<ClaimedBlock[]> {
    // asked again and again while a lot is held back: a transaction that takes nothing would still be a durable step
    this.#store.refresh();
    const oldest = this.#tables.blocks.firstKey(blocksOf(kind));
    if (oldest === undefined || oldest[1] > count(this.#tables.meta, 'releasedBlocks')) {
      this.#eraseKeys(); // those of a lot that a command has withdrawn
      return [];
    }
    const claimed = await this.#writer.submit(() => this.#claim(kind, max));
    try {
      this.#eraseKeys();
    } catch (error) {
      for (const { bytes } of claimed) wipe(bytes);
      throw error;
    }
    return claimed;
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

  async blockLevels(): Promise<Record<BlockKind, { blocks: number; bytes: number }>> {
    const { meta } = this.#tables;
    this.#store.refresh();
    return {
      pure: { blocks: count(meta, 'pureBlocks'), bytes: count(meta, 'pureBytes') },
      seed: { blocks: count(meta, 'seedBlocks'), bytes: count(meta, 'seedBytes') },
    };
  }

  /**
   * What the last server left: blocks whose keys are erased, as in a copy, are given up; keys of blocks that
   * it had claimed are erased; blocks of a folder from before there were seals get theirs.
   */
  #settle(keys: BlockKeys): void {
    const { blocks, meta } = this.#tables;
    const isSealed = count(meta, 'format') >= SEALED_FORMAT;
    let givenUp = 0;
    this.#store.transact(() => {
      for (const kind of BLOCK_KINDS) {
        raise(meta, 'blocks', keys.oldest(kind) - 1); // an older data file in the place of the newer one
        const all = blocksOf(kind);
        const unsealed = isSealed ? [] : [...blocks.entries(all)];
        for (const { key, value } of unsealed)
          blocks.put(key, this.#sealed(kind, key[1], value.lotId, value.sealed));
        for (const { key, value } of [...blocks.entries({ ...all, before: [kind, keys.oldest(kind)] })]) {
          this.#take(key, value.lotId, value.size, this.#epoch);
          givenUp++;
        }
      }
      if (!isSealed) meta.put('format', SEALED_FORMAT);
    });
    if (givenUp > 0) this.#log.warn({ blocks: givenUp }, 'ledger: blocks without a key given up');
    this.#eraseKeys();
  }

  /**
   * Takes the oldest blocks. Those of a revoked lot went with its revocation: every block here may be given.
   */
  #claim(kind: BlockKind, max: number): ClaimedBlock[] {
    assert(this.#keys !== undefined, 'a server claims');
    const claimed: ClaimedBlock[] = [];
    const released = count(this.#tables.meta, 'releasedBlocks');
    const oldest = [...this.#tables.blocks.entries({ ...blocksOf(kind), limit: Math.max(0, max) })];
    let stored: StoredLot | undefined;
    for (const { key, value } of oldest) {
      if (key[1] > released) break;
      if (stored?.lot.id !== value.lotId) stored = this.#storedLot(value.lotId);
      const { blocks, releasedAtMs = null } = stored;
      this.#take(key, value.lotId, value.size, this.#epoch);
      const bytes = this.#keys.open(kind, key[1], value.lotId, value.sealed);
      if (bytes !== undefined)
        claimed.push({ lotId: value.lotId, bytes, index: key[1] - blocks[kind].first, releasedAtMs });
      else this.#log.error({ kind, ordinal: key[1] }, 'ledger: a block that its key does not open given up');
    }
    return claimed;
  }

  /** After each transaction that took blocks, and before anybody gets one. */
  #eraseKeys(): void {
    if (this.#keys === undefined) return;
    try {
      for (const kind of BLOCK_KINDS) {
        const first = this.#tables.blocks.firstKey(blocksOf(kind));
        this.#keys.passOver(kind, first?.[1] ?? count(this.#tables.meta, 'blocks') + 1);
      }
      this.#keys.erase();
    } catch (error) {
      throw this.#writer.stop(error); // as after any write that the disk refused
    }
  }

  #sealed(kind: BlockKind, ordinal: number, lotId: string, bytes: Uint8Array): StoredBlock {
    assert(this.#keys !== undefined, 'a server stores blocks');
    return { lotId, sealed: this.#keys.seal(kind, ordinal, lotId, bytes), size: bytes.length };
  }

  #addLot(
    lot: LotRecord,
    blocks: readonly { kind: BlockKind; bytes: Uint8Array }[],
    jobKey: string | undefined,
  ): boolean {
    const { lots, lotOrder, meta } = this.#tables;
    if (lots.has(lot.id)) return jobKey === undefined || this.#sources.gaveLot(jobKey, lot.id);
    if (jobKey !== undefined && !this.#sources.mayGiveLot(jobKey)) return false;
    const pure = this.#addBlocks(lot.id, 'pure', blocks);
    const seed = this.#addBlocks(lot.id, 'seed', blocks);
    lots.put(lot.id, { lot, blocks: { pure, seed } });
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

  #addBlocks(lotId: string, kind: BlockKind, all: readonly { kind: BlockKind; bytes: Uint8Array }[]) {
    const { blocks, meta } = this.#tables;
    const ours = all.filter((block) => block.kind === kind);
    const last = increase(meta, 'blocks', ours.length);
    const first = last - ours.length + 1;
    let size = 0;
    ours.forEach(({ bytes }, i) => {
      blocks.put([kind, first + i], this.#sealed(kind, first + i, lotId, bytes));
      size += bytes.length;
    });
    increase(meta, `${kind}Blocks`, ours.length);
    increase(meta, `${kind}Bytes`, size);
    return { first, count: ours.length };
  }

  #withdraw(kind: BlockKind, { first, count }: StoredLot['blocks'][BlockKind]): void {
    for (let ordinal = first; ordinal < first + count; ordinal++) {
      const block = this.#tables.blocks.get([kind, ordinal]);
      if (block !== undefined) this.#take([kind, ordinal], block.lotId, block.size, WITHDRAWN);
    }
  }

  /** The stored bytes go and the claim comes in one transaction: a block has no second owner. */
  #take(key: [BlockKind, number], lotId: string, size: number, epoch: number): void {
    const { blocks, claims, meta } = this.#tables;
    assert(!claims.has(key), `block ${key.join(' ')} is claimed and unclaimed at once`);
    blocks.remove(key);
    claims.put(key, { lotId, size, epoch, atMs: this.#clock.wallMs() });
    increase(meta, `${key[0]}Blocks`, -1);
    increase(meta, `${key[0]}Bytes`, -size);
  }

  #storedLot(id: string): StoredLot {
    const stored = this.#tables.lots.get(id);
    if (stored === undefined)
      throw new LedgerError('damaged', `lotOrder names lot ${id}, which is not stored`);
    return stored;
  }
}
