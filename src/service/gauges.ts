import type { ExposedFamily } from '../http/metrics.ts';
import { pureSecondsLeft, type Readings, SERVICE_VERSION, seedSecondsLeft } from './readings.ts';
import { sourceFamilies } from './source-gauges.ts';

/** What a process uses, as the operating system counts it. */
export interface ProcessUse {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/** What is read off when Prometheus asks, beside what the fronts count. Names: its conventions, base units. */
export function gaugeFamilies(readings: Readings, use: ProcessUse): ExposedFamily[] {
  return [
    ...ledgerFamilies(readings),
    ...poolFamilies(readings),
    ...seedFamilies(readings),
    ...sourceFamilies(readings.sources),
    gauge(
      'qrn_csprng_ready',
      '1 when the system source is tested and serves.',
      readings.systemLot === undefined ? 0 : 1,
    ),
    ...processFamilies(readings, use),
  ];
}

function gauge(name: string, help: string, value: number): ExposedFamily {
  return { name, type: 'gauge', help, samples: [{ value }] };
}

function labelled(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  label: string,
  values: Readonly<Record<string, number>>,
): ExposedFamily {
  const samples = Object.entries(values).map(([each, value]) => ({ labels: { [label]: each }, value }));
  return { name, type, help, samples };
}

/** No value is told where there is none: a rate of zero has no time to empty. */
function known(name: string, help: string, value: number | null): ExposedFamily {
  return value === null ? { name, type: 'gauge', help, samples: [] } : gauge(name, help, value);
}

function ledgerFamilies({ ledger, diskFreeBytes, logEntries }: Readings): ExposedFamily[] {
  const { writable, writtenInMs } = ledger;
  return [
    gauge('qrn_ledger_writable', '1 when an answer could be written down now.', writable ? 1 : 0),
    known(
      'qrn_ledger_probe_duration_seconds',
      'What the last trial write took to be durable.',
      writtenInMs === null ? null : writtenInMs / 1000,
    ),
    gauge('qrn_log_entries', 'Entries of the signed log: certificates and revocations.', logEntries),
    gauge('qrn_disk_free_bytes', 'Bytes that may still be written to the data folder.', diskFreeBytes),
  ];
}

function poolFamilies(readings: Readings): ExposedFamily[] {
  const { levels, pureBytesHigh } = readings;
  return [
    labelled('qrn_pool_bytes', 'gauge', 'Conditioned quantum bytes on disk, not claimed yet.', 'kind', {
      pure: levels.pure.bytes,
      seed: levels.seed.bytes,
    }),
    gauge('qrn_pool_pure_high_bytes', 'The level up to which pure bytes are kept.', pureBytesHigh),
    gauge('qrn_pool_seeds', 'Seeds on hand.', levels.seed.blocks),
    known(
      'qrn_pool_pure_empty_seconds',
      'Time until pure bytes run out at the rate of the last five minutes, without new lots.',
      pureSecondsLeft(readings),
    ),
    known(
      'qrn_pool_seeds_empty_seconds',
      'Time until the last seed on hand is taken, without new lots.',
      seedSecondsLeft(readings),
    ),
  ];
}

function seedFamilies({ seeds }: Readings): ExposedFamily[] {
  const taken = seeds.filter(({ ageMs }) => ageMs !== null);
  const by = (of: (seed: (typeof seeds)[number]) => number, among = seeds) =>
    Object.fromEntries(among.map((seed) => [seed.group, of(seed)]));
  return [
    labelled(
      'qrn_seed_age_seconds',
      'gauge',
      'Age of the seed last taken, by tier and interval.',
      'group',
      by(({ ageMs }) => (ageMs ?? 0) / 1000, taken),
    ),
    labelled(
      'qrn_seed_interval_seconds',
      'gauge',
      'Interval after which a seed ends.',
      'group',
      by(({ intervalMs }) => intervalMs / 1000),
    ),
    labelled(
      'qrn_seed_in_force',
      'gauge',
      '1 when the group has a seed to draw from.',
      'group',
      by(({ inForce }) => (inForce ? 1 : 0)),
    ),
  ];
}

function processFamilies({ startedAtMs }: Readings, use: ProcessUse): ExposedFamily[] {
  return [
    labelled('qrn_build_info', 'gauge', 'The version that runs.', 'version', { [SERVICE_VERSION]: 1 }),
    {
      name: 'process_cpu_seconds_total',
      type: 'counter',
      help: 'CPU time of all threads, user and system.',
      samples: [{ value: use.cpuSeconds }],
    },
    gauge('process_resident_memory_bytes', 'Resident memory.', use.residentBytes),
    gauge('process_start_time_seconds', 'Unix time of the start.', startedAtMs / 1000),
  ];
}
