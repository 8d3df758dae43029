import { type Backend, BackendError, isDeclaredQuantum, type RawRead } from '../../backend/backend.ts';
import { RecentEntries } from '../../backend/seen.ts';
import { messageOf } from '../../core/assert.ts';
import { wipe } from '../../core/bytes.ts';
import { type Clock, systemWait, type Wait } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { ORIGINS } from '../../core/vocabulary.ts';
import type { EntropyStore, SourceStore } from '../../ledger/ledger.ts';
import type { LotRecord, SpendLimits } from '../../ledger/records.ts';
import type { Assessor } from './assessor.ts';
import type { CopyTest } from './copies.ts';
import { type HealthGrade, HealthMonitor, type HealthState, type HealthVerdict } from './health.ts';
import { type SourceRead, type SourceReader, sourceReader } from './jobs.ts';
import { type AlarmState, LotAlarm, refusalChance } from './lot-alarm.ts';
import { type Lot, makeLot, SEED_BLOCKS_PER_LOT } from './lots.ts';
import type { RawShotStore } from './raw-shots.ts';
import { UNLIMITED, withDeadline } from './read.ts';
import { ShortLots } from './short-lots.ts';

export type SourceState =
  /** The last read became a lot, or the reservoir has been full since the start, so that no read was needed. */
  | 'ok'
  /** No read has succeeded yet. */
  | 'starting'
  /** Reads fail, and the collector tries again. */
  | 'failing'
  /** Sources before this one fill the pool, so the collector does not read it. */
  | 'standby'
  /** A permanent failure: the collector reads nothing until an operator restarts the service. */
  | 'closed';

/** How many reads had each grade in the health tests, and how many failed before they could be tested. */
type ReadCounts = Readonly<Record<HealthGrade | 'failed', number>>;

export interface SourceStatus {
  /** The alarm over all lots of the source, with those of earlier runs of the service. */
  readonly alarm: AlarmState;
  readonly name: string;
  readonly origin: Backend['origin'];
  /** Whether the operator alone says what the origin is. */
  readonly isDeclared: boolean;
  readonly state: SourceState;
  /** Why the last step failed; empty if it succeeded. */
  readonly lastError: string;
  readonly lastLot: LotRecord | undefined;
  readonly lotsAccepted: number;
  readonly lotsRejected: number;
  /** Conditioned bytes of the accepted lots. */
  readonly conditionedBytes: number;
  readonly reads: ReadCounts;
  /** The health tests of the channel layout that was read last; null before the first read. */
  readonly health: HealthState | null;
}

/** The unclaimed blocks, by kind. */
export type BlockLevels = Awaited<ReturnType<EntropyStore['blockLevels']>>;

export interface CollectorOptions {
  readonly backend: Backend;
  readonly store: EntropyStore & SourceStore;
  readonly assessor: Assessor;
  readonly clock: Clock;
  readonly log: Log;
  /** High watermark of unclaimed pure bytes; the low one is half of it. */
  readonly pureBytesHigh: number;
  /** What the source may spend at its provider on one UTC day; without it there is no bound. */
  readonly limits?: SpendLimits;
  /** The copy test that all sources of the pool share: bits that one source gave are not new entropy of another. */
  readonly copies?: CopyTest;
  /** Raw bits of one lot, at least. */
  readonly lotRawBits?: number;
  /** Returns whether this one of several sources may read at these levels; without it the source always may. */
  readonly isWanted?: (levels: BlockLevels) => boolean;
  /** Called and awaited after each accepted lot. */
  readonly onLot: () => Promise<void>;
  /** Called once, with the reason, when a permanent failure closes the source. */
  readonly onClosed?: (reason: string) => void;
  readonly wait?: Wait;
  /** Keeps the sealed raw shots of accepted lots, for an operator who will publish them; without it none are kept. */
  readonly rawShots?: RawShotStore;
}

/**
 * How many raw results are remembered, and how many lots of earlier runs are read at a start. They are all of this
 * source: lots of other sources and samples of the csprng stream do not displace them.
 */
const REMEMBERED_LOTS = 256;
/** Raw bits of a lot: enough for two SP 800-22 windows of conditioned output, so that a second remains if one fails. */
export const LOT_RAW_BITS = 4 * 1024 * 1024;
/** With fewer unclaimed seeds the collector reads, whatever the level of pure bytes. */
export const SEEDS_LOW = SEED_BLOCKS_PER_LOT / 4;
/**
 * The statistical tests close the source after refusing this many lots in a row. SP 800-22 refuses a good lot at most
 * once in 500 (lot-alarm.ts), so three in a row are not chance. Reads that fail the health tests are not counted here:
 * the monitor counts them and has a limit of its own.
 */
const REJECTED_IN_A_ROW_MAX = 3;
/**
 * While the pool holds at least this share of its pure bytes, and this many bytes, the collector rests after each lot
 * for three times as long as the tests took. So it takes at most a quarter of a core from requests.
 */
const RESTING_SHARE = 1 / 32;
const RESTING_BYTES = 256 * 1024;
const RESTS_PER_LOT = 3;
/** The first pause after a failure. It doubles with each further failure. */
const RETRY_FIRST_MS = 1_000;
const RETRY_MAX_MS = 60_000;
/** The longest pause that a provider may ask for. So a spent budget is checked again every hour. */
const RETRY_ASKED_MAX_MS = 3_600_000;
const IDLE_CHECK_MS = 1_000;
/**
 * How often the collector tries to store the lot of a job, whose bits were paid for. Pauses grow from RETRY_FIRST_MS.
 */
const STORE_TRIES = 5;
/** The tests of a lot take 3 s of a core at the lowest priority. After this time their thread counts as dead. */
const ASSESSMENT_TIMEOUT_MS = 600_000;

/**
 * Keeps the reservoir of conditioned blocks between its watermarks. When the reservoir is low, it reads the backend,
 * tests the bits and makes a lot of them. Each backend has one collector, which makes one read at a time. Requests
 * never wait for it.
 */
export class Collector {
  readonly #options: CollectorOptions;
  readonly #wait: Wait;
  readonly #reader: SourceReader;
  readonly #monitors = new Map<number, HealthMonitor>();
  readonly #stopping = new AbortController();
  readonly #reads = { pass: 0, intermittent: 0, permanent: 0, failed: 0 };
  /**
   * SHA-256 of the raw results of recent lots, also of earlier runs, and the id of the lot that had each first. The
   * health tests only know the reads of this run. By this map a restarted service recognizes a result that a provider
   * delivers again.
   */
  readonly #results = new RecentEntries(REMEMBERED_LOTS);
  readonly #alarm = new LotAlarm();
  readonly #shortLots = new ShortLots();
  #running: Promise<void> | undefined;
  #state: SourceState = 'starting';
  #lastError = '';
  #lastLot: LotRecord | undefined;
  #lastMonitor: HealthMonitor | undefined;
  /** The verdict of the health tests on the job that was fetched last. */
  #lastJob: { readonly key: string; readonly rawSha256: string; readonly verdict: HealthVerdict } | undefined;
  #accepted = 0;
  #conditionedBytes = 0;
  #rejected = 0;
  #rejectedInARow = 0;
  /**
   * What the source claimed to be at its last read: the index of its origin in ORIGINS, and whether it is
   * deterministic.
   */
  #least: { readonly rank: number; readonly deterministic: boolean } | undefined;
  /** Whether no seed or no pure byte of any source is left, so that a mode waits for the next lot. */
  #isWaitedFor = false;
  /** Whether the reservoir is so low that requests could soon find nothing. Then the collector does not rest. */
  #isUrgent = true;
  /** When the rest after the last lot ends, on the monotonic clock. */
  #restsUntilMs = Number.NEGATIVE_INFINITY;
  /** True from when the low watermark is reached until the high one is. */
  #filling = false;
  /** False after a lot too short for a pure block: more such lots would not raise the level of pure bytes. */
  #givesPure = true;
  #retryMs = RETRY_FIRST_MS;

  constructor(options: CollectorOptions) {
    this.#options = options;
    this.#wait = options.wait ?? systemWait;
    this.#reader = sourceReader({ ...options, limits: options.limits ?? UNLIMITED, wait: this.#wait });
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Aborts the present read or test and resolves when the loop has ended. A lot that is being stored is stored. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    this.#shortLots.erase();
  }

  /** Whether a permanent failure has closed the source. */
  get closed(): boolean {
    return this.#state === 'closed';
  }

  get state(): SourceState {
    return this.#state;
  }

  status(): SourceStatus {
    return {
      name: this.#options.backend.name,
      origin: this.#options.backend.origin,
      isDeclared: isDeclaredQuantum(this.#options.backend),
      state: this.#state,
      lastError: this.#lastError,
      lastLot: this.#lastLot,
      lotsAccepted: this.#accepted,
      lotsRejected: this.#rejected,
      conditionedBytes: this.#conditionedBytes,
      alarm: this.#alarm.state(),
      reads: { ...this.#reads },
      health: this.#lastMonitor?.state() ?? null,
    };
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let isRecalled = false;
    while (!signal.aborted && !this.closed) {
      try {
        isRecalled ||= await this.#recall();
        const pauseMs = isRecalled ? await this.#step() : IDLE_CHECK_MS;
        if (pauseMs > 0 && !this.closed) await this.#wait(pauseMs, signal);
      } catch (error) {
        if (!this.#isStop(error)) throw error;
      }
    }
  }

  #isStop(error: unknown): boolean {
    return this.#stopping.signal.aborted && error === this.#stopping.signal.reason;
  }

  /** Resolves to what the call gives. Logs a failure, which is not the source's fault, and resolves to undefined. */
  async #orLogged<T>(message: string, facts: object, call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      if (this.#isStop(error)) throw error;
      this.#options.log.error({ ...facts, reason: messageOf(error) }, message);
      return undefined;
    }
  }

  /**
   * Reads the source's earlier lots, so that a restart does not reset what was found of it. The collector reads no
   * source before, because only these lots show that a provider delivers an old result again. Resolves to false if the
   * store fails.
   */
  async #recall(): Promise<boolean> {
    const { store, backend } = this.#options;
    const recalled = () => store.lots(REMEMBERED_LOTS, backend.name);
    const lots = await this.#orLogged(
      'could not read the earlier lots of a source: it is not read before; trying again',
      {},
      recalled,
    );
    for (const lot of lots?.reverse() ?? []) this.#remember(lot);
    return lots !== undefined;
  }

  #remember(lot: LotRecord, chance?: number): void {
    if (this.#results.get(lot.rawSha256) === undefined) this.#results.set(lot.rawSha256, lot.id);
    this.#alarm.add(lot, chance);
  }

  /** Makes one lot if the levels are low or a paid job waits. Resolves to the pause before the next step. */
  async #step(): Promise<number> {
    const mustRead = await this.#orLogged(
      'could not read how much entropy is in stock; trying again',
      {},
      async () => {
        this.#filling = await this.#isLow();
        return (this.#filling && !this.#isResting()) || this.#reader.isOwed(this.#stopping.signal);
      },
    );
    if (mustRead !== true) {
      if (mustRead === false && this.#state === 'starting') this.#state = 'ok';
      return IDLE_CHECK_MS;
    }
    try {
      await this.#collect();
    } catch (error) {
      if (this.#isStop(error)) throw error;
      return this.#failed(error);
    }
    if (this.#state === 'failing') return this.#nextRetryMs();
    this.#retryMs = RETRY_FIRST_MS;
    return 0;
  }

  #isResting(): boolean {
    return !this.#isUrgent && this.#options.clock.monotonicMs() < this.#restsUntilMs;
  }

  /** Reads, tests and stores one lot. */
  async #collect(): Promise<void> {
    const { read, jobKey } = await this.#read();
    const health = await this.#check(read, jobKey);
    const { clock } = this.#options;
    const begunMs = clock.monotonicMs();
    const lot = await this.#makeLot(read, health);
    const madeMs = clock.monotonicMs();
    this.#restsUntilMs = madeMs + RESTS_PER_LOT * (madeMs - begunMs);
    if (!(await this.#store(lot, jobKey))) return;
    this.#lastLot = lot.record;
    // Too few samples for the startup tests say neither that the source failed nor that it is sound.
    const isTested = health.grade === 'pass' || health.failures.some(({ test }) => test !== 'startup');
    this.#remember(lot.record, isTested ? refusalChance(read) : undefined);
    if (lot.record.accepted) this.#givesPure = lot.blocks.some(({ kind }) => kind === 'pure');
    if (lot.record.accepted) await this.#accept(lot.record);
    else this.#reject(lot.record, health.grade);
    if (jobKey === undefined) return;
    // The lot is already stored. If the provider does not delete the job now, the reader asks again later.
    const told = () => this.#reader.lotStored(jobKey, this.#stopping.signal);
    await this.#orLogged('could not store that a job has ended; trying again later', { job: jobKey }, told);
  }

  async #read(): Promise<SourceRead> {
    const { lotRawBits: wholeBits = LOT_RAW_BITS, backend } = this.#options;
    const bits = this.#isWaitedFor ? (backend.firstLotRawBits ?? wholeBits) : wholeBits;
    try {
      const read = await this.#reader.read(bits, this.#stopping.signal);
      this.#refusePromotion();
      return read;
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#reads.failed++;
      throw error;
    }
  }

  /** Refuses a source that claims to be more than before. It may claim less: a device can be a simulator. */
  #refusePromotion(): void {
    const { name, origin, deterministic } = this.#options.backend;
    const rank = ORIGINS.indexOf(origin);
    const least = this.#least ?? { rank, deterministic };
    if (rank < least.rank || (least.deterministic && !deterministic)) {
      throw new BackendError('permanent', `${name} calls itself ${origin} now: no source is promoted`);
    }
    this.#least = { rank, deterministic };
  }

  async #check(read: RawRead, jobKey: string | undefined): Promise<HealthVerdict> {
    const last = this.#lastJob;
    // A job whose lot was not stored is fetched again: these are the same samples, neither new ones nor a replay.
    if (last !== undefined && last.key === jobKey && last.rawSha256 === read.rawSha256) return last.verdict;
    this.#lastMonitor = this.#monitor(read.width);
    const verdict = await this.#lastMonitor.checkInSlices(read);
    this.#reads[verdict.grade]++;
    if (jobKey !== undefined) this.#lastJob = { key: jobKey, rawSha256: read.rawSha256, verdict };
    return verdict;
  }

  /** Stores a lot. Resolves to false if its job already gave a lot. Erases the lot's bytes from memory in any case. */
  async #store({ record, blocks, output }: Lot, jobKey: string | undefined): Promise<boolean> {
    const { store, log } = this.#options;
    try {
      for (let tries = 1, pauseMs = RETRY_FIRST_MS; ; tries++, pauseMs *= 2) {
        try {
          if (await store.addLot(record, blocks, jobKey)) return true;
          log.error(
            { lot: record.id, job: jobKey },
            'a job has already given a lot, so this second lot of it is not stored',
          );
          this.#reader.lotNotStored();
          return false;
        } catch (error) {
          this.#reader.lotNotStored();
          if (jobKey === undefined || tries === STORE_TRIES) throw error;
          log.error(
            { lot: record.id, job: jobKey, reason: messageOf(error) },
            'could not store a lot; trying again',
          );
          await this.#wait(pauseMs, this.#stopping.signal);
        }
      }
    } finally {
      wipe(output);
    }
  }

  /** Makes a lot of a read. A stop does not wait for the tests: they end by themselves, and their lot is erased. */
  async #makeLot(read: RawRead, health: HealthVerdict): Promise<Lot> {
    const { backend, assessor, clock } = this.#options;
    const earlier = health.grade === 'pass' ? this.#results.get(read.rawSha256) : undefined;
    const making = makeLot(backend, read, health, assessor, clock, this.#shortLots, earlier);
    const late = () => new Error(`the tests of a lot took longer than ${ASSESSMENT_TIMEOUT_MS / 1000} s`);
    let isKept = false;
    try {
      const lot = await withDeadline(
        () => making,
        ASSESSMENT_TIMEOUT_MS,
        this.#stopping.signal,
        this.#wait,
        late,
      );
      isKept = true;
      if (lot.record.accepted) await this.#keepRawShots(lot.record, read);
      return lot;
    } finally {
      wipe(read.bits);
      // A failure of `making` needs no handling here: if it came in time, withDeadline has thrown it.
      if (!isKept) making.then(({ output }) => wipe(output)).catch(() => {});
    }
  }

  async #keepRawShots({ id }: LotRecord, read: RawRead): Promise<void> {
    const { rawShots, backend } = this.#options;
    const { claimedMinEntropyPerBit } = backend;
    const keep = async () => rawShots?.keep(id, { read, claimedMinEntropyPerBit });
    await this.#orLogged(
      'could not keep the raw shots of a lot for the key in QRN_RAW_RECIPIENT',
      { lot: id },
      keep,
    );
  }

  async #accept(lot: LotRecord): Promise<void> {
    this.#accepted++;
    this.#conditionedBytes += lot.conditionedBytes;
    this.#rejectedInARow = 0;
    this.#state = 'ok';
    this.#lastError = '';
    const { id, source, origin, conditionedBytes: bytes, minEntropyPerBit: entropy } = lot;
    this.#options.log.info({ lot: id, source, origin, bytes, entropy }, 'lot accepted');
    await this.#orLogged(
      'could not use a new lot at once; it is used at the next turn',
      { lot: id },
      this.#options.onLot,
    );
  }

  #reject({ id: lot, source, rejection }: LotRecord, grade: HealthGrade): void {
    this.#rejected++;
    if (grade === 'pass') this.#rejectedInARow++;
    const isBroken = grade === 'permanent' || this.#rejectedInARow >= REJECTED_IN_A_ROW_MAX;
    const { isClosing, refusalsInWords } = this.#alarm;
    const close = isBroken || isClosing;
    this.#options.log.error({ lot, source, rejection, closed: close }, 'lot rejected');
    this.#setFailing(isBroken || !close ? rejection : `${refusalsInWords}, at last: ${rejection}`, close);
  }

  #failed(error: unknown): number {
    const kind = error instanceof BackendError ? error.kind : 'fault';
    const reason = messageOf(error);
    const close = kind === 'no_raw_shots' || kind === 'permanent';
    const { name: source } = this.#options.backend;
    this.#options.log.error({ source, kind, reason, closed: close }, 'could not make a lot from a source');
    this.#setFailing(reason, close);
    const askedMs = error instanceof BackendError ? (error.retryAfterMs ?? 0) : 0;
    return Math.max(this.#nextRetryMs(), Math.min(askedMs, RETRY_ASKED_MAX_MS));
  }

  #setFailing(reason: string, close: boolean): void {
    this.#lastError = reason;
    this.#state = close ? 'closed' : 'failing';
    if (!close) return;
    try {
      this.#options.onClosed?.(reason);
    } catch (error) {
      this.#options.log.error(
        { reason: messageOf(error) },
        'the source is closed, but telling the fronts failed: they may still serve its entropy; restart the service',
      );
    }
  }

  #nextRetryMs(): number {
    const retryMs = this.#retryMs;
    this.#retryMs = Math.min(2 * retryMs, RETRY_MAX_MS);
    return retryMs;
  }

  /** Returns the monitor of a channel layout. A source whose width changes starts with a new one. */
  #monitor(width: number): HealthMonitor {
    let monitor = this.#monitors.get(width);
    if (monitor === undefined) {
      const minEntropyPerBit = this.#options.backend.claimedMinEntropyPerBit;
      monitor = new HealthMonitor({ width, minEntropyPerBit, copies: this.#options.copies });
      this.#monitors.set(width, monitor);
    }
    return monitor;
  }

  /** Resolves to whether to read: from half of the high watermark until it is reached, and whenever seeds run low. */
  async #isLow(): Promise<boolean> {
    const { store, pureBytesHigh, isWanted } = this.#options;
    const levels = await store.blockLevels();
    const wanted = isWanted?.(levels) ?? true;
    if (!wanted) this.#state = 'standby';
    else if (this.#state === 'standby') this.#state = this.#lastError === '' ? 'starting' : 'failing';
    if (!wanted) return false;
    const { pure, seed } = levels;
    this.#isWaitedFor = seed.blocks === 0 || pure.blocks === 0;
    this.#isUrgent =
      seed.blocks < SEEDS_LOW || pure.bytes < Math.max(RESTING_BYTES, pureBytesHigh * RESTING_SHARE);
    if (seed.blocks < SEEDS_LOW) return true;
    return this.#givesPure && pure.bytes < (this.#filling ? pureBytesHigh : pureBytesHigh / 2);
  }
}
