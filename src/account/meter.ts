import { assert } from '../core/assert.ts';
import { lock, unlock } from '../core/spin-lock.ts';
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
import { type Allowance, burstOf, UNLIMITED } from './tiers.ts';

/**
 * A cell is the shared memory of one account's limits: an int32 lock word, an unused int32, and then float64 words. The
 * words are the calendar month that is counted, its requests and credits, the ceilings of both, what a node needs when it
 * shares the account, and the state of the rate limit (rate.ts).
 *
 * On a single node the ceilings are the account's limits. When several nodes serve the account (IS_SHARED is 1), they are
 * what this node was granted of the month (shared-limits.ts), and the rate is the account's divided by the count of live
 * nodes.
 */
const LOCK = 0;
const WORDS_OFFSET = 8;
const PERIOD = 0;
const REQUESTS = 1;
const CREDITS = 2;
const REQUESTS_MAX = 3;
const CREDITS_MAX = 4;
const IS_SHARED = 5;
/** The account's own limits. On a shared account the ceilings are a part of them. */
const REQUESTS_TOTAL = 6;
const CREDITS_TOTAL = 7;
/** Requests and credits that no node was granted yet, as the ledger last said. */
const REQUESTS_ELSEWHERE = 8;
const CREDITS_ELSEWHERE = 9;
/** Requests that other nodes hold and have not used, as the ledger last said. */
const REQUESTS_UNUSED = 10;
/** Counts reasons for SharedLimits to look again: refused requests, changes of limits, and moves to a month ahead. */
const REASONS = 11;
/** Count of live nodes, and the account's requests per minute on all of them. */
const NODES = 12;
const PER_MINUTE = 13;
/** A month whose grant has not come yet, and the requests and credits already counted in it: see #countAhead. */
const AHEAD = 14;
const REQUESTS_AHEAD = 15;
const CREDITS_AHEAD = 16;
const RATE = 17;

/** The smallest ring has 64 slots in 1 KiB, which leaves room for an account to move up a tier. */
const SLOTS_MIN = 64;
/** The largest ring has 4,096 slots in 64 KiB. It is exact for every tier; for a larger burst a slot stands for several. */
const SLOTS_MAX = 4_096;
/** Makes the cell of an account with these limits. Its size never changes: a larger burst later widens the stride (rate.ts). */
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
 * Applies one account's limits: the rate, the month's requests, and the month's credits. Every thread makes its own Meter
 * over the account's cell. Each call is one short critical section, so the counts are exact however many threads share
 * them. A data request calls it once, a pure one once more when its price is known. A returned decision belongs to the
 * meter and is valid until the next call. A call takes 0.03 to 0.1 µs (bench/micro.bench.ts).
 *
 * A period is a calendar month as periodOf returns it. The counted month never goes back: when the wall clock is set back
 * into an earlier month, requests are counted in the later one, and their answers are dated there (answer/answer.ts).
 */
export class Meter {
  readonly #lock: Int32Array;
  readonly #words: Float64Array;
  readonly #rate: Float64Array;
  readonly #decision: RateDecision = newDecision();
  /** The account's limit when this thread last read it from the cell: see #divide. */
  #limit!: RateLimit;
  /** This node's part of the limit. */
  #part!: RateLimit;
  #nodes: number | undefined;

  constructor(cell: SharedArrayBuffer) {
    this.#lock = new Int32Array(cell, 0, 1);
    this.#words = new Float64Array(cell, WORDS_OFFSET, RATE);
    this.#rate = new Float64Array(cell, WORDS_OFFSET + 8 * RATE);
  }

  /** Sets new limits, for every thread. The counts of use stay. */
  configure(allowance: Allowance): void {
    const words = this.#words;
    this.#enter();
    if (words[IS_SHARED] === 0) {
      words[REQUESTS_MAX] = allowance.requestsPerMonth;
      words[CREDITS_MAX] = allowance.creditsPerMonth;
    } else {
      // This node may ask at once for what a change adds. The next grant takes into account what it removes.
      words[REQUESTS_ELSEWHERE] += Math.max(0, allowance.requestsPerMonth - words[REQUESTS_TOTAL]);
      words[CREDITS_ELSEWHERE] += Math.max(0, allowance.creditsPerMonth - words[CREDITS_TOTAL]);
    }
    words[REQUESTS_TOTAL] = allowance.requestsPerMonth;
    words[CREDITS_TOTAL] = allowance.creditsPerMonth;
    words[PER_MINUTE] = allowance.requestsPerMinute;
    words[REASONS]++;
    this.#leave();
  }

  /** The account's rate limit, for all nodes together. */
  get limit(): RateLimit {
    return this.#limit;
  }

  /** This node's part of the burst. */
  get burstHere(): number {
    this.#enter();
    this.#divide();
    this.#leave();
    return this.#part.burst;
  }

  /** Takes one request of the rate limit at the monotonic time `nowMs`. A refused request changes nothing. */
  admit(nowMs: number): Readonly<RateDecision> {
    this.#enter();
    this.#admit(nowMs);
    this.#leave();
    return this.#decision;
  }

  /** Returns the state of the rate limit, without taking anything. */
  peek(nowMs: number): Readonly<RateDecision> {
    this.#enter();
    this.#peek(nowMs);
    this.#leave();
    return this.#decision;
  }

  /**
   * Admits one data request at the monotonic time `nowMs`, in the month `period`: takes one request of the rate limit, and
   * then one of the month. `decision` then has the state of the rate limit. A request beyond the rate limit changes
   * nothing.
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
    // On a shared account a month begins here with its grant, a moment after the clock: the requests are on their way.
    const mayComeBack = period > counted || words[REQUESTS_ELSEWHERE] + words[REQUESTS_UNUSED] > 0;
    this.#leave();
    return new Reservation(this, allowed, counted, hasRequest, creditsLeft, mayComeBack);
  }

  /** The state of the rate limit at the last `enter`, `admit` or `peek`. */
  get decision(): Readonly<RateDecision> {
    return this.#decision;
  }

  /** For Reservation. Takes the credits of the month that is counted now, and moves the request to that month too. */
  takeCredits(reservation: Reservation, credits: number): boolean {
    assert(credits >= 0 && Number.isSafeInteger(credits), 'credits are whole bytes');
    assert(reservation.credits === 0, 'a request takes its credits once');
    const words = this.#enterPeriod(reservation.period);
    this.#follow(reservation);
    const isEnough = credits <= Math.max(0, words[CREDITS_MAX] - words[CREDITS]); // a lowered limit may be below the use
    if (isEnough) {
      words[CREDITS] += credits;
      reservation.credits = credits;
    }
    reservation.creditsRemaining = this.#creditsLeft();
    this.#leave();
    return isEnough;
  }

  /** For Reservation: see Reservation.release. */
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

  /** For Reservation: see Reservation.countIn. */
  count(reservation: Reservation, period: number): void {
    const words = this.#enterPeriod(period);
    this.#follow(reservation);
    if (words[PERIOD] < period) this.#countAhead(reservation, period);
    this.#leave();
  }

  /** Returns what this node has used of the month, requests in flight included, and the month that is counted. */
  used(period: number): { period: number; requests: number; credits: number } {
    const words = this.#enterPeriod(period);
    const used = { period: words[PERIOD], requests: words[REQUESTS], credits: words[CREDITS] };
    this.#leave();
    return used;
  }

  /**
   * Returns what is left of the given month, or of a later one if that has begun here. Requests that another node holds and
   * has not used count as left.
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

  /**
   * Whether several nodes serve the account. Then credits are granted when an answer has its price (Cells.ask), and only the
   * books know what all nodes have used.
   */
  get isShared(): boolean {
    return this.#words[IS_SHARED] !== 0;
  }

  /** Sets the month's counts to what the books have. */
  load(balance: Balance): void {
    const words = this.#enterPeriod(balance.period);
    if (words[PERIOD] === balance.period) {
      words[REQUESTS] = balance.requests;
      words[CREDITS] = balance.credits;
    }
    this.#leave();
  }

  /** Returns what this node holds of a shared account. */
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

  /** Whether all requests of the month were granted, as the ledger last said: other nodes may need what is unused here. */
  get isAllGranted(): boolean {
    return this.#words[REQUESTS_ELSEWHERE] === 0;
  }

  /** Whether each node could take this many requests and leave half of what was not granted, as the ledger last said. */
  isPlentyFor(requests: number): boolean {
    const words = this.#words;
    return 2 * words[NODES] * requests <= words[REQUESTS_ELSEWHERE];
  }

  /** Grows with every use, refusal and change of limits. A hint, read without the lock. */
  get activity(): number {
    const words = this.#words;
    return words[REQUESTS] + words[CREDITS] + words[REASONS];
  }

  /**
   * Lowers what this node holds to this many unused requests and, unless `keepsCredits`, to no unused credits. The ledger
   * is told afterwards. Returns whether the node held more.
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

  /** Sets the count of live nodes, each of which has an equal part of the rate. */
  divideRate(nodes: number): void {
    this.#enter();
    this.#words[NODES] = nodes;
    this.#leave();
  }

  /** Sets what this node holds, and what else is left. A grant for a later month begins that month. */
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
      // The granted credits are for answers that wait for them, not for those counted ahead of the grant.
      words[CREDITS_MAX] = grant.creditsGranted + creditsSpent;
      words[REQUESTS_ELSEWHERE] = grant.requestsLeft;
      words[CREDITS_ELSEWHERE] = grant.creditsLeft;
      words[REQUESTS_UNUSED] = Math.max(0, grant.requestsUnused - (words[REQUESTS_MAX] - words[REQUESTS]));
    }
    this.#leave();
  }

  /**
   * Returns the rate limit's state in Unix time, for restore() after a restart; undefined when the full burst is available.
   * An admission is rounded up to a whole millisecond, so that it is not earlier than the entry of the same request.
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
   * Restores a saved state, so that a restart does not allow a new burst. Whatever the wall clock did meanwhile, the account
   * waits no longer than for one full bucket and window.
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

  /** Takes the lock, and turns the counters to the given month unless a later one has begun. */
  #enterPeriod(period: number): Float64Array {
    this.#enter();
    this.#turnTo(period);
    return this.#words;
  }

  /** Moves what a request holds to the counted month, if that began while the request was under way. */
  #follow(reservation: Reservation): void {
    const words = this.#words;
    if (words[PERIOD] <= reservation.period) return;
    if (reservation.hasRequest) words[REQUESTS] += 1;
    words[CREDITS] += reservation.credits;
    reservation.period = words[PERIOD];
  }

  /**
   * Moves what a request holds to a month whose grant has not come yet. A month of a shared account begins here with its
   * grant, a moment after the clock, but an answer from a lot of the new month is dated in that month at once. The grant then
   * starts from these counts.
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
    words[REASONS] += requests + credits; // so that `activity` does not fall
    reservation.period = period;
  }

  /** Returns the requests of the month that this node holds or may be granted. */
  #requestsHere(): number {
    const words = this.#words;
    return Math.max(0, words[REQUESTS_MAX] - words[REQUESTS] + words[REQUESTS_ELSEWHERE]);
  }

  #creditsLeft(): number {
    const words = this.#words;
    return Math.max(0, words[CREDITS_MAX] - words[CREDITS] + words[CREDITS_ELSEWHERE]);
  }

  /** Recomputes this node's part of the rate when the rate or the count of nodes in the cell has changed. */
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

  /** Begins a new month, except on a shared account, where `grant` does so by the ledger's clock. */
  #turnTo(period: number): void {
    const words = this.#words;
    if (period <= words[PERIOD] || words[IS_SHARED] !== 0) return;
    words[PERIOD] = period;
    words[REQUESTS] = 0;
    words[CREDITS] = 0;
  }
}

/** Returns one node's part of a limit: an equal share of rate and burst, with a burst of at least 1. */
function partOf(limit: RateLimit, nodes: number): RateLimit {
  if (limit.requestsPerMinute >= UNLIMITED) return limit;
  return {
    requestsPerMinute: limit.requestsPerMinute / nodes,
    burst: Math.max(1, Math.floor(limit.burst / nodes)),
  };
}

/** Returns X-RateLimit-Reset: the Unix second at which the full burst is available again; without a limit, now. */
export function resetAtUnixS(decision: Readonly<RateDecision>, wallMs: number): number {
  return Math.ceil((wallMs + decision.resetAfterMs) / 1_000);
}

/** Returns Retry-After: whole seconds until one request is possible, at least 1. */
export function retryAfterS(decision: Readonly<RateDecision>): number {
  return Math.max(1, Math.ceil(decision.retryAfterMs / 1_000));
}
