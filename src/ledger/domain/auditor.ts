import type { Key, SharedTable } from '../store.ts';
import type { CountName } from '../tables.ts';

/** What an audit lends to the checks of one part: it reads one moment of a store and gathers problems. */
export interface Auditor {
  /** Visits every record; what is wrong with a stored record becomes a problem. */
  walk<K extends Key, V>(table: SharedTable<K, V>, visit: (key: K, value: V) => void): Promise<void>;
  problem(text: string): void;
  /** A page that is lost whole takes its records' checksums with it: the count notices. */
  checkCount(name: CountName, stored: number): Promise<void>;
}
