import type { Clock } from '../../core/clock.ts';
import type { HttpReply } from '../../core/http-request.ts';
import { type JsonObject, numberIn, objectIn, textIn } from '../../core/json.ts';
import { type ApiCall, JsonApi, jsonOf, Provider, type Refusal } from '../provider.ts';
import { apiUrlOf, type IbmOptions } from './options.ts';

const TOKEN_BYTES_MAX = 64 * 1024;
/** Share of a token's life after which a new one is fetched, as in ibm-cloud-sdk-core. */
const TOKEN_USED_SHARE = 0.8;
/** The pause after a 429 that names no time. The limits that IBM publishes are per minute. */
const RATE_LIMIT_PAUSE_MS = 60_000;

interface Token {
  readonly bearer: string;
  readonly refreshAtMs: number;
}

/**
 * The REST API of IBM Quantum Platform for one instance. It gets bearer tokens from IAM, a new one before the old one
 * expires, and one more if the API refuses a token.
 */
export class IbmCloud extends JsonApi {
  readonly #options: IbmOptions;
  readonly #clock: Clock;
  readonly #iam: Provider;
  #token: Token | undefined;

  constructor(options: IbmOptions, clock: Clock) {
    const secrets = () => [options.api_key.reveal(), this.#token?.bearer ?? ''];
    super(options.api_url === 'auto' ? apiUrlOf(options.crn) : options.api_url, clock, secrets);
    this.#options = options;
    this.#clock = clock;
    this.#iam = new Provider(options.iam_url, clock, secrets);
  }

  protected override async attempt(call: ApiCall): Promise<HttpReply> {
    const reply = await super.attempt(call);
    if (reply.status !== 401) return reply;
    this.#token = undefined; // revoked or expired early: try once with a new token
    return super.attempt(call);
  }

  protected override meaningOf({ status }: HttpReply): Refusal {
    return status === 429 ? { retryAfterMs: RATE_LIMIT_PAUSE_MS } : {};
  }

  protected async credentials({ signal }: ApiCall): Promise<Readonly<Record<string, string>>> {
    const { crn, api_version } = this.#options;
    const authorization = `Bearer ${await this.#bearer(signal)}`;
    return { authorization, 'service-crn': crn, 'ibm-api-version': api_version };
  }

  async #bearer(signal: AbortSignal): Promise<string> {
    const askedAtMs = this.#clock.monotonicMs();
    if (this.#token === undefined || askedAtMs >= this.#token.refreshAtMs) {
      const { access_token, expires_in } = await this.#askForToken(signal);
      const bearer = textIn(access_token);
      const livesSeconds = numberIn(expires_in);
      // The error for a value that no header field can hold would repeat the token, so refuse it here.
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
    // IAM answers 400 to an unknown key (BXNIM0415E).
    throw this.#iam.refusal(reply, 'a token', reply.status === 400 ? { kind: 'auth' } : {});
  }
}
