import type { Account, AccountDirectory } from '../account/directory.ts';
import { retryAfterS } from '../account/meter.ts';
import type { Answers } from '../answer/answers.ts';
import { NO_STORE } from '../answer/fields.ts';
import type { DataRequest } from '../answer/request.ts';
import { atMostEvery, type Clock, dayOf, periodOf } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { AS_JSON } from './answer-reply.ts';
import { valuesRequest } from './endpoints/values.ts';
import { type Reply, replyOf } from './reply.ts';
import { newRequestId, type RandomBytes } from './request-id.ts';
import type { PlainRoute } from './route-table.ts';

export interface DemoSources {
  readonly answers: Answers;
  readonly directory: Pick<AccountDirectory, 'demo'>;
  readonly clock: Clock;
  /** System entropy for request ids, not for values. */
  readonly random: RandomBytes;
}

/**
 * Everybody who asks within this time gets the same answer or refusal. So a front draws at most one answer a second, however many
 * visitors ask, and `requireShare` bounds what they use over time.
 */
const SHARED_FOR_MS = 1_000;

const DIE = { min: 1, max: 6, unique: false, sort: 'none' } as const;
const A_THROW: DataRequest = { ...valuesRequest('integers', DIE, 1), mode: undefined, dryRun: false };

/** `POST /demo/die` throws a die on the demo account, for anybody without a key. Answers 404 if there is no demo account. */
export function demoRoute(sources: DemoSources): PlainRoute {
  // refusals are shared too, because the search for the demo account goes through all accounts
  const draw = atMostEvery(SHARED_FOR_MS, sources.clock, async () => {
    const reply = drawn(sources);
    await Promise.allSettled([reply]);
    return { reply };
  });
  const handler = async () => (await draw()).reply;
  return { path: '/demo/die', methods: ['POST'], handler };
}

async function drawn(sources: DemoSources): Promise<Reply> {
  const { answers, directory, clock, random } = sources;
  const account = directory.demo();
  if (account === undefined) throw new ApiError('not_found', { message: NO_DEMO });
  requireShare(account, clock);
  const atMs = clock.wallMs();
  const ask = {
    requestId: newRequestId(random, atMs),
    atMs,
    startedMonotonicMs: clock.monotonicMs(),
    offer: AS_JSON,
    ignored: '',
    keeping: undefined,
    by: {
      mode: undefined,
      // the client that asked first may leave, because others get the same answer
      isGone: false,
      isAnswered: false,
    },
  };
  const { meter } = account;
  const reservation = meter.enter(clock.monotonicMs(), periodOf(atMs));
  if (!reservation.isAllowed)
    throw new ApiError('rate_limited', { retryAfterS: retryAfterS(meter.decision) });
  const { body, release } = await answers.draw(ask, account, reservation, A_THROW);
  const reply = replyOf(200, 'application/json', body.slice(), [NO_STORE]);
  release();
  return { ...reply, hasValues: true };
}

/**
 * Throws `rate_limited` when the demo account has been used beyond the visitors' share, so that they cannot lock out the holder of
 * its key. The share is half of the burst, and half of the month's requests, released in equal parts day by day. Requests with the
 * key count too.
 */
function requireShare({ meter, allowance }: Account, clock: Clock): void {
  const wallMs = clock.wallMs();
  const { remaining } = meter.peek(clock.monotonicMs());
  const isBurstUsed = remaining <= meter.burstHere * VISITORS_SHARE;
  const { requestsPerMonth } = allowance;
  const used = requestsPerMonth - meter.left(periodOf(wallMs)).requests;
  const shareNow = (requestsPerMonth * VISITORS_SHARE * new Date(wallMs).getUTCDate()) / DAYS_OF_MONTH_MAX;
  if (!isBurstUsed && used < shareNow) return;
  const waitMs = isBurstUsed ? SHARED_FOR_MS : (dayOf(wallMs) + 1) * DAY_MS - wallMs;
  throw new ApiError('rate_limited', { message: SHARE_USED, retryAfterS: Math.ceil(waitMs / 1_000) });
}

const VISITORS_SHARE = 1 / 2;
const DAYS_OF_MONTH_MAX = 31;
const DAY_MS = 24 * 60 * 60_000;
const SHARE_USED =
  'Visitors have used up their share of the demo account for now. Retry after the number of seconds in Retry-After, or use an API key.';

const NO_DEMO = 'The service has no demo account with a valid key, so its page cannot draw values.';
