import type { Account } from '../account/directory.ts';
import type { RateDecision } from '../account/rate.ts';
import { burstOf } from '../account/tiers.ts';
import type { Field } from './head.ts';

/**
 * The fields that tell a client where it stands: the specification's two, and on request those of
 * draft-ietf-httpapi-ratelimit-headers-10 (§3). `X-RateLimit-Remaining` is the number of whole requests possible now,
 * `X-RateLimit-Reset` the Unix second at which the full burst is there again. An account without a limit gets none.
 */
export function rateFields(decision: RateDecision, account: Account, nowMs: number, draftFields: boolean): Field[] {
  const limit = account.allowance.requestsPerMinute;
  if (!Number.isFinite(limit)) return [];
  const fields: Field[] = [
    ['X-RateLimit-Remaining', String(decision.remaining)],
    ['X-RateLimit-Reset', String(Math.ceil((nowMs + decision.resetAfterMs) / 1000))],
  ];
  if (draftFields) {
    fields.push(
      ['RateLimit-Policy', `"burst";q=${burstOf(limit)};w=60`],
      ['RateLimit', `"burst";r=${decision.remaining};t=${Math.ceil(decision.resetAfterMs / 1000)}`],
    );
  }
  return fields;
}
