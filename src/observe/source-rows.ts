import { isoTime } from '../core/clock.ts';
import type { HealthCheck, HealthStatus } from '../http/plain-routes.ts';
import { type AssessedBlock, type LotRecord, nistVerified } from '../ledger/records.ts';
import type { SourceState } from '../pool/intake/collector.ts';
import type { DeliveredState } from '../pool/intake/delivered-sampler.ts';
import type { HealthState } from '../pool/intake/health.ts';
import type { AlarmState } from '../pool/intake/lot-alarm.ts';
import type { ExposedFamily } from './exposition.ts';
import { type DaySpend, type ReadingRow, rounded, type SourceReading } from './readings.ts';

/** The share of a day's budget or calls from which on a check warns. */
const SPENT_HIGH = 0.9;

const STATE_STATUS: Readonly<Record<SourceState, HealthStatus>> = {
  ok: 'pass',
  standby: 'pass',
  starting: 'warn',
  failing: 'warn',
  closed: 'fail',
};
const SOURCE_STATES = Object.keys(STATE_STATUS) as readonly SourceState[];

/**
 * The entropy sources, the most wanted first, and what the statistical tests found: apart for raw noise,
 * conditioned bits and the delivered stream (docs/evidence.md).
 */
export const SOURCE_ROWS: readonly ReadingRow[] = [
  {
    check: {
      name: 'source:state',
      of: ({ sources, systemLot }) => [
        ...sources.map((source) => stateCheck(source, sources)),
        {
          componentType: 'component',
          status: systemLot == null ? 'warn' : 'pass',
          observedValue: systemLot === undefined ? 'starting' : systemLot === null ? 'failing' : 'ok',
          details: { name: 'system', origin: 'system' },
        },
      ],
    },
    families: ({ sources }) => [
      stateFamily(sources),
      counted(
        sources,
        'qrn_source_reads_total',
        'Reads of a quantum source by result.',
        ({ reads }) => ({ ...reads }),
        'result',
      ),
    ],
  },
  {
    check: {
      name: 'source:spend',
      of: ({ sources }) =>
        sources.flatMap(({ name, spend }) => (spend === null ? [] : [spendCheck(name, spend)])),
      optional: true,
    },
    families: ({ sources }) => spendFamilies(sources),
  },
  {
    check: { name: 'source:health_tests', of: ({ sources }) => sources.map(healthTestCheck) },
    families: ({ sources }) => healthTestFamilies(sources),
  },
  {
    check: { name: 'source:last_lot', of: ({ sources }) => sources.map(lastLotCheck) },
    families: ({ sources }) => [
      ...lotFamilies(sources),
      measured(
        sources,
        'qrn_source_alarm',
        'Evidence, in bits, that the lots of a source together are not those of a sound one; 20 is an alarm.',
        ({ alarm }) => alarm.bits,
      ),
    ],
  },
  { check: { name: 'source:raw_noise', of: ({ sources }) => sources.map(rawNoiseCheck) } },
  { check: { name: 'source:conditioned', of: ({ sources }) => sources.map(conditionedCheck) } },
  { check: { name: 'delivery:sample', of: ({ delivered }) => delivered.map(deliveredCheck) } },
];

function stateCheck(source: SourceReading, all: readonly SourceReading[]): HealthCheck {
  const { name, origin, isDeclared, state, reads, lastError } = source;
  return {
    componentType: 'component',
    status: STATE_STATUS[state],
    observedValue: state,
    ...(lastError === '' ? {} : { output: lastError }),
    details: {
      name,
      origin,
      ...(isDeclared ? { declared: true } : {}),
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

/** Warns when the last lot was refused, and when all lots together raise their alarm. */
function lastLotCheck({ name, lastLot, lotsAccepted, lotsRejected, alarm }: SourceReading): HealthCheck {
  const isRefused = lastLot !== undefined && !lastLot.accepted;
  const output = isRefused ? lastLot.rejection : alarmInWords(alarm);
  return {
    componentType: 'component',
    status: output === undefined ? 'pass' : 'warn',
    observedValue: lastLot === undefined ? null : lastLot.accepted ? 'accepted' : 'rejected',
    ...(output === undefined ? {} : { output }),
    details: {
      name,
      lot: lastLot?.id ?? null,
      read_at: lastLot === undefined ? null : isoTime(lastLot.finishedAtMs),
      evidence: lastLot?.evidence?.claim ?? null,
      lots_accepted: lotsAccepted,
      lots_rejected: lotsRejected,
      alarm: alarmDetails(alarm),
    },
  };
}

const ALARM_WORDS = {
  refusals: 'more lots are refused than chance refuses',
  rejections: 'more blocks are rejected by SP 800-22 than chance rejects',
  fall: 'the min-entropy estimate falls from lot to lot',
  rise: 'the min-entropy estimate rises from lot to lot',
} as const;

function alarmInWords({ raisedBy }: AlarmState): string | undefined {
  return raisedBy === null ? undefined : ALARM_WORDS[raisedBy];
}

function alarmDetails({ bits, alarmBits, raisedBy }: AlarmState): object {
  return { bits: rounded(bits), alarm_bits: alarmBits, raised_by: raisedBy };
}

/**
 * Raw noise may be biased and pass no statistical test. The health tests and the entropy estimate decide on
 * it, so its rows are reported and change no status.
 */
function rawNoiseCheck({ name, lastLot }: SourceReading): HealthCheck {
  const raw = lastLot?.assessments.findLast((block) => block.of === 'raw');
  return {
    ...blockCheck(raw),
    details: {
      name,
      ...blockDetails(raw),
      lot: lastLot?.id ?? null,
      min_entropy_per_bit: lastLot?.minEntropyPerBit ?? null,
      min_entropy_method: lastLot?.minEntropyMethod ?? null,
    },
  };
}

/** The last run of SP 800-22 that passed on what answers are drawn from; else the last run. */
function lastServed({ assessments }: LotRecord): AssessedBlock | undefined {
  const served = assessments.filter((each) => each.of !== 'raw');
  return served.findLast((each) => each.sp80022.verified) ?? served.at(-1);
}

function conditionedCheck({ name, lastLot }: SourceReading): HealthCheck {
  const conditioned = lastLot && lastServed(lastLot);
  return {
    ...blockCheck(conditioned),
    details: { name, ...blockDetails(conditioned), lot: lastLot?.id ?? null },
  };
}

function deliveredCheck({ last, alarm, name, sampledAtMs }: DeliveredState): HealthCheck {
  const output = alarmInWords(alarm);
  return {
    ...blockCheck(last),
    ...(output === undefined ? {} : { status: 'warn' as const, output }),
    details: {
      ...blockDetails(last),
      alarm: alarmDetails(alarm),
      group: name,
      sampled_at: isoTime(sampledAtMs),
    },
  };
}

function blockCheck(block: AssessedBlock<string> | undefined): HealthCheck {
  const observedValue = block === undefined ? null : `${block.sp80022.passed}/${block.sp80022.total} passed`;
  return { componentType: 'component', status: 'pass', observedValue };
}

function blockDetails(block: AssessedBlock<string> | undefined): object {
  return {
    bits: block?.bits ?? null,
    sha256: block?.sha256 ?? null,
    smallest_p: block?.sp80022.smallestP ?? null,
    verified: block?.sp80022.verified ?? false,
    reason: block?.sp80022.reason ?? 'no block was tested yet',
  };
}

/** A figure of a source, or one for each value of a label. A null is left out. */
type Figures = number | null | Readonly<Record<string, number | null>>;

function familyOf(type: ExposedFamily['type']) {
  return (
    sources: readonly SourceReading[],
    name: string,
    help: string,
    of: (source: SourceReading) => Figures,
    label = '',
  ): ExposedFamily => {
    const samples = sources.flatMap((source) => {
      const figures = of(source);
      const named = typeof figures === 'number' ? { '': figures } : (figures ?? {});
      return Object.entries(named).flatMap(([each, value]) => {
        const labels = { source: source.name, ...(label === '' ? {} : { [label]: each }) };
        return value === null ? [] : [{ labels, value }];
      });
    });
    return { name, type, help, samples };
  };
}

const counted = familyOf('counter');
const measured = familyOf('gauge');

function stateFamily(sources: readonly SourceReading[]): ExposedFamily {
  return {
    name: 'qrn_source_state',
    type: 'gauge',
    help: '1 for the state that a quantum source is in.',
    samples: sources.flatMap(({ name, origin, state }) =>
      SOURCE_STATES.map((each) => ({
        labels: { source: name, origin, state: each },
        value: state === each ? 1 : 0,
      })),
    ),
  };
}

function lotFamilies(sources: readonly SourceReading[]): ExposedFamily[] {
  return [
    counted(
      sources,
      'qrn_lots_total',
      'Lots of a quantum source.',
      ({ lotsAccepted, lotsRejected }) => ({ accepted: lotsAccepted, rejected: lotsRejected }),
      'verdict',
    ),
    counted(
      sources,
      'qrn_source_conditioned_bytes_total',
      'Conditioned bytes of the lots that a quantum source gave.',
      ({ conditionedBytes }) => conditionedBytes,
    ),
    measured(
      sources,
      'qrn_lot_min_entropy_per_bit',
      'SP 800-90B estimate of the newest lot of a source.',
      ({ lastLot }) => lastLot?.minEntropyPerBit ?? null,
    ),
    measured(
      sources,
      'qrn_lot_nist_verified',
      '1 when the conditioned block of the newest lot of a source passed SP 800-22.',
      ({ lastLot }) => (lastLot === undefined ? null : nistVerified(lastLot) ? 1 : 0),
    ),
    measured(
      sources,
      'qrn_lot_timestamp_seconds',
      'When the newest lot of a source was read.',
      ({ lastLot }) => (lastLot === undefined ? null : lastLot.finishedAtMs / 1000),
    ),
  ];
}

/** SP 800-90B §4.4 on raw noise, since the start. */
function healthTestFamilies(sources: readonly SourceReading[]): ExposedFamily[] {
  return [
    counted(
      sources,
      'qrn_health_test_failures_total',
      'Failures of the health tests on raw noise.',
      ({ health }) => ({
        rct: health?.totals.rctFailures ?? 0,
        apt: health?.totals.aptFailures ?? 0,
        startup: health?.totals.startupFailures ?? 0,
        replay: health?.totals.replayFailures ?? 0,
      }),
      'test',
    ),
    counted(
      sources,
      'qrn_health_test_samples_total',
      'Raw bits tested.',
      ({ health }) => health?.totals.samples ?? 0,
    ),
    measured(
      sources,
      'qrn_health_test_longest_run',
      'Longest run of equal raw bits on any channel (RCT).',
      ({ health }) => health?.totals.longestRun ?? null,
    ),
    measured(
      sources,
      'qrn_health_test_rct_cutoff',
      'Run length at which the repetition count test fails.',
      ({ health }) => ({ ...health?.rctCutoffs }),
      'grade',
    ),
    measured(
      sources,
      'qrn_health_test_most_matches',
      'Most matches in any window of 1024 raw bits (APT).',
      ({ health }) => health?.totals.mostMatches ?? null,
    ),
    measured(
      sources,
      'qrn_health_test_apt_cutoff',
      'Matches at which the adaptive proportion test fails.',
      ({ health }) => ({ ...health?.aptCutoffs }),
      'grade',
    ),
    measured(
      sources,
      'qrn_health_test_latched',
      '1 when a permanent failure closed a source.',
      ({ health }) => ((health?.latchedBy.length ?? 0) > 0 ? 1 : 0),
    ),
  ];
}

/**
 * What sources that cost money or calls took of their providers on this UTC day. A source without a bound has
 * no series of it.
 */
function spendFamilies(sources: readonly SourceReading[]): ExposedFamily[] {
  return [
    measured(
      sources,
      'qrn_source_spend_today',
      'What a source cost on this UTC day, as estimated before each read.',
      ({ spend }) => spend && { [spend.currency]: spend.amount },
      'currency',
    ),
    measured(
      sources,
      'qrn_source_budget_per_day',
      'What a source may cost on a UTC day.',
      ({ spend }) => spend && { [spend.currency]: spend.limits.amountPerDay },
      'currency',
    ),
    measured(
      sources,
      'qrn_source_calls_today',
      'Calls or jobs that a source took of its provider on this UTC day.',
      ({ spend }) => spend?.calls ?? null,
    ),
    measured(
      sources,
      'qrn_source_calls_per_day',
      'Calls or jobs that a source may take of its provider on a UTC day.',
      ({ spend }) => spend?.limits.callsPerDay ?? null,
    ),
  ];
}
