import { type Body, runNow, type Step, type Store } from '../store.ts';
import type { GroupWriter } from './group-writer.ts';
import { type Tables, tableOf } from './tables.ts';

/** The driver on LMDB. A body runs within one turn of the loop; a writing body runs in its group's transaction, the only lock. */
export class LmdbStore implements Store {
  readonly #tables: Tables;
  readonly #writer: GroupWriter;

  constructor(tables: Tables, writer: GroupWriter) {
    this.#tables = tables;
    this.#writer = writer;
  }

  async read<T>(body: () => Body<T>): Promise<T> {
    return runNow(body(), this.#answer);
  }

  kept<T>(body: () => Body<T>): Promise<T> {
    return this.read(body);
  }

  write<T>(_locks: readonly string[], body: () => Body<T>): Promise<T> {
    return this.#writer.submit(() => runNow(body(), this.#answer));
  }

  readonly #answer = (step: Step): unknown => {
    const table = tableOf(this.#tables, step.table);
    if (step.ask === 'get') return step.keys.map((key) => table.get(key));
    if (step.ask === 'range') return [...table.entries(step.range)];
    if (step.ask === 'put') for (const [key, value] of step.rows) table.put(key, value);
    else for (const key of step.keys) table.remove(key);
    return undefined;
  };
}
