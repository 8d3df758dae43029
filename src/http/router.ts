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

/** What reading and sending a request takes of a processor, beside the work that is measured. */
const REQUEST_US = 25;
/** One that nobody pays for is charged with more, so that beside paid requests about one a millisecond is served. */
const UNPAID_US = 250;
/** What a request holds, about, while it waits for its turn. */
const WAITING_BYTES = 4 * 1_024;
/** Requests of accounts are bounded by their rate; this much of them is not counted. */
const WAITING_BYTES_UNCOUNTED = 1_024;

/** Behind the key of a stream stands the number of a block. */
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
  /** Answer 400 unknown_parameter instead of listing the names in X-Ignored-Parameters. */
  readonly strictParameters: boolean;
  readonly record: RequestRecord;
  readonly cors: CorsPolicy;
  /** As answers tell them. */
  readonly names: ServiceNames;
  /** The page for a reader who asks for a path that is not there; undefined for programs. */
  readonly unknownPage: (exchange: Exchange) => Reply | undefined;
}

/**
 * The one place that walks a request through its life: route → key → rate → quota → scope → parameters, and
 * then to its handler. A request refused at any step has drawn nothing, spent nothing and changed nothing but
 * its rate token.
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

  /**
   * Answers what the front itself refuses: at once past its deadline, else in its turn. Never throws.
   */
  refuse(exchange: Exchange, error: ApiError, isLate: boolean): void {
    exchange.pipeline = this;
    exchange.endpoint = this.#routes.of(exchange.path)?.endpoint ?? exchange.endpoint;
    if (isLate) this.fail(exchange, error);
    else this.#inTurn(exchange, () => this.fail(exchange, error));
  }

  /** Finds out what is asked for and by whom, which decides in whose turn it is served. */
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
    // in the turn in which the request came
    if (route.scope !== null) this.#authenticate(exchange, exchange.startedMonotonicMs, route.answersAlways);
    this.#inTurn(exchange, route);
  }

  /** A path with a slash too many has moved; any other is not there. */
  #elsewhere(exchange: Exchange): void {
    const moved = this.#routes.withoutSlash(exchange.path);
    if (moved !== undefined) {
      // a field holds no other characters, and a page asks for none
      const query = isVisible(exchange.query) && exchange.query !== '' ? `?${exchange.query}` : '';
      this.#sendDocument(exchange, redirectReply(308, `${moved}${query}`));
      return;
    }
    const page = this.#options.unknownPage(exchange);
    if (page === undefined) throw new ApiError('not_found');
    exchange.error = 'not_found';
    this.#sendDocument(exchange, page);
  }

  /** Goes on with the request in its owner's turn, unless its client is gone by then. What the step throws is answered. */
  #inTurn(exchange: Exchange, step: Step, costUs = exchange.owner < 0 ? UNPAID_US : REQUEST_US): void {
    const { memory } = this.fair;
    const { owner, body } = exchange;
    const bytes = body.length + (owner < 0 ? WAITING_BYTES : 0);
    const isCounted = bytes > WAITING_BYTES_UNCOUNTED;
    if (isCounted && !memory.fits(owner, bytes))
      exchange.destroy(); // it can ask again without paying
    else exchange.runInTurn(step, costUs, isCounted ? memory.add(owner, bytes) : undefined);
  }

  /** Its turn has come. */
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

  /** Its client is gone, or the front has refused it: nothing is drawn for it any more. */
  #isOver(exchange: Exchange): boolean {
    const { isGone } = exchange;
    if (isGone) this.record.aborted();
    return isGone || exchange.isAnswered;
  }

  /**
   * HEAD of a data endpoint: checked as GET is, and answered with the fields that are known without a draw. It counts against
   * the rate, and not against the quota.
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
      // a month that nodes share turns a moment after the clock
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

  /** OPTIONS answers what the resource allows (RFC 9110 §9.3.7); anything else is 405 with the same list. */
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

  /** Throws for a key that is refused. */
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
      // a used-up quota comes before what is wrong with the request; a quote and a replay need none
      // (answer/answers.ts)
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

  /** A block is a request: its key may have been revoked, its account changed, its rate or quota used up. */
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
    // a page that waited for the ledger is made in a turn of its own
    if (exchange.account !== undefined || reply.isMadeLate === undefined) send();
    else this.#inTurn(exchange, send, 0);
  }

  /** What a client is told of anything thrown; a fault is logged. */
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
