import type { Exchange } from './exchange.ts';

/**
 * So many requests of an account are served in a turn of the loop although others wait too, and it has more of them than all
 * the others together.
 */
const SHARE_MIN = 8;

interface Waiting {
  readonly exchange: Exchange;
}

/**
 * Requests for values between their arrival and their draw.
 *
 * They wait until the loop has read their connections once more. The HTTP library reads a connection on after it handed a
 * request over, and cuts it for a pipelined request; it sees the end or the reset of a connection only in the next turn,
 * because one turn reads a socket once. A client that is gone by then is neither counted nor charged. `setImmediate` runs
 * behind the reading of its turn, so the second one is behind the second reading.
 *
 * Where several accounts have requests, none gets more than half of a turn: a client asks again when it is answered, so the
 * length of a turn decides how often everybody is.
 */
export class DrawTurns<T extends Waiting> {
  readonly #serve: (ready: readonly T[]) => void;
  /** Came in this turn of the loop. */
  #arrived: T[] = [];
  /** Those of the turn before. */
  #readAgain: T[] = [];
  /** Were read twice, and had no share of the turn. */
  #held: T[] = [];
  #isScheduled = false;

  /** `serve` never throws. */
  constructor(serve: (ready: readonly T[]) => void) {
    this.#serve = serve;
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
    if (this.#readAgain.length > 0 || later.length > 0) this.#schedule();
    if (now.length > 0) this.#serve(now);
  };
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
