import { isDeepStrictEqual } from 'node:util';
import type { DrawLeaf, DrawRecord, WaitingDrawLeaf } from '../draw-records.ts';
import { mayReplace, requireOpening } from '../draw-rules.ts';
import { type DrawStore, LedgerError } from '../ledger.ts';
import type { Database, Session } from './connection.ts';
import { type NamedEpoch, requireEpoch } from './node.ts';

/** Names the lock of an account whose draws are counted: "draw" in ASCII. */
const DRAW_LOCK = 0x64_72_61_77;

const LOCK_ACCOUNT = {
  name: 'draws_lock_account',
  text: `SELECT pg_advisory_xact_lock(${DRAW_LOCK}, ($1::bigint & 2147483647)::int)`,
};
const COUNT_OPEN = {
  name: 'draws_count_open',
  text: "SELECT count(*) AS open FROM qrn.draw WHERE account = $1 AND state <> 'ended'",
};
const COLUMNS = 'id, account, state, due_at_ms, body';
const DRAW = { name: 'draws_draw', text: `SELECT ${COLUMNS} FROM qrn.draw WHERE id = $1` };
const DRAW_TO_CHANGE = {
  name: 'draws_draw_to_change',
  text: `SELECT ${COLUMNS} FROM qrn.draw WHERE id = $1 FOR UPDATE`,
};
const OPEN = {
  name: 'draws_open',
  text: `INSERT INTO qrn.draw (${COLUMNS}) VALUES ($1, $2, $3, $4, $5)`,
};
const PUT = {
  name: 'draws_put',
  text: 'UPDATE qrn.draw SET state = $2, due_at_ms = $3, body = $4 WHERE id = $1',
};
const DROP = { name: 'draws_drop', text: "DELETE FROM qrn.draw WHERE id = $1 AND state = 'opening'" };
const OPEN_DRAWS = {
  name: 'draws_open_draws',
  text: `SELECT ${COLUMNS} FROM qrn.draw WHERE state <> 'ended' ORDER BY account, id COLLATE "C" LIMIT $1`,
};
const PUT_LEAF = {
  name: 'draws_put_leaf',
  text: 'INSERT INTO qrn.draw_leaf (draw_id, kind, text) VALUES ($1, $2, $3)',
};
const LEAVES = {
  name: 'draws_leaves',
  text: 'SELECT ordinal, draw_id, kind, text FROM qrn.draw_leaf ORDER BY ordinal LIMIT $1',
};
const LOGGED = { name: 'draws_logged', text: 'DELETE FROM qrn.draw_leaf WHERE ordinal = ANY($1)' };

interface DrawRow {
  readonly id: string;
  readonly account: number;
  readonly state: DrawRecord['state'];
  readonly due_at_ms: number;
  readonly body: string;
}

/** Committed draws of all nodes. */
export class PostgresDrawStore implements DrawStore {
  readonly #database: Database;
  readonly #node: NamedEpoch | undefined;

  /** A command writes no draws: `node` is undefined. */
  constructor(database: Database, node: NamedEpoch | undefined) {
    this.#database = database;
    this.#node = node;
  }

  async openDraw(draw: DrawRecord, openMax: number): Promise<boolean> {
    const { id, accountNumber, state, dueAtMs, body } = draw;
    requireOpening(draw);
    return this.#database.transact(
      asOneCall(async (session, isRepeated) => {
        await requireEpoch(session, this.#node);
        await session.run(LOCK_ACCOUNT, [accountNumber]);
        const [stored] = await session.run<DrawRow>(DRAW, [id]);
        if (stored !== undefined) {
          if (isRepeated && isDeepStrictEqual(recordOf(stored), draw)) return true;
          throw new LedgerError('conflict', `draw ${id} exists`);
        }
        const [{ open }] = await session.run<{ open: number }>(COUNT_OPEN, [accountNumber]);
        if (open >= openMax) return false;
        await session.run(OPEN, [id, accountNumber, state, dueAtMs, body]);
        return true;
      }),
    );
  }

  putDraw(draw: DrawRecord, leaf?: DrawLeaf): Promise<boolean> {
    const { id, state, dueAtMs, body } = draw;
    return this.#database.transact(
      asOneCall(async (session, isRepeated) => {
        await requireEpoch(session, this.#node);
        const [row] = await session.run<DrawRow>(DRAW_TO_CHANGE, [id]);
        const stored = row && recordOf(row);
        const isReplaced = mayReplace(stored, draw);
        if (isRepeated && isDeepStrictEqual(stored, draw)) return true;
        if (!isReplaced) return false;
        await session.run(PUT, [id, state, dueAtMs, body]);
        if (leaf !== undefined) await session.run(PUT_LEAF, [leaf.drawId, leaf.kind, leaf.text]);
        return true;
      }),
    );
  }

  async dropDraw(id: string): Promise<void> {
    await this.#database.transact(async (session) => {
      await requireEpoch(session, this.#node);
      await session.run(DROP, [id]);
    });
  }

  async draw(id: string): Promise<DrawRecord | undefined> {
    const [row] = await this.#database.run<DrawRow>(DRAW, [id]);
    return row && recordOf(row);
  }

  async openDraws(limit: number): Promise<DrawRecord[]> {
    return (await this.#database.run<DrawRow>(OPEN_DRAWS, [limit])).map(recordOf);
  }

  async drawLeaves(limit: number): Promise<WaitingDrawLeaf[]> {
    const rows = await this.#database.run<
      { ordinal: number; draw_id: string } & Pick<DrawLeaf, 'kind' | 'text'>
    >(LEAVES, [limit]);
    return rows.map(({ ordinal, draw_id: drawId, kind, text }) => ({ drawId, kind, text, ordinal }));
  }

  async drawLeavesLogged(ordinals: readonly number[]): Promise<void> {
    await this.#database.run(LOGGED, [ordinals]);
  }
}

/**
 * A transaction that is run again when its outcome is unknown is told so: what it finds stored the second time may be its
 * own work.
 */
function asOneCall<T>(body: (session: Session, isRepeated: boolean) => Promise<T>) {
  let runs = 0;
  return (session: Session) => body(session, runs++ > 0);
}

function recordOf({ id, account, state, due_at_ms, body }: DrawRow): DrawRecord {
  return { id, accountNumber: account, state, dueAtMs: due_at_ms, body };
}
