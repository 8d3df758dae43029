import { concatBytes, utf8Bytes } from '../../core/bytes.ts';
import {
  type Body,
  type Key,
  type KeyRange,
  type Row,
  runNow,
  type SharedTable,
  type Step,
  type Store,
} from '../store.ts';
import { COMMIT_NOTHING, type Database, type Session } from './connection.ts';
import { type NamedEpoch, requireEpoch } from './fence.ts';

const GET = {
  name: 'store_get',
  text: 'SELECT name, value FROM qrn.record WHERE part = $1 AND key = ANY($2)',
};
const RANGE = {
  name: 'store_range',
  text: 'SELECT name, value FROM qrn.record WHERE part = $1 AND key >= $2 AND key < $3 ORDER BY key LIMIT $4',
};
const RANGE_BACK = {
  name: 'store_range_back',
  text: 'SELECT name, value FROM qrn.record WHERE part = $1 AND key >= $2 AND key < $3 ORDER BY key DESC LIMIT $4',
};
/** Reads the rows of `packedRows`, whose eight values must be the first of the statement. */
export const UNPACKED_ROWS = `SELECT part, substring($3::bytea FROM key_first FOR key_size) AS key, name,
  substring($6::bytea FROM value_first FOR value_size) AS value
FROM unnest($1::text[], $2::text[], $4::int[], $5::int[], $7::int[], $8::int[])
  AS t(part, name, key_first, key_size, value_first, value_size)`;
const PUT = {
  name: 'store_put',
  text: `INSERT INTO qrn.record (part, key, name, value) ${UNPACKED_ROWS}
ON CONFLICT (part, key) DO UPDATE SET value = excluded.value`,
};
const REMOVE = {
  name: 'store_remove',
  text: `DELETE FROM qrn.record USING unnest($1::text[], $2::bytea[]) AS gone (part, key)
WHERE record.part = gone.part AND record.key = gone.key`,
};
/** Lets all statements of a transaction see one moment of the database. */
const SAME_MOMENT = { name: '', text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ' };
export const ONE_MOMENT = { name: '', text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY' };

/** The class of the advisory locks of bodies: "body" in ASCII. */
const BODY_LOCK = 0x62_6f_64_79;
const LOCK = { name: 'store_lock', text: `SELECT pg_advisory_xact_lock(${BODY_LOCK}, hashtext($1))` };

const FIRST = Buffer.alloc(0);
/** Sorts after every key. */
const END = Buffer.of(255);

/**
 * The driver on PostgreSQL, which all nodes share. Each record is a row of one table. A writing body runs in a transaction of
 * its own, under advisory locks. Its writes are buffered, and sent in one statement before it reads a range and when it ends.
 */
export class PostgresStore implements Store {
  readonly #database: Database;
  readonly #node: NamedEpoch | undefined;

  /** `node` is undefined for a command. */
  constructor(database: Database, node: NamedEpoch | undefined) {
    this.#database = database;
    this.#node = node;
  }

  async read<T>(body: () => Body<T>): Promise<T> {
    // A body of one step needs no transaction to see one moment, so the body is tried without one first.
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

  kept<T>(body: () => Body<T>): Promise<T> {
    return this.#database.transact(async (session) => {
      await session.run(SAME_MOMENT);
      await session.run(COMMIT_NOTHING);
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

/** Takes the locks of a body until the transaction ends. */
export async function lockIn(session: Session, locks: readonly string[]): Promise<void> {
  for (const lock of [...locks].sort()) await session.run(LOCK, [lock]);
}

/** Returns rows of a table in the order of their keys. */
export async function rangeOf<K extends Key, V>(
  session: Session,
  { name: part, codec }: SharedTable<K, V>,
  { from, before, limit, isReverse }: KeyRange,
): Promise<Row<K, V>[]> {
  const [first, end] = [
    from === undefined ? FIRST : orderedKey(from),
    before === undefined ? END : orderedKey(before),
  ];
  const rows = await session.run<{ name: string; value: Uint8Array }>(isReverse ? RANGE_BACK : RANGE, [
    part,
    first,
    end,
    limit ?? null,
  ]);
  return rows.map(({ name, value }) => ({ key: JSON.parse(name) as K, value: codec.decode(value) }));
}

/** A buffered write of a body. */
interface Write {
  readonly table: SharedTable<Key, unknown>;
  readonly key: Key;
  /** Undefined for a removal. */
  readonly row: readonly [Key, unknown] | undefined;
}

/** Runs a body within the transaction of the session. */
export async function inSession<T>(session: Session, body: Body<T>): Promise<T> {
  const writes = new Map<string, Write>();
  let next = body.next();
  while (!next.done) {
    const step = next.value;
    const { table } = step;
    const idOf = (key: Key) => JSON.stringify([table.name, key]);
    if (step.ask === 'put') {
      for (const row of step.rows) writes.set(idOf(row[0]), { table, key: row[0], row });
      next = body.next();
    } else if (step.ask === 'remove') {
      for (const key of step.keys) writes.set(idOf(key), { table, key, row: undefined });
      next = body.next();
    } else if (step.ask === 'get') {
      const written = step.keys.map((key) => writes.get(idOf(key)));
      const stored = written.includes(undefined) ? await recordsOf(session, table, step.keys) : [];
      next = body.next(written.map((write, i) => (write === undefined ? stored[i] : write.row?.[1])));
    } else {
      await flush(session, writes);
      next = body.next(await rangeOf(session, table, step.range));
    }
  }
  await flush(session, writes);
  return next.value;
}

async function answer(session: Pick<Session, 'run'>, step: Step): Promise<unknown> {
  if (step.ask === 'range') return rangeOf(session, step.table, step.range);
  if (step.ask === 'get') return recordsOf(session, step.table, step.keys);
  throw new TypeError(`a body that reads asks to ${step.ask}`);
}

/** Returns the records in the order of the keys, undefined where there is none. */
async function recordsOf<K extends Key, V>(
  session: Pick<Session, 'run'>,
  { name: part, codec }: SharedTable<K, V>,
  keys: readonly K[],
): Promise<(V | undefined)[]> {
  if (keys.length === 0) return [];
  const ordered = keys.map((key) => Buffer.from(orderedKey(key)));
  const rows = await session.run<{ name: string; value: Uint8Array }>(GET, [part, ordered]);
  const found = new Map(rows.map(({ name, value }) => [name, codec.decode(value)]));
  return keys.map((key) => found.get(JSON.stringify(key)));
}

/** Sends the writes sorted, so that all transactions lock rows in one order and do not deadlock. */
async function flush(session: Session, writes: Map<string, Write>): Promise<void> {
  const sorted = [...writes.keys()].sort().map((id) => writes.get(id)!);
  const rows = sorted.flatMap(({ table, row }) => (row === undefined ? [] : [rowOf(table, ...row)]));
  const removes = sorted.filter(({ row }) => row === undefined);
  writes.clear();
  if (rows.length > 0) await putRows(session, rows);
  if (removes.length > 0)
    await session.run(REMOVE, [
      removes.map(({ table }) => table.name),
      removes.map(({ key }) => Buffer.from(orderedKey(key))),
    ]);
}

/** Stores the rows with one statement. */
export async function putRows(session: Session, rows: readonly RecordRow[]): Promise<void> {
  await session.run(PUT, packedRows(rows));
}

/** Returns the eight values of a statement with UNPACKED_ROWS. */
export function packedRows(rows: readonly RecordRow[]): unknown[] {
  return [
    rows.map(({ part }) => part),
    rows.map(({ name }) => name),
    ...packedColumn(rows.map(({ key }) => key)),
    ...packedColumn(rows.map(({ value }) => value)),
  ];
}

/**
 * Returns the concatenated values, with the place where each begins (from 1) and its size. pg sends one value as binary, but
 * an array of values as text.
 */
function packedColumn(values: readonly Uint8Array[]): [Buffer, number[], number[]] {
  const sizes = values.map(({ length }) => length);
  let next = 1;
  const firsts = sizes.map((size) => {
    const first = next;
    next += size;
    return first;
  });
  return [Buffer.concat(values), firsts, sizes];
}

/** Returns the rows of `qrn.record` that a body puts. The body must do nothing else. */
export function rowsPutBy(body: Body<void>): RecordRow[] {
  const rows: RecordRow[] = [];
  runNow(body, (step) => {
    if (step.ask !== 'put') throw new TypeError(`a body that puts asks to ${step.ask}`);
    rows.push(...step.rows.map(([key, value]) => rowOf(step.table, key, value)));
  });
  return rows;
}

/** A record as a row of `qrn.record`. */
export interface RecordRow {
  /** The name of the record's table. */
  readonly part: string;
  readonly key: Uint8Array;
  /** The key as JSON. */
  readonly name: string;
  readonly value: Uint8Array;
}

export function rowOf<K extends Key, V>(
  { name: part, codec }: SharedTable<K, V>,
  key: K,
  value: V,
): RecordRow {
  const encoded = concatBytes(...[codec.encode(value)].flat());
  return { part, key: orderedKey(key), name: JSON.stringify(key), value: encoded };
}

const NUMBER = 1;
const TEXT = 2;

/** Returns a key as bytes, which PostgreSQL sorts as ledger/store.ts says that keys sort. */
function orderedKey(key: Key): Uint8Array {
  const parts = typeof key === 'object' ? key : [key];
  return concatBytes(...parts.map((part) => (typeof part === 'number' ? ofNumber(part) : ofText(part))));
}

/** Big-endian doubles sort like numbers when the sign bit is flipped, and all bits of negative ones. */
function ofNumber(value: number): Uint8Array {
  const bytes = new Uint8Array(9);
  const view = new DataView(bytes.buffer);
  bytes[0] = NUMBER;
  view.setFloat64(1, value + 0); // -0 + 0 is 0
  if (value < 0) view.setBigUint64(1, ~view.getBigUint64(1));
  else bytes[1] |= 0x80;
  return bytes;
}

/** Ends with a zero byte, which no text contains. */
function ofText(value: string): Uint8Array {
  return concatBytes(Uint8Array.of(TEXT), utf8Bytes(value), Uint8Array.of(0));
}
