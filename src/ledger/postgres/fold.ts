import {
  accountOfKey,
  addCounters,
  countersCodec,
  dayOfKey,
  type UsageCounters,
  UsageTally,
  usageKey,
} from '../usage-counters.ts';
import type { Session } from './connection.ts';
import { columns, packedColumn } from './statements.ts';
import type { UnsealedTallies } from './unsealed.ts';

/**
 * Counters are sums over segments. No commit writes one: the transaction that seals segments adds them to the counters
 * and takes them from `unsealed`, and whoever reads a counter adds what is still unsealed. All who fold hold LOG_LOCK.
 */

const TAKE_UNSEALED = {
  name: 'fold_take',
  text: 'DELETE FROM qrn.unsealed WHERE sequence = ANY($1) RETURNING sequence, node, epoch',
};
const READ_DAYS = {
  name: 'fold_days',
  text: `SELECT d.account, d.day, d.counters FROM qrn.usage_day d
    JOIN unnest($1::bigint[], $2::int[]) AS k(account, day) USING (account, day)`,
};
const WRITE_DAYS = {
  name: 'fold_put_days',
  text: `INSERT INTO qrn.usage_day (account, day, counters)
    SELECT account, day, substring($3::bytea FROM first FOR size)
    FROM unnest($1::bigint[], $2::int[], $4::int[], $5::int[]) AS t(account, day, first, size)
    ON CONFLICT (account, day) DO UPDATE SET counters = excluded.counters`,
};
const ADD_BALANCES = {
  name: 'fold_balances',
  text: `INSERT INTO qrn.balance (account, period, requests, credits)
    SELECT account, period, sum(requests), sum(credits)
    FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[]) AS t(account, period, requests, credits)
    GROUP BY account, period ORDER BY account, period
    ON CONFLICT (account, period) DO UPDATE
    SET requests = balance.requests + excluded.requests, credits = balance.credits + excluded.credits`,
};
/** A settled epoch has no row of its own any more: what it spent is accounted for. */
const ADD_SPENT = {
  name: 'fold_spent',
  text: `INSERT INTO qrn.spent (node, epoch, account, period, requests, credits)
    SELECT t.* FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::int[], $5::bigint[], $6::bigint[])
      AS t(node, epoch, account, period, requests, credits)
    JOIN qrn.node ON node.number = t.node AND node.epoch = t.epoch AND node.state = 'live'
    ON CONFLICT (node, epoch, account, period) DO UPDATE
    SET requests = spent.requests + excluded.requests, credits = spent.credits + excluded.credits`,
};
/** Adds those of the segments to the counters that are unsealed, within the transaction and under the lock; gives how many. */
export async function foldSegments(
  session: Session,
  unsealed: UnsealedTallies,
  sequences: readonly number[],
): Promise<number> {
  if (sequences.length === 0) return 0;
  const taken = await session.run<Unsealed>(TAKE_UNSEALED, [sequences]);
  const tallies = await unsealed.of(
    session,
    taken.map(({ sequence }) => sequence),
  );
  const all = new UsageTally();
  const byEpoch = new Map<string, { node: number; epoch: number; tally: UsageTally }>();
  for (const { sequence, node, epoch } of taken) {
    const tally = tallies.get(sequence);
    if (tally === undefined) continue; // retention took it, and has counted it
    const key = `${node} ${epoch}`;
    const sum = byEpoch.get(key) ?? { node, epoch, tally: new UsageTally() };
    sum.tally.addTally(tally);
    byEpoch.set(key, sum);
  }
  for (const { tally } of byEpoch.values()) all.addTally(tally);
  await addDays(session, all.counters);
  const charges = all.charges();
  await session.run(ADD_BALANCES, columns(charges, 'account', 'period', 'requests', 'credits'));
  const spent = [...byEpoch.values()].flatMap(({ node, epoch, tally }) =>
    tally.charges().map((charge) => ({ node, epoch, ...charge })),
  );
  await session.run(ADD_SPENT, columns(spent, 'node', 'epoch', 'account', 'period', 'requests', 'credits'));
  return taken.length;
}

async function addDays(session: Session, counters: ReadonlyMap<number, UsageCounters>): Promise<void> {
  const keys = [...counters.keys()].sort((a, b) => a - b);
  const accounts = keys.map(accountOfKey);
  const days = keys.map(dayOfKey);
  const sums = new Map<number, UsageCounters>();
  const rows = await session.run<{ account: number; day: number; counters: Uint8Array }>(READ_DAYS, [
    accounts,
    days,
  ]);
  for (const row of rows) sums.set(usageKey(row.day, row.account), countersCodec.decode(row.counters));
  const packed = keys.map((key) => {
    const more = counters.get(key) as UsageCounters;
    const sum = sums.get(key);
    if (sum === undefined) return countersCodec.encode(more);
    addCounters(sum, more);
    return countersCodec.encode(sum);
  });
  await session.run(WRITE_DAYS, [accounts, days, ...packedColumn(packed)]);
}

interface Unsealed {
  readonly sequence: number;
  readonly node: number;
  readonly epoch: number;
}
