import type { Balance } from '../records.ts';
import { accountOfKey, type Charge, chargeOf, daysOfPeriod, sumOf, usageKey } from '../usage-counters.ts';
import type { Tables } from './tables.ts';

/** As Books.balances: the sums of the month's days, by account number. */
export function balancesIn({ usage }: Pick<Tables, 'usage'>, period: number): Balance[] {
  const { first, after } = daysOfPeriod(period);
  const charges = new Map<number, Charge>();
  for (const { key, value } of usage.entries({ from: usageKey(first, 0), before: usageKey(after, 0) })) {
    const accountNumber = accountOfKey(key);
    charges.set(accountNumber, sumOf(charges.get(accountNumber), chargeOf(value)));
  }
  return [...charges]
    .sort(([a], [b]) => a - b)
    .map(([accountNumber, charge]) => ({ accountNumber, period, ...charge }));
}
