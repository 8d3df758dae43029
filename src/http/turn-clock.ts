import type { Clock } from '../core/clock.ts';

/** One turn of the loop in which requests come, and when the first of them came. */
export interface Turn {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** The turn of a request that has not begun. */
export const NOT_BEGUN: Turn = { wallMs: 0, monotonicMs: 0 };

/**
 * All requests of a turn of the loop have the time of the first: they lay ready together, and reading both clocks costs as much
 * as printing three ids.
 */
export class TurnClock {
  readonly #clock: Pick<Clock, 'wallMs' | 'monotonicMs'>;
  #turn: Turn | undefined;
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
      setImmediate(this.#end);
    }
    return this.#turn;
  }
}
