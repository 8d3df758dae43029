import { LedgerError, type SourceStore } from '../../src/ledger/ledger.ts';
import type { JobRecord, SourceSpend, SpendLimits } from '../../src/ledger/records.ts';
import {
  type DaySpend,
  type JobWithLot,
  mayGiveLot,
  NOTHING_SPENT,
  plusCharge,
  replacedJob,
  requireCharge,
  requireIntended,
  requireSameCharge,
  spendOf,
} from '../../src/ledger/spending.ts';

const NO_LIMITS: SpendLimits = { amountPerDay: null, callsPerDay: null };

/** Sources in the model of the ledger: what a day spent is summed over all its jobs and charges at each question. */
export class MemorySources implements SourceStore {
  readonly #notes = new Map<string, string>();
  readonly #charges = new Map<string, SourceSpend>();
  /** In the order in which they were opened. */
  readonly #jobs = new Map<string, JobWithLot>();

  async sourceNote(source: string, key: string): Promise<string | undefined> {
    return this.#notes.get(JSON.stringify([source, key]));
  }

  async putSourceNote(source: string, key: string, value: string): Promise<void> {
    this.#notes.set(JSON.stringify([source, key]), value);
  }

  async charge(key: string, spend: SourceSpend, limits: SpendLimits): Promise<boolean> {
    requireCharge(spend);
    if (this.#charges.has(key)) return true;
    if (plusCharge(this.#day(spend.source, spend.day), spend, limits) === undefined) return false;
    this.#charges.set(key, { ...spend });
    return true;
  }

  async spent(source: string, day: number): Promise<SourceSpend> {
    return spendOf(source, day, this.#day(source, day));
  }

  async openJob(job: JobRecord, limits: SpendLimits): Promise<boolean> {
    requireIntended(job);
    const known = this.#jobs.get(job.key);
    if (known !== undefined) {
      requireSameCharge(known.job, job);
      return true;
    }
    if (plusCharge(this.#day(job.source, job.day), job, limits) === undefined) return false;
    this.#jobs.set(job.key, { job: { ...job }, lotId: null });
    return true;
  }

  async putJob(job: JobRecord): Promise<void> {
    const known = this.#known(job.key);
    const replaced = replacedJob(known, job);
    if (replaced !== undefined) this.#jobs.set(job.key, { ...known, job: { ...replaced } });
  }

  async openJobs(source: string): Promise<JobRecord[]> {
    const jobs = [...this.#jobs.values()].map(({ job }) => ({ ...job }));
    return jobs.filter((job) => job.source === source && job.state !== 'ended');
  }

  /** See EntropyStore.addLot. */
  mayGiveLot(key: string): boolean {
    return mayGiveLot(this.#known(key));
  }

  gaveLot(key: string, lotId: string): boolean {
    return this.#known(key).lotId === lotId;
  }

  lotStored(key: string, lotId: string): void {
    const { job } = this.#known(key);
    this.#jobs.set(key, { job: { ...job, state: 'stored' }, lotId });
  }

  #day(source: string, day: number): DaySpend {
    const all = [...[...this.#jobs.values()].map(({ job }) => job), ...this.#charges.values()];
    let sum = NOTHING_SPENT;
    for (const each of all) {
      if (each.source === source && each.day === day) sum = plusCharge(sum, each, NO_LIMITS) ?? sum;
    }
    return sum;
  }

  #known(key: string): JobWithLot {
    const known = this.#jobs.get(key);
    if (known === undefined) throw new LedgerError('refused', `there is no job ${key}`);
    return known;
  }
}
