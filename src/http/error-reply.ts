import { ApiError } from '../core/errors.ts';
import { uuidText } from '../core/ids.ts';
import { LedgerError } from '../ledger/ledger.ts';
import { type Field, reasonOf } from './head.ts';
import { type Reply, valueReply } from './reply.ts';
import { negotiate } from './representation.ts';
import { requestIdText } from './request-id.ts';

export interface ErrorContext {
  readonly requestId: Uint8Array;
  /** The request's Accept field: `application/problem+json` gives the facts as RFC 9457. */
  readonly accept: string;
  /** Fields that every answer to this client carries, e.g. its rate limit. */
  readonly fields?: readonly Field[];
}

/** Credentials are asked for as RFC 6750 §3 says: a key that was not accepted is an invalid_token. */
const CHALLENGE = 'Bearer realm="quantum-random-number-service"';

/**
 * What a client is told of anything thrown: an ApiError as it is, a ledger that does not answer as
 * `storage_unavailable`, since a retry may reach it, and any other fault as a bare internal_error.
 */
export function clientError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof LedgerError && thrown.reason === 'stopped')
    return new ApiError('storage_unavailable', { retryAfterS: LEDGER_RETRY_AFTER_S });
  return new ApiError('internal_error');
}

/** A service that restarts needs about so long. */
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

/** The facts of an error as the body of a reply gives them. */
export function errorOf(error: ApiError, { requestId }: Pick<ErrorContext, 'requestId'>): object {
  const { code, message, status, facts } = error;
  const { details } = facts;
  return {
    error: { code, message, status, request_id: requestIdText(requestId), ...(details && { details }) },
  };
}

/** RFC 9457 §3.1; code, request_id and details are extension members (§3.2). */
function problemOf(error: ApiError, { requestId }: ErrorContext): object {
  const { code, message, status, facts } = error;
  const { details } = facts;
  return {
    type: 'about:blank',
    title: reasonOf(status), // with about:blank it is the phrase of the status (RFC 9457 §4.2.1)
    status,
    detail: message,
    instance: `urn:uuid:${uuidText(requestId)}`,
    code,
    request_id: requestIdText(requestId),
    ...(details && { details }),
  };
}
