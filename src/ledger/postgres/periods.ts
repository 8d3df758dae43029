import { type ChargeBook, correctCharges } from '../period-corrections.ts';
import type { Balance, PeriodCorrection } from '../records.ts';
import {
  type Charge,
  type CorrectedCharge,
  type CorrectionKey,
  type DisplacedKey,
  sumOf,
} from '../usage-counters.ts';
import type { Session } from './connection.ts';
import { addBalances, columns, LOCK_FOLD } from './fold.ts';
import type { UnsealedTallies } from './unsealed.ts';

/** Counters and the segments that they lack, of one moment: one statement reads both. */
const BALANCES = {
  name: 'periods_balances',
  text: `SELECT (SELECT coalesce(array_agg(sequence), '{}') FROM qrn.unsealed) AS unsealed,
      b.account, b.requests, b.credits
    FROM (SELECT) AS one LEFT JOIN qrn.balance b ON b.period = $1`,
};
const LATEST = {
  name: 'periods_latest',
  text: `SELECT (SELECT coalesce(array_agg(sequence), '{}') FROM qrn.unsealed) AS unsealed,
      period, account, requests FROM (SELECT) AS one
    LEFT JOIN qrn.balance ON period >= (SELECT max(period) FROM qrn.balance WHERE requests > 0)`,
};
const AFTER = {
  name: 'periods_after',
  text: 'SELECT account, period, requests, credits FROM qrn.balance WHERE period > $1',
};
const UNSEALED = { name: 'periods_unsealed', text: 'SELECT sequence FROM qrn.unsealed' };
const DISPLACED = {
  name: 'periods_displaced',
  text: 'SELECT charged, issued, account, requests, credits FROM qrn.displaced WHERE charged > $1 AND issued <= $1',
};
const CORRECTIONS = { name: 'periods_corrections', text: 'SELECT * FROM qrn.period_correction' };
const PUT_CORRECTION = {
  name: 'periods_put',
  text: `INSERT INTO qrn.period_correction
      (to_period, from_period, account, requests, credits, returned_requests, returned_credits, at_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (to_period, from_period, account) DO UPDATE
    SET requests = $4, credits = $5, returned_requests = $6, returned_credits = $7, at_ms = $8`,
};

/**
 * What was granted of a month goes with the charges that are moved. A month whose limit is below what it has now keeps
 * that, and nothing more is granted. A month that nobody asked for begins by the balance: see limits.ts.
 */
const MOVE_GRANTS = {
  name: 'periods_move_grants',
  text: `WITH moved AS (
      SELECT a.account, a.period, greatest(0, a.requests_granted + m.requests) AS requests, greatest(0, a.credits_granted + m.credits) AS credits
      FROM (SELECT account, period, sum(requests) AS requests, sum(credits) AS credits
        FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[]) AS t(account, period, requests, credits) GROUP BY account, period) m
      JOIN qrn.allowance a USING (account, period) ORDER BY account, period FOR UPDATE OF a)
    UPDATE qrn.allowance a SET requests_granted = m.requests, requests_max = greatest(a.requests_max, m.requests),
      credits_granted = m.credits, credits_max = greatest(a.credits_max, m.credits)
    FROM moved m WHERE a.account = m.account AND a.period = m.period`,
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

/** As Books.latestPeriod. */
export async function latestPeriodOf(session: Session, unsealed: UnsealedTallies): Promise<number> {
  const rows = await session.run<LatestRow>(LATEST);
  const requests = new Map<string, { period: number; requests: number }>();
  const add = (account: number, period: number, more: number) => {
    const key = `${account} ${period}`;
    requests.set(key, { period, requests: (requests.get(key)?.requests ?? 0) + more });
  };
  for (const row of rows) if (row.period !== null) add(row.account, row.period, row.requests);
  const tally = await unsealed.sum(session, rows[0].unsealed.map(Number));
  for (const charge of tally.charges()) add(charge.account, charge.period, charge.requests);
  let latest = 0;
  for (const sum of requests.values()) if (sum.requests > 0) latest = Math.max(latest, sum.period);
  return latest;
}

/** As Books.correctPeriods, within a transaction. */
export async function correctPeriodsAfter(
  session: Session,
  unsealed: UnsealedTallies,
  period: number,
  atMs: number,
): Promise<PeriodCorrection[]> {
  await session.run(LOCK_FOLD);
  const sequences = (await session.run<{ sequence: number }>(UNSEALED)).map(({ sequence }) => sequence);
  const tally = await unsealed.sum(session, sequences);
  const charges = new Map<number, Map<number, Charge>>();
  const add = (account: number, charged: number, charge: Charge) => {
    const accounts = charges.get(charged) ?? new Map<number, Charge>();
    charges.set(charged, accounts.set(account, sumOf(accounts.get(account), charge)));
  };
  for (const { account, period: charged, ...charge } of await session.run<ChargeRow>(AFTER, [period]))
    add(account, charged, charge);
  for (const { account, period: charged, ...charge } of tally.charges())
    if (charged > period) add(account, charged, charge);
  for (const row of await session.run<DisplacedRow>(DISPLACED, [period])) {
    const { charged, issued, account, ...charge } = row;
    tally.displaced.add([charged, issued, account], charge);
  }
  const displaced = [...tally.displaced.sums()];
  const known = new Map<string, CorrectedCharge>();
  for (const row of await session.run<CorrectionRow>(CORRECTIONS)) {
    const returned = { requests: row.returned_requests, credits: row.returned_credits };
    const { requests, credits, at_ms } = row;
    known.set(`${row.to_period} ${row.from_period} ${row.account}`, {
      requests,
      credits,
      returned,
      atMs: at_ms,
    });
  }
  const times = [...known.values()].map((each) => each.atMs);
  const put = new Map<string, { key: CorrectionKey; corrected: CorrectedCharge }>();
  const book: ChargeBook = {
    latest: [...charges.keys()].reduce((a, b) => Math.max(a, b), 0),
    chargesIn: (of) => new Map(charges.get(of)),
    displacedFrom: (charged, until) =>
      displaced
        .filter(({ key }) => key[0] === charged && key[1] <= until)
        .sort((a, b) => byKey(a.key, b.key))
        .map(({ key: [, issued, accountNumber], charge }) => ({ issued, accountNumber, charge })),
    correction: (key) => known.get(key.join(' ')),
    correctedAtMs: times.reduce((a, b) => Math.max(a, b), 0),
    putCorrection: (key, corrected) => {
      known.set(key.join(' '), corrected);
      put.set(key.join(' '), { key, corrected });
    },
  };
  const moved = correctCharges(book, period, atMs);
  for (const { key, corrected } of put.values()) {
    const { requests, credits, returned } = corrected;
    await session.run(PUT_CORRECTION, [
      ...key,
      requests,
      credits,
      returned?.requests ?? 0,
      returned?.credits ?? 0,
      atMs,
    ]);
  }
  const changes = moved.flatMap(({ accountNumber: account, from, to, requests, credits }) => [
    { account, period: to, requests, credits },
    { account, period: from, requests: -requests, credits: -credits },
  ]);
  await addBalances(session, changes);
  await session.run(MOVE_GRANTS, columns(changes, 'account', 'period', 'requests', 'credits'));
  return moved;
}

function byKey(a: DisplacedKey, b: DisplacedKey): number {
  return a[1] - b[1] || a[2] - b[2];
}

interface BalanceRow {
  readonly unsealed: readonly string[];
  readonly account: number | null;
  readonly requests: number;
  readonly credits: number;
}

interface LatestRow {
  readonly unsealed: readonly string[];
  readonly period: number | null;
  readonly account: number;
  readonly requests: number;
}

interface ChargeRow extends Charge {
  readonly account: number;
  readonly period: number;
}

interface DisplacedRow extends Charge {
  readonly charged: number;
  readonly issued: number;
  readonly account: number;
}

interface CorrectionRow extends Charge {
  readonly to_period: number;
  readonly from_period: number;
  readonly account: number;
  readonly returned_requests: number;
  readonly returned_credits: number;
  readonly at_ms: number;
}
