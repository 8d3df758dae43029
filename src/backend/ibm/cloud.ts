import type { Clock } from '../../core/clock.ts';
import type { HttpReply, HttpRequest } from '../../core/http-request.ts';
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../../core/json.ts';
import { BackendError } from '../backend.ts';
import type { Secret } from '../definition.ts';
import { httpCall, jsonOf, retryAfterMs, statusError } from '../http-call.ts';

export interface CloudOptions {
  /** With its path, e.g. `https://quantum.cloud.ibm.com/api/v1`. */
  readonly apiUrl: string;
  readonly iamUrl: string;
  readonly apiKey: Secret;
  /** Names the instance: whose budget, which devices. */
  readonly crn: string;
  /** `IBM-API-Version`, a date. */
  readonly apiVersion: string;
  readonly clock: Clock;
}

export interface CloudRequest {
  readonly method: HttpRequest['method'];
  /** Below the API's base, e.g. `/jobs`. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Statuses outside 2xx that the caller reads for itself; all others reject. */
  readonly accepts?: readonly number[];
  readonly replyBytesMax?: number;
  readonly signal: AbortSignal;
}

/** The largest of the small replies is the properties of a device: 0.65 MB for 156 qubits. */
const REPLY_BYTES_MAX = 16 * 1024 * 1024;
const TOKEN_BYTES_MAX = 64 * 1024;
/** ibm-cloud-sdk-core takes a new token when a fifth of the old one's life is left. */
const TOKEN_USED_SHARE = 0.8;

interface Token {
  readonly bearer: string;
  readonly refreshAtMs: number;
}

/**
 * The REST API of IBM Quantum Platform for one instance: bearer tokens from IAM, taken anew before they
 * expire and once more when the API refuses one, and IBM's two shapes of errors.
 */
export class IbmCloud {
  readonly #options: CloudOptions;
  #token: Token | undefined;

  constructor(options: CloudOptions) {
    this.#options = options;
  }

  /** The reply, whose status is 2xx or one of `accepts`. Everything else rejects with a BackendError. */
  async send(request: CloudRequest): Promise<HttpReply> {
    let reply = await this.#attempt(request);
    if (reply.status === 401) {
      this.#token = undefined; // revoked or expired early: one new token, and no third try
      reply = await this.#attempt(request);
    }
    const { status } = reply;
    if ((status >= 200 && status < 300) || request.accepts?.includes(status)) return reply;
    throw this.#errorOf(reply, `IBM Quantum, ${request.method} ${request.path.replace(/\?.*/, '')}`);
  }

  /** The JSON object of a reply to GET. */
  async get(path: string, signal: AbortSignal): Promise<JsonObject> {
    return this.object(await this.send({ method: 'GET', path, signal }), path);
  }

  object(reply: HttpReply, path: string): JsonObject {
    const json = jsonOf(reply);
    if (typeof json !== 'object' || json === null) {
      throw new BackendError(
        'retryable',
        `IBM Quantum, ${path.replace(/\?.*/, '')}: a reply that is not a JSON object`,
      );
    }
    return objectIn(json);
  }

  async #attempt({ method, path, body, replyBytesMax, signal }: CloudRequest): Promise<HttpReply> {
    const { apiUrl, crn, apiVersion } = this.#options;
    const headers: Record<string, string> = {
      authorization: `Bearer ${await this.#bearer(signal)}`,
      'service-crn': crn,
      'ibm-api-version': apiVersion,
      accept: 'application/json',
    };
    if (body !== undefined) headers['content-type'] = 'application/json';
    return httpCall({
      method,
      url: `${apiUrl}${path}`,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      replyBytesMax: replyBytesMax ?? REPLY_BYTES_MAX,
      signal,
    });
  }

  async #bearer(signal: AbortSignal): Promise<string> {
    const { clock } = this.#options;
    if (this.#token === undefined || clock.monotonicMs() >= this.#token.refreshAtMs) {
      const askedAtMs = clock.monotonicMs();
      this.#token = tokenIn(await this.#askForToken(signal), askedAtMs);
    }
    return this.#token.bearer;
  }

  async #askForToken(signal: AbortSignal): Promise<JsonObject> {
    const { iamUrl, apiKey, clock } = this.#options;
    const form = { grant_type: 'urn:ibm:params:oauth:grant-type:apikey', apikey: apiKey.reveal() };
    const reply = await httpCall({
      method: 'POST',
      url: `${iamUrl}/identity/token`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams(form).toString(),
      replyBytesMax: TOKEN_BYTES_MAX,
      signal,
    });
    if (reply.status === 200) return this.object(reply, 'IAM');
    // IAM answers 400 to a key that it does not know (BXNIM0415E).
    if (reply.status === 400)
      throw new BackendError('auth', `IBM Cloud IAM: HTTP 400: ${this.#words(reply)}`);
    throw statusError(reply, clock.wallMs(), 'IBM Cloud IAM', this.#words(reply));
  }

  #errorOf(reply: HttpReply, what: string): BackendError {
    const nowMs = this.#options.clock.wallMs();
    const error = statusError(reply, nowMs, what, this.#words(reply));
    if (reply.status !== 429) return error;
    return new BackendError('retryable', error.message, retryAfterMs(reply, nowMs) ?? RATE_LIMIT_PAUSE_MS);
  }

  /** The provider's words, without what it may repeat of the request. */
  #words(reply: HttpReply): string {
    let words = errorWords(objectIn(jsonOf(reply)));
    for (const secret of [this.#options.apiKey.reveal(), this.#token?.bearer ?? '']) {
      if (secret !== '') words = words.replaceAll(secret, '[secret]');
    }
    return words.slice(0, WORDS_LENGTH_MAX);
  }
}

const WORDS_LENGTH_MAX = 200;
/** Where a 429 names no time: the limits that IBM publishes are per minute. */
const RATE_LIMIT_PAUSE_MS = 60_000;

function tokenIn(answer: JsonObject, askedAtMs: number): Token {
  const bearer = textIn(answer.access_token);
  const livesSeconds = numberIn(answer.expires_in);
  // What no header can hold would come back in the error of whoever tries to send it.
  if (bearer === null || !/^[!-~]+$/.test(bearer) || livesSeconds === null) {
    throw new BackendError('retryable', 'IBM Cloud IAM: a reply without a token');
  }
  return { bearer, refreshAtMs: askedAtMs + TOKEN_USED_SHARE * livesSeconds * 1000 };
}

/**
 * `{errors: [{code, message}]}` as the API describes it, `{error: {code, message}}` as it also comes; IAM has its own.
 */
function errorWords(body: JsonObject): string {
  const errors = Array.isArray(body.errors) ? listIn(body.errors) : [body.error ?? body];
  const words = errors.map((each) => {
    const { code, message, errorCode, errorMessage } = objectIn(each);
    return [code ?? errorCode, message ?? errorMessage]
      .filter((word) => typeof word === 'string' || typeof word === 'number')
      .join(' ');
  });
  return words.filter((word) => word !== '').join('; ');
}
