import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';

/** Pieces of work that may wait or run unless told otherwise; one more is refused. */
const PIECES_MAX = 32;
/** The thread has so many times as long for everything else before the next piece. */
const REST_FACTOR = 7;
const REST_MAX_MS = 1_000;

/**
 * Runs work for which nobody is known to pay: calls without a key, and bodies whose key is not read yet. Reading and checking
 * 64 KiB of JSON that is made for the purpose takes some 10 ms of a front's thread, so one piece runs at a time, and all of them
 * together take an eighth of the thread's time, however many clients send them.
 */
export class UnpaidWork {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #piecesMax: number;
  #pieces = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(clock: Pick<Clock, 'monotonicMs'>, piecesMax = PIECES_MAX) {
    this.#clock = clock;
    this.#piecesMax = piecesMax;
  }

  /** Rejects with `overloaded` when too many wait, else with what `work` throws. */
  async run<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#pieces >= this.#piecesMax) throw new ApiError('overloaded', { retryAfterS: 1 });
    this.#pieces++;
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#last = promise;
    await before;
    const startedMs = this.#clock.monotonicMs();
    try {
      return await work();
    } finally {
      this.#pieces--;
      const tookMs = this.#clock.monotonicMs() - startedMs;
      resolve(pause(Math.min(REST_MAX_MS, REST_FACTOR * tookMs)));
    }
  }
}
