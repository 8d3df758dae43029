import type { Account, AccountDirectory } from '../../account/directory.ts';
import type { Reservation } from '../../account/reservation.ts';
import type { Usage } from '../../account/usage.ts';
import type { Drawn } from '../../answer/answer.ts';
import type { Answers } from '../../answer/answers.ts';
import { IDEMPOTENCY_LIFETIME_MS, type Idempotency } from '../../answer/idempotency.ts';
import { type Clock, periodOf } from '../../core/clock.ts';
import { ApiError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { repeatedMember } from '../../core/repeated-member.ts';
import type { Scope } from '../../core/vocabulary.ts';
import { informationBits } from '../../values/value-request.ts';
import type { Exchange } from '../exchange.ts';
import { headOf } from '../head.ts';
import { type Reply, valueReply } from '../reply.ts';
import type { PlainRoute } from '../route-table.ts';
import { RpcError, rpcErrorOf } from './errors.ts';
import { type Draw, type DrawMethod, drawOf, invalid, isDrawMethod, type Params } from './methods.ts';
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
  unixRpcTime,
} from './signed.ts';

/**
 * `POST /json-rpc/4/invoke`: the JSON-RPC interface of random.org over the service's own requests, so that its clients run
 * unchanged. `apiKey` is a key of the service. An answer costs, counts and is certified as that of the endpoint that serves it.
 */

const JSON_RPC_PATH = '/json-rpc/4/invoke';

export interface RpcSources {
  readonly answers: Answers;
  readonly directory: AccountDirectory;
  readonly idempotency: Idempotency;
  readonly clock: Clock;
  readonly usage: (account: Account) => Promise<Usage>;
  readonly signer: RpcSigner;
}

export function jsonRpcRoute(sources: RpcSources): PlainRoute {
  const rpc = new JsonRpc(sources);
  return {
    path: JSON_RPC_PATH,
    methods: ['POST'],
    scope: null,
    limited: false,
    accountIn: (body) => rpc.accountIn(body),
    handler: (exchange) => rpc.reply(exchange),
  };
}

type Id = string | number | null;

interface Call {
  readonly method: string;
  readonly params: Params;
}

const NO_IDEMPOTENCY_KEY =
  'Invalid Request: no Idempotency-Key is taken here; draw a signed answer with a ticketId, and fetch it again with getResult.';

/** Looked for before the body is read as JSON, which costs much more. */
const KEY_IN_BODY = /"apiKey"[\t\n\r ]{0,8}:[\t\n\r ]{0,8}"(qrn_[0-9A-Za-z_]{56})"/;
const TICKETS_MAX = 50;
const USER_DATA_LENGTH_MAX = 1_000;
/** Serial numbers of one millisecond may collide; the third time is not chance. */
const SERIAL_TRIES = 3;

class JsonRpc {
  readonly #sources: RpcSources;

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
    let id: Id = null;
    try {
      const read = readBody(exchange.body);
      // a notification gets no answer, so nothing is drawn for it
      if (!Object.hasOwn(read, 'id')) return { head: headOf(204, []), body: new Uint8Array(0) };
      id = readId(read['id']);
      const result = await this.#result(exchange, readCall(read));
      return jsonReply({ jsonrpc: '2.0', result, id });
    } catch (thrown) {
      const { code, message, data } = this.#explain(exchange, thrown);
      return jsonReply({ jsonrpc: '2.0', error: { code, message, data }, id });
    }
  }

  /** What a client is told of anything thrown; a fault is logged. */
  #explain(exchange: Exchange, thrown: unknown): RpcError {
    if (thrown instanceof RpcError) return thrown;
    const error = exchange.pipeline.explain(exchange, thrown);
    exchange.error = error.code;
    return rpcErrorOf(error);
  }

  async #result(exchange: Exchange, { method, params }: Call): Promise<object> {
    const [, signed, kind = ''] = /^generate(Signed)?(.*)$/.exec(method) ?? [];
    if (isDrawMethod(kind)) return this.#drawn(exchange, kind, params, signed !== undefined);
    switch (method) {
      case 'getUsage':
        return this.#usage(exchange, params);
      case 'getResult':
        return this.#kept(exchange, params);
      case 'createTickets':
        return this.#tickets(exchange, params);
      case 'getTicket':
        return this.#ticket(exchange, params);
      case 'verifySignature':
        return exchange.spend(() => this.#verified(params));
      default:
        throw new RpcError('methodNotFound', 'Method not found');
    }
  }

  /** The account of a key that has the scope. */
  async #account(exchange: Exchange, params: Params, scope: Scope): Promise<Account> {
    const { apiKey } = params;
    if (typeof apiKey !== 'string') throw invalid('apiKey');
    const { directory } = this.#sources;
    if (directory.isOutdated) await directory.refreshInTime();
    let found = directory.authenticate(apiKey);
    if (found === undefined && directory.mayBeNew(apiKey)) {
      await directory.refreshInTime();
      found = directory.authenticate(apiKey);
    }
    if (found === undefined) throw new ApiError('auth_invalid');
    // it costs as much as reading the body, so it is done for keys alone
    exchange.spend(() => requireMembersOnce(exchange.body));
    exchange.account = found.account;
    exchange.scopes = found.key.scopes;
    exchange.requireScope(scope);
    return found.account;
  }

  async #drawn(exchange: Exchange, kind: DrawMethod, params: Params, isSigned: boolean): Promise<object> {
    const account = await this.#account(
      exchange,
      params,
      kind === 'Blobs' ? 'entropy:batch' : 'entropy:read',
    );
    if (exchange.idempotencyKey !== undefined) throw new RpcError('invalidRequest', NO_IDEMPOTENCY_KEY);
    const reservation = await exchange.enter(account);
    let draw: Draw;
    let signing: Omit<SignedFacts, 'serialNumber'> | undefined;
    let ticket: Ticket | null;
    try {
      draw = drawOf(kind, params);
      requireFresh(params);
      ticket = isSigned ? this.#ticketOf(exchange, account, params) : null;
      signing = isSigned ? signingOf(kind, draw, params, ticket) : undefined;
    } catch (error) {
      reservation.release();
      throw error;
    }
    const bitsUsed = Math.ceil(informationBits(draw.request.values));
    if (signing === undefined) {
      const { body } = await this.#answer(exchange, account, reservation, draw, undefined);
      const { data, completedAt } = valuesOf(body, draw);
      const random = { data, completionTime: rpcTime(completedAt) };
      return { random, bitsUsed, ...this.#allowance(account) };
    }
    const kept = await this.#keptAnswer(exchange, account, reservation, draw, signing, ticket);
    const result = exchange.spend(() => this.#signedResult(kept, draw));
    return { ...result, cost: 0, bitsUsed, ...this.#allowance(account) };
  }

  /** The answer is kept under its serial number, as under an Idempotency-Key. */
  async #keptAnswer(
    exchange: Exchange,
    account: Account,
    reservation: Reservation,
    draw: Draw,
    signing: Omit<SignedFacts, 'serialNumber'>,
    ticket: Ticket | null,
  ): Promise<Kept> {
    for (let tries = 1, reserved = reservation; ; tries++) {
      const serialNumber = ticket?.serialNumber ?? newSerial(exchange.atMs);
      const facts = { ...signing, serialNumber };
      const answer = await this.#answer(exchange, account, reserved, draw, facts);
      if (!answer.isReplay) return { facts, body: answer.body };
      if (ticket !== null) throw new RpcError('ticketUsed', 'The ticket has been used.');
      if (tries === SERIAL_TRIES) throw new ApiError('internal_error');
      reserved = await exchange.enter(account);
    }
  }

  #ticketOf(exchange: Exchange, account: Account, params: Params): Ticket | null {
    const ticketId = params['ticketId'] ?? null;
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

  /** The body is a copy. */
  async #answer(
    exchange: Exchange,
    account: Account,
    reservation: Reservation,
    draw: Draw,
    facts: SignedFacts | undefined,
  ): Promise<Omit<Drawn, 'release'>> {
    const keeping = facts && {
      key: serialKey(facts.serialNumber),
      fingerprint: SIGNED_FINGERPRINT,
      fields: [['X-JSON-RPC', JSON.stringify(facts)] as const],
    };
    const ask = exchange.asForJson(keeping);
    const { answers } = this.#sources;
    const drawing = exchange.spend(() => answers.draw(ask, account, reservation, draw.request));
    const { body, isReplay, release } = await drawing;
    const kept = { body: body.slice(), isReplay };
    release();
    return kept;
  }

  #signedResult({ facts, body }: Kept, draw: Pick<Draw, 'dataOf' | 'request'>): object {
    const { data, completedAt, certificate } = valuesOf(body, draw);
    const random = randomObject(facts, data, completedAt);
    return { random, signature: this.#sources.signer.sign(random), certificate };
  }

  /** What an account may still do. Bits cost nothing outside of pure mode, which is never drawn unasked. */
  #allowance(account: Account): object {
    const { clock } = this.#sources;
    const { meter } = account;
    const { retryAfterMs } = meter.peek(clock.monotonicMs());
    return {
      bitsLeft: Number.MAX_SAFE_INTEGER,
      requestsLeft: meter.left(periodOf(clock.wallMs())).requests,
      advisoryDelay: Math.max(1, retryAfterMs), // clients take 0 for absent, and wait a second
    };
  }

  async #usage(exchange: Exchange, params: Params): Promise<object> {
    const account = await this.#account(exchange, params, 'usage:read');
    exchange.admit(account);
    const { by_mode: modes, requests } = await exchange.pipeline.fair.lookUp(exchange.owner, () =>
      this.#sources.usage(account),
    );
    const bytes = Object.values(modes).reduce((sum, mode) => sum + mode.bytes, 0);
    return {
      status: 'running',
      creationTime: unixRpcTime(account.record.createdAtMs),
      totalBits: 8 * bytes,
      totalRequests: requests.used,
      ...this.#allowance(account),
    };
  }

  async #kept(exchange: Exchange, params: Params): Promise<object> {
    const account = await this.#account(exchange, params, 'entropy:read');
    const { serialNumber } = params;
    if (typeof serialNumber !== 'number' || !Number.isSafeInteger(serialNumber) || serialNumber < 0)
      throw invalid('serialNumber');
    exchange.admit(account);
    const { number } = account.record;
    const kept = await exchange.pipeline.fair.lookUp(number, () =>
      this.#find(number, serialNumber, exchange.atMs),
    );
    if (kept === undefined)
      throw new RpcError('resultUnknown', 'There is no result with this serial number of the last 24 hours.');
    const result = await this.#resultOf(exchange, kept);
    return { ...result, bitsUsed: 0, ...this.#allowance(account) };
  }

  /** A kept answer as it was given. To sign a long one takes some 10 ms, so it has a turn of its own. */
  async #resultOf(exchange: Exchange, kept: Kept): Promise<object> {
    await exchange.pipeline.fair.turn(exchange.owner, 0);
    const { method, echo } = kept.facts;
    return exchange.spend(() => {
      const draw = drawOf(method.slice('generateSigned'.length) as DrawMethod, echo);
      return this.#signedResult(kept, draw);
    });
  }

  async #find(accountNumber: number, serialNumber: number, nowMs: number): Promise<Kept | undefined> {
    const request = { accountNumber, keyText: serialKey(serialNumber), fingerprint: SIGNED_FINGERPRINT };
    const { idempotency } = this.#sources;
    const kept = await idempotency.kept(request, nowMs);
    return kept && { facts: JSON.parse(kept.fields[0][1]) as SignedFacts, body: kept.body };
  }

  async #tickets(exchange: Exchange, params: Params): Promise<object> {
    const account = await this.#account(exchange, params, 'entropy:read');
    const { n, showResult } = params;
    if (typeof n !== 'number' || !Number.isInteger(n)) throw invalid('n');
    if (n < 1 || n > TICKETS_MAX)
      throw new RpcError('outOfRange', `Give n from 1 to ${TICKETS_MAX}.`, ['n', 1, TICKETS_MAX]);
    if (typeof showResult !== 'boolean') throw invalid('showResult');
    exchange.admit(account);
    return Array.from({ length: n }, () => {
      const { ticketId, createdAtMs } = this.#sources.signer.newTicket(
        account.record.number,
        exchange.atMs,
        showResult,
      );
      return { ticketId, creationTime: unixRpcTime(createdAtMs), previousTicketId: null, nextTicketId: null };
    });
  }

  /** Needs no key: whoever has a ticket may see what became of it. */
  async #ticket(exchange: Exchange, { ticketId }: Params): Promise<object> {
    if (typeof ticketId !== 'string') throw invalid('ticketId');
    const { accountNumber, serialNumber, showResult, createdAtMs } =
      this.#sources.signer.openTicket(ticketId);
    const kept = await this.#find(accountNumber, serialNumber, exchange.atMs);
    const creationTime = unixRpcTime(createdAtMs);
    const facts = { ticketId, showResult, creationTime, previousTicketId: null, nextTicketId: null };
    if (kept === undefined)
      return { ...facts, hashedApiKey: null, usedTime: null, serialNumber: null, result: null };
    const result = (await this.#resultOf(exchange, kept)) as {
      readonly random: { readonly completionTime: string };
    };
    return {
      ...facts,
      hashedApiKey: kept.facts.hashedApiKey,
      usedTime: result.random.completionTime,
      serialNumber,
      result: showResult ? result : null,
    };
  }

  #verified({ random, signature }: Params): object {
    if (!isObject(random)) throw invalid('random');
    if (typeof signature !== 'string') throw invalid('signature');
    return { authenticity: this.#sources.signer.isAuthentic(random, signature) };
  }
}

/** What JSON holds of an answer of the service. */
interface AnswerBody {
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: {
    readonly timestamp: string;
    readonly certificate_id: string;
    readonly certificate_salt: string;
  };
}

function valuesOf(body: Uint8Array, { request, dataOf }: Pick<Draw, 'dataOf' | 'request'>) {
  const { data, metadata } = JSON.parse(Buffer.from(body).toString('utf8')) as AnswerBody;
  return {
    data: dataOf(data[request.valueKey]),
    completedAt: metadata.timestamp,
    certificate: { id: metadata.certificate_id, salt: metadata.certificate_salt },
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Throws `parseError` for what is not JSON, `invalidRequest` for what is not one object. */
function readBody(body: Uint8Array): Params {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(body);
    value = JSON.parse(text);
  } catch {
    throw new RpcError('parseError', 'Parse error');
  }
  if (Array.isArray(value))
    throw new RpcError('invalidRequest', 'Invalid Request: send one call; batches are not served.');
  if (!isObject(value)) throw new RpcError('invalidRequest', 'Invalid Request: send an object.');
  return value;
}

/** Throws `invalidRequest` when an object in the body, which is valid JSON, has a member twice. */
function requireMembersOnce(body: Uint8Array): void {
  const repeated = repeatedMember(utf8.decode(body));
  if (repeated === undefined) return;
  throw new RpcError('invalidRequest', `Invalid Request: ${repeated} is there twice.`);
}

function readId(id: unknown): Id {
  const isExact = Number.isSafeInteger(id) || (Number.isFinite(id) && !Number.isInteger(id));
  if (id === null || typeof id === 'string' || isExact) return id as Id;
  throw new RpcError(
    'invalidRequest',
    'Invalid Request: give id as a string, a number within ±(2^53 - 1) or null.',
  );
}

function readCall({ jsonrpc, method, params }: Params): Call {
  if (jsonrpc !== '2.0' || typeof method !== 'string')
    throw new RpcError('invalidRequest', 'Invalid Request');
  if (!isObject(params)) throw new RpcError('invalidParams', 'Invalid params: send an object.');
  return { method, params };
}

function requireFresh(params: Params): void {
  if ((params['pregeneratedRandomization'] ?? null) === null) return;
  throw new RpcError(
    'outOfRange',
    'Values of an earlier day cannot be drawn again: leave out pregeneratedRandomization.',
    ['pregeneratedRandomization'],
  );
}

function signingOf(
  kind: DrawMethod,
  draw: Draw,
  params: Params,
  ticket: Ticket | null,
): Omit<SignedFacts, 'serialNumber'> {
  return {
    method: `generateSigned${kind}`,
    hashedApiKey: hashedKey(params['apiKey'] as string),
    echo: draw.echo,
    userData: userDataOf(params),
    ticket: ticket === null ? null : { ticketId: ticket.ticketId, showResult: ticket.showResult },
  };
}

function userDataOf(params: Params): unknown {
  if ((params['licenseData'] ?? null) !== null)
    throw new RpcError('outOfRange', 'The service licenses no values: leave out licenseData.', [
      'licenseData',
    ]);
  const userData = params['userData'] ?? null;
  // an answer is signed after it is drawn and paid for, so what cannot be signed is refused before
  if (canonicalText(userData, 'userData').length > USER_DATA_LENGTH_MAX)
    throw new RpcError(
      'outOfRange',
      `Give userData with at most ${USER_DATA_LENGTH_MAX} characters as JSON.`,
      ['userData', 0, USER_DATA_LENGTH_MAX],
    );
  return userData;
}

function jsonReply(value: object): Reply {
  return { ...valueReply(200, 'json', value), hasValues: true };
}
