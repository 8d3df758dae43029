import { LedgerError, type LogRecord, type LogStep, type LogStore } from '../ledger.ts';
import type { Database, Session } from './connection.ts';
import { foldSegments, LOCK_FOLD, packedColumn } from './fold.ts';
import { CALL_SLOT, fencedError, type NodeEpoch } from './node.ts';
import type { UnsealedTallies } from './unsealed.ts';

export interface PostgresLogStoreOptions {
  readonly database: Database;
  readonly node: NodeEpoch & { readonly name: string };
  readonly unsealed: UnsealedTallies;
}

const FENCE = {
  name: 'log_fence',
  text: 'SELECT 1 FROM qrn.slot WHERE node = $1 AND slot = $2 AND epoch = $3 FOR SHARE',
};
const READ = { name: 'log_read', text: 'SELECT value FROM qrn.log WHERE key = $1' };
const PUT = {
  name: 'log_put',
  text: `INSERT INTO qrn.log (key, value)
    SELECT key, substring($2::bytea FROM first FOR size) FROM unnest($1::text[], $3::int[], $4::int[]) AS r(key, first, size)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
};

/**
 * Records of the transparency log. A step is taken by one transaction, which finds the state as its writer expects it:
 * of two writers that begin at the same state one fails. The same transaction adds the segments that the step seals to
 * the counters.
 */
export class PostgresLogStore implements LogStore {
  readonly #database: Database;
  readonly #node: NodeEpoch & { readonly name: string };
  readonly #unsealed: UnsealedTallies;

  constructor({ database, node, unsealed }: PostgresLogStoreOptions) {
    this.#database = database;
    this.#node = node;
    this.#unsealed = unsealed;
  }

  async putLog(records: readonly LogRecord[], step?: LogStep): Promise<void> {
    await this.#database.transact(async (session) => {
      const { number, epoch, name } = this.#node;
      if ((await session.run(FENCE, [number, CALL_SLOT, epoch])).length === 0) throw fencedError(name);
      if (step !== undefined) {
        await session.run(LOCK_FOLD);
        if (!(await this.#mayStep(session, records, step))) return;
        await foldSegments(session, this.#unsealed, step.sealed);
      }
      await put(session, records);
    });
    this.#unsealed.forget(step?.sealed ?? []);
  }

  async getLog(key: string): Promise<Uint8Array | undefined> {
    const [record] = await this.#database.run<{ value: Uint8Array }>(READ, [key]);
    return record && new Uint8Array(record.value);
  }

  /** False when the step was taken already. Throws `conflict` when another one was. */
  async #mayStep(
    session: Session,
    records: readonly LogRecord[],
    { key, expected }: LogStep,
  ): Promise<boolean> {
    const [stored] = await session.run<{ value: Uint8Array }>(READ, [key]);
    if (isSame(stored?.value, expected)) return true;
    if (isSame(stored?.value, records.find((record) => record.key === key)?.value)) return false;
    throw new LedgerError('conflict', `another writer has changed the record ${key} of the log`);
  }
}

async function put(session: Session, records: readonly LogRecord[]): Promise<void> {
  const newest = new Map(records.map(({ key, value }) => [key, value]));
  const sorted = [...newest].sort(([a], [b]) => (a < b ? -1 : 1)); // the order in which all writers lock them
  await session.run(PUT, [sorted.map(([key]) => key), ...packedColumn(sorted.map(([, value]) => value))]);
}

function isSame(stored: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (stored === undefined || other === undefined) return stored === other;
  return Buffer.compare(stored, other) === 0;
}
