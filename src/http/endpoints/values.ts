import { LIMITS } from '../../core/limits.ts';
import type { DataEndpoint } from '../../core/vocabulary.ts';
import { type DataEndpointDefinition, FORMAT } from '../endpoint.ts';
import {
  type ParameterDefinition,
  type ReadValues,
  readParameters,
  readValue,
  type SplitQuery,
  splitQuery,
  type ValuesOf,
} from '../params.ts';
import { BODY_ERRORS, COMMON_PARAMETERS, commonRequest, readBody } from './common.ts';
import { KINDS } from './kinds.ts';

/** Returns the request of a kind's endpoint from its valid parameters. Throws an ApiError when they do not fit each other. */
export function valuesRequest(name: keyof typeof KINDS, read: ReadValues, count: number) {
  const kind = KINDS[name];
  return {
    endpoint: name,
    values: kind.ask(read, count, LIMITS.integersCountMax),
    valueKey: kind.valueKey,
    members: { ...(kind.count && { count }), ...kind.echo(read, count) },
  };
}

export function valuesEndpoint(name: Exclude<DataEndpoint, 'batch'>): DataEndpointDefinition {
  const kind = KINDS[name];
  const own = kind.count === undefined ? kind.own : [kind.count, ...kind.own];
  const parameters = [...own, ...COMMON_PARAMETERS];
  return {
    name,
    method: 'GET',
    path: `/v1/${name}`,
    scope: 'entropy:read',
    summary: kind.summary,
    parameters,
    errors: kind.takesBody ? [...kind.errors, ...BODY_ERRORS] : kind.errors,
    ...(kind.takesBody && { body: { members: parameters, params: {} } }),
    parse(content) {
      const { given, ignored } =
        content.method === 'POST'
          ? readBody(content, own)
          : withoutAlias(splitQuery(parameters, content.query), parameters);
      const read: ReadValues = readParameters(parameters, given);
      const { count = 1 } = read;
      const common = commonRequest(read as ValuesOf<typeof COMMON_PARAMETERS>);
      return { request: { ...valuesRequest(name, read, count as number), ...common }, ignored };
    },
  };
}

const ENCODING = 'encoding';

/**
 * Resolves the alias of an endpoint with `encoding`: a `format` that names no format of an answer stands for `encoding`. If
 * both are given, `encoding` wins.
 */
function withoutAlias(query: SplitQuery, parameters: readonly ParameterDefinition[]): SplitQuery {
  const { given, ignored } = query;
  const format = given.get(FORMAT.name);
  const isForm = !given.has(FORMAT.name) || readValue(FORMAT, format) !== undefined;
  if (isForm || !parameters.some(({ name }) => name === ENCODING)) return query;
  const withAlias = new Map<string, unknown>([[ENCODING, format], ...given]);
  withAlias.delete(FORMAT.name);
  return { given: withAlias, ignored: given.has(ENCODING) ? [...ignored, FORMAT.name] : ignored };
}
