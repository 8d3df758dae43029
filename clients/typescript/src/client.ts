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
  /** E.g. `https://qrn.example/v1`; default the variable QRN_URL, or else the service on this machine. */
  readonly baseUrl?: string | undefined;
  /** The API key; default the variable QRN_KEY. */
  readonly key?: string | undefined;
  /** In place of the global fetch: for an agent, a proxy or a test. */
  readonly fetch?: Fetch | undefined;
  /** For one attempt, its body included; default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Attempts after the first; default 3. */
  readonly retries?: number | undefined;
  /** A service that asks to wait longer than this is not waited for; default 60,000. */
  readonly retryWaitMaxMs?: number | undefined;
}

export interface VerifyOptions extends CallOptions {
  /** What `certificate()` gave earlier; left out, it is fetched. */
  readonly certificate?: unknown;
  /** The service's public keys, had from elsewhere; left out, the service is asked and taken at its word. */
  readonly keys?: unknown;
  /** Fails an answer whose certificate does not show that what it was drawn from was fixed before. */
  readonly requireFixed?: boolean;
}

/** Any answer with values in it, JSON or binary. */
export type VerifiableAnswer =
  | Answer<unknown>
  | BinaryAnswer<BinaryBytesData | BinaryBatchData<BinaryBatchType>>;

/** Where `npm start` serves. */
const LOCAL_URL = 'http://127.0.0.1:3000/v1';
/** The service answers a single request within 20 s and cuts off readers that take 30 s for one reply. */
const TIMEOUT_MS = 30_000;
const RETRIES = 3;
/** Longer than any wait for a rate limit: a token bucket of 10 requests a minute has one after 6 s. */
const RETRY_WAIT_MAX_MS = 60_000;

/** Waits for a certificate's proof: the service seals its log about every 150 ms. */
const PROOF_WAITS_MS = [200, 400, 800, 1_600];

const KEY_TEXT = /^[\x21-\x7e]+$/;
const IDEMPOTENCY_KEY_TEXT = /^[\x21-\x7e]{1,255}$/;

/** An answer's body, of which the service is trusted to keep to its types. */
interface AnswerBody {
  readonly data: unknown;
  readonly metadata: unknown;
  readonly meta: unknown;
  readonly quantum_credits: Credits;
  readonly opening?: unknown;
  readonly label?: unknown;
}

/**
 * The service over HTTP. Every method resolves to an answer, or rejects with a QrnError, or with the reason of an
 * aborted signal. One client may serve any number of calls at a time.
 */
export class QrnClient {
  readonly #baseUrl: string;
  readonly #key: string;
  readonly #transport: Transport;
  /** Any number of values, as typed arrays, block after block. */
  readonly stream: Streams = new Streams(this);

  /** Draws that are committed to before anybody can know their outcome. */
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

  /** Throws a TypeError or RangeError for options that cannot be meant. */
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

  /** The items in a random order, made by the service, with a certificate. */
  shuffle(parameters: ShuffleParameters, call?: CallOptions): PendingCall<Answer<ShuffleData>> {
    return this.#data('shuffle', parameters, call);
  }

  /** Some of the items in the order drawn, no item twice. */
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

  /** Sequences of integers, each with a length and a range of its own, drawn together. */
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

  /** Up to 1,024 bytes as they are. */
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

  /** What a request would cost in its mode. Checks it; draws, spends and certifies nothing. */
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

  /** What the account has used this month, and what is left. */
  usage(call?: CallOptions): PendingCall<UsageAnswer> {
    return pendingCall(
      this.#send({ url: `${this.#baseUrl}/usage` }, call),
      (reply) => objectOf(reply, 'data') as unknown as UsageAnswer,
    );
  }

  /** What each tier may do, what pure mode costs, and how much one request may ask for. */
  tiers(call?: CallOptions): PendingCall<TiersAnswer> {
    return pendingCall(
      this.#send({ url: `${this.#baseUrl}/tiers` }, call),
      (reply) => objectOf(reply, 'data') as unknown as TiersAnswer,
    );
  }

  /** The state of the service and its sources. A service that reports `fail` is an answer here, not an error. */
  health(call?: CallOptions): PendingCall<HealthAnswer> {
    return pendingCall(
      this.#send({ url: `${this.#baseUrl}/health`, alsoAnswers: [503] }, call),
      (reply) => objectOf(reply, 'data') as unknown as HealthAnswer,
    );
  }

  /** The public keys that sign the service's log. Keep them, to verify without taking the service at its word. */
  keys(call: CallOptions = {}): PendingCall<Readonly<Record<string, unknown>>> {
    const url = `${this.#baseUrl.slice(0, -'/v1'.length)}/.well-known/qrn-keys.json`;
    return pendingCall(this.#transport.send(requestOf({ url }), call), (reply) => objectOf(reply, 'keys'));
  }

  /**
   * Checks an answer: that its values are those that were certified, and that the certificate stands in the signed log.
   * Fetches what is not given (a certificate just issued is waited for until it is logged); with `certificate` and
   * `keys` given it asks nobody. Resolves to what was found, true or not; needs Node 20 or newer, or a browser over
   * https.
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

/** The caller's, or else one of its own for a call that must not be answered twice. */
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

/** Undefined for what is no URL: early versions of Node 18 have no URL.canParse. */
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

/** The body as an object that has the member. */
function objectOf(reply: RawResponse, member: string): Readonly<Record<string, unknown>> {
  const body = parseJson(reply.body);
  if (!isObject(body) || !(member in body)) throw invalidAnswer(reply, `no JSON object with ${member} in it`);
  return body;
}

/** Takes the service at its word for the types of its members; test/api/openapi.test.ts checks that it keeps it. */
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

/** The answer as the verifier reads it: a JSON body, or octets and what came beside them. */
function verifiable(answer: VerifiableAnswer): Pick<VerificationInput, 'response' | 'octets'> {
  const { metadata, meta, credits } = answer;
  if (!isBinary(answer)) {
    const { data, opening, label } = answer;
    return {
      response: { data, metadata, meta, quantum_credits: credits, ...optionalMembers({ opening, label }) },
    };
  }
  const { entropy_mode } = answer.data.metadata;
  const data = { metadata: { entropy_mode } }; // quantum_source is the backend of the metadata again
  return {
    response: { data, metadata, meta, quantum_credits: credits, opening: null },
    octets: octetsOf(answer.data),
  };
}

/** Those that are there: a verifier tells an absent member from one that is undefined. */
function optionalMembers(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function isBinary(
  answer: VerifiableAnswer,
): answer is BinaryAnswer<BinaryBytesData | BinaryBatchData<BinaryBatchType>> {
  const { data } = answer as { data: { values?: unknown; bytes?: unknown } };
  return ArrayBuffer.isView(data.values) || ArrayBuffer.isView(data.bytes);
}
