import { ApiError } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import { oneOfWords, wholeFrom } from '../../core/schema.ts';
import type { DataEndpoint } from '../../core/vocabulary.ts';
import type { ValueRequest } from '../../values/value-request.ts';
import {
  BODY_ERRORS,
  COMMON_PARAMETERS,
  commonRequest,
  type DataEndpointDefinition,
  FORMAT,
  FORMATS,
  type RequestContent,
  readBody,
} from '../endpoint.ts';
import { membersOf, readMembers } from '../json-body.ts';
import {
  isListOfTexts,
  type ParameterDefinition,
  parameter,
  type ReadValues,
  readParameters,
  type SplitQuery,
  splitQuery,
  type ValuesOf,
} from '../params.ts';
import { BATCH_KINDS, type BatchType, echoOf, KINDS, type Kind } from './kinds.ts';
import { requireReplyFits } from './relations.ts';

/** Returns the request of a kind's endpoint from its valid parameters. Throws an ApiError when they do not fit each other. */
export function valuesRequest(name: keyof typeof KINDS, read: ReadValues, count: number) {
  const kind = KINDS[name];
  return {
    endpoint: name,
    values: kind.ask(read, count, LIMITS.integersCountMax),
    valueKey: kind.valueKey,
    members: { ...(kind.count && { count }), ...echoOf(kind, read, count) },
  };
}

export function valuesEndpoint(name: Exclude<DataEndpoint, 'batch'>): DataEndpointDefinition {
  const { summary, count, own: ownExceptCount, errors } = KINDS[name];
  const own = count === undefined ? ownExceptCount : [count, ...ownExceptCount];
  const parameters = [...own, ...COMMON_PARAMETERS];
  // a list of items may be longer than a URL
  const takesBody = own.some(({ schema }) => isListOfTexts(schema));
  return {
    ...{ name, method: 'GET', path: `/v1/${name}`, scope: 'entropy:read', summary, parameters },
    errors: takesBody ? [...errors, ...BODY_ERRORS] : errors,
    ...(takesBody && { body: { members: parameters } }),
    parse(content) {
      const { given, ignored } =
        content.method === 'POST'
          ? readBody(content, own)
          : withoutAlias(splitQuery(parameters, content.query), parameters);
      const read: ReadValues = readParameters(parameters, given);
      const common = commonRequest(read as ValuesOf<typeof COMMON_PARAMETERS>);
      return {
        request: { ...valuesRequest(name, read, (read['count'] ?? 1) as number), ...common },
        ignored,
      };
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
  const format = given.get(FORMAT.name) as (typeof FORMATS)[number];
  if (
    !given.has(FORMAT.name) ||
    FORMATS.includes(format) ||
    !parameters.some(({ name }) => name === ENCODING)
  )
    return query;
  const withAlias = new Map<string, unknown>([[ENCODING, format], ...given]);
  withAlias.delete(FORMAT.name);
  return { given: withAlias, ignored: given.has(ENCODING) ? [...ignored, FORMAT.name] : ignored };
}

const BATCH_MEMBERS = [
  parameter('type', oneOfWords(Object.keys(BATCH_KINDS) as BatchType[]), 'The kind of values.', {
    required: true,
  }),
  parameter('count', wholeFrom(1, LIMITS.batchCountMax), 'The number of values.', { required: true }),
] as const;

export const BATCH: DataEndpointDefinition = {
  name: 'batch',
  method: 'POST',
  path: '/v1/batch',
  scope: 'entropy:batch',
  summary: 'Up to 100,000 random values of one kind in one answer.',
  parameters: COMMON_PARAMETERS,
  body: {
    members: [...BATCH_MEMBERS, ...COMMON_PARAMETERS],
    params: Object.fromEntries(Object.entries(BATCH_KINDS).map(([type, { own }]) => [type, own])),
  },
  errors: [...BODY_ERRORS, 'invalid_params', 'unique_impossible', 'invalid_sequences'],
  parse(content: RequestContent) {
    const { body, given, ignored } = readBody(content, BATCH_MEMBERS, { alsoKnown: ['params'], placeOf });
    const request = readAsked(body, given, '');
    requireReplyFits(request.values);
    return { request: { ...request, ...commonRequest(readParameters(COMMON_PARAMETERS, given)) }, ignored };
  },
};

/** Returns the request of a batch from the valid parameters of its type. Throws an ApiError when they do not fit each other. */
export function batchRequest(type: BatchType, read: ReadValues, count: number) {
  const kind: Kind = BATCH_KINDS[type];
  return {
    endpoint: 'batch',
    values: kind.ask(read, count, LIMITS.batchCountMax),
    valueKey: 'values',
    members: { count, params: echoOf(kind, read, count), type },
  } as const;
}

/** Reads the values that an object with the members `type`, `count` and `params` asks for, like the body of a batch. */
export function readBatchRequest(request: JsonObject, prefix: string): ValueRequest {
  const members = membersOf(request, BATCH_MEMBERS, { prefix, alsoKnown: ['params'], placeOf });
  return readAsked(request, members, prefix).values;
}

/** Reads `type`, `count` and `params`. The checks of the params see `count`. */
function readAsked(body: JsonObject, members: ReadonlyMap<string, unknown>, prefix: string) {
  const { type, count } = readParameters(BATCH_MEMBERS, members, prefix);
  const params = Object.hasOwn(body, 'params') ? body['params'] : {};
  if (!isObject(params)) throw new ApiError('invalid_params');
  const { own }: Kind = BATCH_KINDS[type];
  const place = { prefix: `${prefix}params.`, placeOf: placeBesideParams };
  return batchRequest(type, readMembers(params, own, place, { count }), count);
}

// to give a type's parameters beside `count` is the most common mistake, so the messages say where a misplaced member belongs

function placeOf(name: string): string | undefined {
  const isOfType = Object.values(BATCH_KINDS).some(({ own }) => own.some((each) => each.name === name));
  return isOfType ? 'in params' : undefined;
}

function placeBesideParams(name: string): string | undefined {
  return [...BATCH_MEMBERS, ...COMMON_PARAMETERS].some((each) => each.name === name)
    ? 'beside params'
    : undefined;
}
