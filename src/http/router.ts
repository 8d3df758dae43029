import type { AccountDirectory } from '../account/directory.ts';
import { type Reservation, requireRequest } from '../account/reservation.ts';
import type { Answers } from '../answer/answers.ts';
import type { ServiceNames } from '../answer/fields.ts';
import { entropyBytes, Plan, resolveMode } from '../answer/request.ts';
import { type Clock, periodOf } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import { describedHead, offerOf, quoteReply } from './answer-reply.ts';
import { sendBlocks } from './block-stream.ts';
import { compressed } from './compression.ts';
import type { DrawingEndpointDefinition } from './endpoint.ts';
import { type Exchange, REQUEST_US } from './exchange.ts';
import { type Field, headOf } from './head.ts';
import type { ParsedRequest } from './parsed-requests.ts';
import { type Reply, redirectReply } from './reply.ts';
import { preflightFields } from './reply-fields.ts';
import { bearerOf, isVisible } from './request-head.ts';
import type { RequestRecord } from './request-record.ts';
import { type PlainRoute, type Route, RouteTable } from './route-table.ts';

/** The longest Idempotency-Key of a stream. It is shorter than other keys, because the number of a block is appended to it. */
const STREAM_KEY_LENGTH_MAX = LIMITS.idempotencyKeyLengthMax - `/${LIMITS.streamTotalMax}`.length;
const STREAM_KEY_TOO_LONG = `The Idempotency-Key of a stream must be 1 to ${STREAM_KEY_LENGTH_MAX} visible ASCII characters.`;

export interface RouterOptions {
  readonly directory: AccountDirectory;
  readonly dataEndpoints: readonly DrawingEndpointDefinition[];
  readonly routes: readonly PlainRoute[];
  readonly answers: Answers;
  readonly clock: Clock;
  readonly log: Log;
  readonly rateLimitFields: boolean;
  /** True to answer unknown parameters with 400 unknown_parameter instead of listing them in X-Ignored-Parameters. */
  readonly strictParameters: boolean;
  readonly record: RequestRecord;
  /** The origins whose pages may read replies. */
  readonly corsOrigins: readonly string[];
  readonly names: ServiceNames;
  /** Returns the page for a path that does not exist, for browsers; undefined for other clients. */
  readonly unknownPage: (exchange: Exchange) => Reply | undefined;
}

/**
 * Takes a request through its checks in this order: route → key → rate → quota → scope → parameters, and then to its
 * handler. A request that is refused at any step has drawn nothing, spent nothing, and taken at most a token of its rate.
 */
export class Router {
  readonly #options: RouterOptions;
  readonly #routes: RouteTable;

  constructor(options: RouterOptions) {
    const { dataEndpoints, routes, strictParameters } = options;
    this.#options = options;
    this.#routes = new RouteTable(dataEndpoints, routes, strictParameters);
  }

  /** Answers a request of the front (FrontOptions.handle). Never throws. */
  handle(exchange: Exchange, refused?: ApiError, isLate = false): void {
    exchange.service = this.#options;
    try {
      this.#walk(exchange, refused);
    } catch (error) {
      if (isLate) exchange.refused(error);
      else exchange.inTurn(() => exchange.refused(error));
    }
  }

  /** Finds the route and the account of a request. The account decides in whose turn the request is served. */
  #walk(exchange: Exchange, refused: ApiError | undefined): void {
    const first = this.#routes.of(exchange.path);
    let route = first;
    while (route !== undefined && !route.methods.includes(exchange.method)) route = route.next;
    exchange.route = route ?? first;
    if (refused !== undefined) throw refused;
    if (first === undefined) exchange.inTurn(() => this.#elsewhere(exchange));
    else if (route === undefined) exchange.inTurn(() => this.#otherMethod(exchange, first));
    else {
      exchange.account ??= route.accountIn?.(exchange.body);
      // now, not in the owner's turn, because the key tells who the owner is
      if (route.scope !== null)
        this.#authenticate(exchange, exchange.startedMonotonicMs, route.answersAlways);
      exchange.inTurn(this.#serve);
    }
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
    if (accessControlRequestMethod !== '')
      fields.push(...preflightFields(this.#options.corsOrigins, origin, methods));
    exchange.reply(headOf(204, fields), NO_BYTES);
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

  /** Serves a request by its route. It is one function for all requests, so that the hot path allocates no closure. */
  readonly #serve = (exchange: Exchange, nowMs: number): void => {
    const route = exchange.route!;
    const { account } = exchange;
    if (route.data !== undefined && exchange.method !== 'HEAD') {
      this.#data(exchange, route, nowMs);
      return;
    }
    if (route.limited && account !== undefined) exchange.admit(account, nowMs);
    exchange.requireScope(route.scope);
    if (route.data !== undefined) {
      this.#describe(exchange, route.data(exchange));
      return;
    }
    const look = () => route.handler!(exchange);
    const reply = route.scope === null ? look() : exchange.fair.lookUp(exchange.owner, look);
    if (!(reply instanceof Promise)) this.#sendDocument(exchange, reply);
    else
      reply
        .then((ready) => this.#sendDocument(exchange, ready))
        .catch((error: unknown) => exchange.refused(error));
  };

  #sendDocument(exchange: Exchange, reply: Reply): void {
    const send = () => {
      const { head, body } = compressed(reply, exchange.head.acceptEncoding);
      exchange.reply(head, body);
    };
    // the body of a page that waited for the ledger is made now, so this takes a turn of its own
    if (exchange.account !== undefined || reply.isMadeLate === undefined) send();
    else exchange.inTurn(send, 0);
  }

  /**
   * Answers HEAD of a data endpoint: checks the request like GET, and sends the fields that are known without a draw. HEAD counts
   * against the rate but not against the quota.
   */
  #describe(exchange: Exchange, parsed: ParsedRequest): void {
    const account = exchange.account!;
    const { record, allowance, meter } = account;
    const left = meter.left(periodOf(exchange.atMs));
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
    exchange.reply(describedHead(exchange, remaining), NO_BYTES);
  }

  #data(exchange: Exchange, route: Route, nowMs: number): void {
    const account = exchange.account!;
    const { answers } = this.#options;
    const reservation = exchange.enter(account, nowMs);
    let parsed: ParsedRequest;
    try {
      exchange.requireScope(route.scope);
      parsed = route.data!(exchange);
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
      const quote = answers.quote(exchange, account, reservation, plan, atOnce);
      const { head, body } = quoteReply(quote, exchange);
      exchange.reply(head, body);
    } else if (stream === undefined) answers.answer(exchange, exchange, account, reservation, plan, nowMs);
    else {
      const { idempotencyKey = '' } = exchange;
      if (idempotencyKey.length > STREAM_KEY_LENGTH_MAX) {
        reservation.release();
        throw new ApiError('invalid_idempotency_key', { message: STREAM_KEY_TOO_LONG });
      }
      let first: Reservation | undefined = reservation;
      void sendBlocks(exchange, stream, async (request, keeping) => {
        const reserved = first ?? (await this.#enterBlock(exchange, route));
        first = undefined;
        return answers.draw(exchange.asForJson(keeping), exchange.account!, reserved, request);
      });
    }
  }

  /** Checks a block like a request: the key may have been revoked meanwhile, the account changed, the rate or quota used up. */
  #enterBlock(exchange: Exchange, route: Route): Promise<Reservation> {
    const enter = () => {
      this.#authenticate(exchange, this.#options.clock.monotonicMs());
      const reservation = exchange.enter(exchange.account!);
      if (!exchange.scopes.includes(route.scope!)) reservation.release();
      exchange.requireScope(route.scope);
      return reservation;
    };
    return exchange.fair.inTurn(exchange.owner, enter, REQUEST_US);
  }
}

const NO_BYTES = new Uint8Array(0);
