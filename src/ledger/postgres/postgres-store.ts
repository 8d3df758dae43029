import { concatBytes } from '../../core/bytes.ts';
import type { Body, Key, KeyRange, Row, SharedTable, Step, Store } from '../store.ts';
import type { Database, Session } from './connection.ts';
import { type NamedEpoch, requireEpoch } from './node.ts';
import { orderedKey } from './ordered-key.ts';

/** Names the locks of bodies: "body" in ASCII. */
const BODY_LOCK = 0x62_6f_64_79;
const LOCK = { name: 'store_lock', text: `SELECT pg_advisory_xact_lock(${BODY_LOCK}, hashtext($1))` };
const GET = { name: 'store_get', text: 'SELECT value FROM qrn.record WHERE part = $1 AND key = $2' };
const GET_MANY = {
  name: 'store_get_many',
  text: 'SELECT name, value FROM qrn.record WHERE part = $1 AND key = ANY($2)',
};
const RANGE = {
  name: 'store_range',
  text: 'SELECT name, value FROM qrn.record WHERE part = $1 AND key >= $2 AND key < $3 ORDER BY key LIMIT $4',
};
const PUT = {
  name: 'store_put',
  text: `INSERT INTO qrn.record (part, key, name, value) SELECT * FROM unnest($1::text[], $2::bytea[], $3::text[], $4::bytea[])
ON CONFLICT (part, key) DO UPDATE SET value = excluded.value`,
};
const REMOVE = {
  name: 'store_remove',
  text: `DELETE FROM qrn.record USING unnest($1::text[], $2::bytea[]) AS gone (part, key)
WHERE record.part = gone.part AND record.key = gone.key`,
};
/** One moment of the database for all statements of a transaction. */
export const ONE_MOMENT = { name: '', text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY' };

const FIRST = Buffer.alloc(0);
/** Behind every key. */
const END = Buffer.of(255);

/**
 * The driver on PostgreSQL, which all nodes share: each record is a row of one table. A writing body runs in a transaction
 * of its own, under advisory locks; what it writes is kept here until it looks at a range or ends, and goes in one statement.
 */
export class PostgresStore implements Store {
  readonly #database: Database;
  readonly #node: NamedEpoch | undefined;

  /** A command is no node. */
  constructor(database: Database, node: NamedEpoch | undefined) {
    this.#database = database;
    this.#node = node;
  }

  async read<T>(body: () => Body<T>): Promise<T> {
    // a body of one step sees one moment without a transaction
    const alone = body();
    const first = alone.next();
    if (first.done) return first.value;
    const then = alone.next(await answer(this.#database, first.value));
    if (then.done) return then.value;
    return this.#database.transact(async (session) => {
      await session.run(ONE_MOMENT);
      return inSession(session, body());
    });
  }

  write<T>(locks: readonly string[], body: () => Body<T>): Promise<T> {
    return this.#database.transact(async (session) => {
      await requireEpoch(session, this.#node);
      await lockIn(session, locks);
      return inSession(session, body());
    });
  }
}

export async function lockIn(session: Session, locks: readonly string[]): Promise<void> {
  for (const lock of [...locks].sort()) await session.run(LOCK, [lock]);
}

/** The rows of a table in the order of their keys. */
export async function rangeOf<K extends Key, V>(
  session: Session,
  { name: part, codec }: SharedTable<K, V>,
  { from, before, limit }: KeyRange,
): Promise<Row<K, V>[]> {
  const [first, end] = [
    from === undefined ? FIRST : orderedKey(from),
    before === undefined ? END : orderedKey(before),
  ];
  const rows = await session.run<{ name: string; value: Uint8Array }>(RANGE, [
    part,
    first,
    end,
    limit ?? null,
  ]);
  return rows.map(({ name, value }) => ({ key: JSON.parse(name) as K, value: codec.decode(value) }));
}

type Write = Extract<Step, { readonly ask: 'put' | 'remove' }>;

/** Runs a body within the transaction of the session. */
export async function inSession<T>(session: Session, body: Body<T>): Promise<T> {
  const writes = new Map<string, Write>();
  let next = body.next();
  while (!next.done) {
    const step = next.value;
    const id = 'key' in step ? JSON.stringify([step.table.name, step.key]) : '';
    const written = writes.get(id);
    if (id === '') await flush(session, writes);
    if (step.ask === 'put' || step.ask === 'remove') {
      writes.set(id, step);
      next = body.next();
    } else if (written !== undefined) next = body.next(written.ask === 'put' ? written.value : undefined);
    else next = body.next(await answer(session, step));
  }
  await flush(session, writes);
  return next.value;
}

async function answer(session: Pick<Session, 'run'>, step: Step): Promise<unknown> {
  const { table } = step;
  if (step.ask === 'range') return rangeOf(session, table, step.range);
  if (step.ask === 'getMany') {
    const keys = step.keys.map((key) => Buffer.from(orderedKey(key)));
    const rows = await session.run<{ name: string; value: Uint8Array }>(GET_MANY, [table.name, keys]);
    const found = new Map(rows.map(({ name, value }) => [name, table.codec.decode(value)]));
    return step.keys.map((key) => found.get(JSON.stringify(key)));
  }
  if (step.ask !== 'get') throw new TypeError(`a body that reads asks to ${step.ask}`);
  const [row] = await session.run<{ value: Uint8Array }>(GET, [table.name, orderedKey(step.key)]);
  return row && table.codec.decode(row.value);
}

async function flush(session: Session, writes: Map<string, Write>): Promise<void> {
  const puts = [...writes.values()].filter((each) => each.ask === 'put');
  const removes = [...writes.values()].filter((each) => each.ask === 'remove');
  writes.clear();
  if (puts.length > 0)
    await session.run(PUT, columnsOf(puts.map(({ table, key, value }) => rowOf(table, key, value))));
  if (removes.length > 0)
    await session.run(REMOVE, columnsOf(removes.map(({ table, key }) => [table.name, orderedKey(key)])));
}

function columnsOf(rows: readonly (readonly (string | Uint8Array)[])[]): unknown[][] {
  return rows[0].map((_, column) =>
    rows.map((row) => (typeof row[column] === 'string' ? row[column] : Buffer.from(row[column]))),
  );
}

/** The row of a record, as `qrn.record` has it: for a copy. */
export function rowOf<K extends Key, V>(
  { name, codec }: SharedTable<K, V>,
  key: K,
  value: V,
): (string | Uint8Array)[] {
  return [name, orderedKey(key), JSON.stringify(key), concatBytes(...[codec.encode(value)].flat())];
}
