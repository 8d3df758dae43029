import { assert } from '../core/assert.ts';
import { type Clock, periodEndMs } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { Balance, RateRecord } from '../ledger/records.ts';
import type { LimitGrant, LimitStanding } from '../ledger/sharing.ts';
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
import { lock, unlock } from './spin-lock.ts';
import { type Allowance, burstOf } from './tiers.ts';

/**
 * A cell is the shared memory of one account's limits. Byte layout: int32 lock word, int32 unused, then
 * float64 words: the calendar month that is being counted, its requests, its credits, the ceilings of both, what a node
 * that shares the account must know beside them, and the state of the rate limit (rate.ts).
 *
 * On a single node the ceilings are the limits of the account. Where several nodes serve it (IS_SHARED is 1) they are
 * what this node was granted of the month, which is asked for when it is used up (shared-limits.ts).
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
/** Requests that were refused because nothing was left anywhere: a reason to look again. */
const REFUSALS = 10;
const RATE = 11;

/** A ring of the smallest cell: 64 admissions, 1 KiB; room for an account to move up a tier. */
const SLOTS_MIN = 64;
/** 4,096 admissions, 64 KiB: exact for every tier of the table; beyond, one slot stands for several. */
const SLOTS_MAX = 4_096;

/**
 * Memory for the limits of a new account, with the ceilings of its allowance. It keeps its size for ever: a greater burst
 * later widens the stride.
 */
export function createCell(allowance: Allowance, isShared = false): SharedArrayBuffer {
  const burst = burstOf(allowance.requestsPerMinute);
  let slots = SLOTS_MIN;
  while (slots < burst && slots < SLOTS_MAX) slots *= 2;
  const cell = new SharedArrayBuffer(WORDS_OFFSET + 8 * (RATE + rateWords(slots)));
  new Float64Array(cell, WORDS_OFFSET)[IS_SHARED] = isShared ? 1 : 0;
  new Meter(cell, allowance).configure(allowance);
  return cell;
}

/**
 * What one request holds of its account's month, from `Meter.enter` on. Its answer keeps it; a request that
 * is not answered releases it.
 */
export class Reservation {
  readonly #meter: Meter;
  /** The rate limit lets the request through; if not, nothing is held. */
  readonly isAllowed: boolean;
  /**
   * Nothing was decided and nothing is held: this node must ask for more of the month first (`Meter.ask`), and then try
   * again. Never on a single node.
   */
  mustAsk = false;
  /** The month that is charged: the request's own, or the later one that the books already know. */
  readonly period: number;
  /** It is counted against the month's requests. False when they are used up. */
  hasRequest: boolean;
  /**
   * Credits that it holds, and the month that they were taken of: a later one when the request waited over
   * its end.
   */
  credits = 0;
  creditsPeriod: number;
  /** Credits left in the month after this request. */
  creditsRemaining: number;

  constructor(
    meter: Meter,
    isAllowed: boolean,
    period: number,
    hasRequest: boolean,
    creditsRemaining: number,
  ) {
    this.#meter = meter;
    this.isAllowed = isAllowed;
    this.period = period;
    this.creditsPeriod = period;
    this.hasRequest = hasRequest;
    this.creditsRemaining = creditsRemaining;
  }

  /** Sets aside credits of the month, all of them or none: false when fewer are left, or with `mustAsk`. At most once. */
  takeCredits(credits: number): boolean {
    return this.#meter.takeCredits(this, credits);
  }

  /** Gives back what the request holds. Nothing is given back once its month is over. */
  release(): void {
    if (this.hasRequest || this.credits > 0) this.#meter.giveBack(this);
  }
}

/** What a request holds, and how the rate limit stood when it entered. */
export interface Entry {
  readonly reservation: Reservation;
  readonly decision: Readonly<RateDecision>;
}

/**
 * One account's limits: the rate, the month's requests, the month's credits. Every thread makes its own Meter
 * over the account's cell; each call is one short critical section, so the counts are exact however many
 * threads share them. A data request enters it once, a pure one once more when its price is known. A returned
 * decision belongs to the meter and holds until the next call. 0.03 to 0.1 µs a call, measured by
 * bench/meter.bench.ts.
 *
 * A period is a calendar month as periodOf gives it. It never goes back: a period before the one being
 * counted (the wall clock was set back) is charged to the later month.
 */
export class Meter {
  readonly #lock: Int32Array;
  readonly #words: Float64Array;
  readonly #rate: Float64Array;
  readonly #decision: RateDecision = newDecision();
  readonly #ask: ((credits: number) => Promise<void>) | undefined;
  #limit: RateLimit;

  /** `ask` gets more of the month of an account that nodes share: see Meter.ask. */
  constructor(cell: SharedArrayBuffer, allowance: Allowance, ask?: (credits: number) => Promise<void>) {
    this.#ask = ask;
    this.#lock = new Int32Array(cell, 0, 1);
    this.#words = new Float64Array(cell, WORDS_OFFSET, RATE);
    this.#rate = new Float64Array(cell, WORDS_OFFSET + 8 * RATE);
    this.#limit = rateLimitOf(allowance.requestsPerMinute);
  }

  /** Takes other limits; what was used stays used. The ceilings of the month hold for every thread from now on. */
  configure(allowance: Allowance): void {
    this.#limit = rateLimitOf(allowance.requestsPerMinute);
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
    adapt(this.#rate, this.#limit);
    this.#leave();
  }

  get limit(): RateLimit {
    return this.#limit;
  }

  /** One request at the monotonic time `nowMs`. A refused request changes nothing. */
  admit(nowMs: number): Readonly<RateDecision> {
    this.#enter();
    admit(this.#rate, nowMs, this.#limit, this.#decision);
    this.#leave();
    return this.#decision;
  }

  /** How the rate limit stands, without taking anything. */
  peek(nowMs: number): Readonly<RateDecision> {
    this.#enter();
    peek(this.#rate, nowMs, this.#limit, this.#decision);
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
    if (words[IS_SHARED] !== 0 && this.#mustAsk(nowMs)) {
      this.#leave();
      const reservation = new Reservation(this, true, words[PERIOD], false, 0);
      reservation.mustAsk = true;
      return reservation;
    }
    admit(this.#rate, nowMs, this.#limit, this.#decision);
    const { allowed } = this.#decision;
    if (allowed) this.#turnTo(period);
    const hasRequest = allowed && words[REQUESTS] < words[REQUESTS_MAX];
    if (hasRequest) words[REQUESTS] += 1;
    else if (allowed) words[REFUSALS] += 1;
    const counted = words[PERIOD];
    const creditsLeft = words[CREDITS_MAX] - words[CREDITS] + words[CREDITS_ELSEWHERE];
    this.#leave();
    return new Reservation(this, allowed, counted, hasRequest, Math.max(0, creditsLeft));
  }

  /**
   * As `enter`, and asks for more of the month first when that is needed. Throws `overloaded` when others took it. The decision
   * is a copy: by the time that the promise is read, other requests have entered.
   */
  async enterOrAsk(clock: Pick<Clock, 'monotonicMs'>, period: number): Promise<Entry> {
    let reservation = this.enter(clock.monotonicMs(), period);
    if (reservation.mustAsk) {
      await this.ask(0);
      reservation = this.enter(clock.monotonicMs(), period);
      if (reservation.mustAsk) throw new ApiError('overloaded', { retryAfterS: 1 });
    }
    return { reservation, decision: { ...this.#decision } };
  }

  /**
   * Asks for so many credits more of the month, or with 0 for a request more. Resolves when the answer is in the cell,
   * whatever it is; rejects with `storage_unavailable` or `overloaded`.
   */
  async ask(credits: number): Promise<void> {
    assert(this.#ask !== undefined, 'only what is shared between nodes is asked for');
    await this.#ask(credits);
  }

  /** How the rate limit stood at the last `enter`, `admit` or `peek`. */
  get decision(): Readonly<RateDecision> {
    return this.#decision;
  }

  /** For Reservation. The credits are taken of the month that is being counted now. */
  takeCredits(reservation: Reservation, credits: number): boolean {
    assert(credits >= 0 && Number.isSafeInteger(credits), 'credits are whole bytes');
    assert(reservation.credits === 0, 'a request takes its credits once');
    const words = this.#enterPeriod(reservation.period);
    const held = words[CREDITS_MAX] - words[CREDITS];
    const left = held + words[CREDITS_ELSEWHERE];
    const isEnough = credits <= held;
    if (isEnough) words[CREDITS] += credits;
    else if (credits > left) words[REFUSALS] += 1;
    reservation.creditsPeriod = words[PERIOD];
    this.#leave();
    if (isEnough) reservation.credits = credits;
    reservation.mustAsk = !isEnough && credits <= left;
    reservation.creditsRemaining = Math.max(0, isEnough ? left - credits : left);
    return isEnough;
  }

  /** For Reservation. */
  giveBack(reservation: Reservation): void {
    const { period, creditsPeriod, credits, hasRequest } = reservation;
    reservation.hasRequest = false;
    reservation.credits = 0;
    const words = this.#words;
    this.#enter();
    if (hasRequest && words[PERIOD] === period) words[REQUESTS] = Math.max(0, words[REQUESTS] - 1);
    if (words[PERIOD] === creditsPeriod) {
      words[CREDITS] = Math.max(0, words[CREDITS] - credits);
      reservation.creditsRemaining = this.#creditsLeft();
    }
    this.#leave();
  }

  /**
   * What the month has used, requests in flight included. `period` is the month that was counted. Of a shared account,
   * what other nodes were granted counts as used.
   */
  used(period: number): { period: number; requests: number; credits: number } {
    const words = this.#enterPeriod(period);
    const isShared = words[IS_SHARED] !== 0;
    const used = {
      period: words[PERIOD],
      requests: isShared ? Math.max(0, words[REQUESTS_TOTAL] - this.#requestsLeft()) : words[REQUESTS],
      credits: isShared ? Math.max(0, words[CREDITS_TOTAL] - this.#creditsLeft()) : words[CREDITS],
    };
    this.#leave();
    return used;
  }

  /** Requests left in the month. */
  requestsRemaining(period: number): number {
    this.#enterPeriod(period);
    const left = this.#requestsLeft();
    this.#leave();
    return left;
  }

  /** Credits left in the month. */
  creditsRemaining(period: number): number {
    this.#enterPeriod(period);
    const left = this.#creditsLeft();
    this.#leave();
    return left;
  }

  /** The month to charge: the given one, or the later one that the books already know. */
  periodAt(period: number): number {
    const words = this.#enterPeriod(period);
    const counted = words[PERIOD];
    this.#leave();
    return counted;
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
  standing(): LimitStanding {
    const words = this.#words;
    this.#enter();
    const standing = {
      period: words[PERIOD],
      requestsGranted: words[REQUESTS_MAX],
      creditsGranted: words[CREDITS_MAX],
      requestsUsed: words[REQUESTS],
      creditsUsed: words[CREDITS],
      requestsTotal: words[REQUESTS_TOTAL],
      creditsTotal: words[CREDITS_TOTAL],
    };
    this.#leave();
    return standing;
  }

  /** Grows when anything was used or refused, and when the limits changed. Read without the lock, as a hint. */
  get activity(): number {
    const words = this.#words;
    return words[REQUESTS] + words[CREDITS] + words[REFUSALS] + words[REQUESTS_TOTAL] + words[CREDITS_TOTAL];
  }

  /** Requests that were refused because nothing was left of the month. Read without the lock, as a hint. */
  get refusals(): number {
    return this.#words[REFUSALS];
  }

  /** Lowers what this node holds to what it has used, before that is told to the ledger. */
  yieldUnused(what: 'credits' | 'all'): void {
    const words = this.#words;
    this.#enter();
    words[CREDITS_MAX] = words[CREDITS];
    if (what === 'all') words[REQUESTS_MAX] = words[REQUESTS];
    this.#leave();
  }

  /** What this node holds from now on, and what is left beside it. A later month begins with it. */
  grant(grant: Omit<LimitGrant, 'accountNumber'>): void {
    const words = this.#words;
    this.#enter();
    if (grant.period > words[PERIOD]) {
      words[PERIOD] = grant.period;
      words[REQUESTS] = 0;
      words[CREDITS] = 0;
    }
    if (grant.period === words[PERIOD]) {
      words[REQUESTS_MAX] = grant.requestsGranted;
      words[CREDITS_MAX] = grant.creditsGranted;
      words[REQUESTS_ELSEWHERE] = grant.requestsLeft;
      words[CREDITS_ELSEWHERE] = grant.creditsLeft;
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
    const state = this.#rate.slice();
    this.#leave();
    const memory = remember(state, nowMs, this.#limit);
    if (memory === undefined) return undefined;
    const shift = wallMs - nowMs;
    return {
      accountNumber,
      tatMs: memory.emptyAtMs + shift,
      admittedAtMs: memory.admittedAtMs.map((at) => Math.ceil(at + shift)),
    };
  }

  /**
   * Takes a saved state: a restart is no way to a new burst. Whatever the wall clock did meanwhile, the
   * account waits no longer than for one full bucket and window.
   */
  restore(record: RateRecord, wallMs: number, nowMs: number): void {
    const shift = nowMs - wallMs;
    const memory = {
      emptyAtMs: record.tatMs + shift,
      admittedAtMs: record.admittedAtMs.map((at) => at + shift),
    };
    this.#enter();
    recall(this.#rate, memory, nowMs, this.#limit);
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

  /** Requests of the month that are left, of which this node holds some or all. */
  #requestsLeft(): number {
    const words = this.#words;
    return Math.max(0, words[REQUESTS_MAX] - words[REQUESTS] + words[REQUESTS_ELSEWHERE]);
  }

  #creditsLeft(): number {
    const words = this.#words;
    return Math.max(0, words[CREDITS_MAX] - words[CREDITS] + words[CREDITS_ELSEWHERE]);
  }

  /** The rate limit would let a request through, this node has none left of the month, and there may be more. */
  #mustAsk(nowMs: number): boolean {
    const words = this.#words;
    if (words[REQUESTS] < words[REQUESTS_MAX] || words[REQUESTS_ELSEWHERE] <= 0) return false;
    peek(this.#rate, nowMs, this.#limit, this.#decision);
    return this.#decision.allowed;
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

/**
 * Throws 429 `quota_exceeded` when the month's requests are used up; `atMs` is the Unix time of the request.
 */
export function requireRequest({ hasRequest }: Pick<Reservation, 'hasRequest'>, atMs: number): void {
  if (hasRequest) return;
  throw new ApiError('quota_exceeded', { retryAfterS: Math.ceil((periodEndMs(atMs) - atMs) / 1000) });
}

/** X-RateLimit-Reset: the Unix second at which the full burst is there again; now without a limit. */
export function resetAtUnixS(decision: Readonly<RateDecision>, wallMs: number): number {
  return Math.ceil((wallMs + decision.resetAfterMs) / 1_000);
}

/** Retry-After: whole seconds until one request is possible, at least 1. */
export function retryAfterS(decision: Readonly<RateDecision>): number {
  return Math.max(1, Math.ceil(decision.retryAfterMs / 1_000));
}
