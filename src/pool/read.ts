import { randomUUID } from 'node:crypto';
import {
  type Backend,
  BackendError,
  type JobBackend,
  type JobReference,
  type JobState,
  type RawRead,
} from '../backend/backend.ts';
import { systemWait, type Wait, withDeadline } from './wait.ts';

/** A stream read that takes longer than this has stalled. */
const STREAM_TIMEOUT_MS = 30_000;
/** The same for one call on a provider of jobs; a result of 4 Mbit may be some 10 MB of text. */
const CALL_TIMEOUT_MS = 60_000;
/** What a stopping service grants a provider to take a cancellation. */
const CANCEL_TIMEOUT_MS = 2_000;
/** A call on a job that fails and may be tried again is tried this often: jobs cost money, and links drop. */
const CALL_TRIES = 5;
const CALL_RETRY_FIRST_MS = 1_000;
/** Between polls of a job: when the provider names no time, and the bounds of what it may name. */
const POLL_INTERVAL_MS = 5_000;
const POLL_INTERVAL_MIN_MS = 500;
const POLL_INTERVAL_MAX_MS = 300_000;
/** A job that was waited for this long between polls is given up. */
const JOB_WAIT_MAX_MS = 24 * 3_600_000;

/**
 * One read of either shape of backend, checked for what every later step relies on. A backend that stalls is given up
 * after a deadline even when it ignores its signal. Rejects with a BackendError, or with the signal's reason.
 */
export async function readBackend(
  backend: Backend,
  bits: number,
  signal: AbortSignal,
  wait: Wait = systemWait,
): Promise<RawRead> {
  const read =
    backend.kind === 'stream'
      ? await withDeadline((over) => backend.read(bits, over), answerWithin(STREAM_TIMEOUT_MS), signal, wait)
      : await new JobRead(backend, signal, wait).run(bits);
  const got = read.width * read.shots;
  if (read.bits.length !== Math.ceil(got / 8)) {
    throw new BackendError('permanent', `${backend.name} gave ${read.bits.length} bytes for ${got} bits`);
  }
  if (got < bits) throw new BackendError('retryable', `${backend.name} gave ${got} of ${bits} bits`);
  return read;
}

function answerWithin(timeoutMs: number) {
  return { timeoutMs, late: () => new BackendError('retryable', `no answer within ${timeoutMs / 1000} s`) };
}

type JobEnd = Extract<JobState, { readonly state: 'done' | 'failed' | 'cancelled' }>;

/** One job from its submission to its result. What was paid for is not given up for one call that fails. */
class JobRead {
  readonly #backend: JobBackend;
  readonly #signal: AbortSignal;
  readonly #wait: Wait;

  constructor(backend: JobBackend, signal: AbortSignal, wait: Wait) {
    this.#backend = backend;
    this.#signal = signal;
    this.#wait = wait;
  }

  async run(bits: number): Promise<RawRead> {
    const idempotencyKey = randomUUID(); // one for all tries: a submission whose answer got lost starts no second job
    const job = await this.#call((over) => this.#backend.submit(bits, idempotencyKey, over));
    const end = await this.#endOf(job);
    if (end.state !== 'done') {
      throw new BackendError('retryable', `job ${job.jobId} ${end.state}: ${end.reason}`);
    }
    return this.#call((over) => this.#backend.fetch(job, over));
  }

  async #endOf(job: JobReference): Promise<JobEnd> {
    try {
      return await this.#pollToEnd(job);
    } catch (error) {
      await this.#cancel(job);
      throw error;
    }
  }

  async #pollToEnd(job: JobReference): Promise<JobEnd> {
    for (let waitedMs = 0; waitedMs < JOB_WAIT_MAX_MS; ) {
      const state = await this.#call((over) => this.#backend.poll(job, over));
      if (state.state === 'done' || 'reason' in state) return state;
      const askedMs = state.retryAfterMs ?? POLL_INTERVAL_MS;
      const pauseMs = Math.min(Math.max(askedMs, POLL_INTERVAL_MIN_MS), POLL_INTERVAL_MAX_MS);
      await this.#wait(pauseMs, this.#signal);
      waitedMs += pauseMs;
    }
    throw new BackendError('retryable', `job ${job.jobId} not done in ${JOB_WAIT_MAX_MS / 3_600_000} h`);
  }

  async #call<T>(attempt: (over: AbortSignal) => Promise<T>): Promise<T> {
    for (let tries = 1, pauseMs = CALL_RETRY_FIRST_MS; ; tries++, pauseMs *= 2) {
      try {
        return await withDeadline(attempt, answerWithin(CALL_TIMEOUT_MS), this.#signal, this.#wait);
      } catch (error) {
        const again = error instanceof BackendError && error.kind === 'retryable' && tries < CALL_TRIES;
        if (!again) throw error;
        const askedMs = Math.min(error.retryAfterMs ?? 0, POLL_INTERVAL_MAX_MS);
        await this.#wait(Math.max(pauseMs, askedMs), this.#signal);
      }
    }
  }

  /** Asks the provider not to run what nobody will fetch. When it does not take that, the job runs unread. */
  async #cancel(job: JobReference): Promise<void> {
    const ignoreSignal = new AbortController().signal; // the read's own may be what ended it
    try {
      await withDeadline(
        () => this.#backend.cancel(job),
        answerWithin(CANCEL_TIMEOUT_MS),
        ignoreSignal,
        this.#wait,
      );
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
    }
  }
}
