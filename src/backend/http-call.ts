import { type HttpReply, type HttpRequest, ReplyTooLong, sendRequest } from '../core/http-request.ts';
import { BackendError } from './backend.ts';
import type { Secret } from './definition.ts';

/**
 * Sends the request to a provider and gives the reply whatever its status. A reply that is too long rejects with a
 * permanent BackendError, a connection that fails or breaks off with a retryable one, an aborted signal with its reason.
 */
export async function httpCall(call: HttpRequest): Promise<HttpReply> {
  try {
    return await sendRequest(call);
  } catch (error) {
    if (call.signal.aborted) throw error;
    const { host } = new URL(call.url);
    if (error instanceof ReplyTooLong) throw new BackendError('permanent', `${host}: ${error.message}`);
    throw new BackendError('retryable', `${host}: ${networkReason(error)}`);
  }
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

/** What the reply's Retry-After asks for (RFC 9110 §10.2.3), in milliseconds from `nowMs`. */
export function retryAfterMs(reply: HttpReply, nowMs: number): number | undefined {
  return parseRetryAfter(reply.headers.get('retry-after'), nowMs);
}

/**
 * The error that a status means where a provider has no rule of its own: 401 and 403 auth, 402 quota, 408,
 * 425, 429 and 5xx retryable, everything else permanent. `detail` comes from the provider: a few words, never
 * a secret.
 */
export function statusError(reply: HttpReply, nowMs: number, what: string, detail = ''): BackendError {
  const { status } = reply;
  const words = detail === '' ? '' : `: ${detail.slice(0, DETAIL_LENGTH_MAX)}`;
  const message = `${what}: HTTP ${status}${words}`;
  if (status === 401 || status === 403) return new BackendError('auth', message);
  if (status === 402) return new BackendError('quota', message, retryAfterMs(reply, nowMs));
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    return new BackendError('retryable', message, retryAfterMs(reply, nowMs));
  }
  return new BackendError('permanent', message);
}

const DETAIL_LENGTH_MAX = 200;

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

/** What a reply says in words, under the names that services use; empty when it says nothing. */
export function wordsOf(json: unknown): string {
  for (const name of ['message', 'error', 'detail', 'error_description']) {
    const member = memberOf(json, name);
    if (typeof member === 'string') return member;
    const inner = memberOf(member, 'message');
    if (typeof inner === 'string') return inner;
  }
  return '';
}

const WORDS_MAX = 200;

/** A provider's words for an error of ours: on one line, short, and without the key if it echoed that. */
export function safeWords(words: string, key: Secret | undefined, lengthMax = WORDS_MAX): string {
  const text = key === undefined ? words : words.replaceAll(key.reveal(), '[secret]');
  return text.replaceAll(/[\p{Cc}\s]+/gu, ' ').slice(0, lengthMax);
}
