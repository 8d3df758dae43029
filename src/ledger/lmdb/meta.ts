import type { Snapshot, Table } from './table.ts';
import type { MetaName } from './tables.ts';

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
