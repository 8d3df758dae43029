import type { QrnError } from './error.ts';

/** Before the second attempt; doubles with every further one. */
const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 8_000;

/** Answers that mean "later", of the service or of a proxy before it (RFC 9110 §15.6.3, §15.6.5). */
const LATER_STATUSES: readonly (number | null)[] = [429, 502, 503, 504];

/**
 * How long to wait before the call is sent again; null when it must not or need not be. Any call of this client may
 * be sent twice: without pure mode an answer is free, and in pure mode every attempt carries the same Idempotency-Key.
 *
 * @param attempt attempts made so far, from 1
 * @param jitter uniform in [0, 1)
 * @param waitMaxMs a service that asks for more patience than this is not waited for
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
  // never earlier than asked, and not all clients at the same moment
  return retryAfterMs + backoffMs * jitter;
}

function mayPass({ code, status }: QrnError): boolean {
  if (code === 'network_error' || code === 'timeout' || code === 'idempotency_in_flight') return true;
  return LATER_STATUSES.includes(status);
}

/** Retry-After in milliseconds: seconds, or a date as some proxies send it (RFC 9110 §10.2.3); null when absent or neither. */
export function retryAfterMs(field: string | null, nowMs: number): number | null {
  if (field === null) return null;
  if (/^\d{1,9}$/.test(field)) return Number(field) * 1000;
  const atMs = / GMT$/.test(field) ? Date.parse(field) : Number.NaN; // Date.parse makes a date of nearly anything
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
