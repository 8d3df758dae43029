import { resetAtUnixS } from '../account/meter.ts';
import type { RateDecision, RateLimit } from '../account/rate.ts';
import { IN_BARE_HEADS, IN_EVERY_HEAD } from '../answer/fields.ts';
import type { Field } from './head.ts';

/** The state of a client's rate limit, as replies report it. */
export interface RateFacts {
  /** Whole requests that are possible now. */
  readonly remaining: number;
  /** Unix second at which the full burst is available again. */
  readonly resetAtS: number;
  readonly resetAfterS: number;
  /**
   * The value of RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10 §3); undefined when the fields of
   * the draft are turned off, or when there is no limit.
   */
  readonly policy: string | undefined;
}

/** Returns the facts of a decision. They are copied, because the next call on the meter changes the decision object. */
export function rateFacts(
  decision: Readonly<RateDecision>,
  limit: RateLimit,
  nowMs: number,
  draftFields: boolean,
): RateFacts {
  const { remaining } = decision;
  const resetAtS = resetAtUnixS(decision, nowMs);
  const resetAfterS = Math.ceil(decision.resetAfterMs / 1000);
  const policy = draftFields ? policyOf(limit) : undefined;
  const isAsBefore = remaining === last?.remaining && resetAtS === last.resetAtS;
  if (!isAsBefore || resetAfterS !== last?.resetAfterS || policy !== last.policy)
    last = { remaining, resetAtS, resetAfterS, policy };
  return last;
}

/** The result of the last call, which is reused while it stays the same: without a limit that is the case for a whole second. */
let last: RateFacts | undefined;

/** The largest integer of a structured field (RFC 9651 §3.3.1). */
const FIELD_INTEGER_MAX = 999_999_999_999_999;

/**
 * Returns the value of RateLimit-Policy: `q` requests in `w` seconds, for the burst with the time until all of it is available
 * again, and for the sustained rate of a minute. A client that keeps to one of them is never refused. RateLimit reports the
 * rest of the burst: at most its `q`, and all of it within its `w`. One text serves all accounts with the same limit.
 */
function policyOf({ requestsPerMinute, burst }: RateLimit): string | undefined {
  if (burst > FIELD_INTEGER_MAX) return undefined; // there is no limit
  let policy = policies.get(requestsPerMinute);
  if (policy === undefined) {
    if (policies.size >= POLICIES_MAX) policies.clear();
    const windowS = Math.max(60, Math.ceil((burst * 60) / requestsPerMinute));
    policy = `"burst";q=${burst};w=${windowS}, "sustained";q=${requestsPerMinute};w=60`;
    policies.set(requestsPerMinute, policy);
  }
  return policy;
}

const policies = new Map<number, string>();
const POLICIES_MAX = 256;

/** The texts of RateLimit before the remaining requests and before the seconds until the full burst. */
export const RATE_LIMIT_TEXTS = ['"burst";r=', ';t='] as const;

/** Returns the header fields that report a rate limit, for replies that no template prints. */
export function rateFields(rate: RateFacts | undefined): Field[] {
  if (rate === undefined) return [];
  const fields: Field[] = [
    ['X-RateLimit-Remaining', String(rate.remaining)],
    ['X-RateLimit-Reset', String(rate.resetAtS)],
  ];
  if (rate.policy !== undefined)
    fields.push(['RateLimit-Policy', rate.policy], ['RateLimit', rateLimitText(rate)]);
  return fields;
}

function rateLimitText(rate: RateFacts): string {
  return `${RATE_LIMIT_TEXTS[0]}${rate.remaining}${RATE_LIMIT_TEXTS[1]}${rate.resetAfterS}`;
}

/**
 * Allows cross-origin requests (the Fetch standard, https://fetch.spec.whatwg.org/#http-cors-protocol) from the origins
 * that the operator names. API keys are sent in header fields, never in cookies, so credentials in the sense of Fetch are
 * never allowed. A browser of another origin gets its answer without these fields, and hides it from the page.
 */
export interface CorsPolicy {
  /** Returns the fields of every reply to a request from `origin`; none when the origin is not allowed. */
  fields(origin: string): readonly Field[];
  /** Returns the fields of the reply to a preflight from `origin` for a resource with these methods. */
  preflight(origin: string, methods: readonly string[]): readonly Field[];
}

/** The header fields that a page may send, in addition to those that need no permission. */
const REQUEST_FIELDS = ['Authorization', 'Content-Type', 'Idempotency-Key', 'X-API-Key', 'traceparent'];

/** The header fields of a reply that a page may read, in addition to those that need no permission. */
const EXPOSED_FIELDS: readonly string[] = [
  'Allow',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Ignored-Parameters',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'traceparent',
  ...[...IN_EVERY_HEAD, ...IN_BARE_HEADS].map(({ header }) => header),
].sort();

/** How long a browser may cache the answer to a preflight. No browser caches it for more than two hours. */
const PREFLIGHT_MAX_AGE_S = 7_200;

const NOTHING: readonly Field[] = [];

/** Makes the policy. An empty list of origins allows no cross-origin request; `*` allows every origin. */
export function corsPolicy(origins: readonly string[]): CorsPolicy {
  const all = origins.includes('*');
  const known = new Map(origins.map((origin) => [origin, fieldsFor(origin)]));
  const everyone = all ? fieldsFor('*') : undefined;
  const fields = (origin: string) => (origin === '' ? NOTHING : (everyone ?? known.get(origin) ?? NOTHING));
  return {
    fields,
    preflight(origin, methods) {
      const allowed = fields(origin);
      if (allowed.length === 0) return allowed;
      return [
        ...allowed,
        ['Access-Control-Allow-Methods', methods.join(', ')],
        ['Access-Control-Allow-Headers', REQUEST_FIELDS.join(', ')],
        ['Access-Control-Max-Age', String(PREFLIGHT_MAX_AGE_S)],
      ];
    },
  };
}

function fieldsFor(origin: string): readonly Field[] {
  const fields: Field[] = [
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Expose-Headers', EXPOSED_FIELDS.join(', ')],
  ];
  // because the reply depends on the origin (Fetch §3.3.5, "CORS protocol and HTTP caches")
  if (origin !== '*') fields.push(['Vary', 'Origin']);
  return fields;
}
