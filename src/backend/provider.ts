import type { Clock } from '../core/clock.ts';
import { type HttpReply, type HttpRequest, ReplyTooLong, sendRequest } from '../core/http-request.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { BackendError, type BackendErrorKind } from './backend.ts';

export interface ProviderCall extends HttpRequest {
  /** The call is given up after so long; left to the caller's signal when absent. */
  readonly timeoutMs?: number;
}

/** What a provider means by a refusal, where that is not what the status alone says. */
export interface Refusal {
  readonly kind?: BackendErrorKind | undefined;
  readonly words?: string | undefined;
  /** What the operator of this service can do about it. */
  readonly advice?: string | undefined;
  /** Until when to wait, where the reply names no time. */
  readonly retryAfterMs?: number | undefined;
}

const WORDS_MAX = 200;
/** Our own advice stands behind the provider's words, which are cut. */
const MESSAGE_MAX = 1_000;

/** A provider as it is called over HTTP. Its errors name its host, and none of the secrets that it may echo. */
export class Provider {
  readonly host: string;
  readonly #clock: Clock;
  readonly #secrets: () => readonly string[];

  /** `secrets` gives those of the moment; empty texts are none. */
  constructor(url: string, clock: Clock, secrets: () => readonly string[]) {
    this.host = new URL(url).host;
    this.#clock = clock;
    this.#secrets = secrets;
  }

  /**
   * The reply, whatever its status. A reply that is too long rejects with a permanent BackendError, a connection that
   * fails or breaks off, and a call that takes too long, with a retryable one, an aborted signal with its reason.
   */
  async call({ timeoutMs, signal, ...request }: ProviderCall): Promise<HttpReply> {
    signal.throwIfAborted();
    const late = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const either = late === undefined ? signal : AbortSignal.any([signal, late]);
    try {
      return await sendRequest({ ...request, signal: either });
    } catch (error) {
      signal.throwIfAborted();
      if (late?.aborted) throw this.error('retryable', `no answer within ${timeoutMs! / 1000} s`);
      if (error instanceof ReplyTooLong) throw this.error('permanent', error.message);
      throw this.error('retryable', networkReason(error));
    }
  }

  /**
   * The error that a reply means: by its status 401 and 403 auth, 402 quota, 408, 425, 429 and 5xx retryable, everything
   * else permanent, unless the provider has a rule of its own. `what` names the call.
   */
  refusal(reply: HttpReply, what: string, own: Refusal = {}): BackendError {
    const { kind, words, advice = '', retryAfterMs } = own;
    const { status, headers } = reply;
    const askedMs = parseRetryAfter(headers.get('retry-after'), this.#clock.wallMs());
    const said = this.#printable(words ?? wordsOf(jsonOf(reply)));
    const sentence = [what, `HTTP ${status}`, said.slice(0, WORDS_MAX), advice].filter((part) => part !== '');
    return this.error(kind ?? kindOf(status), sentence.join(': '), askedMs ?? retryAfterMs);
  }

  error(kind: BackendErrorKind, words: string, retryAfterMs?: number): BackendError {
    const message = this.#printable(words).slice(0, MESSAGE_MAX);
    return new BackendError(kind, `${this.host}: ${message}`, retryAfterMs);
  }

  /** On one line and without secrets. */
  #printable(words: string): string {
    let text = words;
    for (const secret of this.#secrets()) if (secret !== '') text = text.replaceAll(secret, '[secret]');
    return text.replaceAll(/[\p{Cc}\s]+/gu, ' ');
  }
}

/** One call on an API that speaks JSON. */
export interface ApiCall {
  readonly method?: HttpRequest['method'];
  /** Below the API's address, e.g. `/jobs`. */
  readonly path: string;
  /** JSON. */
  readonly body?: string;
  /** Statuses outside 2xx that the caller reads for itself; all others reject. */
  readonly accepts?: readonly number[];
  readonly replyBytesMax?: number;
  readonly signal: AbortSignal;
}

/** The largest of the small replies is the properties of an IBM device: 0.65 MB for 156 qubits. */
const REPLY_BYTES_MAX = 16 * 1024 * 1024;

/** An API that speaks JSON, below one address. Rejects with a BackendError, or with the signal's reason. */
export abstract class JsonApi {
  protected readonly address: string;
  protected readonly provider: Provider;

  constructor(address: string, clock: Clock, secrets: () => readonly string[]) {
    this.address = address;
    this.provider = new Provider(address, clock, secrets);
  }

  /** What says who calls. */
  protected abstract credentials(call: ApiCall): Promise<Readonly<Record<string, string>>>;

  /** What this API means by a refusal, where that is not what the status alone says. */
  protected meaningOf(_reply: HttpReply): Refusal {
    return {};
  }

  /** The reply, whose status is 2xx or one of `accepts`. Everything else rejects. */
  async send(call: ApiCall): Promise<HttpReply> {
    const reply = await this.attempt(call);
    const isGood = reply.status >= 200 && reply.status < 300;
    if (isGood || call.accepts?.includes(reply.status)) return reply;
    throw this.refusal(reply, call);
  }

  /** The JSON object of a reply to GET; empty for a status that is accepted. */
  async get(path: string, signal: AbortSignal, accepts: readonly number[] = []): Promise<JsonObject> {
    const reply = await this.send({ path, accepts, signal });
    return accepts.includes(reply.status) ? {} : this.object(reply, path);
  }

  object(reply: HttpReply, path: string): JsonObject {
    const json = jsonOf(reply);
    if (isObject(json)) return json;
    throw this.provider.error('retryable', `${withoutQuery(path)}: a reply that is not a JSON object`);
  }

  protected refusal(reply: HttpReply, { method = 'GET', path }: ApiCall): BackendError {
    return this.provider.refusal(reply, `${method} ${withoutQuery(path)}`, this.meaningOf(reply));
  }

  /** The reply, whatever its status. */
  protected async attempt(call: ApiCall): Promise<HttpReply> {
    const { method = 'GET', path, body, replyBytesMax = REPLY_BYTES_MAX, signal } = call;
    return this.provider.call({
      method,
      url: `${this.address}${path}`,
      headers: {
        accept: 'application/json',
        ...(await this.credentials(call)),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
      replyBytesMax,
      signal,
    });
  }
}

function withoutQuery(path: string): string {
  return path.replace(/\?.*/, '');
}

/** What a status means where a provider has no rule of its own. */
export function kindOf(status: number): BackendErrorKind {
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'quota';
  return status === 408 || status === 425 || status === 429 || status >= 500 ? 'retryable' : 'permanent';
}

/** The message of an error about the request may repeat what no header may hold, so it is not given. */
function networkReason(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed';
  if (error instanceof TypeError) return `the request cannot be made (${error.name})`;
  const said = error.message || error.name;
  return UNKNOWN_AUTHORITY.test(String(memberOf(error, 'code')))
    ? `${said}: name the file of the authority that signed it in NODE_EXTRA_CA_CERTS`
    : said;
}

/** A certificate of TLS that leads to no authority which this process knows. */
const UNKNOWN_AUTHORITY = /SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER_CERT|VERIFY_LEAF_SIGNATURE)/;

/** The body as JSON; undefined when it is none. */
export function jsonOf({ body }: { readonly body: Uint8Array }): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

/**
 * Retry-After as delay-seconds or as an HTTP date (RFC 9110 §10.2.3), in milliseconds from `nowMs`; never
 * negative.
 */
export function parseRetryAfter(field: string | null, nowMs: number): number | undefined {
  if (field === null) return undefined;
  const value = field.trim();
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/** The member of an object; undefined where there is none. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

/**
 * What a reply says in words, under the names that services use, with the code of the error before them; empty when it
 * says nothing. Looks at most two levels deep: a reply may be nested without an end.
 */
export function wordsOf(json: unknown, levels = 2): string {
  if (typeof json === 'string') return json;
  if (levels < 0) return '';
  const errors = memberOf(json, 'errors');
  if (Array.isArray(errors)) return errors.map((each) => wordsOf(each, levels - 1)).join('; ');
  const code = [memberOf(json, 'errorCode'), memberOf(json, 'code')].find(
    (each) => typeof each === 'string' || typeof each === 'number',
  );
  for (const name of ['message', 'errorMessage', 'error', 'detail', 'error_description']) {
    const words = wordsOf(memberOf(json, name), levels - 1);
    if (words !== '') return code === undefined ? words : `${code} ${words}`;
  }
  return '';
}
