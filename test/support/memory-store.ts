import { type Body, type Key, runNow, type Step, type Store } from '../../src/ledger/store.ts';

interface Row {
  readonly key: Key;
  readonly value: unknown;
}

/** The driver over lists in memory, each in the order of its keys. */
export class MemoryStore implements Store {
  readonly #tables = new Map<string, Row[]>();
  /** Undoes the writes of the running body, the last first. */
  #undo: (() => void)[] = [];

  async read<T>(body: () => Body<T>): Promise<T> {
    return runNow(body(), this.#answer);
  }

  kept<T>(body: () => Body<T>): Promise<T> {
    return this.read(body);
  }

  async write<T>(_locks: readonly string[], body: () => Body<T>): Promise<T> {
    await Promise.resolve(); // never between two steps of another body
    return this.within(body());
  }

  /** Runs a body as a part of another call. */
  within<T>(body: Body<T>): T {
    this.#undo = [];
    try {
      return runNow(body, this.#answer);
    } catch (error) {
      for (const undo of this.#undo.toReversed()) undo();
      throw error;
    }
  }

  readonly #answer = (step: Step): unknown => {
    const rows = this.#rowsOf(step.table.name);
    const valueAt = (key: Key) => {
      const { row } = placeOf(rows, key);
      return structuredClone(row?.value);
    };
    if (step.ask === 'get') return step.keys.map(valueAt);
    if (step.ask === 'range') {
      const { from, before, limit, isReverse } = step.range;
      const first = from === undefined ? 0 : placeOf(rows, from).at;
      const end = before === undefined ? rows.length : placeOf(rows, before).at;
      const found = rows.slice(first, end);
      return structuredClone((isReverse ? found.reverse() : found).slice(0, limit));
    }
    const written: readonly (readonly [key: Key, ...put: Row[]])[] =
      step.ask === 'put'
        ? step.rows.map(([key, value]) => [key, { key, value: structuredClone(value) }])
        : step.keys.map((key) => [key]);
    for (const [key, ...put] of written) {
      const { at, row } = placeOf(rows, key);
      const before = row === undefined ? [] : [row];
      rows.splice(at, before.length, ...put);
      this.#undo.push(() => rows.splice(at, put.length, ...before));
    }
    return undefined;
  };

  #rowsOf(name: string): Row[] {
    const rows = this.#tables.get(name) ?? [];
    this.#tables.set(name, rows);
    return rows;
  }
}

/** The row of a key, and the place where it is or would be. */
function placeOf(rows: readonly Row[], key: Key): { at: number; row: Row | undefined } {
  let [at, end] = [0, rows.length];
  while (at < end) {
    const middle = (at + end) >> 1;
    if (compared(rows[middle].key, key) < 0) at = middle + 1;
    else end = middle;
  }
  const isThere = at < rows.length && compared(rows[at].key, key) === 0;
  return { at, row: isThere ? rows[at] : undefined };
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
