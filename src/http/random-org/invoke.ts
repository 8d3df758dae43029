import { hash } from 'node:crypto';
import type { Account, AccountDirectory } from '../../account/directory.ts';
import type { Usage } from '../../account/usage.ts';
import type { Answers } from '../../answer/answers.ts';
import { IDEMPOTENCY_LIFETIME_MS, type Idempotency } from '../../answer/idempotency.ts';
import { type Clock, periodOf } from '../../core/clock.ts';
import { ApiError } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { repeatedMember } from '../../core/repeated-member.ts';
import { boolean, wholeFrom } from '../../core/schema.ts';
import type { Scope } from '../../core/vocabulary.ts';
import { informationBits } from '../../values/value-request.ts';
import type { Exchange } from '../exchange.ts';
import { headOf } from '../head.ts';
import { type ParameterDefinition, readParameters, type ValuesOf } from '../params.ts';
import { type Reply, valueReply } from '../reply.ts';
import type { PlainRoute } from '../route-table.ts';
import { invalid, RpcError, rpcErrorOf } from './errors.ts';
import { type Draw, drawOf, isDrawMethod, needed } from './methods.ts';
import { canonicalText, newSerial, type RpcSigner, rpcTime, type Ticket } from './signed.ts';

// `POST /json-rpc/4/invoke` is the JSON-RPC interface of random.org, so that its clients run unchanged. `apiKey` is a key of this
// service. An answer is priced, counted and certified as that of the endpoint that serves it.

export interface RpcSources {
  readonly answers: Answers;
  readonly directory: AccountDirectory;
  readonly idempotency: Idempotency;
  readonly clock: Clock;
  readonly usage: (account: Account) => Promise<Usage>;
  readonly signer: RpcSigner;
}

export function randomOrgRoute(sources: RpcSources): PlainRoute {
  const rpc = new RandomOrg(sources);
  return {
    path: '/json-rpc/4/invoke',
    methods: ['POST'],
    accountIn: (body) => sources.directory.authenticate(keyIn(body))?.account,
    handler: (exchange) => rpc.reply(exchange),
  };
}

const NO_IDEMPOTENCY_KEY =
  'Invalid Request: this endpoint does not support Idempotency-Key. Draw a signed answer with a ticketId, and fetch it again with getResult.';

const TICKET_USED = 'The ticket has been used.';
const SAME_NUMBER =
  'Another answer already has the serial number of this millisecond. Send the request again.';

const KEY_IN_BODY = /"apiKey"[\t\n\r ]{0,8}:[\t\n\r ]{0,8}"(qrn_[0-9A-Za-z_]{56})"/;

/** Returns the key in a body, or ''. It finds it before the body is parsed, which costs much more: that is done in the account's turn. */
function keyIn(body: Uint8Array): string {
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
  return KEY_IN_BODY.exec(text)?.[1] ?? '';
}

const USER_DATA_LENGTH_MAX = 1_000;
/**
 * Processor time of a signed answer that is not measured: the ledger's thread looks its serial number up and stores the
 * answer, and this thread sends both there. A signed answer takes three times as long as another one, and half of that is not
 * measured.
 */
const SIGNED_US = 400;

const LICENSE = {
  type: 'none',
  text: 'The service licenses no values. The certificate says where they come from.',
  infoUrl: null,
};

/** random.org can chain tickets; this service does not. */
const UNCHAINED = { previousTicketId: null, nextTicketId: null };

const OF_TICKETS = [needed('n', wholeFrom(1, 50)), needed('showResult', boolean)] as const;
const OF_RESULT = [needed('serialNumber', wholeFrom(0, Number.MAX_SAFE_INTEGER))] as const;

type Method = (exchange: Exchange, params: JsonObject) => object | Promise<object>;

class RandomOrg {
  readonly #sources: RpcSources;
  /** The methods that draw nothing. */
  readonly #methods: Readonly<Record<string, Method>> = {
    getUsage: this.#undrawn('usage:read', [], (exchange) => this.#usage(exchange)),
    getResult: this.#undrawn('entropy:read', OF_RESULT, (exchange, given) => this.#kept(exchange, given)),
    createTickets: this.#undrawn('entropy:read', OF_TICKETS, (exchange, given) =>
      this.#newTickets(exchange, given),
    ),
    getTicket: this.#undrawn(null, [], (exchange, _, params) => this.#ticket(exchange, params)),
    verifySignature: this.#undrawn(null, [], (exchange, _, params) => this.#verified(exchange, params)),
  };

  constructor(sources: RpcSources) {
    this.#sources = sources;
  }

  async reply(exchange: Exchange): Promise<Reply> {
    let id: unknown = null;
    try {
      const call = readBody(exchange.body);
      // a call without id is a notification, which gets no answer: so nothing is drawn for it
      if (!Object.hasOwn(call, 'id')) return { head: headOf(204, []), body: new Uint8Array(0) };
      id = readId(call['id']);
      return jsonReply({ jsonrpc: '2.0', result: await this.#result(exchange, call), id });
    } catch (thrown) {
      // returns the error for the client, and logs faults
      const error = thrown instanceof RpcError ? undefined : exchange.explain(thrown);
      exchange.error = error?.code ?? 'invalid_params';
      const { code, message, data } = error === undefined ? (thrown as RpcError) : rpcErrorOf(error);
      return jsonReply({ jsonrpc: '2.0', error: { code, message, data }, id });
    }
  }

  async #result(exchange: Exchange, { jsonrpc, method, params }: JsonObject): Promise<object> {
    if (jsonrpc !== '2.0' || typeof method !== 'string')
      throw new RpcError('invalidRequest', 'Invalid Request');
    if (!isObject(params)) throw new RpcError('invalidParams', 'Invalid params: params must be an object.');
    const [, signed, kind = ''] = /^generate(Signed)?(.*)$/.exec(method) ?? [];
    if (isDrawMethod(kind)) return this.#drawn(exchange, kind, params, signed !== undefined);
    if (!Object.hasOwn(this.#methods, method)) throw new RpcError('methodNotFound', 'Method not found');
    return this.#methods[method](exchange, params);
  }

  /** Returns a method that draws nothing. Without a scope it needs no key, but a key's account is charged. */
  #undrawn<const D extends readonly ParameterDefinition[]>(
    scope: Scope | null,
    definitions: D,
    answer: (exchange: Exchange, given: ValuesOf<D>, params: JsonObject) => object | Promise<object>,
  ): Method {
    return (exchange, params) => {
      if (scope !== null) this.#authenticate(exchange, params, scope);
      const given = readParameters(definitions, new Map(Object.entries(params)));
      if (exchange.account !== undefined) exchange.admit(exchange.account);
      return answer(exchange, given, params);
    };
  }

  /** Returns the account of the key. Throws if the key is unknown or lacks the scope. */
  #authenticate(exchange: Exchange, { apiKey }: JsonObject, scope: Scope): Account {
    if (typeof apiKey !== 'string') throw invalid('apiKey');
    const found = this.#sources.directory.authenticate(apiKey);
    if (found === undefined) throw new ApiError('auth_invalid');
    // this costs as much as parsing the body, so it is done only for calls with a valid key
    exchange.spend(() => requireMembersOnce(exchange.body));
    exchange.account = found.account;
    exchange.scopes = found.key.scopes;
    exchange.requireScope(scope);
    return found.account;
  }

  async #drawn(exchange: Exchange, kind: string, params: JsonObject, isSigned: boolean): Promise<object> {
    const account = this.#authenticate(exchange, params, kind === 'Blobs' ? 'entropy:batch' : 'entropy:read');
    if (exchange.idempotencyKey !== undefined) throw new RpcError('invalidRequest', NO_IDEMPOTENCY_KEY);
    const reservation = exchange.enter(account);
    let asked: { readonly draw: Draw; readonly facts: SignedFacts | undefined } | undefined;
    try {
      requireNone(params, 'pregeneratedRandomization', 'Values of an earlier day cannot be drawn again');
      const draw = drawOf(kind, params);
      const method = `generateSigned${kind}`;
      asked = {
        draw,
        facts: isSigned ? this.#factsOf(exchange, account, method, draw.echo, params) : undefined,
      };
    } finally {
      if (asked === undefined) reservation.release();
    }
    const { draw, facts } = asked;
    if (facts !== undefined) exchange.fair.charge(account.record.number, SIGNED_US);
    const keeping = facts && {
      ...keyOf(facts.serialNumber),
      fields: [[FACTS, JSON.stringify(facts)] as const],
    };
    const request = { mode: undefined, dryRun: false, ...draw.asked };
    const {
      body: shared,
      isReplay,
      release,
    } = await exchange.spend(() =>
      this.#sources.answers.draw(exchange.asForJson(keeping), account, reservation, request),
    );
    const body = shared.slice();
    release();
    if (isReplay)
      throw facts?.ticket ? new RpcError('ticketUsed', TICKET_USED) : new RpcError('later', SAME_NUMBER, [0]);
    const usage = { bitsUsed: Math.ceil(informationBits(draw.asked.values)), ...this.#allowance(account) };
    if (facts !== undefined)
      return { ...exchange.spend(() => this.#signedResult(facts, draw, body)), cost: 0, ...usage };
    const { data, completionTime } = drawnIn(body, draw);
    return { random: { data, completionTime }, ...usage };
  }

  #factsOf(
    exchange: Exchange,
    account: Account,
    method: string,
    echo: JsonObject,
    params: JsonObject,
  ): SignedFacts {
    const ticket = this.#ticketOf(exchange, account, params);
    const hashedApiKey = hash('sha512', String(params['apiKey']), 'base64');
    const serialNumber = ticket?.serialNumber ?? newSerial(exchange.atMs);
    return { method, hashedApiKey, echo, userData: userDataOf(params), ticket, serialNumber };
  }

  #ticketOf(exchange: Exchange, account: Account, { ticketId = null }: JsonObject): Ticket | null {
    if (ticketId === null) return null;
    if (typeof ticketId !== 'string') throw invalid('ticketId');
    const ticket = this.#sources.signer.openTicket(ticketId);
    if (ticket.accountNumber !== account.record.number)
      throw new RpcError('ticketOfAnotherKey', 'The ticket was created with a key of another account.');
    // an answer is kept for as long after the ticket is used, so a used ticket expires before its answer is forgotten
    if (exchange.atMs >= ticket.createdAtMs + IDEMPOTENCY_LIFETIME_MS)
      throw new RpcError('ticketUnknown', 'The ticket has expired. A ticket is valid for 24 hours.');
    return ticket;
  }

  #signedResult(facts: SignedFacts, draw: Draw, body: Uint8Array) {
    const { method, hashedApiKey, echo, userData, ticket, serialNumber } = facts;
    const { data, completionTime, certificate } = drawnIn(body, draw);
    const random: JsonObject = {
      ...{ method, hashedApiKey, ...echo, pregeneratedRandomization: null, data },
      ...{ license: LICENSE, licenseData: null, userData },
      ...{ ticketData: ticket && { ticketId: ticket.ticketId, ...UNCHAINED }, completionTime, serialNumber },
    };
    return { random, signature: this.#sources.signer.sign(random), certificate };
  }

  /**
   * Returns what is left of the account's limits. Bits cost nothing outside pure mode, which this interface never uses by
   * itself.
   */
  #allowance({ meter }: Account): object {
    const { clock } = this.#sources;
    const { retryAfterMs } = meter.peek(clock.monotonicMs());
    return {
      bitsLeft: Number.MAX_SAFE_INTEGER,
      requestsLeft: meter.left(periodOf(clock.wallMs())).requests,
      advisoryDelay: Math.max(1, retryAfterMs), // clients take 0 as absent, and then wait for a second
    };
  }

  async #usage(exchange: Exchange): Promise<object> {
    const account = exchange.account!;
    const { by_mode: modes, requests } = await exchange.fair.lookUp(exchange.owner, () =>
      this.#sources.usage(account),
    );
    return {
      status: 'running',
      creationTime: timeOf(account.record.createdAtMs),
      totalBits: 8 * Object.values(modes).reduce((sum, mode) => sum + mode.bytes, 0),
      totalRequests: requests.used,
      ...this.#allowance(account),
    };
  }

  async #kept(exchange: Exchange, { serialNumber }: ValuesOf<typeof OF_RESULT>): Promise<object> {
    const account = exchange.account!;
    const result = await this.#resultOf(exchange, account.record.number, serialNumber);
    if (result === undefined)
      throw new RpcError(
        'resultUnknown',
        'There is no result with this serial number from the last 24 hours.',
      );
    return { ...result, bitsUsed: 0, ...this.#allowance(account) };
  }

  /**
   * Returns a kept answer as it was sent. Signing a long answer takes about 10 ms, so that runs in a turn of its owner. Until
   * then the answer holds a megabyte, so all of this counts as one look-up.
   */
  #resultOf(exchange: Exchange, accountNumber: number, serialNumber: number) {
    const { fair } = exchange;
    return fair.lookUp(exchange.owner, async () => {
      const { key: keyText, fingerprint } = keyOf(serialNumber);
      const asked = { accountNumber, keyText, fingerprint };
      const found = await this.#sources.idempotency.kept(asked, exchange.atMs);
      if (found === undefined) return undefined;
      return fair.inTurn(exchange.owner, () => {
        if (exchange.isGone) throw new ApiError('overloaded', { retryAfterS: 1 }); // nobody reads this error
        const facts = JSON.parse(found.fields[0][1]) as SignedFacts;
        const draw = drawOf(facts.method.slice('generateSigned'.length), facts.echo);
        return this.#signedResult(facts, draw, found.body);
      });
    });
  }

  #newTickets(exchange: Exchange, { n, showResult }: ValuesOf<typeof OF_TICKETS>): object {
    const { number } = exchange.account!.record;
    return Array.from({ length: n }, () => {
      const { ticketId, createdAtMs } = this.#sources.signer.newTicket(number, exchange.atMs, showResult);
      return { ticketId, creationTime: timeOf(createdAtMs), ...UNCHAINED };
    });
  }

  /** Answers getTicket. Needs no key: whoever has a ticket may see its answer, if the ticket was made with showResult. */
  async #ticket(exchange: Exchange, { ticketId }: JsonObject): Promise<object> {
    if (typeof ticketId !== 'string') throw invalid('ticketId');
    const { accountNumber, serialNumber, showResult, createdAtMs } =
      this.#sources.signer.openTicket(ticketId);
    const result = await this.#resultOf(exchange, accountNumber, serialNumber);
    return {
      ticketId,
      showResult,
      creationTime: timeOf(createdAtMs),
      ...UNCHAINED,
      hashedApiKey: result?.random['hashedApiKey'] ?? null,
      usedTime: result?.random['completionTime'] ?? null,
      serialNumber: result === undefined ? null : serialNumber,
      result: showResult ? (result ?? null) : null,
    };
  }

  #verified(exchange: Exchange, { random, signature }: JsonObject): object {
    if (!isObject(random)) throw invalid('random');
    if (typeof signature !== 'string') throw invalid('signature');
    return { authenticity: exchange.spend(() => this.#sources.signer.isAuthentic(random, signature)) };
  }
}

/**
 * The facts of a signed answer beside its values. They are stored with the answer, so that getResult returns the same object again.
 * A future format would have to read this one too.
 */
interface SignedFacts {
  readonly method: string;
  /** SHA-512 of the API key, in base64. */
  readonly hashedApiKey: string;
  readonly echo: JsonObject;
  readonly userData: unknown;
  readonly ticket: Pick<Ticket, 'ticketId'> | null;
  readonly serialNumber: number;
}

/** The name under which the facts are kept. */
const FACTS = 'X-JSON-RPC';

/**
 * Returns the key under which a signed answer is kept: its serial number. All have one fingerprint, so getResult needs only
 * the number.
 */
function keyOf(serialNumber: number) {
  return { key: `json-rpc/${serialNumber}`, fingerprint: 'json-rpc signed' };
}

/** Returns the members of the random object that come from an answer of the service. */
function drawnIn(body: Uint8Array, { asked, dataOf }: Draw) {
  const { data, metadata } = JSON.parse(Buffer.from(body).toString('utf8')) as Record<string, JsonObject>;
  const { timestamp, certificate_id: id, certificate_salt: salt } = metadata;
  const values = data[asked.valueKey] as never;
  return {
    data: dataOf === undefined ? values : dataOf(values),
    completionTime: rpcTime(String(timestamp)),
    certificate: { id, salt },
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses the body. Throws `parseError` if it is not JSON, `invalidRequest` if it is not one object. */
function readBody(body: Uint8Array): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(body));
  } catch {
    throw new RpcError('parseError', 'Parse error');
  }
  if (isObject(value) && !isDeeper(value, DEPTH_MAX)) return value;
  throw new RpcError(
    'invalidRequest',
    `Invalid Request: the body must be one call: an object with at most ${DEPTH_MAX} levels of nesting. The service does not support batches.`,
  );
}

/** Bound on the nesting of a call, because making JSON canonical takes time proportional to the square of its depth. */
const DEPTH_MAX = 64;

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((each) => isDeeper(each, depth - 1));
}

/** Throws `invalidRequest` when an object in the body has a member twice. The body must be valid JSON. */
function requireMembersOnce(body: Uint8Array): void {
  const repeated = repeatedMember(utf8.decode(body));
  if (repeated === undefined) return;
  throw new RpcError('invalidRequest', `Invalid Request: ${repeated} must not occur more than once.`);
}

function readId(id: unknown): unknown {
  const isExact = Number.isSafeInteger(id) || (Number.isFinite(id) && !Number.isInteger(id));
  if (id === null || typeof id === 'string' || isExact) return id;
  throw new RpcError(
    'invalidRequest',
    'Invalid Request: id must be a string, a number within ±(2^53 - 1), or null.',
  );
}

/** Throws `outOfRange` when a call gives a parameter of random.org that this service does not support. */
function requireNone(params: JsonObject, name: string, why: string): void {
  if ((params[name] ?? null) !== null) throw new RpcError('outOfRange', `${why}. Omit ${name}.`, [name]);
}

function userDataOf(params: JsonObject): unknown {
  requireNone(params, 'licenseData', 'The service does not license values');
  const userData = params['userData'] ?? null;
  // an answer is signed after it was drawn and paid for, so data that cannot be signed must be refused before
  if (canonicalText(userData, 'userData').length <= USER_DATA_LENGTH_MAX) return userData;
  const message = `userData must have at most ${USER_DATA_LENGTH_MAX} characters as JSON.`;
  throw new RpcError('outOfRange', message, ['userData', 0, USER_DATA_LENGTH_MAX]);
}

function timeOf(atMs: number): string {
  return rpcTime(new Date(atMs).toISOString());
}

function jsonReply(value: object): Reply {
  return { ...valueReply(200, 'json', value), hasValues: true };
}
