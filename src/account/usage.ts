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

const CREDITS = 'Bytes of pure mode.';
const requests = described(count, 'Requests for values that were answered.');
const values = described(count, 'How many values they had.');
const bytes = described(count, 'Bytes that their certificates commit to.');
const used = described(count, 'What was used.');
const remaining = described(count, 'What is left.');

/** Returns the schema of the month's counts by word, with unused words included. */
function usedBy<W extends string>(words: readonly W[]): Schema<Readonly<Record<W, UsageCount>>> {
  const each = object({ requests, values, bytes }, {}, 'How much of it was used.');
  return object(Object.fromEntries(words.map((word) => [word, each])) as Record<W, typeof each>);
}

/** The `data` member of GET /v1/usage. 2^53 - 1 stands for unlimited. On a single node, requests in flight count as used. */
export const USAGE = object({
  period: described(textLike(/^\d{4}-\d{2}$/), 'The calendar month, in UTC.'),
  starts_at: described(time, 'When it begins.'),
  ends_at: described(time, 'When it ends.'),
  tier: described(oneOfWords(TIERS), 'The tier of the account.'),
  requests: described(
    object({ used, limit: described(count, 'The most.'), remaining }),
    'Requests for values that were answered.',
  ),
  rate: described(
    object({
      limit_per_minute: described(count, 'Requests a minute.'),
      burst: described(count, 'Requests that may come at once.'),
      remaining,
      reset_at: described(time, 'When the full burst is there again.'),
    }),
    'Where the account stands with its rate.',
  ),
  credits: described(object({ total: described(count, 'All of them.'), used, remaining }), CREDITS),
  by_endpoint: described(usedBy(DATA_ENDPOINTS), 'The same by endpoint.'),
  by_mode: described(usedBy(ENTROPY_MODES), 'The same by entropy mode.'),
  days: described(
    listOf(
      object({
        date: described({ type: 'string', format: 'date' } as Schema<string>, 'The day, in UTC.'),
        requests,
        values,
        bytes,
        credits: described(count, CREDITS),
      }),
    ),
    'The last 31 days, oldest first, today included.',
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
