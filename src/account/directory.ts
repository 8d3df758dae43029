import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { DirectoryChanges, DirectoryReader, Ledger } from '../ledger/ledger.ts';
import type { AccountRecord, KeyRecord } from '../ledger/records.ts';
import { keyMatches, parseKey } from './api-keys.ts';
import type { Cells } from './cells.ts';
import { Meter } from './meter.ts';
import { type Allowance, allowanceOf } from './tiers.ts';

/** An account as the service sees it between two changes of its record. Its meter outlives them. */
export interface Account {
  readonly record: AccountRecord;
  readonly allowance: Allowance;
  readonly meter: Meter;
}

export interface Authenticated {
  readonly account: Account;
  readonly key: KeyRecord;
}

export interface AccountDirectoryOptions {
  readonly ledger: Pick<Ledger, 'follow'>;
  readonly cells: Cells;
  readonly clock: Clock;
  /** Several nodes serve these accounts: a key that any of them revokes is refused by all within a second. */
  readonly isShared?: boolean;
}

/** What the first start calls its account. */
export const DEMO_ACCOUNT_NAME = 'demo';
/** A demo key that was printed or left in a file is of no use to anybody a day after the last start. */
export const DEMO_KEY_LIFE_MS = 24 * 60 * 60_000;
/** How long the last view of accounts and keys may serve on a node of many while the ledger cannot be read. */
const SHARED_VIEW_AGE_MAX_MS = 1_000;

/**
 * All accounts and keys in memory, kept equal to the ledger's, which tells it what has changed. Who cannot be checked is
 * refused: on a node of several, authentication fails closed when the ledger has not confirmed the view for 1 second.
 */
export class AccountDirectory implements DirectoryReader {
  readonly #options: AccountDirectoryOptions;
  #accountsById = new Map<string, Account>();
  #keysById = new Map<string, KeyRecord>();
  /** Monotonic time after which the view may not serve. */
  #servesToMs = Number.NEGATIVE_INFINITY;
  /** Changes are taken one after the other. */
  #lastChange: Promise<void> = Promise.resolve();
  #closed = false;
  /** By full key text, in memory only; emptied whenever the view changes, so that it holds no more than the keys there are. */
  readonly #cache = new Map<string, Authenticated>();

  private constructor(options: AccountDirectoryOptions) {
    this.#options = options;
  }

  /** Reads everything once, and follows the ledger; rejects when that cannot be read. */
  static async open(options: AccountDirectoryOptions): Promise<AccountDirectory> {
    const accounts = new AccountDirectory(options);
    try {
      await options.ledger.follow(accounts);
    } catch (error) {
      throw new Error('the accounts and keys cannot be read from the ledger', { cause: error });
    }
    return accounts;
  }

  /** Call it when nothing is served by the directory any more: a command does not wait for it from then on. */
  close(): void {
    this.#closed = true;
  }

  /** For the ledger. */
  directoryChanged(changes: DirectoryChanges, readAtMs: number): Promise<void> {
    this.#lastChange = this.#lastChange.then(async () => {
      if (this.#closed) return;
      try {
        await this.#apply(changes);
        this.#servesToMs = this.#options.isShared
          ? readAtMs + SHARED_VIEW_AGE_MAX_MS
          : Number.POSITIVE_INFINITY;
      } catch (error) {
        this.#servesToMs = Number.NEGATIVE_INFINITY; // what was missed is not known
        throw error;
      }
    });
    return this.#lastChange;
  }

  /**
   * The account and key behind the text; undefined for a key that is mistyped, unknown, expired or revoked.
   * The same object for the same key until the directory changes. Throws ApiError `storage_unavailable` when
   * the view is too old to answer. A Map finds the text by a keyed hash and compares only equals, so its time
   * tells a guesser nothing.
   */
  authenticate(keyText: string, nowMs = this.#options.clock.monotonicMs()): Authenticated | undefined {
    if (nowMs > this.#servesToMs) {
      throw new ApiError('storage_unavailable', {
        message: 'API keys cannot be checked now; retry after Retry-After.',
        retryAfterS: 5,
      });
    }
    return this.authenticateByView(keyText);
  }

  /**
   * The same by what is known, however old: for what spends nothing and answers while the ledger is away, the health of
   * the service.
   */
  authenticateByView(keyText: string): Authenticated | undefined {
    const authenticated = this.#cache.get(keyText) ?? this.#lookUp(keyText);
    if (authenticated === undefined || !this.#isLive(authenticated.key)) return undefined;
    return authenticated;
  }

  account(id: string): Account | undefined {
    return this.#accountsById.get(id);
  }

  accounts(): Iterable<Account> {
    return this.#accountsById.values();
  }

  /**
   * The account that the first start made to show the service, while its key is good: a start without the demo ends
   * the key. The oldest account of the name is meant, since a later one may be anybody's. A key of its that lives longer
   * than a demo key tells that an operator gave the name to a customer, who must not pay for visitors of the status page.
   */
  demo(): Account | undefined {
    const named = [...this.accounts()].filter(({ record }) => record.name === DEMO_ACCOUNT_NAME);
    const [oldest] = named.sort((a, b) => a.record.number - b.record.number);
    if (oldest === undefined) return undefined;
    const keys = [...this.#keysById.values()].filter(
      (key) => key.accountId === oldest.record.id && this.#isLive(key),
    );
    const latestEndMs = this.#options.clock.wallMs() + DEMO_KEY_LIFE_MS;
    const areShortLived = keys.every(({ expiresAtMs }) => expiresAtMs !== null && expiresAtMs <= latestEndMs);
    return keys.length > 0 && areShortLived ? oldest : undefined;
  }

  async #apply({ isWhole, accounts, keys }: DirectoryChanges): Promise<void> {
    if (!isWhole && accounts.length + keys.length === 0) return;
    const changed = await this.#accountsOf(accounts);
    // all of it in one turn: nobody sees a part of the changes
    if (isWhole) {
      this.#accountsById = new Map();
      this.#keysById = new Map();
    }
    for (const account of changed) this.#accountsById.set(account.record.id, account);
    for (const key of keys) this.#keysById.set(key.keyId, key);
    this.#cache.clear();
  }

  async #accountsOf(records: readonly AccountRecord[]): Promise<Account[]> {
    const { cells } = this.#options;
    const all = records.map((record) => ({ record, number: record.number, allowance: allowanceOf(record) }));
    const unknown = all.filter(({ record }) => !this.#accountsById.has(record.id));
    const made = await cells.cellsOf(unknown.map(({ number, allowance }) => ({ number, allowance })));
    const meters = new Map(unknown.map(({ record }, i) => [record.id, new Meter(made[i])]));
    return all.map(({ record, allowance }) => {
      const meter = (this.#accountsById.get(record.id)?.meter ?? meters.get(record.id))!;
      meter.configure(allowance); // also of a new account: another front may have made the cell before it was changed
      return { record, allowance, meter };
    });
  }

  #lookUp(keyText: string): Authenticated | undefined {
    const key = this.#keysById.get(parseKey(keyText)?.keyId ?? '');
    if (key === undefined || !keyMatches(keyText, key.digest)) return undefined;
    const authenticated: Authenticated = { account: this.#accountsById.get(key.accountId)!, key };
    this.#cache.set(keyText, authenticated);
    return authenticated;
  }

  /** A revocation holds from the moment it is known, whatever the wall clock says of its time. */
  #isLive(key: KeyRecord): boolean {
    if (key.revokedAtMs !== null) return false;
    return key.expiresAtMs === null || this.#options.clock.wallMs() < key.expiresAtMs;
  }
}
