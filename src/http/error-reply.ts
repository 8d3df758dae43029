import { ApiError } from '../core/errors.ts';
import { uuidText } from '../core/ids.ts';
import { LedgerError } from '../ledger/ledger.ts';
import { type Field, reasonOf } from './head.ts';
import { type Reply, valueReply } from './reply.ts';
import { negotiate } from './representation.ts';
import { requestIdText } from './request-id.ts';

export interface ErrorContext {
  readonly requestId: Uint8Array;
  /** The request's Accept field. With `application/problem+json` the body has the form of RFC 9457. */
  readonly accept: string;
  /** Fields that every reply to this client carries, e.g. its rate limit. */
  readonly fields?: readonly Field[];
}

/** WWW-Authenticate as RFC 6750 §3 specifies it; for a key that was not accepted, `error="invalid_token"` is added. */
const CHALLENGE = 'Bearer realm="quantum-random-number-service"';

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

export function errorReply(error: ApiError, context: ErrorContext): Reply {
  const form = negotiate(context.accept, ['json', 'problem'], 'json');
  const body = form === 'problem' ? problemOf(error, context) : errorOf(error, context);
  const fields: Field[] = [['X-Request-ID', uuidText(context.requestId)]];
  const { retryAfterS, field } = error.facts;
  if (retryAfterS !== undefined) fields.push(['Retry-After', String(Math.max(0, Math.ceil(retryAfterS)))]);
  if (field !== undefined) fields.push(field);
  if (error.code === 'auth_missing') fields.push(['WWW-Authenticate', CHALLENGE]);
  if (error.code === 'auth_invalid') fields.push(['WWW-Authenticate', `${CHALLENGE}, error="invalid_token"`]);
  if (context.fields !== undefined) fields.push(...context.fields);
  return valueReply(error.status, form, body, fields);
}

/** Returns the body of an error reply. */
export function errorOf(error: ApiError, { requestId }: Pick<ErrorContext, 'requestId'>): object {
  const { code, message, status, facts } = error;
  const { details } = facts;
  return {
    error: { code, message, status, request_id: requestIdText(requestId), ...(details && { details }) },
  };
}

/** Returns the body in the form of RFC 9457 §3.1. `code`, `request_id` and `details` are extension members (§3.2). */
function problemOf(error: ApiError, { requestId }: ErrorContext): object {
  const { code, message, status, facts } = error;
  const { details } = facts;
  return {
    type: 'about:blank',
    title: reasonOf(status), // for about:blank the title is the reason phrase of the status (RFC 9457 §4.2.1)
    status,
    detail: message,
    instance: `urn:uuid:${uuidText(requestId)}`,
    code,
    request_id: requestIdText(requestId),
    ...(details && { details }),
  };
}
