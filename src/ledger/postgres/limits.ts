import { ApiError } from '../../core/errors.ts';
import type { LimitAnswer, LimitAsk, LimitGrant, Limits } from '../sharing.ts';
import type { Database } from './connection.ts';
import { CALL_SLOT, fencedError, type NamedEpoch } from './node.ts';
import { columns } from './statements.ts';

/** Requests that one ask may bring beyond those that wait, for an account with a limit and for one without. */
const CHUNK_MAX = 1_024;
const UNLIMITED_CHUNK = 2 ** 20;
/** The month by PostgreSQL's clock. After a failover that clock may be a little behind: see `period` of an ask. */
const NOW = {
  name: 'limits_now',
  text: `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMM')::int AS period,
      (SELECT count(*) FROM qrn.node WHERE state = 'live') AS nodes
    FROM qrn.slot WHERE node = $1 AND slot = $2 AND epoch = $3 FOR SHARE`,
};
/**
 * Locks the rows in one order on all nodes. A month starts from what the books already have of it. When a limit was
 * lowered below what is granted, the row keeps what is granted, and nothing more is.
 */
const LOCK = {
  name: 'limits_lock',
  text: `INSERT INTO qrn.allowance AS a (account, period, requests_granted, requests_max, credits_granted, credits_max)
    SELECT account, period, coalesce(b.requests, 0), greatest(requests_max, coalesce(b.requests, 0)),
      coalesce(b.credits, 0), greatest(credits_max, coalesce(b.credits, 0))
    FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[]) AS t(account, period, requests_max, credits_max)
    LEFT JOIN qrn.balance b USING (account, period)
    ORDER BY account, period
    ON CONFLICT (account, period) DO UPDATE SET
      requests_max = greatest(excluded.requests_max, a.requests_granted),
      credits_max = greatest(excluded.credits_max, a.credits_granted)`,
};
/**
 * What the node says that it holds takes the place of what it was granted before, and what it is granted now is added. A call
 * that is older than the newest, or the same again, finds what the newest left.
 */
const GRANT = {
  name: 'limits_grant',
  text: `WITH asked AS (
      SELECT t.*, coalesce(g.requests, 0) AS had_requests, coalesce(g.credits, 0) AS had_credits,
        coalesce(g.call_order, 0) < $3 AS is_new,
        a.requests_max - a.requests_granted + coalesce(g.requests, 0) - t.requests_held AS requests_left,
        a.credits_max - a.credits_granted + coalesce(g.credits, 0) - t.credits_held AS credits_left
      FROM unnest($4::bigint[], $5::int[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[])
        AS t(account, period, requests_held, credits_held, requests_wanted, credits_wanted, chunk)
      JOIN qrn.allowance a USING (account, period)
      LEFT JOIN qrn.granted g ON g.node = $1 AND g.epoch = $2 AND g.account = t.account AND g.period = t.period),
    decided AS (
      SELECT account, period, had_requests, had_credits,
        CASE WHEN is_new THEN requests_held + CASE WHEN requests_wanted = 0 THEN 0 ELSE
            least(requests_left, greatest(requests_wanted, least(chunk, requests_left / (8 * $11::bigint)))) END
          ELSE had_requests END AS requests,
        CASE WHEN is_new THEN credits_held + least(credits_left, credits_wanted) ELSE had_credits END AS credits
      FROM asked),
    totals AS (
      UPDATE qrn.allowance a SET
        requests_granted = a.requests_granted + d.requests - d.had_requests,
        credits_granted = a.credits_granted + d.credits - d.had_credits
      FROM decided d WHERE a.account = d.account AND a.period = d.period
      RETURNING a.account, a.period, a.requests_granted, a.requests_max - a.requests_granted AS requests_left,
        a.credits_max - a.credits_granted AS credits_left),
    kept AS (
      INSERT INTO qrn.granted (node, epoch, account, period, requests, credits, call_order)
      SELECT $1, $2, account, period, requests, credits, $3 FROM decided
      ON CONFLICT (node, epoch, account, period) DO UPDATE
      SET requests = excluded.requests, credits = excluded.credits,
        call_order = greatest(granted.call_order, excluded.call_order))
    SELECT d.account AS "accountNumber", d.period, d.requests AS "requestsGranted", d.credits AS "creditsGranted",
      t.requests_left AS "requestsLeft", t.credits_left AS "creditsLeft",
      greatest(0, t.requests_granted - coalesce(b.requests, 0)) AS "requestsUnused"
    FROM decided d JOIN totals t USING (account, period) LEFT JOIN qrn.balance b USING (account, period)`,
};
interface LimitsOptions {
  readonly database: Database;
  readonly node: NamedEpoch;
}

/**
 * The months of all accounts, of which each node is granted parts. What is granted to all nodes together is in one row of
 * `allowance`, whose CHECK keeps it within the limit; what each epoch of a node has of it is in `granted`, and goes back
 * when that epoch is settled (node.ts).
 */
export class PostgresLimits implements Limits {
  readonly #options: LimitsOptions;

  constructor(options: LimitsOptions) {
    this.#options = options;
  }

  async isShared(): Promise<boolean> {
    return true;
  }

  askLimits(order: number, asks: readonly LimitAsk[]): Promise<LimitAnswer> {
    const { database, node } = this.#options;
    return database.transact(async (session) => {
      const [now] = await session.run<{ period: number; nodes: number }>(NOW, [
        node.number,
        CALL_SLOT,
        node.epoch,
      ]);
      if (now === undefined) throw fencedError(node.name);
      const nodes = Math.max(1, now.nodes);
      const rows = asks.map((ask) => rowOf(ask, now.period));
      let grants: LimitGrant[] = [];
      if (rows.length > 0) {
        await session.run(LOCK, columns(rows, 'account', 'period', 'requestsMax', 'creditsMax'));
        grants = await session.run<LimitGrant>(GRANT, [
          node.number,
          node.epoch,
          order,
          ...columns(
            rows,
            'account',
            'period',
            'requestsHeld',
            'creditsHeld',
            'requestsWanted',
            'creditsWanted',
            'chunk',
          ),
          nodes,
        ]);
        if (grants.length !== rows.length) throw new ApiError('storage_unavailable');
      }
      return { period: now.period, nodes, grants };
    });
  }
}

/** Nothing is held of a month that has just begun. */
function rowOf(ask: LimitAsk, currentPeriod: number) {
  const period = Math.max(ask.period, currentPeriod);
  const isHeld = ask.period === period;
  return {
    account: ask.accountNumber,
    period,
    requestsHeld: isHeld ? ask.requestsGranted : 0,
    creditsHeld: isHeld ? ask.creditsGranted : 0,
    requestsWanted: ask.requestsWanted,
    creditsWanted: ask.creditsWanted,
    requestsMax: ask.requestsTotal,
    creditsMax: ask.creditsTotal,
    chunk: ask.requestsTotal === Number.MAX_SAFE_INTEGER ? UNLIMITED_CHUNK : CHUNK_MAX,
  };
}
