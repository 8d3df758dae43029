import { every } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { StatusFacts, StatusPoint } from '../http/pages/status-page.ts';
import type { HealthReport } from '../http/plain-routes.ts';
import {
  pureSecondsLeft,
  type ReadingSources,
  type Readings,
  SERVICE_VERSION,
  seedSecondsLeft,
  takeReadings,
} from './readings.ts';
import { healthReport, metricsText } from './table.ts';
import { TICK_MS } from './watch.ts';

/** The status page draws one hour in points of this interval. */
const POINT_INTERVAL_MS = 10_000;
const POINTS_MAX = 360;

/** Reports the state of a running service, now and over the last hour. */
export class Monitor {
  readonly #sources: ReadingSources;
  readonly #log: Log;
  readonly #points: StatusPoint[] = [];
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(sources: ReadingSources, log: Log) {
    this.#sources = sources;
    this.#log = log;
  }

  start(): void {
    const { watch } = this.#sources;
    watch.tick();
    // at once, so that the page has something to draw in the first minute
    this.#notePoint().catch((error: unknown) =>
      this.#log.warn(
        { err: error },
        'could not note the first point of the status page: its charts begin a minute later',
      ),
    );
    this.#timers.push(
      every(TICK_MS, this.#log, 'look for incidents', async () => watch.tick()),
      every(POINT_INTERVAL_MS, this.#log, 'note a point of the status page', () => this.#notePoint()),
    );
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  async health(): Promise<HealthReport> {
    return healthReport(await takeReadings(this.#sources));
  }

  /** Returns the text of all metrics for Prometheus. */
  async metrics(): Promise<string> {
    return metricsText(await takeReadings(this.#sources));
  }

  /** Returns the facts that anybody may see. */
  async status(): Promise<StatusFacts> {
    const readings = await takeReadings(this.#sources);
    return statusFacts(readings, healthReport(readings), this.#points);
  }

  async #notePoint(): Promise<void> {
    const readings = await takeReadings(this.#sources);
    const { levels, minute, atMs } = readings;
    this.#points.push({
      atMs,
      status: healthReport(readings).status,
      pureBytes: levels.pure.bytes,
      seeds: levels.seed.blocks,
      requestsPerS: minute.requestsPerS,
      commitMaxMs: minute.commitMaxMs ?? 0,
    });
    if (this.#points.length > POINTS_MAX) this.#points.shift();
  }
}

function statusFacts(readings: Readings, report: HealthReport, history: readonly StatusPoint[]): StatusFacts {
  const { sources, levels, pureBytesHigh, seeds } = readings;
  const bytes = sources.reduce((sum, { conditionedBytes }) => sum + conditionedBytes, 0);
  return {
    atMs: readings.atMs,
    startedAtMs: readings.startedAtMs,
    version: SERVICE_VERSION,
    status: report.status,
    checks: Object.entries(report.checks).flatMap(([name, each]) =>
      each.map(({ status }) => ({ name, status })),
    ),
    sources: sources.map((source) => ({
      name: source.name,
      origin: source.origin,
      isDeclared: source.isDeclared,
      backend: source.lastLot?.quantumBackend ?? null,
      state: source.state,
      lastLot:
        source.lastLot === undefined ? null : { id: source.lastLot.id, atMs: source.lastLot.finishedAtMs },
      share: bytes === 0 ? null : source.conditionedBytes / bytes,
      lots: source.alarm,
    })),
    pure: { bytes: levels.pure.bytes, highBytes: pureBytesHigh, secondsLeft: pureSecondsLeft(readings) },
    seeds: {
      onHand: levels.seed.blocks,
      secondsLeft: seedSecondsLeft(readings),
      inForce: seeds.every(({ inForce }) => inForce),
    },
    modes: readings.modes,
    csprngReady: readings.systemLot != null,
    logEntries: readings.logEntries,
    history,
  };
}
