import { assert } from '../core/assert.ts';
import { giveBack } from '../core/bytes.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';

/** Small answers share chunks of this size: some hundred of them each. */
const CHUNK_BYTES = 256 * 1024;
/** Chunks kept for the next answers; a burst may use more for a while. */
const SPARE_CHUNKS_MAX = 8;

/** Large answers start about here: the smallest capacity that is given out. */
const CAPACITY_MIN = 128 * 1024;
/** Memory above this is made as large as asked for, and never kept. */
const CAPACITY_MAX = 8 * 1024 * 1024;
/** Eight batches of 100,000 UUIDs. Memory that waits unused never exceeds this. */
const SPARE_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Memory for one answer: `size` bytes from `start`, all zero when taken. Its owner releases it once, when
 * nobody reads the answer any more; then what was written is erased, since it held values and a salt.
 */
export interface ReplyBuffer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly start: number;
  readonly size: number;
  release(): void;
}

/** The memory of a large answer travels to a worker and back, and is another object when it returns. */
export interface MovableBuffer extends ReplyBuffer {
  /** Takes the memory back as the worker returned it, with its first `used` bytes written. */
  returned(bytes: Uint8Array<ArrayBuffer>, used: number): void;
}

/**
 * The one owner of the memory that answers are made in. Fresh memory for each answer would be the garbage collector's
 * main work: for large answers it took 0.9 of the 2.3 ms of CPU that a batch of 100,000 small integers cost
 * (bench `batch`), and the allocator keeps what it cannot join.
 */
export class ReplyMemory {
  #chunk = new Chunk();
  readonly #spareChunks: Chunk[] = [];
  /** The memory that was used last at the end. */
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];
  #spareBytes = 0;
  #waitingBytes = 0;

  /** Bytes of small answers that are not released yet. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Bytes of memory for large answers that wait to be used again. */
  get spareBytes(): number {
    return this.#spareBytes;
  }

  /** Throws 503 `overloaded` when the small answers that wait take too much memory. */
  assertRoom(): void {
    if (this.#waitingBytes >= LIMITS.pendingReplyBytesMax) {
      throw new ApiError('overloaded', { retryAfterS: 1 });
    }
  }

  /** Memory for an answer that this thread makes, cut from a shared chunk where it fits. */
  small(size: number): ReplyBuffer {
    if (size > CHUNK_BYTES) return this.adopt(new Uint8Array(size));
    if (!this.#chunk.fits(size)) this.#chunk = this.#spareChunks.pop() ?? new Chunk();
    this.#waitingBytes += size;
    return new Taken(this.#chunk.bytes, this.#chunk.enter(size), size, this.#leave, this.#chunk);
  }

  /** Counts memory that an answer came with as if it had been taken here. */
  adopt(bytes: Uint8Array<ArrayBuffer>): ReplyBuffer {
    this.#waitingBytes += bytes.length;
    return new Taken(bytes, 0, bytes.length, this.#giveBack);
  }

  /** Memory for an answer that a worker makes: an array buffer of its own, so that it can move. */
  large(size: number): MovableBuffer {
    const capacity = capacityFor(size);
    const spare = this.#spare.findLast(({ length }) => length === capacity);
    if (spare !== undefined) {
      this.#spare.splice(this.#spare.indexOf(spare), 1);
      this.#spareBytes -= capacity;
    }
    return new Taken(spare ?? new Uint8Array(capacity), 0, capacity, this.#keep);
  }

  readonly #leave = ({ chunk, size }: Taken): void => {
    this.#waitingBytes -= size;
    if (!chunk!.leave() || chunk === this.#chunk) return;
    if (this.#spareChunks.length < SPARE_CHUNKS_MAX) this.#spareChunks.push(chunk!);
  };

  readonly #giveBack = ({ bytes, size }: Taken): void => {
    this.#waitingBytes -= size;
    bytes.fill(0);
    giveBack(bytes);
  };

  readonly #keep = ({ bytes: memory, used }: Taken): void => {
    const capacity = memory.length;
    if (capacity === 0) return; // a worker failed with it
    memory.fill(0, 0, used);
    if (capacity > CAPACITY_MAX) {
      giveBack(memory);
      return;
    }
    this.#spare.push(memory);
    this.#spareBytes += capacity;
    while (this.#spareBytes > SPARE_BYTES_MAX) {
      const longestUnused = this.#spare.shift()!;
      this.#spareBytes -= longestUnused.length;
      giveBack(longestUnused);
    }
  };
}

/** Erased and used from its beginning again as soon as no answer in it is left. */
class Chunk {
  readonly bytes = new Uint8Array(CHUNK_BYTES);
  #used = 0;
  #answers = 0;

  fits(size: number): boolean {
    return this.#used + size <= CHUNK_BYTES;
  }

  /** Where the next answer starts. */
  enter(size: number): number {
    const start = this.#used;
    this.#used = Math.min(CHUNK_BYTES, (start + size + 7) & ~7);
    this.#answers++;
    return start;
  }

  /** True when that was the last answer in it. */
  leave(): boolean {
    if (--this.#answers > 0) return false;
    this.bytes.fill(0, 0, this.#used);
    this.#used = 0;
    return true;
  }
}

/** Memory that an answer has: a part of a chunk, or all of its own, of which nobody else can use the rest. */
class Taken implements MovableBuffer {
  bytes: Uint8Array<ArrayBuffer>;
  readonly start: number;
  readonly size: number;
  readonly chunk: Chunk | undefined;
  /** Of memory of its own: the bytes that were written by a worker. */
  used = 0;
  #released: ((taken: Taken) => void) | undefined;

  constructor(
    bytes: Uint8Array<ArrayBuffer>,
    start: number,
    size: number,
    released: (taken: Taken) => void,
    chunk?: Chunk,
  ) {
    this.bytes = bytes;
    this.start = start;
    this.size = size;
    this.chunk = chunk;
    this.#released = released;
  }

  returned(bytes: Uint8Array<ArrayBuffer>, used: number): void {
    this.bytes = bytes;
    this.used = used;
  }

  release(): void {
    const released = this.#released;
    assert(released !== undefined, 'the memory of an answer is released once');
    this.#released = undefined;
    released(this);
  }
}

/**
 * The next power of two, so that few sizes serve all answers; of what lies behind an answer no page is ever
 * touched.
 */
function capacityFor(size: number): number {
  return size > CAPACITY_MAX ? size : Math.max(CAPACITY_MIN, 2 ** Math.ceil(Math.log2(size)));
}
