import { pack, unpack } from 'msgpackr';
import { LedgerError } from './ledger.ts';

/**
 * The seam under the rules of the ledger: a rule is written once, as a generator that asks for records step by step, and
 * runs on every driver. LMDB answers within one transaction, without a turn of the event loop; PostgreSQL answers from
 * another machine.
 */
export interface Store {
  /** What the body reads is of one moment. It may be run more than once, and writes nothing. */
  read<T>(body: () => Body<T>): Promise<T>;
  /** As `read`, of what no failover can take back: for what is signed or given again by being read. */
  kept<T>(body: () => Body<T>): Promise<T>;
  /**
   * Resolves when what the body wrote is durable. Bodies that name a common lock run one after the other, as if each was
   * alone; a lock is named after what it guards. The body checks before it writes: what it throws is thrown to the caller,
   * and nothing of it is stored. It may be run again when the outcome of the first run is unknown, so it leaves what its
   * first run has stored as it is.
   */
  write<T>(locks: readonly string[], body: () => Body<T>): Promise<T>;
}

/** Numbers come before texts, in their order; texts, which hold no zero, in that of their code points; lists, of two parts or more, part by part. */
export type Key = string | number | readonly (string | number)[];

/** How a table turns its records into bytes. Equal records give equal bytes. */
export interface Codec<V> {
  /** One piece, or several that are stored one behind the other. */
  encode(value: V): Uint8Array | readonly Uint8Array[];
  decode(bytes: Uint8Array): V;
}

/** Plain records in MessagePack. What comes back is in buffers of its own. */
export function plainCodec<V>(): Codec<V> {
  return { encode: (value) => pack(value), decode: (bytes) => unpack(bytes) as V };
}

/** Bytes as they are; what comes back is a view of a buffer that nobody else has. */
export const bytesCodec: Codec<Uint8Array> = { encode: (value) => value, decode: (bytes) => bytes };

/** A table that every driver has. */
export interface SharedTable<K extends Key, V> {
  readonly name: string;
  readonly codec: Codec<V>;
  /** Never there: it binds the type of the keys. */
  readonly key?: K;
}

/** Keys from `from` on and before `before`, at most `limit`. */
export interface KeyRange {
  readonly from?: Key;
  readonly before?: Key;
  readonly limit?: number;
  /** All keys, from the last one down; with neither `from` nor `before`. */
  readonly isReverse?: true;
}

export type Row<K, V> = { readonly key: K; readonly value: V };

type AnyTable = SharedTable<Key, unknown>;

/** What a body asks of its driver. */
export type Step =
  | { readonly ask: 'get'; readonly table: AnyTable; readonly keys: readonly Key[] }
  | { readonly ask: 'range'; readonly table: AnyTable; readonly range: KeyRange }
  | { readonly ask: 'put'; readonly table: AnyTable; readonly rows: readonly (readonly [Key, unknown])[] }
  | { readonly ask: 'remove'; readonly table: AnyTable; readonly keys: readonly Key[] };

export type Body<T> = Generator<Step, T, unknown>;

/** The steps, for bodies: `const draw = yield* tx.get(DRAWS, id)`. */
export const tx = {
  *get<K extends Key, V>(table: SharedTable<K, V>, key: K): Body<V | undefined> {
    return ((yield { ask: 'get', table, keys: [key] }) as readonly (V | undefined)[])[0];
  },
  /** In the order of the keys. */
  *getMany<K extends Key, V>(table: SharedTable<K, V>, keys: readonly K[]): Body<readonly (V | undefined)[]> {
    return (yield { ask: 'get', table, keys }) as readonly (V | undefined)[];
  },
  /** As getMany, of records that others name: throws LedgerError `damaged` when one is not there. */
  *getAll<K extends Key, V>(table: SharedTable<K, V>, keys: readonly K[]): Body<readonly V[]> {
    return (yield* tx.getMany(table, keys)).map((value, i) => {
      if (value !== undefined) return value;
      throw new LedgerError('damaged', `${table.name} ${String(keys[i])}: is listed but not stored`);
    });
  },
  *range<K extends Key, V>(table: SharedTable<K, V>, range: KeyRange): Body<readonly Row<K, V>[]> {
    return (yield { ask: 'range', table, range }) as readonly Row<K, V>[];
  },
  *put<K extends Key, V>(table: SharedTable<K, V>, key: K, value: V): Body<void> {
    yield { ask: 'put', table, rows: [[key, value]] };
  },
  *putAll<K extends Key, V>(table: SharedTable<K, V>, rows: readonly (readonly [K, V])[]): Body<void> {
    yield { ask: 'put', table, rows };
  },
  *remove<K extends Key, V>(table: SharedTable<K, V>, keys: readonly K[]): Body<void> {
    yield { ask: 'remove', table, keys };
  },
};

/** Runs a body to its end, each step at once. */
export function runNow<T>(body: Body<T>, answer: (step: Step) => unknown): T {
  let next = body.next();
  while (!next.done) next = body.next(answer(next.value));
  return next.value;
}
