import { LedgerError } from '../ledger.ts';
import type { Key, SharedTable } from '../store.ts';
import { BLOCK_TABLES, BOOK_TABLES, COUNTS, type CountName } from '../tables.ts';
import { type RawStore, Table, type WriteGate } from './table.ts';

/** Single numbers of a folder. Each changes in the same transaction as what it describes. */
export type MetaName =
  | CountName
  | 'format'
  /** See LedgerIdentity (ledger.ts). */
  | 'ledgerId'
  | 'start'
  /** The position up to which the journal of this name is stored, or JOURNAL_FINISHED (books.ts). */
  | `journal/${string}`;
export const META: SharedTable<MetaName, number> = COUNTS;

/** The open tables, each under the name of its LMDB database. */
export type Tables = ReadonlyMap<string, Table<Key, unknown>>;

export function tableOf<K extends Key, V>(tables: Tables, { name }: SharedTable<K, V>): Table<K, V> {
  return tables.get(name) as unknown as Table<K, V>;
}

/** Returns a number of the folder; 0 before it was first written. */
export function numberIn(tables: Tables, name: MetaName): number {
  return tableOf(tables, META).get(name) ?? 0;
}

/** Opens every table; creates missing ones with `create`, and throws `unusable` without. */
export function openTables(raw: RawStore, gate: WriteGate, create: boolean): Tables {
  const tables = new Map<string, Table<Key, unknown>>();
  for (const { name, codec } of [META, ...BOOK_TABLES, ...BLOCK_TABLES]) {
    const database = raw.openDatabase(name, create);
    if (database === undefined) {
      throw new LedgerError(
        'unusable',
        `the ledger has no table ${name}, so another release wrote it or it is damaged: use that release, a backup, or another data folder`,
      );
    }
    tables.set(name, new Table<Key, unknown>(name, database, codec, gate));
  }
  return tables;
}
