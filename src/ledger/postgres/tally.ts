import type { SegmentRecord } from '../records.ts';
import {
  accountOfKey,
  type Charge,
  chargeOf,
  DisplacedTally,
  dayOfKey,
  periodOfDay,
  sumOf,
  UsageTally,
} from '../usage-counters.ts';

/** What an account was charged in a month. */
export interface PeriodCharge extends Charge {
  readonly account: number;
  /** `YYYYMM`. */
  readonly period: number;
}

/** What a group of segments adds to the counters. */
export class SegmentTally {
  readonly usage = new UsageTally();
  readonly displaced = new DisplacedTally();

  add(segment: Pick<SegmentRecord, 'displaced' | 'entries'>): void {
    this.usage.addSegment(segment.entries);
    this.displaced.addSegment(segment);
  }

  addTally(more: SegmentTally): void {
    for (const [key, counters] of more.usage.counters) this.usage.add(key, counters);
    for (const { key, charge } of more.displaced.sums()) this.displaced.add(key, charge);
  }

  /** The months that were charged: those of issue, but for what was displaced. */
  charges(): PeriodCharge[] {
    const sums = new Map<string, PeriodCharge>();
    const add = (account: number, period: number, charge: Charge, sign: 1 | -1 = 1) => {
      const key = `${account} ${period}`;
      sums.set(key, { account, period, ...sumOf(sums.get(key), charge, sign) });
    };
    for (const [key, counters] of this.usage.counters)
      add(accountOfKey(key), periodOfDay(dayOfKey(key)), chargeOf(counters));
    for (const { key, charge } of this.displaced.sums()) {
      const [charged, issued, account] = key;
      add(account, charged, charge);
      add(account, issued, charge, -1);
    }
    return [...sums.values()].sort((a, b) => a.account - b.account || a.period - b.period);
  }
}
