import { type ChargeBook, correctCharges, monthBefore } from '../period-corrections.ts';
import type { Balance, PeriodCorrection } from '../records.ts';
import {
  accountOfKey,
  type Charge,
  chargeOf,
  type DisplacedKey,
  daysOfPeriod,
  periodOfDay,
  sumOf,
  usageKey,
} from '../usage-counters.ts';
import type { Table } from './table.ts';
import { count, increase, type Tables } from './tables.ts';

/**
 * What each account was charged in the calendar month `period`, by account number: the usage of its days, charges that
 * left the month of their issue, and what an operator moved since.
 */
function chargesIn(tables: Tables, period: number): Map<number, Charge> {
  const { first, after } = daysOfPeriod(period);
  const charges = new Map<number, Charge>();
  const add = (accountNumber: number, charge: Charge, sign: 1 | -1) => {
    charges.set(accountNumber, sumOf(charges.get(accountNumber), charge, sign));
  };
  for (const { key, value } of tables.usage.entries({
    from: usageKey(first, 0),
    before: usageKey(after, 0),
  })) {
    add(accountOfKey(key), chargeOf(value), 1);
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

/** See correctCharges; inside a write transaction. */
export function correctPeriodsAfter(tables: Tables, period: number, atMs: number): PeriodCorrection[] {
  const { displaced, meta, periodCorrections } = tables;
  const times = [...periodCorrections.entries()].map(({ value }) => value.atMs);
  const book: ChargeBook = {
    latest: latestNamed(tables),
    chargesIn: (of) => chargesIn(tables, of),
    displacedFrom: (charged, until) =>
      [...displaced.entries({ from: [charged, 0, 0], before: [charged, until + 1, 0] })].map(
        ({ key: [, issued, accountNumber], value }) => ({ issued, accountNumber, charge: value }),
      ),
    correction: (key) => periodCorrections.get(key),
    correctedAtMs: times.reduce((a, b) => Math.max(a, b), 0),
    putCorrection: (key, corrected) => {
      if (!periodCorrections.has(key)) increase(meta, 'periodCorrections', 1);
      periodCorrections.put(key, corrected);
    },
  };
  return correctCharges(book, period, atMs);
}
