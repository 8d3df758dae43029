import type { Clock } from '../core/clock.ts';
import { LIMITS } from '../core/limits.ts';
import { Budget, type Owner, PDFS } from './budget.ts';

/** A piece of its owner's work. */
export interface Piece {
  /** What it takes of a processor beside its own time, which is measured. */
  readonly costUs: number;
  /** Does it, and never throws. `nowMs` is one reading of the monotonic clock for the whole turn. */
  run(nowMs: number): void;
}

type FairClock = Pick<Clock, 'wallMs' | 'monotonicMs'>;

/** What owners of one kind may use of the loop's time while others want it too. */
interface Terms {
  /** Of the time that passes. What is not measured, such as reading a request, takes about half as much again. */
  readonly share: number;
  /** So much may be used at once: a request of the others needs several turns of the loop. */
  readonly sliceMs: number;
  /** What is charged beyond this is forgotten, so that nobody waits for longer than a front may be busy. */
  readonly chargedMaxMs: number;
}

/** Of each account while other accounts ask too. */
const ACCOUNT: Terms = { share: 1 / 3, sliceMs: 1, chargedMaxMs: LIMITS.frontTurnMs / 3 };
/** Of each owner who pays nothing, while accounts ask. The longest pause behind its pieces is a tenth of a second. */
const UNPAID: Terms = { share: 1 / 4, sliceMs: 0.01, chargedMaxMs: 25 };

/** A page of PDF takes a tenth of a second of its worker. */
const DRAWING: Terms = { share: 1 / 8, sliceMs: 0.01, chargedMaxMs: 125 };

/** Look-ups in the ledger's thread that may be under way, of all owners and of one. */
const LOOK_UPS_MAX = 512;
const OWN_LOOK_UPS_MAX = 32;
const LOOK_UPS_FULL = `At most ${OWN_LOOK_UPS_MAX} requests of an account for usage, certificates and draws are answered at the same time; retry after Retry-After.`;

/** Others ask too for so long after one of them was served. */
const SHARED_MS = 100;
/** How long work waits when all that is there is of owners who have used up their time. */
const REST_MS = 1;
/** The mean time of a piece is that of about so many of the last ones. */
const PIECES_REMEMBERED = 64;
/** Where more pieces of an owner wait, each is charged with less, so that none waits for more than a few seconds. */
const MANY_WAITING = 1_024;

/** One turn of the loop in which requests come, and when the first of them came. */
export interface Turn {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** One owner: its work that waits, and the time that it used. */
class Line {
  readonly owner: Owner;
  readonly terms: Terms;
  waiting: Piece[] = [];
  /** It stands among those that are served in the next turn. */
  isReady = false;
  /** Of the loop's time, what was charged and not made good since. */
  chargedMs = 0;
  chargedAtMs: number;
  /** What the last pieces took, and how many they were. */
  usedMs = 0;
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

  /** The next piece, which is charged with what it costs beside its own time, and with what those before it took in the mean. */
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
 * The one scheduler of a front's loop, and its one budget of memory. Work runs in its owner's turn: behind the reading of all
 * connections that were ready, so that what comes together shares a turn and a segment.
 *
 * While several accounts ask, each uses at most a third of the loop's time; while any account asks, all clients without a key use
 * a quarter, and programs on this machine a quarter of their own. Who has used least is first, and owners take turns piece by
 * piece. An owner who is alone has all of it, and nothing is measured then. A piece is charged, when its turn comes, with what those
 * of its owner took in the mean: much of its work is done later, when the ledger has answered, and those that were begun together
 * are then worked on in one turn.
 */
export class Fair {
  /** Bytes that are held for replies and for requests that wait. */
  readonly memory: Budget;
  /** Called behind each turn that ran something; never throws. */
  afterTurn: () => void = () => {};
  readonly #clock: FairClock;
  readonly #lookUps = new Budget(LOOK_UPS_MAX, undefined, OWN_LOOK_UPS_MAX);
  readonly #lines = new Map<Owner, Line>();
  /** The line that was asked for last: most pieces are of the owner of the one before. */
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

  /** `besideBytes` are held too, for nobody in particular. */
  constructor(clock: FairClock, besideBytes?: () => number) {
    this.#clock = clock;
    this.memory = new Budget(LIMITS.largeReplyBytesMax, besideBytes);
  }

  /**
   * The time at which a request comes. All requests of a turn of the loop have the time of the first: they lay ready together, and
   * reading both clocks costs as much as printing three ids.
   */
  now(): Turn {
    if (this.#reading === undefined) {
      this.#reading = { wallMs: this.#clock.wallMs(), monotonicMs: this.#clock.monotonicMs() };
      this.#schedule();
    }
    return this.#reading;
  }

  /** Has the piece run in its owner's turn. */
  run(owner: Owner, piece: Piece): void {
    const line = this.#lineOf(owner);
    line.waiting.push(piece);
    this.#makeReady(line);
    this.#schedule();
  }

  /** Does the work in the owner's turn, where its time is counted, and gives what came of it. */
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
   * Work that waits for other threads, at most 32 pieces of an owner at the same time, or fewer that count for several. One more
   * is refused with `overloaded`.
   */
  async lookUp<T>(owner: Owner, look: () => T | Promise<T>, count = 1): Promise<T> {
    const held = this.#lookUps.hold(owner, count, count === 1 ? LOOK_UPS_FULL : undefined);
    try {
      return await look();
    } finally {
      held.resize(0);
    }
  }

  /** Does some of the owner's work now, and counts the time that it takes. */
  spend<T>(owner: Owner, work: () => T): T {
    if (!this.isLimited(owner)) return work();
    const startedMs = this.#clock.monotonicMs();
    try {
      return work();
    } finally {
      this.#lineOf(owner).usedMs += this.#clock.monotonicMs() - startedMs;
    }
  }

  /** Counts what the owner's work took where nobody measures it. */
  charge(owner: Owner, costUs: number): void {
    if (this.isLimited(owner)) this.#lineOf(owner).charge(costUs, this.#nowMs);
  }

  /** Others asked of late, so that the owner has its share alone. */
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
    let hasRun = false;
    for (const line of ready) {
      line.isReady = false;
      if (this.isLimited(line.owner)) {
        limited.push(line);
        continue;
      }
      hasRun = true;
      this.#runAll(line);
    }
    const isCut = this.#ready.length > 0;
    if (this.#runShares(limited) || hasRun) this.afterTurn();
    if (nowMs - this.#forgottenAtMs > SHARED_MS) this.#forget();
    if (isCut) this.#schedule();
    else if (this.#ready.length > 0) this.#rest ??= setTimeout(this.#afterRest, REST_MS);
  };

  /** All pieces of an owner who is alone; what takes long leaves the rest to the next turn, behind what came meanwhile. */
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

  /** Turns that run nothing would take a processor from the threads that commit and make answers. */
  readonly #afterRest = (): void => {
    this.#rest = undefined;
    this.#schedule();
  };

  /** One piece of each in rotation, as long as anybody has time. */
  #runShares(lines: Line[]): boolean {
    const nowMs = this.#nowMs;
    let hasRun = false;
    let round = lines.sort((a, b) => a.owedMs(nowMs) - b.owedMs(nowMs));
    for (;;) {
      round = round.filter((line) => line.waiting.length > 0 && line.hasTime(nowMs));
      if (round.length === 0) break;
      hasRun = true;
      for (const line of round) {
        const piece = line.take(nowMs);
        const startedMs = this.#clock.monotonicMs();
        piece.run(nowMs);
        line.usedMs += this.#clock.monotonicMs() - startedMs;
      }
    }
    for (const line of lines) if (line.waiting.length > 0) this.#makeReady(line);
    return hasRun;
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
