import type { QrnError } from './error.ts';

/** The wait before the second attempt; it doubles with every further attempt. */
const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 8_000;

/** Statuses that mean "try later", from the service or from a proxy before it (RFC 9110 §15.6.3, §15.6.5). */
const LATER_STATUSES: readonly (number | null)[] = [429, 502, 503, 504];

/**
 * Returns the wait before the next attempt, or null when there must be none. Any call of this client may be sent twice:
 * an answer is free outside of pure mode, and in pure mode every attempt carries the same Idempotency-Key.
 *
 * @param attempt the number of attempts so far, from 1 @param jitter a uniform number in [0, 1) @param waitMaxMs the
 * longest wait that is accepted when the service asks for one
 */
export function retryDelayMs(
  failure: QrnError,
  attempt: number,
  jitter: number,
  waitMaxMs: number,
): number | null {
  if (!mayPass(failure)) return null;
  const backoffMs = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (attempt - 1));
  const { retryAfterMs } = failure;
  if (retryAfterMs === null) return backoffMs * (0.5 + jitter / 2);
  if (retryAfterMs > waitMaxMs) return null;
  // at least as long as the service asks, and not the same for all clients
  return retryAfterMs + backoffMs * jitter;
}

function mayPass({ code, status }: QrnError): boolean {
  if (code === 'network_error' || code === 'timeout' || code === 'idempotency_in_flight') return true;
  return LATER_STATUSES.includes(status);
}

/**
 * Returns Retry-After in milliseconds; null when it is absent or malformed. The field holds seconds, or a date from
 * some proxies (RFC 9110 §10.2.3).
 */
export function retryAfterMs(field: string | null, nowMs: number): number | null {
  if (field === null) return null;
  if (/^\d{1,9}$/.test(field)) return Number(field) * 1000;
  const atMs = / GMT$/.test(field) ? Date.parse(field) : Number.NaN; // Date.parse accepts nearly any text
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
