import type { Database, HeldSession } from './connection.ts';

/** Names the lock of the one node that seals: "qrnl" in ASCII. */
const SEQUENCER_LOCK = 0x71_72_6e_6c;
const LOCK = { name: 'sequencer_lock', text: 'SELECT pg_try_advisory_lock($1) AS is_mine' };
const IS_ALIVE = { name: 'sequencer_alive', text: 'SELECT 1' };

/**
 * Picks the node that seals, folds and expires for all. Its lock lives as long as its connection. Two nodes may both
 * believe for a moment that they hold it, when PostgreSQL has noticed the loss of a connection before its node has: the
 * step of the log (postgresLogStore) makes the second one harmless.
 */
export class Sequencer {
  readonly #database: Database;
  #session: HeldSession | undefined;
  #isHeld = false;
  #asking: Promise<boolean> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Whether this node seals now; takes the lock when it is free. False while PostgreSQL does not answer. */
  isMine(): Promise<boolean> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** Gives the lock to the next node that asks, which may be this one. */
  async resign(): Promise<void> {
    await this.#asking;
    await this.#drop();
  }

  async #ask(): Promise<boolean> {
    try {
      this.#session ??= await this.#database.hold();
      if (this.#isHeld) {
        await this.#session.run(IS_ALIVE);
      } else {
        const [{ is_mine }] = await this.#session.run<{ is_mine: boolean }>(LOCK, [SEQUENCER_LOCK]);
        this.#isHeld = is_mine;
      }
      return this.#isHeld;
    } catch {
      await this.#drop();
      return false;
    }
  }

  async #drop(): Promise<void> {
    this.#isHeld = false;
    await this.#session?.close();
    this.#session = undefined;
  }
}
