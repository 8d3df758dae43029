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

/** Parses the requests of an endpoint for values, and keeps what it made of the queries that are repeated. */
export class ParsedRequests {
  readonly #endpoint: DrawingEndpointDefinition;
  readonly #isStrict: boolean;
  readonly #known = new Map<string, ParsedRequest>();

  /** With `isStrict`, parameters that are not known are refused. */
  constructor(endpoint: DrawingEndpointDefinition, isStrict: boolean) {
    this.#endpoint = endpoint;
    this.#isStrict = isStrict;
  }

  /** Throws what is wrong with the parameters. */
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

  /** A label is mostly of one request alone: it would take the room from those that are repeated. */
  #keep(query: string, parsed: ParsedRequest): void {
    if (this.#known.size >= PARSED_MAX || query.length > PARSED_QUERY_LENGTH_MAX) return;
    if (parsed.plan.request.label === undefined) this.#known.set(query, parsed);
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
