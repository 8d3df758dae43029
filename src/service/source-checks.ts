import type { HealthCheck, HealthStatus } from '../http/health.ts';
import type { SourceState } from '../pool/intake/collector.ts';
import type { HealthState } from '../pool/intake/health.ts';
import type { DaySpend, Readings, SourceReading } from './readings.ts';

/** A share of a day's budget or calls from which on a check warns. */
const SPENT_HIGH = 0.9;

/** One check for each source, the most wanted first; the system source behind them. */
export function sourceChecks({ sources, systemLot }: Readings): Record<string, readonly HealthCheck[]> {
  const system: HealthCheck = {
    componentType: 'component',
    status: systemLot === undefined ? 'warn' : 'pass',
    observedValue: systemLot === undefined ? 'starting' : 'ok',
    details: { name: 'system', origin: 'system' },
  };
  const costly = sources.flatMap(({ name, spend }) => (spend === null ? [] : [spendCheck(name, spend)]));
  return {
    'source:state': [...sources.map((source) => stateCheck(source, sources)), system],
    ...(costly.length === 0 ? {} : { 'source:spend': costly }),
    'source:health_tests': sources.map(healthTestCheck),
    'source:last_lot': sources.map(lastLotCheck),
  };
}

const STATE_STATUS: Readonly<Record<SourceState, HealthStatus>> = {
  ok: 'pass',
  standby: 'pass',
  starting: 'warn',
  failing: 'warn',
  closed: 'fail',
};

function stateCheck(source: SourceReading, all: readonly SourceReading[]): HealthCheck {
  const { name, origin, state, reads, lastError } = source;
  return {
    componentType: 'component',
    status: STATE_STATUS[state],
    observedValue: state,
    ...(lastError === '' ? {} : { output: lastError }),
    details: {
      name,
      origin,
      reads,
      share_of_lots: shareOf(source, all, ({ lotsAccepted }) => lotsAccepted),
      share_of_bytes: shareOf(source, all, ({ conditionedBytes }) => conditionedBytes),
    },
  };
}

/** Of what all sources gave since the start; null when they gave nothing. */
function shareOf(
  source: SourceReading,
  all: readonly SourceReading[],
  amount: (source: SourceReading) => number,
): number | null {
  const total = all.reduce((sum, each) => sum + amount(each), 0);
  return total === 0 ? null : rounded(amount(source) / total);
}

/** Warns when the day's bound is close: at the bound the source is not read until the next UTC day. */
function spendCheck(name: string, { amount, currency, calls, limits }: DaySpend): HealthCheck {
  const isClose = (spent: number, limit: number | null) => limit !== null && spent >= SPENT_HIGH * limit;
  const warns = isClose(amount, limits.amountPerDay) || isClose(calls, limits.callsPerDay);
  return {
    componentType: 'component',
    status: warns ? 'warn' : 'pass',
    observedValue: amount,
    observedUnit: currency,
    details: {
      name,
      of: 'this UTC day, as estimated before each read',
      budget_per_day: limits.amountPerDay,
      calls,
      calls_per_day: limits.callsPerDay,
    },
  };
}

function healthTestCheck({ name, health }: SourceReading): HealthCheck {
  const isLatched = (health?.latchedBy.length ?? 0) > 0;
  return {
    componentType: 'component',
    status: isLatched ? 'fail' : (health?.intermittentInARow ?? 0) > 0 ? 'warn' : 'pass',
    observedValue: (health?.totals.rctFailures ?? 0) + (health?.totals.aptFailures ?? 0),
    observedUnit: 'failures',
    details: { name, ...(health === null ? { reads: 0 } : healthTestDetails(health)) },
  };
}

function lastLotCheck({ name, lastLot, lotsAccepted, lotsRejected }: SourceReading): HealthCheck {
  return {
    componentType: 'component',
    status: lastLot === undefined || lastLot.accepted ? 'pass' : 'warn',
    observedValue: lastLot === undefined ? null : lastLot.accepted ? 'accepted' : 'rejected',
    ...(lastLot === undefined || lastLot.accepted ? {} : { output: lastLot.rejection }),
    details: {
      name,
      lot: lastLot?.id ?? null,
      read_at: lastLot === undefined ? null : new Date(lastLot.finishedAtMs).toISOString(),
      evidence: lastLot?.evidence?.claim ?? null,
      lots_accepted: lotsAccepted,
      lots_rejected: lotsRejected,
    },
  };
}

/** SP 800-90B §4.4: cutoffs, and what was seen since the start. */
function healthTestDetails(health: HealthState): object {
  const { totals } = health;
  return {
    channels: health.width,
    claimed_min_entropy_per_bit: health.minEntropyPerBit,
    samples: totals.samples,
    reads: health.reads,
    reads_failed: health.intermittentReads,
    rct: { failures: totals.rctFailures, longest_run: totals.longestRun, cutoffs: health.rctCutoffs },
    apt: {
      failures: totals.aptFailures,
      most_matches: totals.mostMatches,
      window: health.aptWindow,
      cutoffs: health.aptCutoffs,
    },
    startup_passed: health.startupPassed,
    replays: totals.replayFailures,
    latched_by: health.latchedBy,
  };
}

/** To three decimals. */
export function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000;
}
