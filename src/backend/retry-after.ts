/** Retry-After as delay-seconds or as an HTTP date (RFC 9110 §10.2.3), in milliseconds from `nowMs`; never negative. */
export function parseRetryAfter(field: string | null, nowMs: number): number | undefined {
  if (field === null) return undefined;
  const value = field.trim();
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
