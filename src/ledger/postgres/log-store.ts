import { LOTS_LOCK, releaseLots } from '../domain/lots.ts';
import { LedgerError, type LogRecord, type LogStep, type LogStore, type ReleasedLots } from '../ledger.ts';
import { mayStep } from '../log-step.ts';
import { type Database, kept, type Session } from './connection.ts';
import { foldSegments, LOCK_FOLD, packedColumn } from './fold.ts';
import { type NamedEpoch, requireEpoch } from './node.ts';
import { inSession, lockIn } from './postgres-store.ts';
import type { UnsealedTallies } from './unsealed.ts';

export interface PostgresLogStoreOptions {
  readonly database: Database;
  readonly node: NamedEpoch;
  readonly unsealed: UnsealedTallies;
}

const READ = { name: 'log_read', text: 'SELECT value FROM qrn.log WHERE key = $1' };
const READ_KEPT = kept(READ);
/**
 * The record of a log, or of an incarnation's, that says how large it is: what it covers was stored with it. It is shown when
 * a standby has it: else a failover could lose it, and another tree of the same size would be signed.
 */
const STATE = /(?:^|\/)state$/;
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
  readonly #node: NamedEpoch;
  readonly #unsealed: UnsealedTallies;

  constructor({ database, node, unsealed }: PostgresLogStoreOptions) {
    this.#database = database;
    this.#node = node;
    this.#unsealed = unsealed;
  }

  async putLog(records: readonly LogRecord[], step?: LogStep, released?: ReleasedLots): Promise<void> {
    await this.#database.transact(async (session) => {
      await requireEpoch(session, this.#node);
      if (step !== undefined) {
        await session.run(LOCK_FOLD);
        const [stored] = await session.run<{ value: Uint8Array }>(READ, [step.key]);
        if (!mayStep(stored?.value, records, step)) return;
        const folded = await foldSegments(session, this.#unsealed, step.sealed);
        // They could be read, and a failover lost them before a standby had them.
        if (folded < step.sealed.length)
          throw new LedgerError('conflict', 'segments that were to be logged are not in the books any more');
      }
      await put(session, records);
      if (released === undefined || released.lotIds.length === 0) return;
      await lockIn(session, [LOTS_LOCK]);
      await inSession(session, releaseLots(released)); // the node that has the blocks learns of it at its next claim
    });
    this.#unsealed.forget(step?.sealed ?? []);
  }

  async getLog(key: string): Promise<Uint8Array | undefined> {
    const read = !STATE.test(key) ? READ : READ_KEPT;
    const [record] = await this.#database.run<{ value: Uint8Array }>(read, [key]);
    return record && new Uint8Array(record.value);
  }
}

async function put(session: Session, records: readonly LogRecord[]): Promise<void> {
  const newest = new Map(records.map(({ key, value }) => [key, value]));
  const sorted = [...newest].sort(([a], [b]) => (a < b ? -1 : 1)); // the order in which all writers lock them
  await session.run(PUT, [sorted.map(([key]) => key), ...packedColumn(sorted.map(([, value]) => value))]);
}
