import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { DatabaseState } from '../integrity.ts';
import { UNSEALED } from '../tables.ts';
import type { Database } from './connection.ts';

const LOOK_INTERVAL_MS = 1_000;
/** A look takes a millisecond. One that has no answer for so long counts as none: a partition gives no sign of its own. */
const ANSWER_WITHIN_MS = 3_000;
/** A node whose clock differs by more is not ready: months and days would turn at other times than on the others. */
const SKEW_MAX_MS = 1_000;

const LOOK = {
  name: 'watch_look',
  text: `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at_ms,
  (SELECT count(*) FROM qrn.record WHERE part = '${UNSEALED.name}') AS unsealed,
  EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database()
    AND query_start < clock_timestamp() - interval '2 s') AS is_late`,
};

interface Look {
  readonly at_ms: number;
  readonly unsealed: number;
  readonly is_late: boolean;
}

/** Looks once a second at whether PostgreSQL answers, what time it is there, and whether its standby keeps up. */
export class DatabaseWatch {
  readonly #options: { readonly database: Database; readonly clock: Clock; readonly log: Log };
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** When the look that is under way began; undefined between looks. */
  #askedAtMs: number | undefined;
  #skewMs = 0;
  #unsealed = 0;
  #wasSkewed = false;
  #isStandbyLate = false;

  constructor(options: { readonly database: Database; readonly clock: Clock; readonly log: Log }) {
    this.#options = options;
  }

  state(): DatabaseState {
    const { database, clock } = this.#options;
    const isSilent =
      this.#askedAtMs !== undefined && clock.monotonicMs() - this.#askedAtMs > ANSWER_WITHIN_MS;
    const isSkewed = Math.abs(this.#skewMs) > SKEW_MAX_MS;
    return {
      isAway: database.isAway || isSilent,
      skewMs: this.#skewMs,
      isSkewed,
      isStandbyLate: this.#isStandbyLate,
      unsealedSegments: this.#unsealed,
    };
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
    const [{ at_ms, unsealed, is_late }] = await database.run<Look>(LOOK);
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
    if (is_late && !this.#isStandbyLate)
      log.error(
        {},
        'commits have waited for a standby of PostgreSQL for more than 2 s: requests that draw are refused until one follows; see pg_stat_replication',
      );
    if (!is_late && this.#isStandbyLate) log.info({}, 'no commit waits for a standby any more');
    this.#isStandbyLate = is_late;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(LOOK_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      this.#askedAtMs = this.#options.clock.monotonicMs();
      await this.look().catch(() => {}); // the database says so itself, in the log and by isAway
      this.#askedAtMs = undefined;
    }
  }
}
