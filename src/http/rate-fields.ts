import { remainingRequests, resetAtUnixS } from '../account/meter.ts';
import type { RateDecision } from '../account/rate.ts';
import type { Field } from './head.ts';

/** Where a client stands with its rate limit, as replies tell it. An account without a limit has none. */
export interface RateFacts {
  /** Whole requests possible now. */
  readonly remaining: number;
  /** Unix second at which the full burst is there again. */
  readonly resetAtS: number;
  readonly resetAfterS: number;
  readonly burst: number;
  /** Also send the fields of draft-ietf-httpapi-ratelimit-headers-10 (§3). */
  readonly draftFields: boolean;
}

/** The facts of a decision, which is its meter's and changes with the next call on it. */
export function rateFacts(
  decision: Readonly<RateDecision>,
  burst: number,
  nowMs: number,
  draftFields: boolean,
): RateFacts | undefined {
  const remaining = remainingRequests(decision);
  if (remaining === null) return undefined;
  const resetAfterS = Math.ceil(decision.resetAfterMs / 1000);
  return { remaining, resetAtS: resetAtUnixS(decision, nowMs), resetAfterS, burst, draftFields };
}

/** The same for all accounts of a limit, so it is made once for each. */
export function policyOf(burst: number): string {
  let policy = policies.get(burst);
  if (policy === undefined) {
    if (policies.size >= POLICIES_MAX) policies.clear();
    policies.set(burst, (policy = `"burst";q=${burst};w=60`));
  }
  return policy;
}

const policies = new Map<number, string>();
const POLICIES_MAX = 256;

/** The texts before the remaining requests and before the seconds to the full burst. */
export const STANDING = ['"burst";r=', ';t='] as const;

/** The same as header fields, for replies that are made one by one. */
export function rateFields(rate: RateFacts | undefined): Field[] {
  if (rate === undefined) return [];
  const fields: Field[] = [
    ['X-RateLimit-Remaining', String(rate.remaining)],
    ['X-RateLimit-Reset', String(rate.resetAtS)],
  ];
  if (rate.draftFields)
    fields.push(['RateLimit-Policy', policyOf(rate.burst)], ['RateLimit', standingOf(rate)]);
  return fields;
}

function standingOf(rate: RateFacts): string {
  return `${STANDING[0]}${rate.remaining}${STANDING[1]}${rate.resetAfterS}`;
}
