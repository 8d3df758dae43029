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

/** Pure bytes that are claimed ahead for small draws. A crash loses at most these. */
const RING_BYTES = 16 * PURE_BLOCK_BYTES;
/** Blocks that one durable step claims for the ring. */
const REFILL_BLOCKS = 8;
const REFILL_BYTES = REFILL_BLOCKS * PURE_BLOCK_BYTES;
/** What a large draw leaves to small ones if it can, and the level at which the ring is refilled. */
const SMALL_DRAWS_BYTES = RING_BYTES - REFILL_BYTES;

/** Bytes of a lot's pure blocks that an answer drew, in whole pieces. The rest of the last one is erased. */
export interface LotShare {
  readonly lot: LotRecord;
  readonly offset: number;
  readonly bytes: number;
  /** When the lot was released. */
  readonly releasedAtMs: number;
}

export interface PureDraw<T> {
  readonly value: T;
  /** In the order of the draw. */
  readonly shares: readonly LotShare[];
  /** Canonical JSON, see Opening; undefined if a lot has no commitment, or the draw was too long. */
  readonly opening: string | undefined;
}

/** A claimed block, in the ring or in a large draw. */
export interface HeldBlock {
  readonly lot: LotRecord;
  /** Index of the block among the lot's pure blocks. */
  readonly index: number;
  readonly releasedAtMs: number;
  /** Undefined for a lot without a commitment. */
  readonly commitment: BlockCommitment | undefined;
  /** Bytes of the block as it was claimed. */
  readonly size: number;
  /** The end of the block; its last `left` bytes are not drawn. The reader erases it after taking it. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  left: number;
}

/**
 * The bytes of the pure mode for one front: conditioned quantum bytes, each of which is handed out only once. All draws
 * come from a ring of claimed blocks that is filled ahead; large draws take whole blocks out of it. A claim is durable
 * before its first byte is used, so a crash loses the claimed blocks and never delivers a byte twice.
 */
export class PureSupply {
  readonly #store: EntropyStore;
  readonly #log: Log;
  /** The ring, oldest block first. One thread uses the list. */
  readonly #held: HeldBlock[] = [];
  /** How many blocks of the ring, from the oldest on, the reader has taken. */
  #opened = 0;
  /** Bytes of all blocks that are not drawn yet. */
  #available = 0;
  readonly #reader: EntropyReader;
  #refilling: Promise<boolean> | undefined;
  /** Ids of withdrawn lots. Blocks of them that are still being claimed are erased when they arrive. */
  readonly #withdrawn = new Set<string>();
  /** The lot of the block that was claimed last, kept because the blocks of a lot come one after the other. */
  #lot: LotRecord | undefined;
  #open = true;

  constructor(store: EntropyStore, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#reader = new EntropyReader(() => this.#nextBlock());
  }

  /** Returns how many bytes a draw can have at once. */
  available(): number {
    return this.#available;
  }

  /**
   * Draws at once from the ring; returns undefined if it holds fewer than `bytesMax` bytes. `use` must be synchronous.
   * It gets the lot that the draw begins with, and reads at most `bytesMax` bytes. What it reads is consumed even if it
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

  /** Erases the rest of a piece drawn in part: openings show whole pieces, so the next draw needs a new one. */
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
   * Takes whole blocks for one large draw out of the ring, which it fills beyond its size for that. Resolves to
   * undefined if the reservoir cannot give `bytes`. The caller owns and wipes the blocks, and gives back what it did
   * not read (`giveBack`).
   */
  async claim(bytes: number): Promise<HeldBlock[] | undefined> {
    const missing = bytes - this.#spareBytes();
    if (this.#open && missing > 0 && (await this.#store.blockLevels()).pure.bytes < missing) return undefined;
    let isMore = true;
    while (isMore && this.#open && this.#spareBytes() < bytes + SMALL_DRAWS_BYTES) {
      isMore = await this.#refill(bytes + RING_BYTES);
    }
    // Another front may have been faster. Small draws use what was claimed.
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

  /** Returns how many bytes lie in blocks that the reader has not taken. */
  #spareBytes(): number {
    return leftOf(this.#held.slice(this.#opened));
  }

  /**
   * Takes back the unread ends of blocks that a large draw claimed, for later draws. Erases the rest of a piece that
   * was read in part, and everything if the supply is closed or the lot was withdrawn meanwhile. The supply owns the
   * memory from now on.
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
   * Waits until the ring holds `bytes`; resolves to false if the reservoir cannot give them. Another draw may still be
   * faster: then the caller calls again.
   */
  async fill(bytes: number): Promise<boolean> {
    while (this.#open && !this.#has(bytes)) {
      if (!(await this.#refill(bytes))) break;
    }
    return this.#has(bytes);
  }

  /** Returns whether the ring has the bytes. It must hold a block even for a draw of 0 bytes, which names a lot too. */
  #has(bytes: number): boolean {
    return this.#open && this.#held.length > 0 && this.#available >= bytes;
  }

  /** Returns whether a draw of this size fits the ring. Larger ones use `claim`. */
  static fitsRing(bytes: number): boolean {
    return bytes <= REFILL_BYTES;
  }

  keepFilled(): void {
    const isFull = this.#available > SMALL_DRAWS_BYTES;
    if (!this.#open || this.#refilling !== undefined || isFull) return;
    this.#refill(0).catch((error: unknown) => {
      const reason = messageOf(error);
      this.#log.error({ reason }, 'could not refill the entropy for pure mode; trying again');
    });
  }

  /** Erases the whole ring if it holds bytes of these withdrawn lots, with the bytes of other lots in it. */
  withdraw(lotIds: ReadonlySet<string>): void {
    for (const id of lotIds) this.#withdrawn.add(id);
    if (this.#held.some(({ lot }) => lotIds.has(lot.id))) this.#eraseHeld();
  }

  /** Ends the supply, when the sources are closed: nothing more is drawn, and the ring is erased. */
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

  /** Claims blocks, so that the ring holds `bytes` if the reservoir has them. Resolves to whether any came. */
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
   * Claims up to `max` blocks. Erases those that cannot be used: the supply was closed or the lot withdrawn meanwhile,
   * the lot has no record, or the block is not what the lot committed to.
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

  /** Resolves to the block's commitment; undefined for a block that is not what its lot committed to. */
  async #committed(lotId: string, { blockRoots }: LotCommitment, index: number, bytes: Uint8Array) {
    await nextTurn(); // hashing a block takes a millisecond
    const commitment = new BlockCommitment(bytes);
    const hashes = Buffer.from(blockRoots, 'base64').subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);
    if (hashes.equals(commitment.tree.root)) return commitment;
    commitment.erase();
    this.#log.error(
      { lot: lotId, block: index },
      'erased a block that is not what its lot had committed to: run `qrn ledger audit`',
    );
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

  /** Takes the next `consumed` bytes off the ring's account. Returns them as shares of their lots. */
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

/** Adds the next bytes of the block to the shares, or to the last share if they follow it directly. */
function addShare(shares: LotShare[], block: HeldBlock, bytes: number): void {
  const { lot, index, size, left, releasedAtMs } = block;
  const offset = index * PURE_BLOCK_BYTES + size - left;
  const last = shares.at(-1);
  if (last?.lot.id === lot.id && last.offset + last.bytes === offset) {
    shares[shares.length - 1] = { ...last, bytes: last.bytes + bytes };
  } else shares.push({ lot, offset, bytes, releasedAtMs });
}

/** Returns the shares of a large draw that consumed so many bytes of these blocks, in order and in whole pieces. */
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
