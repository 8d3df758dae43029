import type { Error as ServiceErrorBody } from './openapi.ts';

/** Every code that the service answers with; its docs/errors.md says what to do about each. */
export type ServiceErrorCode = ServiceErrorBody['error']['code'];

/**
 * Codes of this client: the connection failed or was cut; no answer in `timeoutMs`; what came is not an answer of the
 * service, such as a proxy's page.
 */
export type ClientErrorCode = 'network_error' | 'timeout' | 'invalid_answer';

/** A newer service may answer codes that this list does not have. */
export type ErrorCode = ServiceErrorCode | ClientErrorCode | (string & {});

/** A response as it came. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface QrnErrorFacts {
  readonly message: string;
  readonly status?: number | null;
  readonly requestId?: string | null;
  readonly details?: Readonly<Record<string, unknown>> | null;
  readonly retryAfterMs?: number | null;
  readonly response?: RawResponse | null;
  readonly cause?: unknown;
}

/**
 * A call that has no answer. A refused request has drawn no entropy and spent no credit. Each kind of failure has a
 * class of its own below this one.
 */
export class QrnError extends Error {
  readonly code: ErrorCode;
  /** HTTP status; null when no answer came. */
  readonly status: number | null;
  /** `req_…`, which names the request in the service's log; null when no answer of the service came. */
  readonly requestId: string | null;
  /** What the service adds to the code, e.g. `required` and `remaining` of `credits_exhausted`. */
  readonly details: Readonly<Record<string, unknown>> | null;
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs: number | null;
  /** What came in place of an answer, headers and body; null when nothing came. */
  readonly response: RawResponse | null;
  /** Requests that were sent for this call. */
  attempts = 1;
  /**
   * The Idempotency-Key of the call, in pure mode. After a `network_error` or `timeout`, the same call with the same
   * key gets the answer that was on its way, and spends nothing more.
   */
  idempotencyKey: string | null = null;

  constructor(code: ErrorCode, facts: QrnErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = new.target.name;
    this.code = code;
    this.status = facts.status ?? null;
    this.requestId = facts.requestId ?? null;
    this.details = facts.details ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.response = facts.response ?? null;
  }
}

/** `network_error`: the connection failed or was cut; a TimeoutExceededError when no answer came in time. */
export class ConnectionFailedError extends QrnError {}

/** `timeout`: no answer within the time of one attempt, or a draw that did not end within the time of a wait. */
export class TimeoutExceededError extends ConnectionFailedError {}

/** `invalid_answer`: what came is not an answer of the service, such as a proxy's page. */
export class InvalidAnswerError extends QrnError {}

/** The request is wrong and will be wrong again: 400, 405, 406, 413, 415, 431, and 409 of a draw. */
export class InvalidRequestError extends QrnError {}

/** 401: there is no API key, or it is mistyped, expired or revoked. */
export class AuthenticationError extends QrnError {}

/** 402: `details` has `required` and `remaining`, in bytes. */
export class CreditsExhaustedError extends QrnError {}

/** 403: the key lacks a scope, or the account's tier lacks the entropy mode. */
export class PermissionDeniedError extends QrnError {}

/** 404 */
export class NotFoundError extends QrnError {}

/** 409 and 422: the Idempotency-Key is of a request that still runs, or was used for another request. */
export class IdempotencyError extends QrnError {}

/** 429: `rate_limited` by the minute, `quota_exceeded` by the month. */
export class RateLimitError extends QrnError {}

/** 5xx: the service cannot answer now. */
export class ServiceError extends QrnError {}

type QrnErrorClass = new (code: ErrorCode, facts: QrnErrorFacts) => QrnError;

const CLIENT_ERRORS: Readonly<Record<ClientErrorCode, QrnErrorClass>> = {
  network_error: ConnectionFailedError,
  timeout: TimeoutExceededError,
  invalid_answer: InvalidAnswerError,
};

const STATUS_ERRORS: Readonly<Record<number, QrnErrorClass>> = {
  401: AuthenticationError,
  402: CreditsExhaustedError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: IdempotencyError,
  422: IdempotencyError,
  429: RateLimitError,
};

/** An error of this client. */
export function clientError(code: ClientErrorCode, facts: QrnErrorFacts): QrnError {
  return new CLIENT_ERRORS[code](code, facts);
}

/** An error of the service, in the class of its status: codes that only a newer service knows have one too. */
export function serviceError(code: string, facts: QrnErrorFacts & { readonly status: number }): QrnError {
  const { status } = facts;
  if (status >= 500) return new ServiceError(code, facts);
  if (code === 'draw_ended' || code === 'draw_due') return new InvalidRequestError(code, facts); // no matter of a key
  return new (STATUS_ERRORS[status] ?? InvalidRequestError)(code, facts);
}
