import { setImmediate as nextTurn } from 'node:timers/promises';
import { auditStore } from '../domain/audit.ts';
import type { AuditReport } from '../ledger.ts';
import type { Snapshot } from './table.ts';
import { type Tables, tableOf } from './tables.ts';

/** Records read in one turn of the event loop, so that commits go on beside an audit. */
const RECORDS_PER_TURN = 16;

/** Reads every record of one snapshot, and checks it against its checksum and against the records that it implies. */
export async function auditTables(tables: Tables, snapshot: Snapshot): Promise<AuditReport> {
  try {
    let read = 0;
    return await auditStore(async (table, visit, problem) => {
      for (const { key, value, problems } of tableOf(tables, table).checked(snapshot)) {
        for (const each of problems) problem(each);
        if (value !== undefined) visit(key, value);
        if (++read % RECORDS_PER_TURN === 0) await nextTurn();
      }
    }, true);
  } finally {
    snapshot.done();
  }
}
