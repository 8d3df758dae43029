import type { JobBackend, JobReference, JobState, RawRead } from '../../src/backend/backend.ts';
import { fixedBytes, rawRead } from '../support/backends.ts';

type Call = 'submit' | 'poll' | 'fetch' | 'cancel';

/** A provider of jobs that does as the test says. Sound bits, 16 channels. */
export class JobDouble implements JobBackend {
  readonly kind = 'job';
  readonly name = 'test-jobs';
  readonly origin = 'simulated';
  readonly quantumBackend = 'test-jobs';
  readonly deterministic = true;
  readonly claimedMinEntropyPerBit = 1;
  readonly calls: Call[] = [];
  /** Idempotency keys of the submissions. */
  readonly keys: string[] = [];
  readonly cancelled: string[] = [];
  /** Errors that a call throws, one a call, before it works. */
  readonly failures = new Map<Call, Error[]>();
  /** Calls that never come back, and do not listen. */
  readonly stalls = new Set<Call>();
  repeatsLastState = false;
  result: (bits: number) => RawRead;
  readonly #states: JobState[];
  readonly #bitsOf = new Map<string, number>();

  /** The states that polls tell, one after the other. */
  constructor(...states: readonly JobState[]) {
    this.#states = [...states];
    const source = fixedBytes('jobs');
    this.result = (bits) => {
      const bytes = new Uint8Array(bits / 8);
      source(bytes);
      return rawRead(bytes, 16, bits / 16);
    };
  }

  async submit(bits: number, idempotencyKey: string): Promise<JobReference> {
    this.keys.push(idempotencyKey);
    await this.#begin('submit');
    const jobId = String(this.#bitsOf.size + 1);
    this.#bitsOf.set(jobId, bits);
    return { jobId, idempotencyKey, bits, memo: '' };
  }

  async poll(): Promise<JobState> {
    await this.#begin('poll');
    const [state] = this.#states;
    if (this.#states.length > 1 || !this.repeatsLastState) this.#states.shift();
    return state;
  }

  async fetch(job: JobReference): Promise<RawRead> {
    await this.#begin('fetch');
    return this.result(this.#bitsOf.get(job.jobId)!);
  }

  async cancel(job: JobReference): Promise<void> {
    this.cancelled.push(`job ${job.jobId}`);
    await this.#begin('cancel');
  }

  async #begin(call: Call): Promise<void> {
    this.calls.push(call);
    const failure = this.failures.get(call)?.shift();
    if (failure !== undefined) throw failure;
    if (this.stalls.has(call)) await new Promise(() => {});
  }
}
