import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { LOG_LOCK } from '../domain/log.ts';
import type { JobOwner } from '../domain/sources.ts';
import { LedgerError } from '../ledger.ts';
import { decodeSegment } from '../segment.ts';
import { UsageTally } from '../usage-counters.ts';
import type { Database, HeldSession, Session } from './connection.ts';
import { lockIn } from './statements.ts';

/** Slots 0 to 3 are for commits: each has one transaction in flight at most. */
export const COMMIT_SLOTS = 4;
/** The slot whose epoch all other statements of a node are held to. */
export const CALL_SLOT = 4;
const SLOTS = COMMIT_SLOTS + 1;

/** Which node writes, and in which of its lives. */
export interface NodeEpoch {
  readonly number: number;
  readonly epoch: number;
}

/** A node as its calls name it. */
export interface NamedEpoch extends NodeEpoch {
  /** `QRN_NODE`. */
  readonly name: string;
}

interface NodeOptions {
  readonly database: Database;
  /** `QRN_NODE`. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often a node looks whether its lock is still held, and tries to take it again. */
const LOCK_CHECK_MS = 1_000;
/** How long a start waits for the former process of the name, whose connection may outlive it for a moment. */
const NAME_PATIENCE_MS = 2_000;
const NAME_RETRY_MS = 100;

const LOCK_NAME = {
  name: 'node_lock',
  text: `SELECT pg_try_advisory_lock(hashtextextended('qrn node ' || $1, 0)) AS is_mine`,
};
const BEGIN_EPOCH = {
  name: 'node_begin',
  text: `INSERT INTO qrn.node (name, epoch, state, started_at_ms) VALUES ($1, 1, 'live', $2)
    ON CONFLICT (name) DO UPDATE SET epoch = node.epoch + 1, state = 'live', started_at_ms = excluded.started_at_ms
    RETURNING number, epoch`,
};
const SET_SLOTS = {
  name: 'node_slots',
  text: `INSERT INTO qrn.slot (node, slot, epoch, last) SELECT $1, slot, $2, 0 FROM generate_series(0, $3 - 1) AS slot
    ORDER BY slot ON CONFLICT (node, slot) DO UPDATE SET epoch = excluded.epoch`,
};
const FENCE = {
  name: 'node_fence',
  text: `UPDATE qrn.node SET epoch = epoch + 1, state = 'fenced' WHERE name = $1 RETURNING number, epoch`,
};
const REQUIRE_EPOCH = {
  name: 'node_require_epoch',
  text: `SELECT 1 FROM qrn.slot WHERE node = $1 AND slot = ${CALL_SLOT} AND epoch = $2 FOR SHARE`,
};
const EPOCH = { name: 'node_epoch', text: 'SELECT epoch FROM qrn.slot WHERE node = $1 AND slot = $2' };

/**
 * This process as one node of many. The lock on its name keeps a second process of the name out; the epoch, which grows
 * with every start, keeps out what a former process of the name may still send.
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
  #lock: HeldSession | undefined;

  private constructor(options: NodeOptions, { number, epoch }: NodeEpoch, lock: HeldSession) {
    this.#options = options;
    this.name = options.name;
    this.number = number;
    this.epoch = epoch;
    this.#lock = lock;
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failed = promise;
    this.#watching = this.#watch(resolve);
  }

  /** Takes the name, fences the process that had it before, and settles what that one did. */
  static async start(options: NodeOptions): Promise<NodeIdentity> {
    const { database, name, clock } = options;
    const lock = await database.hold();
    try {
      for (let waitedMs = 0; !(await hasLock(lock, name)); waitedMs += NAME_RETRY_MS) {
        if (waitedMs >= NAME_PATIENCE_MS) {
          throw new LedgerError(
            'unusable',
            `another process runs as the node "${name}": give each node a name of its own with QRN_NODE, or stop the other one`,
          );
        }
        await sleep(NAME_RETRY_MS);
      }
      const begun = await database.transact(async (session) => {
        const [node] = await session.run<NodeEpoch>(BEGIN_EPOCH, [name, clock.wallMs()]);
        await session.run(SET_SLOTS, [node.number, node.epoch, SLOTS]);
        await settleFormerEpochs(session, node, options.log);
        return node;
      });
      return new NodeIdentity(options, begun, lock);
    } catch (error) {
      await lock.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
    await this.#lock?.close();
  }

  /** Takes the lock again when its connection was lost, and finds out when the node was fenced. */
  async #watch(fail: (error: Error) => void): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await sleep(LOCK_CHECK_MS, undefined, { signal, ref: false });
        const { database, name } = this.#options;
        const [slot] = await database.run<{ epoch: number }>(EPOCH, [this.number, CALL_SLOT]);
        if (slot?.epoch !== this.epoch) {
          fail(fencedError(name));
          return;
        }
        if (this.#lock !== undefined && !this.#lock.isLost) continue;
        this.#lock = await database.hold();
        if (await hasLock(this.#lock, name)) continue;
        await this.#lock.close(); // PostgreSQL has not noticed the loss yet, or another process took the name
        this.#lock = undefined;
      } catch {
        // PostgreSQL is away: the next look tells
      }
    }
  }
}

/** Fences a node that runs no more, and settles what it did: see settleFormerEpochs. False for an unknown name. */
export function fenceNode(database: Database, name: string, log: Log): Promise<boolean> {
  return database.transact(async (session) => {
    const [node] = await session.run<NodeEpoch>(FENCE, [name]);
    if (node === undefined) return false;
    await session.run(SET_SLOTS, [node.number, node.epoch, SLOTS]);
    await settleFormerEpochs(session, node, log);
    return true;
  });
}

/**
 * To begin a transaction with: a fence waits for its end. Throws LedgerError `stopped` when the node was fenced already, e.g.
 * while its process was paused. A command, which is not a node, has nothing to be fenced.
 */
export async function requireEpoch(session: Session, node: NamedEpoch | undefined): Promise<void> {
  if (node === undefined) return;
  if ((await session.run(REQUIRE_EPOCH, [node.number, node.epoch])).length === 0)
    throw fencedError(node.name);
}

const FENCED = { name: 'node_fenced', text: "SELECT number FROM qrn.node WHERE state = 'fenced'" };

/** For jobs: a command is no node. */
export function jobOwner(database: Database, node: NamedEpoch | undefined): JobOwner {
  return {
    node: node?.number,
    fenced: async () => new Set((await database.run<{ number: number }>(FENCED)).map(({ number }) => number)),
  };
}

export function fencedError(name: string): LedgerError {
  return new LedgerError(
    'stopped',
    `the node "${name}" was fenced: another process took its name, or an operator fenced it. Start it again`,
  );
}

const UNSEALED_OF = {
  name: 'settle_unsealed',
  text: `SELECT u.sequence, u.epoch, s.body FROM qrn.unsealed u JOIN qrn.segment s USING (sequence)
    WHERE u.node = $1 AND u.epoch < $2 AND u.sequence > $3 ORDER BY u.sequence LIMIT 256`,
};
const SPENT_OF = {
  name: 'settle_spent',
  text: 'DELETE FROM qrn.spent WHERE node = $1 AND epoch < $2 RETURNING account, period, requests, credits',
};
const GRANTED_OF = {
  name: 'settle_granted',
  text: 'DELETE FROM qrn.granted WHERE node = $1 AND epoch < $2 RETURNING account, period, requests, credits',
};
const GIVE_BACK = {
  name: 'settle_give_back',
  text: `UPDATE qrn.allowance a SET requests_granted = a.requests_granted - r.requests, credits_granted = a.credits_granted - r.credits
    FROM (SELECT * FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[]) AS t(account, period, requests, credits)) r
    WHERE a.account = r.account AND a.period = r.period`,
};
const DROP_CLAIMS = { name: 'settle_claims', text: 'DELETE FROM qrn.claim WHERE node = $1 AND epoch < $2' };

interface Sum {
  account: number;
  period: number;
  requests: number;
  credits: number;
}

/**
 * Gives back what the earlier epochs of the node were granted and did not spend: exactly, since none of them can commit
 * any more, and what they committed is all here, as `spent` or unsealed. Its slots are locked by the caller.
 */
async function settleFormerEpochs(session: Session, { number, epoch }: NodeEpoch, log: Log): Promise<void> {
  await lockIn(session, [LOG_LOCK]); // what is unsealed stays so until this is through
  const tally = new UsageTally();
  for (let after = -1; ; ) {
    const rows = await session.run<{ sequence: number; body: Uint8Array }>(UNSEALED_OF, [
      number,
      epoch,
      after,
    ]);
    for (const { body } of rows) tally.addSegment(decodeSegment(new Uint8Array(body)).entries);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.sequence;
  }
  const left = new Map<string, Sum>();
  const add = (sum: Sum, sign: 1 | -1) => {
    const key = `${sum.account} ${sum.period}`;
    const known = left.get(key) ?? { account: sum.account, period: sum.period, requests: 0, credits: 0 };
    known.requests += sign * sum.requests;
    known.credits += sign * sum.credits;
    left.set(key, known);
  };
  const granted = await session.run<Sum>(GRANTED_OF, [number, epoch]);
  const isGranted = new Set(granted.map(({ account, period }) => `${account} ${period}`));
  for (const sum of granted) add(sum, 1);
  const spent = [...(await session.run<Sum>(SPENT_OF, [number, epoch])), ...tally.charges()];
  for (const sum of spent) if (isGranted.has(`${sum.account} ${sum.period}`)) add(sum, -1);
  const back = [...left.values()].sort((a, b) => a.account - b.account || a.period - b.period);
  const over = back.filter(({ requests, credits }) => requests < 0 || credits < 0);
  if (over.length > 0)
    log.error(
      { node: number, over },
      'ledger: a node spent more than it was granted; what it spent stays charged',
    );
  await session.run(GIVE_BACK, [
    back.map(({ account }) => account),
    back.map(({ period }) => period),
    back.map(({ requests }) => Math.max(0, requests)),
    back.map(({ credits }) => Math.max(0, credits)),
  ]);
  await session.run(DROP_CLAIMS, [number, epoch]);
}

async function hasLock(session: HeldSession, name: string): Promise<boolean> {
  const [{ is_mine }] = await session.run<{ is_mine: boolean }>(LOCK_NAME, [name]);
  return is_mine;
}
