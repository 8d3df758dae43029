/**
 * The one table of the errors that clients get; a test holds docs/errors.md equal to it. There are two kinds of
 * failure. An ApiError is sent to the client as it is. Anything else that is thrown is a fault: it is logged, and the
 * client gets 500 `internal_error` without its message.
 */
/** By status and code: the message that says what the client should do, unless the thrower gives a more exact one. */
const MESSAGES = {
  400: {
    bad_request: 'The request is not well-formed HTTP. The service closes the connection.',
    invalid_count: 'count must be an integer within its bounds.',
    invalid_range:
      'min and max must be integers within ±(2^53 - 1). min must be less than max, and max - min must be at most 2^53 - 1.',
    unique_impossible: 'The range contains fewer different values than count requests.',
    invalid_boolean: 'The value must be true, false, 1 or 0.',
    invalid_sort: 'sort must be none, ascending or descending.',
    invalid_encoding: 'encoding must be hex or base64.',
    invalid_precision: 'precision must be an integer from 1 to 15, or be omitted.',
    invalid_length: 'length must be an integer within its bounds, or a list of such integers for sequences.',
    invalid_items:
      'items must be 2 to 10,000 strings: a list in a JSON body, or a percent-encoded list with commas in a query.',
    invalid_weights:
      'weights must contain one integer of at least 1 per item, and their sum must be at most 2^53.',
    invalid_alphabet: 'alphabet must be 2 to 1,000 different Unicode characters.',
    invalid_mean: 'mean must be a number from -1,000,000 to 1,000,000.',
    invalid_stddev: 'stddev must be a number from 0.000000001 to 1,000,000.',
    invalid_digits: 'digits must be an integer from 2 to 14.',
    invalid_sequences: 'length, min and max must be lists of the same length, with one entry per sequence.',
    invalid_type: 'type must be one of the types in the documentation of the endpoint.',
    invalid_params: 'params must be an object with the parameters of the type.',
    invalid_json: 'The body must be one JSON object.',
    invalid_id:
      'The certificate identifier is not valid. It must be cert_ followed by 26 characters of 0-9 and a-z without i, l, o and u.',
    invalid_format: 'format must be json, plain or csv for values, and json or pdf for a certificate.',
    invalid_entropy_mode: 'entropy_mode must be quantum-seeded, pure or csprng.',
    invalid_purpose: 'purpose must be 1 to 100 characters without control characters and line breaks.',
    invalid_series:
      'The series identifier is not valid. It must be series_ followed by 26 characters of 0-9 and a-z without i, l, o and u.',
    invalid_user_data:
      'user_data must be 1 to 1,000 characters, or user_data_sha256 must be 64 lower-case hex digits. Only one of the two is allowed.',
    invalid_draw:
      'The body must contain either request or winners, in the form that the documentation of committed draws describes.',
    invalid_draw_id:
      'The draw identifier is not valid. It must be draw_ followed by 26 characters of 0-9 and a-z without i, l, o and u.',
    list_mismatch: 'The SHA-256 hash of the list differs from the given one.',
    invalid_nonce:
      'nonce must be 2 to 128 lower-case hex digits, two per byte, or nonce_sha256 must be 64 lower-case hex digits. Only one of the two is allowed.',
    invalid_beacon:
      'beacon must be an object with chain, the name or hash of a chain that the service knows, and round, an integer of at least 1.',
    beacon_round_past: 'The round of the beacon must be due at least 10 seconds from now.',
    invalid_reveal_at:
      'reveal_at must be a time in ISO 8601 and UTC, such as 2027-03-20T18:00:00Z, at most 366 days from now.',
    invalid_idempotency_key: 'Idempotency-Key must be 1 to 255 visible ASCII characters.',
    duplicate_parameter: 'A parameter must not occur more than once.',
    unknown_parameter:
      'The endpoint does not have this parameter. Omit it or correct its spelling. The service always checks the members of a JSON body; it checks the parameters of a query only if it is configured to do so.',
    pure_too_large:
      'This request may need more pure bytes than the full reservoir holds. Request fewer values.',
  },
  401: {
    auth_missing: 'The request has no API key. Send the header Authorization: Bearer KEY.',
    auth_invalid: 'The API key is not valid. It is misspelled, expired or revoked.',
  },
  402: {
    credits_exhausted: 'This request costs more credits than the account has left this month.',
  },
  403: {
    auth_scope: 'The API key does not have the scope that the endpoint requires.',
    mode_not_allowed: 'The tier of the account does not include this entropy mode.',
  },
  404: {
    not_found: 'There is no resource at this path.',
    cert_not_found: 'There is no certificate with this identifier.',
    draw_not_found: 'There is no draw with this identifier.',
  },
  405: {
    method_not_allowed:
      'The resource does not support this method. Use one of the methods in the Allow header.',
  },
  406: {
    not_acceptable:
      'The Accept header allows none of the media types of the resource. Send a media type of the resource, or omit the header.',
  },
  409: {
    idempotency_in_flight: 'The first request with this Idempotency-Key is still in progress. Retry shortly.',
    draw_ended: 'The draw has ended. A draw does not change after its end.',
    draw_due:
      'The draw can no longer be cancelled, because it is due or the round of its beacon is due within 10 seconds.',
  },
  413: {
    payload_too_large: 'The body must not be larger than 64 KiB.',
  },
  415: {
    unsupported_media_type:
      'The request must have the header Content-Type: application/json and no Content-Encoding.',
  },
  422: {
    idempotency_mismatch:
      'This Idempotency-Key was used for a different request. Use a new key for a new request.',
  },
  429: {
    rate_limited: 'The rate limit is exceeded. Wait for the number of seconds in Retry-After.',
    quota_exceeded:
      'The monthly quota of requests is used up. Retry-After is the number of seconds until it renews.',
    idempotency_full:
      'The stored answers for the Idempotency-Keys of this account use all of their space. Send the request without a key, or wait until keys of the last 24 hours have expired.',
    draws_full:
      'The account has 100 draws that have not ended. Wait until some of them are revealed, or cancel them.',
  },
  431: {
    head_too_large: 'The request line and the headers must not be larger than 64 KiB.',
  },
  500: {
    internal_error: 'The service has an internal error. The request identifier marks it in the log.',
  },
  503: {
    entropy_unavailable:
      'The service cannot serve this entropy mode now, and it never replaces it by another. Retry after the number of seconds in Retry-After.',
    beacon_unavailable:
      'The service cannot get the parameters of the beacon chain now. Retry after the number of seconds in Retry-After.',
    overloaded: 'The service is at capacity. Retry after the number of seconds in Retry-After.',
    shutting_down: 'The service is shutting down. Retry after the number of seconds in Retry-After.',
    storage_unavailable:
      'The ledger cannot store answers now. Retry after the number of seconds in Retry-After.',
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
