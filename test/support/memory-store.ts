import { type Body, type Key, runNow, type Step, type Store } from '../../src/ledger/store.ts';

type Rows = readonly { readonly key: Key; readonly value: unknown }[];

/** The driver over lists in memory, each in the order of its keys. */
export class MemoryStore implements Store {
  #tables: Readonly<Record<string, Rows>> = {};

  async read<T>(body: () => Body<T>): Promise<T> {
    return this.within(body());
  }

  async write<T>(_locks: readonly string[], body: () => Body<T>): Promise<T> {
    await Promise.resolve(); // never between two steps of another body
    const before = this.#tables;
    try {
      return this.within(body());
    } catch (error) {
      this.#tables = before;
      throw error;
    }
  }

  /** Runs a body as a part of another call. */
  within<T>(body: Body<T>): T {
    return runNow(body, (step) => this.#answer(step));
  }

  #answer(step: Step): unknown {
    const { name } = step.table;
    const rows = this.#tables[name] ?? [];
    const valueAt = (sought: Key) =>
      structuredClone(rows.find(({ key }) => compared(key, sought) === 0)?.value);
    if (step.ask === 'get') return valueAt(step.key);
    if (step.ask === 'getMany') return step.keys.map(valueAt);
    if (step.ask === 'range') {
      const { from, before, limit } = step.range;
      const within = rows
        .filter(({ key }) => from === undefined || compared(key, from) >= 0)
        .filter(({ key }) => before === undefined || compared(key, before) < 0);
      return structuredClone(within.slice(0, limit));
    }
    const others = rows.filter(({ key }) => compared(key, step.key) !== 0);
    if (step.ask === 'put') others.push({ key: step.key, value: structuredClone(step.value) });
    this.#tables = { ...this.#tables, [name]: others.sort((a, b) => compared(a.key, b.key)) };
    return undefined;
  }
}

/** The order that the seam gives keys (ledger/store.ts). */
export function compared(one: Key, other: Key): number {
  const [a, b] = [one, other].map((key) => (typeof key === 'object' ? key : [key]));
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i], b[i]];
    if (typeof x !== typeof y) return typeof x === 'number' ? -1 : 1;
    const order =
      typeof x === 'number' ? x - (y as number) : Buffer.compare(Buffer.from(x), Buffer.from(y as string));
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
