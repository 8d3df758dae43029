/** Every code that the service answers with; its docs/errors.md says what to do about each. */
export const SERVICE_ERROR_CODES = [
  'bad_request',
  'invalid_count',
  'invalid_range',
  'unique_impossible',
  'invalid_boolean',
  'invalid_sort',
  'invalid_encoding',
  'invalid_precision',
  'invalid_length',
  'invalid_items',
  'invalid_type',
  'invalid_params',
  'invalid_json',
  'invalid_id',
  'invalid_format',
  'invalid_entropy_mode',
  'invalid_idempotency_key',
  'duplicate_parameter',
  'auth_missing',
  'auth_invalid',
  'credits_exhausted',
  'auth_scope',
  'mode_not_allowed',
  'not_found',
  'cert_not_found',
  'method_not_allowed',
  'idempotency_in_flight',
  'payload_too_large',
  'unsupported_media_type',
  'idempotency_mismatch',
  'rate_limited',
  'quota_exceeded',
  'head_too_large',
  'internal_error',
  'entropy_unavailable',
  'overloaded',
  'shutting_down',
  'storage_unavailable',
] as const;

export type ServiceErrorCode = (typeof SERVICE_ERROR_CODES)[number];

/**
 * Codes of this client: the connection failed or was cut; no answer in `timeoutMs`; what came is no answer of the
 * service, such as a proxy's page.
 */
export type ClientErrorCode = 'network_error' | 'timeout' | 'invalid_answer';

/** A newer service may answer codes that this list does not have. */
export type ErrorCode = ServiceErrorCode | ClientErrorCode | (string & {});

export interface QrnErrorFacts {
  readonly message: string;
  readonly status?: number | null;
  readonly requestId?: string | null;
  readonly details?: Readonly<Record<string, unknown>> | null;
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}

/** A call that has no answer. A refused request has drawn no entropy and spent no credit. */
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
  /** Requests that were sent for this call. */
  attempts = 1;
  /**
   * The Idempotency-Key of the call, in pure mode. After a `network_error` or `timeout`, the same call with the same
   * key gets the answer that was on its way, and spends nothing more.
   */
  idempotencyKey: string | null = null;

  constructor(code: ErrorCode, facts: QrnErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'QrnError';
    this.code = code;
    this.status = facts.status ?? null;
    this.requestId = facts.requestId ?? null;
    this.details = facts.details ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}
