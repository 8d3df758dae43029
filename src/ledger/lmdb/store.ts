import { assert } from '../../core/assert.ts';
import type { Codec, Key } from '../store.ts';
import { type RawDatabase, type Snapshot, Table, type WriteGate } from './table.ts';

/** What the ledger needs of an LMDB store; lmdb.ts hands in the real one, tests one that fails. */
export interface RawStore {
  /** Undefined when the database does not exist and is not created, because of `create` or because the folder is read only. */
  openDatabase(name: string, create: boolean): RawDatabase | undefined;
  /**
   * Runs `body` under the one write lock of the folder and makes its writes durable before returning. When it
   * throws, whether from `body` or from the disk, nothing of it is visible or stored.
   */
  transact(body: () => void): void;
  snapshot(): Snapshot;
  copyTo(directory: string, compact: boolean): Promise<void>;
  close(): Promise<void>;
}

/** The open folder: its tables, and write transactions over them. */
export class Store implements WriteGate {
  readonly #raw: RawStore;
  #open = false;
  #writes = 0;

  constructor(raw: RawStore) {
    this.#raw = raw;
  }

  /** True inside a write transaction. */
  get open(): boolean {
    return this.#open;
  }

  /** Writes made so far in all transactions: a body that refuses must not have moved this. */
  get writes(): number {
    return this.#writes;
  }

  wrote(): void {
    this.#writes++;
  }

  /** Undefined when the folder has no such table and it is not created: see RawStore.openDatabase. */
  table<K extends Key, V>(name: string, codec: Codec<V>, create: boolean): Table<K, V> | undefined {
    const raw = this.#raw.openDatabase(name, create);
    return raw === undefined ? undefined : new Table<K, V>(name, raw, codec, this);
  }

  /** See RawStore.transact. Blocks until the disk has it. */
  transact(body: () => void): void {
    assert(!this.#open, 'write transactions do not nest');
    this.#open = true;
    try {
      this.#raw.transact(body);
    } finally {
      this.#open = false;
    }
  }

  /** A consistent view for a read that spans turns of the event loop; `done` must be called. */
  snapshot(): Snapshot {
    return this.#raw.snapshot();
  }

  copyTo(directory: string, compact: boolean): Promise<void> {
    return this.#raw.copyTo(directory, compact);
  }

  close(): Promise<void> {
    return this.#raw.close();
  }
}
