import { assert } from '../core/assert.ts';
import { burstOf, UNLIMITED } from './tiers.ts';

/**
 * The rate limit of one account. Each decision depends on the state, the time and the limit alone. A request passes when both
 * of these allow it:
 *
 * - the bucket: GCRA in its form as a continuous-state leaky bucket (ITU-T I.371 §A.1). The bucket holds the burst. Each
 *   request adds 1 to its level, and `requestsPerMinute` drain away in a minute. The theoretical arrival time of the other
 *   form is `updatedAt + level * 60 s / requestsPerMinute`; the level keeps its precision at any value of the clock.
 * - the window: at most the burst in any 60 seconds. The bucket alone would let 24 requests through in the first minute of a
 *   tier with 10 a minute: 15 at once, and the 9 that drain before the minute ends.
 *
 * The state is float64 words, so that it can lie in shared memory. Times are milliseconds of a monotonic clock.
 */
export const WINDOW_MS = 60_000;

/** A step rounds by less than 2^-53 of the burst. A millionth of a request is far more than that, and still negligible. */
const ROUNDING = 1e-6;

/** The most admissions that are saved for a restart: 128 KiB of float64, five times the largest burst of the tier table. */
const ADMISSIONS_REMEMBERED_MAX = 16_384;

// The words of a state. After them comes a ring of groups with two words each: the time of the group's newest admission, and
// the count of its admissions.
const LEVEL = 0;
const UPDATED_AT = 1;
const IN_WINDOW = 2;
const OLDEST = 3;
const GROUPS = 4;
const RING = 5;

/** UNLIMITED in both members stands for no limit. */
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

/** The part of a state that is saved, in times of the state's own clock. */
export interface RateMemory {
  /** When the bucket will be empty. */
  readonly emptyAtMs: number;
  /** The admissions of the last 60 seconds, oldest first. */
  readonly admittedAtMs: readonly number[];
}

export function rateLimitOf(requestsPerMinute: number): RateLimit {
  return { requestsPerMinute, burst: burstOf(requestsPerMinute) };
}

/** Returns the count of words of a state whose ring has `slots` groups. A new state is all zero. */
export function rateWords(slots: number): number {
  return RING + 2 * slots;
}

/** Returns a decision for `admit` and `peek` to overwrite. */
export function newDecision(): RateDecision {
  return unlimited({} as RateDecision);
}

/** Takes one request if there is room, and writes the result into `decision`. */
export function admit(state: Float64Array, nowMs: number, limit: RateLimit, decision: RateDecision): void {
  if (limit.requestsPerMinute >= UNLIMITED) return void unlimited(decision);
  const now = settle(state, nowMs, limit);
  const allowed = roomOf(state, limit) >= 1;
  if (allowed) take(state, now, limit);
  describe(state, now, limit, decision);
  decision.allowed = allowed;
}

/** Writes into `decision` what `admit` would decide, and takes nothing. */
export function peek(state: Float64Array, nowMs: number, limit: RateLimit, decision: RateDecision): void {
  if (limit.requestsPerMinute >= UNLIMITED) return void unlimited(decision);
  const now = settle(state, nowMs, limit);
  describe(state, now, limit, decision);
  decision.allowed = decision.remaining >= 1;
}

/** Limits the level to a smaller burst: a higher level would bar the account for longer than a full bucket does. */
export function adapt(state: Float64Array, limit: RateLimit): void {
  state[LEVEL] = Math.min(state[LEVEL], limit.burst);
}

/**
 * Returns what must be saved for a restart; undefined when the full burst is available. Leaves out the oldest of more than
 * ADMISSIONS_REMEMBERED_MAX admissions; then the bucket alone keeps a restart from allowing a new burst.
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
 * Fills a new state from a saved one. The level is what the saved bucket still holds, at most the burst. It is at least
 * what the admissions alone would have left in an empty bucket, since the ledger may add admissions made after the bucket
 * was saved. Admissions later than now count as made now.
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

/** Drains the bucket and moves the window up to `nowMs`. Returns the time of the state, which never goes back. */
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
 * Counts an admission. A group of the ring stands for up to `stride` admissions, and leaves the window with its newest one.
 * That is exact while the burst fits into the ring; beyond that it is too strict by less than the stride. When the ring is
 * full, its newest group grows further.
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

/** Returns the milliseconds until enough admissions have left the window for one more. */
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

/** Returns the first word of the i-th group, counted from the oldest. */
function slotOf(state: Float64Array, i: number): number {
  const slots = slotsOf(state);
  const slot = state[OLDEST] + i;
  return RING + 2 * (slot < slots ? slot : slot - slots);
}

assert(burstOf(1) >= 1, 'the smallest rate lets one request through');
