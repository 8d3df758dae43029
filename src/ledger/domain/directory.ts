import { isDeepStrictEqual } from 'node:util';
import { type Directory, type DirectoryChanges, LedgerError } from '../ledger.ts';
import { type Body, type Store, tx } from '../store.ts';
import { ACCOUNTS, COUNTS, DIRECTORY_CHANGES, type DirectoryChange, increase, KEYS } from '../tables.ts';
import type { Auditor } from './auditor.ts';

/** All changes of accounts, keys and revocations take this lock, so that versions are committed in order. */
export const DIRECTORY_LOCK = 'directory';
const LOCKS = [DIRECTORY_LOCK];
/** Changes that are listed. A reader that is further behind reads the whole directory. */
const CHANGES_MAX = 1_024;

/** Accounts and keys. */
export function directoryIn(store: Store): Directory {
  return {
    directoryChanges: (since) => store.read(() => changesSince(since)),

    accounts: () => store.read(allAccounts),

    keys: () => store.read(allKeys),

    createAccount: (account) =>
      store.write(LOCKS, function* () {
        const stored = yield* tx.get(ACCOUNTS, account.id);
        if (stored !== undefined) {
          if (isDeepStrictEqual(stored, { ...account, number: stored.number })) return stored;
          throw new LedgerError('conflict', `account ${account.id} exists with other content`);
        }
        const created = { ...account, number: yield* increase('accounts', 1) };
        yield* tx.put(ACCOUNTS, created.id, created);
        yield* noteChange(['account', created.id]);
        return created;
      }),

    putAccount: (account) =>
      store.write(LOCKS, function* () {
        const stored = yield* tx.get(ACCOUNTS, account.id);
        if (stored === undefined) throw new LedgerError('refused', `there is no account ${account.id}`);
        if (stored.number !== account.number)
          throw new LedgerError(
            'refused',
            `account ${account.id} has number ${stored.number}, which never changes`,
          );
        if (isDeepStrictEqual(stored, account)) return;
        yield* tx.put(ACCOUNTS, account.id, account);
        yield* noteChange(['account', account.id]);
      }),

    putKey: (key) =>
      store.write(LOCKS, function* () {
        const { keyId, accountId } = key;
        if ((yield* tx.get(ACCOUNTS, accountId)) === undefined)
          throw new LedgerError('refused', `there is no account ${accountId}`);
        const stored = yield* tx.get(KEYS, keyId);
        if (isDeepStrictEqual(stored, key)) return;
        if (stored !== undefined && stored.accountId !== accountId)
          throw new LedgerError('conflict', `key ${keyId} belongs to another account`);
        if (stored === undefined) yield* increase('keys', 1);
        yield* tx.put(KEYS, keyId, key);
        yield* noteChange(['key', keyId]);
      }),
  };
}

/** Begins the next version of the directory, and returns it. Runs in the transaction of the change, under DIRECTORY_LOCK. */
export function* noteChange(change: DirectoryChange): Body<number> {
  const version = yield* increase('directoryVersion', 1);
  yield* tx.put(DIRECTORY_CHANGES, version, change);
  if (version > CHANGES_MAX) yield* tx.remove(DIRECTORY_CHANGES, [version - CHANGES_MAX]);
  return version;
}

export function* directoryVersion(): Body<number> {
  return (yield* tx.get(COUNTS, 'directoryVersion')) ?? 0;
}

/** See Directory.directoryChanges. */
export function* changesSince(since: number | undefined): Body<DirectoryChanges> {
  const version = yield* directoryVersion();
  const listed =
    since === undefined || since >= version ? [] : yield* tx.range(DIRECTORY_CHANGES, { from: since + 1 });
  // more has changed than is listed, or `since` is newer than this directory
  if (since === undefined || listed.length !== version - since) {
    return { version, isWhole: true, accounts: yield* allAccounts(), keys: yield* allKeys(), revoked: [] };
  }
  const idsOf = (kind: DirectoryChange[0]) => {
    const ids = listed.filter(({ value: [of] }) => of === kind).map(({ value: [, id] }) => id);
    return [...new Set(ids)];
  };
  return {
    version,
    isWhole: false,
    accounts: (yield* tx.getMany(ACCOUNTS, idsOf('account'))).filter((found) => found !== undefined),
    keys: (yield* tx.getMany(KEYS, idsOf('key'))).filter((found) => found !== undefined),
    revoked: idsOf('lot'),
  };
}

function* allAccounts() {
  const accounts = (yield* tx.range(ACCOUNTS, {})).map(({ value }) => value);
  return accounts.sort((a, b) => a.number - b.number);
}

function* allKeys() {
  return (yield* tx.range(KEYS, {})).map(({ value }) => value);
}

/** Checks that the numbers of accounts are dense, and that every key belongs to an account. */
export async function auditDirectory(auditor: Auditor): Promise<void> {
  const accounts = await auditor.records(ACCOUNTS, 'accounts');
  const numbers = [...accounts.values()].map(({ number }) => number).sort((a, b) => a - b);
  for (const [i, number] of numbers.entries())
    if (number !== i + 1)
      auditor.problem(`account numbers are not dense: ${number} stands at place ${i + 1}`);
  for (const [keyId, { accountId }] of await auditor.records(KEYS, 'keys'))
    if (!accounts.has(accountId)) auditor.problem(`key ${keyId} belongs to no account`);
}
