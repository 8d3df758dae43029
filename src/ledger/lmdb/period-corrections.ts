import { LedgerError } from '../ledger.ts';
import type { Balance, PeriodCorrection } from '../records.ts';
import {
  accountOfKey,
  type Charge,
  type CorrectedCharge,
  type CorrectionKey,
  creditsOf,
  type DisplacedKey,
  daysOfPeriod,
  periodOfDay,
  requestsOf,
  usageKey,
} from '../usage-counters.ts';
import type { Table } from './table.ts';
import { count, increase, type Tables } from './tables.ts';

const NOTHING: Charge = { requests: 0, credits: 0 };

/**
 * What each account was charged in the calendar month `period`, by account number: the usage of its days, charges that
 * left the month of their issue, and what an operator moved since.
 */
function chargesIn(tables: Tables, period: number): Map<number, Charge> {
  const { first, after } = daysOfPeriod(period);
  const charges = new Map<number, Charge>();
  const add = (accountNumber: number, charge: Charge, sign: 1 | -1) => {
    charges.set(accountNumber, sumOf(charges.get(accountNumber) ?? NOTHING, charge, sign));
  };
  for (const { key, value } of tables.usage.entries({
    from: usageKey(first, 0),
    before: usageKey(after, 0),
  })) {
    add(accountOfKey(key), { requests: requestsOf(value), credits: creditsOf(value) }, 1);
  }
  for (const table of [tables.displaced, tables.periodCorrections] as Table<DisplacedKey, Charge>[]) {
    for (const { key, value } of table.entries()) {
      const [to, from, accountNumber] = key;
      if (to === period) add(accountNumber, value, 1);
      if (from === period) add(accountNumber, value, -1);
    }
  }
  return charges;
}

/** As Books.balances: every account that the month knows. */
export function balancesIn(tables: Tables, period: number): Balance[] {
  return [...chargesIn(tables, period)]
    .sort(([a], [b]) => a - b)
    .map(([accountNumber, charge]) => ({ accountNumber, period, ...charge }));
}

/** As Books.latestPeriod. */
export function latestPeriodOf(tables: Tables): number {
  const named = latestNamed(tables);
  const [corrected] = tables.periodCorrections.entries({ limit: 1 }); // that of the first month
  if (corrected === undefined) return named;
  const first = Math.min(corrected.key[0], periodOfDay(count(tables.meta, 'firstUsageDay')));
  for (let period = named; period >= first; period = monthBefore(period)) {
    if ([...chargesIn(tables, period).values()].some(({ requests }) => requests > 0)) return period;
  }
  return 0;
}

/** The latest month that any usage or charge names, whatever was corrected. */
function latestNamed({ displaced, meta }: Tables): number {
  const lastDay = count(meta, 'lastUsageDay');
  const [last] = displaced.entries({ reverse: true, limit: 1 });
  return Math.max(lastDay === 0 ? 0 : periodOfDay(lastDay), last?.key[0] ?? 0);
}

/**
 * Moves what was charged to months after `period`, inside a write transaction, and gives what was moved: to the month of
 * its issue where that is not later than `period`, and to `period` where a wrong clock dated the answer too. The records
 * of usage stay as they are, because certificates carry those dates. Throws when an earlier correction is later than `atMs`:
 * the clock is then behind, and charges of the present month would move to a month that has passed.
 */
export function correctPeriodsAfter(tables: Tables, period: number, atMs: number): PeriodCorrection[] {
  for (const { value } of tables.periodCorrections.entries()) {
    if (value.atMs <= atMs) continue;
    const before = new Date(value.atMs).toISOString();
    throw new LedgerError(
      'refused',
      `charges were corrected at ${before}, which is later than the system clock now: the clock is behind. Set it and repeat the command`,
    );
  }
  const moved = new Map<string, PeriodCorrection>();
  for (let from = latestNamed(tables); from > period; from = monthBefore(from)) {
    const rest = chargesIn(tables, from);
    const move = (to: number, accountNumber: number, charge: Charge, isReturned: boolean) => {
      if (charge.requests === 0 && charge.credits === 0) return;
      const key: CorrectionKey = [to, from, accountNumber];
      const known = tables.periodCorrections.get(key);
      if (known === undefined) increase(tables.meta, 'periodCorrections', 1);
      const returned = sumOf(returnedBy(known), isReturned ? charge : NOTHING, 1);
      tables.periodCorrections.put(key, { ...sumOf(known ?? NOTHING, charge, 1), returned, atMs });
      rest.set(accountNumber, sumOf(rest.get(accountNumber) ?? NOTHING, charge, -1));
      const sum = sumOf(moved.get(key.join(' ')) ?? NOTHING, charge, 1);
      moved.set(key.join(' '), { accountNumber, from, to, ...sum });
    };
    const issuedBefore = [...tables.displaced.entries({ from: [from, 0, 0], before: [from, period + 1, 0] })];
    for (const { key, value } of issuedBefore) {
      const [, issued, accountNumber] = key;
      const before = returnedBy(tables.periodCorrections.get([issued, from, accountNumber]));
      const { requests, credits } = sumOf(value, before, -1);
      // a record of an earlier release may name more than was issued then: nothing is ever moved back
      move(issued, accountNumber, { requests: Math.max(0, requests), credits: Math.max(0, credits) }, true);
    }
    for (const [accountNumber, charge] of [...rest]) move(period, accountNumber, charge, false);
  }
  return [...moved.values()];
}

/** What was moved back to the month of its issue; a record of an earlier release may hold other charges too. */
function returnedBy(correction: CorrectedCharge | undefined): Charge {
  return correction === undefined ? NOTHING : (correction.returned ?? correction);
}

function sumOf(a: Charge, b: Charge, sign: 1 | -1): Charge {
  return { requests: a.requests + sign * b.requests, credits: a.credits + sign * b.credits };
}

function monthBefore(period: number): number {
  return period % 100 === 1 ? period - 89 : period - 1;
}
