import { ApiError } from '../../core/errors.ts';
import { inOrder } from '../../core/in-order.ts';
import type { Database, HeldSession } from './connection.ts';

const LOCK = {
  name: 'advisory_lock',
  text: 'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS is_mine',
};
const IS_ALIVE = { name: 'advisory_lock_alive', text: 'SELECT 1' };

/**
 * A lock among all processes on the database. It lasts as long as its connection. When PostgreSQL notices a lost connection
 * before its process does, two processes believe for a moment that they hold the lock, so something else must make a second
 * holder harmless.
 */
export class AdvisoryLock {
  readonly #database: Database;
  readonly #name: string;
  #session: HeldSession | undefined;
  #isHeld = false;
  readonly #inTurn = inOrder();

  constructor(database: Database, name: string) {
    this.#database = database;
    this.#name = name;
  }

  /**
   * Takes the lock if it is free. Resolves with whether this process holds it now. Rejects with `storage_unavailable` when
   * PostgreSQL does not answer.
   */
  take(): Promise<boolean> {
    return this.#inTurn(async () => {
      try {
        this.#session ??= await this.#database.hold();
        if (this.#isHeld) {
          await this.#session.run(IS_ALIVE);
        } else {
          const [{ is_mine }] = await this.#session.run<{ is_mine: boolean }>(LOCK, [this.#name]);
          this.#isHeld = is_mine;
        }
        return this.#isHeld;
      } catch (error) {
        await this.#drop();
        throw this.#database.isUnknownAfter(error)
          ? new ApiError('storage_unavailable', { retryAfterS: 1 })
          : error;
      }
    });
  }

  /** Releases the lock. The next process that asks gets it, which may be this one. */
  release(): Promise<void> {
    return this.#inTurn(() => this.#drop());
  }

  async #drop(): Promise<void> {
    this.#isHeld = false;
    await this.#session?.close();
    this.#session = undefined;
  }
}
