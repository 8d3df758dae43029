import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { DirectoryChanges, DirectoryReader, Ledger } from '../ledger/ledger.ts';
import type { AccountRecord, KeyRecord } from '../ledger/records.ts';
import { keyMatches, parseKey } from './api-keys.ts';
import type { Cells } from './cells.ts';
import { Meter } from './meter.ts';
import { type Allowance, allowanceOf } from './tiers.ts';

/** An account until its record changes. The next object for the account has the same meter. */
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
  /** Whether several nodes serve these accounts. Then all refuse a key within a second after any of them revoked it. */
  readonly isShared?: boolean;
}

/** The name of the account that the first start creates. */
export const DEMO_ACCOUNT_NAME = 'demo';
/** A demo key that was printed or left in a file is useless a day after the last start. */
export const DEMO_KEY_LIFE_MS = 24 * 60 * 60_000;
/** How long a node of several may serve by its view of accounts and keys while it cannot read the ledger. */
const SHARED_VIEW_AGE_MAX_MS = 1_000;

/**
 * Holds all accounts and keys in memory. The ledger pushes every change. On a node of several, authentication fails closed
 * when the ledger has not confirmed the view for 1 second.
 */
export class AccountDirectory implements DirectoryReader {
  readonly #options: AccountDirectoryOptions;
  #accountsById = new Map<string, Account>();
  #keysById = new Map<string, KeyRecord>();
  /** Monotonic time until which the view may be used. */
  #servesToMs = Number.NEGATIVE_INFINITY;
  /** Resolves when the last change was applied: changes are applied one after the other. */
  #lastChange: Promise<void> = Promise.resolve();
  #closed = false;
  /** By full key text, in memory only. Emptied whenever the view changes, so that it holds only keys that exist. */
  readonly #cache = new Map<string, Authenticated>();

  private constructor(options: AccountDirectoryOptions) {
    this.#options = options;
  }

  /** Reads all accounts and keys, and follows the ledger. Rejects when the ledger cannot be read. */
  static async open(options: AccountDirectoryOptions): Promise<AccountDirectory> {
    const accounts = new AccountDirectory(options);
    try {
      await options.ledger.follow(accounts);
    } catch (error) {
      throw new Error('the accounts and keys cannot be read from the ledger', { cause: error });
    }
    return accounts;
  }

  /** To be called when no request uses the directory any more. Changes then no longer wait for it. */
  close(): void {
    this.#closed = true;
  }

  /** Called by the ledger: see DirectoryReader. */
  directoryChanged(changes: DirectoryChanges, readAtMs: number): Promise<void> {
    this.#lastChange = this.#lastChange.then(async () => {
      if (this.#closed) return;
      try {
        await this.#apply(changes);
        this.#servesToMs = this.#options.isShared
          ? readAtMs + SHARED_VIEW_AGE_MAX_MS
          : Number.POSITIVE_INFINITY;
      } catch (error) {
        this.#servesToMs = Number.NEGATIVE_INFINITY; // the view lacks this change
        throw error;
      }
    });
    return this.#lastChange;
  }

  /**
   * Returns the account and key of the text; undefined for a key that is mistyped, unknown, expired or revoked. Returns the
   * same object for the same key until the directory changes. Throws ApiError `storage_unavailable` when the view is too
   * old. A Map finds the text by a keyed hash and compares it only with equal hashes, so its timing tells a guesser
   * nothing.
   */
  authenticate(keyText: string, nowMs = this.#options.clock.monotonicMs()): Authenticated | undefined {
    if (nowMs > this.#servesToMs) {
      throw new ApiError('storage_unavailable', {
        message: 'The service cannot check API keys now. Retry after the number of seconds in Retry-After.',
        retryAfterS: 5,
      });
    }
    return this.authenticateByView(keyText);
  }

  /**
   * Does what `authenticate` does, however old the view is: for the health of the service, which spends nothing and answers
   * while the ledger is away.
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
   * Returns the demo account, which the first start created, while it has a valid key: a start without the demo ends the key.
   * Only the oldest account of that name can be it. When one of its keys lives longer than a demo key, an operator gave the
   * name to a customer, who must not pay for visitors of the status page.
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
    // All in one turn, so that no request sees a part of the changes.
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
      meter.configure(allowance); // also for a new account, whose cell another front may have made with earlier limits
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

  /** Whether the key is valid now. A revocation holds as soon as it is known, whatever time it has. */
  #isLive(key: KeyRecord): boolean {
    if (key.revokedAtMs !== null) return false;
    return key.expiresAtMs === null || this.#options.clock.wallMs() < key.expiresAtMs;
  }
}
