import { isDeepStrictEqual } from 'node:util';
import { DIRECTORY_LOCK } from '../domain/directory.ts';
import { ONLY_OWNER } from '../domain/sources.ts';
import { LedgerError } from '../ledger.ts';
import type { Snapshot } from '../lmdb/table.ts';
import { type Tables, tableOf } from '../lmdb/tables.ts';
import { BOOK_TABLES, COUNTS, UNSEALED } from '../tables.ts';
import { COMMIT_NOTHING, type Database, type Session } from './connection.ts';
import { lockIn, packedRows, putRows, type RecordRow, rowOf, UNPACKED_ROWS } from './postgres-store.ts';
import { auditBooks } from './upkeep.ts';

/** The records of an LMDB folder that nobody writes, of one moment. */
interface FolderRecords {
  readonly tables: Tables;
  readonly at: Snapshot;
}

export interface ImportOptions {
  readonly database: Database;
  readonly records: FolderRecords;
  /** Name of the node that gets the blocks of the folder. */
  readonly node: string;
  /** Of this import: unique. */
  readonly id: string;
  readonly nowMs: number;
  /** Called when all is copied and proven, before it is committed. */
  readonly beforeCommit: () => void;
}

/** Records of each kind that were imported, by the name of their table; of those that have any. */
export type ImportCounts = Readonly<Record<string, number>>;

/** Rows and bytes of one statement, about. */
const ROWS_MAX = 1_000;
const BYTES_MAX = 2 ** 20;
const STATE = {
  name: 'import_state',
  text: `SELECT import_id AS "importId", created_at_ms AS "madeAtMs",
    (SELECT name FROM qrn.node ORDER BY number LIMIT 1) AS "firstNode" FROM qrn.meta`,
};
const CONFIRM = { name: 'import_confirm', text: 'SELECT import_id FROM qrn.meta WHERE import_id = $1' };
const LOCK_STATE = { name: 'import_lock', text: 'SELECT import_id FROM qrn.meta FOR UPDATE' };
/** The session works between its statements: it reads the folder. */
const MAY_PAUSE = { name: '', text: 'SET LOCAL idle_in_transaction_session_timeout = 0' };
const LOCK_NODES = { name: '', text: 'LOCK TABLE qrn.node IN EXCLUSIVE MODE' };
/** Under the number by which the records of a folder name their node; the others count from 1. */
const ADD_NODE = {
  name: 'import_node',
  text: `INSERT INTO qrn.node (number, name, epoch, state, started_at_ms) OVERRIDING SYSTEM VALUE VALUES (${ONLY_OWNER.node}, $1, 0, 'live', $2)`,
};
const SET_IMPORTED = { name: 'import_done', text: 'UPDATE qrn.meta SET import_id = $1' };
const COUNTS_BY_TABLE = {
  name: 'import_counts',
  text: 'SELECT part, count(*) AS rows FROM qrn.record GROUP BY part ORDER BY part',
  isLong: true,
} as const;
const SAME = {
  name: 'import_same',
  text: `SELECT count(*) AS same FROM (${UNPACKED_ROWS}) AS t JOIN qrn.record AS r ON r.part = t.part AND r.key = t.key
WHERE r.name = t.name AND r.value = t.value`,
};
/** Numbers of the folder itself and of its blocks. */
const OF_FOLDER = /^(?:format|ledgerId|start|journal.*|heldLots|blocks|probedAtMs)$/;

export interface ImportState {
  /** Of the import that the database holds; null without one. */
  readonly importId: string | null;
  readonly madeAtMs: number;
  /** After an import the node that has the blocks of the folder; null without nodes. */
  readonly firstNode: string | null;
}

export async function importStateOf(database: Database): Promise<ImportState> {
  const [state] = await database.run<ImportState>(STATE);
  return state;
}

/** Whether the import was committed, for good: it may be read before the standby has it, and go with the primary. */
export function isImported(database: Database, id: string): Promise<boolean> {
  return database.transact(async (session) => {
    await session.run(COMMIT_NOTHING);
    return (await session.run(CONFIRM, [id])).length > 0;
  });
}

/**
 * Copies every record of a folder into an empty database, holds what is stored against the folder, and audits it, all in one
 * transaction: a database has all of a folder or nothing. Throws LedgerError `refused` for what cannot be imported and
 * `damaged` when the copy is not the folder. The node holds the folder's blocks from then on.
 */
export async function importFolder(options: ImportOptions): Promise<ImportCounts> {
  const { database, records, node, id, nowMs, beforeCommit } = options;
  requireSealed(records);
  return database.transact(async (session) => {
    await session.run(MAY_PAUSE);
    const [state] = await session.run<{ import_id: string | null }>(LOCK_STATE);
    if (state.import_id === id) return storedCounts(session); // the commit was not known; the lock waits for it as CONFIRM does
    await session.run(LOCK_NODES);
    await lockIn(session, [DIRECTORY_LOCK]);
    await requireEmpty(session);
    await session.run(ADD_NODE, [node, nowMs]);
    const copied: Record<string, number> = {};
    for (const batch of batchesOf(records)) {
      await putRows(session, batch);
      for (const { part } of batch) copied[part] = (copied[part] ?? 0) + 1;
    }
    await requireSame(session, records, copied);
    await session.run(SET_IMPORTED, [id]);
    beforeCommit();
    return storedCounts(session);
  });
}

/** Throws LedgerError `refused` for records or a database that `importFolder` would refuse. */
export async function requireImportable(database: Database, records: FolderRecords): Promise<void> {
  requireSealed(records);
  await database.transact(requireEmpty);
}

/** A service that ends cleanly logs all that it committed. */
function requireSealed({ tables, at }: FolderRecords): void {
  const [unsealed] = tableOf(tables, UNSEALED).entries({ limit: 1 }, at);
  if (unsealed === undefined) return;
  throw new LedgerError(
    'refused',
    'some answers of the folder are not in the transparency log yet, because the service did not end cleanly: start it on the folder, ' +
      'stop it with SIGTERM, and import then',
  );
}

/** What the rules in ledger/domain keep, as it is. */
function* rowsOf({ tables, at }: FolderRecords): Generator<RecordRow> {
  for (const table of BOOK_TABLES)
    for (const { key, value } of tableOf(tables, table).entries({}, at)) yield rowOf(table, key, value);
  for (const { key, value } of tableOf(tables, COUNTS).entries({}, at))
    if (!OF_FOLDER.test(key)) yield rowOf(COUNTS, key, value);
}

function* batchesOf(records: FolderRecords): Generator<RecordRow[]> {
  let batch: RecordRow[] = [];
  let bytes = 0;
  for (const row of rowsOf(records)) {
    batch.push(row);
    bytes += row.key.length + row.name.length + row.value.length;
    if (batch.length < ROWS_MAX && bytes < BYTES_MAX) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

async function requireEmpty(session: Session): Promise<void> {
  for (const table of ['node', 'record']) {
    const some = await session.run({ name: '', text: `SELECT 1 FROM qrn.${table} LIMIT 1` });
    if (some.length === 0) continue;
    throw new LedgerError(
      'refused',
      `the database is not empty: there are records in qrn.${table}. Import into a database on which only qrn cluster init was run`,
    );
  }
}

/** What is stored is the folder, byte by byte, and is sound. */
async function requireSame(session: Session, records: FolderRecords, copied: ImportCounts): Promise<void> {
  const stored = await storedCounts(session);
  if (!isDeepStrictEqual(stored, copied))
    throw damaged(`records: ${JSON.stringify(stored)} are stored of ${JSON.stringify(copied)}`);
  for (const batch of batchesOf(records)) {
    const [{ same }] = await session.run<{ same: number }>(SAME, packedRows(batch));
    const tables = [...new Set(batch.map(({ part }) => part))];
    if (same < batch.length) throw damaged(`${batch.length - same} record(s) of ${tables.join(', ')} differ`);
  }
  const { problems } = await auditBooks(session);
  if (problems.length > 0) throw damaged(problems.join('; '));
}

async function storedCounts(session: Session): Promise<ImportCounts> {
  const rows = await session.run<{ part: string; rows: number }>(COUNTS_BY_TABLE);
  return Object.fromEntries(rows.map((row) => [row.part, row.rows]));
}

function damaged(what: string): LedgerError {
  return new LedgerError(
    'damaged',
    `the copy in PostgreSQL is not that of the folder, nothing was stored: ${what}`,
  );
}
