import { isoTime } from '../core/clock.ts';
import { COUNTED } from '../core/metrics.ts';
import { pureSecondsLeft, type Readings, SERVICE_VERSION, seedSecondsLeft } from './readings.ts';
import { rounded, rowsOf } from './row.ts';

/*
 * The thresholds at which checks warn. A warning asks an operator to look before users are affected. docs/operations.md
 * explains each one and what to do; deploy/prometheus/alerts.yml uses the same figures.
 */
/** Many times the largest small request, and as much as the ring of a front holds. */
const PURE_LOW_BYTES = 64 * 1024;
const SECONDS_LEFT_LOW = 600;
const COMMIT_P50_HIGH_MS = 100;
const COMMIT_MAX_HIGH_MS = 1_000;
/** A lot is logged at once and cosigned a second later. Its age counts from its read, so it includes the assessment. */
const HELD_LATE_MS = 60_000;
/** Far below the queue at which a front refuses tasks (workers/dispatch.ts). */
const QUEUE_HIGH = 32;
/** Four times the free space below which the ledger refuses answers. */
const DISK_LOW_BYTES = 1024 * 1024 * 1024;
/** Far more than the one late second of a garbage collection or the few of a start. */
const LATE_SECONDS_HIGH = 10;

const CLOCK_ADVICE =
  'The system clock jumped. The service continues with its own time. It is not ready, and it deletes nothing. ' +
  'Correct the clock, or restart the service if the clock is now correct.';

const SCRUB_ADVICE =
  'Stored records are damaged. Copy the data folder, run `qrn ledger audit` and restore a backup. See docs/operations.md.';

const HELD_ADVICE =
  'The service draws nothing from these lots until their leaves are in a signed checkpoint. If QRN_WITNESSES is set, ' +
  'QRN_WITNESS_QUORUM witnesses must have cosigned it. The log names the witnesses that do not cosign, with the reasons.';

const NOT_YET_SAMPLED =
  'The csprng stream is not tested yet. The first csprng request starts the test and waits for it, one or two seconds. Without a request, the test starts one minute after the start of the service.';

const DATABASE_AWAY =
  'PostgreSQL does not answer. Until it does, the service refuses requests for values with 503. The log states the cause.';

const CLOCK_SKEWED =
  'The clock of this node differs from the clock of PostgreSQL by more than one second, so the node is not ready. Correct the clock.';

const STANDBY_LATE =
  'Commits wait for a standby of PostgreSQL. Until a standby follows, the service refuses requests for values with 503. See pg_stat_replication.';

const service = rowsOf<Readings>({ of: (readings) => [readings] });
const startAudit = rowsOf<Readings['integrity']['startAudit']>({
  of: ({ integrity }) => (integrity.startAudit === 'none' ? [] : [integrity.startAudit]),
});
const scrub = rowsOf({ of: ({ integrity }) => (integrity.scrub === null ? [] : [integrity.scrub]) });
/** The database that several nodes share; none when the books are in a folder. */
const database = rowsOf({ of: ({ integrity }) => (integrity.database === null ? [] : [integrity.database]) });
const pendingLots = rowsOf({ of: ({ pendingLots: lots }) => (lots.lots === 0 ? [] : [lots]) });
const witness = rowsOf({
  of: ({ witnesses }) => witnesses,
  name: ({ name }) => name,
  labels: ({ name }) => ({ witness: name }),
});
const seed = rowsOf({
  of: ({ seeds }) => seeds,
  name: ({ group }) => group,
  labels: ({ group }) => ({ group }),
});

/** The ledger, the stocks that each mode draws on, and the seeds in force. */
export const SERVICE_ROWS = [
  service({
    check: 'ledger:writable',
    value: ({ ledger }) => ledger.writable,
    failWhen: ({ ledger }) => !ledger.writable,
    advice: ({ ledger }) => ledger.reason,
    details: ({ ledger }) => ({ written_at: isoTime(ledger.writtenAtMs) }),
    metrics: {
      qrn_ledger_writable: [
        '1 if the ledger can store answers now, otherwise 0.',
        ({ ledger }) => ledger.writable,
      ],
      qrn_ledger_probe_duration_seconds: [
        'Time until the last test write was durable, in seconds.',
        ({ ledger: { writtenInMs } }) => writtenInMs && writtenInMs / 1_000,
      ],
    },
  }),
  startAudit({
    check: 'ledger:audit',
    value: (state) => state,
    failWhen: (state) => state === 'damaged',
    warnWhen: (state) => state === 'running',
    details: () => ({ of: 'the audit after an unclean stop' }),
  }),
  scrub({
    check: 'ledger:scrub',
    value: ({ damaged }) => damaged,
    unit: 'damaged records',
    failWhen: ({ damaged }) => damaged > 0,
    advice: ({ problems }) => `${SCRUB_ADVICE} First found: ${problems.slice(0, 5).join('; ')}`,
    metrics: {
      qrn_ledger_scrub_passes_total: [
        'Number of complete passes of the background check over the ledger.',
        'passes',
      ],
      qrn_ledger_scrub_records_total: ['Number of records that the background check has read.', 'records'],
      qrn_ledger_scrub_bytes_total: ['Number of stored bytes that the background check has read.', 'bytes'],
      qrn_ledger_scrub_damaged_total: [
        'Number of damaged records that the background check has found since the start.',
        'damaged',
      ],
      qrn_ledger_scrub_pass_seconds: [
        'Duration of the last complete pass of the background check, in seconds.',
        'passMs',
      ],
      qrn_ledger_scrub_passed_time_seconds: [
        'Unix time at which the last complete pass of the background check ended.',
        'passedAtMs',
      ],
    },
  }),
  database({
    // Without the database nothing is acknowledged. A node with a different clock would begin months at another time.
    check: 'ledger:database',
    value: ({ isAway }) => !isAway,
    failWhen: ({ isAway, isSkewed, isStandbyLate }) => isAway || isSkewed || isStandbyLate,
    advice: ({ isAway, isSkewed }) => (isAway ? DATABASE_AWAY : isSkewed ? CLOCK_SKEWED : STANDBY_LATE),
    metrics: {
      qrn_database_up: ['1 if the database of the ledger answers, otherwise 0.', ({ isAway }) => !isAway],
      qrn_database_clock_skew_seconds: [
        'Time by which the clock of this node is ahead of the clock of the database, in seconds.',
        'skewMs',
      ],
      qrn_database_unsealed_segments: [
        'Number of segments of all nodes that are not logged yet.',
        'unsealedSegments',
      ],
    },
  }),
  service({
    check: 'clock:wall',
    value: ({ clockJumpMs }) => Math.round(clockJumpMs / 1_000),
    unit: 's',
    failWhen: ({ clockJumpMs }) => clockJumpMs !== 0,
    advice: CLOCK_ADVICE,
    metrics: {
      qrn_clock_jump_seconds: [
        'Difference between the system clock and the time of the service, in seconds.',
        'clockJumpMs',
      ],
    },
  }),
  service({
    check: 'ledger:commit_time',
    value: ({ minute }) => rounded(minute.commitP50Ms),
    unit: 'ms',
    warnWhen: ({ minute: { commitP50Ms, commitMaxMs } }) =>
      (commitP50Ms ?? 0) > COMMIT_P50_HIGH_MS || (commitMaxMs ?? 0) > COMMIT_MAX_HIGH_MS,
    details: ({ minute: { commitMaxMs, commits } }) => ({
      of: 'median of the last minute',
      max_ms: rounded(commitMaxMs),
      commits,
    }),
  }),
  service({
    check: 'ledger:pending_answers',
    value: ({ totals }) => totals.value(COUNTED.qrn_ledger_pending_answers),
    unit: 'answers',
    metrics: {
      qrn_log_entries: [
        'Number of leaves in the signed log: certificates, lots, withdrawals of lots, draws and statements.',
        'logEntries',
      ],
    },
  }),
  service({
    check: 'pool:pure',
    value: ({ levels }) => levels.pure.bytes,
    unit: 'bytes',
    failWhen: ({ levels, sources }) =>
      levels.pure.bytes === 0 || sources.every(({ state }) => state === 'closed'),
    warnWhen: (readings) => readings.levels.pure.bytes < PURE_LOW_BYTES || isShort(pureSecondsLeft(readings)),
    details: ({ pureBytesPerS }) => ({ drawn_per_s: rounded(pureBytesPerS) }),
    metrics: {
      qrn_pool_bytes: [
        'Pure bytes on disk that are not claimed yet.',
        ({ levels }) => ({ pure: levels.pure.bytes, seed: levels.seed.bytes }),
        'kind',
      ],
      qrn_pool_pure_high_bytes: [
        'Number of pure bytes up to which the reservoir is filled.',
        'pureBytesHigh',
      ],
      qrn_pool_pure_empty_seconds: [
        'Time until the pure bytes are used up at the rate of the last five minutes and without new lots, in seconds.',
        pureSecondsLeft,
      ],
    },
  }),
  pendingLots({
    check: 'pool:held_lots',
    value: ({ lots }) => lots,
    unit: 'lots',
    warnWhen: ({ oldestMs }) => oldestMs > HELD_LATE_MS,
    advice: HELD_ADVICE,
    details: ({ oldestMs }) => ({ oldest_s: Math.round(oldestMs / 1_000) }),
  }),
  witness({
    // A witness that is away delays no answer and no certificate. Without the quorum no lot is released.
    check: 'log:witness',
    value: ({ size }) => size,
    unit: 'leaves',
    warnWhen: ({ failure }) => failure !== null,
    advice: ({ name, failure }) => `${name} does not cosign: ${failure}`,
    metrics: {
      qrn_witness_cosigned_leaves: [
        'Size of the latest checkpoint that the witness cosigned, in leaves.',
        'size',
      ],
      qrn_witness_cosigned_timestamp_seconds: [
        'Unix time of the latest cosignature, as the witness states it.',
        'cosignedAtS',
      ],
      qrn_witness_failing: [
        '1 if the witness did not cosign at the last request, otherwise 0.',
        ({ failure }) => failure !== null,
      ],
    },
  }),
  service({
    check: 'pool:quantum-seeded',
    value: ({ levels }) => levels.seed.blocks,
    unit: 'seeds',
    failWhen: ({ seeds }) => !seeds.every(({ inForce }) => inForce),
    warnWhen: (readings) => readings.levels.seed.blocks === 0 || isShort(seedSecondsLeft(readings)),
    metrics: {
      qrn_pool_seeds: ['Number of available seeds.', ({ levels }) => levels.seed.blocks],
      qrn_pool_seeds_empty_seconds: [
        'Time until the last available seed is taken, without new lots, in seconds.',
        seedSecondsLeft,
      ],
    },
  }),
  service({
    check: 'pool:csprng',
    value: ({ systemLot }) => systemLot != null,
    failWhen: ({ systemLot }) => systemLot === null,
    warnWhen: ({ systemLot }) => systemLot === undefined,
    advice: ({ systemLot }) => (systemLot === undefined ? NOT_YET_SAMPLED : ''),
    details: ({ systemLot }) => ({ lot: systemLot?.id ?? null }),
    metrics: {
      qrn_csprng_ready: [
        '1 if the csprng stream passed its test and is served, otherwise 0.',
        ({ systemLot }) => systemLot != null,
      ],
    },
  }),
  seed({
    check: 'pool:seed_age',
    value: ({ ageMs }) => (ageMs === null ? null : Math.round(ageMs / 1000)),
    unit: 's',
    failWhen: ({ inForce }) => !inForce,
    details: ({ generation }) => ({ generation }),
    metrics: {
      qrn_seed_age_seconds: ['Age of the latest seed in seconds, by tier and interval.', 'ageMs'],
      qrn_seed_interval_seconds: ['Interval after which a seed is replaced, in seconds.', 'intervalMs'],
      qrn_seed_in_force: ['1 if the group has a seed, otherwise 0.', 'inForce'],
    },
  }),
];

/** Threads, disk and process. */
export const SYSTEM_ROWS = [
  service({
    check: 'workers:queue',
    value: ({ totals }) => totals.value(COUNTED.qrn_workers_queue_tasks),
    unit: 'tasks',
    warnWhen: ({ totals }) => totals.value(COUNTED.qrn_workers_queue_tasks) >= QUEUE_HIGH,
  }),
  service({
    check: 'disk:free',
    value: ({ diskFreeBytes }) => diskFreeBytes,
    unit: 'bytes',
    warnWhen: ({ diskFreeBytes }) => diskFreeBytes < DISK_LOW_BYTES,
    metrics: {
      qrn_disk_free_bytes: ['Free space for the data folder, in bytes.', 'diskFreeBytes'],
    },
  }),
  service({
    check: 'eventloop:delay',
    value: ({ minute }) => rounded(minute.loopDelayP99Ms),
    unit: 'ms',
    warnWhen: ({ minute }) => minute.lateSeconds >= LATE_SECONDS_HIGH,
    details: ({ minute }) => ({
      of: '99th percentile, worst second of the last minute',
      max_ms: rounded(minute.loopDelayMaxMs),
    }),
  }),
  service({
    metrics: {
      qrn_draws_open: ['Number of committed draws that have not ended.', ({ draws }) => draws.open],
      qrn_draws_overdue: [
        'Number of committed draws that are due and wait for a beacon round or a nonce.',
        ({ draws }) => draws.overdue,
      ],
      qrn_draws_ended: [
        'Number of draws that have ended since the start, by their final state.',
        ({ draws: { open: _open, overdue: _overdue, ...ended } }) => ({ ...ended }),
        'state',
      ],
      qrn_idempotent_answers_bytes: [
        'Size of the answers that are stored for 24 hours for their Idempotency-Keys, in bytes. The limit is 64 MiB per account.',
        'keptAnswerBytes',
      ],
      qrn_build_info: [
        'The version of the running service, in the label version.',
        () => ({ [SERVICE_VERSION]: 1 }),
        'version',
      ],
      process_cpu_seconds_total: [
        'CPU time of all threads in user and system mode, in seconds.',
        ({ use }) => use.cpuSeconds,
      ],
      process_resident_memory_bytes: ['Resident memory in bytes.', ({ use }) => use.residentBytes],
      process_start_time_seconds: ['Unix time at which the process started.', 'startedAtMs'],
    },
  }),
];

function isShort(secondsLeft: number | null): boolean {
  return secondsLeft !== null && secondsLeft < SECONDS_LEFT_LOW;
}
