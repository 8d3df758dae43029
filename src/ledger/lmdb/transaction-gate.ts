import { assert } from '../../core/assert.ts';

/** Words of the shared memory. */
const IS_INSIDE = 0;
const IS_CLOSED = 1;
const WORDS = 2;

/**
 * Keeps a process from ending its ledger's thread inside a write transaction. Node interrupts a thread between two steps of
 * JavaScript, and lmdb-js then closes the environment in that thread: it takes the lock that the transaction holds, and waits for
 * itself forever (lmdb 3.5.6, `beginTxn` and `cleanupStrayTxns`). So a process that had failed did not exit.
 *
 * Whoever ends the process closes the gate and waits until the thread is outside. A transaction that comes later waits at the
 * gate, where a thread can be ended.
 */
export class TransactionGate {
  /** To be given to the other thread, whose gate over the same words is the same gate. */
  readonly words: Int32Array<SharedArrayBuffer>;

  constructor(words = new Int32Array(new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT))) {
    assert(words.length === WORDS, 'these are the words of a gate');
    this.words = words;
  }

  /** Runs a write transaction. Once the gate is closed it never returns. */
  pass<T>(transact: () => T): T {
    Atomics.store(this.words, IS_INSIDE, 1); // before the look: either it sees that the gate is closed, or `close` sees it inside
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

  /** Lets no further transaction begin, and waits for the one under way. False when that takes longer than `timeoutMs`. */
  close(timeoutMs: number): boolean {
    Atomics.store(this.words, IS_CLOSED, 1);
    return Atomics.wait(this.words, IS_INSIDE, 1, timeoutMs) !== 'timed-out';
  }

  #leave(): void {
    Atomics.store(this.words, IS_INSIDE, 0);
    Atomics.notify(this.words, IS_INSIDE);
  }
}
