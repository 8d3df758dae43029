import { assert } from '../core/assert.ts';
import { burstOf, UNLIMITED } from './tiers.ts';

/**
 * The rate limit of one account: decisions from (state, now, limit), nothing else. A request passes when both
 * allow it:
 *
 * - the bucket: GCRA in its continuous-state leaky bucket form (ITU-T I.371 §A.1). `level` requests are in
 *   the bucket, each
 *   adds one, `requestsPerMinute` a minute drain away, and it holds the burst. The theoretical arrival time of the
 *   other form is `updatedAt + level * 60 s / requestsPerMinute`; the level keeps its precision at any clock value.
 * - the window: never more than the burst in any 60 seconds. The bucket alone would let 24 requests through
 *   in the
 *   first minute of a tier with 10 a minute (15 at once, and the 9 that drain before its end).
 *
 * The state is plain float64 words, so that it may lie in shared memory. Times are milliseconds of a clock
 * that never goes back.
 */
export const WINDOW_MS = 60_000;

/**
 * Rounding adds less than 2^-53 of the burst a step; a millionth of a request is far above it and below
 * notice.
 */
const ROUNDING = 1e-6;

/**
 * Admissions written down for a restart: 128 KiB of float64, five times the largest burst of the tier table.
 */
const ADMISSIONS_REMEMBERED_MAX = 16_384;

// the words of a state; behind them a ring of groups, two words each: newest admission of the group,
// admissions in it
const LEVEL = 0;
const UPDATED_AT = 1;
const IN_WINDOW = 2;
const OLDEST = 3;
const GROUPS = 4;
const RING = 5;

/** UNLIMITED in both is not a limit. */
export interface RateLimit {
  readonly requestsPerMinute: number;
  readonly burst: number;
}

export interface RateDecision {
  allowed: boolean;
  /** Whole requests possible now, after this one; UNLIMITED without a limit. */
  remaining: number;
  /** Whole milliseconds until the full burst is there again. */
  resetAfterMs: number;
  /** Whole milliseconds until one request is possible; 0 when one is possible now. */
  retryAfterMs: number;
}

/** Part of a state that is written down, in the times of the state's own clock. */
export interface RateMemory {
  /** When the bucket will be empty. */
  readonly emptyAtMs: number;
  /** The admissions of the last 60 seconds, oldest first. */
  readonly admittedAtMs: readonly number[];
}

export function rateLimitOf(requestsPerMinute: number): RateLimit {
  return { requestsPerMinute, burst: burstOf(requestsPerMinute) };
}

/** Words of a state whose ring has `slots` groups. A fresh state is all zero. */
export function rateWords(slots: number): number {
  return RING + 2 * slots;
}

/** To be written over. */
export function newDecision(): RateDecision {
  return unlimited({} as RateDecision);
}

/** Takes one request if there is room. The answer is written into `decision`. */
export function admit(state: Float64Array, nowMs: number, limit: RateLimit, decision: RateDecision): void {
  if (limit.requestsPerMinute >= UNLIMITED) return void unlimited(decision);
  const now = settle(state, nowMs, limit);
  const allowed = roomOf(state, limit) >= 1;
  if (allowed) take(state, now, limit);
  describe(state, now, limit, decision);
  decision.allowed = allowed;
}

/** The same answer without taking anything; `allowed` tells whether a request would pass. */
export function peek(state: Float64Array, nowMs: number, limit: RateLimit, decision: RateDecision): void {
  if (limit.requestsPerMinute >= UNLIMITED) return void unlimited(decision);
  const now = settle(state, nowMs, limit);
  describe(state, now, limit, decision);
  decision.allowed = decision.remaining >= 1;
}

/**
 * A smaller burst takes effect at once: an old level would bar the account for longer than a full bucket
 * does.
 */
export function adapt(state: Float64Array, limit: RateLimit): void {
  state[LEVEL] = Math.min(state[LEVEL], limit.burst);
}

/**
 * What a restart must know; undefined when the full burst is there anyway. Of more than
 * ADMISSIONS_REMEMBERED_MAX admissions the oldest are left out: then the bucket alone keeps a restart from
 * giving a new burst.
 */
export function remember(state: Float64Array, nowMs: number, limit: RateLimit): RateMemory | undefined {
  const now = settle(state, nowMs, limit);
  if (state[LEVEL] === 0 && state[GROUPS] === 0) return undefined;
  const admittedAtMs: number[] = [];
  let skip = Math.max(0, state[IN_WINDOW] - ADMISSIONS_REMEMBERED_MAX);
  for (let i = 0; i < state[GROUPS]; i++) {
    const at = slotOf(state, i);
    const left = Math.max(0, state[at + 1] - skip);
    skip = Math.max(0, skip - state[at + 1]);
    for (let n = 0; n < left; n++) admittedAtMs.push(state[at]);
  }
  return { emptyAtMs: now + drainMs(state[LEVEL], limit), admittedAtMs };
}

/**
 * Puts a remembered state into a fresh one. The level is what the memory's bucket still holds, clamped to the
 * burst, and at least what its admissions alone would have left in an empty bucket: a ledger may know of
 * admissions that came after the bucket was written down. Admissions later than now count as made now.
 */
export function recall(state: Float64Array, memory: RateMemory, nowMs: number, limit: RateLimit): void {
  state.fill(0);
  if (limit.requestsPerMinute >= UNLIMITED) return;
  state[UPDATED_AT] = nowMs - WINDOW_MS;
  for (const at of memory.admittedAtMs) {
    if (at <= nowMs - WINDOW_MS) continue;
    take(state, settle(state, Math.min(at, nowMs), limit), limit);
  }
  settle(state, nowMs, limit);
  const remembered = ((memory.emptyAtMs - nowMs) * limit.requestsPerMinute) / WINDOW_MS;
  state[LEVEL] = Math.min(Math.max(state[LEVEL], remembered), limit.burst);
}

/**
 * Lets the bucket drain and the window slide up to now; returns now, which never lies before the last call's.
 */
function settle(state: Float64Array, nowMs: number, limit: RateLimit): number {
  const passedMs = nowMs - state[UPDATED_AT];
  if (passedMs <= 0) return state[UPDATED_AT];
  state[LEVEL] = Math.max(0, state[LEVEL] - (passedMs * limit.requestsPerMinute) / WINDOW_MS);
  state[UPDATED_AT] = nowMs;
  while (state[GROUPS] > 0) {
    const at = slotOf(state, 0);
    if (nowMs - state[at] < WINDOW_MS) break;
    state[IN_WINDOW] -= state[at + 1];
    state[OLDEST] = state[OLDEST] + 1 < slotsOf(state) ? state[OLDEST] + 1 : 0;
    state[GROUPS] -= 1;
  }
  return nowMs;
}

function roomOf(state: Float64Array, limit: RateLimit): number {
  const inBucket = Math.floor(limit.burst - state[LEVEL] + ROUNDING);
  return Math.max(0, Math.min(inBucket, limit.burst - state[IN_WINDOW]));
}

/**
 * One group of the ring stands for up to `stride` admissions and leaves the window with its newest: exact
 * while the burst fits the ring, and beyond that strict by less than the stride. A full ring lets its newest
 * group grow.
 */
function take(state: Float64Array, now: number, limit: RateLimit): void {
  state[LEVEL] += 1;
  state[IN_WINDOW] += 1;
  const slots = slotsOf(state);
  const groups = state[GROUPS];
  if (groups > 0) {
    const newest = slotOf(state, groups - 1);
    const stride = Math.ceil(limit.burst / slots);
    if (state[newest + 1] < stride || groups === slots) {
      state[newest] = now;
      state[newest + 1] += 1;
      return;
    }
  }
  const at = slotOf(state, groups);
  state[at] = now;
  state[at + 1] = 1;
  state[GROUPS] = groups + 1;
}

function describe(state: Float64Array, now: number, limit: RateLimit, decision: RateDecision): void {
  const groups = state[GROUPS];
  const windowEmptyMs = groups === 0 ? 0 : state[slotOf(state, groups - 1)] + WINDOW_MS - now;
  decision.remaining = roomOf(state, limit);
  const bucketEmptyMs = drainMs(state[LEVEL] - ROUNDING, limit);
  decision.resetAfterMs = Math.ceil(Math.max(bucketEmptyMs, windowEmptyMs));
  if (decision.remaining >= 1) decision.retryAfterMs = 0;
  else {
    const bucketRoomMs = drainMs(state[LEVEL] + 1 - limit.burst - ROUNDING, limit);
    decision.retryAfterMs = Math.ceil(Math.max(bucketRoomMs, windowRoomMs(state, now, limit)));
  }
}

/** Milliseconds until enough admissions have left the window for one more. */
function windowRoomMs(state: Float64Array, now: number, limit: RateLimit): number {
  let excess = state[IN_WINDOW] + 1 - limit.burst;
  let waitMs = 0;
  for (let i = 0; excess > 0 && i < state[GROUPS]; i++) {
    const at = slotOf(state, i);
    excess -= state[at + 1];
    waitMs = state[at] + WINDOW_MS - now;
  }
  return waitMs;
}

function drainMs(requests: number, limit: RateLimit): number {
  return Math.max(0, (requests * WINDOW_MS) / limit.requestsPerMinute);
}

function unlimited(decision: RateDecision): RateDecision {
  decision.allowed = true;
  decision.remaining = UNLIMITED;
  decision.resetAfterMs = 0;
  decision.retryAfterMs = 0;
  return decision;
}

function slotsOf(state: Float64Array): number {
  return (state.length - RING) >> 1;
}

/** Word of the i-th group, counted from the oldest. */
function slotOf(state: Float64Array, i: number): number {
  const slots = slotsOf(state);
  const slot = state[OLDEST] + i;
  return RING + 2 * (slot < slots ? slot : slot - slots);
}

assert(burstOf(1) >= 1, 'the smallest rate lets one request through');
