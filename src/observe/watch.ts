import { messageOf } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import { COUNTED, type MetricFamily, MetricTotals, MODE_LABELS, quantileOf } from '../core/metrics.ts';
import { ENTROPY_MODES } from '../core/vocabulary.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** Whether an answer could be written down now. */
export interface Writability {
  readonly writable: boolean;
  /** Why not; empty when it is. */
  readonly reason: string;
  /** The last write that became durable: when, and how long it took. Null before the first. */
  readonly writtenAtMs: number | null;
  readonly writtenInMs: number | null;
}

export interface WatchOptions {
  readonly metricMemory: SharedArrayBuffer;
  readonly ledger: Pick<Ledger, 'probe'>;
  readonly clock: Clock;
}

/** A second counts as late when one turn of the loop in a hundred waited this long. */
const LATE_P99_MS = 200;
/** Fronts write down where they stand once a second. */
export const TICK_MS = 1_000;
const MINUTE_TICKS = 60;
/** Pure bytes drawn are looked at over this long, to tell when the reservoir would be empty. */
const DRAW_WINDOW_MS = 300_000;
const DRAW_SAMPLE_TICKS = 10;
/** A write is tried this often, so that a disk that fails is seen before a request meets it. */
const PROBE_TICKS = 10;
/** A write that is not durable after this counts as none. */
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
 * Keeps the recent past of what the fronts count: the last minute second by second, and how fast pure bytes
 * are drawn. Tries now and then whether the ledger can be written.
 */
export class Watch {
  readonly #options: WatchOptions;
  /** Oldest first; one more than a minute has seconds. */
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

  /** What all fronts have counted. */
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
      /** The 99th percentile of the worst second, the longest of all, and the seconds of a loop that was late. */
      loopDelayP99Ms: largest(LOOP_DELAY_P99),
      loopDelayMaxMs: largest(COUNTED.qrn_event_loop_delay_max_seconds),
      lateSeconds: ticks.filter(isLate).length,
    };
  }

  /** Requests and latency of each mode. */
  modes() {
    const totals = this.totals();
    return ENTROPY_MODES.map((mode) => {
      const row = MODE_LABELS.indexOf(mode);
      const all = totals.buckets(DURATION, row);
      const recent = sinceOf(this.#ticks[0].totals, totals, DURATION, row);
      const [lastMinute, sinceStart] = [sumOf(recent), sumOf(all)];
      const counts = lastMinute > 0 ? recent : all;
      const ms = (quantile: number) => 1000 * (quantileOf(counts, DURATION.bounds, quantile) ?? 0);
      /** Of the last minute, or since the start where that had none: p50, p95, p99; null without any request. */
      const latencyMs = sinceStart === 0 ? null : ([ms(0.5), ms(0.95), ms(0.99)] as const);
      return { mode, lastMinute, sinceStart, latencyMs };
    });
  }

  /** Pure bytes drawn in a second, over the last five minutes. */
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

/** What was counted between the two, by bucket. */
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
