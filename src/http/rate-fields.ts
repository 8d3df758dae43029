import { resetAtUnixS } from '../account/meter.ts';
import type { RateDecision, RateLimit } from '../account/rate.ts';
import type { Field } from './head.ts';

/** Where a client stands with its rate limit, as replies tell it. */
export interface RateFacts {
  /** Whole requests possible now. */
  readonly remaining: number;
  /** Unix second at which the full burst is there again. */
  readonly resetAtS: number;
  readonly resetAfterS: number;
  /** The value of RateLimit-Policy. */
  readonly policy: string;
  /** Also send the fields of draft-ietf-httpapi-ratelimit-headers-10 (§3). */
  readonly draftFields: boolean;
}

/** The facts of a decision, which is its meter's and changes with the next call on it. */
export function rateFacts(
  decision: Readonly<RateDecision>,
  limit: RateLimit,
  nowMs: number,
  draftFields: boolean,
): RateFacts {
  const resetAfterS = Math.ceil(decision.resetAfterMs / 1000);
  const { remaining } = decision;
  return {
    remaining,
    resetAtS: resetAtUnixS(decision, nowMs),
    resetAfterS,
    policy: policyOf(limit),
    draftFields,
  };
}

/**
 * The burst of any 60 seconds and the rate that is sustained. The same for all accounts of a limit, so it is
 * made once.
 */
function policyOf({ requestsPerMinute, burst }: RateLimit): string {
  let policy = policies.get(requestsPerMinute);
  if (policy === undefined) {
    if (policies.size >= POLICIES_MAX) policies.clear();
    policy = `"burst";q=${burst};w=60, "sustained";q=${requestsPerMinute};w=60`;
    policies.set(requestsPerMinute, policy);
  }
  return policy;
}

const policies = new Map<number, string>();
const POLICIES_MAX = 256;

/** The texts before the remaining requests and before the seconds to the full burst. */
export const RATE_LIMIT_TEXTS = ['"burst";r=', ';t='] as const;

/** The same as header fields, for replies that are made one by one. */
export function rateFields(rate: RateFacts | undefined): Field[] {
  if (rate === undefined) return [];
  const fields: Field[] = [
    ['X-RateLimit-Remaining', String(rate.remaining)],
    ['X-RateLimit-Reset', String(rate.resetAtS)],
  ];
  if (rate.draftFields) fields.push(['RateLimit-Policy', rate.policy], ['RateLimit', rateLimitText(rate)]);
  return fields;
}

function rateLimitText(rate: RateFacts): string {
  return `${RATE_LIMIT_TEXTS[0]}${rate.remaining}${RATE_LIMIT_TEXTS[1]}${rate.resetAfterS}`;
}
