import { crc32 } from 'node:zlib';
import { assert } from '../../core/assert.ts';
import { LedgerError } from '../ledger.ts';
import type { Codec, Key, KeyRange } from '../store.ts';

/** A consistent view of all tables at one moment. */
export interface Snapshot {
  done(): void;
}

/** A stored record and what is wrong with it. */
export interface CheckedRecord<K, V> {
  readonly key: K;
  /** Undefined when the stored bytes are not what was put. */
  readonly value: V | undefined;
  /** Size of the stored value. */
  readonly bytes: number;
  readonly problems: readonly string[];
}

interface RawRange {
  start?: Key;
  end?: Key;
  limit?: number;
  reverse?: boolean;
  transaction?: Snapshot;
}

/** The part of an LMDB database with binary values that a table uses. */
export interface RawDatabase {
  get(key: Key, options?: { transaction?: Snapshot }): Uint8Array | undefined;
  put(key: Key, value: Uint8Array): unknown;
  remove(key: Key): unknown;
  getRange(range: RawRange): Iterable<{ key: Key; value: Uint8Array }>;
}

/** The part of LMDB that the ledger uses. lmdb.ts gives the real one; tests give one that fails. */
export interface RawStore {
  /** Returns undefined when the database does not exist and is not created, because of `create` or a read-only folder. */
  openDatabase(name: string, create: boolean): RawDatabase | undefined;
  /**
   * Runs `body` under the one write lock of the folder, and returns when its writes are durable. When `body` or the disk
   * throws, nothing of it is visible or stored.
   */
  transact(body: () => void): void;
  /** Returns a consistent view for reads that span turns of the event loop. The caller must call `done`. */
  snapshot(): Snapshot;
  copyTo(directory: string, compact: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Tells tables whether a write transaction is open, and is told of every write in it. */
export interface WriteGate {
  readonly open: boolean;
  /** Called before each write. */
  wrote(): void;
}

const CRC_BYTES = 4;

/**
 * One named table. Each stored value begins with its CRC-32 (little-endian), which is seeded with the table's name and the
 * key. So a read detects a torn page, a flipped bit or a value under a wrong key.
 */
export class Table<K extends Key, V> {
  readonly name: string;
  readonly #raw: RawDatabase;
  readonly #codec: Codec<V>;
  readonly #gate: WriteGate;
  readonly #nameSum: number;

  constructor(name: string, raw: RawDatabase, codec: Codec<V>, gate: WriteGate) {
    this.name = name;
    this.#raw = raw;
    this.#codec = codec;
    this.#gate = gate;
    this.#nameSum = fnv1a(`${name} `);
  }

  /** Throws LedgerError `damaged` when the stored bytes are not what was put. */
  get(key: K): V | undefined {
    const stored = this.#raw.get(key);
    return stored === undefined ? undefined : this.#open(key, stored);
  }

  /** Must be called inside a write transaction. */
  put(key: K, value: V): void {
    assert(this.#gate.open, `put into ${this.name} outside a write transaction`);
    const sealed = this.#seal(key, value);
    this.#gate.wrote();
    this.#raw.put(key, sealed);
  }

  /** Must be called inside a write transaction. */
  remove(key: K): void {
    assert(this.#gate.open, `remove from ${this.name} outside a write transaction`);
    this.#gate.wrote();
    this.#raw.remove(key);
  }

  *entries(range: KeyRange = {}, at?: Snapshot): Generator<{ key: K; value: V }> {
    for (const { key, value } of this.#raw.getRange(rawRange(range, at))) {
      yield { key: key as K, value: this.#open(key as K, value) };
    }
  }

  /**
   * Like `entries`, but yields damage as problems in words instead of throwing. Checks the checksum of each record, and looks
   * the record up by its key: a walk still finds the records under some damaged branch pages where a look-up does not.
   */
  *checked(at: Snapshot, range: KeyRange = {}): Generator<CheckedRecord<K, V>> {
    for (const { key, value } of this.#raw.getRange(rawRange(range, at))) {
      const opened = this.#openOrDamage(key as K, value);
      const problems: string[] = [];
      if (this.#raw.get(key, { transaction: at }) === undefined)
        problems.push(`${this.name} ${String(key)}: stored, and not found by its key`);
      if (opened instanceof LedgerError) problems.push(opened.message);
      yield {
        key: key as K,
        value: opened instanceof LedgerError ? undefined : opened,
        bytes: value.length,
        problems,
      };
    }
  }

  #seal(key: K, value: V): Buffer {
    const encoded = this.#codec.encode(value);
    const pieces = encoded instanceof Uint8Array ? [encoded] : encoded;
    const sealed = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, CRC_BYTES));
    let at = CRC_BYTES;
    for (const piece of pieces) {
      sealed.set(piece, at);
      at += piece.length;
    }
    sealed.writeUInt32LE(crc32(sealed.subarray(CRC_BYTES), this.#keySum(key)), 0);
    return sealed;
  }

  #open(key: K, stored: Uint8Array): V {
    const payload = stored.subarray(CRC_BYTES);
    const sum =
      stored.length < CRC_BYTES
        ? undefined
        : new DataView(stored.buffer, stored.byteOffset, CRC_BYTES).getUint32(0, true);
    if (sum !== crc32(payload, this.#keySum(key))) {
      throw new LedgerError(
        'damaged',
        `${this.name} ${String(key)}: the stored value does not match its checksum`,
      );
    }
    return this.#codec.decode(payload);
  }

  #openOrDamage(key: K, stored: Uint8Array): V | LedgerError {
    try {
      return this.#open(key, stored);
    } catch (error) {
      if (error instanceof LedgerError && error.reason === 'damaged') return error;
      throw error;
    }
  }

  /** Returns the seed of a value's CRC: FNV-1a of the table's name and the key. */
  #keySum(key: K): number {
    return fnv1a(String(key), this.#nameSum);
  }
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** Returns the 32-bit FNV-1a of a text's UTF-16 units. For short keys this is far cheaper than a call to zlib. */
function fnv1a(text: string, from = FNV_OFFSET): number {
  let sum = from;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), FNV_PRIME);
  return sum >>> 0;
}

function rawRange(range: KeyRange, at: Snapshot | undefined): RawRange {
  const raw: RawRange = {};
  if (range.from !== undefined) raw.start = range.from;
  if (range.before !== undefined) raw.end = range.before;
  if (range.limit !== undefined) raw.limit = range.limit;
  if (range.isReverse) raw.reverse = true;
  if (at !== undefined) raw.transaction = at;
  return raw;
}
