import { assert } from '../../core/assert.ts';
import { wipe } from '../../core/bytes.ts';
import type { Log } from '../../core/log.ts';
import type { EntropyStore } from '../../ledger/ledger.ts';
import { type ClaimedBlock, type LotRecord, PURE_BLOCK_BYTES } from '../../ledger/records.ts';
import { EntropyReader } from '../../values/entropy-reader.ts';

/** Claimed pure bytes ahead of small requests: what a crash can burn at most. */
const RING_BYTES = 16 * PURE_BLOCK_BYTES;
/** Blocks that one durable step claims for the ring. */
const REFILL_BLOCKS = 8;
const REFILL_BYTES = REFILL_BLOCKS * PURE_BLOCK_BYTES;

/** Which lots gave the bytes of one draw, in order, with how many each. */
export interface LotShare {
  readonly lotId: string;
  readonly bytes: number;
}

export interface PureDraw<T> {
  readonly value: T;
  readonly shares: readonly LotShare[];
}

/** A claimed block in the ring. */
interface HeldBlock {
  /** Rides with the bytes: the catalog may forget it before they are drawn. */
  readonly lot: LotRecord;
  /** The reader's once it has it, and erased by it. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes that were not drawn yet. */
  left: number;
}

/**
 * The pure mode's bytes for one front: conditioned quantum bytes, each handed out once, for ever. Small draws
 * come from a ring of claimed blocks that is kept filled ahead; large ones claim their blocks for themselves.
 * Claims are durable before the first byte is used; what a crash leaves claimed is burned.
 */
export class PureSupply {
  readonly #store: EntropyStore;
  readonly #catalog: LotCatalog;
  readonly #log: Log;
  /** The ring, oldest block first; it is made and used in one thread, so it is a plain list. */
  readonly #held: HeldBlock[] = [];
  /** How many blocks of the ring, from the oldest on, the reader has. */
  #opened = 0;
  /** The sum of what is left of the blocks. */
  #available = 0;
  readonly #reader: EntropyReader;
  #refilling: Promise<boolean> | undefined;
  /** What is claimed of these lots and on its way is erased when it comes. */
  readonly #withdrawn = new Set<string>();
  #open = true;

  constructor(store: EntropyStore, catalog: LotCatalog, log: Log) {
    this.#store = store;
    this.#catalog = catalog;
    this.#log = log;
    this.#reader = new EntropyReader(() => this.#nextBlock());
  }

  /** Bytes that a draw can have at once. */
  available(): number {
    return this.#available;
  }

  /** The lot that the next draw from the ring begins with; its record is in the catalog. */
  nextLotId(): string | undefined {
    if (this.#held.length === 0) return undefined;
    const { lot } = this.#held[0];
    this.#catalog.add(lot);
    return lot.id;
  }

  /**
   * Draws at once from the ring when it holds `bytesMax` bytes, else undefined. `use` must be synchronous and
   * consumes what it needs of the reader, at most `bytesMax`. What it read is gone, also when it throws. The
   * records of the shares' lots are in the catalog.
   */
  tryDraw<T>(bytesMax: number, use: (reader: EntropyReader) => T): PureDraw<T> | undefined {
    if (!this.#open || this.#available < bytesMax) return undefined;
    const before = this.#reader.consumedBytes;
    const consumed = () => this.#reader.consumedBytes - before;
    let value: T;
    let shares: LotShare[];
    try {
      value = use(this.#reader);
    } finally {
      this.#reader.erase();
      shares = this.#sharesOf(consumed());
      this.keepFilled();
    }
    assert(consumed() <= bytesMax, 'a sampler keeps to its bound');
    return { value, shares };
  }

  /**
   * Claims whole blocks for one large draw, or undefined when the reservoir cannot give `bytes`. The caller
   * owns and wipes them, and gives back what it did not read (`giveBack`).
   */
  async claim(bytes: number): Promise<ClaimedBlock[] | undefined> {
    if (!this.#open) return undefined;
    const claimed = this.#takeSpare(bytes);
    const missing = bytes - sizeOf(claimed);
    if (missing > 0 && (await this.#store.blockLevels()).pure.bytes >= missing) {
      claimed.push(...(await this.#claimBytes(missing, claimed)));
    }
    if (this.#open && sizeOf(claimed) >= bytes) {
      for (const { lot } of claimed) this.#catalog.add(lot);
      return claimed.map(({ lot, bytes }) => ({ lotId: lot.id, bytes }));
    }
    for (const block of claimed) {
      if (this.#open)
        this.#hold(block); // another front was faster: small draws use what we got
      else wipe(block.bytes);
    }
    return undefined;
  }

  /**
   * Takes back claimed bytes that a large draw did not read: they serve the next draws. They are the supply's
   * from now on, and are erased when the sources are closed or their lot was withdrawn meanwhile.
   */
  giveBack(left: readonly ClaimedBlock[]): void {
    for (const { lotId, bytes } of left) {
      if (!this.#open || this.#withdrawn.has(lotId)) wipe(bytes);
      else this.#hold({ lot: this.#catalog.get(lotId), bytes, left: bytes.length });
    }
  }

  /**
   * Blocks that the ring holds beyond what small draws need at hand, the newest first: mostly what was given
   * back.
   */
  #takeSpare(bytes: number): HeldBlock[] {
    const spare: HeldBlock[] = [];
    for (let size = 0; size < bytes && this.#held.length > this.#opened; ) {
      const block = this.#held[this.#held.length - 1];
      if (this.#available - block.left < RING_BYTES - REFILL_BYTES) break;
      this.#held.pop();
      this.#available -= block.left;
      size += block.left;
      spare.push(block);
    }
    return spare;
  }

  /**
   * In several steps where blocks are short; less than asked for when the reservoir is empty before. When it
   * fails, what it claimed and `taken` are erased.
   */
  async #claimBytes(bytes: number, taken: readonly HeldBlock[]): Promise<HeldBlock[]> {
    const claimed: HeldBlock[] = [];
    try {
      while (sizeOf(claimed) < bytes) {
        const more = await this.#claim(Math.ceil((bytes - sizeOf(claimed)) / PURE_BLOCK_BYTES));
        if (more.length === 0) break;
        claimed.push(...more);
      }
      return claimed;
    } catch (error) {
      for (const { bytes } of [...taken, ...claimed]) wipe(bytes);
      throw error;
    }
  }

  /**
   * Waits until a draw of `bytes` from the ring is possible; false when the reservoir cannot give them.
   * Whoever finds that another draw was faster asks again.
   */
  async fill(bytes: number): Promise<boolean> {
    while (this.#open && this.#available < bytes) {
      if (!(await this.#refill())) break;
    }
    return this.#open && this.#available >= bytes;
  }

  /** True when a draw of this size fits the ring; larger ones use `claim`. */
  static fitsRing(bytes: number): boolean {
    return bytes <= REFILL_BYTES;
  }

  keepFilled(): void {
    const isFull = this.#available > RING_BYTES - REFILL_BYTES;
    if (!this.#open || this.#refilling !== undefined || isFull) return;
    this.#refill().catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.error({ reason }, 'pure ring not refilled');
    });
  }

  /**
   * Erases what is held of these lots: they were withdrawn. What was claimed with it of other lots goes too.
   */
  withdraw(lotIds: ReadonlySet<string>): void {
    for (const id of lotIds) this.#withdrawn.add(id);
    if (this.#held.some(({ lot }) => lotIds.has(lot.id))) this.#eraseHeld();
  }

  /** The sources are closed: nothing more is drawn; what is left in the ring is erased. */
  close(): void {
    this.#open = false;
    this.#eraseHeld();
  }

  #eraseHeld(): void {
    this.#reader.discard();
    for (const { bytes } of this.#held) wipe(bytes);
    this.#held.length = 0;
    this.#opened = 0;
    this.#available = 0;
  }

  /** True when blocks came. */
  #refill(): Promise<boolean> {
    this.#refilling ??= this.#claimForRing().finally(() => {
      this.#refilling = undefined;
    });
    return this.#refilling;
  }

  async #claimForRing(): Promise<boolean> {
    const room = Math.max(0, Math.floor((RING_BYTES - this.#available) / PURE_BLOCK_BYTES));
    const claimed = await this.#claim(Math.min(room, REFILL_BLOCKS));
    for (const block of claimed) this.#hold(block);
    return claimed.length > 0;
  }

  /**
   * Claims up to `max` blocks. Those that came after the sources were closed, without their lot's record, or of a
   * lot that was withdrawn meanwhile, are erased.
   */
  async #claim(max: number): Promise<HeldBlock[]> {
    if (!this.#open || max === 0) return [];
    const blocks = await this.#store.claimBlocks('pure', max);
    let usable: HeldBlock[] = [];
    try {
      const held: HeldBlock[] = [];
      for (const { lotId, bytes } of blocks) {
        held.push({ lot: await this.#catalog.ready(lotId), bytes, left: bytes.length });
      }
      if (this.#open) usable = held.filter(({ lot }) => !this.#withdrawn.has(lot.id));
      return usable;
    } finally {
      const kept = new Set(usable.map(({ bytes }) => bytes));
      for (const { bytes } of blocks) if (!kept.has(bytes)) wipe(bytes);
    }
  }

  #hold(block: HeldBlock): void {
    this.#held.push(block);
    this.#available += block.left;
  }

  #nextBlock(): Uint8Array {
    const block = this.#held.at(this.#opened);
    assert(block !== undefined, 'a draw is begun only when the ring holds enough for it');
    this.#opened++;
    return block.bytes;
  }

  /** Books the next `consumed` bytes of the ring under their lots. */
  #sharesOf(consumed: number): LotShare[] {
    const shares: LotShare[] = [];
    let left = consumed;
    while (left > 0) {
      const block = this.#held[0];
      const bytes = Math.min(left, block.left);
      const last = shares.at(-1);
      if (last?.lotId === block.lot.id) {
        shares[shares.length - 1] = { lotId: last.lotId, bytes: last.bytes + bytes };
      } else {
        this.#catalog.add(block.lot);
        shares.push({ lotId: block.lot.id, bytes });
      }
      block.left -= bytes;
      left -= bytes;
      if (block.left === 0) {
        this.#held.shift();
        this.#opened--;
      }
    }
    this.#available -= consumed;
    return shares;
  }
}

function sizeOf(blocks: readonly HeldBlock[]): number {
  return blocks.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** Lots kept at hand; a service that turns over a lot a minute keeps a day of them. */
const CATALOG_MAX = 2_048;

/**
 * The records of the lots in use, at hand for synchronous reading. Lots never change, so a copy never goes
 * stale. The lot that was made ready longest ago is forgotten first: who keeps bytes of a lot for long keeps
 * its record too, and adds it again before the bytes are used.
 */
export class LotCatalog {
  readonly #store: EntropyStore;
  readonly #lots = new Map<string, LotRecord>();

  constructor(store: EntropyStore) {
    this.#store = store;
  }

  /** The record of a lot that was made ready before. */
  get(id: string): LotRecord {
    const lot = this.#lots.get(id);
    assert(lot !== undefined, `lot ${id} is used before its record is at hand`);
    return lot;
  }

  /** Makes the lot's record ready for `get`. */
  async ready(id: string): Promise<LotRecord> {
    const known = this.#lots.get(id);
    if (known !== undefined) return known;
    const lot = await this.#store.lot(id);
    assert(lot !== undefined, `lot ${id} has blocks but no record`);
    this.add(lot);
    return lot;
  }

  add(lot: LotRecord): void {
    if (this.#lots.has(lot.id)) return;
    if (this.#lots.size >= CATALOG_MAX) {
      const oldest = this.#lots.keys().next();
      if (!oldest.done) this.#lots.delete(oldest.value);
    }
    this.#lots.set(lot.id, lot);
  }
}
