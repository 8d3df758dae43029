import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert } from '../../core/assert.ts';
import { wipe } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { SeededTier } from '../../core/vocabulary.ts';
import { type BlockKeys, SEAL_BYTES } from '../block-keys.ts';
import { admissionOf, lotStored } from '../domain/sources.ts';
import { type EntropyStore, LedgerError, LOTS_SEARCHED_MAX, type ReleasedLots } from '../ledger.ts';
import {
  BLOCK_KINDS,
  type BlockKind,
  type ClaimedBlock,
  type LotRecord,
  type LotRevocation,
} from '../records.ts';
import type { GroupWriter } from './group-writer.ts';
import type { LmdbStore } from './lmdb-store.ts';
import type { Store } from './store.ts';
import {
  type BlockRanges,
  count,
  increase,
  noteChange,
  raise,
  type StoredLot,
  type Tables,
  WITHDRAWN,
} from './tables.ts';

/** Records of lots read between two turns of the event loop. */
const LOTS_PER_TURN = 256;

/** The keys of one kind's blocks, oldest first. */
function blocksOf(kind: BlockKind): { from: [BlockKind, number]; before: [BlockKind, number] } {
  return { from: [kind, 0], before: [kind, Number.MAX_SAFE_INTEGER] };
}

export interface LmdbEntropyOptions {
  readonly store: Store;
  readonly tables: Tables;
  readonly writer: GroupWriter;
  readonly domain: LmdbStore;
  /** Undefined for a reader, which neither stores nor claims blocks. */
  readonly keys: BlockKeys | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Written into each claim: says which start of the server took the block. */
  readonly epoch: number;
}

/**
 * Lots and their blocks. One transaction stores a lot with all its blocks, sealed, in one pending record. The transaction
 * that releases it cuts that record into blocks, each of which can be claimed once: the transaction that claims a block
 * removes it, and then its key is erased, because the file may keep the sealed bytes (BlockKeys). Lots are cut in the order
 * in which they came, and every block that is cut is therefore older than every block that is pending: the keys are a chain.
 */
export class LmdbEntropyStore implements EntropyStore {
  readonly #store: Store;
  readonly #tables: Tables;
  readonly #writer: GroupWriter;
  readonly #domain: LmdbStore;
  readonly #keys: BlockKeys | undefined;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #epoch: number;

  constructor(options: LmdbEntropyOptions) {
    this.#store = options.store;
    this.#tables = options.tables;
    this.#writer = options.writer;
    this.#domain = options.domain;
    this.#keys = options.keys;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#epoch = options.epoch;
    if (this.#keys !== undefined) this.#settle(this.#keys);
  }

  addLot(
    lot: LotRecord,
    blocks: readonly { kind: BlockKind; bytes: Uint8Array }[],
    jobKey?: string,
  ): Promise<boolean> {
    return this.#writer.submit(() => {
      const { lots, lotOrder, meta, pending } = this.#tables;
      if (!lot.accepted && blocks.length > 0)
        throw new LedgerError('refused', `lot ${lot.id} was not accepted: nothing may be drawn from it`);
      const known = this.#domain.within(admissionOf(lot.id, lots.has(lot.id), jobKey));
      if (known !== 'new') return known === 'given';
      const ordinal = increase(meta, 'lots', 1);
      const [pure, seed] = BLOCK_KINDS.map((kind) => this.#seal(lot.id, kind, blocks));
      lots.put(lot.id, { lot, blocks: { pure: pure.range, seed: seed.range } });
      lotOrder.put(ordinal, lot.id);
      if (lot.accepted)
        pending.put(ordinal, { lotId: lot.id, sealed: { pure: pure.sealed, seed: seed.sealed } });
      if (jobKey !== undefined) this.#domain.within(lotStored(jobKey, lot.id));
      return true;
    });
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

  async pendingLots(limit: number): Promise<LotRecord[]> {
    const pending = [...this.#tables.pending.entries({ limit })];
    return pending.map(({ value }) => this.#storedLot(value.lotId).lot);
  }

  /**
   * Inside the transaction that logs the lots: cuts those of the oldest pending lots that are among these. One behind a
   * lot that is not among them stays pending.
   */
  release({ lotIds, atMs }: ReleasedLots): void {
    const { blocks, pending } = this.#tables;
    const oldest = [...pending.entries({ limit: lotIds.length })];
    for (const { key, value } of oldest) {
      const { lotId, sealed } = value;
      if (!lotIds.includes(lotId)) return;
      pending.remove(key);
      const ranges = this.#storedLot(lotId).blocks;
      for (const kind of BLOCK_KINDS) {
        for (const [index, each] of sealed[kind].entries())
          blocks.put([kind, ranges[kind].first + index], { lotId, index, releasedAtMs: atMs, sealed: each });
      }
    }
  }

  async unclaimedBlocks(lotId: string): Promise<number> {
    const { claims, lots } = this.#tables;
    const ranges = lots.get(lotId)?.blocks;
    return ranges === undefined ? 0 : keysIn(ranges).filter((key) => !claims.has(key)).length;
  }

  /** The first revocation of a lot stays; its unclaimed blocks are erased with it. */
  async revokeLot(revocation: LotRevocation): Promise<void> {
    const { lotId } = revocation;
    await this.#writer.submit(() => {
      const { lots, revocations, meta } = this.#tables;
      if (!lots.has(lotId)) throw new LedgerError('refused', `there is no lot ${lotId}`);
      if (revocations.has(lotId)) return;
      revocations.put(lotId, revocation);
      increase(meta, 'revocations', 1);
      this.#withdraw(lotId, WITHDRAWN);
      noteChange(this.#tables, ['lot', lotId]);
    });
    this.#eraseKeys();
  }

  async revocations(): Promise<LotRevocation[]> {
    const revocations = [...this.#tables.revocations.entries()].map(({ value }) => value);
    return revocations.sort((a, b) => a.atMs - b.atMs || (a.lotId < b.lotId ? -1 : 1));
  }

  async claimBlocks(kind: BlockKind, max: number): Promise<ClaimedBlock[]> {
    // asked again and again while nothing is there: a transaction that takes nothing would still be a durable step
    const isEmpty = this.#tables.blocks.firstKey(blocksOf(kind)) === undefined;
    const claimed = isEmpty ? [] : await this.#writer.submit(() => this.#claim(kind, max));
    try {
      this.#eraseKeys(); // also those of a lot that a command has withdrawn
    } catch (error) {
      for (const { bytes } of claimed) wipe(bytes);
      throw error;
    }
    return claimed;
  }

  async blockLevels(): Promise<Record<BlockKind, { blocks: number; bytes: number }>> {
    const { meta } = this.#tables;
    return {
      pure: { blocks: count(meta, 'pureBlocks'), bytes: count(meta, 'pureBytes') },
      seed: { blocks: count(meta, 'seedBlocks'), bytes: count(meta, 'seedBytes') },
    };
  }

  nextSeedGeneration(tier: SeededTier): Promise<number> {
    return this.#writer.submit(() => increase(this.#tables.meta, `seedGeneration/${tier}`, 1));
  }

  #seal(lotId: string, kind: BlockKind, all: readonly { kind: BlockKind; bytes: Uint8Array }[]) {
    assert(this.#keys !== undefined, 'a server stores blocks');
    const keys = this.#keys;
    const { meta } = this.#tables;
    const ours = all.filter((block) => block.kind === kind);
    const first = increase(meta, 'blocks', ours.length) - ours.length + 1;
    const sealed = ours.map(({ bytes }, index) => keys.seal(kind, first + index, lotId, bytes));
    increase(meta, `${kind}Blocks`, ours.length);
    increase(
      meta,
      `${kind}Bytes`,
      ours.reduce((sum, { bytes }) => sum + bytes.length, 0),
    );
    return { range: { first, count: ours.length }, sealed };
  }

  /** Takes the oldest blocks. Those of a revoked lot went with its revocation: every other block here may be given. */
  #claim(kind: BlockKind, max: number): ClaimedBlock[] {
    assert(this.#keys !== undefined, 'a server claims');
    const claimed: ClaimedBlock[] = [];
    const oldest = [...this.#tables.blocks.entries({ ...blocksOf(kind), limit: Math.max(0, max) })];
    for (const { key, value } of oldest) {
      const { lotId, index, releasedAtMs, sealed } = value;
      this.#take(key, lotId, sealed, this.#epoch);
      const bytes = this.#keys.open(kind, key[1], lotId, sealed);
      if (bytes !== undefined) claimed.push({ lotId, bytes, index, releasedAtMs });
      else this.#log.error({ kind, ordinal: key[1] }, 'ledger: a block that its key does not open given up');
    }
    return claimed;
  }

  /** Takes what is left of a lot, inside a transaction. A pending lot stays so, without blocks: it gets its leaf in the log. */
  #withdraw(lotId: string, epoch: number): number {
    const { blocks, pending } = this.#tables;
    const waiting = [...pending.entries()].find(({ value }) => value.lotId === lotId);
    if (waiting !== undefined) pending.put(waiting.key, { lotId, sealed: { pure: [], seed: [] } });
    const ranges = this.#storedLot(lotId).blocks;
    let taken = 0;
    for (const key of keysIn(ranges)) {
      const [kind, ordinal] = key;
      const sealed =
        waiting === undefined
          ? blocks.get(key)?.sealed
          : waiting.value.sealed[kind][ordinal - ranges[kind].first];
      if (sealed === undefined) continue;
      this.#take(key, lotId, sealed, epoch);
      taken++;
    }
    return taken;
  }

  /** The stored bytes go and the claim comes in one transaction: a block has no second owner. */
  #take(key: [BlockKind, number], lotId: string, sealed: Uint8Array, epoch: number): void {
    const { blocks, claims, meta } = this.#tables;
    assert(!claims.has(key), `block ${key.join(' ')} is claimed and unclaimed at once`);
    const size = sealed.length - SEAL_BYTES;
    blocks.remove(key);
    claims.put(key, { lotId, size, epoch, atMs: this.#clock.wallMs() });
    increase(meta, `${key[0]}Blocks`, -1);
    increase(meta, `${key[0]}Bytes`, -size);
  }

  /** After each transaction that took blocks, and before anybody gets one. */
  #eraseKeys(): void {
    if (this.#keys === undefined) return;
    try {
      for (const kind of BLOCK_KINDS) this.#keys.passOver(kind, this.#oldest(kind));
      this.#keys.erase();
    } catch (error) {
      throw this.#writer.stop(error); // as after any write that the disk refused
    }
  }

  /** The ordinal of the oldest block of the kind that may still be claimed. */
  #oldest(kind: BlockKind): number {
    const { blocks, meta, pending } = this.#tables;
    const cut = blocks.firstKey(blocksOf(kind));
    if (cut !== undefined) return cut[1];
    for (const { value } of pending.entries())
      if (value.sealed[kind].length > 0) return this.#storedLot(value.lotId).blocks[kind].first;
    return count(meta, 'blocks') + 1;
  }

  /**
   * What the last server left: blocks whose keys are erased, as in a copy, are given up, and so is a pending lot with such
   * a block; keys of blocks that it had claimed are erased.
   */
  #settle(keys: BlockKeys): void {
    const { blocks, meta, pending } = this.#tables;
    let givenUp = 0;
    this.#store.transact(() => {
      for (const kind of BLOCK_KINDS) {
        raise(meta, 'blocks', keys.oldest(kind) - 1); // an older data file in the place of the newer one
        const all = blocksOf(kind);
        for (const { key, value } of [...blocks.entries({ ...all, before: [kind, keys.oldest(kind)] })]) {
          this.#take(key, value.lotId, value.sealed, this.#epoch);
          givenUp++;
        }
        for (const { value } of [...pending.entries()]) {
          const { first } = this.#storedLot(value.lotId).blocks[kind];
          if (value.sealed[kind].length > 0 && first < keys.oldest(kind))
            givenUp += this.#withdraw(value.lotId, this.#epoch);
        }
      }
    });
    if (givenUp > 0) this.#log.warn({ blocks: givenUp }, 'ledger: blocks without a key given up');
    this.#eraseKeys();
  }

  #storedLot(id: string): StoredLot {
    const stored = this.#tables.lots.get(id);
    if (stored === undefined)
      throw new LedgerError('damaged', `lot ${id} has a place in the order of lots, and is not stored`);
    return stored;
  }
}

/** The keys of all blocks of a lot. */
function keysIn(ranges: BlockRanges): [BlockKind, number][] {
  return BLOCK_KINDS.flatMap((kind) => {
    const { first, count } = ranges[kind];
    return Array.from({ length: count }, (_, i): [BlockKind, number] => [kind, first + i]);
  });
}
