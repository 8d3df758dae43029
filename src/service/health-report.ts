import { PENDING_ANSWERS, WORKERS_QUEUE } from '../core/metrics.ts';
import { type HealthCheck, type HealthReport, type HealthStatus, overallOf } from '../http/health.ts';
import { evidenceChecks } from './evidence-checks.ts';
import {
  pureSecondsLeft,
  type Readings,
  SERVICE_VERSION,
  type SeedReading,
  seedSecondsLeft,
} from './readings.ts';
import { rounded, sourceChecks } from './source-checks.ts';

/*
 * From which values on a check warns. A warning says "look at it before it hurts"; docs/operations.md tells for each
 * what it means and what to do, and deploy/prometheus/alerts.yml uses the same figures.
 */
/** One answer's worth of the largest small request, many times over; the ring of a front takes as much. */
const PURE_LOW_BYTES = 64 * 1024;
const SECONDS_LEFT_LOW = 600;
const COMMIT_P50_HIGH_MS = 100;
const COMMIT_MAX_HIGH_MS = 1_000;
/** Half of what sheds requests (workers/dispatch.ts). */
const QUEUE_HIGH = 32;
/** Four times the floor under which the ledger takes no more answers. */
const DISK_LOW_BYTES = 1024 * 1024 * 1024;
/** A collection of garbage makes one late; a start makes a few. */
const LATE_SECONDS_HIGH = 10;

/**
 * Everything an operator would want to know first, in the shape of draft-inadarei-api-health-check-06. A check fails
 * when what it looks at does not work, whatever else does; the whole fails only when no answer could leave.
 */
export function healthReport(readings: Readings): HealthReport {
  const checks: HealthReport['checks'] = {
    ...ledgerChecks(readings),
    ...poolChecks(readings),
    ...sourceChecks(readings),
    ...evidenceChecks(readings.sources, readings.delivered),
    ...systemChecks(readings),
  };
  return {
    status: overallOf(checks),
    version: '1',
    releaseId: SERVICE_VERSION,
    time: new Date(readings.atMs).toISOString(),
    checks,
  };
}

function ledgerChecks({ ledger, minute, totals }: Readings): Record<string, readonly HealthCheck[]> {
  const slow =
    (minute.commitP50Ms ?? 0) > COMMIT_P50_HIGH_MS || (minute.commitMaxMs ?? 0) > COMMIT_MAX_HIGH_MS;
  return {
    'ledger:writable': [
      {
        componentType: 'datastore',
        status: ledger.writable ? 'pass' : 'fail',
        observedValue: ledger.writable,
        ...(ledger.reason === '' ? {} : { output: ledger.reason }),
        details: {
          written_at: ledger.writtenAtMs === null ? null : new Date(ledger.writtenAtMs).toISOString(),
          written_in_ms: rounded(ledger.writtenInMs),
        },
      },
    ],
    'ledger:commit_time': [
      {
        componentType: 'datastore',
        status: slow ? 'warn' : 'pass',
        observedValue: rounded(minute.commitP50Ms),
        observedUnit: 'ms',
        details: {
          of: 'median of the last minute',
          max_ms: rounded(minute.commitMaxMs),
          commits: minute.commits,
        },
      },
    ],
    'ledger:pending_answers': [
      {
        componentType: 'datastore',
        status: 'pass',
        observedValue: totals.value(PENDING_ANSWERS),
        observedUnit: 'answers',
      },
    ],
  };
}

/** What each mode has to draw on, and how long that lasts. */
function poolChecks(readings: Readings): Record<string, readonly HealthCheck[]> {
  const { levels, pureBytesHigh, pureBytesPerS, sources, systemLot, seeds } = readings;
  const pureLeftS = pureSecondsLeft(readings);
  const seedsLeftS = seedSecondsLeft(readings);
  const isPureOpen = !sources.every(({ state }) => state === 'closed') && levels.pure.bytes > 0;
  return {
    'pool:pure': [
      {
        componentType: 'component',
        status: isPureOpen ? lowOr(levels.pure.bytes < PURE_LOW_BYTES, pureLeftS) : 'fail',
        observedValue: levels.pure.bytes,
        observedUnit: 'bytes',
        details: {
          filled_up_to: pureBytesHigh,
          drawn_per_s: rounded(pureBytesPerS),
          seconds_to_empty: rounded(pureLeftS),
        },
      },
    ],
    'pool:quantum-seeded': [
      {
        componentType: 'component',
        status: seeds.every(({ inForce }) => inForce) ? lowOr(levels.seed.blocks === 0, seedsLeftS) : 'fail',
        observedValue: levels.seed.blocks,
        observedUnit: 'seeds',
        details: { seconds_to_empty: rounded(seedsLeftS) },
      },
    ],
    'pool:csprng': [
      {
        componentType: 'component',
        status: systemLot === undefined ? 'fail' : 'pass',
        observedValue: systemLot !== undefined,
        details: { lot: systemLot?.id ?? null, seconds_to_empty: null },
      },
    ],
    'pool:seed_age': seeds.map(seedCheck),
  };
}

function lowOr(low: boolean, secondsLeft: number | null): HealthStatus {
  return low || (secondsLeft !== null && secondsLeft < SECONDS_LEFT_LOW) ? 'warn' : 'pass';
}

function seedCheck({ group, intervalMs, ageMs, generation, inForce }: SeedReading): HealthCheck {
  return {
    componentType: 'component',
    status: inForce ? 'pass' : 'fail',
    observedValue: ageMs === null ? null : Math.round(ageMs / 1000),
    observedUnit: 's',
    details: { group, interval_s: intervalMs / 1000, generation },
  };
}

function systemChecks({ totals, minute, diskFreeBytes }: Readings): Record<string, readonly HealthCheck[]> {
  const queue = totals.value(WORKERS_QUEUE);
  const isLate = minute.lateSeconds >= LATE_SECONDS_HIGH;
  return {
    'workers:queue': [
      {
        componentType: 'system',
        status: queue < QUEUE_HIGH ? 'pass' : 'warn',
        observedValue: queue,
        observedUnit: 'tasks',
      },
    ],
    'disk:free': [
      {
        componentType: 'system',
        status: diskFreeBytes < DISK_LOW_BYTES ? 'warn' : 'pass',
        observedValue: diskFreeBytes,
        observedUnit: 'bytes',
      },
    ],
    'eventloop:delay': [
      {
        componentType: 'system',
        status: isLate ? 'warn' : 'pass',
        observedValue: rounded(minute.loopDelayP99Ms),
        observedUnit: 'ms',
        details: {
          of: '99th percentile, worst second of the last minute',
          max_ms: rounded(minute.loopDelayMaxMs),
        },
      },
    ],
  };
}
