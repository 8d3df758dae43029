import { assert } from '../../core/assert.ts';

/**
 * A ring of fixed-size slots in shared memory: one producer thread, one consumer thread, roles never swap
 * while the ring lives (the producer's role may pass from one worker to the next when the first is done).
 * A slot is full or empty, and a full one has a tag: which seed its bytes belong to. The consumer erases a slot before it
 * gives it back, so that what was handed out exists nowhere in the ring.
 *
 * Shared words (Int32): 0 = slots ever published, 1 = slots ever released, then the tag of each slot. Counters only grow
 * and wrap together at 2^32; their difference is what counts. The producer stores bytes, then the tag, then the published
 * count (Atomics.store is sequentially consistent), so a consumer that sees the count sees the bytes. A counter seen from
 * the other side may be late, never early: a ring may look emptier to its consumer and fuller to its producer than it is.
 */
export interface RingMemory {
  readonly control: SharedArrayBuffer;
  readonly slots: SharedArrayBuffer;
  readonly slotBytes: number;
}

const PUBLISHED = 0;
const RELEASED = 1;
const FIRST_TAG = 2;

export function createRingMemory(slotCount: number, slotBytes: number): RingMemory {
  assert(slotBytes >= 1, 'a slot has at least one byte');
  // Else the slot that a counter names would jump when the counter wraps: 2^32 is not a multiple of the slot
  // count.
  assert(slotCount >= 1 && (slotCount & (slotCount - 1)) === 0, 'a ring has a power of two of slots');
  return {
    control: new SharedArrayBuffer(4 * (FIRST_TAG + slotCount)),
    slots: new SharedArrayBuffer(slotCount * slotBytes),
    slotBytes,
  };
}

export class SlotRing {
  readonly slotCount: number;
  readonly #control: Int32Array;
  readonly #slots: Uint8Array[];

  constructor(memory: RingMemory) {
    this.slotCount = memory.slots.byteLength / memory.slotBytes;
    this.#control = new Int32Array(memory.control);
    this.#slots = Array.from(
      { length: this.slotCount },
      (_, i) => new Uint8Array(memory.slots, i * memory.slotBytes, memory.slotBytes),
    );
  }

  /** Slots that hold bytes now. */
  filled(): number {
    return (Atomics.load(this.#control, PUBLISHED) - Atomics.load(this.#control, RELEASED)) | 0;
  }

  /** Producer: the next empty slot to write into, or undefined when the ring is full. */
  reserve(): Uint8Array | undefined {
    if (this.filled() >= this.slotCount) return undefined;
    return this.#slots[(this.#control[PUBLISHED] >>> 0) % this.slotCount];
  }

  /** Producer: hands the reserved slot over. */
  publish(tag: number): void {
    const published = this.#control[PUBLISHED];
    this.#control[FIRST_TAG + ((published >>> 0) % this.slotCount)] = tag;
    Atomics.store(this.#control, PUBLISHED, (published + 1) | 0);
  }

  /** Consumer: the oldest filled slot, or undefined when the ring is empty. The same until `release`. */
  peek(): Uint8Array | undefined {
    return this.filled() <= 0 ? undefined : this.#slots[this.#tail()];
  }

  /** Consumer: the tag of the slot that `peek` shows. */
  tag(): number {
    return this.#control[FIRST_TAG + this.#tail()];
  }

  /** Consumer: erases the oldest slot and gives it back to the producer. */
  release(): void {
    assert(this.filled() > 0, 'only a filled slot is released');
    this.#slots[this.#tail()].fill(0);
    Atomics.store(this.#control, RELEASED, (this.#control[RELEASED] + 1) | 0);
  }

  #tail(): number {
    return (this.#control[RELEASED] >>> 0) % this.slotCount;
  }
}
