import { messageOf } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import { COUNTED, type MetricFamily, MetricTotals, MODE_LABELS, quantileOf } from '../core/metrics.ts';
import { ENTROPY_MODES } from '../core/vocabulary.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** Whether an answer could be made durable now. */
export interface Writability {
  readonly writable: boolean;
  /** Why not; empty when `writable`. */
  readonly reason: string;
  /** When the last probe became durable (Unix ms), and how long it took; null before the first. */
  readonly writtenAtMs: number | null;
  readonly writtenInMs: number | null;
}

export interface WatchOptions {
  readonly metricMemory: SharedArrayBuffer;
  readonly ledger: Pick<Ledger, 'probe'>;
  readonly clock: Clock;
}

/** A second counts as late when one turn of the loop in a hundred waited longer than this. */
const LATE_P99_MS = 200;
/** Fronts publish their gauges once a second. */
export const TICK_MS = 1_000;
const MINUTE_TICKS = 60;
/** The time over which the rate of drawn pure bytes is measured, which tells when the reservoir would be empty. */
const DRAW_WINDOW_MS = 300_000;
const DRAW_SAMPLE_TICKS = 10;
/** Ticks between two probes, so that a failing disk is noticed before a request meets it. */
const PROBE_TICKS = 10;
/** A probe that is not durable after this time counts as failed. */
const PROBE_LATE_MS = 5_000;
const COMMIT_DURATION = COUNTED.qrn_ledger_commit_duration_seconds;
const DURATION = COUNTED.qrn_http_request_duration_seconds;
const LOOP_DELAY_P99 = COUNTED.qrn_event_loop_delay_p99_seconds;
const PURE = ENTROPY_MODES.indexOf('pure');

interface Tick {
  readonly atMs: number;
  readonly totals: MetricTotals;
}

/**
 * Keeps the recent counts of the fronts: the last minute second by second, and the rate of drawn pure bytes. Regularly probes
 * whether the ledger can be written.
 */
export class Watch {
  readonly #options: WatchOptions;
  /** Oldest first: one more than the seconds of a minute. */
  readonly #ticks: Tick[];
  readonly #draws: { atMs: number; bytes: number }[] = [];
  #tickCount = 0;
  #probeStartedMs: number | undefined;
  #written: Writability = { writable: true, reason: '', writtenAtMs: null, writtenInMs: null };

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#ticks = [{ atMs: options.clock.monotonicMs(), totals: this.totals() }];
  }

  /** To be called once every TICK_MS. */
  tick(): void {
    const atMs = this.#options.clock.monotonicMs();
    const totals = this.totals();
    this.#ticks.push({ atMs, totals });
    if (this.#ticks.length > MINUTE_TICKS + 1) this.#ticks.shift();
    if (this.#tickCount % DRAW_SAMPLE_TICKS === 0) this.#noteDraw(atMs, totals);
    if (this.#tickCount % PROBE_TICKS === 0 && this.#probeStartedMs === undefined) this.#probe();
    this.#tickCount++;
  }

  /** Returns the counts of all fronts. */
  totals(): MetricTotals {
    return new MetricTotals(this.#options.metricMemory);
  }

  lastMinute() {
    const ticks = this.#ticks;
    const [first, last] = [ticks[0], ticks[ticks.length - 1]];
    const passedS = (last.atMs - first.atMs) / 1000;
    const commits = sinceOf(first.totals, last.totals, COMMIT_DURATION);
    const count = sumOf(commits);
    const median = quantileOf(commits, COMMIT_DURATION.bounds, 0.5);
    const largest = (family: MetricFamily) =>
      1000 * Math.max(...ticks.slice(1).map(({ totals }) => totals.value(family)), 0);
    const isLate = ({ totals }: Tick) => 1000 * totals.value(LOOP_DELAY_P99) > LATE_P99_MS;
    return {
      requestsPerS: passedS > 0 ? (requestsOf(last.totals) - requestsOf(first.totals)) / passedS : 0,
      commits: count,
      /** Null when nothing was committed. */
      commitP50Ms: median === undefined ? null : 1000 * median,
      commitMaxMs: count === 0 ? null : largest(COUNTED.qrn_ledger_commit_duration_max_seconds),
      /** The highest 99th percentile of a second, the longest delay, and the count of late seconds (LATE_P99_MS). */
      loopDelayP99Ms: largest(LOOP_DELAY_P99),
      loopDelayMaxMs: largest(COUNTED.qrn_event_loop_delay_max_seconds),
      lateSeconds: ticks.filter(isLate).length,
    };
  }

  /** Returns the requests and the latency of each mode. */
  modes() {
    const totals = this.totals();
    return ENTROPY_MODES.map((mode) => {
      const row = MODE_LABELS.indexOf(mode);
      const all = totals.buckets(DURATION, row);
      const recent = sinceOf(this.#ticks[0].totals, totals, DURATION, row);
      const [lastMinute, sinceStart] = [sumOf(recent), sumOf(all)];
      const counts = lastMinute > 0 ? recent : all;
      const ms = (quantile: number) => 1000 * (quantileOf(counts, DURATION.bounds, quantile) ?? 0);
      /** p50, p95 and p99 of the last minute, or since the start if that had no request; null without any request. */
      const latencyMs = sinceStart === 0 ? null : ([ms(0.5), ms(0.95), ms(0.99)] as const);
      return { mode, lastMinute, sinceStart, latencyMs };
    });
  }

  /** Returns the pure bytes drawn per second over the last five minutes. */
  pureBytesPerS(): number {
    const [first, last] = [this.#draws.at(0), this.#draws.at(-1)];
    if (first === undefined || last === undefined || last.atMs === first.atMs) return 0;
    return (1000 * (last.bytes - first.bytes)) / (last.atMs - first.atMs);
  }

  writability(): Writability {
    if (this.#probeStartedMs === undefined) return this.#written;
    const waitingMs = this.#options.clock.monotonicMs() - this.#probeStartedMs;
    if (waitingMs < PROBE_LATE_MS) return this.#written;
    const seconds = Math.floor(waitingMs / 1000);
    return { ...this.#written, writable: false, reason: `a write is not durable after ${seconds} s` };
  }

  #noteDraw(atMs: number, totals: MetricTotals): void {
    this.#draws.push({ atMs, bytes: totals.value(COUNTED.qrn_entropy_consumed_bytes_total, PURE) });
    while (atMs - this.#draws[0].atMs > DRAW_WINDOW_MS) this.#draws.shift();
  }

  #probe(): void {
    const { ledger, clock } = this.#options;
    const startedMs = clock.monotonicMs();
    this.#probeStartedMs = startedMs;
    ledger
      .probe()
      .then(
        () => {
          const writtenInMs = clock.monotonicMs() - startedMs;
          this.#written = { writable: true, reason: '', writtenAtMs: clock.wallMs(), writtenInMs };
        },
        (error: unknown) => {
          const reason = messageOf(error);
          this.#written = { ...this.#written, writable: false, reason };
        },
      )
      .finally(() => {
        this.#probeStartedMs = undefined;
      });
  }
}

/** Returns the counts between two moments, by bucket. */
function sinceOf(before: MetricTotals, after: MetricTotals, family: MetricFamily, row = 0): Float64Array {
  const counted = before.buckets(family, row);
  return after.buckets(family, row).map((count, bucket) => count - counted[bucket]);
}

function sumOf(counts: Float64Array): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function requestsOf(totals: MetricTotals): number {
  let sum = 0;
  for (let row = 0; row < COUNTED.qrn_http_requests_total.rows; row++)
    sum += totals.value(COUNTED.qrn_http_requests_total, row);
  return sum;
}
