import { LedgerError, type SourceStore } from '../ledger.ts';
import type { JobRecord, SourceSpend, SpendLimits } from '../records.ts';
import { type Body, type Store, tx } from '../store.ts';
import {
  CHARGES,
  type DaySpend,
  increase,
  JOBS,
  OPEN_JOBS,
  SOURCE_NOTES,
  SPENDS,
  type StoredJob,
} from '../tables.ts';
import type { Auditor } from './auditor.ts';

/** One lock for all sources: a source's spends of a day share one budget. */
export const SOURCES_LOCK = 'sources';
const LOCKS = [SOURCES_LOCK];

/** The node that opens and continues jobs. */
export interface JobOwner {
  /** Undefined for a command, which sees the jobs of all nodes. */
  readonly node: number | undefined;
  /** Returns the fenced nodes. The first node that asks for open jobs takes over theirs. */
  fenced(): Promise<ReadonlySet<number>>;
}

/** The node of a ledger that has only one. */
export const ONLY_OWNER = { node: 0, fenced: async () => new Set<number>() } satisfies JobOwner;

export interface JobStore extends SourceStore {
  /** Ends the jobs of all sources that have no lot yet. */
  abandonJobs(failure: string): Promise<void>;
}

/** Notes, spends and jobs of sources. */
export function sourcesIn(store: Store, owner: JobOwner): JobStore {
  const { node } = owner;
  return {
    sourceNote: (source, key) => store.read(() => tx.get(SOURCE_NOTES, [source, key])),

    sourceNotes: (key) =>
      store.read(function* () {
        const rows = yield* tx.range(SOURCE_NOTES, {});
        return rows.filter(({ key: [, each] }) => each === key).map(({ value }) => value);
      }),

    putSourceNote: (source, key, value) =>
      store.write(LOCKS, function* () {
        if ((yield* tx.get(SOURCE_NOTES, [source, key])) === undefined) yield* increase('sourceNotes', 1);
        yield* tx.put(SOURCE_NOTES, [source, key], value);
      }),

    charge: (key, spend, limits) =>
      store.write(LOCKS, function* () {
        requireCharge(spend);
        if ((yield* tx.get(CHARGES, key)) !== undefined) return true;
        if (!(yield* take(spend, limits))) return false;
        yield* tx.put(CHARGES, key, spend);
        yield* increase('charges', 1);
        return true;
      }),

    spent: (source, day) =>
      store.read(function* () {
        return spendOf(source, day, (yield* tx.get(SPENDS, [source, day])) ?? NOTHING_SPENT);
      }),

    openJob: (job, limits) =>
      store.write(LOCKS, function* () {
        requireIntended(job);
        const stored = yield* tx.get(JOBS, job.key);
        if (stored !== undefined) {
          requireSameCharge(stored.job, job);
          return true;
        }
        if (!(yield* take(job, limits))) return false;
        const ordinal = yield* increase('jobs', 1);
        yield* tx.put(JOBS, job.key, { job, ordinal, lotId: null, node: node ?? 0 });
        yield* tx.put(OPEN_JOBS, [job.source, ordinal], job.key);
        return true;
      }),

    putJob: (job) =>
      store.write(LOCKS, function* () {
        const stored = yield* requireJob(job.key);
        const replaced = replacedJob(stored, job);
        if (replaced !== undefined) yield* put({ ...stored, job: replaced });
      }),

    async openJobs(source) {
      const fenced = await owner.fenced();
      const jobs: JobRecord[] = [];
      function* body(): Body<JobRecord[]> {
        jobs.length = 0;
        const range = { from: [source, 0], before: [source, Number.MAX_SAFE_INTEGER] };
        const keys = (yield* tx.range(OPEN_JOBS, range)).map(({ value }) => value);
        for (const stored of yield* tx.getAll(JOBS, keys)) {
          if (node === undefined || stored.node === node) jobs.push(stored.job);
          else if (fenced.has(stored.node)) {
            yield* put({ ...stored, node });
            jobs.push(stored.job);
          }
        }
        return jobs;
      }
      return node === undefined || fenced.size === 0 ? store.read(body) : store.write(LOCKS, body);
    },

    abandonJobs: (failure) =>
      store.write(LOCKS, function* () {
        for (const { value: key } of yield* tx.range(OPEN_JOBS, {})) {
          const stored = yield* requireJob(key);
          if (stored.lotId === null)
            yield* put({ ...stored, job: { ...stored.job, state: 'ended', failure } });
        }
      }),
  };
}

/** Decides, in the transaction that adds a lot, whether it is new and may be stored: see EntropyStore.addLot. */
export function* admissionOf(
  lotId: string,
  isStored: boolean,
  jobKey: string | undefined,
): Body<'new' | 'given' | 'not given'> {
  if (jobKey === undefined) return isStored ? 'given' : 'new';
  const job = yield* requireJob(jobKey);
  if (isStored) return job.lotId === lotId ? 'given' : 'not given';
  return mayGiveLot(job) ? 'new' : 'not given';
}

/** Sets the job to `stored`, in the transaction that adds the lot. */
export function* lotStored(key: string, lotId: string): Body<void> {
  const stored = yield* requireJob(key);
  yield* put({ ...stored, job: { ...stored.job, state: 'stored' }, lotId });
}

function* take(
  charge: Pick<SourceSpend, 'source' | 'day' | 'amount' | 'currency' | 'calls'>,
  limits: SpendLimits,
): Body<boolean> {
  const day = [charge.source, charge.day] as const;
  const sum = plusCharge((yield* tx.get(SPENDS, day)) ?? NOTHING_SPENT, charge, limits);
  if (sum !== undefined) yield* tx.put(SPENDS, day, sum);
  return sum !== undefined;
}

function* put(stored: StoredJob): Body<void> {
  const { job, ordinal } = stored;
  yield* tx.put(JOBS, job.key, stored);
  if (job.state === 'ended') yield* tx.remove(OPEN_JOBS, [[job.source, ordinal]]);
}

function* requireJob(key: string): Body<StoredJob> {
  const stored = yield* tx.get(JOBS, key);
  if (stored === undefined) throw new LedgerError('refused', `there is no job ${key}`);
  return stored;
}

/**
 * Money is summed in whole millionths. A sum is then the same in any order, and three reads at 0.1 exactly use up a budget of
 * 0.3, which they would exceed as doubles. Prices are 10^-4 (a gate of one shot) and more.
 */
const MICROS = 1_000_000;
/** The largest charge in any currency. Nine such charges sum exactly in 53 bits; a mistyped price is refused. */
const CHARGE_MAX = 1_000_000_000;

const NOTHING_SPENT: DaySpend = { micros: 0, currency: '', calls: 0 };

type Charge = Pick<SourceSpend, 'amount' | 'currency' | 'calls'>;

function microsOf(amount: number): number {
  return Math.round(amount * MICROS);
}

function spendOf(source: string, day: number, { micros, currency, calls }: DaySpend): SourceSpend {
  return { source, day, amount: micros / MICROS, currency, calls };
}

/** Throws `refused` for an invalid charge: negative, not finite, or a fraction of a call. */
function requireCharge({ amount, calls }: Charge): void {
  const isAmount = amount >= 0 && amount <= CHARGE_MAX; // false for NaN
  if (isAmount && Number.isSafeInteger(calls) && calls >= 0) return;
  throw new LedgerError('refused', `invalid charge: ${amount} and ${calls} calls`);
}

/**
 * Returns the day with the charge added, or undefined when the limits leave no room for all of it. A day has one currency, that
 * of its first amount: a sum over two currencies would mean nothing, and a sum for each would let a changed price option spend
 * the budget again. A charge of calls alone fits any currency.
 */
function plusCharge(day: DaySpend, charge: Charge, limits: SpendLimits): DaySpend | undefined {
  const micros = microsOf(charge.amount);
  if (day.micros > 0 && micros > 0 && day.currency !== charge.currency) return undefined;
  const sum: DaySpend = {
    micros: day.micros + micros,
    currency: micros > 0 ? charge.currency : day.currency,
    calls: day.calls + charge.calls,
  };
  const { amountPerDay, callsPerDay } = limits;
  if (amountPerDay !== null && sum.micros > microsOf(amountPerDay)) return undefined;
  if (callsPerDay !== null && sum.calls > callsPerDay) return undefined;
  return sum;
}

const ORDER = { intended: 0, submitted: 1, stored: 2, ended: 3 } as const;

/** Throws `refused` for a job that is not in the state `intended`, or whose charge is invalid. */
function requireIntended(job: JobRecord): void {
  requireCharge(job);
  if (job.state === 'intended') return;
  throw new LedgerError('refused', `job ${job.key} must be opened in the state intended, not ${job.state}`);
}

/** The facts that decide what a job is charged. They do not change after it is opened. */
const CHARGED = ['source', 'bits', 'day', 'amount', 'currency', 'calls', 'intendedAtMs'] as const;

/** Throws `conflict` when the two differ in what a job is charged for. */
function requireSameCharge(stored: JobRecord, job: JobRecord): void {
  if (CHARGED.some((fact) => stored[fact] !== job[fact]))
    throw new LedgerError('conflict', `job ${job.key} was opened with other facts`);
}

/** Returns the job as it is after `putJob`, or undefined when nothing changes: see SourceStore.putJob. */
function replacedJob(stored: StoredJob, job: JobRecord): JobRecord | undefined {
  requireSameCharge(stored.job, job);
  if (stored.job.state === 'ended' || ORDER[job.state] < ORDER[stored.job.state]) return undefined;
  const refuse = (why: string) => new LedgerError('refused', `job ${job.key} ${why}`);
  if (stored.job.jobId !== null && stored.job.jobId !== job.jobId) {
    throw new LedgerError('conflict', `job ${job.key} is already bound to provider job ${stored.job.jobId}`);
  }
  if (job.state === 'submitted' && job.jobId === null) throw refuse('was submitted and has no name');
  if (job.state === 'stored' && stored.lotId === null) throw refuse('is stored with its lot, by addLot');
  if (job.state === 'ended' && (job.failure === '') !== (stored.lotId !== null)) {
    throw refuse(
      stored.lotId === null ? 'ends without a lot and without a failure' : 'has a lot: no failure',
    );
  }
  return job;
}

/** Returns whether the job may give a lot: it has given none and has not ended. Throws `refused` before it was submitted. */
function mayGiveLot({ job }: StoredJob): boolean {
  if (job.state === 'intended') throw new LedgerError('refused', `job ${job.key} was not submitted`);
  return job.state === 'submitted';
}

/** Checks that jobs, lots, charges, spends and notes agree. */
export async function auditSources(lots: { has(lotId: string): boolean }, auditor: Auditor): Promise<void> {
  const jobs = await auditor.records(JOBS, 'jobs');
  const charges = await auditor.records(CHARGES, 'charges');
  await auditor.records(SOURCE_NOTES, 'sourceNotes');
  const open = new Map<string, string>();
  const jobOfLot = new Map<string, string>();
  for (const [key, { job, ordinal, lotId }] of jobs) {
    if (job.key !== key) auditor.problem(`job ${job.key} is stored as ${key}`);
    if (job.state !== 'ended') open.set(String([job.source, ordinal]), key);
    const isStored = job.state === 'stored' || (job.state === 'ended' && job.failure === '');
    if (isStored !== (lotId !== null))
      auditor.problem(`job ${key} is ${job.state} and has ${lotId === null ? 'no lot' : `lot ${lotId}`}`);
    if (lotId === null) continue;
    if (!lots.has(lotId)) auditor.problem(`job ${key} names lot ${lotId}, which is not stored`);
    const other = jobOfLot.get(lotId);
    if (other !== undefined) auditor.problem(`lot ${lotId} is of job ${other} and of job ${key}`);
    jobOfLot.set(lotId, key);
  }
  await auditor.implied(OPEN_JOBS, open);
  const spends = new Map<string, DaySpend>();
  for (const charge of [...[...jobs.values()].map(({ job }) => job), ...charges.values()]) {
    const day = String([charge.source, charge.day]);
    const sum = plusCharge(spends.get(day) ?? NOTHING_SPENT, charge, {
      amountPerDay: null,
      callsPerDay: null,
    });
    if (sum === undefined) auditor.problem(`spends ${day}: is a sum over currencies`);
    else spends.set(day, sum);
  }
  await auditor.implied(SPENDS, spends);
}
