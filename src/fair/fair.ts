import type { Clock } from '../core/clock.ts';
import { LIMITS } from '../core/limits.ts';
import { Budget, type Owner, PDFS } from './budget.ts';

/** A piece of work for one owner. */
export interface Piece {
  /** Processor time that the piece causes outside `run`, in microseconds. The time of `run` itself is measured. */
  readonly costUs: number;
  /** Does the work. Must not throw. `nowMs` is the monotonic time at the start of the turn. */
  run(nowMs: number): void;
}

type FairClock = Pick<Clock, 'wallMs' | 'monotonicMs'>;

/** How much of the loop's time an owner may use while other owners want it too. */
interface Terms {
  /** Share of the time that passes. Work that is not measured, such as reading a request, adds about half as much again. */
  readonly share: number;
  /**
   * An owner is served while it owes less than this. The others' requests need several turns of the loop, so a turn must be
   * short.
   */
  readonly sliceMs: number;
  /** An owner never owes more than this, so that nobody waits for longer than a front may be busy. */
  readonly chargedMaxMs: number;
}

/** For each account while other accounts send requests too. */
const ACCOUNT: Terms = { share: 1 / 3, sliceMs: 1, chargedMaxMs: LIMITS.frontTurnMs / 3 };
/** For each owner without an account, while accounts send requests. The longest pause after its pieces is a tenth of a second. */
const UNPAID: Terms = { share: 1 / 4, sliceMs: 0.01, chargedMaxMs: 25 };

/** For PDFs. A PDF takes a tenth of a second of its worker, so the next one may follow after less than a second. */
const DRAWING: Terms = { share: 1 / 8, sliceMs: 0.01, chargedMaxMs: 125 };

/** Bounds on the look-ups in other threads that are under way: of all owners together, and of one owner. */
const LOOK_UPS_MAX = 512;
const OWN_LOOK_UPS_MAX = 32;
const LOOK_UPS_FULL = `At most ${OWN_LOOK_UPS_MAX} requests of an account for usage, certificates and draws are answered at the same time. Retry after the number of seconds in Retry-After.`;

/** How long an owner counts as sending requests after it was last served. */
const SHARED_MS = 100;
/** Pause before the next turn when all owners with waiting work have used up their time. */
const REST_MS = 1;
/** The mean time of an owner's pieces is taken over about this many of the last ones. */
const PIECES_REMEMBERED = 64;
/** When more pieces of an owner wait, each is charged less, so that none waits for more than a few seconds. */
const MANY_WAITING = 1_024;

/** The time at which the first request of a turn of the loop came. */
export interface Turn {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** One owner's waiting work, and the time that it has used. */
class Line {
  readonly owner: Owner;
  readonly terms: Terms;
  waiting: Piece[] = [];
  /** True while it is in the list of lines that the next turn serves. */
  isReady = false;
  /** Time of the loop that the owner owed at `chargedAtMs`. The debt shrinks by its share of the time that passes. */
  chargedMs = 0;
  chargedAtMs: number;
  /** Measured time of the last pieces. */
  usedMs = 0;
  /** Number of those pieces. */
  #pieces = 0;

  constructor(owner: Owner, nowMs: number) {
    this.owner = owner;
    this.terms = owner >= 0 ? ACCOUNT : owner === PDFS ? DRAWING : UNPAID;
    this.chargedAtMs = nowMs;
  }

  owedMs(nowMs: number): number {
    return Math.max(0, this.chargedMs - this.terms.share * (nowMs - this.chargedAtMs));
  }

  hasTime(nowMs: number): boolean {
    return this.owedMs(nowMs) < this.terms.sliceMs;
  }

  charge(costUs: number, nowMs: number): void {
    this.chargedMs = Math.min(this.owedMs(nowMs) + costUs / 1_000, this.terms.chargedMaxMs);
    this.chargedAtMs = nowMs;
  }

  /** Removes and returns the next piece. Charges its `costUs` and the mean time of the pieces before it. */
  take(nowMs: number): Piece {
    const many = Math.max(1, this.waiting.length / MANY_WAITING);
    const piece = this.waiting.shift()!;
    const meanUs = (1_000 * this.usedMs) / Math.max(1, this.#pieces);
    this.charge(piece.costUs / many + meanUs, nowMs);
    if (++this.#pieces >= PIECES_REMEMBERED) {
      this.#pieces /= 2;
      this.usedMs /= 2;
    }
    return piece;
  }
}

/**
 * The only scheduler of a front's loop, and its only memory budget. Each turn runs after all connections that were ready have
 * been read, so that requests that arrive together share a turn and a segment.
 *
 * While several accounts send requests, each uses at most a third of the loop's time. While any account does, all clients
 * without a key use a quarter together, and programs on this machine another quarter. The owner who owes least is served
 * first, and owners take turns piece by piece. An owner who is alone has the whole loop, and nothing is measured. A piece is
 * charged the mean time of its owner's pieces, because much of its own work comes later: when the ledger has answered, one
 * turn does that work for all pieces that began together.
 */
export class Fair {
  /** Counts the bytes that are held for replies and for waiting requests. */
  readonly memory: Budget;
  readonly #clock: FairClock;
  readonly #lookUps = new Budget(LOOK_UPS_MAX, undefined, OWN_LOOK_UPS_MAX);
  readonly #lines = new Map<Owner, Line>();
  /** The result of the last `#lineOf`: most pieces have the same owner as the piece before. */
  #latest: Line | undefined;
  #ready: Line[] = [];
  #isScheduled = false;
  #reading: Turn | undefined;
  #rest: NodeJS.Timeout | undefined;
  #nowMs = 0;
  #lastAccount: Owner | undefined;
  #accountsUntilMs = Number.NEGATIVE_INFINITY;
  #sharedUntilMs = Number.NEGATIVE_INFINITY;
  #forgottenAtMs = 0;

  /** `besideBytes` returns bytes that count against the memory budget but belong to no owner. */
  constructor(clock: FairClock, besideBytes?: () => number) {
    this.#clock = clock;
    this.memory = new Budget(LIMITS.largeReplyBytesMax, besideBytes);
  }

  /**
   * Returns the time of a request that arrives now. All requests of a turn of the loop get the time of the first one: they were
   * ready together, and reading both clocks costs as much as printing three ids.
   */
  now(): Turn {
    if (this.#reading === undefined) {
      this.#reading = { wallMs: this.#clock.wallMs(), monotonicMs: this.#clock.monotonicMs() };
      this.#schedule();
    }
    return this.#reading;
  }

  /** Queues the piece for its owner. */
  run(owner: Owner, piece: Piece): void {
    const line = this.#lineOf(owner);
    line.waiting.push(piece);
    this.#makeReady(line);
    this.#schedule();
  }

  /** Queues the work for the owner, and returns its result. */
  inTurn<T>(owner: Owner, work: () => T, costUs = 0): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = () => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      };
      this.run(owner, { costUs, run });
    });
  }

  /**
   * Runs work that waits for other threads. An owner may have look-ups under way that count for 32 in all; `count` is what this one
   * counts for. One more is refused with `overloaded`.
   */
  async lookUp<T>(owner: Owner, look: () => T | Promise<T>, count = 1): Promise<T> {
    const held = this.#lookUps.hold(owner, count, count === 1 ? LOOK_UPS_FULL : undefined);
    try {
      return await look();
    } finally {
      held.resize(0);
    }
  }

  /** Does some of the owner's work now, and counts its time if others want the loop too. */
  spend<T>(owner: Owner, work: () => T): T {
    if (!this.isLimited(owner)) return work();
    const startedMs = this.#clock.monotonicMs();
    try {
      return work();
    } finally {
      this.#lineOf(owner).usedMs += this.#clock.monotonicMs() - startedMs;
    }
  }

  /** Charges the owner for work whose time is not measured. */
  charge(owner: Owner, costUs: number): void {
    if (this.isLimited(owner)) this.#lineOf(owner).charge(costUs, this.#nowMs);
  }

  /** Returns true when the owner gets only its share, because others have sent requests recently. */
  isLimited(owner: Owner): boolean {
    return this.#nowMs < (owner < 0 ? this.#accountsUntilMs : this.#sharedUntilMs);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    this.#reading = undefined;
    const nowMs = this.#clock.monotonicMs();
    const ready = this.#ready;
    this.#nowMs = nowMs;
    this.#ready = [];
    for (const { owner } of ready) if (owner >= 0) this.#noteAccount(owner);
    const limited: Line[] = [];
    for (const line of ready) {
      line.isReady = false;
      if (this.isLimited(line.owner)) {
        limited.push(line);
        continue;
      }
      this.#runAll(line);
    }
    const isCut = this.#ready.length > 0;
    this.#runShares(limited);
    if (nowMs - this.#forgottenAtMs > SHARED_MS) this.#forget();
    if (isCut) this.#schedule();
    else if (this.#ready.length > 0) this.#rest ??= setTimeout(this.#afterRest, REST_MS);
  };

  /**
   * Runs all pieces of an owner who is alone. After `frontTurnMs` it leaves the rest to the next turn, so that new requests
   * are read.
   */
  #runAll(line: Line): void {
    const { waiting } = line;
    line.waiting = [];
    let done = 0;
    do waiting[done++].run(this.#nowMs);
    while (done < waiting.length && this.#clock.monotonicMs() - this.#nowMs < LIMITS.frontTurnMs);
    if (done === waiting.length) return;
    line.waiting = waiting.slice(done).concat(line.waiting);
    this.#makeReady(line);
  }

  /**
   * Starts the next turn after a rest. Turns without a rest would take a processor from the threads that commit and make
   * answers.
   */
  readonly #afterRest = (): void => {
    this.#rest = undefined;
    this.#schedule();
  };

  /** Runs one piece of each owner in rotation while any owner has time. */
  #runShares(lines: Line[]): void {
    const nowMs = this.#nowMs;
    let round = lines.sort((a, b) => a.owedMs(nowMs) - b.owedMs(nowMs));
    for (;;) {
      round = round.filter((line) => line.waiting.length > 0 && line.hasTime(nowMs));
      if (round.length === 0) break;
      for (const line of round) {
        const piece = line.take(nowMs);
        const startedMs = this.#clock.monotonicMs();
        piece.run(nowMs);
        line.usedMs += this.#clock.monotonicMs() - startedMs;
      }
    }
    for (const line of lines) if (line.waiting.length > 0) this.#makeReady(line);
  }

  #makeReady(line: Line): void {
    if (line.isReady) return;
    line.isReady = true;
    this.#ready.push(line);
  }

  #noteAccount(owner: Owner): void {
    const nowMs = this.#nowMs;
    if (owner !== this.#lastAccount && nowMs < this.#accountsUntilMs) this.#sharedUntilMs = nowMs + SHARED_MS;
    this.#lastAccount = owner;
    this.#accountsUntilMs = nowMs + SHARED_MS;
  }

  #lineOf(owner: Owner): Line {
    if (this.#latest?.owner === owner) return this.#latest;
    let line = this.#lines.get(owner);
    if (line === undefined) this.#lines.set(owner, (line = new Line(owner, this.#nowMs)));
    this.#latest = line;
    return line;
  }

  #forget(): void {
    this.#forgottenAtMs = this.#nowMs;
    this.#latest = undefined;
    for (const [owner, { chargedAtMs, isReady }] of this.#lines)
      if (!isReady && (!this.isLimited(owner) || this.#nowMs - chargedAtMs > SHARED_MS))
        this.#lines.delete(owner);
  }
}
