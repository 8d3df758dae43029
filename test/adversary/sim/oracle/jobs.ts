import type { JobRecord, LotRecord } from '../../../../src/ledger/records.ts';
import { JOB_LIMITS, PRICE } from '../sources.ts';
import { hold } from './violation.ts';

/** Checks that every job is recorded on disk before it is submitted, is paid for once, and gives one lot at most. */
export class JobKeeper {
  /** The ledger's records by key. */
  readonly records = new Map<string, JobRecord>();
  /** The nodes that opened them, or took them from a node that was fenced. */
  readonly #nodes = new Map<string, number>();
  readonly #paid = new Set<string>();
  readonly #lots = new Map<string, string>();
  readonly #calls = new Map<number, number>();

  get paid(): number {
    return this.#paid.size;
  }

  /** A job is on disk; `node` tells who asked for it. */
  recorded(node: number, job: JobRecord, isNew: boolean): void {
    const known = this.records.get(job.key);
    if (known?.state === 'ended') return;
    if (isNew && known === undefined) {
      const open = [...this.records.values()].filter(
        ({ key, state }) => (state === 'intended' || state === 'submitted') && this.#nodes.get(key) === node,
      );
      this.#nodes.set(job.key, node);
      hold(open.length === 0, 'jobs', `job ${job.key} is intended while ${open.at(0)?.key} is open`);
      const calls = (this.#calls.get(job.day) ?? 0) + 1;
      this.#calls.set(job.day, calls);
      const { amountPerDay, callsPerDay } = JOB_LIMITS;
      const isWithin = calls <= (callsPerDay ?? 0) && calls * PRICE.amount <= (amountPerDay ?? 0);
      hold(isWithin, 'jobs', `${calls} jobs on day ${job.day}: more than its budget`);
    }
    this.records.set(job.key, job);
  }

  /** A node was told that these are its jobs. */
  listed(node: number, jobs: readonly JobRecord[]): void {
    for (const { key } of jobs) this.#nodes.set(key, node);
  }

  /** The provider was asked for a job. */
  submitted(key: string, bits: number): void {
    const job = this.records.get(key);
    hold(job !== undefined, 'jobs', `job ${key} was asked for before its intention was on disk`);
    // a request that was on its way when its process died may arrive after the next one has read the job
    hold(job.bits === bits, 'jobs', `job ${key} was asked for with ${bits} bits, not ${job.bits}`);
  }

  /** The provider started one. */
  started(key: string): void {
    hold(!this.#paid.has(key), 'jobs', `job ${key} was paid for twice`);
    this.#paid.add(key);
  }

  gaveLot(key: string, lot: LotRecord): void {
    const earlier = this.#lots.get(key);
    hold(earlier === undefined || earlier === lot.id, 'jobs', `job ${key} gave ${earlier} and ${lot.id}`);
    this.#lots.set(key, lot.id);
    const job = this.records.get(key);
    if (job !== undefined) this.records.set(key, { ...job, state: 'stored' });
  }

  /** Jobs that wait to be read and were intended before this Unix time. */
  unread(beforeMs: number): JobRecord[] {
    return [...this.records.values()].filter(
      ({ state, intendedAtMs }) => (state === 'intended' || state === 'submitted') && intendedAtMs < beforeMs,
    );
  }
}
