import type { LimitAsk, LimitGrant, Limits } from '../sharing.ts';
import { type Body, type Store, tx } from '../store.ts';
import { ALLOWANCES, BALANCES, GRANTS } from '../tables.ts';
import { type Charge, type PeriodCharge, sumOf } from '../usage-counters.ts';
import { spentBefore, type Writer } from './books.ts';

/**
 * The monthly limits of accounts, of which each node is granted parts. ALLOWANCES has what all nodes together were granted of
 * an account's month, never more than the limit. GRANTS has the part of each epoch of a node; the unspent rest of it goes
 * back when the epoch is settled. The first grant of a month starts from what the books already have of it.
 */

/** Count of locks that the accounts share. */
const GROUPS = 64;
const NOTHING: Charge = { requests: 0, credits: 0 };

/** All locks of limits. */
export const LIMIT_LOCKS = Array.from({ length: GROUPS }, (_, group) => lockOf(group));

function lockOf(accountNumber: number): string {
  return `limits/${accountNumber % GROUPS}`;
}

/** `now` returns the month by the clock of the books and the count of live nodes. It throws for a node that was fenced. */
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
 * Replaces what the node was granted before by what it says that it holds, and adds what it is granted now. A repeated call,
 * or one that is older than the newest, changes nothing and returns what the newest left.
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
    // Writes nothing when the node holds what is on record and gets no more. The record then keeps its old order, so an older
    // call that comes late counts as the newest. That does no harm: nothing was granted since it was sent.
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

/** Returns what the node says that it holds of the month `current`: nothing when the ask is of an earlier month. */
function heldOf({ period, requestsGranted, creditsGranted }: LimitAsk, current: number): Charge {
  return period === current ? { requests: requestsGranted, credits: creditsGranted } : NOTHING;
}

function areEqual(a: Charge, b: Charge): boolean {
  return a.requests === b.requests && a.credits === b.credits;
}

/** Returns what the node holds of the month from now on. It gets nothing more when the limit is below what is granted. */
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
  // in a new month the node gets as many requests as it held unused in the last one
  const unused = ask.period === period ? 0 : Math.max(0, ask.requestsGranted - ask.requestsUsed);
  const requestsLeft = Math.max(0, ask.requestsTotal - (before.requests - had.requests + requests));
  const creditsLeft = Math.max(0, ask.creditsTotal - (before.credits - had.credits + credits));
  // half of what is left stays for later calls
  const requestsMax = Math.ceil(requestsLeft / (2 * nodes));
  return {
    requests: requests + Math.min(unused + ask.requestsWanted, requestsMax),
    credits: credits + Math.min(creditsLeft, ask.creditsWanted),
  };
}

/**
 * Gives back what earlier epochs of the node were granted and did not spend. The sums are exact: these epochs can commit
 * nothing more, and the books have all that they committed, sealed or unsealed. Returns what they spent beyond their grants,
 * which stays charged. Runs under LOG_LOCK and LIMIT_LOCKS.
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
