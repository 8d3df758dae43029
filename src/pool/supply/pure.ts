import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert, messageOf } from '../../core/assert.ts';
import { secretBytes, wipe } from '../../core/bytes.ts';
import type { Log } from '../../core/log.ts';
import { BlockCommitment } from '../../crypto/block-commitment.ts';
import { HASH_BYTES, PIECE_BYTES } from '../../crypto/merkle.ts';
import type { EntropyStore } from '../../ledger/ledger.ts';
import { type LotCommitment, type LotRecord, PURE_BLOCK_BYTES } from '../../ledger/records.ts';
import { EntropyReader } from '../../values/entropy-reader.ts';
import { Opening } from './opening.ts';

/** Claimed pure bytes ahead of small requests: what a crash can burn at most. */
const RING_BYTES = 16 * PURE_BLOCK_BYTES;
/** Blocks that one durable step claims for the ring. */
const REFILL_BLOCKS = 8;
const REFILL_BYTES = REFILL_BLOCKS * PURE_BLOCK_BYTES;
/** What a large draw leaves to small ones where it can, and the level at which the ring is filled again. */
const SMALL_DRAWS_BYTES = RING_BYTES - REFILL_BYTES;

/** Bytes of a lot's pure blocks that were drawn, whole pieces of them: what the last piece has more is erased. */
export interface LotShare {
  readonly lot: LotRecord;
  readonly offset: number;
  readonly bytes: number;
  /** When the lot was released. */
  readonly releasedAtMs: number;
}

export interface PureDraw<T> {
  readonly value: T;
  /** In the order in which they were drawn. */
  readonly shares: readonly LotShare[];
  /** Canonical JSON, see `openingText`; undefined when the lots have no commitment, or it would be too long. */
  readonly opening: string | undefined;
}

/** A claimed block in the ring, or under a large draw. */
export interface HeldBlock {
  readonly lot: LotRecord;
  /** Which of the lot's pure blocks it is. */
  readonly index: number;
  readonly releasedAtMs: number;
  /** Undefined for a lot without a commitment. */
  readonly commitment: BlockCommitment | undefined;
  /** Bytes of the block as it was claimed. */
  readonly size: number;
  /** Its end, of which `left` were not drawn yet. The reader's once it has it, and erased by it. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  left: number;
}

/**
 * The pure mode's bytes for one front: conditioned quantum bytes, each handed out once, forever. All draws
 * come from a ring of claimed blocks that is kept filled ahead; large ones take whole blocks out of it.
 * Claims are durable before the first byte is used; what a crash leaves claimed is burned.
 */
export class PureSupply {
  readonly #store: EntropyStore;
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
  /** Of the block that was claimed last: those of a lot follow each other. */
  #lot: LotRecord | undefined;
  #open = true;

  constructor(store: EntropyStore, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#reader = new EntropyReader(() => this.#nextBlock());
  }

  /** Bytes that a draw can have at once. */
  available(): number {
    return this.#available;
  }

  /**
   * Draws at once from the ring when it holds `bytesMax` bytes, else undefined. `use`, which is told the lot that the draw begins
   * with, must be synchronous and consumes what it needs of the reader, at most `bytesMax`. What it read is gone, also when it
   * throws.
   */
  tryDraw<T>(bytesMax: number, use: (reader: EntropyReader, first: LotRecord) => T): PureDraw<T> | undefined {
    if (!this.#has(bytesMax)) return undefined;
    const [first] = this.#held;
    const before = this.#reader.consumedBytes;
    const opening = new Opening(this.#held, bytesMax);
    let value: T;
    let shares: LotShare[];
    let consumed: number;
    let text: string | undefined;
    try {
      value = use(this.#reader, first.lot);
    } finally {
      consumed = this.#reader.consumedBytes - before;
      this.#skipToPiece(consumed);
      this.#reader.erase();
      shares = this.#sharesOf(this.#reader.consumedBytes - before);
      text = opening.finish(shares);
      this.keepFilled();
    }
    assert(consumed <= bytesMax, 'a sampler keeps to its bound');
    return { value, shares, opening: text };
  }

  /** The next draw begins with a piece that nobody has seen a part of: a piece is opened as a whole. */
  #skipToPiece(consumed: number): void {
    let left = consumed;
    for (const block of this.#held) {
      if (left === 0) return;
      const drawn = Math.min(left, block.left);
      left -= drawn;
      if (left > 0) continue;
      const rest = Math.min(block.left - drawn, -(block.size - block.left + drawn) & (PIECE_BYTES - 1));
      const skipped = secretBytes(rest);
      this.#reader.fill(skipped);
      wipe(skipped);
    }
  }

  /**
   * Whole blocks for one large draw, out of the ring, which is filled beyond its size for that; undefined when the
   * reservoir cannot give `bytes`. The caller owns and wipes them, and gives back what it did not read (`giveBack`).
   */
  async claim(bytes: number): Promise<HeldBlock[] | undefined> {
    const missing = bytes - this.#spareBytes();
    if (this.#open && missing > 0 && (await this.#store.blockLevels()).pure.bytes < missing) return undefined;
    let isMore = true;
    while (isMore && this.#open && this.#spareBytes() < bytes + SMALL_DRAWS_BYTES) {
      isMore = await this.#refill(bytes + RING_BYTES);
    }
    // another front may have been faster: small draws use what we got
    if (!this.#open || this.#spareBytes() < bytes) return undefined;
    const claimed: HeldBlock[] = [];
    for (let size = 0; size < bytes; ) {
      const [block] = this.#held.splice(this.#opened, 1);
      this.#available -= block.left;
      size += block.left;
      claimed.push(block);
    }
    return claimed;
  }

  /** What the reader does not have yet. */
  #spareBytes(): number {
    return leftOf(this.#held.slice(this.#opened));
  }

  /**
   * Takes back the ends of claimed blocks that a large draw did not read, without the pieces that it read a part of:
   * they serve the next draws. They are the supply's from now on, and are erased when the sources are closed or their lot
   * was withdrawn meanwhile.
   */
  giveBack(left: readonly { readonly block: HeldBlock; readonly bytes: Uint8Array<ArrayBuffer> }[]): void {
    for (const { block, bytes } of left) {
      const begun = -(block.size - bytes.length) & (PIECE_BYTES - 1);
      wipe(bytes.subarray(0, begun));
      const rest = bytes.subarray(begun);
      const held = { ...block, bytes: rest, left: rest.length };
      if (!this.#open || this.#withdrawn.has(block.lot.id)) eraseBlock(held);
      else if (rest.length > 0) this.#hold(held);
    }
  }

  /**
   * Waits until a draw of `bytes` from the ring is possible; false when the reservoir cannot give them.
   * Whoever finds that another draw was faster asks again.
   */
  async fill(bytes: number): Promise<boolean> {
    while (this.#open && !this.#has(bytes)) {
      if (!(await this.#refill(bytes))) break;
    }
    return this.#has(bytes);
  }

  /** Also a draw of no bytes names the lot that it begins with. */
  #has(bytes: number): boolean {
    return this.#open && this.#held.length > 0 && this.#available >= bytes;
  }

  /** True when a draw of this size fits the ring; larger ones use `claim`. */
  static fitsRing(bytes: number): boolean {
    return bytes <= REFILL_BYTES;
  }

  keepFilled(): void {
    const isFull = this.#available > SMALL_DRAWS_BYTES;
    if (!this.#open || this.#refilling !== undefined || isFull) return;
    this.#refill(0).catch((error: unknown) => {
      const reason = messageOf(error);
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
    for (const block of this.#held) eraseBlock(block);
    this.#held.length = 0;
    this.#opened = 0;
    this.#available = 0;
  }

  /** Claims blocks for the ring, which is to hold `bytes` at least; true when some came. */
  #refill(bytes: number): Promise<boolean> {
    this.#refilling ??= this.#claimForRing(bytes).finally(() => {
      this.#refilling = undefined;
    });
    return this.#refilling;
  }

  async #claimForRing(bytes: number): Promise<boolean> {
    const room = Math.max(0, Math.floor((RING_BYTES - this.#available) / PURE_BLOCK_BYTES));
    const missing = Math.ceil((bytes - this.#available) / PURE_BLOCK_BYTES);
    const claimed = await this.#claim(Math.max(missing, Math.min(room, REFILL_BLOCKS)));
    for (const block of claimed) this.#hold(block);
    return claimed.length > 0;
  }

  /**
   * Claims up to `max` blocks. Those that came after the sources were closed, without their lot's record, of a lot that was
   * withdrawn meanwhile, or that are not what their lot committed to, are erased.
   */
  async #claim(max: number): Promise<HeldBlock[]> {
    if (!this.#open || max === 0) return [];
    const blocks = await this.#store.claimBlocks('pure', max);
    let usable: HeldBlock[] = [];
    try {
      const held: HeldBlock[] = [];
      for (const { lotId, bytes, index, releasedAtMs } of blocks) {
        const lot = await this.#lotOf(lotId);
        const commitment = lot.commitment && (await this.#committed(lot.id, lot.commitment, index, bytes));
        if (lot.commitment !== undefined && commitment === undefined) continue;
        const size = bytes.length;
        held.push({ lot, index, releasedAtMs, commitment, size, bytes, left: size });
      }
      if (this.#open) usable = held.filter(({ lot }) => !this.#withdrawn.has(lot.id));
      return usable;
    } finally {
      const kept = new Set(usable.map(({ bytes }) => bytes));
      for (const { bytes } of blocks) if (!kept.has(bytes)) wipe(bytes);
    }
  }

  async #lotOf(id: string): Promise<LotRecord> {
    if (this.#lot?.id !== id) this.#lot = await this.#store.lot(id);
    assert(this.#lot !== undefined, `lot ${id} has blocks but no record`);
    return this.#lot;
  }

  /** Undefined for a block that is not the one which the leaf of its lot holds it to: nobody gets its bytes. */
  async #committed(lotId: string, { blockRoots }: LotCommitment, index: number, bytes: Uint8Array) {
    await nextTurn(); // a millisecond of hashing for each block
    const commitment = new BlockCommitment(bytes);
    const hashes = Buffer.from(blockRoots, 'base64').subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);
    if (hashes.equals(commitment.tree.root)) return commitment;
    commitment.erase();
    this.#log.error({ lot: lotId, block: index }, 'a block that is not what its lot committed to was erased');
    return undefined;
  }

  #hold(block: HeldBlock): void {
    this.#held.push(block);
    this.#available += block.left;
  }

  #nextBlock(): Uint8Array<ArrayBuffer> {
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
      addShare(shares, block, bytes);
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

/** Books the next bytes of the block, which follow on those of the last share when they are its neighbours. */
function addShare(shares: LotShare[], block: HeldBlock, bytes: number): void {
  const { lot, index, size, left, releasedAtMs } = block;
  const offset = index * PURE_BLOCK_BYTES + size - left;
  const last = shares.at(-1);
  if (last?.lot.id === lot.id && last.offset + last.bytes === offset) {
    shares[shares.length - 1] = { ...last, bytes: last.bytes + bytes };
  } else shares.push({ lot, offset, bytes, releasedAtMs });
}

/** What a large draw that consumed so many bytes of these blocks took, in order: whole pieces. */
export function sharesOf(blocks: readonly HeldBlock[], consumed: number): LotShare[] {
  const shares: LotShare[] = [];
  let missing = consumed;
  for (const block of blocks) {
    if (missing === 0) break;
    const drawn = Math.min(missing, block.left);
    missing -= drawn;
    addShare(shares, block, Math.min(block.left, Math.ceil(drawn / PIECE_BYTES) * PIECE_BYTES));
  }
  return shares;
}

function eraseBlock({ bytes, commitment }: HeldBlock): void {
  wipe(bytes);
  commitment?.erase();
}

function leftOf(blocks: readonly HeldBlock[]): number {
  return blocks.reduce((sum, { left }) => sum + left, 0);
}
