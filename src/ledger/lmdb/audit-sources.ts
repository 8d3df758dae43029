import { microsOf } from '../spending.ts';
import type { Key } from '../store.ts';
import type { Table } from './table.ts';
import type { MetaName, StoredJob, StoredLot, Tables } from './tables.ts';

/** What an audit lends to the checks of one part: it reads one snapshot and gathers problems. */
export interface Auditor {
  /** Visits every record that carries its checksum; what is wrong with a record becomes a problem. */
  walk<K extends Key, V>(table: Table<K, V>, visit: (key: K, value: V) => void): Promise<void>;
  problem(text: string): void;
  /** A page that is lost whole takes its records' checksums with it: the count notices. */
  checkCount(name: MetaName, stored: number): void;
}

/** Sums of one source and day; currencies of its amounts. */
interface Tally {
  micros: number;
  calls: number;
  readonly currencies: Set<string>;
}

/** Jobs and their lots, charges and spends, notes: each says what the others imply. */
export async function auditSources(
  tables: Tables,
  lots: ReadonlyMap<string, StoredLot>,
  auditor: Auditor,
): Promise<void> {
  const tallies = new Map<string, Tally>();
  const jobs = new Map<string, StoredJob>();
  await auditor.walk(tables.jobs, (key, stored) => {
    jobs.set(key, stored);
    if (stored.job.key !== key) auditor.problem(`job ${stored.job.key} is stored as ${key}`);
    add(tallies, stored.job);
  });
  auditor.checkCount('jobs', jobs.size);
  checkLots(jobs, lots, auditor);
  await checkOpenJobs(tables, jobs, auditor);
  let charges = 0;
  await auditor.walk(tables.charges, (_key, spend) => {
    charges++;
    add(tallies, spend);
  });
  auditor.checkCount('charges', charges);
  await checkSpends(tables, tallies, auditor);
  let notes = 0;
  await auditor.walk(tables.sourceNotes, () => notes++);
  auditor.checkCount('sourceNotes', notes);
}

/** A job that was stored has one lot that no other has; one that failed, or is under way, has none. */
function checkLots(
  jobs: ReadonlyMap<string, StoredJob>,
  lots: ReadonlyMap<string, StoredLot>,
  auditor: Auditor,
): void {
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

async function checkOpenJobs(
  tables: Tables,
  jobs: ReadonlyMap<string, StoredJob>,
  auditor: Auditor,
): Promise<void> {
  const listed = new Set<string>();
  await auditor.walk(tables.openJobs, ([source, ordinal], key) => {
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

async function checkSpends(tables: Tables, tallies: Map<string, Tally>, auditor: Auditor): Promise<void> {
  await auditor.walk(tables.spends, ([source, day], spend) => {
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
