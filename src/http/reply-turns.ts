import type { Clock } from '../core/clock.ts';
import type { Budget, Hold, Owner } from '../fair/budget.ts';

/**
 * So many requests are answered in the turn of the loop in which they came; then the reply waits for the end of the
 * turn. The library reads a connection again as long as its 512 KB buffer was filled, and runs microtasks between
 * requests, so one client that sends without end requests that are answered at once, or by a promise that is settled
 * already, would keep the loop for itself. With its reply outstanding, the next of its requests cuts its connection;
 * nobody else notices more than the wait.
 */
const REPLIES_PER_TURN_MAX = 512;

/** As many unpaid replies as this leave one a turn; of more, each turn sends this part. So they wait seconds at most. */
const UNPAID_TURNS = 1_024;

/** Beside paid requests an unpaid turn lasts as long as this, or as a turn of the loop that is longer. */
const UNPAID_INTERVAL_MS = 1;

/**
 * Beside paid requests the time that it took to make unpaid replies and to send them is followed by so many times as much in which
 * none is sent: pages that take milliseconds to make and to compress, and documents of 200 KB, would otherwise be in every turn of
 * the loop, of which a paid request needs several.
 */
const REST_PER_COST = 3;
/** The longest such pause. */
const REST_MAX_MS = 100;

/** What a document takes, about, that waits to be written out. */
export const UNMADE_REPLY_BYTES = 16 * 1024;

/** Paid requests count as under way for so many unpaid turns after a paid reply. */
const PAID_TURNS = 64;

/** One turn of the loop in which requests come, and when the first of them came. */
export interface Turn {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/**
 * Shares the turns of a front's loop among its replies. Beside paid requests, replies that no account pays for
 * leave one a millisecond: the cheapest ones, 404 to 32 connections that ask again at once, took nine tenths of the rate of
 * paid requests, which need several turns each, and so did the largest, pages of 200 KB. A connection gets its next reply after this one, so those who ask faster
 * only wait longer.
 */
export class ReplyTurns {
  /** Unpaid replies that wait, by whose they are, first come first. Who is first in the map is served next. */
  readonly #unpaid = new Map<number, (() => void)[]>();
  #unpaidCount = 0;
  /** Memory of bodies that wait, and how many replies wait with each. */
  readonly #bodies = new Map<ArrayBufferLike, { count: number; readonly hold: Hold }>();
  #isUnpaidTurnOver = true;
  /** Of the loop's time that was spent on making unpaid replies, what no pause has followed yet. */
  #unpaidCostMs = 0;
  /** Unpaid turns since the last paid reply. */
  #turnsSincePaid = PAID_TURNS;
  readonly #clock: Pick<Clock, 'wallMs' | 'monotonicMs'>;
  #turn: Turn | undefined;
  #replies = 0;
  readonly #end = (): void => {
    this.#turn = undefined;
  };

  constructor(clock: Pick<Clock, 'wallMs' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  /**
   * The turn in which a request comes. All requests of a turn have the time of the first: they lay ready together, and
   * reading both clocks costs as much as printing three ids.
   */
  current(): Turn {
    if (this.#turn === undefined) {
      this.#turn = { wallMs: this.#clock.wallMs(), monotonicMs: this.#clock.monotonicMs() };
      this.#replies = 0;
      setImmediate(this.#end);
    }
    return this.#turn;
  }

  /** An account pays for the reply that is written now. */
  paid(): void {
    this.#turnsSincePaid = 0;
  }

  /** Counts a reply in the turn of its request, and says whether it may be written in this turn. */
  hasRoom(turn: Turn): boolean {
    if (this.#turn !== turn) return true;
    return ++this.#replies <= REPLIES_PER_TURN_MAX;
  }

  /**
   * Whether an unpaid reply may be written at once: nobody pays, or it is the first of its turn and none waits. Counts
   * it.
   */
  hasRoomForUnpaid(): boolean {
    if (!this.#isUnpaidTurnOver) return false;
    if (this.#turnsSincePaid === PAID_TURNS) return true;
    this.#beginUnpaidTurn();
    return true;
  }

  /** A reply waits with this body, whose memory is counted for the first who waits with it. False when there is no room. */
  retain({ buffer }: Uint8Array, memory: Budget, owner: Owner): boolean {
    const known = this.#bodies.get(buffer);
    if (known !== undefined) known.count++;
    else if (!memory.fits(owner, buffer.byteLength)) return false;
    else this.#bodies.set(buffer, { count: 1, hold: memory.add(owner, buffer.byteLength) });
    return true;
  }

  /** It waits no more. */
  letGo({ buffer }: Uint8Array): void {
    const known = this.#bodies.get(buffer)!;
    if (--known.count > 0) return;
    this.#bodies.delete(buffer);
    known.hold.resize(0);
  }

  /**
   * Writes an unpaid reply when its turn has come. Those of each `whose` wait for each other, and one of every other, so that
   * a flood does not delay the refusals of an account or the probes of this machine.
   */
  afterUnpaid(write: () => void, whose: number): void {
    const waiting = this.#unpaid.get(whose);
    if (waiting === undefined) this.#unpaid.set(whose, [write]);
    else waiting.push(write);
    this.#unpaidCount++;
  }

  /** Makes or sends an unpaid reply, or a part of it, and notes how much time of the loop it took. */
  spendOnUnpaid<T>(work: () => T): T {
    const startedMs = this.#clock.monotonicMs();
    const done = work();
    const spentMs = this.#clock.monotonicMs() - startedMs;
    this.#unpaidCostMs = Math.min(this.#unpaidCostMs + spentMs, REST_MAX_MS / REST_PER_COST);
    return done;
  }

  #beginUnpaidTurn(): void {
    this.#isUnpaidTurnOver = false;
    if (this.#turnsSincePaid === PAID_TURNS) {
      this.#unpaidCostMs = 0; // it was at nobody's expense
      setImmediate(this.#endUnpaidTurn);
    } else {
      this.#turnsSincePaid++;
      const restMs = Math.floor(REST_PER_COST * this.#unpaidCostMs); // timers take whole milliseconds
      this.#unpaidCostMs -= restMs / REST_PER_COST;
      setTimeout(this.#endUnpaidTurn, UNPAID_INTERVAL_MS + restMs);
    }
  }

  readonly #endUnpaidTurn = (): void => {
    if (this.#unpaidCount === 0) {
      this.#isUnpaidTurnOver = true;
      return;
    }
    try {
      // more where many wait, so that nobody waits for many more turns than this divisor
      for (let left = Math.ceil(this.#unpaidCount / UNPAID_TURNS); left > 0; left--) this.#writeNext();
    } finally {
      this.#beginUnpaidTurn();
    }
  };

  #writeNext(): void {
    for (const [whose, waiting] of this.#unpaid) {
      const write = waiting.shift()!;
      this.#unpaidCount--;
      this.#unpaid.delete(whose);
      if (waiting.length > 0) this.#unpaid.set(whose, waiting);
      write();
      return;
    }
  }
}
