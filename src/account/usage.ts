import { type Clock, dayOf, isoTime, periodEndMs, periodOf } from '../core/clock.ts';
import {
  DATA_ENDPOINTS,
  type DataEndpoint,
  ENTROPY_MODES,
  type EntropyMode,
  type Tier,
} from '../core/vocabulary.ts';
import type { Books } from '../ledger/ledger.ts';
import type { UsageCount, UsageDay } from '../ledger/records.ts';
import type { Account } from './directory.ts';

const DAYS_SHOWN = 31;

/** The `data` member of GET /v1/usage. Times are ISO 8601 in UTC; 2^53 - 1 stands for unlimited. */
export interface Usage {
  /** `YYYY-MM` */
  readonly period: string;
  readonly starts_at: string;
  readonly ends_at: string;
  readonly tier: Tier;
  /** Data requests of the month; on a single node those in flight included. */
  readonly requests: {
    readonly used: number;
    readonly limit: number;
    readonly remaining: number;
  };
  readonly rate: {
    readonly limit_per_minute: number;
    readonly burst: number;
    readonly remaining: number;
    readonly reset_at: string;
  };
  /** Bytes of pure mode; on a single node those in flight included. */
  readonly credits: {
    readonly total: number;
    readonly used: number;
    readonly remaining: number;
  };
  /** Answers of the month that are on record, each endpoint and mode named even when unused. */
  readonly by_endpoint: Readonly<Record<DataEndpoint, UsageCount>>;
  readonly by_mode: Readonly<Record<EntropyMode, UsageCount>>;
  /** The last 31 days, oldest first, today included. */
  readonly days: readonly DayUsage[];
}

interface DayUsage extends UsageCount {
  /** `YYYY-MM-DD` */
  readonly date: string;
  readonly credits: number;
}

/** What one account has used, and what is left. Shows nothing of any other account. */
export async function usageOf(account: Account, books: Pick<Books, 'usage'>, clock: Clock): Promise<Usage> {
  const nowMs = clock.wallMs();
  const { meter, allowance, record } = account;
  const today = dayOf(nowMs);
  // never after the first of the month: no month has more than 31 days
  const firstDay = today - DAYS_SHOWN + 1;
  const recorded = (await books.usage(record.number, firstDay)).filter(({ day }) => day <= today);
  const counted = meter.used(periodOf(nowMs));
  const month = calendarMonth(counted.period);
  const rate = meter.peek(clock.monotonicMs());
  const ofMonth = recorded.filter(({ day }) => day >= dayOf(month.startMs));
  // what other nodes have used of the month is in the books, which have each answer that has left
  const used = meter.isShared ? answeredIn(ofMonth) : counted;
  return {
    period: isoDay(month.startMs).slice(0, 7),
    starts_at: isoTime(month.startMs),
    ends_at: isoTime(month.endMs),
    tier: record.tier,
    requests: {
      used: used.requests,
      limit: allowance.requestsPerMonth,
      remaining: Math.max(0, allowance.requestsPerMonth - used.requests),
    },
    rate: {
      limit_per_minute: meter.limit.requestsPerMinute,
      burst: meter.limit.burst,
      remaining: rate.remaining,
      reset_at: isoTime(nowMs + rate.resetAfterMs),
    },
    credits: {
      total: allowance.creditsPerMonth,
      used: used.credits,
      remaining: Math.max(0, allowance.creditsPerMonth - used.credits),
    },
    by_endpoint: sumBy(DATA_ENDPOINTS, ofMonth, (day) => day.byEndpoint),
    by_mode: sumBy(ENTROPY_MODES, ofMonth, (day) => day.byMode),
    days: lastDays(firstDay, recorded),
  };
}

function answeredIn(days: readonly UsageDay[]): { requests: number; credits: number } {
  const sum = { requests: 0, credits: 0 };
  for (const { requests, credits } of days) {
    sum.requests += requests;
    sum.credits += credits;
  }
  return sum;
}

function calendarMonth(period: number): { startMs: number; endMs: number } {
  const startMs = Date.UTC(Math.floor(period / 100), (period % 100) - 1, 1);
  return { startMs, endMs: periodEndMs(startMs) };
}

function sumBy<W extends string>(
  words: readonly W[],
  days: readonly UsageDay[],
  countsOf: (day: UsageDay) => Readonly<Partial<Record<W, UsageCount>>>,
): Record<W, UsageCount> {
  const sums = words.map((word): [W, UsageCount] => {
    const sum = { requests: 0, values: 0, bytes: 0 };
    for (const day of days) {
      const count = countsOf(day)[word];
      sum.requests += count?.requests ?? 0;
      sum.values += count?.values ?? 0;
      sum.bytes += count?.bytes ?? 0;
    }
    return [word, sum];
  });
  return Object.fromEntries(sums) as Record<W, UsageCount>;
}

function lastDays(firstDay: number, recorded: readonly UsageDay[]): DayUsage[] {
  const byDay = new Map(recorded.map((usage) => [usage.day, usage]));
  return Array.from({ length: DAYS_SHOWN }, (_, i) => {
    const usage = byDay.get(firstDay + i);
    return {
      date: isoDay(Date.UTC(1970, 0, 1 + firstDay + i)),
      requests: usage?.requests ?? 0,
      values: usage?.values ?? 0,
      bytes: usage?.bytes ?? 0,
      credits: usage?.credits ?? 0,
    };
  });
}

function isoDay(atMs: number): string {
  return isoTime(atMs).slice(0, 10);
}
