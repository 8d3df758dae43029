import { assert } from '../core/assert.ts';
import { periodEndMs } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { Balance, RateRecord } from '../ledger/records.ts';
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
 * float64 words: the calendar month that is being counted, its requests, its credits, the ceilings of both, and the state
 * of the rate limit (rate.ts).
 */
const LOCK = 0;
const WORDS_OFFSET = 8;
const PERIOD = 0;
const REQUESTS = 1;
const CREDITS = 2;
const REQUESTS_MAX = 3;
const CREDITS_MAX = 4;
const RATE = 5;

/** A ring of the smallest cell: 64 admissions, 1 KiB; room for an account to move up a tier. */
const SLOTS_MIN = 64;
/** 4,096 admissions, 64 KiB: exact for every tier of the table; beyond, one slot stands for several. */
const SLOTS_MAX = 4_096;

/**
 * Memory for the limits of a new account, with the ceilings of its allowance. It keeps its size for ever: a greater burst
 * later widens the stride.
 */
export function createCell(allowance: Allowance): SharedArrayBuffer {
  const burst = burstOf(allowance.requestsPerMinute);
  let slots = SLOTS_MIN;
  while (slots < burst && slots < SLOTS_MAX) slots *= 2;
  const cell = new SharedArrayBuffer(WORDS_OFFSET + 8 * (RATE + rateWords(slots)));
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

  /** Sets aside credits of the month, all of them or none: false when fewer are left. At most once. */
  takeCredits(credits: number): boolean {
    return this.#meter.takeCredits(this, credits);
  }

  /** Gives back what the request holds. Nothing is given back once its month is over. */
  release(): void {
    if (this.hasRequest || this.credits > 0) this.#meter.giveBack(this);
  }
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
  #limit: RateLimit;

  constructor(cell: SharedArrayBuffer, allowance: Allowance) {
    this.#lock = new Int32Array(cell, 0, 1);
    this.#words = new Float64Array(cell, WORDS_OFFSET, RATE);
    this.#rate = new Float64Array(cell, WORDS_OFFSET + 8 * RATE);
    this.#limit = rateLimitOf(allowance.requestsPerMinute);
  }

  /** Takes other limits; what was used stays used. The ceilings of the month hold for every thread from now on. */
  configure(allowance: Allowance): void {
    this.#limit = rateLimitOf(allowance.requestsPerMinute);
    this.#enter();
    this.#words[REQUESTS_MAX] = allowance.requestsPerMonth;
    this.#words[CREDITS_MAX] = allowance.creditsPerMonth;
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
    admit(this.#rate, nowMs, this.#limit, this.#decision);
    const { allowed } = this.#decision;
    if (allowed) this.#turnTo(period);
    const hasRequest = allowed && words[REQUESTS] < words[REQUESTS_MAX];
    if (hasRequest) words[REQUESTS] += 1;
    const counted = words[PERIOD];
    const creditsLeft = words[CREDITS_MAX] - words[CREDITS];
    this.#leave();
    return new Reservation(this, allowed, counted, hasRequest, Math.max(0, creditsLeft));
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
    const left = words[CREDITS_MAX] - words[CREDITS];
    const isEnough = credits <= left;
    if (isEnough) words[CREDITS] += credits;
    reservation.creditsPeriod = words[PERIOD];
    this.#leave();
    if (isEnough) reservation.credits = credits;
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
      reservation.creditsRemaining = Math.max(0, words[CREDITS_MAX] - words[CREDITS]);
    }
    this.#leave();
  }

  /** What the month has used, requests in flight included. `period` is the month that was counted. */
  used(period: number): { period: number; requests: number; credits: number } {
    const words = this.#enterPeriod(period);
    const used = { period: words[PERIOD], requests: words[REQUESTS], credits: words[CREDITS] };
    this.#leave();
    return used;
  }

  /** Requests left in the month. */
  requestsRemaining(period: number): number {
    const words = this.#enterPeriod(period);
    const left = words[REQUESTS_MAX] - words[REQUESTS];
    this.#leave();
    return Math.max(0, left);
  }

  /** Credits left in the month. */
  creditsRemaining(period: number): number {
    const words = this.#enterPeriod(period);
    const left = words[CREDITS_MAX] - words[CREDITS];
    this.#leave();
    return Math.max(0, left);
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

  #turnTo(period: number): void {
    const words = this.#words;
    if (period <= words[PERIOD]) return;
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
