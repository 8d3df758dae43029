import {
  BackendError,
  type JobBackend,
  type JobReference,
  type JobState,
  type RawRead,
} from '../../backend/backend.ts';
import { answerWithin, type Wait, withDeadline } from './wait.ts';

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
export const JOB_WAIT_MAX_MS = 24 * 3_600_000;
export const NOT_DONE = `not done in ${JOB_WAIT_MAX_MS / 3_600_000} h`;

export type JobEnd = Extract<JobState, { readonly state: 'done' | 'failed' | 'cancelled' }>;

/** The calls on a provider of jobs, each with its deadline; a failure that may pass is tried again. */
export class JobCalls {
  readonly #backend: JobBackend;
  readonly #wait: Wait;

  constructor(backend: JobBackend, wait: Wait) {
    this.#backend = backend;
    this.#wait = wait;
  }

  submit(bits: number, idempotencyKey: string, signal: AbortSignal): Promise<JobReference> {
    return this.#insist((over) => this.#backend.submit(bits, idempotencyKey, over), signal);
  }

  /** Polls until the job has ended; undefined when it has not after waits of `waitMaxMs`. */
  async end(job: JobReference, waitMaxMs: number, signal: AbortSignal): Promise<JobEnd | undefined> {
    for (let waitedMs = 0; ; ) {
      const state = await this.#insist((over) => this.#backend.poll(job, over), signal);
      if (state.state === 'done' || 'reason' in state) return state;
      if (waitedMs >= waitMaxMs) return undefined;
      const { retryAfterMs = Number.NaN } = state;
      const askedMs = Number.isNaN(retryAfterMs) ? POLL_INTERVAL_MS : retryAfterMs;
      const pauseMs = Math.min(Math.max(askedMs, POLL_INTERVAL_MIN_MS), POLL_INTERVAL_MAX_MS);
      await this.#wait(pauseMs, signal);
      waitedMs += pauseMs;
    }
  }

  fetch(job: JobReference, signal: AbortSignal): Promise<RawRead> {
    return this.#insist((over) => this.#backend.fetch(job, over), signal);
  }

  /** Asks the provider, once, not to run what nobody will fetch. When it does not take that, the job runs unread. */
  async cancel(job: JobReference, signal: AbortSignal): Promise<void> {
    const limit = answerWithin(PARTING_TIMEOUT_MS);
    try {
      await withDeadline(() => this.#backend.cancel(job), limit, signal, this.#wait);
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
    }
  }

  /** Asks once for the raw results to be deleted. */
  async forget(job: JobReference, signal: AbortSignal): Promise<void> {
    const { forget } = this.#backend;
    if (forget === undefined) return;
    const limit = answerWithin(PARTING_TIMEOUT_MS);
    await withDeadline((over) => forget.call(this.#backend, job, over), limit, signal, this.#wait);
  }

  async #insist<T>(attempt: (over: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let tries = 1, pauseMs = CALL_RETRY_FIRST_MS; ; tries++, pauseMs *= 2) {
      try {
        return await withDeadline(attempt, answerWithin(CALL_TIMEOUT_MS), signal, this.#wait);
      } catch (error) {
        const again = error instanceof BackendError && error.kind === 'retryable' && tries < CALL_TRIES;
        if (!again) throw error;
        const askedMs = Math.min(error.retryAfterMs ?? 0, POLL_INTERVAL_MAX_MS);
        await this.#wait(Math.max(pauseMs, askedMs), signal);
      }
    }
  }
}
