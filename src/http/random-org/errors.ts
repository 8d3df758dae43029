import { type ApiError, ERRORS } from '../../core/errors.ts';

/**
 * The errors of the JSON-RPC interface. The codes are those of JSON-RPC 2.0 and of random.org, so that its clients recognize
 * them; the messages are this service's own.
 */
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** The service cannot answer now, or the key sends too many requests. `data` is the seconds to wait. */
  later: -32000,
  /** An endpoint refuses a parameter. `data` is its name. */
  outOfRange: 202,
  /** Parameters that do not fit each other. */
  conflict: 300,
  /** More values without replacement than there are. */
  domainTooSmall: 301,
  keyUnknown: 400,
  keyNotRunning: 401,
  /** `data` is the requests that the call needs and the requests that are left. */
  requestsUsedUp: 402,
  /** `data` is the bits that the call needs and the bits that are left. */
  bitsUsedUp: 403,
  ticketUnknown: 420,
  ticketOfAnotherKey: 421,
  ticketUsed: 422,
  resultUnknown: 424,
} as const;

type RpcData = readonly (string | number)[] | null;

export class RpcError extends Error {
  override name = 'RpcError';
  readonly code: number;
  readonly data: RpcData;

  constructor(code: keyof typeof RPC_CODES, message: string, data: RpcData = null) {
    super(message);
    this.code = RPC_CODES[code];
    this.data = data;
  }
}

/** Returns the error for a parameter that is missing or of another type. */
export function invalid(name: string): RpcError {
  return new RpcError('invalidParams', `Invalid params: ${name} is missing or has the wrong type.`, [name]);
}

/** Converts an error of the service into one of JSON-RPC. */
export function rpcErrorOf({ code, message, facts }: ApiError): RpcError {
  const { details = {}, retryAfterS } = facts;
  const bitsOf = (name: string) => 8 * Number(details[name]);
  switch (code) {
    case 'auth_missing':
    case 'auth_invalid':
      return new RpcError('keyUnknown', 'The API key does not exist, has expired or was revoked.');
    case 'auth_scope':
      return new RpcError('keyNotRunning', message);
    case 'quota_exceeded':
      return new RpcError('requestsUsedUp', message, [1, 0]);
    case 'credits_exhausted':
      return new RpcError('bitsUsedUp', message, [bitsOf('required'), bitsOf('remaining')]);
    case 'payload_too_large':
      return new RpcError('invalidRequest', message);
    case 'internal_error':
      return new RpcError('internalError', message);
    case 'unique_impossible':
      return new RpcError('domainTooSmall', message, [
        Number(details['count']),
        Number(details['available']),
      ]);
  }
  if (ERRORS[code].status !== 400) return new RpcError('later', message, retryAfterS ? [retryAfterS] : null);
  const { parameter } = details;
  return typeof parameter === 'string'
    ? new RpcError('outOfRange', message, [parameter])
    : new RpcError('conflict', message);
}
