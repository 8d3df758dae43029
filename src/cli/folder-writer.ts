import { setTimeout as sleep } from 'node:timers/promises';
import { type Ledger, LedgerError } from '../ledger/ledger.ts';
import { COMMAND_CALLS, type CommandCall, type LmdbLedger } from '../ledger/lmdb/lmdb-ledger.ts';
import { callOwner, FolderTaken } from '../ledger/server-socket.ts';
import { CommandError } from './command.ts';

/** How often a call is attempted, and the pause between two attempts, while the folder's owner stops or changes. */
const ATTEMPTS_MAX = 100;
const RETRY_MS = 50;

/**
 * Makes the changes of one command. A call goes to the process that owns the folder; when there is none, this process
 * opens the folder and makes the call itself. When an owner ends before it answers, nobody knows whether it made the
 * call, so the call is made again. That changes nothing twice, because each record has an id that this command chose.
 */
export class FolderWriter {
  readonly ledger: Pick<Ledger, CommandCall>;
  readonly #path: string;
  readonly #open: () => Promise<LmdbLedger>;
  #own: LmdbLedger | undefined;
  #isConfirmed = true;

  constructor(path: string, open: () => Promise<LmdbLedger>) {
    this.#path = path;
    this.#open = open;
    const calls = COMMAND_CALLS.map((name) => [
      name,
      (...args: readonly unknown[]) => this.#call(name, args),
    ]);
    this.ledger = Object.fromEntries(calls) as Pick<Ledger, CommandCall>;
  }

  /** Whether every running service has confirmed the changes. */
  get isConfirmed(): boolean {
    return this.#isConfirmed;
  }

  async close(): Promise<void> {
    await this.#own?.close();
  }

  async #call(name: CommandCall, args: readonly unknown[]): Promise<unknown> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      if (this.#own !== undefined) {
        try {
          return await (this.#own[name] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
        } catch (error) {
          // another process found the same dead owner and took the folder from this one
          if (!isFenced(error)) throw error;
          await this.close();
          this.#own = undefined;
        }
      }
      const served = await callOwner(this.#path, name, args);
      if (served === undefined) this.#own = await this.#take();
      else if (served === 'late') break;
      else if (served !== 'lost') {
        this.#isConfirmed &&= served.isConfirmed;
        return served.result;
      }
      if (this.#own === undefined) await sleep(RETRY_MS);
    }
    throw new CommandError(
      `the service on ${this.#path} did not answer ${name}, so it is unknown whether the change was made. See the log of the service, and check what is stored before you repeat the command`,
    );
  }

  /** Opens the folder; undefined when another process was faster. */
  async #take(): Promise<LmdbLedger | undefined> {
    try {
      return await this.#open();
    } catch (error) {
      if (!(error instanceof FolderTaken) && !isFenced(error)) throw error;
      return undefined;
    }
  }
}

/**
 * Returns whether the call failed because another process has taken the folder; then nothing of the call was stored.
 */
function isFenced(error: unknown): boolean {
  return error instanceof LedgerError && error.reason === 'stopped';
}
