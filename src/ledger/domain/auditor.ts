import { isDeepStrictEqual } from 'node:util';
import type { Key, SharedTable } from '../store.ts';
import { COUNTS, type CountName } from '../tables.ts';

/** Problems reported in words; beyond that one line says how many more. */
const PROBLEMS_MAX = 100;

/**
 * Visits every record that a store has of a table at one moment. What is wrong with a stored record itself is told as a problem,
 * and the record is not visited.
 */
export type Walk = <K extends Key, V>(
  table: SharedTable<K, V>,
  visit: (key: K, value: V) => void,
  problem: (text: string) => void,
) => Promise<void>;

/** What an audit lends to the checks of one part: it reads one moment of a store and gathers problems. */
export class Auditor {
  readonly #walk: Walk;
  readonly #walked = new Set<string>();
  readonly #problems: string[] = [];
  #problemCount = 0;
  #counts: Map<CountName, number> | undefined;

  constructor(walk: Walk) {
    this.#walk = walk;
  }

  /** In words. */
  get problems(): string[] {
    const more = this.#problemCount - this.#problems.length;
    return more === 0 ? this.#problems : [...this.#problems, `and ${more} more`];
  }

  async walk<K extends Key, V>(table: SharedTable<K, V>, visit: (key: K, value: V) => void): Promise<void> {
    this.#walked.add(table.name);
    await this.#walk(table, visit, (text) => this.problem(text));
  }

  /** Reads those of the tables that nothing else is held against: each record has its own checksum. */
  async walkRest(tables: readonly SharedTable<Key, unknown>[]): Promise<void> {
    for (const table of tables) if (!this.#walked.has(table.name)) await this.walk(table, () => {});
  }

  problem(text: string): void {
    if (++this.#problemCount <= PROBLEMS_MAX) this.#problems.push(text);
  }

  /** A number of the books; undefined before it was first written. */
  async count(name: CountName): Promise<number | undefined> {
    if (this.#counts === undefined) {
      const counts = new Map<CountName, number>();
      await this.walk(COUNTS, (key, value) => counts.set(key, value));
      this.#counts = counts;
    }
    return this.#counts.get(name);
  }

  /** A page that is lost whole takes its records' checksums with it: the count notices. */
  async checkCount(name: CountName, stored: number): Promise<void> {
    const counted = (await this.count(name)) ?? 0;
    if (counted !== stored) this.problem(`${name}: ${stored} are stored, ${counted} are counted`);
  }

  /** All records of a small table, by `String` of their keys; with `count` there are as many as that number says. */
  async records<K extends Key, V>(table: SharedTable<K, V>, count?: CountName): Promise<Map<string, V>> {
    const records = new Map<string, V>();
    await this.walk(table, (key, value) => records.set(String(key), value));
    if (count !== undefined) await this.checkCount(count, records.size);
    return records;
  }

  /**
   * As `records`, of a table that has exactly the records that others imply. `implied` is by `String` of the keys; undefined stands
   * for any value.
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
