/** Fetches at least one fresh byte. The reservoir then owns the array. */
export type ByteSource = (signal: AbortSignal) => Promise<Uint8Array>;

/**
 * Holds bytes that were fetched ahead. It hands out each byte once and erases its own copy. When fewer than `lowBytes`
 * are left, it starts the next refill. A draw that needs more bytes than there are waits for the refill, and fails when
 * the refill fails.
 */
export class ByteReservoir {
  readonly #source: ByteSource;
  readonly #lowBytes: number;
  readonly #pieces: Uint8Array[] = [];
  /** The offset of the next byte in the first piece. */
  #at = 0;
  #available = 0;
  #refill: Promise<void> | undefined;
  /**
   * Whether the last refill failed. The next one then starts only when a draw needs it, so that the draw gets the
   * failure.
   */
  #refillFailed = false;
  readonly #closing = new AbortController();

  constructor(source: ByteSource, lowBytes: number) {
    this.#source = source;
    this.#lowBytes = lowBytes;
  }

  get available(): number {
    return this.#available;
  }

  /** Fills `target` and returns true; returns false and takes nothing when there are too few bytes. */
  tryTake(target: Uint8Array): boolean {
    if (this.#available < target.length) return false;
    this.#move(target, 0);
    return true;
  }

  /**
   * Fills `target`, and waits for as many refills as that needs. When one fails, fills `target` with zeros and rejects.
   */
  async take(target: Uint8Array): Promise<void> {
    let filled = 0;
    try {
      while ((filled = this.#move(target, filled)) < target.length) await this.#refilled();
    } catch (error) {
      target.fill(0);
      throw error;
    }
  }

  /** Erases all bytes and aborts a running refill. Every later draw fails. */
  close(): void {
    this.#closing.abort(new Error('This source of random values was closed.'));
    for (const piece of this.#pieces) piece.fill(0);
    this.#pieces.length = 0;
    this.#at = 0;
    this.#available = 0;
  }

  /** Moves bytes to `target` from offset `filled` on, as many as there are and fit; returns the offset after them. */
  #move(target: Uint8Array, filled: number): number {
    this.#closing.signal.throwIfAborted();
    let at = filled;
    while (at < target.length) {
      const piece = this.#pieces[0];
      if (piece === undefined) break;
      const end = Math.min(piece.length, this.#at + target.length - at);
      target.set(piece.subarray(this.#at, end), at);
      piece.fill(0, this.#at, end);
      at += end - this.#at;
      this.#at = end;
      if (end < piece.length) continue;
      this.#pieces.shift();
      this.#at = 0;
    }
    this.#available -= at - filled;
    if (this.#available < this.#lowBytes && this.#refill === undefined && !this.#refillFailed) this.#start();
    return at;
  }

  /** Resolves when the running refill ends, or a new one when none runs; rejects with its failure. */
  #refilled(): Promise<void> {
    return this.#refill ?? this.#start();
  }

  #start(): Promise<void> {
    const refill = this.#fetch().finally(() => {
      this.#refill = undefined;
    });
    this.#refill = refill;
    // the draws that wait for this refill get its failure; when none waits, the next draw starts another refill
    refill.catch(() => {
      this.#refillFailed = true;
    });
    return refill;
  }

  async #fetch(): Promise<void> {
    const { signal } = this.#closing;
    const piece = await this.#source(signal);
    if (signal.aborted) {
      piece.fill(0);
      throw signal.reason;
    }
    this.#refillFailed = false;
    this.#pieces.push(piece);
    this.#available += piece.length;
  }
}
