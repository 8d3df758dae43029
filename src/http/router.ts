import type { AccountDirectory } from '../account/directory.ts';
import { type Reservation, requireRequest } from '../account/reservation.ts';
import type { Answers } from '../answer/answers.ts';
import type { ServiceNames } from '../answer/fields.ts';
import { entropyBytes, Plan, resolveMode } from '../answer/request.ts';
import { type Clock, periodOf } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import type { Fair } from '../fair/fair.ts';
import { describedHead } from './answer-reply.ts';
import { sendBlocks } from './block-stream.ts';
import { compressed } from './compression.ts';
import type { DrawingEndpointDefinition } from './endpoint.ts';
import { clientError, errorReply } from './error-reply.ts';
import type { Exchange, Pipeline, Step } from './exchange.ts';
import { type Field, headOf } from './head.ts';
import { offerOf, type ParsedRequest, type ParsedRequests } from './parsed-requests.ts';
import { type Reply, redirectReply } from './reply.ts';
import { type CorsPolicy, rateFields } from './reply-fields.ts';
import { bearerOf, isVisible } from './request-head.ts';
import type { RequestRecord } from './request-record.ts';
import { type PlainRoute, type Route, RouteTable } from './route-table.ts';

/** Processor time for reading a request and sending its reply, which is not measured. */
const REQUEST_US = 25;
/**
 * Charged for a request without an account. It is higher, so that beside requests of accounts about one a millisecond is
 * served.
 */
const UNPAID_US = 250;
/** Memory that a request without an account holds while it waits for its turn, about. */
const WAITING_BYTES = 4 * 1_024;
/** Up to this size a waiting request is not counted: the rate bounds the requests of an account, and most have no body. */
const WAITING_BYTES_UNCOUNTED = 1_024;

/** The longest Idempotency-Key of a stream. It is shorter than other keys, because the number of a block is appended to it. */
const STREAM_KEY_LENGTH_MAX = LIMITS.idempotencyKeyLengthMax - `/${LIMITS.streamTotalMax}`.length;
const STREAM_KEY_TOO_LONG = `Send the Idempotency-Key of a stream as 1 to ${STREAM_KEY_LENGTH_MAX} visible ASCII characters.`;

export interface RouterOptions {
  readonly directory: AccountDirectory;
  readonly dataEndpoints: readonly DrawingEndpointDefinition[];
  readonly routes: readonly PlainRoute[];
  readonly answers: Answers;
  readonly fair: Fair;
  readonly clock: Clock;
  readonly log: Log;
  readonly rateLimitFields: boolean;
  /** True to answer unknown parameters with 400 unknown_parameter instead of listing them in X-Ignored-Parameters. */
  readonly strictParameters: boolean;
  readonly record: RequestRecord;
  readonly cors: CorsPolicy;
  readonly names: ServiceNames;
  /** Returns the page for a path that does not exist, for browsers; undefined for other clients. */
  readonly unknownPage: (exchange: Exchange) => Reply | undefined;
}

/**
 * Takes a request through its checks in this order: route → key → rate → quota → scope → parameters, and then to its
 * handler. A request that is refused at any step has drawn nothing, spent nothing, and taken at most a token of its rate.
 */
export class Router implements Pipeline {
  readonly record: RequestRecord;
  readonly clock: Clock;
  readonly cors: CorsPolicy;
  readonly rateLimitFields: boolean;
  readonly fair: Fair;
  readonly names: ServiceNames;
  readonly #options: RouterOptions;
  readonly #routes: RouteTable;

  constructor(options: RouterOptions) {
    const { answers, dataEndpoints, routes, strictParameters } = options;
    this.#options = options;
    this.record = options.record;
    this.clock = options.clock;
    this.cors = options.cors;
    this.rateLimitFields = options.rateLimitFields;
    this.fair = options.fair;
    this.names = options.names;
    this.fair.afterTurn = () => answers.endTurn();
    this.#routes = new RouteTable(dataEndpoints, routes, strictParameters);
  }

  /** Takes a request from the front. Never throws. */
  handle(exchange: Exchange): void {
    exchange.pipeline = this;
    try {
      this.#walk(exchange);
    } catch (error) {
      this.#inTurn(exchange, () => this.fail(exchange, error));
    }
  }

  /** Answers a request that the front refuses: at once if its deadline has passed, else in its owner's turn. Never throws. */
  refuse(exchange: Exchange, error: ApiError, isLate: boolean): void {
    exchange.pipeline = this;
    exchange.endpoint = this.#routes.of(exchange.path)?.endpoint ?? exchange.endpoint;
    if (isLate) this.fail(exchange, error);
    else this.#inTurn(exchange, () => this.fail(exchange, error));
  }

  /** Finds the route and the account of a request. The account decides in whose turn the request is served. */
  #walk(exchange: Exchange): void {
    const first = this.#routes.of(exchange.path);
    if (first === undefined) {
      this.#inTurn(exchange, () => this.#elsewhere(exchange));
      return;
    }
    let route: Route | undefined = first;
    while (route !== undefined && !route.methods.includes(exchange.method)) route = route.next;
    exchange.endpoint = first.endpoint;
    if (route === undefined) {
      this.#inTurn(exchange, () => this.#otherMethod(exchange, first));
      return;
    }
    exchange.account ??= route.accountIn?.(exchange.body);
    // now, not in the owner's turn, because the key tells who the owner is
    if (route.scope !== null) this.#authenticate(exchange, exchange.startedMonotonicMs, route.answersAlways);
    this.#inTurn(exchange, route);
  }

  /** Answers a path without a route: redirects if only trailing slashes are too many, else 404. */
  #elsewhere(exchange: Exchange): void {
    const moved = this.#routes.withoutSlash(exchange.path);
    if (moved !== undefined) {
      // a header field may hold only visible characters, and links to pages have no others
      const query = isVisible(exchange.query) && exchange.query !== '' ? `?${exchange.query}` : '';
      this.#sendDocument(exchange, redirectReply(308, `${moved}${query}`));
      return;
    }
    const page = this.#options.unknownPage(exchange);
    if (page === undefined) throw new ApiError('not_found');
    exchange.error = 'not_found';
    this.#sendDocument(exchange, page);
  }

  /** Runs the step in the owner's turn, unless the client is gone by then. An error that the step throws is answered. */
  #inTurn(exchange: Exchange, step: Step, costUs = exchange.owner < 0 ? UNPAID_US : REQUEST_US): void {
    const { memory } = this.fair;
    const { owner, body } = exchange;
    const bytes = body.length + (owner < 0 ? WAITING_BYTES : 0);
    const isCounted = bytes > WAITING_BYTES_UNCOUNTED;
    if (isCounted && !memory.fits(owner, bytes))
      exchange.destroy(); // the client can repeat the request: nothing was charged
    else exchange.runInTurn(step, costUs, isCounted ? memory.add(owner, bytes) : undefined);
  }

  /** Called in the owner's turn. */
  take(exchange: Exchange, step: Step, nowMs: number): void {
    if (this.#isOver(exchange)) return;
    exchange.isLate = nowMs - exchange.startedMonotonicMs > LIMITS.largeQueueMs;
    try {
      if (typeof step === 'function') step();
      else this.#serve(exchange, step, nowMs);
    } catch (error) {
      this.fail(exchange, error);
    }
  }

  #serve(exchange: Exchange, route: Route, nowMs: number): void {
    const { account } = exchange;
    if (route.data !== undefined && exchange.method !== 'HEAD')
      this.#data(exchange, route, route.data, nowMs);
    else {
      if (route.limited && account !== undefined) exchange.requireRate(account, account.meter.admit(nowMs));
      this.#plain(exchange, route);
    }
  }

  /** Returns true when the client is gone or the front has refused the request: then nothing must be drawn for it. */
  #isOver(exchange: Exchange): boolean {
    const { isGone } = exchange;
    if (isGone) this.record.aborted();
    return isGone || exchange.isAnswered;
  }

  /**
   * Answers HEAD of a data endpoint: checks the request like GET, and sends the fields that are known without a draw. HEAD counts
   * against the rate but not against the quota.
   */
  #describe(exchange: Exchange, data: ParsedRequests): void {
    const account = exchange.account!;
    const { record, allowance, meter } = account;
    const left = meter.left(periodOf(exchange.atMs));
    const parsed = data.of(exchange);
    const { request } = parsed.plan;
    exchange.ignored = parsed.ignored;
    exchange.offer = offerOf(exchange.accept, parsed);
    exchange.mode = resolveMode(request.mode, record.tier, allowance);
    const remaining = left.credits;
    if (!request.dryRun) {
      // on a node of several the new month begins a moment after the clock says so
      const mayComeBack = periodOf(exchange.atMs) > left.period;
      requireRequest({ hasRequest: left.requests > 0, mayComeBack }, exchange.atMs);
      const required = exchange.mode === 'pure' ? entropyBytes(request.values) : 0;
      if (required > remaining) throw new ApiError('credits_exhausted', { details: { required, remaining } });
    }
    exchange.hasUnknownLength = true;
    exchange.reply(describedHead(exchange, remaining), new Uint8Array(0));
  }

  #plain(exchange: Exchange, route: Route): void {
    exchange.requireScope(route.scope);
    if (route.data !== undefined) {
      this.#describe(exchange, route.data);
      return;
    }
    const look = () => route.handler!(exchange);
    const reply = route.scope === null ? look() : this.fair.lookUp(exchange.owner, look);
    if (!(reply instanceof Promise)) this.#sendDocument(exchange, reply);
    else
      reply
        .then((ready) => this.#sendDocument(exchange, ready))
        .catch((error: unknown) => this.fail(exchange, error));
  }

  /** Answers a method without a route: OPTIONS with the methods that the resource allows (RFC 9110 §9.3.7), any other with 405. */
  #otherMethod(exchange: Exchange, route: Route): void {
    const { method, origin, accessControlRequestMethod } = exchange.head;
    const methods: string[] = [];
    for (let each: Route | undefined = route; each !== undefined; each = each.next)
      methods.push(...each.methods);
    const allow = [...methods, 'OPTIONS'].join(', ');
    if (method !== 'OPTIONS') throw new ApiError('method_not_allowed', { field: ['Allow', allow] });
    const fields: Field[] = [
      ['Allow', allow],
      ['X-Request-ID', exchange.requestUuid],
    ];
    if (accessControlRequestMethod !== '') fields.push(...this.cors.preflight(origin, methods));
    exchange.reply(headOf(204, fields), new Uint8Array(0));
  }

  /** Sets the account and the scopes of the request's key. Throws `auth_missing` or `auth_invalid`. */
  #authenticate(exchange: Exchange, nowMs: number, isByAnyView = false): void {
    const { directory } = this.#options;
    const keyText = bearerOf(exchange.head.authorization) || exchange.head.apiKey; // Bearer wins
    if (keyText === '') throw new ApiError('auth_missing');
    const known = isByAnyView ? directory.authenticateByView(keyText) : undefined;
    const found = known ?? directory.authenticate(keyText, nowMs);
    if (found === undefined) throw new ApiError('auth_invalid');
    exchange.account = found.account;
    exchange.scopes = found.key.scopes;
  }

  #data(exchange: Exchange, route: Route, data: ParsedRequests, nowMs: number): void {
    const account = exchange.account!;
    const { answers } = this.#options;
    const reservation = account.meter.enter(nowMs, periodOf(exchange.atMs));
    exchange.requireRate(account, account.meter.decision);
    let parsed: ParsedRequest;
    try {
      exchange.requireScope(route.scope);
      parsed = data.of(exchange);
      exchange.offer = offerOf(exchange.accept, parsed); // throws not_acceptable
    } catch (error) {
      // a used-up quota is reported before an error in the request; for a valid one answers.ts checks it, because a quote
      // and a replay need none
      requireRequest(reservation, exchange.atMs);
      reservation.release();
      throw error;
    }
    exchange.ignored = parsed.ignored;
    const { plan, stream } = parsed;
    if (plan.request.dryRun) {
      const atOnce = stream === undefined ? plan : new Plan(stream.requestOf(stream.first));
      exchange.quoted(answers.quote(exchange, account, reservation, plan, atOnce));
    } else if (stream === undefined) answers.answer(exchange, exchange, account, reservation, plan, nowMs);
    else {
      const { idempotencyKey = '' } = exchange;
      if (idempotencyKey.length > STREAM_KEY_LENGTH_MAX) {
        reservation.release();
        throw new ApiError('invalid_idempotency_key', { message: STREAM_KEY_TOO_LONG });
      }
      let first: Reservation | undefined = reservation;
      void sendBlocks(exchange, stream, async (ask, request) => {
        const reserved = first ?? (await this.#enterBlock(exchange, route, ask.atMs));
        first = undefined;
        return answers.draw(ask, exchange.account!, reserved, request);
      });
    }
  }

  /** Checks a block like a request: the key may have been revoked meanwhile, the account changed, the rate or quota used up. */
  async #enterBlock(exchange: Exchange, route: Route, atMs: number): Promise<Reservation> {
    const enter = () => {
      this.#authenticate(exchange, this.clock.monotonicMs());
      const reservation = exchange.enter(exchange.account!, atMs);
      if (!exchange.scopes.includes(route.scope!)) reservation.release();
      exchange.requireScope(route.scope);
      return reservation;
    };
    return this.fair.inTurn(exchange.owner, enter, REQUEST_US);
  }

  #sendDocument(exchange: Exchange, reply: Reply): void {
    const send = () => {
      const { head, body } = compressed(reply, exchange.head.acceptEncoding);
      exchange.reply(head, body);
    };
    // the body of a page that waited for the ledger is made now, so this takes a turn of its own
    if (exchange.account !== undefined || reply.isMadeLate === undefined) send();
    else this.#inTurn(exchange, send, 0);
  }

  /** Returns the error that the client gets for anything that was thrown. Logs faults. */
  explain(exchange: Exchange, thrown: unknown): ApiError {
    if (!(thrown instanceof ApiError)) {
      const fault = thrown instanceof Error ? thrown : new Error(String(thrown));
      this.#options.log.error({ ...exchange.logNames, fault: fault.stack }, 'fault');
    }
    return clientError(thrown);
  }

  fail(exchange: Exchange, thrown: unknown): void {
    const error = this.explain(exchange, thrown);
    exchange.error = error.code;
    const fields = rateFields(exchange.rate);
    const reply = errorReply(error, { requestId: exchange.requestId, accept: exchange.accept, fields });
    exchange.reply(reply.head, reply.body);
  }
}
