import type { Account, AccountDirectory } from '../../account/directory.ts';
import type { Usage } from '../../account/usage.ts';
import type { Answers } from '../../answer/answers.ts';
import { IDEMPOTENCY_LIFETIME_MS, type Idempotency } from '../../answer/idempotency.ts';
import { type Clock, periodOf } from '../../core/clock.ts';
import { ApiError } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { repeatedMember } from '../../core/repeated-member.ts';
import type { Scope } from '../../core/vocabulary.ts';
import { informationBits } from '../../values/value-request.ts';
import type { Exchange } from '../exchange.ts';
import { headOf } from '../head.ts';
import { readParameters } from '../params.ts';
import { type Reply, valueReply } from '../reply.ts';
import type { PlainRoute } from '../route-table.ts';
import { invalid, RpcError, rpcErrorOf } from './errors.ts';
import { type Draw, drawOf, flag, isDrawMethod, whole } from './methods.ts';
import {
  canonicalText,
  hashedKey,
  type Kept,
  newSerial,
  type RpcSigner,
  randomObject,
  rpcTime,
  SIGNED_FINGERPRINT,
  type SignedFacts,
  serialKey,
  type Ticket,
} from './signed.ts';

/**
 * `POST /json-rpc/4/invoke`: the JSON-RPC interface of random.org over the service's own requests, so that its clients run
 * unchanged. `apiKey` is a key of the service. An answer costs, counts and is certified as that of the endpoint that serves it.
 */

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
    scope: null,
    limited: false,
    accountIn: (body) => rpc.accountIn(body),
    handler: (exchange) => rpc.reply(exchange),
  };
}

const NO_IDEMPOTENCY_KEY =
  'Invalid Request: no Idempotency-Key is taken here; draw a signed answer with a ticketId, and fetch it again with getResult.';

const TICKET_USED = 'The ticket has been used.';
const SAME_NUMBER = 'Another answer of this millisecond has its number; send the request again.';

/** Looked for before the body is read as JSON, which costs much more. */
const KEY_IN_BODY = /"apiKey"[\t\n\r ]{0,8}:[\t\n\r ]{0,8}"(qrn_[0-9A-Za-z_]{56})"/;
const USER_DATA_LENGTH_MAX = 1_000;
/**
 * What a signed answer takes beside what is measured: the ledger's thread looks its number up and keeps it, and this thread sends
 * both there. In all it takes three times what an answer that is not signed does, and the half of it is not measured.
 */
const SIGNED_US = 400;

const OF_TICKETS = [whole('n', 1, 50), flag('showResult')] as const;
const OF_RESULT = [whole('serialNumber', 0, Number.MAX_SAFE_INTEGER)] as const;

class RandomOrg {
  readonly #sources: RpcSources;
  readonly #methods: Readonly<Record<string, (exchange: Exchange, params: JsonObject) => Promise<object>>> = {
    getUsage: (exchange, params) => this.#usage(exchange, params),
    getResult: (exchange, params) => this.#kept(exchange, params),
    createTickets: (exchange, params) => this.#tickets(exchange, params),
    getTicket: (exchange, params) => this.#ticket(exchange, params),
    verifySignature: async (exchange, params) => {
      this.#admit(exchange);
      return exchange.spend(() => this.#verified(params));
    },
  };

  constructor(sources: RpcSources) {
    this.#sources = sources;
  }

  /** The account of the key in a body that is not read yet: the call is read in its turn, else in that of all without a key. */
  accountIn(body: Uint8Array): Account | undefined {
    const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
    const [, keyText = ''] = KEY_IN_BODY.exec(text) ?? [];
    return this.#sources.directory.authenticate(keyText)?.account;
  }

  async reply(exchange: Exchange): Promise<Reply> {
    let id: unknown = null;
    try {
      const call = readBody(exchange.body);
      // a notification gets no answer, so nothing is drawn for it
      if (!Object.hasOwn(call, 'id')) return { head: headOf(204, []), body: new Uint8Array(0) };
      id = readId(call['id']);
      return jsonReply({ jsonrpc: '2.0', result: await this.#result(exchange, call), id });
    } catch (thrown) {
      const { code, message, data } = this.#explain(exchange, thrown);
      return jsonReply({ jsonrpc: '2.0', error: { code, message, data }, id });
    }
  }

  /** What a client is told of anything thrown; a fault is logged. */
  #explain(exchange: Exchange, thrown: unknown): RpcError {
    if (thrown instanceof RpcError) {
      exchange.error = 'invalid_params';
      return thrown;
    }
    const error = exchange.pipeline.explain(exchange, thrown);
    exchange.error = error.code;
    return rpcErrorOf(error);
  }

  async #result(exchange: Exchange, { jsonrpc, method, params }: JsonObject): Promise<object> {
    if (jsonrpc !== '2.0' || typeof method !== 'string')
      throw new RpcError('invalidRequest', 'Invalid Request');
    if (!isObject(params)) throw new RpcError('invalidParams', 'Invalid params: send an object.');
    const [, signed, kind = ''] = /^generate(Signed)?(.*)$/.exec(method) ?? [];
    if (isDrawMethod(kind)) return this.#drawn(exchange, kind, params, signed !== undefined);
    if (!Object.hasOwn(this.#methods, method)) throw new RpcError('methodNotFound', 'Method not found');
    return this.#methods[method](exchange, params);
  }

  /** A call that needs no key counts against the rate of the account in whose turn it is served. */
  #admit(exchange: Exchange): void {
    if (exchange.account !== undefined) exchange.admit(exchange.account);
  }

  /** The account of a key that has the scope. */
  async #account(exchange: Exchange, params: JsonObject, scope: Scope): Promise<Account> {
    const { apiKey } = params;
    if (typeof apiKey !== 'string') throw invalid('apiKey');
    const found = this.#sources.directory.authenticate(apiKey);
    if (found === undefined) throw new ApiError('auth_invalid');
    // it costs as much as reading the body, so it is done for keys alone
    exchange.spend(() => requireMembersOnce(exchange.body));
    exchange.account = found.account;
    exchange.scopes = found.key.scopes;
    exchange.requireScope(scope);
    return found.account;
  }

  async #drawn(exchange: Exchange, kind: string, params: JsonObject, isSigned: boolean): Promise<object> {
    const scope = kind === 'Blobs' ? 'entropy:batch' : 'entropy:read';
    const account = await this.#account(exchange, params, scope);
    if (exchange.idempotencyKey !== undefined) throw new RpcError('invalidRequest', NO_IDEMPOTENCY_KEY);
    const reservation = exchange.enter(account);
    let draw: Draw;
    let facts: SignedFacts | undefined;
    try {
      requireNone(params, 'pregeneratedRandomization', 'Values of an earlier day cannot be drawn again');
      draw = drawOf(kind, params);
      if (isSigned) facts = this.#factsOf(exchange, account, `generateSigned${kind}`, draw, params);
    } catch (error) {
      reservation.release();
      throw error;
    }
    if (facts !== undefined) exchange.pipeline.fair.charge(account.record.number, SIGNED_US);
    const ask = exchange.asForJson(facts && keepingOf(facts));
    const request = { mode: undefined, dryRun: false, ...draw.asked };
    const drawing = exchange.spend(() => this.#sources.answers.draw(ask, account, reservation, request));
    const { body: shared, isReplay, release } = await drawing;
    const body = shared.slice();
    release();
    if (isReplay)
      throw facts?.ticket ? new RpcError('ticketUsed', TICKET_USED) : new RpcError('later', SAME_NUMBER, [0]);
    const told = { bitsUsed: Math.ceil(informationBits(draw.asked.values)), ...this.#allowance(account) };
    if (facts !== undefined)
      return { ...exchange.spend(() => this.#signedResult({ facts, body }, draw)), cost: 0, ...told };
    const { data, completedAt } = valuesOf(body, draw);
    return { random: { data, completionTime: rpcTime(completedAt) }, ...told };
  }

  /** What a signed answer says beside its values. */
  #factsOf(
    exchange: Exchange,
    account: Account,
    method: string,
    { echo }: Draw,
    params: JsonObject,
  ): SignedFacts {
    const ticket = this.#ticketOf(exchange, account, params);
    return {
      method,
      hashedApiKey: hashedKey(params['apiKey'] as string),
      echo,
      userData: userDataOf(params),
      ticket: ticket === null ? null : { ticketId: ticket.ticketId, showResult: ticket.showResult },
      serialNumber: ticket?.serialNumber ?? newSerial(exchange.atMs),
    };
  }

  #ticketOf(exchange: Exchange, account: Account, { ticketId = null }: JsonObject): Ticket | null {
    if (ticketId === null) return null;
    if (typeof ticketId !== 'string') throw invalid('ticketId');
    const ticket = this.#sources.signer.openTicket(ticketId);
    if (ticket.accountNumber !== account.record.number)
      throw new RpcError('ticketOfAnotherKey', 'The ticket was created with a key of another account.');
    // its answer is kept for as long from its use, so the ticket is over before its use could be forgotten
    if (exchange.atMs >= ticket.createdAtMs + IDEMPOTENCY_LIFETIME_MS)
      throw new RpcError('ticketUnknown', 'The ticket has expired: it is good for 24 hours.');
    return ticket;
  }

  #signedResult({ facts, body }: Kept, draw: Draw) {
    const { data, completedAt, certificate } = valuesOf(body, draw);
    const random = randomObject(facts, data, completedAt);
    return { random, signature: this.#sources.signer.sign(random), certificate };
  }

  /** What an account may still do. Bits cost nothing outside of pure mode, which is never drawn unasked. */
  #allowance({ meter }: Account): object {
    const { clock } = this.#sources;
    const { retryAfterMs } = meter.peek(clock.monotonicMs());
    return {
      bitsLeft: Number.MAX_SAFE_INTEGER,
      requestsLeft: meter.left(periodOf(clock.wallMs())).requests,
      advisoryDelay: Math.max(1, retryAfterMs), // clients take 0 for absent, and wait a second
    };
  }

  async #usage(exchange: Exchange, params: JsonObject): Promise<object> {
    const account = await this.#account(exchange, params, 'usage:read');
    exchange.admit(account);
    const { usage } = this.#sources;
    const { by_mode: modes, requests } = await exchange.pipeline.fair.lookUp(exchange.owner, () =>
      usage(account),
    );
    return {
      status: 'running',
      creationTime: timeOf(account.record.createdAtMs),
      totalBits: 8 * Object.values(modes).reduce((sum, mode) => sum + mode.bytes, 0),
      totalRequests: requests.used,
      ...this.#allowance(account),
    };
  }

  async #kept(exchange: Exchange, params: JsonObject): Promise<object> {
    const account = await this.#account(exchange, params, 'entropy:read');
    const { serialNumber } = readParameters(OF_RESULT, new Map(Object.entries(params)));
    exchange.admit(account);
    const result = await this.#resultOf(exchange, account.record.number, serialNumber);
    if (result === undefined)
      throw new RpcError('resultUnknown', 'There is no result with this serial number of the last 24 hours.');
    return { ...result, bitsUsed: 0, ...this.#allowance(account) };
  }

  /**
   * A kept answer as it was given. To sign a long one takes some 10 ms, so it has a turn of its own; until then it holds a
   * megabyte, so it is a look-up to the end.
   */
  #resultOf(exchange: Exchange, accountNumber: number, serialNumber: number) {
    const { fair } = exchange.pipeline;
    return fair.lookUp(exchange.owner, async () => {
      const request = { accountNumber, keyText: serialKey(serialNumber), fingerprint: SIGNED_FINGERPRINT };
      const found = await this.#sources.idempotency.kept(request, exchange.atMs);
      if (found === undefined) return undefined;
      return fair.inTurn(exchange.owner, () => {
        if (exchange.isGone) throw new ApiError('overloaded', { retryAfterS: 1 }); // nobody waits for it any more
        const facts = JSON.parse(found.fields[0][1]) as SignedFacts;
        const draw = drawOf(facts.method.slice('generateSigned'.length), facts.echo);
        return this.#signedResult({ facts, body: found.body }, draw);
      });
    });
  }

  async #tickets(exchange: Exchange, params: JsonObject): Promise<object> {
    const account = await this.#account(exchange, params, 'entropy:read');
    const { n, showResult } = readParameters(OF_TICKETS, new Map(Object.entries(params)));
    exchange.admit(account);
    return Array.from({ length: n }, () => {
      const { signer } = this.#sources;
      const { ticketId, createdAtMs } = signer.newTicket(account.record.number, exchange.atMs, showResult);
      return { ticketId, creationTime: timeOf(createdAtMs), previousTicketId: null, nextTicketId: null };
    });
  }

  /** Needs no key: whoever has a ticket may see what became of it. */
  async #ticket(exchange: Exchange, { ticketId }: JsonObject): Promise<object> {
    this.#admit(exchange);
    if (typeof ticketId !== 'string') throw invalid('ticketId');
    const { accountNumber, serialNumber, showResult, createdAtMs } =
      this.#sources.signer.openTicket(ticketId);
    const result = await this.#resultOf(exchange, accountNumber, serialNumber);
    return {
      ticketId,
      showResult,
      creationTime: timeOf(createdAtMs),
      previousTicketId: null,
      nextTicketId: null,
      hashedApiKey: result?.random['hashedApiKey'] ?? null,
      usedTime: result?.random['completionTime'] ?? null,
      serialNumber: result === undefined ? null : serialNumber,
      result: showResult ? (result ?? null) : null,
    };
  }

  #verified({ random, signature }: JsonObject): object {
    if (!isObject(random)) throw invalid('random');
    if (typeof signature !== 'string') throw invalid('signature');
    return { authenticity: this.#sources.signer.isAuthentic(random, signature) };
  }
}

/** A signed answer is kept under its serial number, as under an Idempotency-Key. */
function keepingOf(facts: SignedFacts) {
  return {
    key: serialKey(facts.serialNumber),
    fingerprint: SIGNED_FINGERPRINT,
    fields: [['X-JSON-RPC', JSON.stringify(facts)] as const],
  };
}

/** What an answer of the service, as JSON, has of what is told. */
function valuesOf(body: Uint8Array, { asked, dataOf }: Draw) {
  const { data, metadata } = JSON.parse(Buffer.from(body).toString('utf8')) as Record<string, JsonObject>;
  const { timestamp, certificate_id: id, certificate_salt: salt } = metadata;
  return { data: dataOf(data[asked.valueKey]), completedAt: String(timestamp), certificate: { id, salt } };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Throws `parseError` for what is not JSON, `invalidRequest` for what is not one object. */
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
    `Invalid Request: send one call as an object, nested at most ${DEPTH_MAX} deep; batches are not served.`,
  );
}

/** To make a text canonical takes time in proportion to the square of its depth. */
const DEPTH_MAX = 64;

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((each) => isDeeper(each, depth - 1));
}

/** Throws `invalidRequest` when an object in the body, which is valid JSON, has a member twice. */
function requireMembersOnce(body: Uint8Array): void {
  const repeated = repeatedMember(utf8.decode(body));
  if (repeated === undefined) return;
  throw new RpcError('invalidRequest', `Invalid Request: ${repeated} is there twice.`);
}

function readId(id: unknown): unknown {
  const isExact = Number.isSafeInteger(id) || (Number.isFinite(id) && !Number.isInteger(id));
  if (id === null || typeof id === 'string' || isExact) return id;
  throw new RpcError(
    'invalidRequest',
    'Invalid Request: give id as a string, a number within ±(2^53 - 1) or null.',
  );
}

/** Throws `outOfRange` where a parameter of random.org is given that the service has nothing for. */
function requireNone(params: JsonObject, name: string, why: string): void {
  if ((params[name] ?? null) !== null) throw new RpcError('outOfRange', `${why}: leave out ${name}.`, [name]);
}

function userDataOf(params: JsonObject): unknown {
  requireNone(params, 'licenseData', 'The service licenses no values');
  const userData = params['userData'] ?? null;
  // an answer is signed after it is drawn and paid for, so what cannot be signed is refused before
  if (canonicalText(userData, 'userData').length <= USER_DATA_LENGTH_MAX) return userData;
  const message = `Give userData with at most ${USER_DATA_LENGTH_MAX} characters as JSON.`;
  throw new RpcError('outOfRange', message, ['userData', 0, USER_DATA_LENGTH_MAX]);
}

function timeOf(atMs: number): string {
  return rpcTime(new Date(atMs).toISOString());
}

function jsonReply(value: object): Reply {
  return { ...valueReply(200, 'json', value), hasValues: true };
}
