import { isDeepStrictEqual } from 'node:util';
import type { Key, SharedTable } from '../store.ts';
import { COUNTS, type CountName } from '../tables.ts';

/** Problems that a report lists; one more line says how many it leaves out. */
const PROBLEMS_MAX = 100;

/** Visits every record of a table at one moment. Reports a damaged record as a problem, and does not visit it. */
export type Walk = <K extends Key, V>(
  table: SharedTable<K, V>,
  visit: (key: K, value: V) => void,
  problem: (text: string) => void,
) => Promise<void>;

/** Reads one moment of a store for the checks of an audit, and gathers the problems that they find. */
export class Auditor {
  readonly #walk: Walk;
  readonly #walked = new Set<string>();
  readonly #problems: string[] = [];
  #problemCount = 0;
  #counts: Map<CountName, number> | undefined;

  constructor(walk: Walk) {
    this.#walk = walk;
  }

  /** The problems in words. */
  get problems(): string[] {
    const more = this.#problemCount - this.#problems.length;
    return more === 0 ? this.#problems : [...this.#problems, `and ${more} more`];
  }

  async walk<K extends Key, V>(table: SharedTable<K, V>, visit: (key: K, value: V) => void): Promise<void> {
    this.#walked.add(table.name);
    await this.#walk(table, visit, (text) => this.problem(text));
  }

  /** Reads the tables that no check has walked yet, for the checksums of their records. */
  async walkRest(tables: readonly SharedTable<Key, unknown>[]): Promise<void> {
    for (const table of tables) if (!this.#walked.has(table.name)) await this.walk(table, () => {});
  }

  problem(text: string): void {
    if (++this.#problemCount <= PROBLEMS_MAX) this.#problems.push(text);
  }

  /** Returns a number of the books; undefined before it was first written. */
  async count(name: CountName): Promise<number | undefined> {
    if (this.#counts === undefined) {
      const counts = new Map<CountName, number>();
      await this.walk(COUNTS, (key, value) => counts.set(key, value));
      this.#counts = counts;
    }
    return this.#counts.get(name);
  }

  /** Compares a count with the stored records: a lost page takes its records' checksums along, and only the count shows it. */
  async checkCount(name: CountName, stored: number): Promise<void> {
    const counted = (await this.count(name)) ?? 0;
    if (counted !== stored) this.problem(`${name}: ${stored} are stored, ${counted} are counted`);
  }

  /** Returns all records of a small table by `String` of their keys. With `count`, checks that there are as many as it says. */
  async records<K extends Key, V>(table: SharedTable<K, V>, count?: CountName): Promise<Map<string, V>> {
    const records = new Map<string, V>();
    await this.walk(table, (key, value) => records.set(String(key), value));
    if (count !== undefined) await this.checkCount(count, records.size);
    return records;
  }

  /**
   * Like `records`, and checks that the table has exactly the records that others imply. `implied` has them by `String` of
   * their keys; undefined stands for any value.
   */
  async implied<K extends Key, V>(
    table: SharedTable<K, V>,
    implied: ReadonlyMap<string, V | undefined>,
    count?: CountName,
  ): Promise<Map<string, V>> {
    const records = await this.records(table, count);
    for (const [key, value] of records) {
      const name = `${table.name} ${key}`;
      const expected = implied.get(key);
      if (!implied.has(key)) this.problem(`${name}: is stored, and no other record implies it`);
      else if (expected !== undefined && !isDeepStrictEqual(value, expected))
        this.problem(`${name}: ${JSON.stringify(value)} is stored, others imply ${JSON.stringify(expected)}`);
    }
    for (const key of implied.keys())
      if (!records.has(key)) this.problem(`${table.name} ${key}: is missing, and other records imply it`);
    return records;
  }
}
