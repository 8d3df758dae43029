import { balancesIn } from '../lmdb/balances.ts';
import { tableOf } from '../lmdb/lmdb-store.ts';
import type { Snapshot, Table } from '../lmdb/table.ts';
import type { Tables } from '../lmdb/tables.ts';
import type { RateRecord } from '../records.ts';
import { decodeSegment } from '../segment.ts';
import type { Key, SharedTable } from '../store.ts';
import { BOOK_TABLES, COUNTS, JOBS, LOT_STATES, RATES } from '../tables.ts';
import { accountOfKey, countersCodec, dayOfKey, periodOfDay, type UsageCounters } from '../usage-counters.ts';
import { rowOf } from './postgres-store.ts';

/** The records of an LMDB folder that nobody writes, of one moment. */
export interface FolderRecords {
  readonly tables: Tables;
  readonly at: Snapshot;
}

/** Segments of the folder were committed in no epoch of the node: nothing that they spent was granted to it. */
export const NO_EPOCH = 0;

/** Tables whose records name their node. */
const OF_NODES: ReadonlySet<string> = new Set([JOBS.name, LOT_STATES.name]);
/** Numbers that are not of the books, or that the database has in tables of its own. */
const OF_FOLDER =
  /^(?:format|epoch|journal.*|stagedLots|blocks|(?:pure|seed)(?:Blocks|Bytes)|\w+Segment|leasedBefore|\w+UsageDay|probedAtMs)$/;

/** Rows of one table, in the order in which they are inserted. */
export interface Copy {
  readonly table: string;
  /** As the definition of a table names them: `name type, …`. */
  readonly columns: string;
  readonly rows: Iterable<readonly unknown[]>;
}

/** All records of a folder, as rows of the tables that hold them. */
export function copiesOf(records: FolderRecords, node: number): Copy[] {
  return bookCopies(records, node);
}

function bookCopies(records: FolderRecords, node: number): Copy[] {
  const { tables } = records;
  const copy = copierOf(records);
  const usageRow = (key: number, counters: UsageCounters) => [
    accountOfKey(key),
    dayOfKey(key),
    countersCodec.encode(counters),
  ];
  return [
    copy(
      'segment',
      'sequence bigint, node int, epoch bigint, at_ms float8, count int, body bytea',
      tables.segments,
      (sequence, bytes) => {
        const { committedAtMs, count } = decodeSegment(bytes);
        return [sequence, node, NO_EPOCH, committedAtMs, count, bytes];
      },
    ),
    copy('usage_day', 'account bigint, day int, counters bytea', tables.usage, usageRow),
    {
      table: 'balance',
      columns: 'account bigint, period int, requests bigint, credits bigint',
      rows: balanceRows(records),
    },
    {
      table: 'record',
      columns: 'part text, key bytea, name text, value bytea',
      rows: recordRows(records, node),
    },
  ];
}

/** Makes copies of tables, of which `row` gives the values of the columns. */
function copierOf(records: FolderRecords) {
  return <K extends Key, V>(
    table: string,
    columns: string,
    source: Table<K, V>,
    row: (key: K, value: V) => readonly unknown[],
  ): Copy => ({ table, columns, rows: rowsOf(records, source, row) });
}

export function* rowsOf<K extends Key, V>(
  { at }: FolderRecords,
  table: Table<K, V>,
  row: (key: K, value: V) => readonly unknown[],
): Generator<readonly unknown[]> {
  for (const { key, value } of table.entries({}, at)) yield row(key, value);
}

/** What the rules in ledger/domain keep, as it is. */
export function* recordRows({ tables, at }: FolderRecords, node: number): Generator<readonly unknown[]> {
  for (const table of Object.values<SharedTable<Key, unknown>>(BOOK_TABLES))
    for (const { key, value } of tableOf(tables, table).entries({}, at)) {
      if (table.name === RATES.name)
        yield cells(rowOf(RATES, [node, (key as [number, number])[1]], value as RateRecord));
      else yield cells(rowOf(table, key, OF_NODES.has(table.name) ? { ...(value as object), node } : value));
    }
  for (const { key, value } of tableOf(tables, COUNTS).entries({}, at))
    if (!OF_FOLDER.test(key)) yield cells(rowOf(COUNTS, key, value));
}

function cells({ part, key, name, value }: ReturnType<typeof rowOf>): readonly unknown[] {
  return [part, key, name, value];
}

/** All months that anything was charged to. */
export function periodsOf({ tables, at }: FolderRecords): number[] {
  const periods = new Set<number>();
  for (const { key } of tables.usage.entries({}, at)) periods.add(periodOfDay(dayOfKey(key)));
  return [...periods].sort((a, b) => a - b);
}

function* balanceRows(records: FolderRecords): Generator<readonly unknown[]> {
  for (const each of periodsOf(records))
    for (const { accountNumber, period, requests, credits } of balancesIn(records.tables, each))
      yield [accountNumber, period, requests, credits];
}
