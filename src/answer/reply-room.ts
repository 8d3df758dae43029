/** Room for some hundred small answers; larger ones get a chunk of their own. */
const CHUNK_BYTES = 256 * 1024;
/** Chunks kept for the next windows; a burst may use more for a while. */
const SPARE_CHUNKS_MAX = 8;

/**
 * Memory for the answers of one commit window, cut from chunks that are used again: answers wait for the disk, and an
 * allocation each would be the collector's main work. A chunk is erased before it is used again: it held values and
 * salts.
 */
export class ReplyRoom {
  #spare: Uint8Array<ArrayBuffer>[] = [];
  #window: { chunk: Uint8Array<ArrayBuffer>; used: number }[] = [];
  /** Of the open window, and of all that were not given back. */
  #windowTaken = 0;
  #windowHeld = 0;
  #taken = 0;
  #held = 0;

  /** Memory of the answers that wait here. */
  get takenBytes(): number {
    return this.#taken;
  }

  /** Memory of all answers that wait, those that came with their own included. */
  get bytes(): number {
    return this.#taken + this.#held;
  }

  /** `size` bytes that are the caller's until its window is given back. All zero. Bound, so that it can be passed on. */
  readonly take = (size: number): Uint8Array<ArrayBuffer> => {
    let last = this.#window.at(-1);
    if (last === undefined || last.used + size > last.chunk.length) {
      const chunk =
        size > CHUNK_BYTES ? new Uint8Array(size) : (this.#spare.pop() ?? new Uint8Array(CHUNK_BYTES));
      last = { chunk, used: 0 };
      this.#window.push(last);
    }
    const start = last.used;
    last.used += (size + 7) & ~7;
    this.#windowTaken += size;
    this.#taken += size;
    return last.chunk.subarray(start, start + size);
  };

  /** Counts the memory of an answer that came with its own. */
  hold(size: number): void {
    this.#windowHeld += size;
    this.#held += size;
  }

  /** Ends the window; call what it returns when all its answers have left. */
  closeWindow(): () => void {
    const window = this.#window;
    const taken = this.#windowTaken;
    const held = this.#windowHeld;
    this.#window = [];
    this.#windowTaken = 0;
    this.#windowHeld = 0;
    return () => {
      this.#taken -= taken;
      this.#held -= held;
      for (const { chunk, used } of window) {
        chunk.fill(0, 0, Math.min(used, chunk.length));
        if (chunk.length === CHUNK_BYTES && this.#spare.length < SPARE_CHUNKS_MAX) this.#spare.push(chunk);
      }
    };
  }
}
