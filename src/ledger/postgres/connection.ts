import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { messageOf } from '../../core/assert.ts';
import { systemClock } from '../../core/clock.ts';
import { ApiError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { LedgerError } from '../ledger.ts';

/** One statement of this folder. PostgreSQL plans it once for each connection, under its name. */
export interface Statement {
  /** Unique among all statements; at most 63 characters. */
  readonly name: string;
  readonly text: string;
  /** It may work for minutes before it gives its first row. */
  readonly isLong?: true;
}

export type Row = Readonly<Record<string, unknown>>;

/** Runs statements one after the other on one connection. */
export interface Session {
  /** The rows that the statement gives. `bigint` columns are numbers. */
  run<R extends object = Row>(statement: Statement, values?: readonly unknown[]): Promise<R[]>;
}

/** A connection of its own, for what lives as long as the connection: advisory locks. */
export interface HeldSession extends Session {
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`; of several hosts, `a:5432,b:5432`, the one that is not a standby serves. */
  readonly url: string;
  readonly log: Log;
  /** Connections that are open at most, without those of `hold`. */
  readonly connections?: number;
  /** Told to PostgreSQL as `application_name`. */
  readonly name?: string;
  /** The whole time that a call waits for PostgreSQL to come back, before it fails with `storage_unavailable`. */
  readonly patienceMs?: number;
  /** See `synchronous_commit` of PostgreSQL. */
  readonly synchronousCommit?: 'on' | 'remote_write';
  /** A server that sends nothing for so long is taken for lost: a partition gives no sign of its own. */
  readonly silenceMs?: number;
}

const CONNECTIONS = 4;
const PATIENCE_MS = 2_000;
/** Calls that wait for a connection at most; the next one is refused. */
const WAITING_MAX = 1_024;
const CONNECT_TIMEOUT_MS = 1_000;
/** Until the first connection is had: a start can wait for a busy server, and no client waits for the start. */
const FIRST_CONNECT_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 500;
const SILENCE_MS = 10_000;
/** For statements that are long. */
const LONG_SILENCE_MS = 600_000;
const RETRY_FIRST_MS = 20;
const RETRY_MAX_MS = 500;
const INT8 = 20;

/**
 * Connections to PostgreSQL. Every call may run more than once: when its connection is lost, or PostgreSQL ends it, the
 * outcome is unknown, and the same call is made again on another one. So each call gives the same result the second time,
 * by the ids that it carries. Nothing is ever cancelled: after a cancel PostgreSQL may report a commit as done that no
 * standby has (warning 01000), which counts as unknown here.
 */
export class Database {
  readonly #options: DatabaseOptions;
  readonly #servers: readonly string[];
  readonly #idle: Connection[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #closing = new AbortController();
  /** Index of the server that had the last connection. */
  #server = 0;
  #open = 0;
  #isAway = false;
  #hasConnected = false;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#servers = serversOf(options.url);
  }

  /** True from the first failure to connect until a connection is had again. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** One statement in a transaction of its own. */
  run<R extends object = Row>(statement: Statement, values: readonly unknown[] = []): Promise<R[]> {
    return this.#repeat(() => this.#on((connection) => connection.run<R>(statement, values)));
  }

  /** All that `body` does in one transaction (read committed). `body` may run more than once. */
  transact<T>(body: (session: Session) => Promise<T>): Promise<T> {
    return this.#repeat(() => this.#on((connection) => connection.transact(body)));
  }

  /**
   * As `transact`, for what was decided and must come to an outcome: it is sent again for as long as the outcome is
   * unknown, and fails only when nothing was stored. `isUnknown` tells that an attempt was made before.
   */
  settle<T>(body: (session: Session) => Promise<T>, isUnknown = false): Promise<T> {
    return this.#repeat(() => this.#on((connection) => connection.transact(body)), { isUnknown });
  }

  /**
   * Gives `body` a connection, once; `isOne` makes a transaction of all that it does. Whether that was stored when this throws,
   * `isUnknownAfter` tells.
   */
  attempt<T>(body: (session: Session) => Promise<T>, isOne = false): Promise<T> {
    return this.#on((connection) => (isOne ? connection.transact(body) : body(connection)));
  }

  /** Whether something may have been stored by what threw this. */
  isUnknownAfter(error: unknown): boolean {
    return fateOf(error) === 'unknown';
  }

  /** A connection outside the pool. It is not opened again when it is lost. */
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
          this.#options.log.warn({ cause: messageOf(error) }, 'ledger: PostgreSQL could not take a call');
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

  /** Asks each server once, first the one that had the last connection. */
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
    if (!this.#isAway) this.#options.log.error({ cause }, 'ledger: PostgreSQL does not answer');
    this.#isAway = true;
    throw new NoConnection(`no connection to PostgreSQL: ${cause}`);
  }
}

/** The connection string of each server of one that names several, as `a:5432,b:5432`. A password may hold `@`. */
function serversOf(url: string): string[] {
  const [, before = '', hosts = '', after = ''] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  return hosts.split(',').map((host) => `${before}${host}${after}`);
}

/** Nothing was sent. */
class NoConnection extends Error {
  override name = 'NoConnection';
}

/** The connection was lost under a call: whether it was committed is unknown. */
class ConnectionLost extends Error {
  override name = 'ConnectionLost';
}

/**
 * An empty message in the write-ahead log, which nobody reads, makes a transaction that reads a commit of its own. It follows
 * everything that was committed before: when it ends, the synchronous standby has both. For what is acknowledged or signed by
 * being read: a commit whose wait for the standby was cancelled can be read at once, and is lost in a failover.
 */
export const COMMIT_NOTHING: Statement = {
  name: 'commit_nothing',
  text: "SELECT pg_logical_emit_message(true, 'qrn', '')",
};

const BEGIN = 'BEGIN';
const COMMIT = 'COMMIT';
const ROLLBACK = 'ROLLBACK';
/**
 * What the code relies on, whatever the role, the database or the URL sets. Settings that this release of PostgreSQL does
 * not have are passed over.
 */
const SETTINGS = {
  // The warning of a cancelled wait must come: see `notice` below.
  client_min_messages: 'warning',
  // Nothing is cancelled: see Database. A lock is waited for, and a held connection lives as long as its locks.
  statement_timeout: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
  // What a lost connection still does there ends soon, and its locks with it.
  client_connection_check_interval: '2s',
  // So does what a paused process left open: whoever fences it waits for those locks.
  idle_in_transaction_session_timeout: '3s',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  // Times and levels come back as they were stored.
  extra_float_digits: '1',
} as const;
const SET = {
  name: '',
  text: `SELECT set_config(name, value, false) FROM pg_settings JOIN unnest($1::text[], $2::text[]) AS s(name, value) USING (name)`,
};
/** Of connections of this name that were given up, some may still wait for a standby there, until one follows. */
const SERVER = {
  name: '',
  text: `SELECT pg_is_in_recovery() AS is_standby, (SELECT count(*) FROM pg_stat_activity
    WHERE wait_event = 'SyncRep' AND datname = current_database() AND application_name = current_setting('application_name')) AS waiting`,
};
/** With more of them a connection is not opened: each call that is given up would leave one more. */
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
    // What PostgreSQL says when it gave up the wait for a standby: the commit may be lost with the primary.
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
   * A primary that restarted without its standby shows commits that the standby lacks, and a failover loses them. All
   * connections ended with it, so one commit when a connection opens is enough to show nothing of that kind.
   */
  async #followStandby(): Promise<void> {
    try {
      await this.run(COMMIT_NOTHING);
    } catch (error) {
      throw new Error(`the server commits nothing; if its standby is away, start it: ${messageOf(error)}`);
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

  /** Says goodbye, and does not wait for long for an answer: nobody may be there any more. */
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

/** `successful_completion` with a warning. */
const UNKNOWN_COMMIT = '01000';
/** Lost connections (08), an administrator's stop or a crash (57), a transaction that was left open for too long (25P03). */
const UNKNOWN = /^(?:08|57|25P03)/;
/** Rolled back: a conflict with another transaction (40), a server that has become a standby (25006). */
const AGAIN = /^(?:40|25006)/;
/** No disk, no memory, no connections left: nothing was stored. */
const FULL = /^53/;

/** What becomes of a call that failed. `again` and `full`: it stored nothing. */
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
