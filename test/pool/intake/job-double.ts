import assert from 'node:assert/strict';
import {
  BackendError,
  type BackendErrorKind,
  type JobBackend,
  type JobReference,
  type JobState,
  type RawRead,
  type Spend,
} from '../../../src/backend/backend.ts';
import { fixedBytes, rawRead } from '../../support/backends.ts';

/** Returns a matcher for `assert.rejects`: a BackendError of this kind. */
export function hasKind(kind: BackendErrorKind, message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof BackendError, String(error));
    assert.equal(error.kind, kind, error.message);
    assert.match(error.message, message);
    return true;
  };
}

export type JobCall = 'submit' | 'poll' | 'fetch' | 'cancel' | 'forget';

/**
 * A provider of jobs that does as the test says, and its backend. It keeps its jobs whatever becomes of the services that
 * use it, and one idempotency key is one job. Sound bits, 16 channels; the same job gives the same bits each time.
 */
export class JobDouble implements JobBackend {
  readonly kind = 'job';
  readonly name = 'test-jobs';
  readonly origin = 'simulated';
  readonly quantumBackend = 'test-jobs';
  readonly deterministic = true;
  readonly claimedMinEntropyPerBit = 1;
  readonly calls: JobCall[] = [];
  /** Idempotency keys of the submissions. */
  readonly keys: string[] = [];
  readonly cancelled: string[] = [];
  readonly forgotten: string[] = [];
  /** Memos that came back. */
  readonly memos = new Set<string>();
  /** Errors that a call throws, one a call, before it works. */
  readonly failures = new Map<JobCall, Error[]>();
  /** Calls that never come back, and do not listen. */
  readonly stalls = new Set<JobCall>();
  repeatsLastState = false;
  price: Spend = { amount: 0.5, currency: 'USD', calls: 1 };
  result: (bits: number, jobId: string) => RawRead;
  readonly #states: JobState[];
  readonly #jobs = new Map<string, { readonly key: string; readonly bits: number }>();

  /** The states that polls tell, one after the other; when none are left, `done`. */
  constructor(...states: readonly JobState[]) {
    this.#states = [...states];
    this.result = (bits, jobId) => {
      const bytes = new Uint8Array(bits / 8);
      fixedBytes(`job ${jobId}`)(bytes);
      return rawRead(bytes, 16, bits / 16);
    };
  }

  /** Jobs that were started and paid for. */
  get started(): number {
    return this.#jobs.size;
  }

  estimate(): Spend {
    return this.price;
  }

  async submit(bits: number, idempotencyKey: string): Promise<JobReference> {
    this.keys.push(idempotencyKey);
    await this.#begin('submit');
    const known = [...this.#jobs].find(([, { key }]) => key === idempotencyKey);
    const jobId = known?.[0] ?? String(this.#jobs.size + 1);
    this.#jobs.set(jobId, { key: idempotencyKey, bits });
    return { jobId, idempotencyKey, bits, memo: `memo of ${jobId}` };
  }

  async poll(job: JobReference): Promise<JobState> {
    await this.#begin('poll', job);
    const [state = { state: 'done' }] = this.#states;
    if (this.#states.length > 1 || !this.repeatsLastState) this.#states.shift();
    return state;
  }

  async fetch(job: JobReference): Promise<RawRead> {
    await this.#begin('fetch', job);
    return this.result(this.#jobs.get(job.jobId)!.bits, job.jobId);
  }

  async cancel(job: JobReference): Promise<void> {
    this.cancelled.push(`job ${job.jobId}`);
    await this.#begin('cancel', job);
  }

  async forget(job: JobReference): Promise<void> {
    await this.#begin('forget', job);
    this.forgotten.push(`job ${job.jobId}`);
  }

  async #begin(call: JobCall, job?: JobReference): Promise<void> {
    this.calls.push(call);
    if (job !== undefined) this.memos.add(job.memo);
    const failure = this.failures.get(call)?.shift();
    if (failure !== undefined) throw failure;
    if (this.stalls.has(call)) await new Promise(() => {});
  }
}
