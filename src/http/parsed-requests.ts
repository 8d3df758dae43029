import { Plan } from '../answer/request.ts';
import { type AnswerOffer, answerOfferOf, streamOfferOf } from './answer-reply.ts';
import type { DrawingEndpointDefinition, StreamPlan } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { unknownParameters } from './params.ts';

/** A parsed request for values. */
export interface ParsedRequest {
  /** The plan of all values, also for a stream. */
  readonly plan: Plan;
  readonly stream: StreamPlan | undefined;
  /** The value of X-Ignored-Parameters, or ''. */
  readonly ignored: string;
  /** The format of the answer to a client that accepts any; undefined before it is first needed. */
  usualOffer: AnswerOffer | undefined;
}

/** Bounds on the cache of parsed queries of an endpoint. Clients repeat a few queries; long ones are not worth the memory. */
const PARSED_MAX = 2_048;
const PARSED_QUERY_LENGTH_MAX = 256;

/** Parses the requests of a data endpoint, and caches the results for queries. */
export class ParsedRequests {
  readonly #endpoint: DrawingEndpointDefinition;
  readonly #isStrict: boolean;
  readonly #known = new Map<string, ParsedRequest>();

  /** With `isStrict`, unknown parameters are refused. */
  constructor(endpoint: DrawingEndpointDefinition, isStrict: boolean) {
    this.#endpoint = endpoint;
    this.#isStrict = isStrict;
  }

  /** Returns the parsed request. Throws the ApiError of the first invalid parameter. */
  of(exchange: Exchange): ParsedRequest {
    const isQuery = exchange.method !== 'POST';
    let parsed = isQuery ? this.#known.get(exchange.query) : undefined;
    if (parsed === undefined) {
      parsed = parsedOf(this.#endpoint, exchange);
      if (isQuery) this.#keep(exchange.query, parsed);
    }
    if (this.#isStrict && parsed.ignored !== '') throw unknownParameters(parsed.ignored.split(', '));
    return parsed;
  }

  /** Caches a query, except one with a label: labels are mostly used once, and would fill the cache. */
  #keep(query: string, parsed: ParsedRequest): void {
    if (this.#known.size >= PARSED_MAX || query.length > PARSED_QUERY_LENGTH_MAX) return;
    if (parsed.plan.request.label === undefined) this.#known.set(query, parsed);
  }
}

/** Returns the format of the answer. Throws `not_acceptable`. */
export function offerOf(accept: string, parsed: ParsedRequest): AnswerOffer {
  const { plan, stream } = parsed;
  if (stream !== undefined) return streamOfferOf(accept, plan.request);
  if (accept !== '' && accept !== '*/*') return answerOfferOf(accept, plan.request);
  return (parsed.usualOffer ??= answerOfferOf(accept, plan.request));
}

function parsedOf(endpoint: DrawingEndpointDefinition, exchange: Exchange): ParsedRequest {
  const { request, ignored, stream } = endpoint.parse(exchange);
  return { plan: new Plan(request), ignored: ignored.join(', '), stream, usualOffer: undefined };
}
