import { assert } from '../../core/assert.ts';
import { secretBytes, wipe } from '../../core/bytes.ts';
import { seedKey } from '../../crypto/digest.ts';
import { Expander, expandOnce, expandPiece, PIECE_OUTPUT_BYTES } from '../../crypto/expander.ts';
import { expandSystemEntropy, fillSystemEntropy } from '../../crypto/system-entropy.ts';
import { EntropyReader } from '../../values/entropy-reader.ts';
import { createRingMemory, type RingMemory, SlotRing } from './ring.ts';

/** The size at which expansion is fastest (bench `expand`). */
export const KEYSTREAM_SLOT_BYTES = PIECE_OUTPUT_BYTES;
const KEYSTREAM_SLOTS = 8;
/** A refill is asked for when this many slots or fewer are filled. */
const REFILL_AT_SLOTS = KEYSTREAM_SLOTS / 2;

/** What a worker needs to fill a ring: a one-time key, and nothing else that is secret. */
export interface RefillOrder {
  readonly memory: RingMemory;
  readonly key: Uint8Array<ArrayBuffer>;
  readonly slots: number;
  readonly tag: number;
}

/**
 * Fills up to `order.slots` slots from the one-time key, then erases the key. Runs in a worker. Returns how
 * many.
 */
export function fillRing(order: RefillOrder): number {
  const ring = new SlotRing(order.memory);
  const stream = new Expander(order.key);
  wipe(order.key);
  let filled = 0;
  for (; filled < order.slots; filled++) {
    const slot = ring.reserve();
    if (slot === undefined) break;
    const key = stream.deriveKey();
    expandOnce(key, slot, 'system');
    wipe(key);
    ring.publish(order.tag);
  }
  stream.erase();
  return filled;
}

/**
 * The seeded mode's bytes for one seed group in one front thread. The group's root DRBG key lives here only;
 * each refill and each worker task gets a one-time key derived from it, so no task can see another's bytes,
 * before or after. Every holder compares the generation: bytes of an older seed are erased unread.
 */
export class SeededKeystream {
  readonly reader: EntropyReader;
  readonly memory: RingMemory;
  readonly #ring: SlotRing;
  readonly #order: (order: RefillOrder) => Promise<unknown>;
  #root: Expander | undefined;
  /**
   * Tag of slots: counts the seeds of this stream. It wraps after 2^32 of them, the ring holds slots of the
   * last few.
   */
  #tag = 0;
  #refilling = false;
  #closed = false;

  /** `order` passes a refill to a worker; a rejection means that it did not happen. */
  constructor(order: (order: RefillOrder) => Promise<unknown>) {
    this.memory = createRingMemory(KEYSTREAM_SLOTS, KEYSTREAM_SLOT_BYTES);
    this.#ring = new SlotRing(this.memory);
    this.#order = order;
    this.reader = new EntropyReader(() => this.#nextChunk());
  }

  get seeded(): boolean {
    return this.#root !== undefined;
  }

  /**
   * Takes a new quantum seed: key = HKDF(seed ‖ 32 bytes of system entropy ‖ previous key). Bytes expanded
   * from the old seed and not handed out yet are erased. The caller wipes `quantumSeed`. A closed stream
   * takes no seed: one may be on its way when the service stops.
   */
  reseed(quantumSeed: Uint8Array): void {
    if (this.#closed) return;
    const system = fillSystemEntropy(secretBytes(32));
    const previous = this.#root?.deriveKey() ?? null;
    this.#root?.erase();
    const key = seedKey(quantumSeed, system, previous);
    this.#root = new Expander(key);
    wipe(key, system);
    if (previous !== null) wipe(previous);
    this.#dropUnread();
    this.#keepFilled();
  }

  /** A one-time key for a worker that expands a large answer. */
  oneTimeKey(): Uint8Array<ArrayBuffer> {
    assert(this.#root !== undefined, 'a keystream is drawn from only after it is seeded');
    return this.#root.deriveKey();
  }

  /** Ends the use of this seed: nothing can be drawn until the next `reseed`. */
  erase(): void {
    this.#root?.erase();
    this.#root = undefined;
    this.#dropUnread();
  }

  /** Ends the stream for good. */
  close(): void {
    this.#closed = true;
    this.erase();
  }

  #nextChunk(): Uint8Array {
    assert(this.#root !== undefined, 'a keystream is drawn from only after it is seeded');
    this.#dropStale();
    const slot = this.#ring.peek();
    if (slot === undefined) return this.#expandHere();
    const chunk = new Uint8Array(slot); // the reader's own copy: it may look ahead of what it has read
    this.#ring.release();
    this.#keepFilled();
    return chunk;
  }

  /** The workers are behind (a cold start or a burst): this thread expands one piece itself. */
  #expandHere(): Uint8Array {
    const key = this.oneTimeKey();
    const piece = expandPiece(key, 'system');
    wipe(key);
    this.#keepFilled();
    return piece;
  }

  /** Erases what was expanded and not handed out. A refill under way goes on with the old tag. */
  #dropUnread(): void {
    this.#tag = (this.#tag + 1) | 0;
    this.reader.discard();
    this.#dropStale();
  }

  #dropStale(): void {
    while (this.#ring.filled() > 0 && this.#ring.tag() !== this.#tag) this.#ring.release();
  }

  #keepFilled(): void {
    if (this.#refilling || this.#closed || this.#root === undefined) return;
    const filled = this.#ring.filled();
    if (filled > REFILL_AT_SLOTS) return;
    this.#refilling = true;
    const tag = this.#tag;
    const key = this.oneTimeKey();
    const settled = (isDone: boolean) => {
      wipe(key); // not before: a queued order is copied to its worker only when one is free
      this.#refilling = false;
      if (tag === this.#tag) return;
      this.#dropStale(); // the seed changed or ended meanwhile
      // After a failure the next draw asks again: here it could turn in circles.
      if (isDone) this.#keepFilled();
    };
    this.#order({ memory: this.memory, key, slots: KEYSTREAM_SLOTS - filled, tag }).then(
      () => settled(true),
      () => settled(false),
    );
  }
}

/** The csprng mode's bytes: system entropy in pieces, each expanded from a fresh kernel key. One per front thread. */
export class SystemStream {
  readonly reader: EntropyReader;

  constructor() {
    this.reader = new EntropyReader(() => expandSystemEntropy(KEYSTREAM_SLOT_BYTES));
  }
}
