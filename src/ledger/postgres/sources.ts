import { LedgerError, type SourceStore } from '../ledger.ts';
import type { JobRecord, SourceSpend, SpendLimits } from '../records.ts';
import {
  type JobWithLot,
  mayGiveLot,
  NOTHING_SPENT,
  plusCharge,
  replacedJob,
  requireCharge,
  requireIntended,
  requireSameCharge,
  spendOf,
} from '../spending.ts';
import type { Database, Session } from './connection.ts';
import { type NamedEpoch, requireEpoch } from './node.ts';

const NOTE = {
  name: 'sources_note',
  text: 'SELECT value FROM qrn.source_note WHERE source = $1 AND key = $2',
};
const PUT_NOTE = {
  name: 'sources_put_note',
  text: `INSERT INTO qrn.source_note (source, key, value) VALUES ($1, $2, $3)
ON CONFLICT (source, key) DO UPDATE SET value = excluded.value`,
};
const CHARGE = { name: 'sources_charge', text: 'SELECT 1 FROM qrn.charge WHERE key = $1' };
const PUT_CHARGE = {
  name: 'sources_put_charge',
  text: 'INSERT INTO qrn.charge (key, record) VALUES ($1, $2)',
};
const DAY = {
  name: 'sources_day',
  text: 'SELECT micros, currency, calls FROM qrn.spend_day WHERE source = $1 AND day = $2',
};
/** The row that all charges of a source and day wait for. */
const OPEN_DAY = {
  name: 'sources_open_day',
  text: `INSERT INTO qrn.spend_day (source, day, micros, currency, calls) VALUES ($1, $2, 0, '', 0)
ON CONFLICT (source, day) DO UPDATE SET calls = spend_day.calls RETURNING micros, currency, calls`,
};
const PUT_DAY = {
  name: 'sources_put_day',
  text: 'UPDATE qrn.spend_day SET micros = $3, currency = $4, calls = $5 WHERE source = $1 AND day = $2',
};
const JOB = { name: 'sources_job', text: 'SELECT record, lot_id FROM qrn.job WHERE key = $1 FOR UPDATE' };
const OPEN_JOB = {
  name: 'sources_open_job',
  text: 'INSERT INTO qrn.job (key, source, node, state, record) VALUES ($1, $2, $3, $4, $5)',
};
const PUT_JOB = {
  name: 'sources_put_job',
  text: 'UPDATE qrn.job SET state = $2, record = $3, lot_id = $4 WHERE key = $1',
};
const OPEN_JOBS = {
  name: 'sources_open_jobs',
  text: `SELECT record FROM qrn.job WHERE source = $1 AND state <> 'ended' AND ($2::int IS NULL OR node = $2)
ORDER BY ordinal`,
};
const ADOPT_JOBS = {
  name: 'sources_adopt_jobs',
  text: `UPDATE qrn.job SET node = $2 FROM qrn.node
WHERE node.number = job.node AND node.state = 'fenced' AND job.source = $1 AND job.state <> 'ended'`,
};

/** Notes, spends and jobs of sources. What a source may spend on a day is one budget for all nodes. */
export class PostgresSourceStore implements SourceStore {
  readonly #database: Database;
  /** The node that opens jobs; undefined for a command. */
  readonly #node: NamedEpoch | undefined;

  constructor(database: Database, node: NamedEpoch | undefined) {
    this.#database = database;
    this.#node = node;
  }

  async sourceNote(source: string, key: string): Promise<string | undefined> {
    const [row] = await this.#database.run<{ value: string }>(NOTE, [source, key]);
    return row?.value;
  }

  async putSourceNote(source: string, key: string, value: string): Promise<void> {
    await this.#transact((session) => session.run(PUT_NOTE, [source, key, value]));
  }

  async charge(key: string, spend: SourceSpend, limits: SpendLimits): Promise<boolean> {
    requireCharge(spend);
    return this.#transact(async (session) => {
      const day = await openDay(session, spend);
      const [known] = await session.run(CHARGE, [key]);
      if (known !== undefined) return true;
      if (!(await take(session, day, spend, limits))) return false;
      await session.run(PUT_CHARGE, [key, JSON.stringify(spend)]);
      return true;
    });
  }

  async spent(source: string, day: number): Promise<SourceSpend> {
    const [row] = await this.#database.run<typeof NOTHING_SPENT>(DAY, [source, day]);
    return spendOf(source, day, row ?? NOTHING_SPENT);
  }

  async openJob(job: JobRecord, limits: SpendLimits): Promise<boolean> {
    requireIntended(job);
    return this.#transact(async (session) => {
      const day = await openDay(session, job);
      const stored = await jobIn(session, job.key);
      if (stored !== undefined) {
        requireSameCharge(stored.job, job);
        return true;
      }
      if (!(await take(session, day, job, limits))) return false;
      const values = [job.key, job.source, this.#node?.number, job.state, JSON.stringify(job)];
      await session.run(OPEN_JOB, values);
      return true;
    });
  }

  async putJob(job: JobRecord): Promise<void> {
    await this.#transact(async (session) => {
      const stored = await requireJob(session, job.key);
      const replaced = replacedJob(stored, job);
      if (replaced !== undefined) await putJob(session, { ...stored, job: replaced });
    });
  }

  /** Those of this node, with those of nodes that were fenced: the first node that asks goes on with them. */
  async openJobs(source: string): Promise<JobRecord[]> {
    const { number } = this.#node ?? {};
    if (number !== undefined) await this.#transact((session) => session.run(ADOPT_JOBS, [source, number]));
    const rows = await this.#database.run<{ record: JobRecord }>(OPEN_JOBS, [source, number ?? null]);
    return rows.map(({ record }) => record);
  }

  /** Nothing of a node that was fenced: the jobs that it had are another's by then. */
  #transact<T>(body: (session: Session) => Promise<T>): Promise<T> {
    return this.#database.transact(async (session) => {
      await requireEpoch(session, this.#node);
      return body(session);
    });
  }
}

/** In the transaction that adds the lot: whether the job may give it. See EntropyStore.addLot. */
export async function mayJobGiveLot(session: Session, key: string): Promise<boolean> {
  return mayGiveLot(await requireJob(session, key));
}

/** Whether the job gave this very lot. */
export async function gaveLot(session: Session, key: string, lotId: string): Promise<boolean> {
  return (await requireJob(session, key)).lotId === lotId;
}

/** In the transaction that adds the lot. */
export async function lotStored(session: Session, key: string, lotId: string): Promise<void> {
  const { job } = await requireJob(session, key);
  await putJob(session, { job: { ...job, state: 'stored' }, lotId });
}

async function putJob(session: Session, { job, lotId }: JobWithLot): Promise<void> {
  await session.run(PUT_JOB, [job.key, job.state, JSON.stringify(job), lotId]);
}

async function jobIn(session: Session, key: string): Promise<JobWithLot | undefined> {
  const [row] = await session.run<{ record: JobRecord; lot_id: string | null }>(JOB, [key]);
  return row && { job: row.record, lotId: row.lot_id };
}

async function requireJob(session: Session, key: string): Promise<JobWithLot> {
  const stored = await jobIn(session, key);
  if (stored === undefined) throw new LedgerError('refused', `there is no job ${key}`);
  return stored;
}

type Charged = Pick<SourceSpend, 'source' | 'day' | 'amount' | 'currency' | 'calls'>;

/** What was spent on the day. Other charges of it wait until the transaction ends. */
async function openDay(session: Session, { source, day }: Charged): Promise<typeof NOTHING_SPENT> {
  const [row] = await session.run<typeof NOTHING_SPENT>(OPEN_DAY, [source, day]);
  return row;
}

async function take(
  session: Session,
  before: typeof NOTHING_SPENT,
  charge: Charged,
  limits: SpendLimits,
): Promise<boolean> {
  const sum = plusCharge(before, charge, limits);
  if (sum === undefined) return false;
  await session.run(PUT_DAY, [charge.source, charge.day, sum.micros, sum.currency, sum.calls]);
  return true;
}
