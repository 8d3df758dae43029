import type { Clock } from '../../core/clock.ts';
import type { HttpReply, HttpRequest } from '../../core/http-request.ts';
import { isObject, type JsonObject, numberIn, objectIn, textIn } from '../../core/json.ts';
import { jsonOf, Provider } from '../provider.ts';
import { apiUrlOf, type IbmOptions } from './options.ts';

interface CloudRequest {
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
 * expire and once more when the API refuses one.
 */
export class IbmCloud {
  readonly #options: IbmOptions;
  readonly #clock: Clock;
  readonly #apiUrl: string;
  readonly #api: Provider;
  readonly #iam: Provider;
  #token: Token | undefined;

  constructor(options: IbmOptions, clock: Clock) {
    const secrets = () => [options.api_key.reveal(), this.#token?.bearer ?? ''];
    this.#options = options;
    this.#clock = clock;
    this.#apiUrl = options.api_url === 'auto' ? apiUrlOf(options.crn) : options.api_url;
    this.#api = new Provider(this.#apiUrl, clock, secrets);
    this.#iam = new Provider(options.iam_url, clock, secrets);
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
    const pause = status === 429 ? { retryAfterMs: RATE_LIMIT_PAUSE_MS } : {};
    throw this.#api.refusal(reply, `${request.method} ${request.path.replace(/\?.*/, '')}`, pause);
  }

  /** The JSON object of a reply to GET; empty for a status that is accepted. */
  async get(path: string, signal: AbortSignal, accepts: readonly number[] = []): Promise<JsonObject> {
    const reply = await this.send({ method: 'GET', path, accepts, signal });
    return accepts.includes(reply.status) ? {} : this.object(reply, path);
  }

  object(reply: HttpReply, path: string): JsonObject {
    const json = jsonOf(reply);
    if (isObject(json)) return json;
    throw this.#api.error('retryable', `${path.replace(/\?.*/, '')}: a reply that is not a JSON object`);
  }

  async #attempt({ method, path, body, replyBytesMax, signal }: CloudRequest): Promise<HttpReply> {
    const { crn, api_version } = this.#options;
    return this.#api.call({
      method,
      url: `${this.#apiUrl}${path}`,
      headers: {
        authorization: `Bearer ${await this.#bearer(signal)}`,
        'service-crn': crn,
        'ibm-api-version': api_version,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      replyBytesMax: replyBytesMax ?? REPLY_BYTES_MAX,
      signal,
    });
  }

  async #bearer(signal: AbortSignal): Promise<string> {
    const askedAtMs = this.#clock.monotonicMs();
    if (this.#token === undefined || askedAtMs >= this.#token.refreshAtMs) {
      const { access_token, expires_in } = await this.#askForToken(signal);
      const bearer = textIn(access_token);
      const livesSeconds = numberIn(expires_in);
      // What no header can hold would come back in the error of whoever tries to send it.
      if (bearer === null || !/^[!-~]+$/.test(bearer) || livesSeconds === null) {
        throw this.#iam.error('retryable', 'a reply without a token');
      }
      this.#token = { bearer, refreshAtMs: askedAtMs + TOKEN_USED_SHARE * livesSeconds * 1000 };
    }
    return this.#token.bearer;
  }

  async #askForToken(signal: AbortSignal): Promise<JsonObject> {
    const { iam_url, api_key } = this.#options;
    const form = { grant_type: 'urn:ibm:params:oauth:grant-type:apikey', apikey: api_key.reveal() };
    const reply = await this.#iam.call({
      method: 'POST',
      url: `${iam_url}/identity/token`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams(form).toString(),
      replyBytesMax: TOKEN_BYTES_MAX,
      signal,
    });
    if (reply.status === 200) return objectIn(jsonOf(reply));
    // IAM answers 400 to a key that it does not know (BXNIM0415E).
    throw this.#iam.refusal(reply, 'a token', reply.status === 400 ? { kind: 'auth' } : {});
  }
}

/** Where a 429 names no time: the limits that IBM publishes are per minute. */
const RATE_LIMIT_PAUSE_MS = 60_000;
