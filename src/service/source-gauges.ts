import type { ExposedFamily } from '../http/metrics.ts';
import { nistVerified } from '../ledger/lot-facts.ts';
import type { DaySpend, SourceReading } from './readings.ts';

const SOURCE_STATES = ['ok', 'standby', 'starting', 'failing', 'closed'] as const;

/** Values by a label; one without a label stands under the empty name. A null is not told. */
type Values = Readonly<Record<string, number | null>>;

/** Of each quantum source, by its name: as many as the operator configured. */
export function sourceFamilies(sources: readonly SourceReading[]): ExposedFamily[] {
  const family = (
    type: ExposedFamily['type'],
    name: string,
    help: string,
    label: string,
    of: (source: SourceReading) => Values,
  ): ExposedFamily => ({
    name,
    type,
    help,
    samples: sources.flatMap((source) => {
      const values = Object.entries(of(source)).filter(([, value]) => value !== null);
      return values.map(([each, value]) => {
        const labels = label === '' ? {} : { [label]: each };
        return { labels: { source: source.name, ...labels }, value: value! };
      });
    }),
  });
  const counted = (name: string, help: string, label: string, of: (source: SourceReading) => Values) =>
    family('counter', name, help, label, of);
  const gauge = (name: string, help: string, of: (source: SourceReading) => number | null) =>
    family('gauge', name, help, '', (source) => ({ '': of(source) }));
  return [
    stateFamily(sources),
    counted(
      'qrn_source_reads_total',
      'Reads of a quantum source by what came of them.',
      'result',
      (source) => ({
        ...source.reads,
      }),
    ),
    counted('qrn_lots_total', 'Lots of a quantum source.', 'verdict', (source) => ({
      accepted: source.lotsAccepted,
      rejected: source.lotsRejected,
    })),
    counted(
      'qrn_source_conditioned_bytes_total',
      'Conditioned bytes of the lots that a quantum source gave.',
      '',
      (source) => ({ '': source.conditionedBytes }),
    ),
    ...spendFamilies(sources),
    gauge(
      'qrn_lot_min_entropy_per_bit',
      'SP 800-90B estimate of the newest lot of a source.',
      ({ lastLot }) => lastLot?.minEntropyPerBit ?? null,
    ),
    gauge(
      'qrn_lot_nist_verified',
      '1 when the conditioned block of the newest lot of a source passed SP 800-22.',
      ({ lastLot }) => (lastLot === undefined ? null : nistVerified(lastLot) ? 1 : 0),
    ),
    gauge('qrn_lot_timestamp_seconds', 'When the newest lot of a source was read.', ({ lastLot }) =>
      lastLot === undefined ? null : lastLot.finishedAtMs / 1000,
    ),
    // SP 800-90B §4.4 on raw noise, since the start
    counted(
      'qrn_health_test_failures_total',
      'Failures of the health tests on raw noise.',
      'test',
      ({ health }) => ({
        rct: health?.totals.rctFailures ?? 0,
        apt: health?.totals.aptFailures ?? 0,
        startup: health?.totals.startupFailures ?? 0,
        replay: health?.totals.replayFailures ?? 0,
      }),
    ),
    counted('qrn_health_test_samples_total', 'Raw bits tested.', '', ({ health }) => ({
      '': health?.totals.samples ?? 0,
    })),
    gauge(
      'qrn_health_test_longest_run',
      'Longest run of equal raw bits on any channel (RCT).',
      ({ health }) => health?.totals.longestRun ?? null,
    ),
    family(
      'gauge',
      'qrn_health_test_rct_cutoff',
      'Run length at which the repetition count test fails.',
      'grade',
      ({ health }) => ({ ...health?.rctCutoffs }),
    ),
    gauge(
      'qrn_health_test_most_matches',
      'Most matches in any window of 1024 raw bits (APT).',
      ({ health }) => health?.totals.mostMatches ?? null,
    ),
    family(
      'gauge',
      'qrn_health_test_apt_cutoff',
      'Matches at which the adaptive proportion test fails.',
      'grade',
      ({ health }) => ({ ...health?.aptCutoffs }),
    ),
    gauge('qrn_health_test_latched', '1 when a permanent failure closed a source.', ({ health }) =>
      (health?.latchedBy.length ?? 0) > 0 ? 1 : 0,
    ),
  ];
}

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

/** What sources that cost took of their providers on this UTC day. No bound, no series of it. */
function spendFamilies(sources: readonly SourceReading[]): ExposedFamily[] {
  const family = (
    name: string,
    help: string,
    of: (spend: DaySpend) => number | null,
    labelsOf: (spend: DaySpend) => Readonly<Record<string, string>>,
  ): ExposedFamily => ({
    name,
    type: 'gauge',
    help,
    samples: sources.flatMap(({ name: source, spend }) => {
      const value = spend && of(spend);
      return value === null ? [] : [{ labels: { source, ...labelsOf(spend!) }, value }];
    }),
  });
  const money = ({ currency }: DaySpend) => ({ currency });
  const calls = () => ({});
  return [
    family(
      'qrn_source_spend_today',
      'What a source cost on this UTC day, as estimated before each read.',
      ({ amount }) => amount,
      money,
    ),
    family(
      'qrn_source_budget_per_day',
      'What a source may cost on a UTC day.',
      ({ limits }) => limits.amountPerDay,
      money,
    ),
    family(
      'qrn_source_calls_today',
      'Calls or jobs that a source took of its provider on this UTC day.',
      (spend) => spend.calls,
      calls,
    ),
    family(
      'qrn_source_calls_per_day',
      'Calls or jobs that a source may take of its provider on a UTC day.',
      ({ limits }) => limits.callsPerDay,
      calls,
    ),
  ];
}
