import { type Clock, dayOf, isoTime, periodEndMs, periodOf } from '../core/clock.ts';
import {
  count,
  described,
  listOf,
  object,
  oneOfWords,
  type Schema,
  type TypeOf,
  textLike,
  time,
} from '../core/schema.ts';
import { DATA_ENDPOINTS, ENTROPY_MODES, TIERS } from '../core/vocabulary.ts';
import type { Books } from '../ledger/ledger.ts';
import type { UsageCount, UsageDay } from '../ledger/records.ts';
import type { Account } from './directory.ts';

const DAYS_SHOWN = 31;

const CREDITS = 'The credits spent. One credit pays for one byte of pure mode.';
const requests = described(count, 'The number of answered requests for values.');
const values = described(count, 'The number of values in the answers.');
const bytes = described(count, 'The number of bytes that the certificates of the answers commit to.');
const used = described(count, 'The amount used in this month.');
const remaining = described(count, 'The amount that is still available.');

/** Returns the schema of the month's counts by word, with unused words included. */
function usedBy<W extends string>(words: readonly W[]): Schema<Readonly<Record<W, UsageCount>>> {
  const each = object({ requests, values, bytes }, {}, 'The usage in this month.');
  return object(Object.fromEntries(words.map((word) => [word, each])) as Record<W, typeof each>);
}

/** The `data` member of GET /v1/usage. 2^53 - 1 stands for unlimited. On a single node, requests in flight count as used. */
export const USAGE = object({
  period: described(textLike(/^\d{4}-\d{2}$/), 'The calendar month in UTC, in the form YYYY-MM.'),
  starts_at: described(time, 'The start of the month.'),
  ends_at: described(time, 'The end of the month. All monthly amounts are then available again.'),
  tier: described(oneOfWords(TIERS), 'The tier of the account.'),
  requests: described(
    object({ used, limit: described(count, 'The monthly quota of requests.'), remaining }),
    'The monthly quota of requests. Only answered requests for values count.',
  ),
  rate: described(
    object({
      limit_per_minute: described(
        count,
        'The number of requests per minute that the account may send continuously.',
      ),
      burst: described(count, 'The number of requests that the account may send at once.'),
      remaining,
      reset_at: described(time, 'The time at which the full burst is available again.'),
    }),
    'The rate limit of the account and its present state.',
  ),
  credits: described(
    object({ total: described(count, 'The credits that the account has each month.'), used, remaining }),
    'The credits of pure mode. One credit pays for one byte.',
  ),
  by_endpoint: described(usedBy(DATA_ENDPOINTS), 'The usage in this month, by endpoint.'),
  by_mode: described(usedBy(ENTROPY_MODES), 'The usage in this month, by entropy mode.'),
  days: described(
    listOf(
      object({
        date: described(
          { type: 'string', format: 'date' } as Schema<string>,
          'The day in UTC, in the form YYYY-MM-DD.',
        ),
        requests,
        values,
        bytes,
        credits: described(count, CREDITS),
      }),
    ),
    'The usage on each of the last 31 days, including today. The oldest day comes first.',
  ),
});
export type Usage = TypeOf<typeof USAGE>;

/** Returns what one account has used, and what it has left. */
export async function usageOf(account: Account, books: Pick<Books, 'usage'>, clock: Clock): Promise<Usage> {
  const nowMs = clock.wallMs();
  const { meter, allowance, record } = account;
  const today = dayOf(nowMs);
  // no later than the first of the month, since no month has more than 31 days
  const firstDay = today - DAYS_SHOWN + 1;
  const recorded = (await books.usage(record.number, firstDay)).filter(({ day }) => day <= today);
  const counted = meter.used(periodOf(nowMs));
  const month = calendarMonth(counted.period);
  const rate = meter.peek(clock.monotonicMs());
  const ofMonth = recorded.filter(({ day }) => day >= dayOf(month.startMs));
  // On a shared account only the books have what other nodes used; they have every answer that was sent.
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

function lastDays(firstDay: number, recorded: readonly UsageDay[]): Usage['days'] {
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
