import { assert } from '../../core/assert.ts';

/** Words of the shared memory. */
const IS_INSIDE = 0;
const IS_CLOSED = 1;
const WORDS = 2;

/**
 * Keeps a process from ending its ledger's thread inside a write transaction. Node ends a thread between two steps of
 * JavaScript, and lmdb-js then closes the environment in that thread: it waits forever for the lock that the thread's own
 * transaction holds (lmdb 3.5.6, `beginTxn` and `cleanupStrayTxns`). So a process that had failed did not exit.
 *
 * The code that ends the process closes the gate, and waits until the thread is outside. A later transaction waits at the gate,
 * where the thread can be ended.
 */
export class TransactionGate {
  /** The shared state. Another thread makes its gate over the same words. */
  readonly words: Int32Array<SharedArrayBuffer>;

  constructor(words = new Int32Array(new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT))) {
    assert(words.length === WORDS, 'these are the words of a gate');
    this.words = words;
  }

  /** Runs a write transaction. Once the gate is closed it never returns. */
  pass<T>(transact: () => T): T {
    Atomics.store(this.words, IS_INSIDE, 1); // stored first: then this sees the gate closed, or `close` sees this inside
    while (Atomics.load(this.words, IS_CLOSED) === 1) {
      this.#leave();
      Atomics.wait(this.words, IS_CLOSED, 1);
    }
    try {
      return transact();
    } finally {
      this.#leave();
    }
  }

  /** Lets no further transaction begin, and waits for the one under way. Returns false when that takes over `timeoutMs`. */
  close(timeoutMs: number): boolean {
    Atomics.store(this.words, IS_CLOSED, 1);
    return Atomics.wait(this.words, IS_INSIDE, 1, timeoutMs) !== 'timed-out';
  }

  #leave(): void {
    Atomics.store(this.words, IS_INSIDE, 0);
    Atomics.notify(this.words, IS_INSIDE);
  }
}
