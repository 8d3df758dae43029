/**
 * The one table of what a client may be told. Code, status and meaning are proven equal to docs/errors.md by
 * a test. Two kinds of failure exist: an ApiError (here, sent as it is) and a fault (anything else thrown:
 * logged, answered as a bare 500 `internal_error`).
 */
interface ErrorDefinition {
  readonly status: number;
  /** What the client should do; sent when the thrower gives nothing more exact. */
  readonly message: string;
}

export const ERRORS = {
  // 400: the request is malformed
  bad_request: { status: 400, message: 'The request is not well-formed HTTP; the connection is closed.' },
  invalid_count: { status: 400, message: 'Give count as a whole number within its bounds.' },
  invalid_range: {
    status: 400,
    message:
      'Give min and max as whole numbers within ±(2^53-1), min less than max, max - min at most 2^53 - 1.',
  },
  unique_impossible: {
    status: 400,
    message: 'The range holds fewer values than count asks for without repeats.',
  },
  invalid_boolean: { status: 400, message: 'Give true, false, 1 or 0.' },
  invalid_sort: { status: 400, message: 'Give sort as none, ascending or descending.' },
  invalid_encoding: { status: 400, message: 'Give encoding as hex or base64.' },
  invalid_precision: {
    status: 400,
    message: 'Give precision as a whole number from 1 to 15, or leave it out.',
  },
  invalid_length: { status: 400, message: 'Give length as whole numbers within their bounds.' },
  invalid_items: {
    status: 400,
    message: 'Give items as 2 to 10,000 comma-separated, percent-encoded UTF-8 items.',
  },
  invalid_weights: {
    status: 400,
    message: 'Give weights as one whole number from 1 on for each item, with a sum of at most 2^53.',
  },
  invalid_alphabet: {
    status: 400,
    message: 'Give alphabet as 2 to 1,000 Unicode characters, none of them twice.',
  },
  invalid_client_entropy: {
    status: 400,
    message: 'Give client_entropy as 2 to 128 hex digits, two for each byte; not in pure mode.',
  },
  invalid_mean: { status: 400, message: 'Give mean as a number from -1,000,000 to 1,000,000.' },
  invalid_stddev: { status: 400, message: 'Give stddev as a number from 0.000000001 to 1,000,000.' },
  invalid_digits: { status: 400, message: 'Give digits as a whole number from 2 to 14.' },
  invalid_sequences: {
    status: 400,
    message: 'Give length, min and max as lists with one entry for each sequence.',
  },
  invalid_type: { status: 400, message: 'Give type as one of those that the documentation of batch lists.' },
  invalid_params: { status: 400, message: 'Give params as an object that fits the type.' },
  invalid_json: { status: 400, message: 'Send the body as one JSON object.' },
  invalid_id: {
    status: 400,
    message: 'A certificate id is cert_ and 26 characters of 0-9a-z without i, l, o, u.',
  },
  invalid_format: {
    status: 400,
    message: 'Give format as json, plain or csv for values, as json or pdf for a certificate.',
  },
  invalid_entropy_mode: { status: 400, message: 'Give entropy_mode as quantum-seeded, pure or csprng.' },
  invalid_purpose: {
    status: 400,
    message: 'Give purpose as 1 to 100 characters without control characters and line breaks.',
  },
  invalid_series: {
    status: 400,
    message: 'A series is series_ and 26 characters of 0-9a-z without i, l, o, u.',
  },
  invalid_user_data: {
    status: 400,
    message:
      'Give user_data as 1 to 1,000 characters, or user_data_sha256 as 64 hex digits in lower case, not both.',
  },
  invalid_draw: {
    status: 400,
    message: 'Give request or winners, not both, as the documentation of committed draws describes them.',
  },
  invalid_draw_id: {
    status: 400,
    message: 'A draw is draw_ and 26 characters of 0-9a-z without i, l, o, u.',
  },
  list_mismatch: {
    status: 400,
    message: 'The list has another SHA-256 than the one that was given with it.',
  },
  invalid_nonce: {
    status: 400,
    message:
      'Give nonce as 2 to 128 hex digits in lower case, two for each byte, or nonce_sha256 as 64 of them, not both.',
  },
  invalid_beacon: {
    status: 400,
    message:
      'Give beacon as an object of chain, a chain that the service knows, and round, a whole number from 1.',
  },
  beacon_round_past: {
    status: 400,
    message: 'Give a round of the beacon that is due in 10 seconds or later.',
  },
  invalid_reveal_at: {
    status: 400,
    message:
      'Give reveal_at as a time of ISO 8601 in UTC, such as 2026-12-24T18:00:00Z, at most 366 days ahead.',
  },
  invalid_idempotency_key: {
    status: 400,
    message: 'Send Idempotency-Key as 1 to 255 visible ASCII characters.',
  },
  duplicate_parameter: { status: 400, message: 'Give each parameter once.' },
  unknown_parameter: {
    status: 400,
    message: 'Leave out parameters that the endpoint does not have; the service checks them strictly.',
  },
  pure_too_large: {
    status: 400,
    message:
      'This request may draw more pure bytes than the reservoir holds when it is full; ask for fewer values.',
  },
  // 401, 402, 403
  auth_missing: { status: 401, message: 'Send an API key: Authorization: Bearer KEY.' },
  auth_invalid: { status: 401, message: 'This API key is not valid: mistyped, expired or revoked.' },
  credits_exhausted: {
    status: 402,
    message: 'This request costs more pure-mode credits than are left this month.',
  },
  auth_scope: { status: 403, message: 'This API key lacks the scope that the endpoint needs.' },
  mode_not_allowed: { status: 403, message: 'The entropy mode is not part of this account tier.' },
  // 404, 405, 406, 409, 413, 415, 422
  not_found: { status: 404, message: 'There is nothing at this path.' },
  cert_not_found: { status: 404, message: 'No certificate has this id.' },
  draw_not_found: { status: 404, message: 'No draw has this id.' },
  method_not_allowed: { status: 405, message: 'Use one of the methods in the Allow header.' },
  not_acceptable: {
    status: 406,
    message: 'Send an Accept header that allows one of the media types of the resource, or none.',
  },
  idempotency_in_flight: {
    status: 409,
    message: 'The first request with this Idempotency-Key is still running; retry shortly.',
  },
  draw_ended: { status: 409, message: 'The draw has ended, and an ended draw never changes.' },
  draw_due: {
    status: 409,
    message:
      'The draw can no longer be cancelled: it is due, or the round of its beacon is due within 10 seconds.',
  },
  payload_too_large: { status: 413, message: 'Send at most 64 KiB of body.' },
  unsupported_media_type: { status: 415, message: 'Send Content-Type: application/json.' },
  idempotency_mismatch: {
    status: 422,
    message: 'This Idempotency-Key was used for another request; use a new key for a new request.',
  },
  // 429
  rate_limited: { status: 429, message: 'Too many requests; wait as long as Retry-After says.' },
  quota_exceeded: {
    status: 429,
    message: 'The monthly request quota is used up; it renews as Retry-After says.',
  },
  idempotency_full: {
    status: 429,
    message:
      'The answers kept for the Idempotency-Keys of this account take all of their room; send the request without a key, or when keys of the last 24 hours have expired.',
  },
  draws_full: {
    status: 429,
    message: 'The account has 100 draws that have not ended; wait until some are revealed, or cancel them.',
  },
  // 431
  head_too_large: { status: 431, message: 'Send at most 64 KiB of request line and headers.' },
  // 5xx
  internal_error: { status: 500, message: 'A fault of the service; the request id names it in the log.' },
  entropy_unavailable: {
    status: 503,
    message:
      'The entropy mode cannot be served now and is never replaced by another; retry after Retry-After.',
  },
  beacon_unavailable: {
    status: 503,
    message: 'The facts of the beacon’s chain cannot be had now; retry after Retry-After.',
  },
  overloaded: { status: 503, message: 'The service is at capacity; retry after Retry-After.' },
  shutting_down: { status: 503, message: 'The service is stopping; retry after Retry-After.' },
  storage_unavailable: {
    status: 503,
    message: 'The ledger cannot record answers now; retry after Retry-After.',
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof ERRORS;

/** Extra facts of one failure. Never holds key material, raw noise or anything of the service's inside. */
export interface ErrorFacts {
  /** Replaces the table's message when something more exact can be said. */
  readonly message?: string;
  readonly details?: Readonly<Record<string, string | number | boolean | readonly string[] | null>>;
  /** Whole seconds for the Retry-After header. */
  readonly retryAfterS?: number;
  /** The value of the Allow header (405). */
  readonly allow?: string;
}

export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, facts: ErrorFacts = {}) {
    // An answer to a client, not a fault: nobody reads its stack, which took a quarter of the time of a flood
    // of 401s.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(facts.message ?? ERRORS[code].message);
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.status = ERRORS[code].status;
    this.facts = facts;
  }
}
