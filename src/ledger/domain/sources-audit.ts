import { microsOf } from '../spending.ts';
import { CHARGES, JOBS, OPEN_JOBS, SOURCE_NOTES, SPENDS, type StoredJob } from '../tables.ts';
import type { Auditor } from './auditor.ts';

/** Sums of one source and day; currencies of its amounts. */
interface Tally {
  micros: number;
  calls: number;
  readonly currencies: Set<string>;
}

/** Ids of all lots. */
type Lots = { has(lotId: string): boolean };

/** Jobs and their lots, charges and spends, notes: each says what the others imply. */
export async function auditSources(lots: Lots, auditor: Auditor): Promise<void> {
  const tallies = new Map<string, Tally>();
  const jobs = new Map<string, StoredJob>();
  await auditor.walk(JOBS, (key, stored) => {
    jobs.set(key, stored);
    if (stored.job.key !== key) auditor.problem(`job ${stored.job.key} is stored as ${key}`);
    add(tallies, stored.job);
  });
  await auditor.checkCount('jobs', jobs.size);
  checkLots(jobs, lots, auditor);
  await checkOpenJobs(jobs, auditor);
  let charges = 0;
  await auditor.walk(CHARGES, (_key, spend) => {
    charges++;
    add(tallies, spend);
  });
  await auditor.checkCount('charges', charges);
  await checkSpends(tallies, auditor);
  let notes = 0;
  await auditor.walk(SOURCE_NOTES, () => notes++);
  await auditor.checkCount('sourceNotes', notes);
}

/** A job that was stored has one lot that no other has; one that failed, or is under way, has none. */
function checkLots(jobs: ReadonlyMap<string, StoredJob>, lots: Lots, auditor: Auditor): void {
  const jobOfLot = new Map<string, string>();
  for (const [key, { job, lotId }] of jobs) {
    const isStored = job.state === 'stored' || (job.state === 'ended' && job.failure === '');
    if (isStored !== (lotId !== null)) {
      auditor.problem(`job ${key} is ${job.state} and has ${lotId === null ? 'no lot' : `lot ${lotId}`}`);
    }
    if (lotId === null) continue;
    if (!lots.has(lotId)) auditor.problem(`job ${key} names lot ${lotId}, which is not stored`);
    const other = jobOfLot.get(lotId);
    if (other !== undefined) auditor.problem(`lot ${lotId} is of job ${other} and of job ${key}`);
    jobOfLot.set(lotId, key);
  }
}

async function checkOpenJobs(jobs: ReadonlyMap<string, StoredJob>, auditor: Auditor): Promise<void> {
  const listed = new Set<string>();
  await auditor.walk(OPEN_JOBS, ([source, ordinal], key) => {
    const stored = jobs.get(key);
    const isTrue =
      stored?.ordinal === ordinal && stored.job.source === source && stored.job.state !== 'ended';
    if (!isTrue) auditor.problem(`the open jobs name ${key} as ${source} ${ordinal}, which it is not`);
    listed.add(key);
  });
  for (const [key, { job }] of jobs) {
    if (job.state !== 'ended' && !listed.has(key))
      auditor.problem(`job ${key} is open and would be forgotten`);
  }
}

async function checkSpends(tallies: Map<string, Tally>, auditor: Auditor): Promise<void> {
  await auditor.walk(SPENDS, ([source, day], spend) => {
    const name = nameOf(source, day);
    const sum = tallies.get(name);
    tallies.delete(name);
    if (sum === undefined || sum.micros !== spend.micros || sum.calls !== spend.calls) {
      auditor.problem(`the spend of ${name} is not the sum of its jobs and charges`);
    } else if ([...sum.currencies].some((each) => each !== spend.currency)) {
      auditor.problem(`the spend of ${name} is a sum over currencies`);
    }
  });
  for (const name of tallies.keys()) auditor.problem(`the spend of ${name} is missing`);
}

function add(
  tallies: Map<string, Tally>,
  charge: { source: string; day: number; amount: number; currency: string; calls: number },
): void {
  const name = nameOf(charge.source, charge.day);
  const sum = tallies.get(name) ?? { micros: 0, calls: 0, currencies: new Set() };
  const micros = microsOf(charge.amount);
  sum.micros += micros;
  sum.calls += charge.calls;
  if (micros > 0) sum.currencies.add(charge.currency);
  tallies.set(name, sum);
}

function nameOf(source: string, day: number): string {
  return `${source} on day ${day}`;
}
