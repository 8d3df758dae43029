import type { Wait } from '../../../src/core/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { settle } from '../fixtures.ts';

interface Waiting {
  readonly atMs: number;
  readonly ms: number;
  readonly resume: () => void;
}

/** Time that passes only when told to: the clock and the waits of a test. */
export class VirtualTime {
  readonly clock = new ManualClock();
  /** Every completed wait, in milliseconds, in the order of completion. */
  readonly passed: number[] = [];
  readonly #waiting = new Set<Waiting>();

  readonly wait: Wait = (ms, signal) => {
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(waiting);
        reject(signal.reason);
      };
      const resume = () => {
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', stop);
        this.passed.push(ms);
        resolve();
      };
      const waiting = { atMs: this.clock.monotonicMs() + ms, ms, resume };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', stop, { once: true });
    });
  };

  /** The requested length of each pending wait, the first to end first. */
  pending(): number[] {
    return this.#inOrder().map(({ ms }) => ms);
  }

  /** Lets `ms` milliseconds pass, in which waits end at their time. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.clock.monotonicMs() + ms;
    await settle();
    for (;;) {
      const [next] = this.#inOrder();
      if (next === undefined || next.atMs > untilMs) break;
      this.clock.advance(next.atMs - this.clock.monotonicMs());
      next.resume();
      await settle();
    }
    this.clock.advance(untilMs - this.clock.monotonicMs());
  }

  #inOrder(): Waiting[] {
    return [...this.#waiting].sort((a, b) => a.atMs - b.atMs);
  }
}
