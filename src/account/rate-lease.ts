import { admit, peek, type RateDecision, type RateLimit } from './rate.ts';
import { UNLIMITED } from './tiers.ts';

/**
 * A node's part in the rate limit of an account that several nodes serve. The ledger holds one bucket for all nodes
 * (GCRA, as in rate.ts). A node leases requests from it before it admits them; what it has not used after LEASE_MS is lost.
 * So all nodes together admit, in any time, at most what one bucket would in a time longer by LEASE_MS.
 *
 * The state is plain float64 words in the account's cell. Times are milliseconds of the clock of rate.ts.
 */
const LEASE_MS = 1_000;
/** Of the requests that a node used in the last second, so many are leased beyond those that wait. */
const AHEAD = 1 / 4;
const MINUTE_MS = 60_000;
/** As in rate.ts. */
const ROUNDING = 1e-6;

const PER_MINUTE = 0;
const HELD = 1;
const HELD_UNTIL = 2;
/** The shared bucket's level when the ledger last told it, leases included, and when that was. */
const LEVEL = 3;
const TOLD_AT = 4;
/** Requests used in about the last second. */
const RECENT = 5;
const USED_AT = 6;
export const LEASE_WORDS = 7;

export function setLeaseRate(lease: Float64Array, requestsPerMinute: number): void {
  lease[PER_MINUTE] = requestsPerMinute;
}

export function leaseRate(lease: Float64Array): number {
  return lease[PER_MINUTE];
}

/** Requests that the node may admit without asking. */
export function heldOf(lease: Float64Array, nowMs: number): number {
  return nowMs < lease[HELD_UNTIL] ? lease[HELD] : 0;
}

/** Takes one request if the node's own limit has room and the node holds one of the shared rate. See `admit` of rate.ts. */
export function admitLeased(
  state: Float64Array,
  lease: Float64Array,
  nowMs: number,
  limit: RateLimit,
  decision: RateDecision,
): void {
  peek(state, nowMs, limit, decision);
  const allowed = decision.allowed && heldOf(lease, nowMs) >= 1;
  if (allowed) {
    admit(state, nowMs, limit, decision);
    lease[HELD] -= 1;
    lease[RECENT] = recentAt(lease, nowMs) + 1;
    lease[USED_AT] = nowMs;
  }
  restrict(lease, nowMs, limit, decision);
  decision.allowed = allowed;
}

/** Requests to lease when so many wait. What is leased ahead is a part of what was used, so that little is lost. */
export function leaseWanted(lease: Float64Array, waiting: number, nowMs: number): number {
  if (waiting === 0 || lease[PER_MINUTE] >= UNLIMITED) return 0;
  const ahead = Math.min(Math.floor(AHEAD * recentAt(lease, nowMs)), Math.ceil(lease[PER_MINUTE] / 60));
  return Math.max(0, Math.max(waiting, ahead) - heldOf(lease, nowMs));
}

/** Takes what the ledger leased to a call that began at `askedAtMs`. What is still held keeps its earlier end. */
export function takeLease(
  lease: Float64Array,
  grant: { readonly rateLeased: number; readonly rateLevel: number },
  askedAtMs: number,
  nowMs: number,
): void {
  const held = heldOf(lease, nowMs);
  if (held === 0) lease[HELD_UNTIL] = askedAtMs + LEASE_MS;
  lease[HELD] = held + grant.rateLeased;
  lease[LEVEL] = grant.rateLevel;
  lease[TOLD_AT] = nowMs;
}

/** Lowers a decision of the node's own limit to what the shared bucket has, as far as the node was told. */
export function restrict(lease: Float64Array, nowMs: number, limit: RateLimit, decision: RateDecision): void {
  const drained = (Math.max(0, nowMs - lease[TOLD_AT]) * limit.requestsPerMinute) / MINUTE_MS;
  const level = Math.min(limit.burst, Math.max(0, lease[LEVEL] - drained));
  const room = Math.floor(limit.burst - level + ROUNDING) + heldOf(lease, nowMs);
  const drainMs = (requests: number) =>
    Math.ceil(Math.max(0, ((requests - ROUNDING) * MINUTE_MS) / limit.requestsPerMinute));
  decision.remaining = Math.min(decision.remaining, room);
  decision.resetAfterMs = Math.max(decision.resetAfterMs, drainMs(level));
  if (room >= 1) return;
  decision.allowed = false;
  decision.retryAfterMs = Math.max(decision.retryAfterMs, drainMs(level + 1 - limit.burst));
}

function recentAt(lease: Float64Array, nowMs: number): number {
  return lease[RECENT] * Math.max(0, 1 - Math.max(0, nowMs - lease[USED_AT]) / 1_000);
}
