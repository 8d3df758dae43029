import { LedgerError } from '../ledger.ts';
import { type Key, plainCodec, type SharedTable } from '../store.ts';
import { BLOCK_TABLES, BOOK_TABLES, type CountName } from '../tables.ts';
import { type RawStore, Table, type WriteGate } from './table.ts';

/** Single numbers of the ledger. Each changes in the same transaction as what it describes. */
export type MetaName =
  | 'format'
  /** See LedgerIdentity (ledger.ts). */
  | 'ledgerId'
  | 'start'
  /** The position up to which the journal of this name is stored, or JOURNAL_FINISHED (books.ts). */
  | `journal/${string}`
  | CountName;

/** The open tables, each under the name of its LMDB database. */
export interface Tables {
  readonly meta: Table<MetaName, number>;
  /** All tables by name, `meta` included. */
  readonly all: ReadonlyMap<string, Table<Key, unknown>>;
}

export function tableOf<K extends Key, V>({ all }: Tables, { name }: SharedTable<K, V>): Table<K, V> {
  return all.get(name) as unknown as Table<K, V>;
}

/** Opens only the table with the format number, so that a folder with another format is left as it is. */
export function openMeta(raw: RawStore, gate: WriteGate): Tables['meta'] | undefined {
  const database = raw.openDatabase('meta', true);
  return database && new Table('meta', database, plainCodec<number>(), gate);
}

/** Opens every table; creates missing ones with `create`, and throws `unusable` without. */
export function openTables(raw: RawStore, gate: WriteGate, meta: Tables['meta'], create: boolean): Tables {
  const all = new Map<string, Table<Key, unknown>>([['meta', meta as unknown as Table<Key, unknown>]]);
  for (const { name, codec } of [...BOOK_TABLES, ...BLOCK_TABLES]) {
    const database = raw.openDatabase(name, create);
    if (database === undefined) {
      throw new LedgerError(
        'unusable',
        `the ledger has no table ${name}, so another release wrote it or it is damaged: use that release, a backup, or another data folder`,
      );
    }
    all.set(name, new Table(name, database, codec, gate));
  }
  return { meta, all };
}

/** Returns a number of the ledger; 0 before it was first written. */
export function count(meta: Table<MetaName, number>, name: MetaName): number {
  return meta.get(name) ?? 0;
}
