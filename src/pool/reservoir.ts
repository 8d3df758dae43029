import { assert } from '../core/assert.ts';
import { wipe } from '../core/bytes.ts';
import type { Log } from '../core/log.ts';
import type { EntropyStore } from '../store/ledger.ts';
import type { ClaimedBlock } from '../store/records.ts';
import { EntropyReader } from '../values/entropy-reader.ts';
import type { LotCatalog } from './catalog.ts';
import { PURE_BLOCK_BYTES } from './lots.ts';
import { createRingMemory, SlotRing } from './ring.ts';

/** 64 KiB of claimed pure bytes ahead of small requests: what a crash can burn at most. */
const RING_SLOTS = 16;
/** Claims are made in one durable step for this many slots. */
const REFILL_SLOTS = RING_SLOTS / 2;

/** Which lots gave the bytes of one draw, in order, with how many each. */
export interface LotShare {
  readonly lotId: string;
  readonly bytes: number;
}

export interface PureDraw<T> {
  readonly value: T;
  readonly shares: readonly LotShare[];
}

/**
 * The pure mode's bytes for one front: conditioned quantum bytes, each handed out once, for ever. Small draws come
 * from a ring of claimed blocks that is kept filled ahead; large ones claim their blocks for themselves. Claims are
 * durable before the first byte is used; what a crash leaves claimed is burned.
 */
export class PureSupply {
  readonly #store: EntropyStore;
  readonly #catalog: LotCatalog;
  readonly #log: Log;
  readonly #ring: SlotRing;
  /** Lot ids by slot tag; a tag is an index here. */
  readonly #lots: string[] = [];
  readonly #reader: EntropyReader;
  /** The chunks that the reader holds, oldest first, with what is left unread of each. */
  readonly #held: { lotId: string; bytes: number }[] = [];
  #refilling: Promise<void> | undefined;
  #open = true;

  constructor(store: EntropyStore, catalog: LotCatalog, log: Log) {
    this.#store = store;
    this.#catalog = catalog;
    this.#log = log;
    this.#ring = new SlotRing(createRingMemory(RING_SLOTS, PURE_BLOCK_BYTES));
    this.#reader = new EntropyReader(() => this.#nextSlot());
  }

  /** Bytes that a draw can have at once. */
  available(): number {
    let bytes = this.#ring.filledBytes();
    for (const chunk of this.#held) bytes += chunk.bytes;
    return bytes;
  }

  /** The lot that the next draw from the ring begins with. */
  nextLotId(): string | undefined {
    const [held] = this.#held;
    if (held !== undefined) return held.lotId;
    return this.#ring.filled() > 0 ? this.#lots[this.#ring.tag()] : undefined;
  }

  /**
   * Draws at once from the ring when it holds `bytesMax` bytes, else undefined. `use` must be synchronous and
   * consumes what it needs of the reader, at most `bytesMax`.
   */
  tryDraw<T>(bytesMax: number, use: (reader: EntropyReader) => T): PureDraw<T> | undefined {
    if (!this.#open || this.available() < bytesMax) return undefined;
    const before = this.#reader.consumedBytes;
    const value = use(this.#reader);
    const consumed = this.#reader.consumedBytes - before;
    assert(consumed <= bytesMax, 'a sampler keeps to its bound');
    this.#reader.erase();
    this.keepFilled();
    return { value, shares: this.#sharesOf(consumed) };
  }

  /**
   * Claims whole blocks for one large draw, or undefined when the reservoir cannot give `bytes`. The caller owns and
   * wipes them; what it leaves over is burned.
   */
  async claim(bytes: number): Promise<ClaimedBlock[] | undefined> {
    const blocks = Math.ceil(bytes / PURE_BLOCK_BYTES);
    if (!this.#open || (await this.#store.blockLevels()).pure.blocks < blocks) return undefined;
    const claimed = await this.#store.claimBlocks('pure', blocks);
    for (const block of claimed) await this.#catalog.ready(block.lotId);
    if (claimed.length === blocks) return claimed;
    // another front was faster; what we got feeds the ring instead of being burned
    for (const block of claimed) this.#offer(block);
    return undefined;
  }

  /** Waits until a draw of `bytes` from the ring is possible, as far as the reservoir allows. */
  async fill(bytes: number): Promise<boolean> {
    if (this.#open && this.available() < bytes) await this.#refill();
    return this.#open && this.available() >= bytes;
  }

  /** True when a draw of this size fits the ring; larger ones use `claim`. */
  static fitsRing(bytes: number): boolean {
    return bytes <= REFILL_SLOTS * PURE_BLOCK_BYTES;
  }

  keepFilled(): void {
    if (!this.#open || this.#refilling !== undefined || this.#ring.filled() > RING_SLOTS - REFILL_SLOTS) return;
    this.#refill().catch((error: unknown) => {
      this.#log.error({ reason: error instanceof Error ? error.message : String(error) }, 'pure ring not refilled');
    });
  }

  /** The tap is closed: nothing more is drawn; what is left in the ring is erased. */
  close(): void {
    this.#open = false;
    this.#reader.discard();
    this.#held.length = 0;
    while (this.#ring.filled() > 0) this.#ring.release();
  }

  #refill(): Promise<void> {
    this.#refilling ??= this.#claimForRing().finally(() => {
      this.#refilling = undefined;
    });
    return this.#refilling;
  }

  async #claimForRing(): Promise<void> {
    const room = RING_SLOTS - this.#ring.filled();
    if (room === 0) return;
    for (const block of await this.#store.claimBlocks('pure', Math.min(room, REFILL_SLOTS))) {
      await this.#catalog.ready(block.lotId);
      this.#offer(block);
    }
  }

  #offer(block: ClaimedBlock): void {
    const slot = this.#open ? this.#ring.reserve() : undefined;
    if (slot !== undefined) {
      slot.set(block.bytes);
      this.#ring.publish(block.bytes.length, this.#tagOf(block.lotId));
    }
    wipe(block.bytes); // with no room the block is burned
  }

  #tagOf(lotId: string): number {
    const known = this.#lots.lastIndexOf(lotId);
    return known >= 0 ? known : this.#lots.push(lotId) - 1;
  }

  #nextSlot(): Uint8Array {
    const slot = this.#ring.peek();
    assert(slot !== undefined, 'a draw is begun only when the ring holds enough for it');
    const chunk = new Uint8Array(slot); // the reader's own copy: it may look ahead of what it has read
    this.#held.push({ lotId: this.#lots[this.#ring.tag()], bytes: chunk.length });
    this.#ring.release();
    return chunk;
  }

  /** Books the next `consumed` bytes of the held chunks under their lots. */
  #sharesOf(consumed: number): LotShare[] {
    const shares: LotShare[] = [];
    let left = consumed;
    while (left > 0) {
      const chunk = this.#held[0];
      const bytes = Math.min(left, chunk.bytes);
      const last = shares.at(-1);
      if (last?.lotId === chunk.lotId) shares[shares.length - 1] = { lotId: last.lotId, bytes: last.bytes + bytes };
      else shares.push({ lotId: chunk.lotId, bytes });
      chunk.bytes -= bytes;
      left -= bytes;
      if (chunk.bytes === 0) this.#held.shift();
    }
    return shares;
  }
}
