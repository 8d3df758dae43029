import type { Clock } from '../core/clock.ts';
import type { Committer } from '../delivery/committer.ts';
import { type HealthCheck, type HealthReport, type HealthStatus, worstOf } from '../http/health.ts';
import type { Collector } from '../pool/collector.ts';
import type { SeedSchedule } from '../pool/seeds.ts';
import type { Ledger } from '../store/ledger.ts';
import { verifyingBlock } from '../store/lot-facts.ts';
import type { Workers } from '../workers/dispatch.ts';

/** What the health of the service is read from. */
export interface HealthSources {
  readonly ledger: Ledger;
  readonly committer: Committer;
  readonly workers: Workers;
  readonly collector: Collector;
  readonly schedule: SeedSchedule;
  readonly clock: Clock;
}

const VERSION = '1';
/** Pure bytes on hand below which health warns. */
const PURE_LOW_BYTES = 64 * 1024;
const QUEUE_WARN = 32;

/** Looks at everything an operator would want to know first. */
export async function healthReport(sources: HealthSources): Promise<HealthReport> {
  const levels = await sources.ledger.blockLevels();
  const pureStatus: HealthStatus = levels.pure.bytes >= PURE_LOW_BYTES ? 'pass' : 'warn';
  const checks: Record<string, readonly HealthCheck[]> = {
    'ledger:commit_time': [
      {
        componentType: 'datastore',
        status: 'pass',
        observedValue: 0,
        observedUnit: 'ms',
      },
    ],
    'ledger:pending_answers': [
      {
        componentType: 'datastore',
        status: 'pass',
        observedValue: sources.committer.pending,
        observedUnit: 'answers',
      },
    ],
    'pool:pure_bytes': [
      {
        componentType: 'component',
        status: pureStatus,
        observedValue: levels.pure.bytes,
        observedUnit: 'bytes',
      },
    ],
    'pool:seeds_ready': [
      {
        componentType: 'component',
        status: levels.seed.blocks > 0 ? 'pass' : 'warn',
        observedValue: levels.seed.blocks,
        observedUnit: 'seeds',
      },
    ],
    'pool:seed_age': sources.schedule.states().map((state) => seedCheck(state, sources)),
    'source:state': [sourceCheck(sources.collector)],
    'workers:queue': [
      {
        componentType: 'system',
        status: sources.workers.queueLength < QUEUE_WARN ? 'pass' : 'warn',
        observedValue: sources.workers.queueLength,
        observedUnit: 'tasks',
      },
    ],
  };
  return {
    status: worstOf(checks),
    version: VERSION,
    time: new Date(sources.clock.wallMs()).toISOString(),
    checks,
  };
}

function seedCheck(
  state: ReturnType<SeedSchedule['states']>[number],
  { schedule, clock }: HealthSources,
): HealthCheck {
  const { name, intervalMs, current } = state;
  return {
    componentType: 'component',
    status: schedule.inForce(name) === undefined ? 'fail' : 'pass',
    observedValue: current === undefined ? null : Math.round((clock.wallMs() - current.seededAtMs) / 1000),
    observedUnit: 's',
    details: { group: name, interval_s: intervalMs / 1000, generation: current?.generation ?? null },
  };
}

function sourceCheck(collector: Collector): HealthCheck {
  const { name, origin, state, lastError, lastLot, lotsAccepted, lotsRejected, health } = collector.status();
  const block = lastLot && verifyingBlock(lastLot);
  return {
    componentType: 'component',
    status: state === 'closed' ? 'fail' : state === 'ok' ? 'pass' : 'warn',
    observedValue: state,
    ...(lastError === '' ? {} : { output: lastError }),
    details: {
      name,
      origin,
      lots_accepted: lotsAccepted,
      lots_rejected: lotsRejected,
      last_lot: lastLot?.id ?? null,
      nist_sp800_22: block ? `${block.sp80022.passed}/${block.sp80022.total} passed` : null,
      min_entropy_per_bit: lastLot?.minEntropyPerBit ?? null,
      health_tests: health,
    },
  };
}
