import { assert, messageOf } from '../../core/assert.ts';
import type { Log } from '../../core/log.ts';
import { isRefusal, LedgerError, stoppedBy } from '../ledger.ts';
import type { RawStore, WriteGate } from './table.ts';

interface Pending {
  /** Runs inside the transaction. Returns a function that settles the caller's promise, to be called after the commit. */
  readonly run: () => () => void;
  readonly reject: (error: Error) => void;
}

/**
 * Group commit: bodies that arrive during a commit wait, and run together in the next transaction. A body makes its checks
 * before its first write. A body that refuses then (LedgerError `conflict` or `refused`, ApiError) is rejected alone, and the
 * rest of its group is committed. Any other error, from a body or from the disk, stops the writer for good: it rejects the
 * whole group, stores nothing of it, and writes no more. After a failed fsync the page cache cannot be trusted (with LMDB or
 * any other store that was tried), so the process must end.
 */
export class GroupWriter implements WriteGate {
  /** Resolves with the cause when the writer stops; never rejects. */
  readonly failed: Promise<Error>;
  readonly #raw: Pick<RawStore, 'transact'>;
  readonly #log: Log;
  /** Runs first in every transaction; throws when this process may no longer write. */
  readonly #fence: () => void;
  readonly #announceFailure: (error: Error) => void;
  #queue: Pending[] = [];
  #scheduled: NodeJS.Immediate | undefined;
  #stopped: LedgerError | undefined;
  #isOpen = false;
  #writes = 0;

  constructor(raw: Pick<RawStore, 'transact'>, log: Log, fence: () => void) {
    this.#raw = raw;
    this.#log = log;
    this.#fence = fence;
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    this.#announceFailure = resolve;
  }

  /** True inside a write transaction. */
  get open(): boolean {
    return this.#isOpen;
  }

  wrote(): void {
    this.#writes++;
  }

  /** Runs `body` in a transaction of its own, and blocks until it is on disk. For a start, when nothing else writes yet. */
  transact(body: () => void): void {
    assert(!this.#isOpen, 'write transactions do not nest');
    this.#isOpen = true;
    try {
      this.#raw.transact(body);
    } finally {
      this.#isOpen = false;
    }
  }

  /** Resolves with what `body` returned when its writes are on disk. */
  submit<T>(body: () => T): Promise<T> {
    if (this.#stopped !== undefined) return Promise.reject(this.#stopped);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#queue.push({
      run: () => {
        const result = body();
        return () => resolve(result);
      },
      reject,
    });
    // setImmediate runs after the poll phase, which takes in all waiting messages: their bodies form the group.
    this.#scheduled ??= setImmediate(() => this.flush());
    return promise;
  }

  /** Commits all waiting bodies now, and blocks until they are on disk. */
  flush(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    const group = this.#queue;
    if (group.length === 0) return;
    this.#queue = [];
    const settle: (() => void)[] = [];
    try {
      this.transact(() => {
        this.#fence();
        for (const pending of group) settle.push(this.#runAlone(pending));
      });
    } catch (error) {
      this.stop(error);
      this.#rejectAll(group);
      return;
    }
    for (const done of settle) done();
  }

  get isRunning(): boolean {
    return this.#stopped === undefined;
  }

  /** Throws when nothing more will be written. */
  requireRunning(): void {
    if (this.#stopped !== undefined) throw this.#stopped;
  }

  /** Stops for good. Rejects waiting bodies and every later one, and returns the error that they are rejected with. */
  stop(cause: unknown): LedgerError {
    if (this.#stopped !== undefined) return this.#stopped;
    this.#stopped = stoppedBy(cause);
    this.#log.error(
      { cause: messageOf(cause) },
      'ledger: a write failed, so nothing more is written and the service stops',
    );
    this.#rejectAll(this.#queue.splice(0));
    this.#announceFailure(this.#stopped);
    return this.#stopped;
  }

  /** Ends cleanly: commits waiting bodies, then accepts no more. */
  close(why = new LedgerError('stopped', 'the ledger is closed')): void {
    this.flush();
    this.#stopped ??= why;
  }

  #runAlone(pending: Pending): () => void {
    const writes = this.#writes;
    try {
      return pending.run();
    } catch (error) {
      if (!isRefusal(error) || this.#writes !== writes) throw error;
      return () => pending.reject(error);
    }
  }

  #rejectAll(pending: readonly Pending[]): void {
    assert(this.#stopped !== undefined, 'only a stopped writer rejects what waits');
    for (const { reject } of pending) reject(this.#stopped);
  }
}
