import type { ApiError } from '../../core/errors.ts';

/**
 * Errors of the JSON-RPC interface. The codes are those of JSON-RPC 2.0 and of random.org, so that its clients tell them
 * apart; the messages are our own.
 */
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** The service cannot answer now, or the key sends too many requests: `data` has the seconds to wait. */
  later: -32000,
  /** A parameter that is not a value of its kind. */
  malformed: 200,
  /** A parameter beyond its bounds: `data` has its name and, of a number, the bounds. */
  outOfRange: 202,
  /** Parameters that do not fit each other. */
  conflict: 300,
  /** More values without replacement than there are. */
  domainTooSmall: 301,
  keyUnknown: 400,
  keyNotRunning: 401,
  /** `data`: requests that the call needs, and requests that are left. */
  requestsUsedUp: 402,
  /** `data`: bits that the call needs, and bits that are left. */
  bitsUsedUp: 403,
  ticketUnknown: 420,
  ticketOfAnotherKey: 421,
  ticketUsed: 422,
  resultUnknown: 424,
} as const;

export type RpcCode = (typeof RPC_CODES)[keyof typeof RPC_CODES];

export class RpcError extends Error {
  override name = 'RpcError';
  readonly code: RpcCode;
  readonly data: readonly (string | number)[] | null;

  constructor(
    code: keyof typeof RPC_CODES,
    message: string,
    data: readonly (string | number)[] | null = null,
  ) {
    super(message);
    this.code = RPC_CODES[code];
    this.data = data;
  }
}

/** What a refusal of the service itself is in JSON-RPC. */
export function rpcErrorOf(error: ApiError): RpcError {
  const { details = {}, retryAfterS } = error.facts;
  switch (error.code) {
    case 'auth_missing':
    case 'auth_invalid':
      return new RpcError('keyUnknown', 'The API key does not exist, has expired or was revoked.');
    case 'auth_scope':
      return new RpcError('keyNotRunning', error.message);
    case 'quota_exceeded':
      return new RpcError('requestsUsedUp', error.message, [1, 0]);
    case 'credits_exhausted':
      return new RpcError('bitsUsedUp', error.message, [
        8 * Number(details['required']),
        8 * Number(details['remaining']),
      ]);
    case 'payload_too_large':
      return new RpcError('invalidRequest', error.message);
    case 'internal_error':
      return new RpcError('internalError', error.message);
    default:
      return new RpcError('later', error.message, retryAfterS === undefined ? null : [retryAfterS]);
  }
}
