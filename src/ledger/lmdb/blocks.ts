import { assert } from '../../core/assert.ts';
import { wipe } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { BlockKeys } from '../block-keys.ts';
import { type BlockStore, LedgerError } from '../ledger.ts';
import { BLOCK_KINDS, type BlockKind, type ClaimedBlock } from '../records.ts';
import type { GroupWriter } from './group-writer.ts';
import type { Store } from './store.ts';
import {
  type BlockRanges,
  count,
  increase,
  isHeld,
  raise,
  type StoredBlock,
  type StoredLot,
  type Tables,
  WITHDRAWN,
} from './tables.ts';

/** The keys of one kind's blocks, oldest first. */
function blocksOf(kind: BlockKind): { from: [BlockKind, number]; before: [BlockKind, number] } {
  return { from: [kind, 0], before: [kind, Number.MAX_SAFE_INTEGER] };
}

export interface LmdbBlocksOptions {
  readonly store: Store;
  readonly tables: Tables;
  readonly writer: GroupWriter;
  /** Undefined for a tool, which neither stores nor claims blocks. */
  readonly keys: BlockKeys | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Written into each claim: says which start of the server took the block. */
  readonly epoch: number;
}

/**
 * Blocks of lots: stored once, under seal, and claimed once. The transaction that claims a block removes it, and then its
 * key is erased: the file may keep the sealed bytes (BlockKeys). Blocks are staged before their lot is stored. Until it is,
 * nobody can claim them, and when it is not, they are dropped, at the latest by the next start.
 */
export class LmdbBlocks implements BlockStore {
  readonly #store: Store;
  readonly #tables: Tables;
  readonly #writer: GroupWriter;
  readonly #keys: BlockKeys | undefined;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #epoch: number;

  constructor(options: LmdbBlocksOptions) {
    this.#store = options.store;
    this.#tables = options.tables;
    this.#writer = options.writer;
    this.#keys = options.keys;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#epoch = options.epoch;
    if (this.#keys !== undefined) this.#settle(this.#keys);
  }

  /** Stores the blocks of a lot that comes next. Staging it again gives the same ranges. */
  stage(lotId: string, blocks: readonly { kind: BlockKind; bytes: Uint8Array }[]): Promise<BlockRanges> {
    return this.#writer.submit(() => {
      const { lots, staged } = this.#tables;
      const known = lots.get(lotId)?.blocks ?? staged.get(lotId);
      if (known !== undefined) return known;
      const ranges = {
        pure: this.#add(lotId, 'pure', blocks),
        seed: this.#add(lotId, 'seed', blocks),
      };
      staged.put(lotId, ranges);
      return ranges;
    });
  }

  /** Ends the staging of a lot: its blocks are the lot's when it is stored, and else go. */
  unstage(lotId: string): Promise<void> {
    return this.#writer.submit(() => this.#unstage(lotId));
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

  async claimBlocks(kind: BlockKind, max: number): Promise<ClaimedBlock[]> {
    // asked again and again while a lot is held back: a transaction that takes nothing would still be a durable step
    this.#store.refresh();
    const oldest = this.#tables.blocks.firstKey(blocksOf(kind));
    if (oldest === undefined || oldest[1] > count(this.#tables.meta, 'releasedBlocks')) {
      this.eraseKeys(); // those of a lot that a command has withdrawn
      return [];
    }
    const claimed = await this.#writer.submit(() => this.#claim(kind, max));
    try {
      this.eraseKeys();
    } catch (error) {
      for (const { bytes } of claimed) wipe(bytes);
      throw error;
    }
    return claimed;
  }

  async blockLevels(): Promise<Record<BlockKind, { blocks: number; bytes: number }>> {
    const { meta } = this.#tables;
    this.#store.refresh();
    return {
      pure: { blocks: count(meta, 'pureBlocks'), bytes: count(meta, 'pureBytes') },
      seed: { blocks: count(meta, 'seedBlocks'), bytes: count(meta, 'seedBytes') },
    };
  }

  /** Takes what is left of a lot, inside the transaction that withdraws it. */
  withdraw(ranges: BlockRanges): void {
    for (const kind of BLOCK_KINDS) {
      const { first, count } = ranges[kind];
      for (let ordinal = first; ordinal < first + count; ordinal++) {
        const block = this.#tables.blocks.get([kind, ordinal]);
        if (block !== undefined) this.#take([kind, ordinal], block.lotId, block.size, WITHDRAWN);
      }
    }
  }

  /** After each transaction that took blocks, and before anybody gets one. */
  eraseKeys(): void {
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

  /**
   * What the last server left: blocks whose keys are erased, as in a copy, are given up; keys of blocks that
   * it had claimed are erased; blocks that it had staged are their lot's, or go.
   */
  #settle(keys: BlockKeys): void {
    const { blocks, meta, staged } = this.#tables;
    let givenUp = 0;
    this.#store.transact(() => {
      for (const { key: lotId } of [...staged.entries()]) this.#unstage(lotId);
      for (const kind of BLOCK_KINDS) {
        raise(meta, 'blocks', keys.oldest(kind) - 1); // an older data file in the place of the newer one
        const all = blocksOf(kind);
        for (const { key, value } of [...blocks.entries({ ...all, before: [kind, keys.oldest(kind)] })]) {
          this.#take(key, value.lotId, value.size, this.#epoch);
          givenUp++;
        }
      }
    });
    if (givenUp > 0) this.#log.warn({ blocks: givenUp }, 'ledger: blocks without a key given up');
    this.eraseKeys();
  }

  /**
   * Takes the oldest blocks, up to one that is held back or staged. Those of a revoked lot went with its revocation: every
   * other block here may be given.
   */
  #claim(kind: BlockKind, max: number): ClaimedBlock[] {
    assert(this.#keys !== undefined, 'a server claims');
    const { lots, meta } = this.#tables;
    const claimed: ClaimedBlock[] = [];
    const released = count(meta, 'releasedBlocks');
    const oldest = [...this.#tables.blocks.entries({ ...blocksOf(kind), limit: Math.max(0, max) })];
    let stored: StoredLot | undefined;
    for (const { key, value } of oldest) {
      if (key[1] > released) break;
      if (stored?.lot.id !== value.lotId) stored = lots.get(value.lotId);
      if (stored === undefined || isHeld(stored)) break; // lots may come in another order than their blocks
      const { blocks, releasedAtMs = null } = stored;
      this.#take(key, value.lotId, value.size, this.#epoch);
      const bytes = this.#keys.open(kind, key[1], value.lotId, value.sealed);
      if (bytes !== undefined)
        claimed.push({ lotId: value.lotId, bytes, index: key[1] - blocks[kind].first, releasedAtMs });
      else this.#log.error({ kind, ordinal: key[1] }, 'ledger: a block that its key does not open given up');
    }
    return claimed;
  }

  #unstage(lotId: string): void {
    const { blocks, lots, meta, staged } = this.#tables;
    const ranges = staged.get(lotId);
    if (ranges === undefined) return;
    staged.remove(lotId);
    if (lots.has(lotId)) return;
    for (const kind of BLOCK_KINDS) {
      const { first, count } = ranges[kind];
      for (let ordinal = first; ordinal < first + count; ordinal++) {
        const block = blocks.get([kind, ordinal]);
        if (block === undefined)
          throw new LedgerError('damaged', `block ${kind} ${ordinal} of lot ${lotId} is gone`);
        blocks.remove([kind, ordinal]);
        increase(meta, `${kind}Blocks`, -1);
        increase(meta, `${kind}Bytes`, -block.size);
      }
    }
  }

  #sealed(kind: BlockKind, ordinal: number, lotId: string, bytes: Uint8Array): StoredBlock {
    assert(this.#keys !== undefined, 'a server stores blocks');
    return { lotId, sealed: this.#keys.seal(kind, ordinal, lotId, bytes), size: bytes.length };
  }

  #add(lotId: string, kind: BlockKind, all: readonly { kind: BlockKind; bytes: Uint8Array }[]) {
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

  /** The stored bytes go and the claim comes in one transaction: a block has no second owner. */
  #take(key: [BlockKind, number], lotId: string, size: number, epoch: number): void {
    const { blocks, claims, meta } = this.#tables;
    assert(!claims.has(key), `block ${key.join(' ')} is claimed and unclaimed at once`);
    blocks.remove(key);
    claims.put(key, { lotId, size, epoch, atMs: this.#clock.wallMs() });
    increase(meta, `${key[0]}Blocks`, -1);
    increase(meta, `${key[0]}Bytes`, -size);
  }
}
