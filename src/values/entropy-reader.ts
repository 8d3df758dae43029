import { assert } from '../core/assert.ts';

const EMPTY = new Uint8Array(0);

/**
 * Hands out uniformly random bytes, each once, from chunks that it asks for when it needs them. What is read is the
 * concatenation of the chunks: no output depends on where one chunk ends and the next begins.
 *
 * A chunk belongs to the reader from the moment `refill` returns it, and is zeroed when it is left behind. A read is
 * all or nothing: every chunk it needs is at hand before its first byte counts as read, so when `refill` throws the
 * reader stands where it stood, and the same read may be tried again.
 */
export class EntropyReader {
  readonly #refill: () => Uint8Array;
  #chunk: Uint8Array = EMPTY;
  #view: DataView = new DataView(EMPTY.buffer);
  #at = 0;
  /** Everything of the chunk before this is zero. */
  #erasedTo = 0;
  /** Bytes of the chunks that were left behind. */
  #bytesBefore = 0;
  /** Chunks drawn for a read that reaches beyond the current one. */
  readonly #ahead: Uint8Array[] = [];

  /** `refill` returns the next chunk, never empty. */
  constructor(refill: () => Uint8Array) {
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

  /** Writes the next `count` words (see `u32`) to `out` from `start` on: a word costs a third of what `u32` takes. */
  fillWords(out: Uint32Array, start: number, count: number): void {
    this.#gather(4 * count);
    const end = start + count;
    let done = start;
    while (done < end) {
      const view = this.#view;
      let at = this.#at;
      const runEnd = Math.min(end, done + ((this.#chunk.length - at) >>> 2));
      for (; done < runEnd; done++, at += 4) out[done] = view.getUint32(at, true);
      this.#at = at;
      if (done < end) out[done++] = this.u32();
    }
  }

  /**
   * Writes `count` whole numbers, each of the next `4 + highBytes` bytes, little-endian, to `out` from `start` on. They
   * are below 2^40, 2^48 or 2^53: of seven bytes the three topmost bits are dropped, because a double counts exactly
   * only to 2^53.
   */
  fillWide(out: Float64Array, start: number, count: number, highBytes: 1 | 2 | 3): void {
    const size = 4 + highBytes;
    const highMask = highBytes === 3 ? 0x1f_ffff : highBytes === 2 ? 0xffff : 0xff;
    this.#gather(size * count);
    const end = start + count;
    let done = start;
    while (done < end) {
      const view = this.#view;
      let at = this.#at;
      // Two words are looked at and only `size` bytes taken, so the last of a chunk is read bytewise.
      for (const last = this.#chunk.length - 8; done < end && at <= last; done++, at += size) {
        out[done] = (view.getUint32(at + 4, true) & highMask) * 2 ** 32 + view.getUint32(at, true);
      }
      this.#at = at;
      if (done < end) out[done++] = this.#wide(highBytes, highMask);
    }
  }

  /** Fills `out` with the next bytes. */
  fill(out: Uint8Array): void {
    this.#gather(out.length);
    let done = 0;
    while (done < out.length) {
      if (this.#at === this.#chunk.length) this.#leaveChunk();
      const size = Math.min(out.length - done, this.#chunk.length - this.#at);
      out.set(this.#chunk.subarray(this.#at, this.#at + size), done);
      this.#at += size;
      done += size;
    }
  }

  /** Zeroes everything of the current chunk that was read. Chunks before it are zero already. */
  erase(): void {
    this.#chunk.fill(0, this.#erasedTo, this.#at);
    this.#erasedTo = this.#at;
  }

  /**
   * Erases every byte at hand, read or not; the next read begins with a fresh chunk. For the end of a stream, and for
   * bytes of a seed that must not be used any more. `consumedBytes` counts what was handed out, so it stands still.
   */
  discard(): void {
    this.#chunk.fill(0, this.#erasedTo);
    for (const chunk of this.#ahead) chunk.fill(0);
    this.#ahead.length = 0;
    this.#bytesBefore += this.#at;
    this.#open(EMPTY);
  }

  #u32AcrossChunks(): number {
    this.#gather(4);
    const low = this.#byte() | (this.#byte() << 8);
    return (low | (this.#byte() << 16) | (this.#byte() << 24)) >>> 0;
  }

  #wide(highBytes: number, highMask: number): number {
    const low = this.u32();
    let high = 0;
    for (let i = 0; i < highBytes; i++) high |= this.#byte() << (8 * i);
    return (high & highMask) * 2 ** 32 + low;
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
    this.#open(next);
  }

  #open(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#at = 0;
    this.#erasedTo = 0;
  }
}
