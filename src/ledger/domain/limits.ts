import type { LimitAsk, LimitGrant, Limits } from '../sharing.ts';
import { type Body, type Store, tx } from '../store.ts';
import { ALLOWANCES, BALANCES, GRANTS } from '../tables.ts';
import { type Charge, type PeriodCharge, sumOf } from '../usage-counters.ts';
import { spentBefore, type Writer } from './books.ts';

/**
 * The months of all accounts, of which each node is granted parts. What is granted to all nodes together is one record of
 * ALLOWANCES, and is never more than the limit; what each life of a node has of it is in GRANTS, and goes back when that life
 * is settled. A month starts from what the books already have of it.
 */

/** Accounts take turns in so many groups. */
const GROUPS = 64;
const NOTHING: Charge = { requests: 0, credits: 0 };

/** All locks of limits. */
export const LIMIT_LOCKS = Array.from({ length: GROUPS }, (_, group) => lockOf(group));

function lockOf(accountNumber: number): string {
  return `limits/${accountNumber % GROUPS}`;
}

/** `now` tells the month by the clock of the books, and how many nodes live; it throws for a node that was fenced. */
export function limitsIn(
  store: Store,
  writer: Writer,
  now: () => Promise<{ readonly period: number; readonly nodes: number }>,
): Limits {
  return {
    isShared: async () => true,

    async askLimits(order, asks) {
      const { period, nodes } = await now();
      const locks = new Set(asks.map(({ accountNumber }) => lockOf(accountNumber)));
      const body = () => grant(order, asks, { period, nodes, writer });
      return { period, nodes, grants: asks.length === 0 ? [] : await store.write([...locks], body) };
    },
  };
}

interface Moment {
  /** After a failover the clock may be a little behind what a node has seen. */
  readonly period: number;
  readonly nodes: number;
  readonly writer: Writer;
}

/**
 * What the node says that it holds takes the place of what it was granted before, and what it is granted now is added. A call
 * that is older than the newest, or the same again, finds what the newest left.
 */
function* grant(
  order: number,
  asks: readonly LimitAsk[],
  { period: current, nodes, writer }: Moment,
): Body<LimitGrant[]> {
  const months = asks.map((ask) => [Math.max(ask.period, current), ask.accountNumber] as const);
  const keys = months.map((month) => [writer.number, writer.epoch, ...month] as const);
  const booked = yield* tx.getMany(BALANCES, months);
  const granted = yield* tx.getMany(ALLOWANCES, months);
  const parts = yield* tx.getMany(GRANTS, keys);
  const grants: LimitGrant[] = [];
  for (const [i, ask] of asks.entries()) {
    const [period] = months[i];
    const had = parts[i] ?? { ...NOTHING, order: 0 };
    const before = granted[i] ?? booked[i] ?? NOTHING;
    const held = heldOf(ask, period);
    const isNewest = had.order < order;
    const part = isNewest ? { ...partOf(ask, period, { before, had, held, nodes }), order } : had;
    const all = {
      requests: before.requests + part.requests - had.requests,
      credits: before.credits + part.credits - had.credits,
    };
    // Nothing is written where the node holds what is on record and gets no more. An older call that comes late is then taken for
    // the newest, and does no harm: nothing was granted since it was sent, so the node holds no more than it says.
    if (isNewest && !(areEqual(held, had) && areEqual(part, had))) {
      yield* tx.put(GRANTS, keys[i], part);
      yield* tx.put(ALLOWANCES, months[i], all);
    }
    grants.push({
      accountNumber: ask.accountNumber,
      period,
      requestsGranted: part.requests,
      creditsGranted: part.credits,
      requestsLeft: Math.max(0, ask.requestsTotal - all.requests),
      creditsLeft: Math.max(0, ask.creditsTotal - all.credits),
      requestsUnused: Math.max(0, all.requests - (booked[i]?.requests ?? 0)),
    });
  }
  return grants;
}

/** What the node says that it holds of the month: nothing of one that has just begun. */
function heldOf({ period, requestsGranted, creditsGranted }: LimitAsk, current: number): Charge {
  return period === current ? { requests: requestsGranted, credits: creditsGranted } : NOTHING;
}

function areEqual(a: Charge, b: Charge): boolean {
  return a.requests === b.requests && a.credits === b.credits;
}

/** What the node has of the month from now on. A limit that was lowered below what is granted leaves nothing. */
function partOf(
  ask: LimitAsk,
  period: number,
  {
    before,
    had,
    held: { requests, credits },
    nodes,
  }: { readonly before: Charge; readonly had: Charge; readonly held: Charge; readonly nodes: number },
): Charge {
  // the new month begins with what was there unused of the last one
  const unused = ask.period === period ? 0 : Math.max(0, ask.requestsGranted - ask.requestsUsed);
  const requestsLeft = Math.max(0, ask.requestsTotal - (before.requests - had.requests + requests));
  const creditsLeft = Math.max(0, ask.creditsTotal - (before.credits - had.credits + credits));
  // of what is left, half stays for the next calls
  const requestsMax = Math.ceil(requestsLeft / (2 * nodes));
  return {
    requests: requests + Math.min(unused + ask.requestsWanted, requestsMax),
    credits: credits + Math.min(creditsLeft, ask.creditsWanted),
  };
}

/**
 * Gives back what the earlier lives of the node were granted and did not spend: exactly, since none of them can commit any
 * more, and what they committed is all here, counted or unsealed. Gives what they spent beyond it, which stays charged. Under
 * LOG_LOCK and LIMIT_LOCKS.
 */
export function* settle(writer: Writer): Body<readonly PeriodCharge[]> {
  const { number, epoch } = writer;
  const parts = yield* tx.range(GRANTS, { from: [number, 0, 0, 0], before: [number, epoch, 0, 0] });
  const spent = new Map<string, Charge>();
  for (const each of yield* spentBefore(writer)) {
    const key = `${each.epoch} ${each.period} ${each.account}`;
    spent.set(key, sumOf(spent.get(key), each));
  }
  const months = parts.map(({ key: [, , period, account] }) => [period, account] as const);
  const found = yield* tx.getMany(ALLOWANCES, months);
  const allowances = new Map(found.map((granted, i) => [String(months[i]), granted ?? NOTHING]));
  const over: PeriodCharge[] = [];
  for (const [i, { key, value }] of parts.entries()) {
    const [, of, period, account] = key;
    const { requests, credits } = spent.get(`${of} ${period} ${account}`) ?? NOTHING;
    const left = { requests: value.requests - requests, credits: value.credits - credits };
    if (left.requests < 0 || left.credits < 0)
      over.push({ account, period, requests: -left.requests, credits: -left.credits });
    const granted = allowances.get(String(months[i])) ?? NOTHING;
    allowances.set(String(months[i]), {
      requests: granted.requests - Math.max(0, left.requests),
      credits: granted.credits - Math.max(0, left.credits),
    });
    yield* tx.remove(GRANTS, [key]);
  }
  for (const month of months) yield* tx.put(ALLOWANCES, month, allowances.get(String(month)) ?? NOTHING);
  return over;
}
