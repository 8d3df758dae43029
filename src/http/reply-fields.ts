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
 * rest of the burst: at most its `q`, and all of it within its `w`.
 */
function policyOf(limit: RateLimit): string | undefined {
  const { requestsPerMinute, burst } = limit;
  if (burst > FIELD_INTEGER_MAX) return undefined; // there is no limit
  let policy = policies.get(limit);
  if (policy === undefined) {
    const windowS = Math.max(60, Math.ceil((burst * 60) / requestsPerMinute));
    policy = `"burst";q=${burst};w=${windowS}, "sustained";q=${requestsPerMinute};w=60`;
    policies.set(limit, policy);
  }
  return policy;
}

const policies = new WeakMap<RateLimit, string>();

/** A part of a value: a text, or a number in the form of the slots of a template (answer/template.ts). */
type RatePart = string | { readonly number: (_: unknown, rate: RateFacts) => number };

const REMAINING = { number: (_: unknown, rate: RateFacts) => rate.remaining };
const RESET = { number: (_: unknown, rate: RateFacts) => rate.resetAtS };
const RESET_AFTER = { number: (_: unknown, rate: RateFacts) => rate.resetAfterS };

/** A header field that reports a rate limit: its name, and the parts of its value. */
type RateField = readonly [name: string, ...value: RatePart[]];

/** Returns the header fields that report a rate limit with this policy. */
export function ratePartsOf(policy: string | undefined): readonly RateField[] {
  const standing: RateField[] = [
    ['X-RateLimit-Remaining', REMAINING],
    ['X-RateLimit-Reset', RESET],
  ];
  if (policy === undefined) return standing;
  const ofBurst: RateField = ['RateLimit', '"burst";r=', REMAINING, ';t=', RESET_AFTER];
  return [...standing, ['RateLimit-Policy', policy], ofBurst];
}

/** Returns the header fields that report a rate limit, for replies that no template prints. */
export function rateFields(rate: RateFacts | undefined): Field[] {
  if (rate === undefined) return [];
  return ratePartsOf(rate.policy).map(([name, ...value]) => {
    return [
      name,
      value.map((part) => (typeof part === 'string' ? part : part.number(undefined, rate))).join(''),
    ];
  });
}

/** The header fields that a page may send, in addition to those that need no permission. */
const REQUEST_FIELDS = 'Authorization, Content-Type, Idempotency-Key, X-API-Key, traceparent';

/** The header fields of a reply that a page may read, in addition to those that need no permission. */
const EXPOSED_FIELDS = [
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
]
  .sort()
  .join(', ');

/** How long a browser may cache the answer to a preflight. No browser caches it for more than two hours. */
const PREFLIGHT_MAX_AGE_S = 7_200;

/**
 * Returns the fields that allow a cross-origin request (the Fetch standard, https://fetch.spec.whatwg.org/#http-cors-protocol) from
 * `origin`; none when the operator does not allow it. `*` allows every origin, an empty list none. API keys are sent in header
 * fields, never in cookies, so credentials in the sense of Fetch are never allowed. A browser of another origin gets its answer
 * without these fields, and hides it from the page.
 */
export function corsFields(allowed: readonly string[], origin: string): Field[] {
  const isOpen = allowed.includes('*');
  if (origin === '' || !(isOpen || allowed.includes(origin))) return [];
  const fields: Field[] = [
    ['Access-Control-Allow-Origin', isOpen ? '*' : origin],
    ['Access-Control-Expose-Headers', EXPOSED_FIELDS],
  ];
  // because the reply depends on the origin (Fetch §3.3.5, "CORS protocol and HTTP caches")
  if (!isOpen) fields.push(['Vary', 'Origin']);
  return fields;
}

/** Returns the fields of the reply to a preflight from `origin` for a resource with these methods. */
export function preflightFields(
  allowed: readonly string[],
  origin: string,
  methods: readonly string[],
): Field[] {
  const fields = corsFields(allowed, origin);
  if (fields.length === 0) return fields;
  return [
    ...fields,
    ['Access-Control-Allow-Methods', methods.join(', ')],
    ['Access-Control-Allow-Headers', REQUEST_FIELDS],
    ['Access-Control-Max-Age', String(PREFLIGHT_MAX_AGE_S)],
  ];
}
