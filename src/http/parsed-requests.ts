import { Plan } from '../answer/request.ts';
import { type AnswerOffer, answerOfferOf, streamOfferOf } from './answer-reply.ts';
import type { DrawingEndpointDefinition, StreamPlan } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { unknownParameters } from './params.ts';

/** A request for values as its parameters say it. */
export interface ParsedRequest {
  /** Of all values that are asked for. */
  readonly plan: Plan;
  readonly stream: StreamPlan | undefined;
  /** The value of X-Ignored-Parameters, or ''. */
  readonly ignored: string;
  /** How it is answered where Accept does not matter, once that was worked out. */
  usualOffer: AnswerOffer | undefined;
}

/** Parsed queries kept per endpoint; clients repeat a few shapes. Long ones are not worth the memory. */
const PARSED_MAX = 2_048;
const PARSED_QUERY_LENGTH_MAX = 256;

/** Parses requests for values, and keeps what it made of the queries that are repeated. */
export class ParsedRequests {
  readonly #isStrict: boolean;
  readonly #byEndpoint: ReadonlyMap<DrawingEndpointDefinition, Map<string, ParsedRequest>>;

  /** With `isStrict`, parameters that are not known are refused. */
  constructor(endpoints: readonly DrawingEndpointDefinition[], isStrict: boolean) {
    this.#isStrict = isStrict;
    this.#byEndpoint = new Map(endpoints.map((endpoint) => [endpoint, new Map()]));
  }

  /** Throws what is wrong with the parameters. */
  of(exchange: Exchange, endpoint: DrawingEndpointDefinition): ParsedRequest {
    const parsed = this.#parsedOf(exchange, endpoint);
    if (this.#isStrict && parsed.ignored !== '') throw unknownParameters(parsed.ignored.split(', '));
    return parsed;
  }

  #parsedOf(exchange: Exchange, endpoint: DrawingEndpointDefinition): ParsedRequest {
    if (exchange.method === 'POST') return parsedOf(endpoint, exchange);
    const cache = this.#byEndpoint.get(endpoint)!;
    const known = cache.get(exchange.query);
    if (known !== undefined) return known;
    const parsed = parsedOf(endpoint, exchange);
    // a label is mostly of one request alone: it would take the room from those that are repeated
    if (parsed.plan.request.label !== undefined) return parsed;
    if (cache.size < PARSED_MAX && exchange.query.length <= PARSED_QUERY_LENGTH_MAX)
      cache.set(exchange.query, parsed);
    return parsed;
  }
}

/** The media type that answers the request. Throws `not_acceptable`. */
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
