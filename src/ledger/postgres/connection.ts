import pg from 'pg';
import { ApiError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { LedgerError } from '../ledger.ts';

/** One statement of this folder. PostgreSQL plans it once for each connection, under its name. */
export interface Statement {
  /** Unique among all statements; at most 63 characters. */
  readonly name: string;
  readonly text: string;
}

export type Row = Readonly<Record<string, unknown>>;

/** Runs statements one after the other on one connection. */
export interface Session {
  /** The rows that the statement gives. `bigint` columns are numbers. */
  run<R extends object = Row>(statement: Statement, values?: readonly unknown[]): Promise<R[]>;
}

/** A connection of its own, for what lives as long as the connection: advisory locks. */
export interface HeldSession extends Session {
  /** Resolves when the connection is lost, or when it was closed. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`. */
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
}

const CONNECTIONS = 4;
const PATIENCE_MS = 2_000;
const CONNECT_TIMEOUT_MS = 1_000;
const RETRY_FIRST_MS = 20;
const RETRY_MAX_MS = 500;
const INT8 = 20;

/** A connection could not be had, or was lost: whether what ran on it was committed is unknown. */
class ConnectionLost extends Error {
  override name = 'ConnectionLost';
}

/**
 * Connections to PostgreSQL. Every call may run more than once: when its connection is lost, or PostgreSQL ends it, the
 * outcome is unknown, and the same call is made again on another one. So each call gives the same result the second time,
 * by the ids that it carries. Nothing is ever cancelled: after a cancel PostgreSQL may report a commit as done that no
 * standby has (warning 01000), which counts as unknown here.
 */
export class Database {
  readonly #options: DatabaseOptions;
  readonly #idle: Connection[] = [];
  readonly #waiting: (() => void)[] = [];
  #open = 0;
  #isClosed = false;
  #isAway = false;

  constructor(options: DatabaseOptions) {
    this.#options = options;
  }

  /** True from the first failure to connect until a connection is had again. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** One statement in a transaction of its own. */
  run<R extends object = Row>(statement: Statement, values: readonly unknown[] = []): Promise<R[]> {
    return this.#repeat((connection) => connection.run<R>(statement, values), this.#patienceMs);
  }

  /** All that `body` does in one transaction (read committed). `body` may run more than once. */
  transact<T>(body: (session: Session) => Promise<T>): Promise<T> {
    return this.#repeat((connection) => connection.transact(body), this.#patienceMs);
  }

  /**
   * As `run`, for what was decided and must come to an outcome: it is sent again for as long as the outcome is unknown.
   * Fails only where nothing was stored.
   */
  settle<T>(body: (session: Session) => Promise<T>): Promise<T> {
    return this.#repeat((connection) => connection.transact(body), Number.POSITIVE_INFINITY);
  }

  /** A connection outside the pool. It is not opened again when it is lost. */
  hold(): Promise<HeldSession> {
    return this.#connect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiting of this.#waiting.splice(0)) waiting();
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
  }

  get #patienceMs(): number {
    return this.#options.patienceMs ?? PATIENCE_MS;
  }

  async #repeat<T>(call: (connection: Connection) => Promise<T>, patienceMs: number): Promise<T> {
    let waitMs = RETRY_FIRST_MS;
    for (let waitedMs = 0; ; waitedMs += waitMs, waitMs = Math.min(2 * waitMs, RETRY_MAX_MS)) {
      try {
        const connection = await this.#take();
        try {
          return await call(connection);
        } finally {
          this.#give(connection);
        }
      } catch (error) {
        const fate = fateOf(error);
        if (fate === 'final' || this.#isClosed) throw error;
        if (fate === 'full' || waitedMs >= patienceMs) throw new ApiError('storage_unavailable');
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  async #take(): Promise<Connection> {
    for (;;) {
      if (this.#isClosed) throw new LedgerError('stopped', 'the ledger is closed');
      const idle = this.#idle.pop();
      if (idle !== undefined) return idle;
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
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #give(connection: Connection): void {
    if (connection.isLost || this.#isClosed) {
      this.#open--;
      void connection.close();
    } else {
      this.#idle.push(connection);
    }
    this.#waiting.shift()?.();
  }

  async #connect(): Promise<Connection> {
    try {
      const connection = await Connection.open(this.#options);
      if (this.#isAway) this.#options.log.info({}, 'ledger: PostgreSQL answers again');
      this.#isAway = false;
      return connection;
    } catch (error) {
      if (!this.#isAway) {
        this.#isAway = true;
        this.#options.log.error({ cause: messageOf(error) }, 'ledger: PostgreSQL does not answer');
      }
      throw error;
    }
  }
}

const BEGIN = 'BEGIN';
const COMMIT = 'COMMIT';
const ROLLBACK = 'ROLLBACK';

class Connection implements HeldSession {
  readonly ended: Promise<void>;
  readonly #client: pg.Client;
  #isLost = false;
  #isUnknown = false;

  private constructor(client: pg.Client) {
    this.#client = client;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    const end = () => {
      this.#isLost = true;
      resolve();
    };
    client.on('error', end);
    client.on('end', end);
    // What PostgreSQL says when it gave up the wait for a standby: the commit may be lost with the primary.
    client.on('notice', ({ code }) => {
      if (code === UNKNOWN_COMMIT) this.#isUnknown = true;
    });
  }

  static async open({ url, name, synchronousCommit }: DatabaseOptions): Promise<Connection> {
    const client = new pg.Client({
      connectionString: url,
      application_name: name ?? 'qrn',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      types: {
        getTypeParser: (oid, format) => (oid === INT8 ? integerOf : pg.types.getTypeParser(oid, format)),
      },
    });
    const connection = new Connection(client);
    try {
      await client.connect();
      // A standby accepts connections too, and every write there fails.
      const { rows } = await client.query<{ is_standby: boolean }>(
        'SELECT pg_is_in_recovery() AS is_standby',
      );
      if (rows[0].is_standby) throw new Error('this is a standby');
      await client.query(`SET synchronous_commit = ${synchronousCommit ?? 'on'}`);
    } catch (error) {
      void client.end().catch(() => {});
      if (fateOf(error) === 'final' && codeOf(error) !== undefined) throw error;
      throw new ConnectionLost(`no connection to PostgreSQL: ${messageOf(error)}`, { cause: error });
    }
    return connection;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  async run<R extends object>({ name, text }: Statement, values: readonly unknown[] = []): Promise<R[]> {
    const { rows } = await this.#query<R>({ name, text, values: [...values] });
    return rows;
  }

  async transact<T>(body: (session: Session) => Promise<T>): Promise<T> {
    await this.#query({ text: BEGIN });
    let result: T;
    try {
      result = await body(this);
    } catch (error) {
      if (!this.#isLost) await this.#query({ text: ROLLBACK });
      throw error;
    }
    await this.#query({ text: COMMIT });
    return result;
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => {});
  }

  async #query<R extends object>(query: pg.QueryConfig): Promise<pg.QueryResult<R>> {
    this.#isUnknown = false;
    try {
      const result = await this.#client.query<R>(query);
      if (this.#isUnknown) throw new ConnectionLost('PostgreSQL gave up the wait for a standby');
      return result;
    } catch (error) {
      if (codeOf(error) === undefined || fateOf(error) === 'unknown') this.#isLost = true;
      if (codeOf(error) !== undefined || error instanceof ConnectionLost) throw error;
      throw new ConnectionLost(`the connection to PostgreSQL was lost: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
}

/** `successful_completion` with a warning. */
const UNKNOWN_COMMIT = '01000';
/** Lost connections (08), an administrator's stop (57), a standby (25006), a conflict with another transaction (40). */
const UNKNOWN = /^(?:08|57|40|25006)/;
/** No disk, no memory, no connections left: nothing was stored. */
const FULL = /^53/;

/** What becomes of a call that failed: it is made again, or not, and then why not. */
function fateOf(error: unknown): 'unknown' | 'full' | 'final' {
  if (error instanceof ConnectionLost) return 'unknown';
  const code = codeOf(error);
  if (code === undefined) return 'final';
  return UNKNOWN.test(code) ? 'unknown' : FULL.test(code) ? 'full' : 'final';
}

function codeOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

function integerOf(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new LedgerError('damaged', `PostgreSQL holds the number ${text}`);
  return value;
}
