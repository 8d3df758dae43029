import { utf8Bytes } from '../../core/bytes.ts';
import { systemWait, type Wait } from '../../core/clock.ts';
import type { HttpReply } from '../../core/http-request.ts';
import { repeatedMember } from '../../core/repeated-member.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import type { BackendError, BackendErrorKind } from '../backend.ts';
import type { OctetAnswer, SourceParts } from '../definition.ts';
import { jsonOf, memberOf, Provider } from '../provider.ts';
import type { QrnOptions } from './options.ts';

/** Calls another service of this kind. qrn.ts checks its answers. */

/** One request for bytes. */
export interface UpstreamCall {
  /** The Idempotency-Key. A repeated call with it gets the same answer and is not paid again. */
  readonly key: string;
  readonly bytes: number;
}

/** Limit of an answer in octets. The text of a refusal is short too. */
const ANSWER_BYTES_MAX = 16 * 1024;
/** Limit of a certificate's document, which has its lots' leaves. The leaf of a lot may cite 512 certificates. */
const CERTIFICATE_BYTES_MAX = 1024 * 1024;
/** How often to ask for a certificate, which is logged a moment after its answer, and how long to wait in between. */
const LOG_TRIES = 20;
const LOG_WAIT_MS = 250;

/** By status: what the operator of this service can do, and the kind of error if the status alone means another. */
const ADVICE: Readonly<Record<number, readonly [advice: string, kind?: BackendErrorKind]>> = {
  401: ['set api_key to a key that is valid at the other service'],
  402: ['increase the credits of the account at the other service, or wait for the next month'],
  403: [
    'the account of api_key must have pure mode at the other service, and the key must have the scope entropy:read',
  ],
  409: ['the source repeats the call', 'retryable'],
  422: ['another client uses the Idempotency-Keys of this account; use a separate account for this source'],
};

const REDIRECTED = 'the API key is sent only to url; set url to the address that answers without a redirect';

export class Upstream {
  readonly provider: Provider;
  readonly #options: QrnOptions;
  readonly #wait: Wait;

  constructor(options: QrnOptions, { clock, wait = systemWait }: SourceParts) {
    this.provider = new Provider(options.url, clock, () => [options.api_key.reveal()]);
    this.#options = options;
    this.#wait = wait;
  }

  /** Resolves to the answer to a call, with as many octets as it asks for. Rejects with a BackendError. */
  async draw(call: UpstreamCall, signal: AbortSignal): Promise<OctetAnswer> {
    const { url, api_key } = this.#options;
    const query = new URLSearchParams({
      count: String(call.bytes),
      entropy_mode: 'pure',
      user_data_sha256: userDataSha256(call),
    });
    const reply = await this.#get(`${url}/v1/bytes?${query}`, ANSWER_BYTES_MAX, signal, {
      accept: 'application/octet-stream',
      authorization: `Bearer ${api_key.reveal()}`,
      'idempotency-key': call.key,
    });
    const type = reply.headers.get('content-type') ?? 'no type';
    if (!type.startsWith('application/octet-stream')) {
      throw this.provider.error(
        'permanent',
        `the answer is ${type} instead of application/octet-stream; check that url is the address of such a service`,
      );
    }
    if (reply.body.length !== call.bytes) {
      const given = `${reply.body.length} of ${call.bytes} bytes`;
      throw this.provider.error(
        'permanent',
        `the answer has ${given} and was not used; report this to the operator of the other service`,
      );
    }
    return { fields: new Map(reply.headers), octets: reply.body };
  }

  /** Resolves to the public document of a certificate, parsed, once the certificate is logged. */
  async certificate(id: string, signal: AbortSignal): Promise<unknown> {
    const url = `${this.#options.url}/verify/${id}`;
    for (let tries = 1; tries <= LOG_TRIES; tries++) {
      const reply = await this.#get(url, CERTIFICATE_BYTES_MAX, signal, { accept: 'application/json' });
      const document = jsonOf(reply);
      if (document === undefined) throw this.provider.error('retryable', `certificate ${id} is not JSON`);
      const repeated = repeatedMember(new TextDecoder().decode(reply.body));
      if (repeated !== undefined) {
        throw this.provider.error(
          'permanent',
          `certificate ${id} contains a member twice, which programs read differently`,
        );
      }
      if (memberOf(memberOf(document, 'certificate'), 'proof') !== null) return document;
      await this.#wait(LOG_WAIT_MS, signal);
    }
    throw this.provider.error(
      'retryable',
      `certificate ${id} is not in its log yet; the source requests it again`,
    );
  }

  async #get(
    url: string,
    replyBytesMax: number,
    signal: AbortSignal,
    headers: Readonly<Record<string, string>>,
  ): Promise<HttpReply> {
    // A cache on the way would answer with bytes that were given before.
    const fields = { ...headers, 'cache-control': 'no-store' };
    const { call_timeout_ms: timeoutMs } = this.#options;
    const reply = await this.provider.call({
      method: 'GET',
      url,
      headers: fields,
      replyBytesMax,
      timeoutMs,
      signal,
    });
    if (reply.status !== 200) throw this.#refusal(reply);
    return reply;
  }

  /** Returns the error of a reply that is not an answer, with what to do about it. */
  #refusal(reply: HttpReply): BackendError {
    const { status, headers } = reply;
    if (status >= 300 && status < 400) {
      const words = `to ${headers.get('location') ?? 'nowhere'}`;
      return this.provider.refusal(reply, '', { words, advice: REDIRECTED });
    }
    const [advice, kind] = ADVICE[status] ?? [];
    // A spent quota of a month does not come back in seconds.
    const isSpent = memberOf(memberOf(jsonOf(reply), 'error'), 'code') === 'quota_exceeded';
    return this.provider.refusal(reply, '', { kind: isSpent ? 'quota' : kind, advice });
  }
}

/** Returns a call's user_data_sha256 in hex. The certificate repeats it, so it proves no other call's answer. */
export function userDataSha256({ key }: UpstreamCall): string {
  return sha256Hex(utf8Bytes(key));
}
