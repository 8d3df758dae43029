import type { SourcePolicy } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { type BlockLevels, SEEDS_LOW, type SourceState } from '../pool/intake/collector.ts';

export interface FillingOrderOptions {
  readonly policy: SourcePolicy;
  /** The level up to which pure bytes are kept. */
  readonly pureBytesHigh: number;
  readonly clock: Clock;
  /** States of the sources, the most wanted first. */
  readonly states: () => readonly SourceState[];
}

/**
 * A source that has begun is given this long for its first lot before the next one is called in: a stream takes seconds, a
 * queue at a provider hours.
 */
const START_GRACE_MS = 60_000;

/**
 * Says which of several sources may fill the pool. Under `share` all do. Under `priority` a source does when none of those
 * before it is at work, or when the pool is so low that they do not keep up: under a quarter of its pure bytes, or at half
 * the seeds at which a single source would read.
 */
export class FillingOrder {
  readonly #options: FillingOrderOptions;
  /** Monotonic time since which a source is `starting`, by its place. */
  readonly #startingSinceMs: (number | undefined)[] = [];

  constructor(options: FillingOrderOptions) {
    this.#options = options;
  }

  /** Whether the source at this place may read now. */
  isWanted(place: number, { pure, seed }: BlockLevels): boolean {
    const { policy, pureBytesHigh, states } = this.#options;
    if (policy === 'share') return true;
    if (pure.bytes < pureBytesHigh / 4 || seed.blocks < SEEDS_LOW / 2) return true;
    const working = states().map((state, i) => this.#isAtWork(state, i));
    return !working.slice(0, place).includes(true);
  }

  #isAtWork(state: SourceState, place: number): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    if (state !== 'starting') this.#startingSinceMs[place] = undefined;
    if (state !== 'starting') return state === 'ok' || state === 'standby';
    this.#startingSinceMs[place] ??= nowMs;
    return nowMs - this.#startingSinceMs[place] < START_GRACE_MS;
  }
}
