import type {
  Answer,
  BatchData,
  BatchType,
  BinaryAnswer,
  BinaryBatchData,
  BinaryBatchType,
  BinaryBytesData,
  BitstringData,
  BytesData,
  CertificateDocument,
  Credits,
  DataEndpoint,
  FloatsData,
  GaussiansData,
  HealthAnswer,
  IntegersData,
  PermutationsData,
  Quote,
  RateLimit,
  SampleData,
  SequencesData,
  ShuffleData,
  StringsData,
  TiersAnswer,
  UsageAnswer,
  UuidData,
  WeightedData,
} from './answers.ts';
import { batchValues, octetReply, octetsOf } from './binary.ts';
import { type DrawDocument, Draws } from './draws.ts';
import { clientError, type QrnError, type RawResponse } from './error.ts';
import type { Hooks } from './hooks.ts';
import {
  type BatchParameters,
  type BitstringParameters,
  type BytesParameters,
  type DataParameters,
  dataRequest,
  type FloatsParameters,
  type GaussiansParameters,
  type IntegersParameters,
  type PermutationsParameters,
  queryOf,
  type SampleParameters,
  type SequencesParameters,
  type ShuffleParameters,
  type StringsParameters,
  type UuidParameters,
  type WeightedParameters,
} from './parameters.ts';
import { type PendingCall, pendingCall } from './pending-call.ts';
import { environmentVariable, userAgent } from './runtime.ts';
import { sleep } from './sleep.ts';
import { Streams } from './stream.ts';
import { randomKey } from './system-random.ts';
import {
  type CallOptions,
  type Fetch,
  type HttpRequest,
  isObject,
  parseJson,
  Transport,
} from './transport.ts';
import type { Verification, VerificationInput } from './verifier.ts';

export interface QrnClientOptions extends Hooks {
  /** E.g. `https://qrn.example/v1`. Default: the variable QRN_URL, else http://127.0.0.1:3000/v1. */
  readonly baseUrl?: string | undefined;
  /** The API key. Default: the variable QRN_KEY. */
  readonly key?: string | undefined;
  /** Replaces the global fetch, for an agent, a proxy or a test. */
  readonly fetch?: Fetch | undefined;
  /** The time for one attempt, reading the body included. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** The number of attempts after the first. Default: 3. */
  readonly retries?: number | undefined;
  /** The longest wait that the client accepts when the service asks it to wait. Default: 60,000. */
  readonly retryWaitMaxMs?: number | undefined;
}

export interface VerifyOptions extends CallOptions {
  /** An earlier result of `certificate()`. Default: it is fetched. */
  readonly certificate?: unknown;
  /**
   * The service's public keys, obtained from elsewhere. Default: they are fetched, and the service is trusted for them.
   */
  readonly keys?: unknown;
  /** Fails an answer whose certificate does not show that the bytes it was drawn from were fixed before. */
  readonly requireFixed?: boolean;
}

/** Any answer with values in it, JSON or binary. */
export type VerifiableAnswer =
  | Answer<unknown>
  | BinaryAnswer<BinaryBytesData | BinaryBatchData<BinaryBatchType>>;

/** The address at which `npm start` serves. */
const LOCAL_URL = 'http://127.0.0.1:3000/v1';
/** The service answers within 20 s, and closes the connection of a reader that takes 30 s for one reply. */
const TIMEOUT_MS = 30_000;
const RETRIES = 3;
/** Longer than any wait for a rate limit: even 10 requests a minute mean a wait of at most 6 s. */
const RETRY_WAIT_MAX_MS = 60_000;

/** The waits for a certificate's proof. The service extends its log every 250 ms. */
const PROOF_WAITS_MS = [200, 400, 800, 1_600];

const KEY_TEXT = /^[\x21-\x7e]+$/;
const IDEMPOTENCY_KEY_TEXT = /^[\x21-\x7e]{1,255}$/;

/** The body of an answer. Members are not checked: the service is trusted for their types. */
interface AnswerBody {
  readonly data: unknown;
  readonly metadata: unknown;
  readonly meta: unknown;
  readonly quantum_credits: Credits;
  readonly opening?: unknown;
  readonly label?: unknown;
}

/**
 * A client of the service. Every method resolves to an answer, or rejects with a QrnError or with the reason of an
 * aborted signal. Any number of calls may run on one client at a time.
 */
export class QrnClient {
  readonly #baseUrl: string;
  readonly #key: string;
  readonly #transport: Transport;
  /** Streams of any number of values, in blocks of typed arrays. */
  readonly stream: Streams = new Streams(this);

  /** Committed draws: the service commits to each before anybody can know its outcome. */
  readonly draws: Draws = new Draws({
    send: async ({ path, isOnce = false, ...request }, call = {}) => {
      const whole = { ...request, url: this.#baseUrl + path };
      if (request.method === 'GET') return this.#transport.send(requestOf(whole), call);
      return this.#send(
        { ...whole, idempotencyKey: isOnce ? await idempotencyKeyOf(call, true) : null },
        call,
      );
    },
    read: (reply) => objectOf(reply, 'statement') as unknown as DrawDocument,
  });

  /** Throws a TypeError or RangeError for wrong options. */
  constructor(options: QrnClientOptions = {}) {
    this.#baseUrl = baseUrlOf(options.baseUrl ?? environmentVariable('QRN_URL') ?? LOCAL_URL);
    const key = options.key ?? environmentVariable('QRN_KEY');
    if (typeof key !== 'string' || !KEY_TEXT.test(key)) {
      throw new TypeError('key: give the API key, or set QRN_KEY; a key is visible ASCII without blanks');
    }
    this.#key = key;
    const { onRequest, onResponse, onRetry, onWarning } = options;
    this.#transport = new Transport({
      fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
      timeoutMs: atLeast(1, options.timeoutMs ?? TIMEOUT_MS, 'timeoutMs'),
      retries: atLeast(0, options.retries ?? RETRIES, 'retries'),
      retryWaitMaxMs: atLeast(0, options.retryWaitMaxMs ?? RETRY_WAIT_MAX_MS, 'retryWaitMaxMs'),
      hooks: { onRequest, onResponse, onRetry, onWarning },
    });
  }

  /** Integers in a range, each equally likely. */
  integers(parameters: IntegersParameters = {}, call?: CallOptions): PendingCall<Answer<IntegersData>> {
    return this.#data('integers', parameters, call);
  }

  /** Bytes as hex or base64. */
  bytes(parameters: BytesParameters = {}, call?: CallOptions): PendingCall<Answer<BytesData>> {
    return this.#data('bytes', parameters, call);
  }

  /** Doubles in [0, 1). */
  floats(parameters: FloatsParameters = {}, call?: CallOptions): PendingCall<Answer<FloatsData>> {
    return this.#data('floats', parameters, call);
  }

  /** UUIDs of version 4. */
  uuid(parameters: UuidParameters = {}, call?: CallOptions): PendingCall<Answer<UuidData>> {
    return this.#data('uuid', parameters, call);
  }

  /** A string of the digits 0 and 1. */
  bitstring(parameters: BitstringParameters = {}, call?: CallOptions): PendingCall<Answer<BitstringData>> {
    return this.#data('bitstring', parameters, call);
  }

  /** The items in a random order. The service shuffles them, and the certificate covers the order. */
  shuffle(parameters: ShuffleParameters, call?: CallOptions): PendingCall<Answer<ShuffleData>> {
    return this.#data('shuffle', parameters, call);
  }

  /** Some of the items, in the order in which they were drawn; no item twice. */
  sample(parameters: SampleParameters, call?: CallOptions): PendingCall<Answer<SampleData>> {
    return this.#data('sample', parameters, call);
  }

  /** Independent picks from weighted items. */
  weighted(parameters: WeightedParameters, call?: CallOptions): PendingCall<Answer<WeightedData>> {
    return this.#data('weighted', parameters, call);
  }

  /** Strings over an alphabet. */
  strings(parameters: StringsParameters = {}, call?: CallOptions): PendingCall<Answer<StringsData>> {
    return this.#data('strings', parameters, call);
  }

  /** Sequences of integers, each with its own length and range, drawn together. */
  sequences(parameters: SequencesParameters, call?: CallOptions): PendingCall<Answer<SequencesData>> {
    return this.#data('sequences', parameters, call);
  }

  /** The numbers from 0 to length - 1 in a random order. */
  permutations(
    parameters: PermutationsParameters,
    call?: CallOptions,
  ): PendingCall<Answer<PermutationsData>> {
    return this.#data('permutations', parameters, call);
  }

  /** Normally distributed numbers, exactly sampled and rounded. */
  gaussians(parameters: GaussiansParameters = {}, call?: CallOptions): PendingCall<Answer<GaussiansData>> {
    return this.#data('gaussians', parameters, call);
  }

  /** Up to 100,000 values as JSON; the key needs the scope `entropy:batch`. */
  batch<T extends BatchType>(
    parameters: BatchParameters<T>,
    call?: CallOptions,
  ): PendingCall<Answer<BatchData<T>>> {
    return this.#data('batch', parameters, call);
  }

  /** Up to 1,024 bytes, without an encoding. */
  bytesBinary(
    parameters: Omit<BytesParameters, 'encoding'> = {},
    call?: CallOptions,
  ): PendingCall<BinaryAnswer<BinaryBytesData>> {
    const { count } = parameters;
    const { encoding: _, ...sent } = parameters as BytesParameters; // octets have none
    return pendingCall(this.#binary('bytes', sent, call), (reply) => {
      const { octets } = octetReply(reply);
      if (count !== undefined && octets.length !== count) throw invalidAnswer(reply, `not ${count} bytes`);
      return binaryAnswerOf(reply, { bytes: octets, count: octets.length });
    });
  }

  /** Up to 100,000 values as a typed array, without any parsing. */
  batchBinary<T extends BinaryBatchType>(
    parameters: BatchParameters<T>,
    call?: CallOptions,
  ): PendingCall<BinaryAnswer<BinaryBatchData<T>>> {
    const { type, count } = parameters;
    const params = type === 'bytes' ? { ...parameters.params, encoding: 'hex' } : parameters.params;
    const coming = this.#binary('batch', { ...parameters, params } as BatchParameters<T>, call);
    return pendingCall(coming, (reply) => {
      const values = batchValues(type, count, octetReply(reply).octets);
      return binaryAnswerOf(reply, { values, count, type });
    });
  }

  /** The price of a request in its mode. The service checks the request, but draws, charges and certifies nothing. */
  quote<E extends DataEndpoint>(
    endpoint: E,
    parameters: DataParameters[E],
    call?: CallOptions,
  ): PendingCall<Quote> {
    const coming = this.#draw(endpoint, parameters, 'application/json', call, true);
    return pendingCall(coming, (reply) => answerOf(reply) as unknown as Quote);
  }

  /** The certificate of an answer, by its `metadata.certificate_id`. */
  certificate(id: string, call?: CallOptions): PendingCall<CertificateDocument> {
    const url = `${this.#baseUrl}/certificate${queryOf({ id })}`;
    return pendingCall(
      this.#send({ url }, call),
      (reply) => objectOf(reply, 'certificate') as unknown as CertificateDocument,
    );
  }

  /** The certificate as a PDF document. */
  certificatePdf(id: string, call?: CallOptions): PendingCall<Uint8Array> {
    const url = `${this.#baseUrl}/certificate${queryOf({ id, format: 'pdf' })}`;
    return pendingCall(this.#send({ url, accept: 'application/pdf' }, call), (reply) => {
      const type = reply.headers.get('content-type');
      if (type !== 'application/pdf') throw invalidAnswer(reply, `${type}, not a PDF document`);
      return reply.body;
    });
  }

  /** The account's usage of this month, and what is left. */
  usage(call?: CallOptions): PendingCall<UsageAnswer> {
    return pendingCall(
      this.#send({ url: `${this.#baseUrl}/usage` }, call),
      (reply) => objectOf(reply, 'data') as unknown as UsageAnswer,
    );
  }

  /** The limits of each tier, the prices of pure mode, and the bounds of one request. */
  tiers(call?: CallOptions): PendingCall<TiersAnswer> {
    return pendingCall(
      this.#send({ url: `${this.#baseUrl}/tiers` }, call),
      (reply) => objectOf(reply, 'data') as unknown as TiersAnswer,
    );
  }

  /** The state of the service and its sources. This resolves even when the service reports `fail` with status 503. */
  health(call?: CallOptions): PendingCall<HealthAnswer> {
    return pendingCall(
      this.#send({ url: `${this.#baseUrl}/health`, alsoAnswers: [503] }, call),
      (reply) => objectOf(reply, 'data') as unknown as HealthAnswer,
    );
  }

  /**
   * The public keys that sign the service's log. Keep them: `verify` with kept keys does not trust the service for its
   * keys.
   */
  keys(call: CallOptions = {}): PendingCall<Readonly<Record<string, unknown>>> {
    const url = `${this.#baseUrl.slice(0, -'/v1'.length)}/.well-known/qrn-keys.json`;
    return pendingCall(this.#transport.send(requestOf({ url }), call), (reply) => objectOf(reply, 'keys'));
  }

  /**
   * Checks that an answer's values are the certified ones and that the certificate is in the signed log. Fetches the
   * certificate and the keys unless they are given; with both it needs no network. Waits until a new certificate is
   * logged. Resolves to the result of every check, whether or not they hold. In Node it needs version 20 or newer.
   */
  async verify(answer: VerifiableAnswer, options: VerifyOptions = {}): Promise<Verification> {
    if (!('isWellFormed' in String.prototype)) throw new TypeError('verify: needs Node 20 or newer');
    const { certificate = await this.#loggedCertificate(answer, options) } = options;
    const { keys = await this.keys(options) } = options;
    const { verifyAnswer } = await import('./verifier.ts');
    const { requireFixed = false } = options;
    return verifyAnswer({ ...verifiable(answer), certificate, keys, requireFixed });
  }

  async #loggedCertificate(answer: VerifiableAnswer, call: CallOptions): Promise<CertificateDocument> {
    const id = answer.metadata.certificate_id;
    for (const waitMs of PROOF_WAITS_MS) {
      const found = await this.certificate(id, call);
      if (found.certificate.proof !== null) return found;
      await sleep(waitMs, call.signal);
    }
    return this.certificate(id, call);
  }

  #data<E extends DataEndpoint, Data>(
    endpoint: E,
    parameters: DataParameters[E],
    call?: CallOptions,
  ): PendingCall<Answer<Data>> {
    const coming = this.#draw(endpoint, parameters, 'application/json', call);
    return pendingCall(coming, (reply) => {
      const answer = answerOf(reply);
      if (!isObject(answer.data.metadata)) throw invalidAnswer(reply, 'not of its form');
      return answer as unknown as Answer<Data>;
    });
  }

  #binary<E extends 'bytes' | 'batch'>(
    endpoint: E,
    parameters: DataParameters[E],
    call?: CallOptions,
  ): Promise<RawResponse> {
    return this.#draw(endpoint, parameters, 'application/octet-stream', call);
  }

  async #draw<E extends DataEndpoint>(
    endpoint: E,
    parameters: DataParameters[E],
    accept: string,
    call: CallOptions = {},
    dryRun = false,
  ): Promise<RawResponse> {
    const { method, path, body, isOnce } = dataRequest(endpoint, parameters, dryRun);
    const idempotencyKey = await idempotencyKeyOf(call, isOnce);
    return this.#send({ method, url: this.#baseUrl + path, body, accept, idempotencyKey }, call);
  }

  #send(request: PartialRequest, call: CallOptions = {}): Promise<RawResponse> {
    return this.#transport.send(this.#authorized(request), call);
  }

  #authorized(request: PartialRequest): HttpRequest {
    const { headers, ...rest } = requestOf(request);
    return { ...rest, headers: { ...headers, Authorization: `Bearer ${this.#key}` } };
  }
}

/** Returns the caller's Idempotency-Key, else a new one for a call that must not be answered twice, else null. */
async function idempotencyKeyOf({ idempotencyKey }: CallOptions, isOnce: boolean): Promise<string | null> {
  const key = idempotencyKey ?? (isOnce ? await randomKey() : null);
  if (key !== null && !IDEMPOTENCY_KEY_TEXT.test(key)) {
    throw new RangeError('idempotencyKey: 1 to 255 visible ASCII characters');
  }
  return key;
}

interface PartialRequest extends Partial<Omit<HttpRequest, 'url' | 'headers'>> {
  readonly url: string;
  readonly accept?: string;
}

function requestOf({ accept = 'application/json', body = null, ...request }: PartialRequest): HttpRequest {
  const agent = userAgent();
  const headers = {
    Accept: accept,
    ...(body === null ? {} : { 'Content-Type': 'application/json' }),
    ...(agent === null ? {} : { 'User-Agent': agent }),
  };
  return { method: 'GET', idempotencyKey: null, alsoAnswers: [], ...request, body, headers };
}

function baseUrlOf(text: string): string {
  const url = urlOf(text);
  const path = url?.pathname.replace(/\/$/, '') || '/v1';
  const isBase = url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!isBase || !path.endsWith('/v1')) {
    throw new TypeError(`baseUrl (or QRN_URL): ${text} is not an http or https URL that ends in /v1`);
  }
  return url.origin + path;
}

/** Returns undefined for a text that is not a URL. Early versions of Node 18 have no URL.canParse. */
function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function atLeast(min: number, value: number, name: string): number {
  if (!(value >= min)) throw new RangeError(`${name}: at least ${min}`);
  return value;
}

function invalidAnswer(response: RawResponse, what: string): QrnError {
  const { status } = response;
  return clientError('invalid_answer', { message: `The answer is ${what}.`, status, response });
}

/** Returns the body as an object. Throws `invalid_answer` when it is none or lacks the member. */
function objectOf(reply: RawResponse, member: string): Readonly<Record<string, unknown>> {
  const body = parseJson(reply.body);
  if (!isObject(body) || !(member in body)) throw invalidAnswer(reply, `no JSON object with ${member} in it`);
  return body;
}

/** Reads an answer. Trusts the service for the types of members, which test/api/openapi.test.ts checks. */
function answerOf(reply: RawResponse): Answer<unknown> {
  const { data, metadata, meta, quantum_credits, opening, label } = objectOf(
    reply,
    'data',
  ) as unknown as AnswerBody;
  if (![data, metadata, quantum_credits].every(isObject)) throw invalidAnswer(reply, 'not of its form');
  const rateLimit = rateLimitOf(reply.headers);
  const optional = optionalMembers({ opening, label });
  return { data, metadata, meta, credits: quantum_credits, rateLimit, ...optional } as Answer<unknown>;
}

function binaryAnswerOf<Data>(reply: RawResponse, data: Data): BinaryAnswer<Data> {
  const { entropy, metadata, durationMs, requestUuid, credits } = octetReply(reply);
  return {
    data: { ...data, metadata: entropy },
    metadata,
    meta: { request_id: requestUuid, duration_ms: durationMs },
    credits,
    rateLimit: rateLimitOf(reply.headers),
  };
}

function rateLimitOf(headers: Headers): RateLimit | null {
  const remaining = headers.get('x-ratelimit-remaining');
  const reset = headers.get('x-ratelimit-reset');
  if (remaining === null || reset === null) return null;
  return { remaining: Number(remaining), resetAtS: Number(reset) };
}

/** Returns the answer in the verifier's form: a JSON body, or octets with what came in header fields. */
function verifiable(answer: VerifiableAnswer): Pick<VerificationInput, 'response' | 'octets'> {
  const { metadata, meta, credits } = answer;
  if (!isBinary(answer)) {
    const { data, opening, label } = answer;
    return {
      response: { data, metadata, meta, quantum_credits: credits, ...optionalMembers({ opening, label }) },
    };
  }
  const { entropy_mode } = answer.data.metadata;
  const data = { metadata: { entropy_mode } }; // without quantum_source, which repeats metadata.quantum_backend
  return {
    response: { data, metadata, meta, quantum_credits: credits, opening: null },
    octets: octetsOf(answer.data),
  };
}

/** Returns only the defined members: the verifier does not treat an undefined member as absent. */
function optionalMembers(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function isBinary(
  answer: VerifiableAnswer,
): answer is BinaryAnswer<BinaryBytesData | BinaryBatchData<BinaryBatchType>> {
  const { data } = answer as { data: { values?: unknown; bytes?: unknown } };
  return ArrayBuffer.isView(data.values) || ArrayBuffer.isView(data.bytes);
}
