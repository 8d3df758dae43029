import { LedgerError } from '../ledger.ts';
import { bytesCodec, type Key, plainCodec, type TableKind } from '../store.ts';
import { BLOCK_TABLES, BOOK_TABLES, type CountName } from '../tables.ts';
import { countersCodec, type UsageCounters } from '../usage-counters.ts';
import type { Store } from './store.ts';
import type { Snapshot, Table } from './table.ts';

/**
 * The format of the folder. A change that an older program would misread takes the next number, and a program
 * refuses a folder of another number.
 */
export const FORMAT = 1;

/** Single numbers of the ledger, each changed in the transaction that makes it true. */
export type MetaName =
  | 'format'
  /** Bumped at each start of a server: the fencing token. */
  | 'epoch'
  /** The highest segment sequence that was ever stored. */
  | 'lastSegment'
  /** Sequences below are leased, or were before there were leases (Books.leaseSequences). */
  | 'leasedBefore'
  /** The highest segment sequence that retention dropped. */
  | 'droppedSegment'
  /** The first and the last UTC day, since 1970, that any usage falls on. */
  | 'firstUsageDay'
  | 'lastUsageDay'
  /** When the last probe was written (Books.probe). */
  | 'probedAtMs'
  /** The owner that the journals of the last start name (newJournalOwner). */
  | 'journalOwner'
  /** The position up to which the journal of this name is stored (journal.ts), or JOURNAL_FINISHED (books.ts). */
  | `journal/${string}`
  | CountName;

function table<K extends Key, V>(codec = plainCodec<V>()): TableKind<K, V> {
  return { codec };
}

/** All tables but `meta`, under the names of their LMDB databases. */
const TABLES = {
  /** Segments as `encodeSegment` wrote them. */
  segments: table<number, Uint8Array>(bytesCodec),
  /** committedAtMs, sequence. */
  segmentTimes: table<[number, number], number>(),
  /** Segments that the transparency log has not sealed, and how many certificates each has. */
  unsealed: table<number, number>(),
  /** usageKey: day and account. Months are sums over their days. */
  usage: table<number, UsageCounters>(countersCodec),
  ...BOOK_TABLES,
  ...BLOCK_TABLES,
};

export type Tables = { readonly meta: Table<MetaName, number> } & {
  readonly [Name in keyof typeof TABLES]: (typeof TABLES)[Name] extends TableKind<infer K, infer V>
    ? Table<K, V>
    : never;
};

/** Opens the format number alone, so that a folder of a newer program is left as it is. */
export function openMeta(store: Store): Table<MetaName, number> | undefined {
  return store.table<MetaName, number>('meta', plainCodec<number>(), true);
}

/** Opens every table, and with `create` makes those that are missing. Throws `unusable` when one is missing. */
export function openTables(store: Store, meta: Table<MetaName, number>, create: boolean): Tables {
  const opened = Object.entries<TableKind<Key, unknown>>(TABLES).map(([name, { codec }]) => {
    const table = store.table(name, codec, create);
    if (table === undefined) {
      throw new LedgerError(
        'unusable',
        `the ledger has no table ${name}, so another release wrote it or it is damaged: use that release, a backup, or another data folder`,
      );
    }
    return [name, table];
  });
  return { meta, ...Object.fromEntries(opened) } as Tables;
}

/** A number of the ledger; 0 before it was first written. */
export function count(meta: Table<MetaName, number>, name: MetaName, at?: Snapshot): number {
  return meta.get(name, at) ?? 0;
}

/** Adds to a number inside a write transaction and returns the sum. */
export function increase(meta: Table<MetaName, number>, name: MetaName, by: number): number {
  const sum = count(meta, name) + by;
  meta.put(name, sum);
  return sum;
}

/** Lifts a number to at least `to` inside a write transaction. */
export function raise(meta: Table<MetaName, number>, name: MetaName, to: number): void {
  if (to > count(meta, name)) meta.put(name, to);
}

/** Lowers a number to at most `to` inside a write transaction; the first call sets it. */
export function lower(meta: Table<MetaName, number>, name: MetaName, to: number): void {
  const now = meta.get(name);
  if (now === undefined || to < now) meta.put(name, to);
}
