/** Gives fresh bytes, at least one; they become the reservoir's own. */
export type ByteSource = (signal: AbortSignal) => Promise<Uint8Array>;

/**
 * Bytes drawn ahead. Each is handed out once and erased where it lay. When fewer than `lowBytes` are left the next
 * refill is on its way before anyone waits for it; when there are none, a draw waits, and fails if the refill does.
 */
export class ByteReservoir {
  readonly #source: ByteSource;
  readonly #lowBytes: number;
  readonly #pieces: Uint8Array[] = [];
  /** Where the first piece goes on. */
  #at = 0;
  #available = 0;
  #refill: Promise<void> | undefined;
  /** The last refill failed: the next one is made, and its failure told, when a draw needs it. */
  #refillFailed = false;
  readonly #closing = new AbortController();

  constructor(source: ByteSource, lowBytes: number) {
    this.#source = source;
    this.#lowBytes = lowBytes;
  }

  get available(): number {
    return this.#available;
  }

  /** Takes exactly `target.length` bytes, or none and says false when fewer are there. */
  tryTake(target: Uint8Array): boolean {
    if (this.#available < target.length) return false;
    this.#move(target, 0);
    return true;
  }

  /** Takes exactly `target.length` bytes, waiting for as many refills as that needs; leaves zeros when one fails. */
  async take(target: Uint8Array): Promise<void> {
    let filled = 0;
    try {
      while ((filled = this.#move(target, filled)) < target.length) await this.#refilled();
    } catch (error) {
      target.fill(0);
      throw error;
    }
  }

  /** Erases what is left and ends a refill that is on its way; every later draw fails. */
  close(): void {
    this.#closing.abort(new Error('This source of random values was closed.'));
    for (const piece of this.#pieces) piece.fill(0);
    this.#pieces.length = 0;
    this.#at = 0;
    this.#available = 0;
  }

  /** Moves as many bytes as there are and fit behind `filled`; returns how many the target then has. */
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

  /** Resolves after the refill under way, or a new one; rejects with its failure. */
  #refilled(): Promise<void> {
    return this.#refill ?? this.#start();
  }

  #start(): Promise<void> {
    const refill = this.#fetch().finally(() => {
      this.#refill = undefined;
    });
    this.#refill = refill;
    // told to the draws that wait for it; if none does, to the one that will need the next
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
