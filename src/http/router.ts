import type { Account, AccountDirectory } from '../account/directory.ts';
import { requireRequest, retryAfterS } from '../account/meter.ts';
import type { RateDecision } from '../account/rate.ts';
import type { Answers } from '../answer/answers.ts';
import { type DataRequest, entropyBytes, resolveMode } from '../answer/request.ts';
import { type Clock, periodOf } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { ENDPOINT_LABELS } from '../core/metrics.ts';
import type { Scope } from '../core/vocabulary.ts';
import type { EntropyReader } from '../values/entropy-reader.ts';
import { answerFormOf, describedHead } from './answer-reply.ts';
import { Call, type CallSurroundings } from './call.ts';
import { compressed } from './compression.ts';
import type { CorsPolicy } from './cors.ts';
import type { DataEndpointDefinition } from './endpoint.ts';
import { clientError, errorReply, type Reply } from './error-reply.ts';
import type { Exchange } from './exchange.ts';
import { type Field, headOf } from './head.ts';
import { unknownParameters } from './params.ts';
import { rateFacts, rateFields } from './rate-fields.ts';
import { requestNames } from './request-id.ts';
import { endpointRow, type RequestRecord } from './request-record.ts';

/** Answers a call that passed the limits. What it throws or rejects with is answered as an error. */
export type Handler = (call: Call) => Reply | Promise<Reply>;

/** A resource that draws no entropy. */
export interface PlainRoute {
  readonly path: string;
  readonly methods: readonly string[];
  /** The key's scope it needs; null needs no key and knows no limits. */
  readonly scope: Scope | null;
  /** Counts against the rate limit. */
  readonly limited: boolean;
  readonly handler: Handler;
}

interface Route {
  /** The endpoint that its requests are counted under. */
  readonly endpoint: number;
  readonly methods: readonly string[];
  readonly scope: Scope | null;
  readonly limited: boolean;
  readonly data: DataEndpointDefinition | undefined;
  readonly handler: Handler | undefined;
}

interface Parsed {
  readonly request: DataRequest;
  /** The value of X-Ignored-Parameters, or ''. */
  readonly ignored: string;
}

/** Parsed queries kept per endpoint; clients repeat a few shapes. Long ones are not worth the memory. */
const PARSED_MAX = 2_048;
const PARSED_QUERY_LENGTH_MAX = 256;

export interface RouterOptions {
  readonly directory: AccountDirectory;
  readonly dataEndpoints: readonly DataEndpointDefinition[];
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
}

/**
 * The one place that walks a request through its life: route → key → rate → quota → scope → parameters, and
 * then to its handler. A request refused at any step has drawn nothing, spent nothing and changed nothing but
 * its rate token.
 */
export class Router {
  readonly #options: RouterOptions;
  readonly #routes = new Map<string, Route>();
  readonly #prefixes: readonly { readonly path: string; readonly route: Route }[];
  readonly #around: CallSurroundings;
  /** Requests for values that came in this turn of the loop. */
  #waiting: { readonly call: Call; readonly route: Route }[] = [];
  readonly #parsed = new Map<DataEndpointDefinition, Map<string, Parsed>>();

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#around = {
      record: options.record,
      cors: options.cors,
      fail: (call, error) => this.#fail(call, error),
    };
    for (const endpoint of options.dataEndpoints) {
      const methods = endpoint.method === 'GET' ? ['GET', 'HEAD'] : [endpoint.method];
      this.#routes.set(endpoint.path, {
        endpoint: endpointRow(endpoint.name),
        methods,
        scope: endpoint.scope,
        limited: true,
        data: endpoint,
        handler: undefined,
      });
      this.#parsed.set(endpoint, new Map());
    }
    for (const route of options.routes) this.#routes.set(route.path, plainRoute(route));
    this.#prefixes = options.prefixes.map((each) => ({ path: each.path, route: plainRoute(each) }));
  }

  /** Takes a request from the front. Never throws. */
  handle(exchange: Exchange): void {
    const call = this.#callOf(exchange);
    try {
      this.#walk(call);
    } catch (error) {
      this.#fail(call, error);
    }
  }

  /**
   * Answers what the front itself refuses: before it handed the request over, or past its deadline. Never
   * throws.
   */
  refuse(exchange: Exchange, error: ApiError): void {
    const call = exchange.call ?? this.#callOf(exchange);
    call.endpoint = this.#routeOf(exchange.path)?.endpoint ?? call.endpoint;
    this.#fail(call, error);
  }

  #callOf(exchange: Exchange): Call {
    const { clock, random } = this.#options;
    const id = new Uint8Array(16);
    random.fill(id);
    const call = new Call(exchange, id, clock.wallMs(), clock.monotonicMs(), this.#around);
    exchange.call = call;
    exchange.requestId = call.requestId;
    return call;
  }

  #routeOf(path: string): Route | undefined {
    return this.#routes.get(path) ?? this.#prefixed(path);
  }

  #walk(call: Call): void {
    const { exchange } = call;
    const route = this.#routeOf(exchange.path);
    if (route === undefined) throw new ApiError('not_found');
    call.endpoint = route.endpoint;
    if (!route.methods.includes(exchange.method)) {
      this.#otherMethod(call, route);
      return;
    }
    if (route.scope !== null && !this.#authenticate(call)) {
      this.#lookUpKey(call, route);
      return;
    }
    this.#admitted(call, route);
  }

  /** The part of the way that follows the key. */
  #admitted(call: Call, route: Route): void {
    if (route.data !== undefined) {
      if (call.exchange.method === 'HEAD') this.#describe(call, route, route.data);
      else this.#later(call, route);
      return;
    }
    if (route.limited) this.#admit(call);
    this.#plain(call, route, route.handler!);
  }

  /**
   * Holds a request for values until the loop has turned. The HTTP library reads a connection on after it
   * handed a request over, and cuts it for a pipelined request: a client that is gone by then is neither
   * counted nor charged.
   */
  #later(call: Call, route: Route): void {
    if (this.#waiting.length === 0) setImmediate(this.#turn);
    this.#waiting.push({ call, route });
  }

  readonly #turn = (): void => {
    const arrived = this.#waiting;
    this.#waiting = [];
    for (const { call, route } of arrived) {
      if (call.exchange.aborted) this.#options.record.aborted();
      if (call.exchange.aborted || call.exchange.answered) continue;
      try {
        this.#data(call, route, route.data!);
      } catch (error) {
        this.#fail(call, error);
      }
    }
  };

  /**
   * HEAD of a data endpoint: checked as GET is, and answered with the fields that are known without a draw.
   */
  #describe(call: Call, route: Route, endpoint: DataEndpointDefinition): void {
    const account = call.account!;
    const { record, allowance, meter } = account;
    this.#requireRate(call, account, meter.peek(this.#options.clock.monotonicMs()));
    const period = meter.periodAt(periodOf(call.atMs));
    this.#requireScope(call, route.scope);
    const { request, ignored } = this.#parse(call, endpoint);
    call.form = answerFormOf(call.exchange.accept, request);
    call.mode = resolveMode(request.mode, record.tier, allowance);
    const remaining = meter.creditsRemaining(period);
    if (!request.dryRun) {
      requireRequest({ hasRequest: meter.requestsRemaining(period) > 0 }, call.atMs);
      const required = call.mode === 'pure' ? entropyBytes(request.values) : 0;
      if (required > remaining) throw new ApiError('credits_exhausted', { details: { required, remaining } });
    }
    call.exchange.hasUnknownLength = true;
    const told = request.dryRun ? '' : ignored; // a quote does not list them either
    call.send(describedHead(call.form, call.mode, remaining, told, call), new Uint8Array(0));
  }

  #plain(call: Call, route: Route, handler: Handler): void {
    this.#requireScope(call, route.scope);
    const reply = handler(call);
    if (reply instanceof Promise) {
      reply.then(
        (ready) => this.#sendDocument(call, ready),
        (error: unknown) => this.#fail(call, error),
      );
    } else this.#sendDocument(call, reply);
  }

  #prefixed(path: string): Route | undefined {
    return this.#prefixes.find((each) => path.startsWith(each.path))?.route;
  }

  /** OPTIONS answers what the resource allows (RFC 9110 §9.3.7); anything else is 405 with the same list. */
  #otherMethod(call: Call, route: Route): void {
    const { method, origin, accessControlRequestMethod } = call.exchange;
    const allow = [...route.methods, 'OPTIONS'].join(', ');
    if (method !== 'OPTIONS') throw new ApiError('method_not_allowed', { allow });
    const fields: Field[] = [
      ['Allow', allow],
      ['X-Request-ID', call.requestUuid],
    ];
    if (accessControlRequestMethod !== '')
      fields.push(...this.#options.cors.preflight(origin, route.methods));
    call.send(headOf(204, fields), new Uint8Array(0));
  }

  /**
   * A key that a command has just made is not in memory yet: the ledger is asked before the key is refused.
   */
  #lookUpKey(call: Call, route: Route): void {
    this.#options.directory
      .refresh()
      .then(() => {
        if (!this.#authenticate(call)) throw new ApiError('auth_invalid');
        this.#admitted(call, route);
      })
      .catch((error: unknown) => this.#fail(call, error));
  }

  /** False for a key that may have been made a moment ago. Throws for one that is refused. */
  #authenticate(call: Call): boolean {
    const keyText = bearerOf(call.exchange.authorization) || call.exchange.apiKey; // Bearer wins
    if (keyText === '') throw new ApiError('auth_missing');
    const found = this.#options.directory.authenticate(keyText);
    if (found === undefined) {
      if (call.isKeyLookedUp || !this.#options.directory.mayBeNew(keyText))
        throw new ApiError('auth_invalid');
      call.isKeyLookedUp = true;
      return false;
    }
    call.account = found.account;
    call.scopes = found.key.scopes;
    return true;
  }

  #admit(call: Call): void {
    const { account } = call;
    if (account === undefined) return;
    const { clock } = this.#options;
    this.#requireRate(call, account, account.meter.admit(clock.monotonicMs()));
  }

  #requireRate(call: Call, { meter }: Account, decision: Readonly<RateDecision>): void {
    call.rate = rateFacts(decision, meter.limit, call.atMs, this.#options.rateLimitFields);
    if (!decision.allowed) throw new ApiError('rate_limited', { retryAfterS: retryAfterS(decision) });
  }

  #requireScope(call: Call, scope: Scope | null): void {
    if (scope === null || call.scopes.includes(scope)) return;
    throw new ApiError('auth_scope', {
      message: `This API key lacks the scope ${scope}.`,
      details: { scope },
    });
  }

  #data(call: Call, route: Route, endpoint: DataEndpointDefinition): void {
    const account = call.account!;
    const { clock, answers } = this.#options;
    const reservation = account.meter.enter(clock.monotonicMs(), periodOf(call.atMs));
    this.#requireRate(call, account, account.meter.decision);
    let parsed: Parsed;
    try {
      this.#requireScope(call, route.scope);
      parsed = this.#parse(call, endpoint);
      call.form = answerFormOf(call.exchange.accept, parsed.request); // throws not_acceptable
    } catch (error) {
      // a used-up quota comes before what is wrong with the request; a quote and a replay need none
      // (answer/answers.ts)
      requireRequest(reservation, call.atMs);
      reservation.release();
      throw error;
    }
    call.ignored = parsed.ignored;
    answers.answer(call, account, reservation, parsed.request);
  }

  #parse(call: Call, endpoint: DataEndpointDefinition): Parsed {
    const parsed = this.#parsedOf(call.exchange, endpoint);
    if (this.#options.strictParameters && parsed.ignored !== '') {
      throw unknownParameters(parsed.ignored.split(', '));
    }
    return parsed;
  }

  #parsedOf(exchange: Exchange, endpoint: DataEndpointDefinition): Parsed {
    if (endpoint.method !== 'GET') return parsedOf(endpoint, exchange);
    const cache = this.#parsed.get(endpoint)!;
    const known = cache.get(exchange.query);
    if (known !== undefined) return known;
    const parsed = parsedOf(endpoint, exchange);
    if (cache.size < PARSED_MAX && exchange.query.length <= PARSED_QUERY_LENGTH_MAX)
      cache.set(exchange.query, parsed);
    return parsed;
  }

  #sendDocument(call: Call, reply: Reply): void {
    const { head, body } = compressed(reply, call.exchange.acceptEncoding);
    call.send(head, body);
  }

  #fail(call: Call, thrown: unknown): void {
    const error = clientError(thrown);
    if (!(thrown instanceof ApiError)) {
      const fault = thrown instanceof Error ? thrown : new Error(String(thrown));
      const { trace } = call;
      const named = requestNames(call.requestId);
      const names = trace === undefined ? named : { ...named, trace_id: trace.traceId };
      this.#options.log.error({ ...names, fault: fault.stack }, 'fault');
    }
    call.error = error.code;
    const fields = rateFields(call.rate);
    const reply = errorReply(error, { requestId: call.requestId, accept: call.exchange.accept, fields });
    call.send(reply.head, reply.body);
  }
}

function plainRoute(route: PlainRoute): Route {
  const name = route.path.slice('/v1/'.length);
  const label = ENDPOINT_LABELS.find((each) => route.path === `/v1/${name}` && each === name) ?? 'public';
  return { ...route, endpoint: endpointRow(label), data: undefined };
}

function parsedOf(endpoint: DataEndpointDefinition, exchange: Exchange): Parsed {
  const { request, ignored } = endpoint.parse(exchange);
  return { request, ignored: ignored.join(', ') };
}

/**
 * The token of a Bearer header, scheme in any case (RFC 6750 §2.1, RFC 9110 §11.1); '' for another scheme or
 * none.
 */
function bearerOf(authorization: string): string {
  const scheme = authorization.slice(0, 7);
  return scheme === 'Bearer ' || scheme.toLowerCase() === 'bearer ' ? authorization.slice(7).trim() : '';
}
