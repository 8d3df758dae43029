import { isDeepStrictEqual } from 'node:util';
import { DIRECTORY_LOCK } from '../domain/directory.ts';
import { LedgerError } from '../ledger.ts';
import { balancesIn as folderBalancesIn } from '../lmdb/balances.ts';
import { count } from '../lmdb/tables.ts';
import { balancesIn } from './balances.ts';
import { type Database, kept, type Session } from './connection.ts';
import {
  type Copy,
  copiesOf,
  type FolderRecords,
  NO_EPOCH,
  periodsOf,
  recordRows,
  rowsOf,
} from './import-rows.ts';
import { lockIn } from './statements.ts';
import { UnsealedTallies } from './unsealed.ts';
import { auditBooks } from './upkeep.ts';

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

/** Records of each kind that were imported, by table. */
export type ImportCounts = Readonly<Record<string, number>>;

/** Rows and bytes of one statement, about. */
const ROWS_MAX = 1_000;
const BYTES_MAX = 2 ** 20;
const STATE = {
  name: 'import_state',
  text: `SELECT import_id AS "importId", created_at_ms AS "madeAtMs",
    (SELECT name FROM qrn.node ORDER BY number LIMIT 1) AS "firstNode" FROM qrn.meta`,
};
const CONFIRM = kept({ name: 'import_confirm', text: 'SELECT import_id FROM qrn.meta WHERE import_id = $1' });
const LOCK_STATE = { name: 'import_lock', text: 'SELECT import_id FROM qrn.meta FOR UPDATE' };
/** The session works between its statements: it reads the folder. */
const MAY_PAUSE = { name: '', text: 'SET LOCAL idle_in_transaction_session_timeout = 0' };
const LOCK_NODES = { name: '', text: 'LOCK TABLE qrn.node IN EXCLUSIVE MODE' };
const ADD_NODE = {
  name: 'import_node',
  text: `INSERT INTO qrn.node (name, epoch, state, started_at_ms) VALUES ($1, ${NO_EPOCH}, 'live', $2) RETURNING number`,
};
const SET_LEASED = { name: 'import_leased', text: 'UPDATE qrn.sequence_lease SET leased_before = $1' };
const SET_DROPPED = { name: 'import_dropped', text: 'UPDATE qrn.retention SET dropped_segment = $1' };
const SET_IMPORTED = { name: 'import_done', text: 'UPDATE qrn.meta SET import_id = $1' };
const RECORDS = {
  name: 'import_records',
  text: 'SELECT wanted.name AS key, value FROM qrn.record JOIN unnest($1::text[], $2::text[], $3::bytea[]) AS wanted(name, part, key) USING (part, key)',
};
const SEGMENT_BODIES = {
  name: 'import_segments',
  text: 'SELECT sequence AS key, body AS value FROM qrn.segment WHERE sequence = ANY($1)',
};

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
export async function isImported(database: Database, id: string): Promise<boolean> {
  return (await database.run(CONFIRM, [id])).length > 0;
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
    const copies = copiesOf(records, 0);
    if (state.import_id === id) return storedCounts(session, copies); // the commit was not known; the lock waits for it as CONFIRM does
    await session.run(LOCK_NODES);
    await lockIn(session, [DIRECTORY_LOCK]);
    await requireEmpty(session, copies);
    const [{ number }] = await session.run<{ number: number }>(ADD_NODE, [node, nowMs]);
    const copied: Record<string, number> = {};
    for (const each of copiesOf(records, number)) copied[each.table] = await copy(session, each);
    await setNumbers(session, records);
    await requireSame(session, records, copied, copies, number);
    await session.run(SET_IMPORTED, [id]);
    beforeCommit();
    return copied;
  });
}

/** A service that ends cleanly logs all that it committed. */
function requireSealed({ tables, at }: FolderRecords): void {
  const [unsealed] = tables.unsealed.entries({ limit: 1 }, at);
  if (unsealed === undefined) return;
  throw new LedgerError(
    'refused',
    'some answers of the folder are not in the transparency log yet, because the service did not end cleanly: start it on the folder, ' +
      'stop it with SIGTERM, and import then',
  );
}

async function copy(session: Session, { table, columns, rows }: Copy): Promise<number> {
  const definitions = columns.split(', ').map((column) => column.split(' '));
  const names = definitions.map(([name]) => name);
  const types = definitions.map(([, type]) => type);
  const statement = {
    name: `import_put_${table}`,
    text: `INSERT INTO qrn.${table} (${names.join(', ')})
      SELECT ${names.map((name, i) => `t.${name}::${types[i]}`).join(', ')}
      FROM unnest(${types.map((type, i) => `$${i + 1}::${sentAs(type)}[]`).join(', ')}) WITH ORDINALITY
        AS t(${names.join(', ')}, import_place) ORDER BY import_place`,
  };
  let copied = 0;
  for (const batch of batchesOf(rows)) {
    await session.run(
      statement,
      names.map((_, column) => batch.map((row) => bytesOf(row[column]))),
    );
    copied += batch.length;
  }
  return copied;
}

/** What an array cannot hold, or `unnest` would flatten, goes as text. */
function sentAs(type: string): string {
  return type === 'json' || type === 'float8[]' ? 'text' : type;
}

function bytesOf(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

function* batchesOf<R extends readonly unknown[]>(rows: Iterable<R>): Generator<R[]> {
  let batch: R[] = [];
  let bytes = 0;
  for (const row of rows) {
    batch.push(row);
    for (const value of row)
      bytes += value instanceof Uint8Array || typeof value === 'string' ? value.length : 8;
    if (batch.length < ROWS_MAX && bytes < BYTES_MAX) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

/** Single numbers. */
async function setNumbers(session: Session, records: FolderRecords): Promise<void> {
  const { meta } = records.tables;
  const numberOf = (name: 'leasedBefore' | 'lastSegment' | 'droppedSegment') => count(meta, name, records.at);
  await session.run(SET_LEASED, [Math.max(numberOf('leasedBefore'), numberOf('lastSegment'))]);
  await session.run(SET_DROPPED, [numberOf('droppedSegment')]);
}

async function requireEmpty(session: Session, copies: readonly Copy[]): Promise<void> {
  for (const table of ['node', ...copies.map((each) => each.table)]) {
    const some = await session.run({ name: '', text: `SELECT 1 FROM qrn.${table} LIMIT 1` });
    if (some.length === 0) continue;
    throw new LedgerError(
      'refused',
      `the database is not empty: there are records in qrn.${table}. Import into a database on which only qrn cluster init was run`,
    );
  }
}

/** What is stored is the folder, and is sound. */
async function requireSame(
  session: Session,
  records: FolderRecords,
  copied: ImportCounts,
  copies: readonly Copy[],
  node: number,
): Promise<void> {
  const stored = await storedCounts(session, copies);
  if (!isDeepStrictEqual(stored, copied))
    throw damaged(`records: ${JSON.stringify(stored)} are stored of ${JSON.stringify(copied)}`);
  const { segments } = records.tables;
  await requireSameBytes(session, RECORDS, namedRecords(records, node));
  await requireSameBytes(
    session,
    SEGMENT_BODIES,
    rowsOf(records, segments, (key, value) => [key, value]),
  );
  for (const period of periodsOf(records)) {
    const expected = folderBalancesIn(records.tables, period);
    const found = await balancesIn(session, new UnsealedTallies(), period);
    if (!isDeepStrictEqual(found, expected)) throw damaged(`balances of ${period}`);
  }
  const { problems } = await auditBooks(session);
  if (problems.length > 0) throw damaged(problems.join('; '));
}

/** Name, value, table and key of each record. */
function* namedRecords(records: FolderRecords, node: number): Generator<readonly unknown[]> {
  for (const [part, key, name, value] of recordRows(records, node))
    yield [`${part} ${name}`, value, part, key];
}

/** Each row is a key, the value that it has, and what else the statement asks by. */
async function requireSameBytes(
  session: Session,
  statement: { readonly name: string; readonly text: string },
  rows: Iterable<readonly unknown[]>,
): Promise<void> {
  for (const batch of batchesOf(rows)) {
    const columns = batch[0].flatMap((_, column) =>
      column === 1 ? [] : [batch.map((row) => bytesOf(row[column]))],
    );
    const found = await session.run<{ key: string | number; value: Uint8Array }>(statement, columns);
    const values = new Map<unknown, Uint8Array>(found.map(({ key, value }) => [key, value]));
    for (const [key, value] of batch) {
      const stored = values.get(key);
      if (stored === undefined || Buffer.compare(stored, value as Uint8Array) !== 0)
        throw damaged(`the record ${String(key)} (${statement.name})`);
    }
  }
}

async function storedCounts(session: Session, copies: readonly Copy[]): Promise<ImportCounts> {
  const counts: Record<string, number> = {};
  for (const { table } of copies) {
    const [{ rows }] = await session.run<{ rows: number }>({
      name: '',
      text: `SELECT count(*) AS rows FROM qrn.${table}`,
      isLong: true,
    });
    counts[table] = rows;
  }
  return counts;
}

function damaged(what: string): LedgerError {
  return new LedgerError(
    'damaged',
    `the copy in PostgreSQL is not that of the folder, nothing was stored: ${what}`,
  );
}
