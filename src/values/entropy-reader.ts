import { assert } from '../core/assert.ts';
import { copyBytes, eraseBytes, giveBack, secretCopy } from '../core/bytes.ts';

const EMPTY = new Uint8Array(0);

/**
 * Hands out uniformly random bytes, each once, from chunks that it requests as it needs them. The output is the
 * concatenation of the chunks and does not depend on where one chunk ends and the next begins.
 *
 * The reader owns a chunk once `refill` has returned it. It zeroes a chunk when it moves on to the next one, and returns
 * the memory of a large one to the system. A read is all or nothing: it obtains all chunks that it needs before it
 * consumes a byte. So if `refill` throws, nothing has changed, and the caller may repeat the read.
 */
export class EntropyReader {
  readonly #refill: () => Uint8Array<ArrayBuffer>;
  #chunk: Uint8Array<ArrayBuffer> = EMPTY;
  #view: DataView = new DataView(EMPTY.buffer);
  #at = 0;
  /** All bytes of the chunk before this index are zero. */
  #erasedTo = 0;
  /** Count of bytes in the chunks before the current one. */
  #bytesBefore = 0;
  /** Chunks drawn for a read that reaches beyond the current one. */
  readonly #ahead: Uint8Array<ArrayBuffer>[] = [];

  /** `refill` returns the next chunk, never empty. */
  constructor(refill: () => Uint8Array<ArrayBuffer>) {
    this.#refill = refill;
  }

  /** Bytes handed out so far. */
  get consumedBytes(): number {
    return this.#bytesBefore + this.#at;
  }

  /** Returns how many bytes of the current chunk are left: reads of up to this many request no other chunk. */
  remaining(): number {
    return this.#chunk.length - this.#at;
  }

  /** Returns the next four bytes as an integer below 2^32, little-endian. */
  u32(): number {
    const at = this.#at;
    if (at + 4 > this.#chunk.length) return this.#u32AcrossChunks();
    this.#at = at + 4;
    return this.#view.getUint32(at, true);
  }

  /** Writes the next bytes to `out` from `start` to `end`, by default to the whole array. */
  fill(out: Uint8Array, start = 0, end = out.length): void {
    this.#gather(end - start);
    let done = start;
    while (done < end) {
      if (this.#at === this.#chunk.length) this.#leaveChunk();
      const size = Math.min(end - done, this.#chunk.length - this.#at);
      copyBytes(this.#chunk, this.#at, out, done, size);
      this.#at += size;
      done += size;
    }
  }

  /** Zeroes the bytes of the current chunk that were read. Earlier chunks are zero already. */
  erase(): void {
    eraseBytes(this.#chunk, this.#erasedTo, this.#at);
    this.#erasedTo = this.#at;
  }

  /**
   * Erases all bytes in its memory, read or not; the next read begins with a fresh chunk. It serves the end of a stream,
   * and bytes of a seed that must not be used any more. `consumedBytes` does not change, because nothing is handed out.
   */
  discard(): void {
    this.#chunk.fill(0, this.#erasedTo);
    for (const chunk of this.#ahead) chunk.fill(0);
    giveBack(this.#chunk, ...this.#ahead);
    this.#ahead.length = 0;
    this.#bytesBefore += this.#at;
    this.#open(EMPTY);
  }

  /**
   * Ends the reader and returns the unread bytes, in order, each array in memory of its own. Erases what
   * was read and the memory that held the unread bytes.
   */
  takeRest(): Uint8Array<ArrayBuffer>[] {
    const rest = [this.#chunk.subarray(this.#at), ...this.#ahead]
      .filter(({ length }) => length > 0)
      .map((bytes) => secretCopy(bytes));
    this.discard();
    return rest;
  }

  #u32AcrossChunks(): number {
    this.#gather(4);
    const low = this.#byte() | (this.#byte() << 8);
    return (low | (this.#byte() << 16) | (this.#byte() << 24)) >>> 0;
  }

  #byte(): number {
    if (this.#at === this.#chunk.length) this.#leaveChunk();
    return this.#chunk[this.#at++];
  }

  /** Requests chunks until `size` unread bytes are in memory; consumes nothing. */
  #gather(size: number): void {
    let held = this.#chunk.length - this.#at;
    if (held >= size) return;
    for (const chunk of this.#ahead) held += chunk.length;
    while (held < size) {
      const chunk = this.#refill();
      assert(chunk.length > 0, 'a refill is never empty');
      this.#ahead.push(chunk);
      held += chunk.length;
    }
  }

  /** Erases the chunk, which was read to its end, and moves on to the next. */
  #leaveChunk(): void {
    const next = this.#ahead.shift();
    assert(next !== undefined, 'a read obtains its chunks before it begins');
    this.erase();
    this.#bytesBefore += this.#chunk.length;
    giveBack(this.#chunk);
    this.#open(next);
  }

  #open(chunk: Uint8Array<ArrayBuffer>): void {
    this.#chunk = chunk;
    this.#view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#at = 0;
    this.#erasedTo = 0;
  }
}
