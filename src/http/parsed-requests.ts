import { Plan } from '../answer/request.ts';
import type { DrawingEndpointDefinition, RequestContent, StreamPlan } from './endpoint.ts';
import { unknownParameters } from './params.ts';

/** A parsed request for values. */
export interface ParsedRequest {
  /** The plan of all values, also for a stream. */
  readonly plan: Plan;
  readonly stream: StreamPlan | undefined;
  /** The value of X-Ignored-Parameters, or ''. */
  readonly ignored: string;
}

/** Bounds on the cache of parsed queries of an endpoint. Clients repeat a few queries; long ones are not worth the memory. */
const PARSED_MAX = 2_048;
const PARSED_QUERY_LENGTH_MAX = 256;

/**
 * Returns the function that parses the requests of a data endpoint, and caches the results for queries. It throws the ApiError of
 * the first invalid parameter; with `isStrict`, unknown parameters are invalid too.
 */
export function requestParser(endpoint: DrawingEndpointDefinition, isStrict: boolean) {
  const known = new Map<string, ParsedRequest>();
  return (content: RequestContent): ParsedRequest => {
    const { method, query } = content;
    const found = method === 'POST' ? undefined : known.get(query);
    if (found !== undefined) return found;
    const { request, ignored, stream } = endpoint.parse(content);
    if (isStrict && ignored.length > 0) throw unknownParameters(ignored);
    const parsed = { plan: new Plan(request), ignored: ignored.join(', '), stream };
    const isShort = query.length <= PARSED_QUERY_LENGTH_MAX && known.size < PARSED_MAX;
    // labels are mostly used once, and would fill the cache
    if (method !== 'POST' && isShort && request.label === undefined) known.set(query, parsed);
    return parsed;
  };
}
