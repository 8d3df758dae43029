import {
  type Backend,
  BackendError,
  type JobBackend,
  type JobReference,
  type JobState,
  type RawRead,
  type StreamBackend,
} from '../../backend/backend.ts';
import { assert } from '../../core/assert.ts';
import type { Clock, Wait } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { SourceStore } from '../../ledger/ledger.ts';
import type { JobRecord, SpendLimits } from '../../ledger/records.ts';
import { answerWithin, charge, estimateOf, openJob, readStream, takeRead, withDeadline } from './read.ts';

export interface SourceReaderOptions<Kind extends Backend = Backend> {
  readonly backend: Kind;
  readonly store: Pick<SourceStore, 'openJobs' | 'openJob' | 'putJob' | 'charge' | 'spent'>;
  readonly limits: SpendLimits;
  readonly clock: Clock;
  readonly log: Log;
  readonly wait: Wait;
}

/** One read, and the key of the job that gave it: the lot is added under it. */
export interface SourceRead {
  readonly read: RawRead;
  readonly jobKey: string | undefined;
}

/** Reads a source within its budget: a stream at once, a job over as many lives of the process as it takes. */
export function sourceReader(options: SourceReaderOptions): SourceReader {
  const { backend } = options;
  return backend.kind === 'job'
    ? new JobReads({ ...options, backend })
    : new StreamReads({ ...options, backend });
}

export abstract class SourceReader<Kind extends Backend = Backend> {
  protected readonly options: SourceReaderOptions<Kind>;

  constructor(options: SourceReaderOptions<Kind>) {
    this.options = options;
  }

  /** True while a job waits to be read, whether or not its bits are needed: it is paid for. */
  async isOwed(_signal: AbortSignal): Promise<boolean> {
    return false;
  }

  /**
   * At least `bits` bits, or what an open job was made for. Rejects with a BackendError, of kind `quota` when
   * the budget of the day has no room, with the signal's reason, or with a fault of the store.
   */
  abstract read(bits: number, signal: AbortSignal): Promise<SourceRead>;

  /**
   * To be told when the lot of a job is on disk: deletes the raw results at the provider, of this job and of
   * earlier ones.
   */
  async lotStored(_jobKey: string, _signal: AbortSignal): Promise<void> {}

  /** To be told when the store failed over a lot: what it says of the job is to be asked again. */
  lotNotStored(): void {}

  /** Asks the provider not to run what is open: nobody comes back for it. */
  async abandon(): Promise<void> {}
}

class StreamReads extends SourceReader<StreamBackend> {
  override async read(bits: number, signal: AbortSignal): Promise<SourceRead> {
    const { backend, wait } = this.options;
    const spend = estimateOf(backend, bits);
    if (spend !== undefined) await charge(this.options, spend);
    return { read: await readStream(backend, bits, signal, wait), jobKey: undefined };
  }
}

/** One call on a provider of jobs; a result of 4 Mbit may be some 10 MB of text. */
const CALL_TIMEOUT_MS = 60_000;
/** A cancellation or a deletion, which nobody waits for. */
const PARTING_TIMEOUT_MS = 10_000;
/** A call on a job that fails and may be tried again is tried this often: jobs cost money, and links drop. */
const CALL_TRIES = 5;
const CALL_RETRY_FIRST_MS = 1_000;
/** Between polls of a job: when the provider names no time, and the bounds of what it may name. */
const POLL_INTERVAL_MS = 5_000;
const POLL_INTERVAL_MIN_MS = 500;
const POLL_INTERVAL_MAX_MS = 300_000;

/** A job that has not ended after so long is given up. */
const JOB_WAIT_MAX_MS = 24 * 3_600_000;
const NOT_DONE = `not done in ${JOB_WAIT_MAX_MS / 3_600_000} h`;

type JobEnd = Extract<JobState, { readonly state: 'done' | 'failed' | 'cancelled' }>;

/**
 * Results that are there, by a poll, and cannot be fetched so many times, each with its own tries, are given
 * up: a truncated result fails alike each time. With the collector's pauses that is about 20 minutes; an
 * outage fails the poll too, and does not count.
 */
const FETCHES_MAX = 20;
/**
 * Jobs in a row whose results are lost for good before the source is taken for broken. One may be the doing
 * of a crash (a provider that lets results be read once) or of a device's bad day; another one, paid for as
 * well, needs a person.
 */
const LOST_IN_A_ROW_MAX = 2;

/**
 * The jobs of one source, from the intention to the deletion at the provider, each step on disk:
 *
 *   intended ─submit▶ submitted ─poll, fetch, addLot▶ stored ─forget▶ ended
 *       └────────────────┴── failed, cancelled, given up ──▶ ended
 *
 * A job outlives the process: what was paid for is read by whoever comes next. So a stop cancels nothing, an
 * error that may pass leaves the job where it is, and before a new job is intended the open ones are brought
 * to their end. A job that was intended and perhaps submitted is submitted again under its key, which starts
 * no second one. Its day stays charged whatever becomes of it.
 */
class JobReads extends SourceReader<JobBackend> {
  readonly #startedAtMs: number;
  /**
   * Jobs that have not ended, by key, oldest first; undefined when the store must be asked: at the start,
   * after a fault.
   */
  #open: Map<string, JobRecord> | undefined;
  /** Of the job under way: fetches that failed. */
  #fetchesFailed = { jobKey: '', count: 0 };
  #lostInARow = 0;

  constructor(options: SourceReaderOptions<JobBackend>) {
    super(options);
    this.#startedAtMs = options.clock.wallMs();
  }

  override async isOwed(signal: AbortSignal): Promise<boolean> {
    return (await this.#unread(signal)) !== undefined;
  }

  /** The result of the oldest open job, or of a new one for `bits` bits. */
  override async read(bits: number, signal: AbortSignal): Promise<SourceRead> {
    const job = (await this.#unread(signal)) ?? (await this.#intend(bits));
    const submitted = await this.#submit(job, signal);
    await this.#end(submitted, signal);
    const read = await this.#fetch(submitted, signal);
    this.#lostInARow = 0;
    return { read, jobKey: job.key };
  }

  override async lotStored(jobKey: string, signal: AbortSignal): Promise<void> {
    const job = this.#open?.get(jobKey);
    if (job === undefined) return;
    this.#open?.set(jobKey, { ...job, state: 'stored' });
    await this.#forgetStored(signal);
  }

  override lotNotStored(): void {
    this.#open = undefined;
  }

  override async abandon(): Promise<void> {
    const { signal } = new AbortController(); // the read's own may be what ended it
    for (const job of this.#open?.values() ?? []) {
      if (job.state === 'submitted') await this.#cancel(job, signal);
    }
  }

  async #unread(signal: AbortSignal): Promise<JobRecord | undefined> {
    if (this.#open === undefined) {
      const jobs = await this.options.store.openJobs(this.options.backend.name);
      this.#open = new Map(jobs.map((job) => [job.key, job]));
      await this.#forgetStored(signal);
    }
    return [...this.#open.values()].find(({ state }) => state !== 'stored');
  }

  async #intend(bits: number): Promise<JobRecord> {
    const spend = estimateOf(this.options.backend, bits);
    assert(spend !== undefined, 'a job has an estimate');
    const job = await this.#onDisk(() => openJob(this.options, bits, spend));
    this.#open?.set(job.key, job);
    return job;
  }

  async #submit(job: JobRecord, signal: AbortSignal): Promise<JobRecord> {
    if (job.state === 'submitted') return job;
    const { backend } = this.options;
    const submission = (over: AbortSignal) => backend.submit(job.bits, job.key, over);
    const { jobId, memo } = await this.#orGiveUp(job, () => this.#insist(submission, signal));
    const submittedAtMs = this.options.clock.wallMs();
    const submitted: JobRecord = { ...job, state: 'submitted', jobId, memo, submittedAtMs };
    await this.#put(submitted);
    const { source, bits, amount, currency } = job;
    this.options.log.info({ source, job: jobId, bits, amount, currency }, 'job submitted');
    return submitted;
  }

  async #end(job: JobRecord, signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    const waitMaxMs = (job.submittedAtMs ?? job.intendedAtMs) + JOB_WAIT_MAX_MS - clock.wallMs();
    const cancel = () => this.#cancel(job, signal);
    const end = await this.#orGiveUp(job, () => this.#polled(job, waitMaxMs, signal), cancel);
    if (end?.state === 'done') return;
    if (end === undefined) await cancel();
    const failure = end === undefined ? NOT_DONE : `${end.state}: ${end.reason}`;
    await this.#fail(job, failure);
    throw new BackendError('retryable', `job ${job.jobId} ${failure}`);
  }

  /** Polls until the job has ended; undefined when it has not after waits of `waitMaxMs`. */
  async #polled(job: JobRecord, waitMaxMs: number, signal: AbortSignal): Promise<JobEnd | undefined> {
    const { backend, wait } = this.options;
    for (let waitedMs = 0; ; ) {
      const state = await this.#insist((over) => backend.poll(referenceOf(job), over), signal);
      if (state.state === 'done' || 'reason' in state) return state;
      if (waitedMs >= waitMaxMs) return undefined;
      const { retryAfterMs = Number.NaN } = state;
      const askedMs = Number.isNaN(retryAfterMs) ? POLL_INTERVAL_MS : retryAfterMs;
      const pauseMs = Math.min(Math.max(askedMs, POLL_INTERVAL_MIN_MS), POLL_INTERVAL_MAX_MS);
      await wait(pauseMs, signal);
      waitedMs += pauseMs;
    }
  }

  /** Asks the provider, once, not to run what nobody will fetch. When it does not take that, the job runs unread. */
  async #cancel(job: JobRecord, signal: AbortSignal): Promise<void> {
    const { backend, wait } = this.options;
    try {
      const cancel = () => backend.cancel(referenceOf(job));
      await withDeadline(cancel, answerWithin(PARTING_TIMEOUT_MS), signal, wait);
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
    }
  }

  /** A call with its deadline; a failure that may pass is tried again. */
  async #insist<T>(attempt: (over: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { wait } = this.options;
    for (let tries = 1, pauseMs = CALL_RETRY_FIRST_MS; ; tries++, pauseMs *= 2) {
      try {
        return await withDeadline(attempt, answerWithin(CALL_TIMEOUT_MS), signal, wait);
      } catch (error) {
        if (!isKind(error, 'retryable') || tries === CALL_TRIES) throw error;
        const askedMs = Math.min(error.retryAfterMs ?? 0, POLL_INTERVAL_MAX_MS);
        await wait(Math.max(pauseMs, askedMs), signal);
      }
    }
  }

  #fetch(job: JobRecord, signal: AbortSignal): Promise<RawRead> {
    return this.#orGiveUp(job, async () => {
      const read = await this.#fetchOrCount(job, signal);
      try {
        return takeRead(this.options.backend, read, job.bits);
      } catch (error) {
        // the same each time
        throw isKind(error, 'retryable') ? new BackendError('permanent', error.message) : error;
      }
    });
  }

  async #fetchOrCount(job: JobRecord, signal: AbortSignal): Promise<RawRead> {
    try {
      return await this.#insist((over) => this.options.backend.fetch(referenceOf(job), over), signal);
    } catch (error) {
      if (!isKind(error, 'retryable')) throw error;
      const before = this.#fetchesFailed.jobKey === job.key ? this.#fetchesFailed.count : 0;
      this.#fetchesFailed = { jobKey: job.key, count: before + 1 };
      if (before + 1 < FETCHES_MAX) throw error;
      throw new BackendError('permanent', `results that cannot be fetched: ${error.message}`);
    }
  }

  /**
   * Does a step of the job. An error that cannot pass, or that has not for too long, ends the job, after
   * `give up` has told the provider; any other leaves it as it is.
   */
  async #orGiveUp<T>(
    job: JobRecord,
    step: () => Promise<T>,
    giveUp: () => Promise<void> = async () => {},
  ): Promise<T> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      const isFinal = error.kind === 'permanent' || error.kind === 'no_raw_shots';
      if (!isFinal && !this.#isOverdue(job)) throw error;
      await giveUp();
      await this.#fail(job, error.message);
      if (error.kind !== 'permanent' || job.state === 'intended') throw error;
      const kind = ++this.#lostInARow < LOST_IN_A_ROW_MAX ? 'retryable' : 'permanent';
      throw new BackendError(kind, `job ${job.jobId}: ${error.message}`);
    }
  }

  /** A service that was down for long gives a job of its own time before it gives up over errors. */
  #isOverdue(job: JobRecord): boolean {
    const sinceMs = Math.max(job.submittedAtMs ?? job.intendedAtMs, this.#startedAtMs);
    return this.options.clock.wallMs() - sinceMs > JOB_WAIT_MAX_MS;
  }

  async #fail(job: JobRecord, failure: string): Promise<void> {
    await this.#put({ ...job, state: 'ended', failure });
    const { source, key, jobId } = job;
    this.options.log.warn({ source, key, job: jobId, failure }, 'job ended without a lot');
  }

  /**
   * Each stored job once: one that the provider does not forget now is asked for again after the next lot or
   * start.
   */
  async #forgetStored(signal: AbortSignal): Promise<void> {
    for (const job of this.#open?.values() ?? []) {
      if (job.state === 'stored' && (await this.#isForgotten(job, signal))) {
        await this.#put({ ...job, state: 'ended', memo: '' });
      }
    }
  }

  async #isForgotten(job: JobRecord, signal: AbortSignal): Promise<boolean> {
    try {
      const { backend, wait } = this.options;
      const forget = async (over: AbortSignal) => backend.forget?.(referenceOf(job), over);
      await withDeadline(forget, answerWithin(PARTING_TIMEOUT_MS), signal, wait);
      return true;
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      const isGivenUp = error.kind === 'permanent' || error.kind === 'no_raw_shots' || this.#isOverdue(job);
      const { source, jobId } = job;
      this.options.log.warn(
        { source, job: jobId, reason: error.message, isGivenUp },
        'raw results not deleted at the provider',
      );
      return isGivenUp;
    }
  }

  async #put(job: JobRecord): Promise<void> {
    await this.#onDisk(() => this.options.store.putJob(job));
    if (job.state === 'ended') this.#open?.delete(job.key);
    else this.#open?.set(job.key, job);
  }

  /** After a call that failed, what the store holds is unknown. */
  async #onDisk<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof BackendError)) this.#open = undefined;
      throw error;
    }
  }
}

function isKind(error: unknown, kind: BackendError['kind']): error is BackendError {
  return error instanceof BackendError && error.kind === kind;
}

function referenceOf({ jobId, key, bits, memo }: JobRecord): JobReference {
  assert(jobId !== null, 'the provider has named the job');
  return { jobId, idempotencyKey: key, bits, memo };
}
