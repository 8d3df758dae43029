import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Writer } from '../domain/books.ts';
import { dropClaims } from '../domain/claims.ts';
import { LIMIT_LOCKS, settle } from '../domain/limits.ts';
import { LOG_LOCK } from '../domain/log.ts';
import type { JobOwner } from '../domain/sources.ts';
import type { DatabaseState } from '../integrity.ts';
import { LedgerError } from '../ledger.ts';
import { UNSEALED } from '../tables.ts';
import { AdvisoryLock } from './advisory-lock.ts';
import type { Database, Session } from './connection.ts';
import { CALL_SLOT, COMMIT_SLOTS, fencedError, type NamedEpoch } from './fence.ts';
import { inSession, lockIn } from './postgres-store.ts';

const SLOTS = COMMIT_SLOTS + 1;

interface NodeOptions {
  readonly database: Database;
  /** `QRN_NODE`. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
}

const LOOK_INTERVAL_MS = 1_000;
/** A look takes a millisecond. After this time without an answer the database counts as away: a partition gives no sign. */
const ANSWER_WITHIN_MS = 3_000;
/** A node whose clock differs by more is not ready: its days and months would begin at other times than on other nodes. */
const SKEW_MAX_MS = 1_000;
/** How long a start waits for the name: the connection of the node's former process may outlive it for a moment. */
const NAME_PATIENCE_MS = 2_000;
const NAME_RETRY_MS = 100;

const BEGIN_EPOCH = {
  name: 'node_begin',
  text: `INSERT INTO qrn.node (name, epoch, state, started_at_ms) VALUES ($1, 1, 'live', $2)
    ON CONFLICT (name) DO UPDATE SET epoch = node.epoch + 1, state = 'live', started_at_ms = excluded.started_at_ms, directory_version = NULL
    RETURNING number, epoch`,
};
const SET_SLOTS = {
  name: 'node_slots',
  text: `INSERT INTO qrn.slot (node, slot, epoch) SELECT $1, slot, $2 FROM generate_series(0, $3 - 1) AS slot
    ORDER BY slot ON CONFLICT (node, slot) DO UPDATE SET epoch = excluded.epoch`,
};
const FENCE = {
  name: 'node_fence',
  text: `UPDATE qrn.node SET epoch = epoch + 1, state = 'fenced' WHERE name = $1 RETURNING number, epoch`,
};
const LOOK = {
  name: 'node_look',
  text: `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "atMs",
  (SELECT epoch FROM qrn.slot WHERE node = $1 AND slot = ${CALL_SLOT}) AS epoch,
  (SELECT count(*) FROM qrn.record WHERE part = '${UNSEALED.name}') AS "unsealedSegments",
  EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database()
    AND query_start < clock_timestamp() - interval '2 s') AS "isStandbyLate"`,
};

interface Look extends Pick<DatabaseState, 'unsealedSegments' | 'isStandbyLate'> {
  readonly atMs: number;
  readonly epoch: number | null;
}

/**
 * This process as one node of several. The lock on the node's name keeps a second process of that name out. The epoch, which
 * grows with every start, keeps out what a former process of the name may still send. Once a second the node looks whether
 * PostgreSQL answers, what time it is there, whether a standby keeps up, and whether the node was fenced, and takes the lock
 * again if it was lost.
 */
export class NodeIdentity implements NamedEpoch {
  readonly name: string;
  readonly number: number;
  readonly epoch: number;
  /** Resolves with the reason when this node may write no more. */
  readonly failed: Promise<Error>;
  readonly #options: NodeOptions;
  readonly #stopping = new AbortController();
  readonly #watching: Promise<void>;
  readonly #lock: AdvisoryLock;
  /** When the look that is under way began; undefined between looks. */
  #askedAtMs: number | undefined;
  #seen = { skewMs: 0, isSkewed: false, isStandbyLate: false, unsealedSegments: 0 };

  private constructor(options: NodeOptions, { number, epoch }: Writer, lock: AdvisoryLock) {
    this.#options = options;
    this.name = options.name;
    this.number = number;
    this.epoch = epoch;
    this.#lock = lock;
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    this.#watching = this.#watch(resolve);
  }

  /** Takes the name, fences the process that had it before, and settles that process's grants and claims. */
  static async start(options: NodeOptions): Promise<NodeIdentity> {
    const { database, name, clock } = options;
    const lock = new AdvisoryLock(database, `qrn node ${name}`);
    try {
      for (let waitedMs = 0; !(await lock.take()); waitedMs += NAME_RETRY_MS) {
        if (waitedMs >= NAME_PATIENCE_MS) {
          throw new LedgerError(
            'unusable',
            `another process runs as the node "${name}": give each node a name of its own with QRN_NODE, or stop the other one`,
          );
        }
        await sleep(NAME_RETRY_MS);
      }
      const begun = await database.transact(async (session) => {
        const [node] = await session.run<Writer>(BEGIN_EPOCH, [name, clock.wallMs()]);
        await session.run(SET_SLOTS, [node.number, node.epoch, SLOTS]);
        await settleFormerEpochs(session, node, options.log);
        return node;
      });
      return new NodeIdentity(options, begun, lock);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
    await this.#lock.release();
  }

  /** Returns what the newest look found. */
  database(): DatabaseState {
    const { database, clock } = this.#options;
    const isSilent =
      this.#askedAtMs !== undefined && clock.monotonicMs() - this.#askedAtMs > ANSWER_WITHIN_MS;
    return { isAway: database.isAway || isSilent, ...this.#seen };
  }

  /** Looks once, and resolves with the node's epoch in the database. Rejects when PostgreSQL does not answer. */
  async look(): Promise<number | null> {
    const { database, clock, log } = this.#options;
    const askedAtMs = clock.monotonicMs();
    const [{ atMs, epoch, ...found }] = await database.run<Look>(LOOK, [this.number]);
    const tookMs = clock.monotonicMs() - askedAtMs;
    const differenceMs = clock.wallMs() - atMs;
    // PostgreSQL read its clock before this node did, by at most the time that the question took.
    const skewMs = Math.round(differenceMs >= 0 ? Math.max(0, differenceMs - tookMs) : differenceMs);
    const before = this.#seen;
    this.#seen = { skewMs, isSkewed: Math.abs(skewMs) > SKEW_MAX_MS, ...found };
    const { isSkewed, isStandbyLate } = this.#seen;
    if (isSkewed && !before.isSkewed)
      log.error(
        { skewMs },
        "the clock of this node differs from PostgreSQL's by more than a second: the node is not ready; synchronize the clocks",
      );
    if (!isSkewed && before.isSkewed)
      log.info({ skewMs }, "the clock of this node agrees with PostgreSQL's again");
    if (isStandbyLate && !before.isStandbyLate)
      log.error(
        {},
        'commits have waited for a standby of PostgreSQL for more than 2 s: requests that draw are refused until a standby follows; see pg_stat_replication',
      );
    if (!isStandbyLate && before.isStandbyLate)
      log.info({}, 'commits no longer wait for a standby of PostgreSQL');
    return epoch;
  }

  async #watch(fail: (error: Error) => void): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await sleep(LOOK_INTERVAL_MS, undefined, { signal, ref: false });
        this.#askedAtMs = this.#options.clock.monotonicMs();
        const epoch = await this.look();
        this.#askedAtMs = undefined; // the lock below has its own connection, which may be silent while the database is not
        if (epoch !== this.epoch) {
          fail(fencedError(this.name));
          return;
        }
        await this.#lock.take(); // fails until PostgreSQL notices that the former connection of the lock was lost
      } catch {
        // PostgreSQL is away, as `isAway` and the log say; the next look tries again
      } finally {
        this.#askedAtMs = undefined;
      }
    }
  }
}

/**
 * Fences a node. PostgreSQL refuses what the node still sends; its unspent grants go back; another node takes over its open
 * jobs. Its next start gives up its blocks, since the folder has an older epoch. Resolves with false for an unknown name.
 */
export function fence(database: Database, name: string, log: Log): Promise<boolean> {
  return database.transact(async (session) => {
    const [node] = await session.run<Writer>(FENCE, [name]);
    if (node === undefined) return false;
    await session.run(SET_SLOTS, [node.number, node.epoch, SLOTS]);
    await settleFormerEpochs(session, node, log);
    return true;
  });
}

const NOW = {
  name: 'node_now',
  text: `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMM')::int AS period,
      (SELECT greatest(1, count(*)) FROM qrn.node WHERE state = 'live') AS nodes
    FROM qrn.slot WHERE node = $1 AND slot = ${CALL_SLOT} AND epoch = $2`,
};

/** Returns the month by PostgreSQL's clock, and the count of live nodes. Throws for a node that was fenced. */
export async function clusterNow(
  database: Database,
  { name, number, epoch }: NamedEpoch,
): Promise<{ period: number; nodes: number }> {
  const [now] = await database.run<{ period: number; nodes: number }>(NOW, [number, epoch]);
  if (now === undefined) throw fencedError(name);
  return now;
}

const FENCED = { name: 'node_fenced', text: "SELECT number FROM qrn.node WHERE state = 'fenced'" };

/** Returns the owner of a node's jobs. `node` is undefined for a command. */
export function jobOwner(database: Database, node: NamedEpoch | undefined): JobOwner {
  return {
    node: node?.number,
    fenced: async () => new Set((await database.run<{ number: number }>(FENCED)).map(({ number }) => number)),
  };
}

/** Settles the grants of the node's earlier epochs (see `settle`), and drops their claims. The caller has locked the slots. */
async function settleFormerEpochs(session: Session, node: Writer, log: Log): Promise<void> {
  await lockIn(session, [LOG_LOCK, ...LIMIT_LOCKS]); // no segment is sealed until this has ended
  const over = await inSession(session, settle(node));
  if (over.length > 0)
    log.error(
      { node: node.number, over },
      'ledger: a node spent more than it was granted: the accounts are charged for all of it',
    );
  await inSession(session, dropClaims(node));
}
