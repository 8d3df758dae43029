import type { Clock } from '../core/clock.ts';
import { type HttpReply, type HttpRequest, ReplyTooLong, sendRequest } from '../core/http-request.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { BackendError, type BackendErrorKind } from './backend.ts';

export interface ProviderCall extends HttpRequest {
  /** Time limit of the call; without it only the caller's signal ends the call. */
  readonly timeoutMs?: number;
}

/** What a provider means by a refusal, if the status alone does not say it. */
export interface Refusal {
  readonly kind?: BackendErrorKind | undefined;
  readonly words?: string | undefined;
  /** What the operator of this service can do about it. */
  readonly advice?: string | undefined;
  /** How long to wait if the reply names no time. */
  readonly retryAfterMs?: number | undefined;
}

/** Longest part of the provider's words in a message, so that the advice after them is not cut. */
const WORDS_MAX = 200;
const MESSAGE_MAX = 1_000;

/** Calls a provider over HTTP. Its errors name the host, and hide secrets that the provider repeats. */
export class Provider {
  readonly host: string;
  readonly #clock: Clock;
  readonly #secrets: () => readonly string[];

  /** `secrets` returns the present secrets. It may return empty texts, which are ignored. */
  constructor(url: string, clock: Clock, secrets: () => readonly string[]) {
    this.host = new URL(url).host;
    this.#clock = clock;
    this.#secrets = secrets;
  }

  /**
   * Resolves to the reply, whatever its status. Rejects with a permanent BackendError if the reply is too long, with a
   * retryable one if the connection fails or the call takes too long, and with the signal's reason if it is aborted.
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
   * Returns the error that a reply means. Without a rule of the provider (`own`) the status decides: 401 and 403 auth,
   * 402 quota, 408, 425, 429 and 5xx retryable, all others permanent. `what` names the call.
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

  /** Returns the words on one line and without secrets. */
  #printable(words: string): string {
    let text = words;
    for (const secret of this.#secrets()) if (secret !== '') text = text.replaceAll(secret, '[secret]');
    return text.replaceAll(/[\p{Cc}\s]+/gu, ' ');
  }
}

/** One call to a JSON API. */
export interface ApiCall {
  readonly method?: HttpRequest['method'];
  /** The path below the API's address, e.g. `/jobs`. */
  readonly path: string;
  /** JSON. */
  readonly body?: string;
  /** Statuses outside 2xx that the caller handles. All others reject. */
  readonly accepts?: readonly number[];
  readonly replyBytesMax?: number;
  readonly signal: AbortSignal;
}

/** Default limit of a reply. Of these the largest is 0.65 MB: the properties of an IBM device of 156 qubits. */
const REPLY_BYTES_MAX = 16 * 1024 * 1024;

/** A JSON API at one address. Calls reject with a BackendError or with the signal's reason. */
export abstract class JsonApi {
  protected readonly address: string;
  protected readonly provider: Provider;

  constructor(address: string, clock: Clock, secrets: () => readonly string[]) {
    this.address = address;
    this.provider = new Provider(address, clock, secrets);
  }

  /** Resolves to the header fields that authenticate the call. */
  protected abstract credentials(call: ApiCall): Promise<Readonly<Record<string, string>>>;

  /** Returns what this API means by a refusal, if the status alone does not say it. */
  protected meaningOf(_reply: HttpReply): Refusal {
    return {};
  }

  /** Resolves to the reply. Rejects unless its status is 2xx or one of `accepts`. */
  async send(call: ApiCall): Promise<HttpReply> {
    const reply = await this.attempt(call);
    const isGood = reply.status >= 200 && reply.status < 300;
    if (isGood || call.accepts?.includes(reply.status)) return reply;
    throw this.refusal(reply, call);
  }

  /** Resolves to the JSON object of a reply to GET; an empty object for a status in `accepts`. */
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

  /** Resolves to the reply, whatever its status. */
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

/** Returns what a status means if the provider has no rule of its own. */
export function kindOf(status: number): BackendErrorKind {
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'quota';
  return status === 408 || status === 425 || status === 429 || status >= 500 ? 'retryable' : 'permanent';
}

/** Returns why a call failed. Hides the message of a TypeError, which may repeat the value of a header field. */
function networkReason(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed';
  if (error instanceof TypeError) return `the request cannot be made (${error.name})`;
  const said = error.message || error.name;
  return UNKNOWN_AUTHORITY.test(String(memberOf(error, 'code')))
    ? `${said}: name the file of the authority that signed it in NODE_EXTRA_CA_CERTS`
    : said;
}

/** Error codes for a TLS certificate of an authority that this process does not know. */
const UNKNOWN_AUTHORITY = /SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER_CERT|VERIFY_LEAF_SIGNATURE)/;

/** Returns the body as JSON; undefined if it is not JSON. */
export function jsonOf({ body }: { readonly body: Uint8Array }): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

/**
 * Returns the time in Retry-After, delay-seconds or an HTTP date (RFC 9110 §10.2.3), in milliseconds from `nowMs` on;
 * never negative. Undefined if it cannot be read.
 */
export function parseRetryAfter(field: string | null, nowMs: number): number | undefined {
  if (field === null) return undefined;
  const value = field.trim();
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/** Returns the member of an object; undefined if there is none. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

/**
 * Returns what a reply says in words, under the member names that services use, after the code of the error if there is
 * one. Empty if it says nothing. Looks only a few levels deep, since a reply may be nested without end.
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
