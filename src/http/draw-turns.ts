import type { Clock } from '../core/clock.ts';
import { LIMITS } from '../core/limits.ts';
import type { Exchange } from './exchange.ts';

/**
 * So many requests of an account are served in a turn of the loop although others wait too, and it has more of them than all
 * the others together.
 */
const SHARE_MIN = 8;

/**
 * So much of the loop's time an account has in a turn while others ask too. What each of its requests costs it decides itself
 * (batches, client entropy), and those of the others need several turns each.
 */
const SLICE_MS = 1;
/** Others ask too for so long after one of them was served. */
const SHARED_MS = 100;

interface Waiting {
  readonly exchange: Exchange;
  /** When it was first held for another turn (monotonic). */
  heldSinceMs?: number;
}

/** Serves what has its turn. Neither throws. */
interface Server<T> {
  /** `nowMs` is one reading of the monotonic clock for the turn. */
  serve(each: T, nowMs: number): void;
  endTurn(): void;
}

/**
 * Requests for values between their arrival and their draw.
 *
 * They wait until the loop has read their connections once more. The HTTP library reads a connection on after it handed a
 * request over, and cuts it for a pipelined request; it sees the end or the reset of a connection only in the next turn,
 * because one turn reads a socket once. A client that is gone by then is neither counted nor charged. `setImmediate` runs
 * behind the reading of its turn, so the second one is behind the second reading.
 *
 * Where several accounts have requests, none gets more than half of a turn, nor more than a slice of time: a client asks again
 * when it is answered, so the length of a turn decides how often everybody is. What is held for longer than a front may be busy
 * (`frontTurnMs`) is marked as late, and admission sheds it if it is expensive: slices would otherwise take the bound from the queue.
 */
export class DrawTurns<T extends Waiting> {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #server: Server<T>;
  /** Came in this turn of the loop. */
  #arrived: T[] = [];
  /** Those of the turn before. */
  #readAgain: T[] = [];
  /** Were read twice, and had no share of the turn. */
  #held: T[] = [];
  #isScheduled = false;
  /** The account that was served last, and until when it shares the turns. */
  #lastServed: unknown = undefined;
  #sharedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'monotonicMs'>, server: Server<T>) {
    this.#clock = clock;
    this.#server = server;
  }

  add(waiting: T): void {
    this.#arrived.push(waiting);
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
      this.#held.length === 0 ? this.#readAgain : this.#held.concat(this.#readAgain),
    );
    this.#held = later;
    this.#readAgain = this.#arrived;
    this.#arrived = [];
    if (now.length > 0) {
      const nowMs = this.#clock.monotonicMs();
      for (const each of later) each.heldSinceMs ??= nowMs;
      this.#serve(now, nowMs);
    }
    if (this.#readAgain.length > 0 || this.#held.length > 0) this.#schedule();
  };

  #serve(now: readonly T[], nowMs: number): void {
    for (const { exchange, heldSinceMs } of now) {
      exchange.isLate = heldSinceMs !== undefined && nowMs - heldSinceMs > LIMITS.frontTurnMs;
      if (exchange.account === this.#lastServed) continue;
      if (this.#lastServed !== undefined) this.#sharedUntilMs = nowMs + SHARED_MS;
      this.#lastServed = exchange.account;
    }
    if (nowMs < this.#sharedUntilMs) this.#serveSlices(now, nowMs);
    else for (const each of now) this.#server.serve(each, nowMs);
    this.#server.endTurn();
  }

  /** Each account is served for as long as its slice is not used up; the rest is held, first come first. */
  #serveSlices(now: readonly T[], nowMs: number): void {
    const spentMs = new Map<unknown, number>();
    const held: T[] = [];
    let startedMs = nowMs;
    for (const each of now) {
      const { account } = each.exchange;
      const spent = spentMs.get(account) ?? 0;
      if (spent >= SLICE_MS) {
        each.heldSinceMs ??= nowMs;
        held.push(each);
        continue;
      }
      this.#server.serve(each, nowMs);
      const endedMs = this.#clock.monotonicMs();
      spentMs.set(account, spent + endedMs - startedMs);
      startedMs = endedMs;
    }
    if (held.length > 0) this.#held = held.concat(this.#held);
  }
}

/** What is served now, first come first, and what waits for the next turn. */
export function sharedTurn<T extends Waiting>(ready: T[]): { readonly now: T[]; readonly later: T[] } {
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
