import { pack, unpack } from 'msgpackr';
import { LedgerError } from './ledger.ts';

/**
 * The seam under the rules of the ledger. Each rule is written once, as a generator that yields the records it wants to
 * read or write, and runs on every driver. LMDB answers a step at once, inside one transaction; PostgreSQL answers over
 * the network.
 */
export interface Store {
  /** Runs a body that only reads, on one consistent state of the records. The driver may run it more than once. */
  read<T>(body: () => Body<T>): Promise<T>;
  /** Like `read`, but sees only what a failover cannot undo: for records that are signed or handed out because of the read. */
  kept<T>(body: () => Body<T>): Promise<T>;
  /**
   * Resolves when what the body wrote is durable. Bodies that share a lock never run at the same time; a lock is named
   * after what it guards. A body makes all its checks before its first write. When it throws, nothing is stored and the
   * caller gets the error. When the outcome of a run is unknown, the driver may run the body again, so a body must leave
   * records alone that an earlier run of it stored.
   */
  write<T>(locks: readonly string[], body: () => Body<T>): Promise<T>;
}

/**
 * Numbers sort by value and before texts. Texts sort by code point and never contain U+0000. Lists have at least two
 * parts and sort part by part.
 */
export type Key = string | number | readonly (string | number)[];

/** How a table turns its records into bytes. Equal records give equal bytes. */
export interface Codec<V> {
  /** Returns one piece, or several that are stored one after the other. */
  encode(value: V): Uint8Array | readonly Uint8Array[];
  decode(bytes: Uint8Array): V;
}

/** Stores plain records as MessagePack. Decoded records own their buffers. */
export function plainCodec<V>(): Codec<V> {
  return { encode: (value) => pack(value), decode: (bytes) => unpack(bytes) as V };
}

/** Stores bytes as they are. Decoding returns the driver's buffer, which nothing else uses. */
export const bytesCodec: Codec<Uint8Array> = { encode: (value) => value, decode: (bytes) => bytes };

/** A table that every driver has. */
export interface SharedTable<K extends Key, V> {
  readonly name: string;
  readonly codec: Codec<V>;
  /** Never set: it only binds the type of the keys. */
  readonly key?: K;
}

/** At most `limit` keys, from `from` (included) to `before` (excluded). */
export interface KeyRange {
  readonly from?: Key;
  readonly before?: Key;
  readonly limit?: number;
  /** Takes all keys, the last one first. Only without `from` and `before`. */
  readonly isReverse?: true;
}

export type Row<K, V> = { readonly key: K; readonly value: V };

type AnyTable = SharedTable<Key, unknown>;

/** One request of a body to its driver. */
export type Step =
  | { readonly ask: 'get'; readonly table: AnyTable; readonly keys: readonly Key[] }
  | { readonly ask: 'range'; readonly table: AnyTable; readonly range: KeyRange }
  | { readonly ask: 'put'; readonly table: AnyTable; readonly rows: readonly (readonly [Key, unknown])[] }
  | { readonly ask: 'remove'; readonly table: AnyTable; readonly keys: readonly Key[] };

export type Body<T> = Generator<Step, T, unknown>;

/** Typed steps, for use in bodies: `const draw = yield* tx.get(DRAWS, id)`. */
export const tx = {
  *get<K extends Key, V>(table: SharedTable<K, V>, key: K): Body<V | undefined> {
    return ((yield { ask: 'get', table, keys: [key] }) as readonly (V | undefined)[])[0];
  },
  /** Returns the records in the order of the keys. */
  *getMany<K extends Key, V>(table: SharedTable<K, V>, keys: readonly K[]): Body<readonly (V | undefined)[]> {
    return (yield { ask: 'get', table, keys }) as readonly (V | undefined)[];
  },
  /** Like getMany, for records that other records name: throws LedgerError `damaged` when one is missing. */
  *getAll<K extends Key, V>(table: SharedTable<K, V>, keys: readonly K[]): Body<readonly V[]> {
    return (yield* tx.getMany(table, keys)).map((value, i) => {
      if (value !== undefined) return value;
      throw new LedgerError('damaged', `${table.name} ${String(keys[i])} is listed but not stored`);
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

/** Runs a body to its end without a turn of the event loop. */
export function runNow<T>(body: Body<T>, answer: (step: Step) => unknown): T {
  let next = body.next();
  while (!next.done) next = body.next(answer(next.value));
  return next.value;
}
