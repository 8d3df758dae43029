import { assert } from '../core/assert.ts';
import type { Balance, RateRecord } from '../ledger/records.ts';
import type { LimitGrant, LimitShare } from '../ledger/sharing.ts';
import {
  adapt,
  admit,
  newDecision,
  peek,
  type RateDecision,
  type RateLimit,
  rateLimitOf,
  rateWords,
  recall,
  remember,
} from './rate.ts';
import { Reservation } from './reservation.ts';
import { lock, unlock } from './spin-lock.ts';
import { type Allowance, burstOf, UNLIMITED } from './tiers.ts';

/**
 * A cell is the shared memory of one account's limits. Byte layout: int32 lock word, int32 unused, then
 * float64 words: the calendar month that is being counted, its requests, its credits, the ceilings of both, what a node
 * that shares the account must know beside them, and the state of its rate limit (rate.ts).
 *
 * On a single node the ceilings are the limits of the account. Where several nodes serve it (IS_SHARED is 1) they are
 * what this node was granted of the month, which shared-limits.ts keeps at what the rate lets through, and the rate is
 * the account's divided by the nodes that live.
 */
const LOCK = 0;
const WORDS_OFFSET = 8;
const PERIOD = 0;
const REQUESTS = 1;
const CREDITS = 2;
const REQUESTS_MAX = 3;
const CREDITS_MAX = 4;
const IS_SHARED = 5;
/** The account's own limits, of which the ceilings are a part. */
const REQUESTS_TOTAL = 6;
const CREDITS_TOTAL = 7;
/** What nobody was granted yet, as this node was last told. */
const REQUESTS_ELSEWHERE = 8;
const CREDITS_ELSEWHERE = 9;
/** What other nodes hold and have not used, as this node was last told. */
const REQUESTS_UNUSED = 10;
/** Requests that were refused because nothing was left here, and changes of the limits: reasons to look again. */
const REASONS = 11;
/** Nodes that live, and requests a minute of the account on all of them. */
const NODES = 12;
const PER_MINUTE = 13;
/** The month whose grant has not come yet, and the requests and credits that are counted in it already: see #countAhead. */
const AHEAD = 14;
const REQUESTS_AHEAD = 15;
const CREDITS_AHEAD = 16;
const RATE = 17;

/** A ring of the smallest cell: 64 admissions, 1 KiB; room for an account to move up a tier. */
const SLOTS_MIN = 64;
/** 4,096 admissions, 64 KiB: exact for every tier of the table; beyond, one slot stands for several. */
const SLOTS_MAX = 4_096;
/**
 * Memory for the limits of a new account, with the ceilings of its allowance. It keeps its size forever: a greater burst
 * later widens the stride.
 */
export function createCell(allowance: Allowance, isShared = false): SharedArrayBuffer {
  const slots = Math.max(SLOTS_MIN, Math.min(burstOf(allowance.requestsPerMinute), SLOTS_MAX));
  const cell = new SharedArrayBuffer(WORDS_OFFSET + 8 * (RATE + rateWords(slots)));
  const words = new Float64Array(cell, WORDS_OFFSET);
  words[IS_SHARED] = Number(isShared);
  words[NODES] = 1;
  new Meter(cell).configure(allowance);
  return cell;
}

/**
 * One account's limits: the rate, the month's requests, the month's credits. Every thread makes its own Meter
 * over the account's cell; each call is one short critical section, so the counts are exact however many
 * threads share them. A data request enters it once, a pure one once more when its price is known. A returned
 * decision belongs to the meter and holds until the next call. 0.03 to 0.1 µs a call, measured by
 * bench/micro.bench.ts.
 *
 * A period is a calendar month as periodOf gives it. It never goes back: a request of a month before the one being
 * counted (the wall clock was set back over its beginning) is counted in the later month, and its answer is dated there
 * (answer/answer.ts).
 */
export class Meter {
  readonly #lock: Int32Array;
  readonly #words: Float64Array;
  readonly #rate: Float64Array;
  readonly #decision: RateDecision = newDecision();
  /** As it was when this thread last looked into the cell: see #divide. */
  #limit!: RateLimit;
  /** The part of it that this node has, where so many live. */
  #part!: RateLimit;
  #nodes: number | undefined;

  constructor(cell: SharedArrayBuffer) {
    this.#lock = new Int32Array(cell, 0, 1);
    this.#words = new Float64Array(cell, WORDS_OFFSET, RATE);
    this.#rate = new Float64Array(cell, WORDS_OFFSET + 8 * RATE);
  }

  /** Takes other limits, for every thread; what was used stays used. */
  configure(allowance: Allowance): void {
    const words = this.#words;
    this.#enter();
    if (words[IS_SHARED] === 0) {
      words[REQUESTS_MAX] = allowance.requestsPerMonth;
      words[CREDITS_MAX] = allowance.creditsPerMonth;
    } else {
      // what a change adds may be asked for at once; what it takes away is told with the next grant
      words[REQUESTS_ELSEWHERE] += Math.max(0, allowance.requestsPerMonth - words[REQUESTS_TOTAL]);
      words[CREDITS_ELSEWHERE] += Math.max(0, allowance.creditsPerMonth - words[CREDITS_TOTAL]);
    }
    words[REQUESTS_TOTAL] = allowance.requestsPerMonth;
    words[CREDITS_TOTAL] = allowance.creditsPerMonth;
    words[PER_MINUTE] = allowance.requestsPerMinute;
    words[REASONS]++;
    this.#leave();
  }

  /** Of the account, on all nodes together. */
  get limit(): RateLimit {
    return this.#limit;
  }

  /** The part of the burst that this node has. */
  get burstHere(): number {
    this.#enter();
    this.#divide();
    this.#leave();
    return this.#part.burst;
  }

  /** One request at the monotonic time `nowMs`. A refused request changes nothing. */
  admit(nowMs: number): Readonly<RateDecision> {
    this.#enter();
    this.#admit(nowMs);
    this.#leave();
    return this.#decision;
  }

  /** How the rate limit stands, without taking anything. */
  peek(nowMs: number): Readonly<RateDecision> {
    this.#enter();
    this.#peek(nowMs);
    this.#leave();
    return this.#decision;
  }

  /**
   * One data request at the monotonic time `nowMs`, in the month `period`: takes its place in the rate limit,
   * and then one request of the month. `decision` tells how the rate limit stands. A request beyond the rate
   * changes nothing.
   */
  enter(nowMs: number, period: number): Reservation {
    const words = this.#words;
    this.#enter();
    this.#admit(nowMs);
    const { allowed } = this.#decision;
    if (allowed) this.#turnTo(period);
    const hasRequest = allowed && words[REQUESTS] < words[REQUESTS_MAX];
    if (hasRequest) words[REQUESTS] += 1;
    else if (allowed) words[REASONS]++;
    const counted = words[PERIOD];
    const creditsLeft = this.#creditsLeft();
    // a month that nodes share turns a moment after the clock: its requests are on their way here
    const mayComeBack = period > counted || words[REQUESTS_ELSEWHERE] + words[REQUESTS_UNUSED] > 0;
    this.#leave();
    return new Reservation(this, allowed, counted, hasRequest, creditsLeft, mayComeBack);
  }

  /** How the rate limit stood at the last `enter`, `admit` or `peek`. */
  get decision(): Readonly<RateDecision> {
    return this.#decision;
  }

  /** For Reservation. The credits are taken of the month that is being counted now, and the request goes with them. */
  takeCredits(reservation: Reservation, credits: number): boolean {
    assert(credits >= 0 && Number.isSafeInteger(credits), 'credits are whole bytes');
    assert(reservation.credits === 0, 'a request takes its credits once');
    const words = this.#enterPeriod(reservation.period);
    this.#follow(reservation);
    const isEnough = credits <= Math.max(0, words[CREDITS_MAX] - words[CREDITS]); // a limit that was lowered may be exceeded
    if (isEnough) {
      words[CREDITS] += credits;
      reservation.credits = credits;
    }
    reservation.creditsRemaining = this.#creditsLeft();
    this.#leave();
    return isEnough;
  }

  /** For Reservation. */
  giveBack(reservation: Reservation): void {
    const { period, credits, hasRequest } = reservation;
    reservation.hasRequest = false;
    reservation.credits = 0;
    const words = this.#words;
    this.#enter();
    if (words[PERIOD] === period) {
      if (hasRequest) words[REQUESTS] = Math.max(0, words[REQUESTS] - 1);
      words[CREDITS] = Math.max(0, words[CREDITS] - credits);
      reservation.creditsRemaining = this.#creditsLeft();
    } else if (words[PERIOD] < period) {
      words[REQUESTS_AHEAD] -= Number(hasRequest);
      words[CREDITS_AHEAD] -= credits;
    }
    this.#leave();
  }

  /** For Reservation: counts it in the month in which its answer is issued. */
  count(reservation: Reservation, period: number): void {
    const words = this.#enterPeriod(period);
    this.#follow(reservation);
    if (words[PERIOD] < period) this.#countAhead(reservation, period);
    this.#leave();
  }

  /** What this node has used of the month, requests in flight included. `period` is the month that was counted. */
  used(period: number): { period: number; requests: number; credits: number } {
    const words = this.#enterPeriod(period);
    const used = { period: words[PERIOD], requests: words[REQUESTS], credits: words[CREDITS] };
    this.#leave();
    return used;
  }

  /**
   * What is left of the month that is counted: of the given one, or of a later one that has begun here. Requests that another
   * node holds and has not used are left.
   */
  left(period: number): { period: number; requests: number; credits: number } {
    const words = this.#enterPeriod(period);
    const left = {
      period: words[PERIOD],
      requests: this.#requestsHere() + words[REQUESTS_UNUSED],
      credits: this.#creditsLeft(),
    };
    this.#leave();
    return left;
  }

  /** Several nodes serve the account: its credits are granted at the price of each answer (Cells.ask), and what all nodes have used is in the books alone. */
  get isShared(): boolean {
    return this.#words[IS_SHARED] !== 0;
  }

  /** Starts from what the books say of a month. */
  load(balance: Balance): void {
    const words = this.#enterPeriod(balance.period);
    if (words[PERIOD] === balance.period) {
      words[REQUESTS] = balance.requests;
      words[CREDITS] = balance.credits;
    }
    this.#leave();
  }

  /** What this node holds of a shared account. */
  share(): LimitShare {
    const words = this.#words;
    this.#enter();
    const share = {
      period: words[PERIOD],
      requestsGranted: words[REQUESTS_MAX],
      creditsGranted: words[CREDITS_MAX],
      requestsUsed: words[REQUESTS],
      creditsUsed: words[CREDITS],
      requestsTotal: words[REQUESTS_TOTAL],
      creditsTotal: words[CREDITS_TOTAL],
    };
    this.#leave();
    return share;
  }

  /** Somebody else may want what is not used here: nothing is left that nobody was granted, as this node was last told. */
  get isAllGranted(): boolean {
    return this.#words[REQUESTS_ELSEWHERE] === 0;
  }

  /** Each node may take so many requests, and half of what nobody was granted is left, as this node was last told. */
  isPlentyFor(requests: number): boolean {
    const words = this.#words;
    return 2 * words[NODES] * requests <= words[REQUESTS_ELSEWHERE];
  }

  /** Grows when anything was used or refused, and when the limits changed. Read without the lock, as a hint. */
  get activity(): number {
    const words = this.#words;
    return words[REQUESTS] + words[CREDITS] + words[REASONS];
  }

  /**
   * Lowers what this node holds to so many unused requests, and to the credits that it has used, before that is told to the
   * ledger. True when it held more.
   */
  keep(requests: number, keepsCredits: boolean): boolean {
    const words = this.#words;
    this.#enter();
    const [requestsMax, creditsMax] = [words[REQUESTS_MAX], words[CREDITS_MAX]];
    words[REQUESTS_MAX] = Math.min(requestsMax, words[REQUESTS] + requests);
    if (!keepsCredits) words[CREDITS_MAX] = words[CREDITS];
    const isLess = words[REQUESTS_MAX] < requestsMax || words[CREDITS_MAX] < creditsMax;
    this.#leave();
    return isLess;
  }

  /** So many nodes live: each has its part of the rate. */
  divideRate(nodes: number): void {
    this.#enter();
    this.#words[NODES] = nodes;
    this.#leave();
  }

  /** What this node holds from now on, and what is left beside it. A later month begins with it. */
  grant(grant: Omit<LimitGrant, 'accountNumber'>): void {
    const words = this.#words;
    let creditsSpent = 0;
    this.#enter();
    if (grant.period > words[PERIOD]) {
      const isAhead = words[AHEAD] === grant.period;
      words[PERIOD] = grant.period;
      words[REQUESTS] = isAhead ? words[REQUESTS_AHEAD] : 0;
      words[CREDITS] = creditsSpent = isAhead ? words[CREDITS_AHEAD] : 0;
    }
    if (grant.period === words[PERIOD]) {
      words[REQUESTS_MAX] = grant.requestsGranted;
      // a grant of credits covers the answers that wait for it, not those that were counted ahead of it
      words[CREDITS_MAX] = grant.creditsGranted + creditsSpent;
      words[REQUESTS_ELSEWHERE] = grant.requestsLeft;
      words[CREDITS_ELSEWHERE] = grant.creditsLeft;
      words[REQUESTS_UNUSED] = Math.max(0, grant.requestsUnused - (words[REQUESTS_MAX] - words[REQUESTS]));
    }
    this.#leave();
  }

  /**
   * The rate limit's state in Unix time, for restore() after a restart; undefined when the full burst is
   * there anyway. An admission is rounded up to a whole millisecond, so that the entry of the same request is
   * not later than it.
   */
  snapshot(accountNumber: number, wallMs: number, nowMs: number): RateRecord | undefined {
    this.#enter();
    this.#divide();
    const state = this.#rate.slice();
    this.#leave();
    const memory = remember(state, nowMs, this.#part);
    if (memory === undefined) return undefined;
    const shift = wallMs - nowMs;
    return {
      accountNumber,
      tatMs: memory.emptyAtMs + shift,
      admittedAtMs: memory.admittedAtMs.map((at) => Math.ceil(at + shift)),
    };
  }

  /**
   * Takes a saved state: a restart is not a way to a new burst. Whatever the wall clock did meanwhile, the
   * account waits no longer than for one full bucket and window.
   */
  restore(record: RateRecord, wallMs: number, nowMs: number): void {
    const shift = nowMs - wallMs;
    const memory = {
      emptyAtMs: record.tatMs + shift,
      admittedAtMs: record.admittedAtMs.map((at) => at + shift),
    };
    this.#enter();
    this.#divide();
    recall(this.#rate, memory, nowMs, this.#part);
    this.#leave();
  }

  #enter(): void {
    lock(this.#lock, LOCK);
  }

  #leave(): void {
    unlock(this.#lock, LOCK);
  }

  /** Enters with the counters at the given month, or at a later one when that has begun. */
  #enterPeriod(period: number): Float64Array {
    this.#enter();
    this.#turnTo(period);
    return this.#words;
  }

  /** The month turned while the request was under way: what it holds counts in the new one. */
  #follow(reservation: Reservation): void {
    const words = this.#words;
    if (words[PERIOD] <= reservation.period) return;
    if (reservation.hasRequest) words[REQUESTS] += 1;
    words[CREDITS] += reservation.credits;
    reservation.period = words[PERIOD];
  }

  /**
   * A month of a shared account begins here with its grant, a moment after the clock. An answer whose lot was made in the new month
   * is dated in that month before the grant comes. Its request and credits are moved there, and the grant starts from them.
   */
  #countAhead(reservation: Reservation, period: number): void {
    const words = this.#words;
    if (words[AHEAD] !== period) {
      words[AHEAD] = period;
      words[REQUESTS_AHEAD] = 0;
      words[CREDITS_AHEAD] = 0;
    }
    const requests = Number(reservation.hasRequest);
    const { credits } = reservation;
    words[REQUESTS] -= requests;
    words[CREDITS] -= credits;
    words[REQUESTS_AHEAD] += requests;
    words[CREDITS_AHEAD] += credits;
    words[REASONS] += requests + credits; // `activity` never falls
    reservation.period = period;
  }

  /** Requests of the month that this node holds or may take. */
  #requestsHere(): number {
    const words = this.#words;
    return Math.max(0, words[REQUESTS_MAX] - words[REQUESTS] + words[REQUESTS_ELSEWHERE]);
  }

  #creditsLeft(): number {
    const words = this.#words;
    return Math.max(0, words[CREDITS_MAX] - words[CREDITS] + words[CREDITS_ELSEWHERE]);
  }

  /** Goes by what the cell says of the rate and of the nodes that live. */
  #divide(): void {
    const words = this.#words;
    if (words[NODES] === this.#nodes && words[PER_MINUTE] === this.#limit.requestsPerMinute) return;
    this.#nodes = words[NODES];
    this.#limit = rateLimitOf(words[PER_MINUTE]);
    this.#part = partOf(this.#limit, this.#nodes);
    adapt(this.#rate, this.#part);
  }

  #admit(nowMs: number): void {
    this.#divide();
    admit(this.#rate, nowMs, this.#part, this.#decision);
  }

  #peek(nowMs: number): void {
    this.#divide();
    peek(this.#rate, nowMs, this.#part, this.#decision);
  }

  /** The months of a shared account turn by the clock of the ledger, with what it grants. */
  #turnTo(period: number): void {
    const words = this.#words;
    if (period <= words[PERIOD] || words[IS_SHARED] !== 0) return;
    words[PERIOD] = period;
    words[REQUESTS] = 0;
    words[CREDITS] = 0;
  }
}

/** Of so many nodes, each lets an equal part of the rate through, and one request at least in a burst. */
function partOf(limit: RateLimit, nodes: number): RateLimit {
  if (limit.requestsPerMinute >= UNLIMITED) return limit;
  return {
    requestsPerMinute: limit.requestsPerMinute / nodes,
    burst: Math.max(1, Math.floor(limit.burst / nodes)),
  };
}

/** X-RateLimit-Reset: the Unix second at which the full burst is there again; now without a limit. */
export function resetAtUnixS(decision: Readonly<RateDecision>, wallMs: number): number {
  return Math.ceil((wallMs + decision.resetAfterMs) / 1_000);
}

/** Retry-After: whole seconds until one request is possible, at least 1. */
export function retryAfterS(decision: Readonly<RateDecision>): number {
  return Math.max(1, Math.ceil(decision.retryAfterMs / 1_000));
}
