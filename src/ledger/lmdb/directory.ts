import { isDeepStrictEqual } from 'node:util';
import { type Directory, type DirectoryChanges, LedgerError } from '../ledger.ts';
import type { AccountRecord, KeyRecord } from '../records.ts';
import type { GroupWriter } from './group-writer.ts';
import { count, increase, noteChange, type Tables } from './tables.ts';

/** How long a change waits for those who serve by the directory: a front looks four times a second. */
const FOLLOW_DEADLINE_MS = 2_000;

/** Accounts and keys. */
export class LmdbDirectory implements Directory {
  readonly #tables: Tables;
  readonly #writer: GroupWriter;
  /** The version that each of those who serve by the directory goes by. */
  readonly #applied = new Map<string, number>();
  /** Changes that wait for them. */
  readonly #waiting = new Set<() => void>();

  constructor(tables: Tables, writer: GroupWriter) {
    this.#tables = tables;
    this.#writer = writer;
  }

  async directoryVersion(): Promise<number> {
    return count(this.#tables.meta, 'directoryVersion');
  }

  /** One moment of the folder: everything is read in one turn. */
  async directoryChanges(since: number | undefined): Promise<DirectoryChanges> {
    const { accounts, directoryChanges, keys, meta } = this.#tables;
    const version = count(meta, 'directoryVersion');
    const listed =
      since === undefined ? [] : [...directoryChanges.entries({ from: since + 1 })].map(({ value }) => value);
    // more has changed than is listed
    if (since === undefined || listed.length !== version - since) {
      return { version, isWhole: true, accounts: this.#accounts(), keys: this.#keys() };
    }
    const idsOf = (kind: string) => new Set(listed.filter(([of]) => of === kind).map(([, id]) => id));
    return {
      version,
      isWhole: false,
      accounts: [...idsOf('account')].flatMap((id) => accounts.get(id) ?? []),
      keys: [...idsOf('key')].flatMap((id) => keys.get(id) ?? []),
    };
  }

  async directoryApplied(reader: string, version: number): Promise<void> {
    this.#applied.set(reader, version);
    for (const look of this.#waiting) look();
  }

  /** Resolves with true when all who serve by the directory go by what it is now, with false when that takes too long. */
  confirmed(): Promise<boolean> {
    const version = count(this.#tables.meta, 'directoryVersion');
    const isConfirmed = () => [...this.#applied.values()].every((applied) => applied >= version);
    if (isConfirmed()) return Promise.resolve(true);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const look = () => isConfirmed() && resolve(true);
    const timer = setTimeout(() => resolve(false), FOLLOW_DEADLINE_MS);
    this.#waiting.add(look);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(look);
    });
  }

  async accounts(): Promise<AccountRecord[]> {
    return this.#accounts();
  }

  async keys(): Promise<KeyRecord[]> {
    return this.#keys();
  }

  #accounts(): AccountRecord[] {
    const accounts = [...this.#tables.accounts.entries()].map(({ value }) => value);
    return accounts.sort((a, b) => a.number - b.number);
  }

  #keys(): KeyRecord[] {
    return [...this.#tables.keys.entries()].map(({ value }) => value);
  }

  /** The same account again gives the number it has; another account under its id is a `conflict`. */
  createAccount(account: Omit<AccountRecord, 'number'>): Promise<AccountRecord> {
    return this.#writer.submit(() => {
      const { accounts, meta } = this.#tables;
      const stored = accounts.get(account.id);
      if (stored !== undefined) {
        if (isDeepStrictEqual(stored, { ...account, number: stored.number })) return stored;
        throw new LedgerError('conflict', `account ${account.id} exists with other content`);
      }
      const created = { ...account, number: increase(meta, 'accounts', 1) };
      accounts.put(created.id, created);
      noteChange(this.#tables, ['account', created.id]);
      return created;
    });
  }

  putAccount(account: AccountRecord): Promise<void> {
    return this.#writer.submit(() => {
      const { accounts } = this.#tables;
      const stored = accounts.get(account.id);
      if (stored === undefined) throw new LedgerError('refused', `there is no account ${account.id}`);
      if (stored.number !== account.number) {
        throw new LedgerError(
          'refused',
          `account ${account.id} has number ${stored.number}, which never changes`,
        );
      }
      if (isDeepStrictEqual(stored, account)) return;
      accounts.put(account.id, account);
      noteChange(this.#tables, ['account', account.id]);
    });
  }

  putKey(key: KeyRecord): Promise<void> {
    return this.#writer.submit(() => {
      const { accounts, keys, meta } = this.#tables;
      if (!accounts.has(key.accountId))
        throw new LedgerError('refused', `there is no account ${key.accountId}`);
      const stored = keys.get(key.keyId);
      if (isDeepStrictEqual(stored, key)) return;
      if (stored !== undefined && stored.accountId !== key.accountId) {
        throw new LedgerError('conflict', `key ${key.keyId} belongs to another account`);
      }
      if (stored === undefined) increase(meta, 'keys', 1);
      keys.put(key.keyId, key);
      noteChange(this.#tables, ['key', key.keyId]);
    });
  }
}
