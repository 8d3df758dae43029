import type { Account } from '../account/directory.ts';
import { remainingRequests, resetAtUnixS } from '../account/meter.ts';
import type { RateDecision } from '../account/rate.ts';
import type { Field } from './head.ts';

/**
 * The fields that tell a client where it stands: the specification's two, and on request those of
 * draft-ietf-httpapi-ratelimit-headers-10 (§3). `X-RateLimit-Remaining` is the number of whole requests possible now,
 * `X-RateLimit-Reset` the Unix second at which the full burst is there again. An account without a limit gets none.
 */
export function rateFields(
  decision: RateDecision,
  account: Account,
  nowMs: number,
  draftFields: boolean,
): Field[] {
  const remaining = remainingRequests(decision);
  if (remaining === null) return [];
  const fields: Field[] = [
    ['X-RateLimit-Remaining', String(remaining)],
    ['X-RateLimit-Reset', String(resetAtUnixS(decision, nowMs))],
  ];
  if (draftFields) {
    fields.push(
      ['RateLimit-Policy', `"burst";q=${account.meter.limit.burst};w=60`],
      ['RateLimit', `"burst";r=${remaining};t=${Math.ceil(decision.resetAfterMs / 1000)}`],
    );
  }
  return fields;
}
