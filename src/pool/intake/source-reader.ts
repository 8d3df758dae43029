import type { Backend, RawRead } from '../../backend/backend.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { SourceStore } from '../../ledger/ledger.ts';
import type { SpendLimits } from '../../ledger/records.ts';
import { Budget, estimateOf } from './budget.ts';
import { JobReads } from './jobs.ts';
import { readBackend } from './read.ts';
import type { Wait } from './wait.ts';

export interface SourceReaderOptions {
  readonly backend: Backend;
  readonly store: SourceStore;
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

/** Reads a source within its budget; jobs survive the process (jobs.ts). */
export class SourceReader {
  readonly #options: SourceReaderOptions;
  readonly #budget: Budget;
  readonly #jobs: JobReads | undefined;

  constructor(options: SourceReaderOptions) {
    const { backend, store, limits, clock } = options;
    this.#options = options;
    this.#budget = new Budget(backend.name, store, limits, clock);
    this.#jobs =
      backend.kind === 'job' ? new JobReads({ ...options, backend, budget: this.#budget }) : undefined;
  }

  /** True while a job that is paid for waits to be read. */
  async isOwed(signal: AbortSignal): Promise<boolean> {
    return (await this.#jobs?.isOwed(signal)) ?? false;
  }

  /**
   * At least `bits` bits, or what an open job was made for. Rejects with a BackendError, of kind `quota` when the budget of
   * the day has no room, with the signal's reason, or with a fault of the store.
   */
  async read(bits: number, signal: AbortSignal): Promise<SourceRead> {
    if (this.#jobs !== undefined) return this.#jobs.read(bits, signal);
    const { backend, wait } = this.#options;
    const spend = estimateOf(backend, bits);
    if (spend !== undefined) await this.#budget.charge(spend);
    return { read: await readBackend(backend, bits, signal, wait), jobKey: undefined };
  }

  /** To be told when the lot of a job is on disk. */
  async lotStored(jobKey: string, signal: AbortSignal): Promise<void> {
    await this.#jobs?.lotStored(jobKey, signal);
  }

  /** To be told when it is not known to be. */
  lotNotStored(): void {
    this.#jobs?.lotNotStored();
  }
}
