import type { Account, AccountDirectory } from '../account/directory.ts';
import { ASKS_MAX, retryAfterS } from '../account/meter.ts';
import type { RateDecision } from '../account/rate.ts';
import { requireRequest } from '../account/reservation.ts';
import type { Answers } from '../answer/answers.ts';
import { entropyBytes, requireUnmixed, resolveMode } from '../answer/request.ts';
import { type Clock, periodOf } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import type { Scope } from '../core/vocabulary.ts';
import type { EntropyReader } from '../values/entropy-reader.ts';
import { AccountShares } from './account-shares.ts';
import { describedHead } from './answer-reply.ts';
import { BlockStream, type StreamHost } from './block-stream.ts';
import { compressed } from './compression.ts';
import { DrawTurns } from './draw-turns.ts';
import type { DrawingEndpointDefinition } from './endpoint.ts';
import { clientError, errorReply, type Reply } from './error-reply.ts';
import type { Exchange, Pipeline } from './exchange.ts';
import { type Field, headOf } from './head.ts';
import { offerOf, type ParsedRequest, ParsedRequests } from './parsed-requests.ts';
import { type CorsPolicy, rateFacts, rateFields } from './reply-fields.ts';
import { bearerOf } from './request-head.ts';
import { requestNames } from './request-id.ts';
import type { RequestRecord } from './request-record.ts';
import { type Handler, type PlainRoute, type Route, RouteTable } from './route-table.ts';

/** A request that waits for its turn: one of a route, or one that its handler goes on with. */
type TurnTaker = { readonly exchange: Exchange } & (
  | { readonly route: Route; readonly resume?: undefined }
  | { readonly route: undefined; readonly resume: () => void }
);

/**
 * Look-ups of one account that may be under way in a front: its certificates and its usage. One more is refused, so that
 * no account's look-ups stand before those of the others (service/ledger-thread.ts).
 */
const LOOK_UPS_PER_ACCOUNT_MAX = 32;

/** Behind the key of a stream stands the number of a block. */
const STREAM_KEY_LENGTH_MAX = LIMITS.idempotencyKeyLengthMax - `/${LIMITS.streamTotalMax}`.length;
const STREAM_KEY_TOO_LONG = `Send the Idempotency-Key of a stream as 1 to ${STREAM_KEY_LENGTH_MAX} visible ASCII characters.`;

export interface RouterOptions {
  readonly directory: AccountDirectory;
  readonly dataEndpoints: readonly DrawingEndpointDefinition[];
  readonly routes: readonly PlainRoute[];
  /** Routes whose path is a prefix: tried when no exact path fits, e.g. `/verify/`. */
  readonly prefixes: readonly PlainRoute[];
  readonly answers: Answers;
  readonly clock: Clock;
  readonly log: Log;
  /** System entropy for request ids, not for values. */
  readonly random: EntropyReader;
  readonly rateLimitFields: boolean;
  /** Answer 400 unknown_parameter instead of listing the names in X-Ignored-Parameters. */
  readonly strictParameters: boolean;
  readonly record: RequestRecord;
  readonly cors: CorsPolicy;
  /** The page for a reader who asks for a path that is not there; undefined for programs. */
  readonly unknownPage: (exchange: Exchange) => Reply | undefined;
}

/**
 * The one place that walks a request through its life: route → key → rate → quota → scope → parameters, and
 * then to its handler. A request refused at any step has drawn nothing, spent nothing and changed nothing but
 * its rate token.
 */
export class Router {
  readonly #options: RouterOptions;
  readonly #routes: RouteTable;
  readonly #pipeline: Pipeline;
  readonly #shares: AccountShares;
  readonly #turns: DrawTurns<TurnTaker>;
  readonly #parsed: ParsedRequests;
  /** Numbers of accounts that have look-ups under way, and how many. */
  readonly #lookUps = new Map<number, number>();

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#shares = new AccountShares(options.clock);
    this.#turns = new DrawTurns(options.clock, this.#shares, {
      serve: ({ exchange, route, resume }, nowMs) => {
        if (route === undefined) resume();
        else this.#serve(exchange, route, nowMs);
      },
      endTurn: () => options.answers.endTurn(),
    });
    this.#parsed = new ParsedRequests(options.dataEndpoints, options.strictParameters);
    const { record, cors, random } = options;
    this.#pipeline = {
      record,
      cors,
      random,
      shares: this.#shares,
      awaitTurn: (exchange) =>
        new Promise((resume) => this.#turns.add({ exchange, route: undefined, resume })),
      fail: (exchange, error) => this.#fail(exchange, error),
    };
    this.#routes = new RouteTable(options.dataEndpoints, options.routes, options.prefixes);
  }

  /** Takes a request from the front. Never throws. */
  handle(exchange: Exchange): void {
    exchange.begin(this.#pipeline);
    try {
      this.#walk(exchange);
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  /**
   * Answers what the front itself refuses: before it handed the request over, or past its deadline. Never
   * throws.
   */
  refuse(exchange: Exchange, error: ApiError): void {
    exchange.begin(this.#pipeline);
    exchange.endpoint = this.#routes.of(exchange.path)?.endpoint ?? exchange.endpoint;
    this.#fail(exchange, error);
  }

  #walk(exchange: Exchange): void {
    const first = this.#routes.of(exchange.path);
    if (first === undefined) {
      this.#unknown(exchange);
      return;
    }
    let route = first;
    while (!route.methods.includes(exchange.method) && route.next !== undefined) route = route.next;
    exchange.endpoint = route.endpoint;
    if (!route.methods.includes(exchange.method)) {
      this.#otherMethod(exchange, first);
      return;
    }
    if (route.scope !== null && !this.#authenticate(exchange, route.answersAlways)) {
      this.#lookUpKey(exchange, route);
      return;
    }
    this.#admitted(exchange, route);
  }

  #unknown(exchange: Exchange): void {
    const page = this.#options.unknownPage(exchange);
    if (page === undefined) throw new ApiError('not_found');
    exchange.error = 'not_found';
    this.#sendDocument(exchange, page);
  }

  /** The part of the way that follows the key. */
  #admitted(exchange: Exchange, route: Route): void {
    if (route.data !== undefined) {
      if (exchange.method === 'HEAD') this.#describe(exchange, route, route.data);
      else this.#turns.add({ exchange, route });
    } else if (route.limited) this.#turns.add({ exchange, route });
    else this.#plain(exchange, route, route.handler!);
  }

  #limited(exchange: Exchange, route: Route, nowMs: number): void {
    if (exchange.account!.meter.mustLease(nowMs)) {
      void this.#plainAfterAsking(exchange, route);
      return;
    }
    this.#admit(exchange);
    this.#plain(exchange, route, route.handler!);
  }

  /** Nodes share the rate: the ledger is asked for a request of it. */
  async #plainAfterAsking(exchange: Exchange, route: Route): Promise<void> {
    const account = exchange.account!;
    try {
      const decision = await account.meter.admitOrAsk(this.#options.clock);
      if (exchange.isGone) this.#options.record.aborted();
      if (exchange.isGone || exchange.isAnswered) return;
      this.#requireRate(exchange, account, decision);
      this.#plain(exchange, route, route.handler!);
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  #serve(exchange: Exchange, route: Route, nowMs: number): void {
    if (exchange.isGone) this.#options.record.aborted();
    if (exchange.isGone || exchange.isAnswered) return;
    try {
      if (route.data === undefined) this.#limited(exchange, route, nowMs);
      else this.#data(exchange, route, route.data, nowMs);
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  /**
   * HEAD of a data endpoint: checked as GET is, and answered with the fields that are known without a draw.
   */
  #describe(exchange: Exchange, route: Route, endpoint: DrawingEndpointDefinition): void {
    const account = exchange.account!;
    const { record, allowance, meter } = account;
    this.#requireRate(exchange, account, meter.peek(this.#options.clock.monotonicMs()));
    const period = meter.periodAt(periodOf(exchange.atMs));
    this.#requireScope(exchange, route.scope);
    const parsed = this.#parsed.of(exchange, endpoint);
    const { request, ignored } = parsed;
    exchange.offer = offerOf(exchange.accept, parsed);
    exchange.mode = resolveMode(request.mode, record.tier, allowance);
    requireUnmixed(exchange.mode, request);
    const remaining = meter.creditsRemaining(period);
    if (!request.dryRun) {
      requireRequest({ hasRequest: meter.requestsRemaining(period) > 0 }, exchange.atMs);
      const required = exchange.mode === 'pure' ? entropyBytes(request.values) : 0;
      if (required > remaining) throw new ApiError('credits_exhausted', { details: { required, remaining } });
    }
    exchange.hasUnknownLength = true;
    exchange.reply(
      describedHead(exchange.offer.mediaType, exchange.mode, remaining, ignored, exchange),
      new Uint8Array(0),
    );
  }

  #plain(exchange: Exchange, route: Route, handler: Handler): void {
    this.#requireScope(exchange, route.scope);
    const account = exchange.account?.record.number;
    const underWay = account === undefined ? 0 : (this.#lookUps.get(account) ?? 0);
    if (underWay >= LOOK_UPS_PER_ACCOUNT_MAX)
      throw new ApiError('overloaded', { message: LOOK_UPS_FULL, retryAfterS: 1 });
    const reply = handler(exchange);
    if (!(reply instanceof Promise)) {
      this.#sendDocument(exchange, reply);
      return;
    }
    if (account !== undefined) this.#lookUps.set(account, (this.#lookUps.get(account) ?? 0) + 1);
    reply
      .finally(() => this.#lookUpEnded(account))
      .then(
        (ready) => this.#sendDocument(exchange, ready),
        (error: unknown) => this.#fail(exchange, error),
      );
  }

  #lookUpEnded(account: number | undefined): void {
    if (account === undefined) return;
    const rest = this.#lookUps.get(account)! - 1;
    if (rest === 0) this.#lookUps.delete(account);
    else this.#lookUps.set(account, rest);
  }

  /** OPTIONS answers what the resource allows (RFC 9110 §9.3.7); anything else is 405 with the same list. */
  #otherMethod(exchange: Exchange, route: Route): void {
    const { method, origin, accessControlRequestMethod } = exchange;
    const methods: string[] = [];
    for (let each: Route | undefined = route; each !== undefined; each = each.next)
      methods.push(...each.methods);
    const allow = [...methods, 'OPTIONS'].join(', ');
    if (method !== 'OPTIONS') throw new ApiError('method_not_allowed', { allow });
    const fields: Field[] = [
      ['Allow', allow],
      ['X-Request-ID', exchange.requestUuid],
    ];
    if (accessControlRequestMethod !== '') fields.push(...this.#options.cors.preflight(origin, methods));
    exchange.reply(headOf(204, fields), new Uint8Array(0));
  }

  /**
   * A key that a command has just made is not in memory yet, and after a busy time what is in memory is too old to
   * judge by: the ledger is asked before the request is refused.
   */
  #lookUpKey(exchange: Exchange, route: Route): void {
    this.#options.directory
      .refreshInTime()
      .then(() => {
        if (!this.#authenticate(exchange)) throw new ApiError('auth_invalid');
        this.#admitted(exchange, route);
      })
      .catch((error: unknown) => this.#fail(exchange, error));
  }

  /** False when the ledger is to be asked first, which happens once. Throws for a key that is refused. */
  #authenticate(exchange: Exchange, isByAnyView = false): boolean {
    const { directory, clock } = this.#options;
    const keyText = bearerOf(exchange.authorization) || exchange.apiKey; // Bearer wins
    if (keyText === '') throw new ApiError('auth_missing');
    const mayLookUp = !exchange.isKeyLookedUp;
    exchange.isKeyLookedUp = true;
    const nowMs = clock.monotonicMs();
    const known = isByAnyView ? directory.authenticateByView(keyText) : undefined;
    if (known === undefined && mayLookUp && directory.isOutdatedAt(nowMs)) return false;
    const found = known ?? directory.authenticate(keyText, nowMs);
    if (found === undefined) {
      if (mayLookUp && directory.mayBeNew(keyText)) return false;
      throw new ApiError('auth_invalid');
    }
    exchange.account = found.account;
    exchange.scopes = found.key.scopes;
    return true;
  }

  #admit(exchange: Exchange): void {
    const { account } = exchange;
    if (account === undefined) return;
    const { clock } = this.#options;
    this.#requireRate(exchange, account, account.meter.admit(clock.monotonicMs()));
  }

  #requireRate(exchange: Exchange, { meter }: Account, decision: Readonly<RateDecision>): void {
    exchange.rate = rateFacts(decision, meter.limit, exchange.atMs, this.#options.rateLimitFields);
    if (!decision.allowed) throw new ApiError('rate_limited', { retryAfterS: retryAfterS(decision) });
  }

  #requireScope(exchange: Exchange, scope: Scope | null): void {
    if (scope === null || exchange.scopes.includes(scope)) return;
    throw new ApiError('auth_scope', {
      message: `This API key lacks the scope ${scope}.`,
      details: { scope },
    });
  }

  /** Another node may have what is left of the month or the rate: the ledger is asked, and the request enters once more. */
  async #dataAfterAsking(
    exchange: Exchange,
    route: Route,
    endpoint: DrawingEndpointDefinition,
    asks: number,
  ): Promise<void> {
    const { clock, answers, record } = this.#options;
    try {
      await exchange.account!.meter.ask(0);
      if (exchange.isGone) record.aborted();
      if (exchange.isGone || exchange.isAnswered) return;
      this.#data(exchange, route, endpoint, clock.monotonicMs(), asks);
      answers.endTurn();
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  #data(
    exchange: Exchange,
    route: Route,
    endpoint: DrawingEndpointDefinition,
    nowMs: number,
    asks = 0,
  ): void {
    const account = exchange.account!;
    const { answers } = this.#options;
    const reservation = account.meter.enter(nowMs, periodOf(exchange.atMs));
    if (reservation.mustAsk) {
      if (asks === ASKS_MAX) throw new ApiError('overloaded', { retryAfterS: 1 });
      void this.#dataAfterAsking(exchange, route, endpoint, asks + 1);
      return;
    }
    this.#requireRate(exchange, account, account.meter.decision);
    let parsed: ParsedRequest;
    try {
      this.#requireScope(exchange, route.scope);
      parsed = this.#parsed.of(exchange, endpoint);
      exchange.offer = offerOf(exchange.accept, parsed); // throws not_acceptable
    } catch (error) {
      // a used-up quota comes before what is wrong with the request; a quote and a replay need none
      // (answer/answers.ts)
      requireRequest(reservation, exchange.atMs);
      reservation.release();
      throw error;
    }
    exchange.ignored = parsed.ignored;
    const { request, stream } = parsed;
    if (stream === undefined || request.dryRun) {
      answers.answer(exchange, account, reservation, request, stream?.requestOf(stream.first));
    } else {
      const { idempotencyKey = '' } = exchange;
      if (idempotencyKey.length > STREAM_KEY_LENGTH_MAX) {
        reservation.release();
        throw new ApiError('invalid_idempotency_key', { message: STREAM_KEY_TOO_LONG });
      }
      const blocks = new BlockStream(exchange, stream, this.#streamHost(exchange, route));
      answers.answer(blocks.begin(), account, reservation, stream.requestOf(stream.first));
    }
  }

  /**
   * A block is a request: its key may have been revoked, its account changed, its rate or quota used up. Where the view of keys
   * is too old to tell, the ledger is asked first, as for any request.
   */
  #streamHost(exchange: Exchange, route: Route): StreamHost {
    const { record, clock, random, answers, directory } = this.#options;
    return {
      ask: async (block, request) => {
        try {
          if (directory.isOutdated) await directory.refreshInTime();
          if (!this.#authenticate(exchange)) throw new ApiError('auth_invalid');
          const account = exchange.account!;
          const { reservation, decision } = await account.meter.enterOrAsk(clock, periodOf(block.atMs));
          this.#requireRate(exchange, account, decision);
          if (!exchange.scopes.includes(route.scope!)) {
            reservation.release();
            this.#requireScope(exchange, route.scope);
          }
          answers.answer(block, account, reservation, request);
        } catch (error) {
          block.refused(error);
        }
      },
      explain: (error) => this.#explain(exchange, error),
      record,
      clock,
      random,
    };
  }

  #sendDocument(exchange: Exchange, reply: Reply): void {
    const send = () => {
      const { head, body } = compressed(reply, exchange.acceptEncoding);
      exchange.reply(head, body);
    };
    if (exchange.account !== undefined || reply.isMadeLate === undefined) {
      send();
      return;
    }
    exchange.makeUnpaid(() => {
      try {
        send();
      } catch (error) {
        this.#fail(exchange, error);
      }
    });
  }

  /** What a client is told of anything thrown; a fault is logged. */
  #explain(exchange: Exchange, thrown: unknown): ApiError {
    if (!(thrown instanceof ApiError)) {
      const fault = thrown instanceof Error ? thrown : new Error(String(thrown));
      const { trace } = exchange;
      const named = requestNames(exchange.requestId);
      const names = trace === undefined ? named : { ...named, trace_id: trace.traceId };
      this.#options.log.error({ ...names, fault: fault.stack }, 'fault');
    }
    return clientError(thrown);
  }

  #fail(exchange: Exchange, thrown: unknown): void {
    const error = this.#explain(exchange, thrown);
    exchange.error = error.code;
    const fields = rateFields(exchange.rate);
    const reply = errorReply(error, { requestId: exchange.requestId, accept: exchange.accept, fields });
    exchange.reply(reply.head, reply.body);
  }
}

const LOOK_UPS_FULL = `At most ${LOOK_UPS_PER_ACCOUNT_MAX} requests of an account for usage and certificates are answered at the same time; retry after Retry-After.`;
