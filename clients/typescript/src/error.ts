import type { Error as ServiceErrorBody } from './openapi.ts';

/** The error codes of the service. docs/errors.md says what to do about each. */
export type ServiceErrorCode = ServiceErrorBody['error']['code'];

/**
 * The error codes of this client. `network_error`: the connection failed or broke off. `timeout`: there was no answer
 * within `timeoutMs`. `invalid_answer`: the reply is not one of the service, for example a proxy's page.
 */
export type ClientErrorCode = 'network_error' | 'timeout' | 'invalid_answer';

/** A newer service may send codes that are not in this list. */
export type ErrorCode = ServiceErrorCode | ClientErrorCode | (string & {});

/** A response: its status, header fields and body. */
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
 * The error of a call without an answer. A request that the service refused has drawn no entropy and spent no credit.
 * Each kind of failure has its own subclass.
 */
export class QrnError extends Error {
  readonly code: ErrorCode;
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  /** `req_…`, which names the request in the service's log; null without a reply of the service. */
  readonly requestId: string | null;
  /** Facts that the service adds to the code, e.g. `required` and `remaining` for `credits_exhausted`. */
  readonly details: Readonly<Record<string, unknown>> | null;
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfterMs: number | null;
  /** The response that is not an answer; null without a response. */
  readonly response: RawResponse | null;
  /** The number of requests sent for this call. */
  attempts = 1;
  /**
   * The Idempotency-Key of the call; null when it had none. After a `network_error` or `timeout`, the same call with
   * the same key gets the first attempt's answer and costs nothing more.
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

/** `network_error`: the connection failed or broke off. Its subclass TimeoutExceededError: no answer came in time. */
export class ConnectionFailedError extends QrnError {}

/** `timeout`: no answer came within the time of one attempt, or a draw did not end within the time of a wait. */
export class TimeoutExceededError extends ConnectionFailedError {}

/** `invalid_answer`: the reply is not one of the service, for example a proxy's page. */
export class InvalidAnswerError extends QrnError {}

/** The request is wrong, so a retry fails too: 400, 405, 406, 413, 415, 431, and the 409 of a draw. */
export class InvalidRequestError extends QrnError {}

/** 401: the API key is missing, mistyped, expired or revoked. */
export class AuthenticationError extends QrnError {}

/** 402: `details` has `required` and `remaining`, in bytes. */
export class CreditsExhaustedError extends QrnError {}

/** 403: the key lacks a scope, or the account's tier lacks the entropy mode. */
export class PermissionDeniedError extends QrnError {}

/** 404 */
export class NotFoundError extends QrnError {}

/** 409 and 422: the request of this Idempotency-Key is still running, or the key was used for another request. */
export class IdempotencyError extends QrnError {}

/** 429: `rate_limited` in this minute, `quota_exceeded` in this month, or `idempotency_full` or `draws_full`. */
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

/** Returns an error of this client. */
export function clientError(code: ClientErrorCode, facts: QrnErrorFacts): QrnError {
  return new CLIENT_ERRORS[code](code, facts);
}

/** Returns an error of the service. The class depends on the status, so that codes of a newer service have one too. */
export function serviceError(code: string, facts: QrnErrorFacts & { readonly status: number }): QrnError {
  const { status } = facts;
  if (status >= 500) return new ServiceError(code, facts);
  if (code === 'draw_ended' || code === 'draw_due') return new InvalidRequestError(code, facts); // a 409 that has nothing to do with an Idempotency-Key
  return new (STATUS_ERRORS[status] ?? InvalidRequestError)(code, facts);
}
