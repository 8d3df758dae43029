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
  'The system clock jumped. The service goes on by its own time, is not ready and deletes nothing. ' +
  'Correct the clock, or restart the service if the clock is right now.';

const SCRUB_ADVICE =
  'Stored records are damaged. Copy the data folder, run `qrn ledger audit` and restore a backup; see docs/operations.md.';

const HELD_ADVICE =
  'Nothing is drawn from these lots until their leaves are in a signed checkpoint, with QRN_WITNESSES in one that ' +
  'QRN_WITNESS_QUORUM witnesses have cosigned. The log says which witness does not cosign, and why.';

const NOT_YET_SAMPLED =
  'The csprng stream is not yet sampled. The first request of the mode has it sampled and waits for that, a second or two; otherwise it is sampled a minute after the start.';

const DATABASE_AWAY =
  'PostgreSQL does not answer: requests that draw are refused with 503 until it does. The log names the cause.';

const CLOCK_SKEWED =
  "The clock of this node differs from PostgreSQL's by more than a second, and the node is not ready. Set the clock.";

const STANDBY_LATE =
  'Commits wait for a standby of PostgreSQL: requests that draw are refused with 503 until one follows. See pg_stat_replication.';

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
      qrn_ledger_writable: ['1 when an answer could be written down now.', ({ ledger }) => ledger.writable],
      qrn_ledger_probe_duration_seconds: [
        'How long the last trial write took to become durable.',
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
      qrn_ledger_scrub_passes_total: ['Complete walks of the scrub over the ledger.', 'passes'],
      qrn_ledger_scrub_records_total: ['Records that the scrub read and checked.', 'records'],
      qrn_ledger_scrub_bytes_total: ['Stored bytes that the scrub read and checked.', 'bytes'],
      qrn_ledger_scrub_damaged_total: ['Different damage that the scrub found since the start.', 'damaged'],
      qrn_ledger_scrub_pass_seconds: ['How long the last complete walk took.', 'passMs'],
      qrn_ledger_scrub_passed_time_seconds: [
        'Unix time at which the last complete walk ended.',
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
      qrn_database_up: ['Whether the database that holds the books answers.', ({ isAway }) => !isAway],
      qrn_database_clock_skew_seconds: ["How far this node's clock is ahead of the database's.", 'skewMs'],
      qrn_database_unsealed_segments: ['Segments of all nodes that wait to be logged.', 'unsealedSegments'],
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
        'How far the system clock jumped from the time that the service goes by.',
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
      qrn_log_entries: ['Entries of the signed log: certificates and revocations.', 'logEntries'],
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
        'Conditioned quantum bytes on disk that are not claimed yet.',
        ({ levels }) => ({ pure: levels.pure.bytes, seed: levels.seed.bytes }),
        'kind',
      ],
      qrn_pool_pure_high_bytes: ['The level up to which pure bytes are kept.', 'pureBytesHigh'],
      qrn_pool_pure_empty_seconds: [
        'Time until pure bytes run out at the rate of the last five minutes, without new lots.',
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
      qrn_witness_cosigned_leaves: ['Leaves of the log that a witness cosigned last.', 'size'],
      qrn_witness_cosigned_timestamp_seconds: ['When a witness says that it cosigned them.', 'cosignedAtS'],
      qrn_witness_failing: [
        '1 when a witness did not cosign when it was asked last.',
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
      qrn_pool_seeds: ['Seeds on hand.', ({ levels }) => levels.seed.blocks],
      qrn_pool_seeds_empty_seconds: [
        'Time until the last seed on hand is taken, without new lots.',
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
        '1 when the system source is tested and serves.',
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
      qrn_seed_age_seconds: ['Age of the newest seed, by tier and interval.', 'ageMs'],
      qrn_seed_interval_seconds: ['Interval after which a seed ends.', 'intervalMs'],
      qrn_seed_in_force: ['1 when the group has a seed to draw from.', 'inForce'],
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
      qrn_disk_free_bytes: ['Bytes that may still be written to the data folder.', 'diskFreeBytes'],
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
      qrn_draws_open: ['Committed draws that have not ended.', ({ draws }) => draws.open],
      qrn_draws_overdue: [
        'Those of them that are due and wait for a beacon or a nonce.',
        ({ draws }) => draws.overdue,
      ],
      qrn_draws_ended: [
        'Draws that ended since the start, by how they did.',
        ({ draws: { open: _open, overdue: _overdue, ...ended } }) => ({ ...ended }),
        'state',
      ],
      qrn_idempotent_answers_bytes: [
        'Bytes of answers that are kept for 24 hours under their Idempotency-Key, at most 64 MiB of each account.',
        'keptAnswerBytes',
      ],
      qrn_build_info: ['The running version.', () => ({ [SERVICE_VERSION]: 1 }), 'version'],
      process_cpu_seconds_total: ['CPU time of all threads, user and system.', ({ use }) => use.cpuSeconds],
      process_resident_memory_bytes: ['Resident memory.', ({ use }) => use.residentBytes],
      process_start_time_seconds: ['Unix time of the start.', 'startedAtMs'],
    },
  }),
];

function isShort(secondsLeft: number | null): boolean {
  return secondsLeft !== null && secondsLeft < SECONDS_LEFT_LOW;
}
