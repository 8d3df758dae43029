import { assert } from '../core/assert.ts';
import { copyBytes, eraseBytes, giveBack, secretCopy } from '../core/bytes.ts';

const EMPTY = new Uint8Array(0);

/**
 * Hands out uniformly random bytes, each once, from chunks that it asks for when it needs them. What is read
 * is the concatenation of the chunks: no output depends on where one chunk ends and the next begins.
 *
 * A chunk belongs to the reader from the moment `refill` returns it. When it is left behind it is zeroed, and the memory of a large
 * one is given back to the system. A read is all or nothing: every chunk it needs is at hand before its first byte counts as read, so when
 * `refill` throws the reader stands where it stood, and the same read may be tried again.
 */
export class EntropyReader {
  readonly #refill: () => Uint8Array<ArrayBuffer>;
  #chunk: Uint8Array<ArrayBuffer> = EMPTY;
  #view: DataView = new DataView(EMPTY.buffer);
  #at = 0;
  /** Everything of the chunk before this is zero. */
  #erasedTo = 0;
  /** Bytes of the chunks that were left behind. */
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

  /** Bytes left of the current chunk: reads of up to this many ask for no other. */
  remaining(): number {
    return this.#chunk.length - this.#at;
  }

  /** The next four bytes as a whole number below 2^32, little-endian. */
  u32(): number {
    const at = this.#at;
    if (at + 4 > this.#chunk.length) return this.#u32AcrossChunks();
    this.#at = at + 4;
    return this.#view.getUint32(at, true);
  }

  /** Writes the next bytes to `out` from `start` to `end`, by default to all of it. */
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

  /** Zeroes everything of the current chunk that was read. Chunks before it are zero already. */
  erase(): void {
    eraseBytes(this.#chunk, this.#erasedTo, this.#at);
    this.#erasedTo = this.#at;
  }

  /**
   * Erases every byte at hand, read or not; the next read begins with a fresh chunk. For the end of a stream,
   * and for bytes of a seed that must not be used any more. `consumedBytes` counts what was handed out, so it
   * stands still.
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
   * Ends the reader: the bytes at hand that nobody has read, in order, each array in memory of its own. What
   * was read is erased, and so is the memory that the rest was in.
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

  /** Draws chunks until `size` bytes are at hand; changes nothing that was read or is to be read. */
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

  /** Erases the chunk, which was read to its end, and goes on to the next. */
  #leaveChunk(): void {
    const next = this.#ahead.shift();
    assert(next !== undefined, 'the chunks of a read are gathered before it');
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
