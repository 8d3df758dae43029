import { isoTime } from '../core/clock.ts';
import { type AssessedBlock, type LotRecord, nistVerified } from '../ledger/records.ts';
import type { SourceState } from '../pool/intake/collector.ts';
import type { AlarmState } from '../pool/intake/lot-alarm.ts';
import type { DaySpend, Readings, SourceReading } from './readings.ts';
import { rounded, rowsOf } from './row.ts';

/** A check warns when a source has used this share of its budget or its calls of the day. */
const SPENT_HIGH = 0.9;

const SOURCE_STATES: readonly SourceState[] = ['ok', 'standby', 'starting', 'failing', 'closed'];

const ALARM_WORDS = {
  refusals: 'more lots are rejected than chance explains',
  rejections: 'more blocks fail SP 800-22 than chance explains',
  fall: 'the estimated min-entropy falls from lot to lot',
  rise: 'the estimated min-entropy rises from lot to lot',
} as const;

const name = (source: { readonly name: string }) => source.name;
const bySource = { name, labels: (source: SourceReading) => ({ source: source.name }) };
const source = rowsOf<SourceReading>({ of: ({ sources }) => sources, ...bySource });
const sourceWithOrigin = rowsOf<SourceReading>({
  of: ({ sources }) => sources,
  labels: ({ name: named, origin }) => ({ source: named, origin }),
});
/** Sources that cost money or calls. */
const paidSource = rowsOf<SourceReading & { readonly spend: DaySpend }>({
  of: ({ sources }) =>
    sources.flatMap((each) => (each.spend === null ? [] : [{ ...each, spend: each.spend }])),
  ...bySource,
});
const systemSource = rowsOf<Readings>({ of: (readings) => [readings], name: () => 'system' });
const delivered = rowsOf({ of: (readings) => readings.delivered, name });

/**
 * The entropy sources, the most preferred first, and the results of the statistical tests, separately for raw noise,
 * conditioned bits and the delivered stream (docs/evidence.md).
 */
export const SOURCE_ROWS = [
  source({
    check: 'source:state',
    value: ({ state }) => state,
    failWhen: ({ state }) => state === 'closed',
    warnWhen: ({ state }) => state === 'starting' || state === 'failing',
    advice: ({ lastError }) => lastError,
    details: (each, { sources }) => ({
      origin: each.origin,
      ...(each.isDeclared ? { declared: true } : {}),
      share_of_lots: shareOf(each, sources, ({ lotsAccepted }) => lotsAccepted),
      share_of_bytes: shareOf(each, sources, ({ conditionedBytes }) => conditionedBytes),
    }),
    metrics: {
      qrn_source_reads_total: [
        'Number of reads of an entropy source, by result.',
        ({ reads }) => ({ ...reads }),
        'result',
      ],
    },
  }),
  systemSource({
    check: 'source:state',
    value: ({ systemLot }) => (systemLot === undefined ? 'starting' : systemLot === null ? 'failing' : 'ok'),
    warnWhen: ({ systemLot }) => systemLot == null,
    details: () => ({ origin: 'system' }),
  }),
  sourceWithOrigin({
    metrics: {
      qrn_source_state: [
        '1 for the present state of an entropy source, 0 for all other states.',
        ({ state }) => Object.fromEntries(SOURCE_STATES.map((each) => [each, state === each])),
        'state',
      ],
    },
  }),
  paidSource({
    // a source that has reached its limit is not read until the next UTC day
    check: 'source:spend',
    value: ({ spend }) => spend.amount,
    unit: ({ spend }) => spend.currency,
    warnWhen: ({ spend: { amount, calls, limits } }) =>
      isClose(amount, limits.amountPerDay) || isClose(calls, limits.callsPerDay),
    details: () => ({ of: 'this UTC day, as estimated before each read' }),
    metrics: {
      qrn_source_spend_today: [
        'Cost of a source on this UTC day in its currency, as estimated before each read.',
        ({ spend }) => ({ [spend.currency]: spend.amount }),
        'currency',
      ],
      qrn_source_budget_per_day: [
        'Maximum cost of a source per UTC day, in its currency.',
        ({ spend }) => ({ [spend.currency]: spend.limits.amountPerDay }),
        'currency',
      ],
      qrn_source_calls_today: [
        'Number of calls or jobs of a source on this UTC day.',
        ({ spend }) => spend.calls,
      ],
      qrn_source_calls_per_day: [
        'Maximum number of calls or jobs of a source per UTC day.',
        ({ spend }) => spend.limits.callsPerDay,
      ],
    },
  }),
  source({
    // SP 800-90B §4.4 on raw noise, since the start
    check: 'source:health_tests',
    value: ({ health }) => (health?.totals.rctFailures ?? 0) + (health?.totals.aptFailures ?? 0),
    unit: 'failures',
    failWhen: ({ health }) => isLatched(health),
    warnWhen: ({ health }) => (health?.intermittentInARow ?? 0) > 0,
    details: ({ health }) =>
      health === null
        ? { reads: 0 }
        : {
            channels: health.width,
            claimed_min_entropy_per_bit: health.minEntropyPerBit,
            reads: health.reads,
            reads_failed: health.intermittentReads,
            apt_window: health.aptWindow,
            startup_passed: health.startupPassed,
            latched_by: health.latchedBy,
          },
    metrics: {
      qrn_health_test_failures_total: [
        'Number of failures of the health tests on raw bits.',
        ({ health }) => ({
          rct: health?.totals.rctFailures ?? 0,
          apt: health?.totals.aptFailures ?? 0,
          startup: health?.totals.startupFailures ?? 0,
          replay: health?.totals.replayFailures ?? 0,
        }),
        'test',
      ],
      qrn_health_test_samples_total: [
        'Number of raw bits that the health tests have tested.',
        ({ health }) => health?.totals.samples ?? 0,
      ],
      qrn_health_test_longest_run: [
        'Length of the longest run of equal raw bits on any channel (repetition count test).',
        ({ health }) => health?.totals.longestRun,
      ],
      qrn_health_test_rct_cutoff: [
        'Run length at which the repetition count test fails.',
        ({ health }) => ({ ...health?.rctCutoffs }),
        'grade',
      ],
      qrn_health_test_most_matches: [
        'Highest number of matches in any window of 1024 raw bits (adaptive proportion test).',
        ({ health }) => health?.totals.mostMatches,
      ],
      qrn_health_test_apt_cutoff: [
        'Number of matches at which the adaptive proportion test fails.',
        ({ health }) => ({ ...health?.aptCutoffs }),
        'grade',
      ],
      qrn_health_test_latched: [
        '1 if a permanent failure closed the source, otherwise 0.',
        ({ health }) => isLatched(health),
      ],
    },
  }),
  source({
    check: 'source:last_lot',
    value: ({ lastLot }) => lastLot && (lastLot.accepted ? 'accepted' : 'rejected'),
    warnWhen: ({ lastLot, alarm }) => lastLot?.accepted === false || alarm.raisedBy !== null,
    advice: ({ lastLot, alarm }) => (lastLot?.accepted === false ? lastLot.rejection : alarmInWords(alarm)),
    details: ({ lastLot, alarm }) => ({
      lot: lastLot?.id ?? null,
      evidence: lastLot?.evidence?.claim ?? null,
      alarm: alarmDetails(alarm),
    }),
    metrics: {
      qrn_lots_total: [
        'Number of lots of an entropy source, by result.',
        ({ lotsAccepted, lotsRejected }) => ({ accepted: lotsAccepted, rejected: lotsRejected }),
        'verdict',
      ],
      qrn_source_conditioned_bytes_total: [
        'Number of conditioned bytes in the lots of an entropy source.',
        'conditionedBytes',
      ],
      qrn_lot_min_entropy_per_bit: [
        'Estimated min-entropy per raw bit of the latest lot of a source (SP 800-90B).',
        ({ lastLot }) => lastLot?.minEntropyPerBit,
      ],
      qrn_lot_nist_verified: [
        '1 if the conditioned block of the latest lot of a source passed SP 800-22, otherwise 0.',
        ({ lastLot }) => lastLot && nistVerified(lastLot),
      ],
      qrn_lot_timestamp_seconds: [
        'Unix time at which the latest lot of a source was read.',
        ({ lastLot }) => lastLot && lastLot.finishedAtMs / 1000,
      ],
      qrn_source_alarm: [
        'Evidence in bits that the recent lots of a source as a whole are not those of a sound source. An alarm is raised at 20.',
        ({ alarm }) => alarm.bits,
      ],
    },
  }),
  // Raw noise may be biased, so it need not pass SP 800-22. The health tests and the entropy estimate decide on it.
  source({
    check: 'source:raw_noise',
    value: ({ lastLot }) => passedOf(rawBlock(lastLot)),
    details: ({ lastLot }) => ({
      ...blockDetails(rawBlock(lastLot)),
      lot: lastLot?.id ?? null,
      min_entropy_method: lastLot?.minEntropyMethod ?? null,
    }),
  }),
  source({
    check: 'source:conditioned',
    value: ({ lastLot }) => passedOf(lastServed(lastLot)),
    details: ({ lastLot }) => ({ ...blockDetails(lastServed(lastLot)), lot: lastLot?.id ?? null }),
  }),
  delivered({
    check: 'delivery:sample',
    value: ({ last }) => passedOf(last),
    warnWhen: ({ alarm }) => alarm.raisedBy !== null,
    advice: ({ alarm }) => alarmInWords(alarm),
    details: ({ last, alarm, sampledAtMs }) => ({
      ...blockDetails(last),
      alarm: alarmDetails(alarm),
      sampled_at: isoTime(sampledAtMs),
    }),
  }),
];

/** Returns the source's share of what all sources gave since the start; null when they gave nothing. */
function shareOf(
  source: SourceReading,
  all: readonly SourceReading[],
  amount: (source: SourceReading) => number,
): number | null {
  const total = all.reduce((sum, each) => sum + amount(each), 0);
  return total === 0 ? null : rounded(amount(source) / total);
}

function isClose(spent: number, limit: number | null): boolean {
  return limit !== null && spent >= SPENT_HIGH * limit;
}

function isLatched(health: SourceReading['health']): boolean {
  return (health?.latchedBy.length ?? 0) > 0;
}

function alarmInWords({ raisedBy }: AlarmState): string | undefined {
  return raisedBy === null ? undefined : ALARM_WORDS[raisedBy];
}

function alarmDetails({ bits, alarmBits, raisedBy }: AlarmState): object {
  return { bits: rounded(bits), alarm_bits: alarmBits, raised_by: raisedBy };
}

function rawBlock(lot: LotRecord | undefined): AssessedBlock | undefined {
  return lot?.assessments.findLast((block) => block.of === 'raw');
}

/** Returns the lot's last verified block of those that answers are drawn from, or else the last such block. */
function lastServed(lot: LotRecord | undefined): AssessedBlock | undefined {
  const served = lot?.assessments.filter((each) => each.of !== 'raw') ?? [];
  return served.findLast((each) => each.sp80022.verified) ?? served.at(-1);
}

function passedOf(block: AssessedBlock<string> | undefined): string | undefined {
  return block && `${block.sp80022.passed}/${block.sp80022.total} passed`;
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
