import {
  type Backend,
  BackendError,
  type JobBackend,
  type JobReference,
  type JobState,
  type RawRead,
} from '../../backend/backend.ts';
import { assert } from '../../core/assert.ts';
import type { Wait } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { SourceStore } from '../../ledger/ledger.ts';
import type { JobRecord } from '../../ledger/records.ts';
import { type Budgeted, charge, estimateOf, openJob, readStream, takeRead, withDeadline } from './read.ts';

export interface SourceReaderOptions<Kind extends Backend = Backend> extends Budgeted {
  readonly backend: Kind;
  readonly store: Budgeted['store'] & Pick<SourceStore, 'openJobs' | 'putJob'>;
  readonly log: Log;
  readonly wait: Wait;
}

export interface SourceRead {
  readonly read: RawRead;
  /** The key of the job that gave the read, under which its lot is stored; undefined for a stream. */
  readonly jobKey: string | undefined;
}

export interface SourceReader {
  /** Resolves to whether a job waits to be read. It is paid for, so it is read even if its bits are not needed. */
  isOwed(signal: AbortSignal): Promise<boolean>;
  /**
   * Reads at least `bits` bits, or as many as an open job was made for. Rejects with a BackendError (kind `quota` if
   * the budget of the day is spent), with the signal's reason, or with an error of the store.
   */
  read(bits: number, signal: AbortSignal): Promise<SourceRead>;
  /** Call it when the lot of a job is on disk. Deletes the raw results of this job and earlier ones at the provider. */
  lotStored(jobKey: string, signal: AbortSignal): Promise<void>;
  /** Call it when storing a lot failed. The reader then asks the store again what state the job is in. */
  lotNotStored(): void;
  /** Asks the provider to cancel the open jobs. Call it when nobody will fetch their results. */
  abandon(): Promise<void>;
}

/** Returns a reader of the source that keeps to its budget. Jobs survive restarts of the process. */
export function sourceReader(options: SourceReaderOptions): SourceReader {
  const { backend, wait } = options;
  if (backend.kind === 'job') return new JobReads({ ...options, backend });
  const read = async (bits: number, signal: AbortSignal): Promise<SourceRead> => {
    const spend = estimateOf(backend, bits);
    if (spend !== undefined) await charge(options, spend);
    return { read: await readStream(backend, bits, signal, wait), jobKey: undefined };
  };
  return {
    isOwed: async () => false,
    read,
    lotStored: async () => {},
    lotNotStored() {},
    abandon: async () => {},
  };
}

/** Time limit of one call to a provider of jobs. A result of 4 Mbit may be 10 MB of text. */
const CALL_TIMEOUT_MS = 60_000;
/** Time limit of a cancellation or a deletion. */
const PARTING_TIMEOUT_MS = 10_000;
/** How often a call is tried if its error may pass. Jobs cost money, and connections break. */
const CALL_TRIES = 5;
const CALL_RETRY_FIRST_MS = 1_000;
/** The pause between polls of a job if the provider names none, and the bounds of what it may name. */
const POLL_INTERVAL_MS = 5_000;
const POLL_INTERVAL_MIN_MS = 500;
const POLL_INTERVAL_MAX_MS = 300_000;

/** The reader gives up a job that has not ended after this time. */
const JOB_WAIT_MAX_MS = 24 * 3_600_000;
const NOT_DONE = `not done in ${JOB_WAIT_MAX_MS / 3_600_000} h`;

type JobEnd = Extract<JobState, { readonly state: 'done' | 'failed' | 'cancelled' }>;

/**
 * The reader gives up results that cannot be fetched in this many rounds, each with its own tries, although the poll
 * says that they are there. A truncated result fails every time. With the collector's pauses this takes about 20
 * minutes. An outage fails the poll too and is not counted.
 */
const FETCHES_MAX = 20;
/**
 * After this many jobs in a row whose results are lost for good, the source counts as broken. One may be lost by a
 * crash, at a provider that lets results be read once, or by a fault of the device. If a second paid job is lost, a
 * person must look.
 */
const LOST_IN_A_ROW_MAX = 2;

/**
 * The jobs of one source, from the intention to the deletion at the provider. Each step is on disk:
 *
 *   intended ─submit▶ submitted ─poll, fetch, addLot▶ stored ─forget▶ ended
 *       └────────────────┴── failed, cancelled, given up ──▶ ended
 *
 * A job outlives the process: after a restart the next process reads the results that were paid for. So a stop cancels
 * nothing, an error that may pass leaves the job in its state, and open jobs are finished before a new one is intended.
 * A job that was intended and perhaps submitted is submitted again under its key; that starts no second job. The charge
 * stays whatever becomes of the job.
 */
class JobReads implements SourceReader {
  readonly #options: SourceReaderOptions<JobBackend>;
  readonly #startedAtMs: number;
  /**
   * The jobs that have not ended, by key, oldest first; undefined if the store must be asked: at the start and after a
   * fault.
   */
  #open: Map<string, JobRecord> | undefined;
  /** The present job, and how many rounds of fetching its results have failed. */
  #fetchesFailed = { jobKey: '', count: 0 };
  #lostInARow = 0;

  constructor(options: SourceReaderOptions<JobBackend>) {
    this.#options = options;
    this.#startedAtMs = options.clock.wallMs();
  }

  async isOwed(signal: AbortSignal): Promise<boolean> {
    return (await this.#unread(signal)) !== undefined;
  }

  /** Reads the result of the oldest open job or, if there is none, of a new one for `bits` bits. */
  async read(bits: number, signal: AbortSignal): Promise<SourceRead> {
    const job = (await this.#unread(signal)) ?? (await this.#intend(bits));
    const submitted = await this.#submit(job, signal);
    await this.#end(submitted, signal);
    const read = await this.#fetch(submitted, signal);
    this.#lostInARow = 0;
    return { read, jobKey: job.key };
  }

  async lotStored(jobKey: string, signal: AbortSignal): Promise<void> {
    const job = this.#open?.get(jobKey);
    if (job === undefined) return;
    this.#open?.set(jobKey, { ...job, state: 'stored' });
    await this.#forgetStored(signal);
  }

  lotNotStored(): void {
    this.#open = undefined;
  }

  async abandon(): Promise<void> {
    const { signal } = new AbortController(); // the signal of the read may be aborted already
    for (const job of this.#open?.values() ?? []) {
      if (job.state === 'submitted') await this.#cancel(job, signal);
    }
  }

  async #unread(signal: AbortSignal): Promise<JobRecord | undefined> {
    if (this.#open === undefined) {
      const jobs = await this.#options.store.openJobs(this.#options.backend.name);
      this.#open = new Map(jobs.map((job) => [job.key, job]));
      await this.#forgetStored(signal);
    }
    return [...this.#open.values()].find(({ state }) => state !== 'stored');
  }

  async #intend(bits: number): Promise<JobRecord> {
    const spend = estimateOf(this.#options.backend, bits);
    assert(spend !== undefined, 'a job has an estimate');
    const job = await this.#onDisk(() => openJob(this.#options, bits, spend));
    this.#open?.set(job.key, job);
    return job;
  }

  async #submit(job: JobRecord, signal: AbortSignal): Promise<JobRecord> {
    if (job.state === 'submitted') return job;
    const { backend } = this.#options;
    const submission = (over: AbortSignal) => backend.submit(job.bits, job.key, over);
    const { jobId, memo } = await this.#orGiveUp(job, () => this.#insist(submission, signal));
    const submittedAtMs = this.#options.clock.wallMs();
    const submitted: JobRecord = { ...job, state: 'submitted', jobId, memo, submittedAtMs };
    await this.#put(submitted);
    const { source, bits, amount, currency } = job;
    this.#options.log.info({ source, job: jobId, bits, amount, currency }, 'job submitted');
    return submitted;
  }

  async #end(job: JobRecord, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const waitMaxMs = (job.submittedAtMs ?? job.intendedAtMs) + JOB_WAIT_MAX_MS - clock.wallMs();
    const cancel = () => this.#cancel(job, signal);
    const end = await this.#orGiveUp(job, () => this.#polled(job, waitMaxMs, signal), cancel);
    if (end?.state === 'done') return;
    if (end === undefined) await cancel();
    const failure = end === undefined ? NOT_DONE : `${end.state}: ${end.reason}`;
    await this.#fail(job, failure);
    throw new BackendError('retryable', `job ${job.jobId} ${failure}`);
  }

  /** Polls until the job has ended. Resolves to undefined if it has not after `waitMaxMs` of waiting. */
  async #polled(job: JobRecord, waitMaxMs: number, signal: AbortSignal): Promise<JobEnd | undefined> {
    const { backend, wait } = this.#options;
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

  /** Asks the provider once to cancel a job that nobody will fetch. If that fails, the job runs and nobody reads it. */
  async #cancel(job: JobRecord, signal: AbortSignal): Promise<void> {
    const { backend, wait } = this.#options;
    try {
      const cancel = (over: AbortSignal) => backend.cancel(referenceOf(job), over);
      await withDeadline(cancel, PARTING_TIMEOUT_MS, signal, wait);
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
    }
  }

  /** Makes a call with a time limit, and tries again after an error that may pass. */
  async #insist<T>(attempt: (over: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { wait } = this.#options;
    for (let tries = 1, pauseMs = CALL_RETRY_FIRST_MS; ; tries++, pauseMs *= 2) {
      try {
        return await withDeadline(attempt, CALL_TIMEOUT_MS, signal, wait);
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
        return takeRead(this.#options.backend, read, job.bits);
      } catch (error) {
        // The results stay the same, so fetching them again does not help.
        throw isKind(error, 'retryable') ? new BackendError('permanent', error.message) : error;
      }
    });
  }

  async #fetchOrCount(job: JobRecord, signal: AbortSignal): Promise<RawRead> {
    try {
      return await this.#insist((over) => this.#options.backend.fetch(referenceOf(job), over), signal);
    } catch (error) {
      if (!isKind(error, 'retryable')) throw error;
      const before = this.#fetchesFailed.jobKey === job.key ? this.#fetchesFailed.count : 0;
      this.#fetchesFailed = { jobKey: job.key, count: before + 1 };
      if (before + 1 < FETCHES_MAX) throw error;
      throw new BackendError('permanent', `results that cannot be fetched: ${error.message}`);
    }
  }

  /**
   * Does a step of the job. An error that cannot pass, or that has lasted too long, ends the job after `giveUp` has
   * told the provider. Any other error leaves the job in its state.
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

  /** Returns whether errors may end the job. After a long downtime the time counts from the start of this process. */
  #isOverdue(job: JobRecord): boolean {
    const sinceMs = Math.max(job.submittedAtMs ?? job.intendedAtMs, this.#startedAtMs);
    return this.#options.clock.wallMs() - sinceMs > JOB_WAIT_MAX_MS;
  }

  async #fail(job: JobRecord, failure: string): Promise<void> {
    await this.#put({ ...job, state: 'ended', failure });
    const { source, key, jobId } = job;
    this.#options.log.warn({ source, key, job: jobId, failure }, 'job ended without a lot');
  }

  /**
   * Deletes the results of stored jobs at the provider, with one try each. The next lot or start tries again what
   * failed.
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
      const { backend, wait } = this.#options;
      const forget = async (over: AbortSignal) => backend.forget?.(referenceOf(job), over);
      await withDeadline(forget, PARTING_TIMEOUT_MS, signal, wait);
      return true;
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      const isGivenUp = error.kind === 'permanent' || error.kind === 'no_raw_shots' || this.#isOverdue(job);
      const { source, jobId } = job;
      this.#options.log.warn(
        { source, job: jobId, reason: error.message, isGivenUp },
        'could not delete the raw results of a job at the provider',
      );
      return isGivenUp;
    }
  }

  async #put(job: JobRecord): Promise<void> {
    await this.#onDisk(() => this.#options.store.putJob(job));
    if (job.state === 'ended') this.#open?.delete(job.key);
    else this.#open?.set(job.key, job);
  }

  /** Makes a call to the store. If the call fails, the state of the jobs is unknown and must be read again. */
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
