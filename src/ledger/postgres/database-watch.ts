import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { DatabaseState } from '../integrity.ts';
import type { Database } from './connection.ts';

const LOOK_INTERVAL_MS = 1_000;
/** A node whose clock differs by more is not ready: months and days would turn at other times than on the others. */
const SKEW_MAX_MS = 1_000;

const LOOK = {
  name: 'watch_look',
  text: `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at_ms,
  (SELECT count(*) FROM qrn.unsealed) AS unsealed`,
};

/** Looks once a second at whether PostgreSQL answers, and what time it is there. */
export class DatabaseWatch {
  readonly #options: { readonly database: Database; readonly clock: Clock; readonly log: Log };
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #skewMs = 0;
  #unsealed = 0;
  #wasSkewed = false;

  constructor(options: { readonly database: Database; readonly clock: Clock; readonly log: Log }) {
    this.#options = options;
  }

  state(): DatabaseState {
    const { database } = this.#options;
    const isSkewed = Math.abs(this.#skewMs) > SKEW_MAX_MS;
    return { isAway: database.isAway, skewMs: this.#skewMs, isSkewed, unsealedSegments: this.#unsealed };
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Rejects when PostgreSQL does not answer. */
  async look(): Promise<void> {
    const { database, clock, log } = this.#options;
    const askedAtMs = clock.monotonicMs();
    const [{ at_ms, unsealed }] = await database.run<{ at_ms: number; unsealed: number }>(LOOK);
    const tookMs = clock.monotonicMs() - askedAtMs;
    const differenceMs = clock.wallMs() - at_ms;
    // Between the reading there and here lies at most the whole time that the question took.
    this.#skewMs = Math.round(differenceMs >= 0 ? Math.max(0, differenceMs - tookMs) : differenceMs);
    this.#unsealed = unsealed;
    const { isSkewed, skewMs } = this.state();
    if (isSkewed && !this.#wasSkewed)
      log.error(
        { skewMs },
        "the clock of this node differs from PostgreSQL's by more than a second: the node is not ready; set the clock",
      );
    if (!isSkewed && this.#wasSkewed)
      log.info({ skewMs }, "the clock of this node agrees with PostgreSQL's again");
    this.#wasSkewed = isSkewed;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(LOOK_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await this.look().catch(() => {}); // the database says so itself, in the log and by isAway
    }
  }
}
