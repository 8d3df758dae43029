import type { Balance } from '../records.ts';
import { type Charge, sumOf } from '../usage-counters.ts';
import type { Session } from './connection.ts';
import type { UnsealedTallies } from './unsealed.ts';

/** Counters and the segments that they lack, of one moment: one statement reads both. */
const BALANCES = {
  name: 'balances',
  text: `SELECT (SELECT coalesce(array_agg(sequence), '{}') FROM qrn.unsealed) AS unsealed,
      b.account, b.requests, b.credits
    FROM (SELECT) AS one LEFT JOIN qrn.balance b ON b.period = $1`,
};

/** As Books.balances: every account that the month knows. */
export async function balancesIn(
  session: Session,
  unsealed: UnsealedTallies,
  period: number,
): Promise<Balance[]> {
  const rows = await session.run<BalanceRow>(BALANCES, [period]);
  const sums = new Map<number, Charge>();
  for (const { account, requests, credits } of rows)
    if (account !== null) sums.set(account, { requests, credits });
  const tally = await unsealed.sum(session, rows[0].unsealed.map(Number));
  for (const { account, period: charged, ...charge } of tally.charges())
    if (charged === period) sums.set(account, sumOf(sums.get(account), charge));
  return [...sums]
    .sort(([a], [b]) => a - b)
    .map(([accountNumber, charge]) => ({ accountNumber, period, ...charge }));
}

interface BalanceRow {
  readonly unsealed: readonly string[];
  readonly account: number | null;
  readonly requests: number;
  readonly credits: number;
}
