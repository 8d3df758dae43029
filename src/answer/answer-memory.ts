/** Answers are large from about here on; the smallest capacity that is given out. */
const CAPACITY_MIN = 128 * 1024;
/** Above this the memory is as large as asked for, and nobody keeps it. */
const CAPACITY_MAX = 8 * 1024 * 1024;
/** Eight batches of 100,000 UUIDs. What nobody uses is not more than this. */
const SPARE_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Memory of large answers, used again: it goes to a worker with the order, comes back with the answer, and is spare when
 * the answer has left. Fresh memory for each answer would have the engine collect garbage ten times a second under load,
 * which took 0.9 of 2.3 ms of CPU that a batch of 100,000 small integers cost (bench `batch`), and the allocator keep what
 * it cannot join.
 */
export class AnswerMemory {
  readonly #spare = new Map<number, Uint8Array<ArrayBuffer>[]>();
  #spareBytes = 0;

  /** Bytes that wait for the next answers. */
  get spareBytes(): number {
    return this.#spareBytes;
  }

  /** At least `size` bytes, all zero. */
  take(size: number): Uint8Array<ArrayBuffer> {
    const capacity = capacityFor(size);
    const spare = this.#spare.get(capacity)?.pop();
    if (spare === undefined) return new Uint8Array(capacity);
    this.#spareBytes -= capacity;
    return spare;
  }

  /** Takes memory back whole. Its first `used` bytes are erased: they held values and a salt. */
  give(memory: Uint8Array<ArrayBuffer>, used: number): void {
    memory.fill(0, 0, used);
    const capacity = memory.length;
    if (capacity > CAPACITY_MAX || this.#spareBytes + capacity > SPARE_BYTES_MAX) return;
    const spare = this.#spare.get(capacity);
    if (spare === undefined) this.#spare.set(capacity, [memory]);
    else spare.push(memory);
    this.#spareBytes += capacity;
  }
}

/** The next power of two, so that few sizes serve all answers; of what lies behind an answer no page is ever touched. */
function capacityFor(size: number): number {
  return size > CAPACITY_MAX ? size : Math.max(CAPACITY_MIN, 2 ** Math.ceil(Math.log2(size)));
}
