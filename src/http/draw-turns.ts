import type { Clock } from '../core/clock.ts';
import { LIMITS } from '../core/limits.ts';
import type { AccountShares } from './account-shares.ts';
import type { Exchange } from './exchange.ts';

/**
 * So many requests of an account are served in a turn of the loop although others wait too, and it has more of them than all
 * the others together.
 */
const SHARE_MIN = 8;

/** How long requests are held when all of them are of accounts that have used up their time. */
const REST_MS = 1;

interface Waiting {
  readonly exchange: Pick<Exchange, 'account' | 'isLate'>;
  /** Never throws. `nowMs` is one reading of the monotonic clock for the turn. */
  readonly serve: (nowMs: number) => void;
  /** When it was first held for another turn (monotonic). */
  heldSinceMs?: number;
}

/**
 * Requests for values between their arrival and their draw, and others that count against the rate of an account. They are served
 * when the loop has read all connections that were ready, which is in the turn in which they came: `setImmediate` runs behind the
 * reading. So what comes together shares the turn and a segment.
 *
 * Where several accounts have requests, none gets more than half of a turn, nor more than its share of the loop's time
 * (account-shares.ts), and an account that has used none of late is first: a client asks again when it is answered, so the length of a turn
 * decides how often everybody is. What is held for `largeQueueMs` is marked as late, and admission sheds it if it is expensive: shares would
 * otherwise take the bound from the queue.
 */
export class DrawTurns {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #endTurn: () => void;
  readonly #shares: AccountShares;
  /** Came in this turn of the loop. */
  #arrived: Waiting[] = [];
  /** Had no share of the turns before. */
  #held: Waiting[] = [];
  #isScheduled = false;
  #rest: NodeJS.Timeout | undefined;

  /** `endTurn` is called behind each turn that served something, and never throws. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, shares: AccountShares, endTurn: () => void) {
    this.#clock = clock;
    this.#shares = shares;
    this.#endTurn = endTurn;
  }

  add(exchange: Waiting['exchange'], serve: Waiting['serve']): void {
    this.#arrived.push({ exchange, serve });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    const { now, later } = sharedTurn(
      this.#held.length === 0 ? this.#arrived : this.#held.concat(this.#arrived),
    );
    this.#held = later;
    this.#arrived = [];
    if (now.length > 0) {
      const nowMs = this.#clock.monotonicMs();
      for (const each of later) each.heldSinceMs ??= nowMs;
      this.#serve(now, nowMs);
    }
    if (this.#held.length > 0) this.#scheduleHeld();
  };

  /** Turns that serve nothing would take a processor from the threads that commit and make answers. */
  #scheduleHeld(): void {
    if (this.#held.some(({ exchange }) => this.#shares.hasTime(exchange.account))) this.#schedule();
    else this.#rest ??= setTimeout(this.#afterRest, REST_MS);
  }

  readonly #afterRest = (): void => {
    this.#rest = undefined;
    this.#schedule();
  };

  #serve(now: readonly Waiting[], nowMs: number): void {
    for (const { exchange, heldSinceMs } of now)
      exchange.isLate = heldSinceMs !== undefined && nowMs - heldSinceMs > LIMITS.largeQueueMs;
    this.#shares.beginTurn(now, nowMs);
    if (this.#shares.isShared) this.#serveShares(now, nowMs);
    else for (const each of now) each.serve(nowMs);
    this.#endTurn();
  }

  /** Each account is served while it has time, those that used none of late before the others; the rest is held, first come first. */
  #serveShares(now: readonly Waiting[], nowMs: number): void {
    const shares = this.#shares;
    const others: Waiting[] = [];
    const held: Waiting[] = [];
    const serve = (each: Waiting) => {
      const { account } = each.exchange;
      if (shares.take(account)) shares.spend(account, () => each.serve(nowMs));
      else {
        each.heldSinceMs ??= nowMs;
        held.push(each);
      }
    };
    for (const each of now) {
      if (shares.owedMs(each.exchange.account) === 0) serve(each);
      else others.push(each);
    }
    for (const each of others) serve(each);
    if (held.length > 0) this.#held = held.concat(this.#held);
  }
}

/** What is served now, first come first, and what waits for the next turn. */
export function sharedTurn<T extends Pick<Waiting, 'exchange'>>(
  ready: T[],
): { readonly now: T[]; readonly later: T[] } {
  const first = ready.at(0)?.exchange.account;
  if (ready.length <= SHARE_MIN || ready.every(({ exchange }) => exchange.account === first))
    return { now: ready, later: [] };
  const counts = new Map<unknown, number>();
  for (const { exchange } of ready) counts.set(exchange.account, (counts.get(exchange.account) ?? 0) + 1);
  const now: T[] = [];
  const later: T[] = [];
  const served = new Map<unknown, number>();
  for (const each of ready) {
    const { account } = each.exchange;
    const share = Math.max(SHARE_MIN, ready.length - counts.get(account)!);
    const taken = served.get(account) ?? 0;
    served.set(account, taken + 1);
    if (taken < share) now.push(each);
    else later.push(each);
  }
  return { now, later };
}
