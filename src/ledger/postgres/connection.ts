import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { messageOf } from '../../core/assert.ts';
import { systemClock } from '../../core/clock.ts';
import { ApiError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { LedgerError } from '../ledger.ts';

/** A statement. PostgreSQL prepares a named one once for each connection. */
export interface Statement {
  /** Unique among all statements, at most 63 characters; '' for a statement that is not prepared. */
  readonly name: string;
  readonly text: string;
  /** True when the statement may work for minutes before it returns its first row. */
  readonly isLong?: true;
}

export type Row = Readonly<Record<string, unknown>>;

/** Runs statements one after the other on one connection. */
export interface Session {
  /** Resolves with the rows of the statement. `bigint` columns are numbers. */
  run<R extends object = Row>(statement: Statement, values?: readonly unknown[]): Promise<R[]>;
}

/** A connection of its own, for advisory locks, which last as long as their connection. */
export interface HeldSession extends Session {
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`. Of several hosts (`a:5432,b:5432`), uses the one that is no standby. */
  readonly url: string;
  readonly log: Log;
  /** The most open connections, without those of `hold`. */
  readonly connections?: number;
  /** The `application_name` in PostgreSQL. */
  readonly name?: string;
  /** How long a call waits in all for PostgreSQL to come back before it fails with `storage_unavailable`. */
  readonly patienceMs?: number;
  /** See `synchronous_commit` of PostgreSQL. */
  readonly synchronousCommit?: 'on' | 'remote_write';
  /** A connection on which nothing comes for this long counts as lost: a partition gives no sign. */
  readonly silenceMs?: number;
}

const CONNECTIONS = 4;
const PATIENCE_MS = 2_000;
/** The most calls that may wait for a connection. Further calls are refused. */
const WAITING_MAX = 1_024;
const CONNECT_TIMEOUT_MS = 1_000;
/** Used until the first connection is open: a start can wait for a busy server, since no client waits for the start. */
const FIRST_CONNECT_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 500;
const SILENCE_MS = 10_000;
/** For statements with `isLong`. */
const LONG_SILENCE_MS = 600_000;
const RETRY_FIRST_MS = 20;
const RETRY_MAX_MS = 500;
const INT8 = 20;

/**
 * A pool of connections to PostgreSQL. When a connection is lost during a call, the outcome is unknown, and the call is made
 * again on another connection. So a call must have the same result when it is repeated, by the ids that it carries. No call is
 * ever cancelled: after a cancel PostgreSQL may report a commit that no standby has (warning 01000), and its outcome counts as
 * unknown.
 */
export class Database {
  readonly #options: DatabaseOptions;
  readonly #servers: readonly string[];
  readonly #idle: Connection[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #closing = new AbortController();
  /** Index of the server that took the last connection. */
  #server = 0;
  #open = 0;
  #isAway = false;
  #hasConnected = false;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#servers = serversOf(options.url);
  }

  /** True from a failure to connect until a connection succeeds again. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Runs one statement in a transaction of its own. */
  run<R extends object = Row>(statement: Statement, values: readonly unknown[] = []): Promise<R[]> {
    return this.#repeat(() => this.#on((connection) => connection.run<R>(statement, values)));
  }

  /** Runs `body` in one transaction (read committed). May run `body` more than once. */
  transact<T>(body: (session: Session) => Promise<T>): Promise<T> {
    return this.#repeat(() => this.#on((connection) => connection.transact(body)));
  }

  /**
   * Like `transact`, but repeats the transaction while the outcome is unknown, and fails only when nothing was stored.
   * `isUnknown` says that an earlier attempt has an unknown outcome.
   */
  settle<T>(body: (session: Session) => Promise<T>, isUnknown = false): Promise<T> {
    return this.#repeat(() => this.#on((connection) => connection.transact(body)), { isUnknown });
  }

  /**
   * Runs `body` once, with `isTransaction` in one transaction. When it throws, `isUnknownAfter` tells whether it may have
   * stored anything.
   */
  attempt<T>(body: (session: Session) => Promise<T>, isTransaction = false): Promise<T> {
    return this.#on((connection) => (isTransaction ? connection.transact(body) : body(connection)));
  }

  /** Whether the call that threw this error may have stored something. */
  isUnknownAfter(error: unknown): boolean {
    return fateOf(error) === 'unknown';
  }

  /** Opens a connection outside the pool. When it is lost, it is not opened again. */
  hold(): Promise<HeldSession> {
    return this.#repeat(() => this.#connect());
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const waiting of this.#waiting.splice(0)) waiting();
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
  }

  async #on<T>(body: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#take();
    try {
      return await body(connection);
    } finally {
      this.#give(connection);
    }
  }

  async #repeat<T>(attempt: () => Promise<T>, settling?: { readonly isUnknown: boolean }): Promise<T> {
    const patienceMs = this.#options.patienceMs ?? PATIENCE_MS;
    let mustSettle = settling?.isUnknown ?? false;
    const begunMs = systemClock.monotonicMs();
    for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(2 * waitMs, RETRY_MAX_MS)) {
      try {
        return await attempt();
      } catch (error) {
        const fate = fateOf(error);
        if (fate === 'final' || this.#closing.signal.aborted) throw error;
        if (fate === 'unknown' && settling !== undefined) mustSettle = true;
        const isPatient = systemClock.monotonicMs() - begunMs < patienceMs;
        if (!mustSettle && (fate === 'full' || !isPatient)) {
          this.#options.log.warn(
            { cause: messageOf(error) },
            'ledger: PostgreSQL did not take a call in time: the request is refused',
          );
          throw new ApiError('storage_unavailable', { retryAfterS: 1 });
        }
        await sleep(waitMs, undefined, { signal: this.#closing.signal }).catch(() => {});
      }
    }
  }

  async #take(): Promise<Connection> {
    for (;;) {
      if (this.#closing.signal.aborted) throw new LedgerError('stopped', 'the ledger is closed');
      const idle = this.#idle.pop();
      if (idle !== undefined && !idle.isLost) return idle;
      if (idle !== undefined) this.#open--;
      if (this.#open < (this.#options.connections ?? CONNECTIONS)) {
        this.#open++;
        try {
          return await this.#connect();
        } catch (error) {
          this.#open--;
          this.#waiting.shift()?.();
          throw error;
        }
      }
      if (this.#waiting.length >= WAITING_MAX) throw new ApiError('storage_unavailable', { retryAfterS: 1 });
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #give(connection: Connection): void {
    if (connection.isLost || this.#closing.signal.aborted) {
      this.#open--;
      void connection.close();
    } else {
      this.#idle.push(connection);
    }
    this.#waiting.shift()?.();
  }

  /** Tries each server once, starting with the one that took the last connection. */
  async #connect(): Promise<Connection> {
    const failures: string[] = [];
    const connectTimeoutMs = this.#hasConnected ? CONNECT_TIMEOUT_MS : FIRST_CONNECT_TIMEOUT_MS;
    for (let tried = 0; tried < this.#servers.length; tried++) {
      const server = (this.#server + tried) % this.#servers.length;
      try {
        const connection = await Connection.open(this.#servers[server], this.#options, connectTimeoutMs);
        this.#server = server;
        this.#hasConnected = true;
        if (this.#isAway) this.#options.log.info({}, 'ledger: PostgreSQL answers again');
        this.#isAway = false;
        return connection;
      } catch (error) {
        failures.push(messageOf(error));
      }
    }
    const cause = failures.join('; ');
    if (!this.#isAway)
      this.#options.log.error(
        { cause },
        'ledger: PostgreSQL does not answer: the node is not ready; check the servers in QRN_LEDGER',
      );
    this.#isAway = true;
    throw new NoConnection(`no connection to PostgreSQL: ${cause}`);
  }
}

/** Returns a connection string for each server that the URL names. A password may contain `@`. */
function serversOf(url: string): string[] {
  const [, before = '', hosts = '', after = ''] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  return hosts.split(',').map((host) => `${before}${host}${after}`);
}

/** No connection could be opened, so nothing was sent. */
class NoConnection extends Error {
  override name = 'NoConnection';
}

/** The connection was lost during a call, so whether the call was committed is unknown. */
class ConnectionLost extends Error {
  override name = 'ConnectionLost';
}

/**
 * Writes an empty message to the write-ahead log, which nobody reads, so that a transaction that only reads has something to
 * commit. When that commit ends, the synchronous standby has it and everything committed before it. Needed for reads that are
 * then acknowledged or signed: a commit whose wait for the standby was cancelled is visible, but a failover loses it.
 */
export const COMMIT_NOTHING: Statement = {
  name: 'commit_nothing',
  text: "SELECT pg_logical_emit_message(true, 'qrn', '')",
};

const BEGIN = 'BEGIN';
const COMMIT = 'COMMIT';
const ROLLBACK = 'ROLLBACK';
/**
 * Settings that the code relies on, whatever the role, the database or the URL sets. Settings that the server's release does
 * not have are skipped.
 */
const SETTINGS = {
  // The warning about a cancelled wait must arrive: see `notice` below.
  client_min_messages: 'warning',
  // No timeout may cancel a call (see Database), a wait for a lock, or a connection that holds locks.
  statement_timeout: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
  // The server soon ends the statement of a lost connection, and releases its locks.
  client_connection_check_interval: '2s',
  // It also ends the transaction of a paused process, whose locks a fence waits for.
  idle_in_transaction_session_timeout: '3s',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  // Doubles are read back exactly.
  extra_float_digits: '1',
} as const;
const SET = {
  name: '',
  text: `SELECT set_config(name, value, false) FROM pg_settings JOIN unnest($1::text[], $2::text[]) AS s(name, value) USING (name)`,
};
/** Counts the connections of this name that wait for a standby: abandoned ones wait at the server until a standby follows. */
const SERVER = {
  name: '',
  text: `SELECT pg_is_in_recovery() AS is_standby, (SELECT count(*) FROM pg_stat_activity
    WHERE wait_event = 'SyncRep' AND datname = current_database() AND application_name = current_setting('application_name')) AS waiting`,
};
/** With this many of them no connection is opened, since each abandoned call would leave one more. */
const WAITING_FOR_STANDBY_MAX = 8;

class Connection implements HeldSession {
  readonly #client: pg.Client;
  readonly #silenceMs: number;
  #isLost = false;
  #isUnknown = false;

  private constructor(client: pg.Client, silenceMs: number) {
    this.#client = client;
    this.#silenceMs = silenceMs;
    const end = () => {
      this.#isLost = true;
    };
    client.on('error', end);
    client.on('end', end);
    // PostgreSQL has given up the wait for a standby, so the commit may be lost with the primary.
    client.on('notice', ({ code }) => {
      if (code === UNKNOWN_COMMIT) this.#isUnknown = true;
    });
  }

  static async open(server: string, options: DatabaseOptions, connectTimeoutMs: number): Promise<Connection> {
    const { name, synchronousCommit, silenceMs = SILENCE_MS } = options;
    const client = new pg.Client({
      connectionString: server,
      application_name: name ?? 'qrn',
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      types: {
        getTypeParser: (oid, format) => (oid === INT8 ? integerOf : pg.types.getTypeParser(oid, format)),
      },
    });
    const connection = new Connection(client, silenceMs);
    try {
      await client.connect();
      const settings = { ...SETTINGS, synchronous_commit: synchronousCommit ?? 'on' };
      await connection.run(SET, [Object.keys(settings), Object.values(settings)]);
      const [{ is_standby, waiting }] = await connection.run<{ is_standby: boolean; waiting: number }>(
        SERVER,
      );
      if (is_standby) throw new Error('the server is a standby');
      if (waiting >= WAITING_FOR_STANDBY_MAX)
        throw new Error(`${waiting} connections wait for a standby of the server: start the standby`);
      await connection.#followStandby();
      return connection;
    } catch (error) {
      void connection.close();
      throw error;
    }
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /**
   * Waits until the standby has all commits. A primary that restarted without its standby shows commits that the standby lacks
   * and that a failover loses. The restart ended all connections, so one commit at the opening of each is enough.
   */
  async #followStandby(): Promise<void> {
    try {
      await this.run(COMMIT_NOTHING);
    } catch (error) {
      throw new Error(
        `the server does not commit; if its standby is away, start the standby: ${messageOf(error)}`,
      );
    }
  }

  async run<R extends object>(statement: Statement, values: readonly unknown[] = []): Promise<R[]> {
    const { name, text, isLong } = statement;
    const { rows } = await this.#query<R>({ name, text, values: [...values] }, isLong);
    return rows;
  }

  async transact<T>(body: (session: Session) => Promise<T>): Promise<T> {
    await this.#query({ text: BEGIN });
    let result: T;
    try {
      result = await body(this);
    } catch (error) {
      if (!this.#isLost) await this.#query({ text: ROLLBACK }).catch(() => {}); // the first error tells more
      throw error;
    }
    await this.#query({ text: COMMIT });
    return result;
  }

  /** Closes the connection in good order, or after CLOSE_TIMEOUT_MS: the server may be gone. */
  async close(): Promise<void> {
    const timeout = setTimeout(() => this.#client.connection.stream.destroy(), CLOSE_TIMEOUT_MS);
    await this.#client.end().catch(() => {});
    clearTimeout(timeout);
  }

  async #query<R extends object>(query: pg.QueryConfig, isLong = false): Promise<pg.QueryResult<R>> {
    this.#isUnknown = false;
    const { stream } = this.#client.connection;
    const silenceMs = isLong ? LONG_SILENCE_MS : this.#silenceMs;
    const timeout = setTimeout(() => stream.destroy(), silenceMs);
    const heard = () => void timeout.refresh();
    stream.on('data', heard);
    try {
      const result = await this.#client.query<R>(query);
      if (this.#isUnknown) throw new ConnectionLost('PostgreSQL gave up the wait for a standby');
      return result;
    } catch (error) {
      const fate = fateOf(error);
      if (fate === 'unknown') this.#isLost = true;
      if (codeOf(error) !== undefined || error instanceof ConnectionLost) throw error;
      this.#isLost = true;
      throw new ConnectionLost(`the connection to PostgreSQL was lost: ${messageOf(error)}`);
    } finally {
      clearTimeout(timeout);
      stream.off('data', heard);
    }
  }
}

/** SQLSTATE of a warning: here that the wait for a standby was cancelled. */
const UNKNOWN_COMMIT = '01000';
/** Lost connections (08), an administrator's stop or a crash (57), a transaction that was left open for too long (25P03). */
const UNKNOWN = /^(?:08|57|25P03)/;
/** Rolled back: a conflict with another transaction (40), or the server is a standby now (25006). */
const AGAIN = /^(?:40|25006)/;
/** The server has no disk, memory or connections left. */
const FULL = /^53/;

/** Classifies a failed call. With `again` and `full` it stored nothing; `final` means that repeating it does not help. */
function fateOf(error: unknown): 'unknown' | 'again' | 'full' | 'final' {
  if (error instanceof ConnectionLost) return 'unknown';
  if (error instanceof NoConnection) return 'again';
  const code = codeOf(error);
  if (code === undefined) return 'final';
  if (UNKNOWN.test(code)) return 'unknown';
  return AGAIN.test(code) ? 'again' : FULL.test(code) ? 'full' : 'final';
}

function codeOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

function integerOf(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new LedgerError('damaged', `PostgreSQL holds the number ${text}`);
  return value;
}
