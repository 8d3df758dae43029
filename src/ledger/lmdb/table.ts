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
  /** Stored bytes. */
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

/** What a table needs of one LMDB database with binary values. */
export interface RawDatabase {
  get(key: Key, options?: { transaction?: Snapshot }): Uint8Array | undefined;
  put(key: Key, value: Uint8Array): unknown;
  remove(key: Key): unknown;
  getRange(range: RawRange): Iterable<{ key: Key; value: Uint8Array }>;
}

/** What the ledger needs of LMDB; lmdb.ts hands in the real one, tests one that fails. */
export interface RawStore {
  /** Undefined when the database does not exist and is not created, because of `create` or because the folder is read only. */
  openDatabase(name: string, create: boolean): RawDatabase | undefined;
  /**
   * Runs `body` under the one write lock of the folder and makes its writes durable before returning. When it
   * throws, whether from `body` or from the disk, nothing of it is visible or stored.
   */
  transact(body: () => void): void;
  /** A consistent view for a read that spans turns of the event loop; `done` must be called. */
  snapshot(): Snapshot;
  copyTo(directory: string, compact: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Tells tables whether a write transaction is open, and counts what was written in it. */
export interface WriteGate {
  readonly open: boolean;
  /** Called before each write. */
  wrote(): void;
}

const CRC_BYTES = 4;

/**
 * One named collection. Each stored value begins with its CRC-32 (little-endian), seeded with table name and
 * key, so that a torn page, a flipped bit or a value under a wrong key is noticed when it is read, never
 * served.
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
  get(key: K, at?: Snapshot): V | undefined {
    const stored = this.#raw.get(key, at === undefined ? undefined : { transaction: at });
    return stored === undefined ? undefined : this.#open(key, stored);
  }

  has(key: K, at?: Snapshot): boolean {
    return this.#raw.get(key, at === undefined ? undefined : { transaction: at }) !== undefined;
  }

  /** Only inside a write transaction. */
  put(key: K, value: V): void {
    assert(this.#gate.open, `put into ${this.name} outside a write transaction`);
    const sealed = this.#seal(key, value);
    this.#gate.wrote();
    this.#raw.put(key, sealed);
  }

  /** Only inside a write transaction. */
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
   * Like `entries`, but damage comes as problems in words instead of ending the iteration. Each record is held against
   * its checksum and looked up by its key: a damaged branch page still leads a walk to its records and sends a look-up
   * past them.
   */
  *checked(at: Snapshot, range: KeyRange = {}): Generator<CheckedRecord<K, V>> {
    for (const { key, value } of this.#raw.getRange(rawRange(range, at))) {
      const opened = this.#openOrDamage(key as K, value);
      const problems: string[] = [];
      if (!this.has(key as K, at))
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

  /** FNV-1a of the key, begun with the table's own: the seed of the value's CRC. */
  #keySum(key: K): number {
    return fnv1a(String(key), this.#nameSum);
  }
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** 32-bit FNV-1a over the UTF-16 units of a text; for short keys far cheaper than a call to zlib. */
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
