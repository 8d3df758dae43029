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

/** One moment of the records of an LMDB folder that no process writes. */
interface FolderRecords {
  readonly tables: Tables;
  readonly at: Snapshot;
}

export interface ImportOptions {
  readonly database: Database;
  readonly records: FolderRecords;
  /** The name of the node that gets the folder's blocks. */
  readonly node: string;
  /** The unique id of this import. */
  readonly id: string;
  readonly nowMs: number;
  /** Called when all records are copied and verified, before the commit. */
  readonly beforeCommit: () => void;
}

/** Counts of imported records by table; tables without records are absent. */
export type ImportCounts = Readonly<Record<string, number>>;

/** The approximate rows and bytes of one statement. */
const ROWS_MAX = 1_000;
const BYTES_MAX = 2 ** 20;
const STATE = {
  name: 'import_state',
  text: `SELECT import_id AS "importId", created_at_ms AS "madeAtMs",
    (SELECT name FROM qrn.node ORDER BY number LIMIT 1) AS "firstNode" FROM qrn.meta`,
};
const CONFIRM = { name: 'import_confirm', text: 'SELECT import_id FROM qrn.meta WHERE import_id = $1' };
const LOCK_STATE = { name: 'import_lock', text: 'SELECT import_id FROM qrn.meta FOR UPDATE' };
/** The session reads the folder between its statements, which may take longer than the timeout. */
const MAY_PAUSE = { name: '', text: 'SET LOCAL idle_in_transaction_session_timeout = 0' };
const LOCK_NODES = { name: '', text: 'LOCK TABLE qrn.node IN EXCLUSIVE MODE' };
/** Adds the node under the number by which a folder's records name their node. Other nodes count from 1. */
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
/** Matches numbers that belong to the folder and its blocks, not to the books. */
const OF_FOLDER = /^(?:format|ledgerId|start|journal.*|heldLots|blocks|probedAtMs)$/;

export interface ImportState {
  /** The id of the import that filled the database; null without one. */
  readonly importId: string | null;
  /** When the schema was created (Unix ms). */
  readonly madeAtMs: number;
  /** The node with the lowest number, which after an import has the folder's blocks; null without nodes. */
  readonly firstNode: string | null;
}

export async function importStateOf(database: Database): Promise<ImportState> {
  const [state] = await database.run<ImportState>(STATE);
  return state;
}

/** Whether the import was committed and the standby has it. Before the standby has it, a failover could still lose it. */
export function isImported(database: Database, id: string): Promise<boolean> {
  return database.transact(async (session) => {
    await session.run(COMMIT_NOTHING);
    return (await session.run(CONFIRM, [id])).length > 0;
  });
}

/**
 * Copies every record of a folder into an empty database, compares the copy with the folder, and audits it. All of that is one
 * transaction, so the database has all records or none. The node has the folder's blocks from then on. Throws LedgerError
 * `refused` for records or a database that cannot be used, and `damaged` when the copy differs from the folder.
 */
export async function importFolder(options: ImportOptions): Promise<ImportCounts> {
  const { database, records, node, id, nowMs, beforeCommit } = options;
  requireSealed(records);
  return database.transact(async (session) => {
    await session.run(MAY_PAUSE);
    const [state] = await session.run<{ import_id: string | null }>(LOCK_STATE);
    // An earlier attempt was committed. LOCK_STATE locks a row, so this commit too waits until the standby has both.
    if (state.import_id === id) return storedCounts(session);
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

/** Throws LedgerError `refused` when importFolder would. */
export async function requireImportable(database: Database, records: FolderRecords): Promise<void> {
  requireSealed(records);
  await database.transact(requireEmpty);
}

/** Throws `refused` when a segment is unsealed. A service that ends cleanly seals all segments. */
function requireSealed({ tables, at }: FolderRecords): void {
  const [unsealed] = tableOf(tables, UNSEALED).entries({ limit: 1 }, at);
  if (unsealed === undefined) return;
  throw new LedgerError(
    'refused',
    'some answers of the folder are not in the transparency log yet, because the service did not end cleanly: start it on the folder, ' +
      'stop it with SIGTERM, and then import again',
  );
}

/** Yields the records of the books as rows. */
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

/** Checks that the stored records equal the folder's byte by byte, and audits them. */
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
    `the copy in PostgreSQL differs from the folder, so nothing was stored: ${what}`,
  );
}
