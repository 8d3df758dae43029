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

/** Methods whose request content has no meaning (RFC 9110 §9.3): a body is a smuggling attempt or a mistake. */
const BODILESS_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

const INVISIBLE = /[^\x21-\x7e]/;
/** uri-host [ ":" port ] of RFC 9110 §7.2: a name, an IPv4 address or an IPv6 literal; may be empty. */
const HOST_AND_PORT = /^(?:[\w.~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?$/;
const DIGITS = /^[0-9]{1,15}$/;
/**
 * `close` among the connection options, in any letter case (RFC 9110 §7.6.1). The library recognizes it only as the only
 * option.
 */
const CLOSE_OPTION = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
/** A Content-Encoding that names no coding (RFC 9110 §5.6.1.2, §8.4). */
const NO_CODING = /^(?:identity|[\t ,])*$/i;
const NO_CACHE = /(?:^|,)[\t ]*no-cache[\t ]*(?:,|$)/i;

/** A field that is read. */
interface ReadField {
  readonly name: string;
  readonly read: (head: RequestHead, value: string, isFirst: boolean) => void;
  /** Its name in messages, if it may come only once (RFC 9110 §5.3): a second one makes the request ambiguous. */
  readonly once: string | undefined;
  /** Its bit in `seen`. */
  readonly bit: number;
}

/** Only proxies add these fields. Their values are not read, so they may be of any length. */
const PROXY_FIELDS = [
  ...['via', 'forwarded', 'x-real-ip', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-port'],
  'x-forwarded-proto',
];
const noteProxy: ReadField['read'] = (head) => (head.isForwarded = true);

/**
 * The fields that are read. Parsing a value takes time linear in its length (test/http/parsing-time.test.ts), which is bounded
 * by `requestFieldBytesMax`, because it happens before a client is authenticated.
 */
const READ_FIELDS: readonly (readonly [name: string, read: ReadField['read'], once?: string])[] = [
  ['accept', (head, value) => (head.accept = head.joined('accept', head.accept, value))],
  [
    'accept-encoding',
    (head, value) => (head.acceptEncoding = head.joined('accept-encoding', head.acceptEncoding, value)),
  ],
  ['access-control-request-method', (head, value) => (head.accessControlRequestMethod = value)],
  ['authorization', (head, value) => (head.authorization = value), 'Authorization'],
  ['cache-control', (head, value) => (head.asksForFresh ||= NO_CACHE.test(value))],
  ['connection', (head, value) => (head.asksToClose ||= CLOSE_OPTION.test(value))],
  ['content-encoding', (head, value) => (head.isEncoded ||= !NO_CODING.test(value))],
  [
    'content-length',
    (head, value) => (head.contentLength = DIGITS.test(value) ? Number(value) : Number.NaN),
    'Content-Length',
  ],
  ['content-type', (head, value) => (head.contentType = value), 'Content-Type'],
  ['host', (head, value) => (head.host = value), 'Host'],
  ['idempotency-key', (head, value) => (head.idempotencyKey = value), 'Idempotency-Key'],
  ['origin', (head, value) => (head.origin = value)],
  ['traceparent', (head, value, isFirst) => (head.traceparent = isFirst ? value : '')],
  ['transfer-encoding', (head, value) => (head.transferEncoding = value), 'Transfer-Encoding'],
  ['x-api-key', (head, value) => (head.apiKey = value), 'X-API-Key'],
  ...PROXY_FIELDS.map((name) => [name, noteProxy] as const),
];

/** The same fields by the length of the name: the library makes new strings for the names, and few have the same length. */
const BY_LENGTH: ReadField[][] = [];
READ_FIELDS.forEach(([name, read, once], i) => {
  (BY_LENGTH[name.length] ??= []).push({ name, read, once, bit: 1 << i });
});

/**
 * The host, path and query that were read last. Nearly all requests name the same host, and most have the path and the query of the
 * request before. Reusing the same string saves a Map from computing its hash again.
 */
let lastHost = '';
let lastPath = '';
let lastQuery = '';

/** The head that `read` fills: one callback serves all requests, and reading is synchronous, so there is only one at a time. */
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
  /** Undefined without the field. */
  host: string | undefined = undefined;
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
  /** Undefined without the field. */
  transferEncoding: string | undefined = undefined;
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
    request.forEach(RequestHead.read);
  }

  private static readonly read = (name: string, value: string): void => {
    reading.headBytes += name.length + value.length + FIELD_REST;
    const fields = BY_LENGTH[name.length];
    if (fields === undefined) return;
    for (const field of fields) if (field.name === name) reading.#read(field, value);
  };

  #read({ name, read, once, bit }: ReadField, value: string): void {
    if (value.length > LIMITS.requestFieldBytesMax && read !== noteProxy) {
      this.#tooLong ||= name;
      return;
    }
    const isFirst = (this.#seen & bit) === 0;
    this.#seen |= bit;
    if (isFirst || once === undefined) read(this, value, isFirst);
    else this.#repeated ||= once;
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
    return this.transferEncoding !== undefined;
  }

  /**
   * Returns the error for a head that must not be served; its connection is closed then. The library uses the first of
   * several lengths, and takes any transfer coding for `chunked`. So a proxy in front could see other requests than this
   * service (RFC 9112 §6.3, §11.2).
   */
  refusal(bytesMax: number): ApiError | undefined {
    if (this.#tooLong !== '') return fieldTooLong(this.#tooLong);
    const wrong = this.#malformation();
    if (wrong !== undefined)
      return new ApiError('bad_request', { message: `${wrong} The service closes the connection.` });
    return this.headBytes > bytesMax ? new ApiError('head_too_large') : undefined;
  }

  #malformation(): string | undefined {
    const { method, host, contentLength, transferEncoding } = this;
    if (this.#repeated !== '') return `The header ${this.#repeated} must not occur more than once.`;
    if (host === undefined) return 'The request has no Host header.'; // RFC 9112 §3.2
    if (!isHost(host)) return 'The Host header must be a host name or an address, with an optional port.';
    if (transferEncoding === undefined) {
      if (Number.isNaN(contentLength)) return 'Content-Length must be a number of bytes.';
    } else {
      if (contentLength !== -1) return 'The request must not have both Content-Length and Transfer-Encoding.';
      if (transferEncoding.toLowerCase() !== 'chunked') return 'Transfer-Encoding must be chunked.';
    }
    if (this.hasBody && BODILESS_METHODS.has(method)) return `A ${method} request must not have a body.`;
    if (!isVisible(this.path)) return 'The path contains a byte that is not visible ASCII.';
    return undefined;
  }

  /** Joins fields of the same name into one list (RFC 9110 §5.2). */
  joined(name: string, before: string, value: string): string {
    if (before === '') return value;
    const joined = `${before}, ${value}`;
    if (joined.length <= LIMITS.requestFieldBytesMax) return joined;
    this.#tooLong ||= name;
    return '';
  }
}

/** Bytes of ` ?`, ` HTTP/1.1` CR LF and the empty line. */
const REQUEST_LINE_REST = 15;
/** Bytes of `: ` and CR LF. */
const FIELD_REST = 4;

function isHost(host: string): boolean {
  if (host !== lastHost && !HOST_AND_PORT.test(host)) return false;
  lastHost = host;
  return true;
}

/** Returns true when all characters are visible ASCII, as a path requires. */
export function isVisible(path: string): boolean {
  if (path !== lastPath && INVISIBLE.test(path)) return false;
  lastPath = path;
  return true;
}

function fieldTooLong(name: string): ApiError {
  return new ApiError('head_too_large', {
    message: `The header ${name} must not be longer than ${LIMITS.requestFieldBytesMax} bytes. The service closes the connection.`,
    details: { field: name, limit: LIMITS.requestFieldBytesMax },
  });
}

/**
 * Returns the token of an Authorization field with the scheme Bearer, in any letter case (RFC 6750 §2.1, RFC 9110 §11.1);
 * else ''.
 */
export function bearerOf(authorization: string): string {
  const { length } = authorization;
  const place = (authorization.charCodeAt(length - 1) ^ (authorization.charCodeAt(length - 2) << 3)) & 0xff;
  const known = bearers[place];
  if (known?.authorization === authorization) return known.token;
  const token = /^bearer /i.test(authorization) ? authorization.slice('bearer '.length).trim() : '';
  if (length <= KNOWN_LENGTH_MAX) bearers[place] = { authorization, token };
  return token;
}

/** A cache of recent fields. Reusing the same token string saves a Map from computing its hash again. */
const bearers: { readonly authorization: string; readonly token: string }[] = [];
const KNOWN_LENGTH_MAX = 256;
