import { utf8Bytes } from '../core/bytes.ts';
import { ApiError } from '../core/errors.ts';
import { LedgerError } from '../ledger/ledger.ts';
import { type Field, headOf, reasonOf } from './head.ts';
import { MEDIA_TYPES, negotiate } from './representation.ts';
import { requestIdText, requestIdUuid } from './request-id.ts';

/** A whole reply, ready for Exchange.send. */
export interface Reply {
  readonly status: number;
  readonly head: Uint8Array<ArrayBuffer>;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Random values are in the body, which is then sent as it is (http/compression.ts). */
  readonly hasValues?: true;
  /** The body is made when it is read: not before the turn in which it is sent (http/reply-turns.ts). */
  readonly isMadeLate?: true;
}

export interface ErrorContext {
  readonly requestId: Uint8Array;
  /** The request's Accept field: `application/problem+json` gives the facts as RFC 9457. */
  readonly accept: string;
  /** Where each code is explained, as `URL#code`; without it problems have the type `about:blank`. */
  readonly errorsUrl?: string;
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
  const fields: Field[] = [
    ['Content-Type', MEDIA_TYPES[form]],
    ['Cache-Control', 'no-store'],
    ['X-Request-ID', requestIdUuid(context.requestId)],
  ];
  const { retryAfterS, allow } = error.facts;
  if (retryAfterS !== undefined) fields.push(['Retry-After', String(Math.max(0, Math.ceil(retryAfterS)))]);
  if (allow !== undefined) fields.push(['Allow', allow]);
  if (error.code === 'auth_missing') fields.push(['WWW-Authenticate', CHALLENGE]);
  if (error.code === 'auth_invalid') fields.push(['WWW-Authenticate', `${CHALLENGE}, error="invalid_token"`]);
  if (context.fields !== undefined) fields.push(...context.fields);
  return { status: error.status, head: headOf(error.status, fields), body: utf8Bytes(JSON.stringify(body)) };
}

/** The facts of an error as the body of a reply gives them. */
export function errorOf(error: ApiError, context: Pick<ErrorContext, 'requestId'>): object {
  const { details } = error.facts;
  return {
    error: {
      code: error.code,
      message: error.message,
      status: error.status,
      request_id: requestIdText(context.requestId),
      ...(details === undefined ? {} : { details }),
    },
  };
}

/** RFC 9457 §3.1; code, request_id and details are extension members (§3.2). */
function problemOf(error: ApiError, context: ErrorContext): object {
  const { details } = error.facts;
  const words = error.code.replaceAll('_', ' ');
  const typed = context.errorsUrl !== undefined;
  return {
    type: typed ? `${context.errorsUrl}#${error.code}` : 'about:blank',
    // RFC 9457 §4.2.1: with about:blank the title is the phrase of the status
    title: typed ? words[0].toUpperCase() + words.slice(1) : reasonOf(error.status),
    status: error.status,
    detail: error.message,
    instance: `urn:uuid:${requestIdUuid(context.requestId)}`,
    code: error.code,
    request_id: requestIdText(context.requestId),
    ...(details === undefined ? {} : { details }),
  };
}
