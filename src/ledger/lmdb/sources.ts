import { LedgerError, type SourceStore } from '../ledger.ts';
import type { JobRecord, SourceSpend, SpendLimits } from '../records.ts';
import {
  mayGiveLot,
  NOTHING_SPENT,
  plusCharge,
  replacedJob,
  requireCharge,
  requireIntended,
  requireSameCharge,
  spendOf,
} from '../spending.ts';
import type { GroupWriter } from './group-writer.ts';
import type { Store } from './store.ts';
import { increase, type StoredJob, type Tables } from './tables.ts';

/**
 * Notes, spends and jobs of sources. A tool beside the server keeps notes and charges too: reads begin with a
 * fresh view.
 */
export class LmdbSourceStore implements SourceStore {
  readonly #store: Store;
  readonly #tables: Tables;
  readonly #writer: GroupWriter;

  constructor(store: Store, tables: Tables, writer: GroupWriter) {
    this.#store = store;
    this.#tables = tables;
    this.#writer = writer;
  }

  async sourceNote(source: string, key: string): Promise<string | undefined> {
    this.#store.refresh();
    return this.#tables.sourceNotes.get([source, key]);
  }

  putSourceNote(source: string, key: string, value: string): Promise<void> {
    return this.#writer.submit(() => {
      const { sourceNotes, meta } = this.#tables;
      if (!sourceNotes.has([source, key])) increase(meta, 'sourceNotes', 1);
      sourceNotes.put([source, key], value);
    });
  }

  charge(key: string, spend: SourceSpend, limits: SpendLimits): Promise<boolean> {
    return this.#writer.submit(() => {
      const { charges, meta } = this.#tables;
      requireCharge(spend);
      if (charges.has(key)) return true;
      if (!this.#take(spend, limits)) return false;
      charges.put(key, spend);
      increase(meta, 'charges', 1);
      return true;
    });
  }

  async spent(source: string, day: number): Promise<SourceSpend> {
    this.#store.refresh();
    return spendOf(source, day, this.#tables.spends.get([source, day]) ?? NOTHING_SPENT);
  }

  openJob(job: JobRecord, limits: SpendLimits): Promise<boolean> {
    return this.#writer.submit(() => {
      const { jobs, openJobs, meta } = this.#tables;
      requireIntended(job);
      const stored = jobs.get(job.key);
      if (stored !== undefined) {
        requireSameCharge(stored.job, job);
        return true;
      }
      if (!this.#take(job, limits)) return false;
      const ordinal = increase(meta, 'jobs', 1);
      jobs.put(job.key, { job, ordinal, lotId: null });
      openJobs.put([job.source, ordinal], job.key);
      return true;
    });
  }

  putJob(job: JobRecord): Promise<void> {
    return this.#writer.submit(() => {
      const stored = this.#stored(job.key);
      const replaced = replacedJob(stored, job);
      if (replaced !== undefined) this.#put({ ...stored, job: replaced });
    });
  }

  async openJobs(source: string): Promise<JobRecord[]> {
    this.#store.refresh();
    const range = { from: [source, 0], before: [source, Number.MAX_SAFE_INTEGER] } as const;
    const keys = [...this.#tables.openJobs.entries(range)].map(({ value }) => value);
    return keys.map((key) => this.#stored(key).job);
  }

  /** Inside the transaction that adds the lot: whether the job may give it. See EntropyStore.addLot. */
  mayGiveLot(key: string): boolean {
    return mayGiveLot(this.#stored(key));
  }

  /** Inside any transaction: whether the job gave this very lot. */
  gaveLot(key: string, lotId: string): boolean {
    return this.#stored(key).lotId === lotId;
  }

  /** Inside the transaction that adds the lot. */
  lotStored(key: string, lotId: string): void {
    const stored = this.#stored(key);
    this.#put({ ...stored, job: { ...stored.job, state: 'stored' }, lotId });
  }

  /** Ends the jobs of all sources that have no lot yet. */
  abandonJobs(failure: string): Promise<void> {
    return this.#writer.submit(() => {
      const open = [...this.#tables.openJobs.entries()].map(({ value }) => this.#stored(value));
      for (const stored of open) {
        if (stored.lotId === null) this.#put({ ...stored, job: { ...stored.job, state: 'ended', failure } });
      }
    });
  }

  #take(spend: Pick<SourceSpend, 'source' | 'day' | 'amount' | 'currency' | 'calls'>, limits: SpendLimits) {
    const { spends } = this.#tables;
    const { source, day } = spend;
    const sum = plusCharge(spends.get([source, day]) ?? NOTHING_SPENT, spend, limits);
    if (sum === undefined) return false;
    spends.put([source, day], sum);
    return true;
  }

  #put(stored: StoredJob): void {
    const { jobs, openJobs } = this.#tables;
    jobs.put(stored.job.key, stored);
    if (stored.job.state === 'ended') openJobs.remove([stored.job.source, stored.ordinal]);
  }

  #stored(key: string): StoredJob {
    const stored = this.#tables.jobs.get(key);
    if (stored === undefined) throw new LedgerError('refused', `there is no job ${key}`);
    return stored;
  }
}
