import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';

/** The request of an engine. Valid only while the request handler runs. */
export interface NativeRequest {
  getUrl(): string;
  /** Undefined when the target has no `?`. */
  getQuery(): string | undefined;
  /** Calls `each` for every field. Names are in lower case; a value that is not UTF-8 is ''. */
  forEach(each: (name: string, value: string) => void): void;
}

/** Fields that may come only once (RFC 9110 §5.3), as bits of `#seen`: a second one makes the request ambiguous. */
const HOST = 1;
const AUTHORIZATION = 2;
const API_KEY = 4;
const CONTENT_LENGTH = 8;
const TRANSFER_ENCODING = 16;
const CONTENT_TYPE = 32;
const IDEMPOTENCY_KEY = 64;
const TRACEPARENT = 128;

/** Methods whose request content has no meaning (RFC 9110 §9.3): a body is a smuggling attempt or a mistake. */
const BODILESS_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

const INVISIBLE = /[^\x21-\x7e]/;
/** uri-host [ ":" port ] of RFC 9110 §7.2: a name, an IPv4 address or an IPv6 literal; may be empty. */
const HOST_AND_PORT = /^(?:[\w.~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?$/;
/**
 * The fields whose values are parsed. Parsing takes time linear in their length (test/http/parsing-time.test.ts), which is
 * bounded by `requestFieldBytesMax`, because it happens before a client is authenticated.
 */
const READ_FIELDS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'access-control-request-method',
  'authorization',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'idempotency-key',
  'origin',
  'traceparent',
  'transfer-encoding',
  'x-api-key',
]);
/**
 * The host, path and query that were read last. Nearly all requests name the same host, and most have the path and the query of the
 * request before. Reusing the same string saves a Map from computing its hash again.
 */
let lastHost = '';
let lastPath = '';
let lastQuery = '';
const DIGITS = /^[0-9]{1,15}$/;
/**
 * `close` among the connection options, in any letter case (RFC 9110 §7.6.1). The library recognizes it only as the only
 * option.
 */
const CLOSE_OPTION = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
/** A Content-Encoding that names no coding (RFC 9110 §5.6.1.2, §8.4). */
const NO_CODING = /^(?:identity|[\t ,])*$/i;
const NO_CACHE = /(?:^|,)[\t ]*no-cache[\t ]*(?:,|$)/i;

/**
 * The head that `capture` fills. With one callback for all requests, instead of a closure for each, the hot path allocates
 * nothing. Reading is synchronous, so there is only one at a time.
 */
let reading: RequestHead;

/** The method, the target and the known header fields of a request, read in one pass; '' for a field that is absent. */
export class RequestHead {
  // the members that every reply reads come first and together
  /** As received: methods are case-sensitive (RFC 9110 §9.1). */
  readonly method: string;
  origin = '';
  /** '' also when it was sent twice, because W3C Trace Context then ignores it. */
  traceparent = '';
  /** The target before `?`, as received. */
  readonly path: string;
  /** The target after `?`, as received; '' if there is none. */
  readonly query: string;
  authorization = '';
  accept = '';
  /** Undefined without the field; '' if its bytes are not UTF-8. */
  idempotencyKey: string | undefined = undefined;
  host = '';
  apiKey = '';
  contentType = '';
  acceptEncoding = '';
  /** True for `Cache-Control: no-cache`: the client does not want a stored reply (RFC 9111 §5.2.1.4). */
  asksForFresh = false;
  accessControlRequestMethod = '';
  /** True when a proxy has forwarded the request: it has a field that only proxies add. */
  isForwarded = false;
  /** True when the client says that this is the last request of its connection (RFC 9112 §9.6). */
  asksToClose = false;
  /** Declared length of the body in bytes; -1 when none is declared, NaN when the declared value is not a length. */
  contentLength = -1;
  transferEncoding = '';
  /** True when the body is in a content coding (RFC 9110 §8.4). The service reads none. */
  isEncoded = false;
  /** Bytes of the head: the target, and the names and values of all fields, with their separators. */
  headBytes: number;
  #seen = 0;
  /** The name of the first field that was repeated but may come only once. */
  #repeated = '';
  /** The name of the first parsed field that is too long. */
  #tooLong = '';

  constructor(method: string, request: NativeRequest) {
    this.method = method;
    const path = request.getUrl();
    const query = request.getQuery() ?? '';
    this.path = path === lastPath ? lastPath : path;
    this.query = query === lastQuery ? lastQuery : query;
    lastQuery = this.query;
    this.headBytes = method.length + this.path.length + this.query.length + REQUEST_LINE_REST;
    reading = this;
    request.forEach(RequestHead.capture);
  }

  /** True when a body follows the head. */
  get hasBody(): boolean {
    return this.contentLength > 0 || this.isChunked;
  }

  /**
   * True when the body comes in chunks. The library parses chunks laxly: a bare LF ends a size, the bytes between two chunks
   * are not checked, and a size without digits counts as the last chunk. So a proxy in front may still be reading the body
   * where the library sees the next request.
   */
  get isChunked(): boolean {
    return (this.#seen & TRANSFER_ENCODING) !== 0;
  }

  /**
   * Returns the error for a head that must not be served; its connection is closed then. The library uses the first of
   * several lengths, and takes any transfer coding for `chunked`. So a proxy in front could see other requests than this
   * service (RFC 9112 §6.3, §11.2).
   */
  refusal(bytesMax: number): ApiError | undefined {
    if (this.#tooLong !== '') return fieldTooLong(this.#tooLong);
    if (this.#repeated !== '') return malformed(`Send ${this.#repeated} once.`);
    if ((this.#seen & HOST) === 0) return malformed('Send a Host field.'); // RFC 9112 §3.2
    if (!isHost(this.host)) return malformed('Host is not a name or address with an optional port.');
    if ((this.#seen & (CONTENT_LENGTH | TRANSFER_ENCODING)) !== 0) {
      const refused = this.#framingRefusal();
      if (refused !== undefined) return refused;
    }
    if (!isVisible(this.path)) return malformed('The path holds a byte that is not visible ASCII.');
    if (this.headBytes > bytesMax) return new ApiError('head_too_large');
    return undefined;
  }

  #framingRefusal(): ApiError | undefined {
    const seen = this.#seen;
    if ((seen & TRANSFER_ENCODING) !== 0) {
      if ((seen & CONTENT_LENGTH) !== 0)
        return malformed('Send Content-Length or Transfer-Encoding, not both.');
      if (this.transferEncoding.toLowerCase() !== 'chunked')
        return malformed('Transfer-Encoding may only be chunked.');
    } else if (Number.isNaN(this.contentLength)) {
      return malformed('Content-Length is not a number of bytes.');
    }
    if (this.hasBody && BODILESS_METHODS.has(this.method))
      return malformed(`A ${this.method} request has no body.`);
    return undefined;
  }

  /** Joins fields of the same name into one list (RFC 9110 §5.2). */
  #joined(name: string, before: string, value: string): string {
    if (before === '') return value;
    const joined = `${before}, ${value}`;
    if (joined.length <= LIMITS.requestFieldBytesMax) return joined;
    this.#tooLong ||= name;
    return '';
  }

  #once(field: number, name: string): boolean {
    if ((this.#seen & field) !== 0 && this.#repeated === '') this.#repeated = name;
    const first = (this.#seen & field) === 0;
    this.#seen |= field;
    return first;
  }

  // Switches on the length first, because the library makes new strings for the names, and === compares those character by
  // character.
  private static readonly capture = (name: string, value: string): void => {
    const head = reading;
    head.headBytes += name.length + value.length + FIELD_REST;
    if (value.length > LIMITS.requestFieldBytesMax && READ_FIELDS.has(name)) {
      head.#tooLong ||= name;
      return;
    }
    switch (name.length) {
      case 3:
        if (name === 'via') head.isForwarded = true;
        break;
      case 4:
        if (name === 'host' && head.#once(HOST, 'Host')) head.host = value;
        break;
      case 6:
        if (name === 'accept') head.accept = head.#joined(name, head.accept, value);
        else if (name === 'origin') head.origin = value;
        break;
      case 9:
        if (name === 'forwarded' || name === 'x-real-ip') head.isForwarded = true;
        if (name === 'x-api-key' && head.#once(API_KEY, 'X-API-Key')) head.apiKey = value;
        break;
      case 10:
        if (name === 'connection' && CLOSE_OPTION.test(value)) head.asksToClose = true;
        break;
      case 11:
        if (name === 'traceparent') head.traceparent = (head.#seen & TRACEPARENT) === 0 ? value : '';
        if (name === 'traceparent') head.#seen |= TRACEPARENT;
        break;
      case 12:
        if (name === 'content-type' && head.#once(CONTENT_TYPE, 'Content-Type')) head.contentType = value;
        break;
      case 13:
        if (name === 'authorization' && head.#once(AUTHORIZATION, 'Authorization'))
          head.authorization = value;
        else if (name === 'cache-control' && NO_CACHE.test(value)) head.asksForFresh = true;
        break;
      case 14:
        if (name === 'content-length' && head.#once(CONTENT_LENGTH, 'Content-Length')) {
          head.contentLength = DIGITS.test(value) ? Number(value) : Number.NaN;
        }
        break;
      case 15:
        if (name === 'x-forwarded-for') head.isForwarded = true;
        else if (name === 'accept-encoding')
          head.acceptEncoding = head.#joined(name, head.acceptEncoding, value);
        else if (name === 'idempotency-key' && head.#once(IDEMPOTENCY_KEY, 'Idempotency-Key'))
          head.idempotencyKey = value;
        break;
      case 16:
        if (name === 'x-forwarded-host' || name === 'x-forwarded-port') head.isForwarded = true;
        else if (name === 'content-encoding' && !NO_CODING.test(value)) head.isEncoded = true;
        break;
      case 17:
        if (name === 'x-forwarded-proto') head.isForwarded = true;
        else if (name === 'transfer-encoding' && head.#once(TRANSFER_ENCODING, 'Transfer-Encoding')) {
          head.transferEncoding = value;
        }
        break;
      case 29:
        if (name === 'access-control-request-method') head.accessControlRequestMethod = value;
        break;
    }
  };
}

/** Bytes of ` ?`, ` HTTP/1.1` CR LF and the empty line. */
const REQUEST_LINE_REST = 15;
/** Bytes of `: ` and CR LF. */
const FIELD_REST = 4;

function isHost(host: string): boolean {
  if (host === lastHost) return true;
  if (!HOST_AND_PORT.test(host)) return false;
  lastHost = host;
  return true;
}

/** Returns true when all characters are visible ASCII, as a path requires. */
export function isVisible(path: string): boolean {
  if (path === lastPath) return true;
  if (INVISIBLE.test(path)) return false;
  lastPath = path;
  return true;
}

function fieldTooLong(name: string): ApiError {
  return new ApiError('head_too_large', {
    message: `Send at most ${LIMITS.requestFieldBytesMax} bytes of the header field ${name}. The connection is closed.`,
    details: { field: name, limit: LIMITS.requestFieldBytesMax },
  });
}

function malformed(message: string): ApiError {
  return new ApiError('bad_request', { message: `${message} The connection is closed.` });
}

/**
 * Returns the token of an Authorization field with the scheme Bearer, in any letter case (RFC 6750 §2.1, RFC 9110 §11.1);
 * else ''.
 */
export function bearerOf(authorization: string): string {
  const { length } = authorization;
  const place = (authorization.charCodeAt(length - 1) ^ (authorization.charCodeAt(length - 2) << 3)) & 0xff;
  const known = bearers[place];
  if (known !== undefined && known.authorization === authorization) return known.token;
  const scheme = authorization.slice(0, 7);
  const isBearer = scheme === 'Bearer ' || scheme.toLowerCase() === 'bearer ';
  const token = isBearer ? authorization.slice(7).trim() : '';
  if (length <= KNOWN_LENGTH_MAX) bearers[place] = { authorization, token };
  return token;
}

/** A cache of recent fields. Reusing the same token string saves a Map from computing its hash again. */
const bearers: ({ readonly authorization: string; readonly token: string } | undefined)[] = new Array(256);
const KNOWN_LENGTH_MAX = 256;

/** Returns true for 127.0.0.0/8, for its IPv4-mapped form (RFC 4291 §2.5.5.2) and for ::1. */
export function isLoopback(address: Uint8Array): boolean {
  if (address.length === 4) return address[0] === 127;
  if (address.length !== 16 || !address.subarray(0, 10).every((byte) => byte === 0)) return false;
  if (address[10] === 0xff && address[11] === 0xff) return address[12] === 127;
  return address.subarray(10, 15).every((byte) => byte === 0) && address[15] === 1;
}
