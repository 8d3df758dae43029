/**
 * The one table of the errors that clients get; a test holds docs/errors.md equal to it. There are two kinds of
 * failure. An ApiError is sent to the client as it is. Anything else that is thrown is a fault: it is logged, and the
 * client gets 500 `internal_error` without its message.
 */
/** By status and code: the message that says what the client should do, unless the thrower gives a more exact one. */
const MESSAGES = {
  400: {
    bad_request: 'The request is not well-formed HTTP; the connection is closed.',
    invalid_count: 'Give count as a whole number within its bounds.',
    invalid_range:
      'Give min and max as whole numbers within ±(2^53-1), min less than max, max - min at most 2^53 - 1.',
    unique_impossible: 'The range holds fewer values than count asks for without repeats.',
    invalid_boolean: 'Give true, false, 1 or 0.',
    invalid_sort: 'Give sort as none, ascending or descending.',
    invalid_encoding: 'Give encoding as hex or base64.',
    invalid_precision: 'Give precision as a whole number from 1 to 15, or leave it out.',
    invalid_length: 'Give length as whole numbers within their bounds.',
    invalid_items:
      'Give items as 2 to 10,000 texts, as a list in a JSON body, or with commas between them and percent-encoded in a query.',
    invalid_weights: 'Give weights as one whole number from 1 on for each item, with a sum of at most 2^53.',
    invalid_alphabet: 'Give alphabet as 2 to 1,000 Unicode characters, none of them twice.',
    invalid_mean: 'Give mean as a number from -1,000,000 to 1,000,000.',
    invalid_stddev: 'Give stddev as a number from 0.000000001 to 1,000,000.',
    invalid_digits: 'Give digits as a whole number from 2 to 14.',
    invalid_sequences: 'Give length, min and max as lists with one entry for each sequence.',
    invalid_type: 'Give type as one of those that the documentation of batch lists.',
    invalid_params: 'Give params as an object that fits the type.',
    invalid_json: 'Send the body as one JSON object.',
    invalid_id: 'A certificate id is cert_ and 26 characters of 0-9a-z without i, l, o, u.',
    invalid_format: 'Give format as json, plain or csv for values, as json or pdf for a certificate.',
    invalid_entropy_mode: 'Give entropy_mode as quantum-seeded, pure or csprng.',
    invalid_purpose: 'Give purpose as 1 to 100 characters without control characters and line breaks.',
    invalid_series: 'A series is series_ and 26 characters of 0-9a-z without i, l, o, u.',
    invalid_user_data:
      'Give user_data as 1 to 1,000 characters, or user_data_sha256 as 64 hex digits in lower case, not both.',
    invalid_draw:
      'Give request or winners, not both, as the documentation of committed draws describes them.',
    invalid_draw_id: 'A draw is draw_ and 26 characters of 0-9a-z without i, l, o, u.',
    list_mismatch: 'The list has another SHA-256 than the one that was given with it.',
    invalid_nonce:
      'Give nonce as 2 to 128 hex digits in lower case, two for each byte, or nonce_sha256 as 64 of them, not both.',
    invalid_beacon:
      'Give beacon as an object of chain, a chain that the service knows, and round, a whole number from 1.',
    beacon_round_past: 'Give a round of the beacon that is due in 10 seconds or later.',
    invalid_reveal_at:
      'Give reveal_at as a time of ISO 8601 in UTC, such as 2027-03-20T18:00:00Z, at most 366 days ahead.',
    invalid_idempotency_key: 'Send Idempotency-Key as 1 to 255 visible ASCII characters.',
    duplicate_parameter: 'Give each parameter once.',
    unknown_parameter:
      'Leave out, or spell as the documentation does, what the endpoint does not have: members of a JSON body, and parameters of a query where the service checks them strictly.',
    pure_too_large:
      'This request may draw more pure bytes than the reservoir holds when it is full; ask for fewer values.',
  },
  401: {
    auth_missing: 'Send an API key: Authorization: Bearer KEY.',
    auth_invalid: 'This API key is not valid: mistyped, expired or revoked.',
  },
  402: {
    credits_exhausted: 'This request costs more pure-mode credits than are left this month.',
  },
  403: {
    auth_scope: 'This API key lacks the scope that the endpoint needs.',
    mode_not_allowed: 'The entropy mode is not part of this account tier.',
  },
  404: {
    not_found: 'There is nothing at this path.',
    cert_not_found: 'No certificate has this id.',
    draw_not_found: 'No draw has this id.',
  },
  405: {
    method_not_allowed: 'Use one of the methods in the Allow header.',
  },
  406: {
    not_acceptable: 'Send an Accept header that allows one of the media types of the resource, or none.',
  },
  409: {
    idempotency_in_flight: 'The first request with this Idempotency-Key is still running; retry shortly.',
    draw_ended: 'The draw has ended, and an ended draw never changes.',
    draw_due:
      'The draw can no longer be cancelled: it is due, or the round of its beacon is due within 10 seconds.',
  },
  413: {
    payload_too_large: 'Send at most 64 KiB of body.',
  },
  415: {
    unsupported_media_type: 'Send Content-Type: application/json, and no Content-Encoding.',
  },
  422: {
    idempotency_mismatch:
      'This Idempotency-Key was used for another request; use a new key for a new request.',
  },
  429: {
    rate_limited: 'Too many requests; wait as long as Retry-After says.',
    quota_exceeded: 'The monthly request quota is used up; it renews as Retry-After says.',
    idempotency_full:
      'The answers kept for the Idempotency-Keys of this account take all of their room; send the request without a key, or when keys of the last 24 hours have expired.',
    draws_full:
      'The account has 100 draws that have not ended; wait until some are revealed, or cancel them.',
  },
  431: {
    head_too_large: 'Send at most 64 KiB of request line and headers.',
  },
  500: {
    internal_error: 'A fault of the service; the request id names it in the log.',
  },
  503: {
    entropy_unavailable:
      'The entropy mode cannot be served now and is never replaced by another; retry after Retry-After.',
    beacon_unavailable: 'The facts of the beacon’s chain cannot be had now; retry after Retry-After.',
    overloaded: 'The service is at capacity; retry after Retry-After.',
    shutting_down: 'The service is stopping; retry after Retry-After.',
    storage_unavailable: 'The ledger cannot record answers now; retry after Retry-After.',
  },
} as const;

type Messages = typeof MESSAGES;
export type ErrorCode = { [Status in keyof Messages]: keyof Messages[Status] }[keyof Messages];

interface ErrorDefinition {
  readonly status: number;
  readonly message: string;
}

export const ERRORS = Object.fromEntries(
  Object.entries(MESSAGES).flatMap(([status, messages]) =>
    Object.entries(messages).map(([code, message]) => [code, { status: Number(status), message }]),
  ),
) as Readonly<Record<ErrorCode, ErrorDefinition>>;

/** Extra facts about one failure. They never hold key material, raw noise or internals of the service. */
export interface ErrorFacts {
  /** A more exact message than the table's. */
  readonly message?: string;
  readonly details?: Readonly<Record<string, string | number | boolean | readonly string[] | null>>;
  /** The value of the Retry-After header, in whole seconds. */
  readonly retryAfterS?: number;
  /** A further header field of the reply: Allow for a 405, Accept-Encoding for a 415. */
  readonly field?: readonly [name: string, value: string];
}

export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, facts: ErrorFacts = {}) {
    // Nobody reads the stack of an error that is sent to a client, and capturing it took a quarter of the time of a
    // flood of 401s.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(facts.message ?? ERRORS[code].message);
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.status = ERRORS[code].status;
    this.facts = facts;
  }
}
