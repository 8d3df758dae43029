import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../core/clock.ts';
import { LOTS_LOCK } from '../domain/lots.ts';
import { type Directory, type DirectoryChanges, LedgerError } from '../ledger.ts';
import type { AccountRecord, KeyRecord } from '../records.ts';
import type { Body } from '../store.ts';
import { type Database, kept, type Session } from './connection.ts';
import { inSession } from './postgres-store.ts';
import { lockIn } from './statements.ts';

/** Changes that a reader may be behind; one that is further behind reads all of the directory. */
const CHANGES_MAX = 1_024;

const VERSION = { name: 'directory_version', text: 'SELECT version FROM qrn.directory_version' };
const KEPT_VERSION = kept(VERSION);
const LOCK = { name: 'directory_lock', text: 'SELECT version FROM qrn.directory_version FOR UPDATE' };
const NEXT_VERSION = {
  name: 'directory_next_version',
  text: 'UPDATE qrn.directory_version SET version = version + 1 RETURNING version',
};
/** One statement sees one moment of the database. */
const CHANGES = {
  name: 'directory_changes',
  text: `SELECT version, since = -1 AS is_whole,
  (SELECT coalesce(json_agg(record ORDER BY number), '[]') FROM qrn.account WHERE changed_version > since) AS accounts,
  (SELECT coalesce(json_agg(record ORDER BY key_id COLLATE "C"), '[]') FROM qrn.key WHERE changed_version > since) AS keys
FROM (
  SELECT version, CASE WHEN $1::bigint BETWEEN version - ${CHANGES_MAX} AND version THEN $1 ELSE -1 END AS since
  FROM qrn.directory_version
) AS directory`,
};
const KEPT_CHANGES = kept(CHANGES);
const APPLIED = {
  name: 'directory_applied',
  text: `INSERT INTO qrn.directory_reader (node, reader, version, at_ms) VALUES ($1, $2, $3, $4)
ON CONFLICT (node, reader) DO UPDATE SET version = excluded.version, at_ms = excluded.at_ms`,
};
const CLOSED = {
  name: 'directory_closed',
  text: 'DELETE FROM qrn.directory_reader WHERE node = $1 AND reader = $2',
};
const FORGET_READERS = {
  name: 'directory_forget_readers',
  text: 'DELETE FROM qrn.directory_reader WHERE node = $1',
};
const BEHIND = {
  name: 'directory_behind',
  text: `SELECT DISTINCT node.name FROM qrn.directory_reader AS reader JOIN qrn.node ON node.number = reader.node
WHERE node.state = 'live' AND reader.version < $1 ORDER BY node.name`,
};
const ACCOUNTS = {
  name: 'directory_accounts',
  text: 'SELECT record FROM qrn.account ORDER BY number',
};
const KEYS = { name: 'directory_keys', text: 'SELECT record FROM qrn.key ORDER BY key_id COLLATE "C"' };
const ACCOUNT = { name: 'directory_account', text: 'SELECT record FROM qrn.account WHERE id = $1' };
const NEXT_NUMBER = {
  name: 'directory_next_number',
  text: 'SELECT coalesce(max(number), 0) + 1 AS number FROM qrn.account',
};
const PUT_ACCOUNT = {
  name: 'directory_put_account',
  text: `INSERT INTO qrn.account (id, number, changed_version, record) VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE SET changed_version = excluded.changed_version, record = excluded.record`,
};
const KEY = { name: 'directory_key', text: 'SELECT record FROM qrn.key WHERE key_id = $1' };
const PUT_KEY = {
  name: 'directory_put_key',
  text: `INSERT INTO qrn.key (key_id, account_id, changed_version, record) VALUES ($1, $2, $3, $4)
ON CONFLICT (key_id) DO UPDATE SET changed_version = excluded.changed_version, record = excluded.record`,
};

interface ChangesRow extends Omit<DirectoryChanges, 'isWhole'> {
  readonly is_whole: boolean;
}

interface Stored<Record> {
  readonly record: Record;
}

/** Makes changes of the directory wait for each other until the transaction ends, so that versions commit in order. */
export function lockDirectory(session: Session): Promise<unknown> {
  return session.run(LOCK);
}

/** Begins the next version of the directory, in the transaction of the change, which has locked the directory. */
async function nextDirectoryVersion(session: Session): Promise<number> {
  const [{ version }] = await session.run<{ version: number }>(NEXT_VERSION);
  return version;
}

/** See EntropyOptions of domain/lots.ts. */
export function revokingIn(database: Database) {
  return (_lotId: string, body: () => Body<boolean>): Promise<void> =>
    database.transact(async (session) => {
      await lockDirectory(session);
      await lockIn(session, [LOTS_LOCK]);
      if (await inSession(session, body())) await nextDirectoryVersion(session);
    });
}

/** Names of the live nodes on which somebody serves by an older version of the directory than this one. */
export async function nodesBehind(database: Database, version: number): Promise<string[]> {
  const rows = await database.run<{ name: string }>(BEHIND, [version]);
  return rows.map(({ name }) => name);
}

/**
 * Accounts and keys, which every node and every command may write. A reader goes by its version, so no version is given before a
 * standby has it: after a failover another change might bear its number, and no reader would look for it.
 */
export class PostgresDirectory implements Directory {
  readonly #database: Database;
  /** The node whose readers these are; undefined for a command, which has none. */
  readonly #node: { readonly number: number } | undefined;
  readonly #clock: Clock;
  /** A version that a standby has. */
  #kept: number | undefined;

  constructor(database: Database, node: { readonly number: number } | undefined, clock: Clock) {
    this.#database = database;
    this.#node = node;
    this.#clock = clock;
  }

  /** Forgets the readers of this node's former life, for which no command is to wait. */
  async forgetReaders(): Promise<void> {
    if (this.#node !== undefined) await this.#database.run(FORGET_READERS, [this.#node.number]);
  }

  async directoryVersion(): Promise<number> {
    let [{ version }] = await this.#database.run<{ version: number }>(VERSION);
    if (version !== this.#kept) [{ version }] = await this.#database.run<{ version: number }>(KEPT_VERSION);
    this.#kept = version;
    return version;
  }

  async directoryChanges(since: number | undefined): Promise<DirectoryChanges> {
    const asked = [since ?? null];
    let [row] = await this.#database.run<ChangesRow>(CHANGES, asked);
    if (row.version !== this.#kept) [row] = await this.#database.run<ChangesRow>(KEPT_CHANGES, asked);
    const { version, is_whole: isWhole, accounts, keys } = row;
    this.#kept = version;
    return { version, isWhole, accounts, keys };
  }

  async directoryApplied(reader: string, version: number): Promise<void> {
    const node = this.#node?.number;
    if (version === Number.MAX_SAFE_INTEGER) await this.#database.run(CLOSED, [node, reader]);
    else await this.#database.run(APPLIED, [node, reader, version, this.#clock.wallMs()]);
  }

  async accounts(): Promise<AccountRecord[]> {
    const rows = await this.#database.run<Stored<AccountRecord>>(ACCOUNTS);
    return rows.map(({ record }) => record);
  }

  async keys(): Promise<KeyRecord[]> {
    const rows = await this.#database.run<Stored<KeyRecord>>(KEYS);
    return rows.map(({ record }) => record);
  }

  /** The same account again gives the number it has; another account under its id is a `conflict`. */
  createAccount(account: Omit<AccountRecord, 'number'>): Promise<AccountRecord> {
    return this.#database.transact(async (session) => {
      await lockDirectory(session);
      const [stored] = await session.run<Stored<AccountRecord>>(ACCOUNT, [account.id]);
      if (stored !== undefined) {
        if (isDeepStrictEqual(stored.record, { ...account, number: stored.record.number }))
          return stored.record;
        throw new LedgerError('conflict', `account ${account.id} exists with other content`);
      }
      const [{ number }] = await session.run<{ number: number }>(NEXT_NUMBER);
      const created = { ...account, number };
      await putAccount(session, created);
      return created;
    });
  }

  putAccount(account: AccountRecord): Promise<void> {
    return this.#database.transact(async (session) => {
      await lockDirectory(session);
      const [stored] = await session.run<Stored<AccountRecord>>(ACCOUNT, [account.id]);
      if (stored === undefined) throw new LedgerError('refused', `there is no account ${account.id}`);
      const { number } = stored.record;
      if (number !== account.number)
        throw new LedgerError('refused', `account ${account.id} has number ${number}, which never changes`);
      if (!isDeepStrictEqual(stored.record, account)) await putAccount(session, account);
    });
  }

  putKey(key: KeyRecord): Promise<void> {
    const { keyId, accountId } = key;
    return this.#database.transact(async (session) => {
      await lockDirectory(session);
      const [account] = await session.run(ACCOUNT, [accountId]);
      if (account === undefined) throw new LedgerError('refused', `there is no account ${accountId}`);
      const [stored] = await session.run<Stored<KeyRecord>>(KEY, [keyId]);
      if (isDeepStrictEqual(stored?.record, key)) return;
      if (stored !== undefined && stored.record.accountId !== accountId)
        throw new LedgerError('conflict', `key ${keyId} belongs to another account`);
      const version = await nextDirectoryVersion(session);
      await session.run(PUT_KEY, [keyId, accountId, version, JSON.stringify(key)]);
    });
  }
}

async function putAccount(session: Session, account: AccountRecord): Promise<void> {
  const version = await nextDirectoryVersion(session);
  await session.run(PUT_ACCOUNT, [account.id, account.number, version, JSON.stringify(account)]);
}
