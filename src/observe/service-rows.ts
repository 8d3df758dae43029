import { isoTime } from '../core/clock.ts';
import { PENDING_ANSWERS, WORKERS_QUEUE } from '../core/metrics.ts';
import type { HealthStatus } from '../http/plain-routes.ts';
import type { ScrubState } from '../ledger/integrity.ts';
import { type JournalFault, journalFaultOf } from '../ledger/journal.ts';
import { DATABASE_ROW } from './database-row.ts';
import { counter, type ExposedFamily, gauge, labelled } from './exposition.ts';
import {
  pureSecondsLeft,
  type ReadingRow,
  type Readings,
  rounded,
  SERVICE_VERSION,
  type SeedReading,
  seedSecondsLeft,
} from './readings.ts';

/*
 * The thresholds at which a check warns. A warning asks an operator to look before users are affected;
 * docs/operations.md explains each one and what to do, and deploy/prometheus/alerts.yml uses the same
 * figures.
 */
/** Many times the largest small request; the ring of a front takes as much. */
const PURE_LOW_BYTES = 64 * 1024;
const SECONDS_LEFT_LOW = 600;
const COMMIT_P50_HIGH_MS = 100;
const COMMIT_MAX_HIGH_MS = 1_000;
/** A lot is logged at once and cosigned a second later; its assessment is part of its age. */
const HELD_LATE_MS = 60_000;
/** Half of what sheds requests (workers/dispatch.ts). */
const QUEUE_HIGH = 32;
/** Four times the floor under which the ledger takes no more answers. */
const DISK_LOW_BYTES = 1024 * 1024 * 1024;
/** A garbage collection makes one second late, a start makes a few. */
const LATE_SECONDS_HIGH = 10;

const CLOCK_ADVICE =
  'The system clock jumped. The service goes on by its own time, is not ready and deletes nothing. ' +
  'Correct the clock, or restart the service if the clock is right now.';

const SCRUB_ADVICE =
  'Stored records are damaged. Copy the data folder, run `qrn ledger audit` and restore a backup; see docs/operations.md.';

const HELD_ADVICE =
  'Nothing is drawn from these lots until their leaves are in a signed checkpoint, with QRN_WITNESSES in one that ' +
  'QRN_WITNESS_QUORUM witnesses have cosigned. The log says which witness does not cosign, and why.';

const START_AUDIT_STATUS = { running: 'warn', sound: 'pass', damaged: 'fail' } as const;

const JOURNAL_ADVICE: Readonly<Record<JournalFault, string>> = {
  damaged:
    'a start found acknowledged answers in this file damaged by the disk; see docs/operations.md, then remove the file',
  foreign:
    'a start found this journal beside a data file that it does not belong to, and stored nothing of it; see docs/operations.md, then remove the file',
};

const NOT_YET_SAMPLED =
  'The csprng stream is not yet sampled. The first request of the mode has it sampled and waits for that, a second or two; otherwise it is sampled a minute after the start.';

/** The ledger, the stocks that each mode draws on, and the seeds in force. */
export const SERVICE_ROWS: readonly ReadingRow[] = [
  {
    check: {
      name: 'ledger:writable',
      of: ({ ledger }) => ({
        componentType: 'datastore',
        status: ledger.writable ? 'pass' : 'fail',
        observedValue: ledger.writable,
        ...(ledger.reason === '' ? {} : { output: ledger.reason }),
        details: {
          written_at: isoTime(ledger.writtenAtMs),
          written_in_ms: rounded(ledger.writtenInMs),
        },
      }),
    },
    families: ({ ledger: { writable, writtenInMs } }) => [
      gauge('qrn_ledger_writable', '1 when an answer could be written down now.', writable ? 1 : 0),
      gauge(
        'qrn_ledger_probe_duration_seconds',
        'How long the last trial write took to become durable.',
        writtenInMs === null ? null : writtenInMs / 1000,
      ),
    ],
  },
  {
    check: {
      name: 'ledger:journals',
      optional: true,
      of: ({ journalFaults }) =>
        journalFaults.map((name) => ({
          componentType: 'datastore',
          status: 'warn',
          observedValue: name,
          output: JOURNAL_ADVICE[journalFaultOf(name) ?? 'damaged'],
        })),
    },
  },
  {
    check: {
      name: 'ledger:audit',
      optional: true,
      of: ({ integrity: { startAudit } }) =>
        startAudit === 'none'
          ? null
          : {
              componentType: 'datastore',
              status: START_AUDIT_STATUS[startAudit],
              observedValue: startAudit,
              details: { of: 'the audit after an unclean stop' },
            },
    },
  },
  {
    check: {
      name: 'ledger:scrub',
      optional: true,
      of: ({ integrity: { scrub } }) => scrub && scrubCheck(scrub),
    },
    families: ({ integrity: { scrub } }) => scrub && scrubFamilies(scrub),
  },
  DATABASE_ROW,
  {
    check: {
      name: 'clock:wall',
      of: ({ clockJumpMs }) => ({
        componentType: 'system',
        status: clockJumpMs === 0 ? 'pass' : 'fail',
        observedValue: Math.round(clockJumpMs / 1_000),
        observedUnit: 's',
        ...(clockJumpMs === 0 ? {} : { output: CLOCK_ADVICE }),
      }),
    },
    families: ({ clockJumpMs }) =>
      gauge(
        'qrn_clock_jump_seconds',
        'How far the system clock jumped from the time that the service goes by.',
        clockJumpMs / 1_000,
      ),
  },
  {
    check: {
      name: 'ledger:commit_time',
      of: ({ minute: { commitP50Ms, commitMaxMs, commits } }) => {
        const isSlow = (commitP50Ms ?? 0) > COMMIT_P50_HIGH_MS || (commitMaxMs ?? 0) > COMMIT_MAX_HIGH_MS;
        return {
          componentType: 'datastore',
          status: isSlow ? 'warn' : 'pass',
          observedValue: rounded(commitP50Ms),
          observedUnit: 'ms',
          details: { of: 'median of the last minute', max_ms: rounded(commitMaxMs), commits },
        };
      },
    },
  },
  {
    check: {
      name: 'ledger:pending_answers',
      of: ({ totals }) => ({
        componentType: 'datastore',
        status: 'pass',
        observedValue: totals.value(PENDING_ANSWERS),
        observedUnit: 'answers',
      }),
    },
    families: ({ logEntries }) =>
      gauge('qrn_log_entries', 'Entries of the signed log: certificates and revocations.', logEntries),
  },
  {
    check: { name: 'pool:pure', of: pureCheck },
    families: (readings) => [
      labelled('qrn_pool_bytes', 'Conditioned quantum bytes on disk that are not claimed yet.', 'kind', {
        pure: readings.levels.pure.bytes,
        seed: readings.levels.seed.bytes,
      }),
      gauge('qrn_pool_pure_high_bytes', 'The level up to which pure bytes are kept.', readings.pureBytesHigh),
      gauge(
        'qrn_pool_pure_empty_seconds',
        'Time until pure bytes run out at the rate of the last five minutes, without new lots.',
        pureSecondsLeft(readings),
      ),
    ],
  },
  {
    check: {
      name: 'pool:held_lots',
      optional: true,
      of: ({ pendingLots }) => (pendingLots.lots === 0 ? null : pendingLotsCheck(pendingLots)),
    },
  },
  {
    check: { name: 'log:witness', optional: true, of: ({ witnesses }) => witnesses.map(witnessCheck) },
    families: ({ witnesses }) => (witnesses.length === 0 ? [] : witnessFamilies(witnesses)),
  },
  {
    check: { name: 'pool:quantum-seeded', of: seededCheck },
    families: (readings) => [
      gauge('qrn_pool_seeds', 'Seeds on hand.', readings.levels.seed.blocks),
      gauge(
        'qrn_pool_seeds_empty_seconds',
        'Time until the last seed on hand is taken, without new lots.',
        seedSecondsLeft(readings),
      ),
    ],
  },
  {
    check: {
      name: 'pool:csprng',
      of: ({ systemLot }) => ({
        componentType: 'component',
        status: systemLot === undefined ? 'warn' : systemLot === null ? 'fail' : 'pass',
        observedValue: systemLot != null,
        details: { lot: systemLot?.id ?? null, seconds_to_empty: null },
        ...(systemLot === undefined ? { output: NOT_YET_SAMPLED } : {}),
      }),
    },
    families: ({ systemLot }) =>
      gauge('qrn_csprng_ready', '1 when the system source is tested and serves.', systemLot ? 1 : 0),
  },
  {
    check: { name: 'pool:seed_age', of: ({ seeds }) => seeds.map(seedAgeCheck) },
    families: ({ seeds }) => {
      const by = (of: (seed: SeedReading) => number | null) =>
        Object.fromEntries(seeds.map((seed) => [seed.group, of(seed)]));
      return [
        labelled(
          'qrn_seed_age_seconds',
          'Age of the newest seed, by tier and interval.',
          'group',
          by(({ ageMs }) => (ageMs === null ? null : ageMs / 1000)),
        ),
        labelled(
          'qrn_seed_interval_seconds',
          'Interval after which a seed ends.',
          'group',
          by(({ intervalMs }) => intervalMs / 1000),
        ),
        labelled(
          'qrn_seed_in_force',
          '1 when the group has a seed to draw from.',
          'group',
          by(({ inForce }) => (inForce ? 1 : 0)),
        ),
      ];
    },
  },
];

/** Threads, disk and process. */
export const SYSTEM_ROWS: readonly ReadingRow[] = [
  {
    check: {
      name: 'workers:queue',
      of: ({ totals }) => {
        const queue = totals.value(WORKERS_QUEUE);
        return {
          componentType: 'system',
          status: queue < QUEUE_HIGH ? 'pass' : 'warn',
          observedValue: queue,
          observedUnit: 'tasks',
        };
      },
    },
  },
  {
    check: {
      name: 'disk:free',
      of: ({ diskFreeBytes }) => ({
        componentType: 'system',
        status: diskFreeBytes < DISK_LOW_BYTES ? 'warn' : 'pass',
        observedValue: diskFreeBytes,
        observedUnit: 'bytes',
      }),
    },
    families: ({ diskFreeBytes }) =>
      gauge('qrn_disk_free_bytes', 'Bytes that may still be written to the data folder.', diskFreeBytes),
  },
  {
    families: ({ draws: { open, overdue, ...ended } }) => [
      gauge('qrn_draws_open', 'Committed draws that have not ended.', open),
      gauge('qrn_draws_overdue', 'Those of them that are due and wait for a beacon or a nonce.', overdue),
      labelled('qrn_draws_ended', 'Draws that ended since the start, by how they did.', 'state', {
        ...ended,
      }),
    ],
  },
  {
    families: ({ keptAnswerBytes }) =>
      gauge(
        'qrn_idempotent_answers_bytes',
        'Bytes of answers that are kept for 24 hours under their Idempotency-Key, at most 64 MiB of each account.',
        keptAnswerBytes,
      ),
  },
  {
    check: {
      name: 'eventloop:delay',
      of: ({ minute }) => ({
        componentType: 'system',
        status: minute.lateSeconds >= LATE_SECONDS_HIGH ? 'warn' : 'pass',
        observedValue: rounded(minute.loopDelayP99Ms),
        observedUnit: 'ms',
        details: {
          of: '99th percentile, worst second of the last minute',
          max_ms: rounded(minute.loopDelayMaxMs),
        },
      }),
    },
  },
  {
    families: ({ startedAtMs, use }) => [
      labelled('qrn_build_info', 'The running version.', 'version', { [SERVICE_VERSION]: 1 }),
      counter('process_cpu_seconds_total', 'CPU time of all threads, user and system.', use.cpuSeconds),
      gauge('process_resident_memory_bytes', 'Resident memory.', use.residentBytes),
      gauge('process_start_time_seconds', 'Unix time of the start.', startedAtMs / 1000),
    ],
  },
];

function scrubCheck({ passes, records, passedAtMs, passMs, damaged, problems }: ScrubState) {
  return {
    componentType: 'datastore',
    status: damaged === 0 ? 'pass' : 'fail',
    observedValue: damaged,
    observedUnit: 'damaged records',
    ...(damaged === 0 ? {} : { output: `${SCRUB_ADVICE} First found: ${problems.slice(0, 5).join('; ')}` }),
    details: {
      passes,
      records,
      passed_at: isoTime(passedAtMs),
      pass_s: passMs === null ? null : rounded(passMs / 1000),
    },
  } as const;
}

function scrubFamilies({ passes, records, bytes, damaged, passedAtMs, passMs }: ScrubState): ExposedFamily[] {
  return [
    counter('qrn_ledger_scrub_passes_total', 'Complete walks of the scrub over the ledger.', passes),
    counter('qrn_ledger_scrub_records_total', 'Records that the scrub read and checked.', records),
    counter('qrn_ledger_scrub_bytes_total', 'Stored bytes that the scrub read and checked.', bytes),
    counter(
      'qrn_ledger_scrub_damaged_total',
      'Different damage that the scrub found since the start.',
      damaged,
    ),
    gauge(
      'qrn_ledger_scrub_pass_seconds',
      'How long the last complete walk took.',
      passMs === null ? null : passMs / 1000,
    ),
    gauge(
      'qrn_ledger_scrub_passed_time_seconds',
      'Unix time at which the last complete walk ended.',
      passedAtMs === null ? null : passedAtMs / 1000,
    ),
  ];
}

function pureCheck(readings: Readings) {
  const { levels, pureBytesHigh, pureBytesPerS, sources } = readings;
  const leftS = pureSecondsLeft(readings);
  const isClosed = sources.every(({ state }) => state === 'closed');
  const isOpen = !isClosed && levels.pure.bytes > 0;
  return {
    componentType: 'component',
    status: isOpen ? lowOr(levels.pure.bytes < PURE_LOW_BYTES, leftS) : 'fail',
    observedValue: levels.pure.bytes,
    observedUnit: 'bytes',
    details: {
      filled_up_to: pureBytesHigh,
      drawn_per_s: rounded(pureBytesPerS),
      seconds_to_empty: rounded(leftS),
    },
  } as const;
}

function pendingLotsCheck({ lots, oldestMs }: Readings['pendingLots']) {
  const isLate = oldestMs > HELD_LATE_MS;
  return {
    componentType: 'component',
    status: isLate ? 'warn' : 'pass',
    observedValue: lots,
    observedUnit: 'lots',
    ...(isLate ? { output: HELD_ADVICE } : {}),
    details: { oldest_s: Math.round(oldestMs / 1_000) },
  } as const;
}

function witnessFamilies(witnesses: Readings['witnesses']): ExposedFamily[] {
  const each = (value: (witness: Readings['witnesses'][number]) => number | null) =>
    Object.fromEntries(witnesses.map((witness) => [witness.name, value(witness)]));
  return [
    labelled(
      'qrn_witness_cosigned_leaves',
      'Leaves of the log that a witness cosigned last.',
      'witness',
      each(({ size }) => size),
    ),
    labelled(
      'qrn_witness_cosigned_timestamp_seconds',
      'When a witness says that it cosigned them.',
      'witness',
      each(({ cosignedAtS }) => cosignedAtS),
    ),
    labelled(
      'qrn_witness_failing',
      '1 when a witness did not cosign when it was asked last.',
      'witness',
      each(({ failure }) => (failure === null ? 0 : 1)),
    ),
  ];
}

/** A witness that is away delays no answer and no certificate; without the quorum no lot is released. */
function witnessCheck({ name, size, cosignedAtS, failure }: Readings['witnesses'][number]) {
  return {
    componentType: 'component',
    status: failure === null ? 'pass' : 'warn',
    observedValue: size,
    observedUnit: 'leaves',
    ...(failure === null ? {} : { output: `${name} does not cosign: ${failure}` }),
    details: {
      witness: name,
      cosigned_at: cosignedAtS === null ? null : new Date(cosignedAtS * 1_000).toISOString(),
    },
  } as const;
}

function seededCheck(readings: Readings) {
  const { levels, seeds } = readings;
  const leftS = seedSecondsLeft(readings);
  return {
    componentType: 'component',
    status: seeds.every(({ inForce }) => inForce) ? lowOr(levels.seed.blocks === 0, leftS) : 'fail',
    observedValue: levels.seed.blocks,
    observedUnit: 'seeds',
    details: { seconds_to_empty: rounded(leftS) },
  } as const;
}

function lowOr(isLow: boolean, secondsLeft: number | null): HealthStatus {
  return isLow || (secondsLeft !== null && secondsLeft < SECONDS_LEFT_LOW) ? 'warn' : 'pass';
}

function seedAgeCheck({ group, intervalMs, ageMs, generation, inForce }: SeedReading) {
  return {
    componentType: 'component',
    status: inForce ? 'pass' : 'fail',
    observedValue: ageMs === null ? null : Math.round(ageMs / 1000),
    observedUnit: 's',
    details: { group, interval_s: intervalMs / 1000, generation },
  } as const;
}
