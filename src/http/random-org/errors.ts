import { type ApiError, ERRORS, type ErrorCode } from '../../core/errors.ts';

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

type DataOf = (detail: (name: string) => number) => RpcData;

/** The errors of the service that have a code of their own, and the data of each. */
const OWN_CODES: Partial<Record<ErrorCode, readonly [code: keyof typeof RPC_CODES, data?: DataOf]>> = {
  auth_missing: ['keyUnknown'],
  auth_invalid: ['keyUnknown'],
  auth_scope: ['keyNotRunning'],
  quota_exceeded: ['requestsUsedUp', () => [1, 0]],
  credits_exhausted: ['bitsUsedUp', (detail) => [8 * detail('required'), 8 * detail('remaining')]],
  payload_too_large: ['invalidRequest'],
  internal_error: ['internalError'],
  unique_impossible: ['domainTooSmall', (detail) => [detail('count'), detail('available')]],
};
const KEY_UNKNOWN = 'The API key does not exist, has expired or was revoked.';

/** Converts an error of the service into one of JSON-RPC. */
export function rpcErrorOf({ code, message, facts }: ApiError): RpcError {
  const { details = {}, retryAfterS } = facts;
  const [own, dataOf] = OWN_CODES[code] ?? [];
  if (own !== undefined) {
    const data = dataOf?.((name) => Number(details[name])) ?? null;
    return new RpcError(own, own === 'keyUnknown' ? KEY_UNKNOWN : message, data);
  }
  if (ERRORS[code].status !== 400) return new RpcError('later', message, retryAfterS ? [retryAfterS] : null);
  const { parameter } = details;
  return typeof parameter === 'string'
    ? new RpcError('outOfRange', message, [parameter])
    : new RpcError('conflict', message);
}
