import type { Clock } from '../core/clock.ts';

const INTERVAL_MS = 200;
/** Back to the line's start, and erase it (ECMA-48 EL). */
const CLEAR_LINE = '\r\u001b[K';

/** How far a long command is, in one line of the terminal that is drawn over and gone at the end. */
export class Progress {
  readonly #clock: Clock;
  readonly #draw: (text: string) => void;
  readonly #startedAtMs: number;
  #drawnAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, draw: (text: string) => void) {
    this.#clock = clock;
    this.#draw = draw;
    this.#startedAtMs = clock.monotonicMs();
  }

  /** `fraction` of the work is done, null when nobody knows; drawn five times a second at most. */
  show(what: string, fraction: number | null): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#drawnAtMs < INTERVAL_MS) return;
    this.#drawnAtMs = nowMs;
    this.#draw(CLEAR_LINE + what + (fraction === null ? '' : this.#rest(fraction, nowMs)));
  }

  clear(): void {
    if (this.#drawnAtMs > Number.NEGATIVE_INFINITY) this.#draw(CLEAR_LINE);
  }

  #rest(fraction: number, nowMs: number): string {
    const percent = `, ${Math.floor(100 * fraction)} %`;
    if (fraction <= 0) return percent;
    const leftS = Math.ceil(((nowMs - this.#startedAtMs) * (1 - fraction)) / fraction / 1000);
    return `${percent}, ${leftS < 120 ? `${leftS} s` : `${Math.ceil(leftS / 60)} min`} left`;
  }
}
