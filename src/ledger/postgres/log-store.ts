import { LOG_LOCK, LOG_LOCKS, mayStep, putLogRecords, readLog } from '../domain/log.ts';
import { LedgerError, type LogStore } from '../ledger.ts';
import type { Database } from './connection.ts';
import { foldSegments } from './fold.ts';
import { type NamedEpoch, requireEpoch } from './node.ts';
import { inSession, PostgresStore } from './postgres-store.ts';
import { lockIn } from './statements.ts';
import type { UnsealedTallies } from './unsealed.ts';

export interface PostgresLogStoreOptions {
  readonly database: Database;
  readonly node: NamedEpoch;
  readonly unsealed: UnsealedTallies;
}

/**
 * Records of the transparency log. A step is taken by one transaction, which finds the state as its writer expects it:
 * of two writers that begin at the same state one fails. The same transaction adds the segments that the step seals to
 * the counters.
 */
export function postgresLogStore({ database, node, unsealed }: PostgresLogStoreOptions): LogStore {
  const store = new PostgresStore(database, node);
  return {
    async putLog(records, step, released) {
      await database.transact(async (session) => {
        await requireEpoch(session, node);
        await lockIn(session, released === undefined ? [LOG_LOCK] : LOG_LOCKS);
        if (step !== undefined) {
          if (!(await inSession(session, mayStep(records, step)))) return;
          const folded = await foldSegments(session, unsealed, step.sealed);
          // They could be read, and a failover lost them before a standby had them.
          if (folded < step.sealed.length)
            throw new LedgerError(
              'conflict',
              'segments that were to be logged are not in the books any more',
            );
        }
        await inSession(session, putLogRecords(records, released));
      });
      unsealed.forget(step?.sealed ?? []);
    },

    getLog: (key) => readLog(store, key),
  };
}
