import { type Clock, within } from '../core/clock.ts';
import { inOrder } from '../core/in-order.ts';
import type { DirectoryChanges, DirectoryReader, Ledger, LedgerCalls } from './ledger.ts';

/** How long a change waits for the readers of the directory. */
const FOLLOW_DEADLINE_MS = 2_000;

/** Pushes changes of the directory to its readers, one push after the other. */
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

  /** The version that was last pushed; undefined before the first reader follows. */
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

  /** Resolves with true when all readers have all changes made until now, with false when a reader takes too long. */
  push(): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.#readers.size === 0) return true;
      const readAtMs = this.#clock.monotonicMs(); // the changes may lack any made after this moment
      const changes = await this.#read(this.#version);
      this.#version = changes.version;
      const told = [...this.#readers].map((reader) =>
        // a reader that cannot be reached has ended
        reader.directoryChanged(changes, readAtMs).catch(() => this.#readers.delete(reader)),
      );
      const isTold = Promise.all(told).then(() => true);
      return within(FOLLOW_DEADLINE_MS, isTold, () => false);
    });
  }

  /** Returns the calls with `follow`. Those that change the directory wait for its readers. */
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
