import type { SegmentRecord } from '../records.ts';
import {
  accountOfKey,
  type Charge,
  creditsOf,
  DisplacedTally,
  dayOfKey,
  periodOfDay,
  requestsOf,
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
    const add = (account: number, period: number, { requests, credits }: Charge, sign: 1 | -1) => {
      const key = `${account} ${period}`;
      const sum = sums.get(key) ?? { requests: 0, credits: 0 };
      const more = { requests: sum.requests + sign * requests, credits: sum.credits + sign * credits };
      sums.set(key, { account, period, ...more });
    };
    for (const [key, counters] of this.usage.counters) {
      const charge = { requests: requestsOf(counters), credits: creditsOf(counters) };
      add(accountOfKey(key), periodOfDay(dayOfKey(key)), charge, 1);
    }
    for (const { key, charge } of this.displaced.sums()) {
      const [charged, issued, account] = key;
      add(account, charged, charge, 1);
      add(account, issued, charge, -1);
    }
    return [...sums.values()].sort((a, b) => a.account - b.account || a.period - b.period);
  }
}
