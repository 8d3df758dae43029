import { assert } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import type { Environment } from './environment.ts';
import type { GroupWriter } from './group-writer.ts';
import type { EntropyStore } from './ledger.ts';
import { LedgerError } from './ledger-error.ts';
import type { LmdbSourceStore } from './lmdb-sources.ts';
import { count, increase } from './meta.ts';
import type { BlockKind, ClaimedBlock, LotRecord, LotRevocation } from './records.ts';
import { type StoredLot, type Tables, WITHDRAWN } from './tables.ts';

const KINDS: readonly BlockKind[] = ['pure', 'seed'];

/** The keys of one kind's blocks, oldest first. */
function blocksOf(kind: BlockKind): { from: [BlockKind, number]; before: [BlockKind, number] } {
  return { from: [kind, 0], before: [kind, Number.MAX_SAFE_INTEGER] };
}

/** Lots, and the blocks that came from them: stored once, claimed once, erased in the transaction that claims them. */
export class LmdbEntropyStore implements EntropyStore {
  readonly #environment: Environment;
  readonly #tables: Tables;
  readonly #writer: GroupWriter;
  readonly #sources: LmdbSourceStore;
  readonly #clock: Clock;
  /** Written into each claim: says which start of the server took the block. */
  readonly #epoch: number;

  constructor(
    environment: Environment,
    tables: Tables,
    writer: GroupWriter,
    sources: LmdbSourceStore,
    clock: Clock,
    epoch: number,
  ) {
    this.#environment = environment;
    this.#tables = tables;
    this.#writer = writer;
    this.#sources = sources;
    this.#clock = clock;
    this.#epoch = epoch;
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

  async lots(limit: number): Promise<LotRecord[]> {
    const lots: LotRecord[] = [];
    for (const { value: id } of this.#tables.lotOrder.entries({ reverse: true, limit })) {
      lots.push(this.#storedLot(id).lot);
    }
    return lots;
  }

  /** The first revocation of a lot stays; its unclaimed blocks are erased with it. */
  revokeLot(revocation: LotRevocation): Promise<void> {
    return this.#writer.submit(() => {
      const { lots, revocations, meta } = this.#tables;
      const stored = lots.get(revocation.lotId);
      if (stored === undefined) throw new LedgerError('refused', `there is no lot ${revocation.lotId}`);
      if (revocations.has(revocation.lotId)) return;
      revocations.put(revocation.lotId, revocation);
      increase(meta, 'revocations', 1);
      for (const kind of KINDS) this.#withdraw(kind, stored.blocks[kind]);
      increase(meta, 'directoryVersion', 1);
    });
  }

  async revocations(): Promise<LotRevocation[]> {
    this.#environment.refresh();
    const revocations = [...this.#tables.revocations.entries()].map(({ value }) => value);
    return revocations.sort((a, b) => a.atMs - b.atMs || (a.lotId < b.lotId ? -1 : 1));
  }

  claimBlocks(kind: BlockKind, max: number): Promise<ClaimedBlock[]> {
    return this.#writer.submit(() => {
      // Blocks of a revoked lot went in the transaction that revoked it: every block here may be given.
      const oldest = [...this.#tables.blocks.entries({ ...blocksOf(kind), limit: Math.max(0, max) })];
      for (const { key, value } of oldest) this.#take(key, value.lotId, value.bytes.length, this.#epoch);
      return oldest.map(({ value }) => ({ lotId: value.lotId, bytes: new Uint8Array(value.bytes) }));
    });
  }

  async blockLevels(): Promise<Record<BlockKind, { blocks: number; bytes: number }>> {
    const { meta } = this.#tables;
    this.#environment.refresh();
    return {
      pure: { blocks: count(meta, 'pureBlocks'), bytes: count(meta, 'pureBytes') },
      seed: { blocks: count(meta, 'seedBlocks'), bytes: count(meta, 'seedBytes') },
    };
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
    return true;
  }

  #addBlocks(lotId: string, kind: BlockKind, all: readonly { kind: BlockKind; bytes: Uint8Array }[]) {
    const { blocks, meta } = this.#tables;
    const ours = all.filter((block) => block.kind === kind);
    const last = increase(meta, 'blocks', ours.length);
    const first = last - ours.length + 1;
    let size = 0;
    ours.forEach(({ bytes }, i) => {
      blocks.put([kind, first + i], { lotId, bytes });
      size += bytes.length;
    });
    increase(meta, `${kind}Blocks`, ours.length);
    increase(meta, `${kind}Bytes`, size);
    return { first, count: ours.length };
  }

  #withdraw(kind: BlockKind, { first, count }: StoredLot['blocks'][BlockKind]): void {
    for (let ordinal = first; ordinal < first + count; ordinal++) {
      const block = this.#tables.blocks.get([kind, ordinal]);
      if (block !== undefined) this.#take([kind, ordinal], block.lotId, block.bytes.length, WITHDRAWN);
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
