import { assert } from '../core/assert.ts';
import { giveBack } from '../core/bytes.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';

/** Small answers share chunks of this size, a few hundred to a chunk. */
const CHUNK_BYTES = 256 * 1024;
/** Empty chunks that are kept for later answers. A burst may use more chunks for a while. */
const SPARE_CHUNKS_MAX = 8;

/** The smallest buffer of a large answer: about the size at which answers count as large. */
const CAPACITY_MIN = 128 * 1024;
/** A larger buffer has exactly the size that was asked for, and is not kept for reuse. */
const CAPACITY_MAX = 8 * 1024 * 1024;
/** Bound on the unused memory that is kept: eight batches of 100,000 UUIDs. */
const SPARE_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Memory for one answer: `size` bytes of `bytes` from `start`, all zero at first. Its owner releases it once, when
 * nobody reads the answer any more. The release erases what was written, because it held values and a salt.
 */
export interface ReplyBuffer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly start: number;
  readonly size: number;
  release(): void;
}

/**
 * Owns the memory that answers are made in, and reuses it. With fresh memory for each answer, the garbage collector took 0.9
 * of the 2.3 ms of CPU that a batch of 100,000 small integers cost (bench `batch`), and the allocator kept fragments that it
 * could not merge.
 */
export class ReplyMemory {
  #chunk = new Chunk();
  readonly #spareChunks: Chunk[] = [];
  /** Unused buffers for large answers, the most recently used one last. */
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];
  #spareBytes = 0;
  #waitingBytes = 0;

  /** Bytes of small answers that are not released yet. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Bytes of the unused buffers that are kept for large answers. */
  get spareBytes(): number {
    return this.#spareBytes;
  }

  /** Throws 503 `overloaded` when the small answers that wait take too much memory. */
  assertRoom(): void {
    if (this.#waitingBytes >= LIMITS.pendingReplyBytesMax) {
      throw new ApiError('overloaded', { retryAfterS: 1 });
    }
  }

  /** Returns memory for an answer that this thread makes: a part of a shared chunk if it fits. */
  small(size: number): ReplyBuffer {
    if (size > CHUNK_BYTES) return this.adopt(new Uint8Array(size));
    if (!this.#chunk.fits(size)) this.#chunk = this.#spareChunks.pop() ?? new Chunk();
    this.#waitingBytes += size;
    return new Taken(this.#chunk.bytes, this.#chunk.enter(size), size, this.#leave, this.#chunk);
  }

  /** Takes over memory that was allocated elsewhere, and counts it among the small answers. */
  adopt(bytes: Uint8Array<ArrayBuffer>): ReplyBuffer {
    this.#waitingBytes += bytes.length;
    return new Taken(bytes, 0, bytes.length, this.#giveBack);
  }

  /** Returns zeroed memory to send to a worker that makes an answer: a whole array buffer, so that it can move. */
  forWorker(size: number): Uint8Array<ArrayBuffer> {
    const capacity = capacityFor(size);
    const place = this.#spare.findLastIndex(({ length }) => length === capacity);
    if (place < 0) return new Uint8Array(capacity);
    this.#spareBytes -= capacity;
    return this.#spare.splice(place, 1)[0];
  }

  /** Takes over the memory that a worker returned, with its first `used` bytes written. */
  large(bytes: Uint8Array<ArrayBuffer>, used: number): ReplyBuffer {
    return new Taken(bytes, 0, used, this.#keep);
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

  readonly #keep = ({ bytes, size }: Taken): void => {
    bytes.fill(0, 0, size);
    if (bytes.length > CAPACITY_MAX) {
      giveBack(bytes);
      return;
    }
    this.#spare.push(bytes);
    this.#spareBytes += bytes.length;
    while (this.#spareBytes > SPARE_BYTES_MAX) {
      const longestUnused = this.#spare.shift()!;
      this.#spareBytes -= longestUnused.length;
      giveBack(longestUnused);
    }
  };
}

/** Memory that small answers share. When the last of them leaves, it is erased and used again from its beginning. */
class Chunk {
  readonly bytes = new Uint8Array(CHUNK_BYTES);
  #used = 0;
  #answers = 0;

  fits(size: number): boolean {
    return this.#used + size <= CHUNK_BYTES;
  }

  /** Adds an answer, and returns the offset at which it starts. */
  enter(size: number): number {
    const start = this.#used;
    this.#used = Math.min(CHUNK_BYTES, (start + size + 7) & ~7);
    this.#answers++;
    return start;
  }

  /** Removes an answer. Returns true when that was the last one in the chunk. */
  leave(): boolean {
    if (--this.#answers > 0) return false;
    this.bytes.fill(0, 0, this.#used);
    this.#used = 0;
    return true;
  }
}

/** The memory of one answer: a part of a chunk, or a whole buffer. */
class Taken implements ReplyBuffer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly start: number;
  readonly size: number;
  readonly chunk: Chunk | undefined;
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

  release(): void {
    const released = this.#released;
    assert(released !== undefined, 'the memory of an answer is released once');
    this.#released = undefined;
    released(this);
  }
}

/**
 * Returns the capacity of a buffer: the next power of two, so that a few sizes serve all answers. The pages behind the
 * answer are never touched, so they take no physical memory.
 */
function capacityFor(size: number): number {
  return size > CAPACITY_MAX ? size : Math.max(CAPACITY_MIN, 2 ** Math.ceil(Math.log2(size)));
}
