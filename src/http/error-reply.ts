import { ApiError, type ErrorCode } from '../core/errors.ts';
import { uuidText } from '../core/ids.ts';
import { LedgerError } from '../ledger/ledger.ts';
import { type Field, reasonOf } from './head.ts';
import { type Reply, valueReply } from './reply.ts';
import { negotiate } from './representation.ts';
import { requestIdText } from './request-id.ts';

/** WWW-Authenticate as RFC 6750 §3 specifies it. */
const CHALLENGE = 'Bearer realm="quantum-random-number-service"';
const CHALLENGES: Readonly<Partial<Record<ErrorCode, string>>> = {
  auth_missing: CHALLENGE,
  auth_invalid: `${CHALLENGE}, error="invalid_token"`,
};

/**
 * Returns the error that a client gets for anything that was thrown: an ApiError unchanged; `storage_unavailable` for a
 * ledger that does not answer, because a retry may reach it; `internal_error` without details for any other fault.
 */
export function clientError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof LedgerError && thrown.reason === 'stopped')
    return new ApiError('storage_unavailable', { retryAfterS: LEDGER_RETRY_AFTER_S });
  return new ApiError('internal_error');
}

/** About the time that the service takes to restart. */
const LEDGER_RETRY_AFTER_S = 5;

/**
 * Returns the reply to a request with this Accept field. With `application/problem+json` the body has the form of RFC 9457.
 * `beside` are fields that every reply to this client carries, e.g. its rate limit.
 */
export function errorReply(
  error: ApiError,
  { requestId, accept }: { readonly requestId: Uint8Array; readonly accept: string },
  beside: readonly Field[] = [],
): Reply {
  const { code, status, facts } = error;
  const retryAfterS = retryAfterOf(error);
  const form = negotiate(accept, ['json', 'problem'], 'json');
  const body = form === 'problem' ? problemOf(error, requestId) : errorOf(error, requestId);
  const fields: Field[] = [['X-Request-ID', uuidText(requestId)]];
  if (retryAfterS !== undefined) fields.push(['Retry-After', String(retryAfterS)]);
  if (facts.field !== undefined) fields.push(facts.field);
  const challenge = CHALLENGES[code];
  if (challenge !== undefined) fields.push(['WWW-Authenticate', challenge]);
  return valueReply(status, form, body, [...fields, ...beside]);
}

/** Returns after how many whole seconds the client may ask again, if the error says so. */
export function retryAfterOf({ facts: { retryAfterS } }: ApiError): number | undefined {
  return retryAfterS === undefined ? undefined : Math.max(0, Math.ceil(retryAfterS));
}

/** Returns the body of an error reply. */
export function errorOf({ code, message, status, facts: { details } }: ApiError, requestId: Uint8Array) {
  return { error: { code, message, status, request_id: requestIdText(requestId), details } };
}

/** Returns the body in the form of RFC 9457 §3.1. `code`, `request_id` and `details` are extension members (§3.2). */
function problemOf({ code, message, status, facts: { details } }: ApiError, requestId: Uint8Array) {
  return {
    type: 'about:blank',
    title: reasonOf(status), // for about:blank the title is the reason phrase of the status (RFC 9457 §4.2.1)
    status,
    detail: message,
    instance: `urn:uuid:${uuidText(requestId)}`,
    code,
    request_id: requestIdText(requestId),
    details,
  };
}
