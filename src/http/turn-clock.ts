import type { Clock } from '../core/clock.ts';

/**
 * So many requests are answered in the turn of the loop in which they came; then the reply waits for the end of the
 * turn. The library reads a connection again as long as its 512 KB buffer was filled, and runs microtasks between
 * requests, so one client that sends without end requests that are answered at once, or by a promise that is settled
 * already, would keep the loop for itself. With its reply outstanding, the next of its requests cuts its connection;
 * nobody else notices more than the wait.
 */
const REPLIES_PER_TURN_MAX = 512;

/** One turn of the loop in which requests come, and when the first of them came. */
export interface Turn {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/**
 * All requests of a turn of the loop have the time of the first: they lay ready together, and reading both clocks costs as much
 * as printing three ids.
 */
export class TurnClock {
  readonly #clock: Pick<Clock, 'wallMs' | 'monotonicMs'>;
  #turn: Turn | undefined;
  #replies = 0;
  readonly #end = (): void => {
    this.#turn = undefined;
  };

  constructor(clock: Pick<Clock, 'wallMs' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** The turn in which a request comes. */
  current(): Turn {
    if (this.#turn === undefined) {
      this.#turn = { wallMs: this.#clock.wallMs(), monotonicMs: this.#clock.monotonicMs() };
      this.#replies = 0;
      setImmediate(this.#end);
    }
    return this.#turn;
  }

  /** Counts a reply in the turn of its request, and says whether it may be written in this turn. */
  hasRoom(turn: Turn): boolean {
    if (this.#turn !== turn) return true;
    return ++this.#replies <= REPLIES_PER_TURN_MAX;
  }
}
