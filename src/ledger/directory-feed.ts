import type { Clock } from '../core/clock.ts';
import { inOrder } from '../core/in-order.ts';
import type { DirectoryChanges, DirectoryReader, Ledger, LedgerCalls } from './ledger.ts';

/** How long a change waits for those who serve by the directory. */
const FOLLOW_DEADLINE_MS = 2_000;

/** Pushes what changes in the directory to those who serve by it, one push after the other. */
export class DirectoryFeed {
  readonly #read: (since: number | undefined) => Promise<DirectoryChanges>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #readers = new Set<DirectoryReader>();
  /** The version that was pushed last; undefined before the first push. */
  #version: number | undefined;
  readonly #inTurn = inOrder();

  /** `read` is Directory.directoryChanges. */
  constructor(
    read: (since: number | undefined) => Promise<DirectoryChanges>,
    clock: Pick<Clock, 'monotonicMs'>,
  ) {
    this.#read = read;
    this.#clock = clock;
  }

  /** That all readers go by, once somebody follows. */
  get version(): number | undefined {
    return this.#version;
  }

  /** See Ledger.follow. */
  follow(reader: DirectoryReader): Promise<void> {
    return this.#inTurn(async () => {
      const readAtMs = this.#clock.monotonicMs();
      const whole = await this.#read(undefined);
      await reader.directoryChanged(whole, readAtMs);
      this.#readers.add(reader);
      this.#version ??= whole.version;
    });
  }

  /** Resolves with true when all have what has changed until now, with false when that takes one of them too long. */
  push(): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.#readers.size === 0) return true;
      const readAtMs = this.#clock.monotonicMs(); // a change after this moment may be missing
      const changes = await this.#read(this.#version);
      this.#version = changes.version;
      const told = [...this.#readers].map((reader) =>
        // one that cannot be told any more has ended
        reader.directoryChanged(changes, readAtMs).catch(() => this.#readers.delete(reader)),
      );
      return inTime(Promise.all(told));
    });
  }

  /** The calls, of which those that change the directory wait for its readers, and `follow`. */
  over(calls: LedgerCalls): LedgerCalls & Pick<Ledger, 'follow'> {
    const { createAccount, putAccount, putKey, revokeLot } = calls;
    return {
      ...calls,
      createAccount: this.#pushed(createAccount),
      putAccount: this.#pushed(putAccount),
      putKey: this.#pushed(putKey),
      revokeLot: this.#pushed(revokeLot),
      follow: (reader) => this.follow(reader),
    };
  }

  #pushed<A extends unknown[], R>(change: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
    return async (...args) => {
      const result = await change(...args);
      await this.push();
      return result;
    };
  }
}

async function inTime(told: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), FOLLOW_DEADLINE_MS);
  const isInTime = await Promise.race([told.then(() => true), late]);
  clearTimeout(timer);
  return isInTime;
}
