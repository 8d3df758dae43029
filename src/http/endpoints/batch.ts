import type { EchoedMembers } from '../../answer/request.ts';
import { ApiError } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import { jsonBytesMax, type ValueRequest } from '../../values/value-request.ts';
import {
  type DataEndpointDefinition,
  ENVELOPE_BYTES_MAX,
  type ParsedDataRequest,
  type RequestContent,
} from '../endpoint.ts';
import { membersOf } from '../json-body.ts';
import {
  grouped,
  type ParameterDefinition,
  type ReadValues,
  readJson,
  readParameters,
  type ValuesOf,
} from '../params.ts';
import {
  GAUSSIANS_PARAMS,
  PERMUTATIONS_PARAMS,
  permutationsRequest,
  SAMPLE_PARAMS,
  SEQUENCES_PARAMS,
  STRINGS_PARAMS,
  sampleEcho,
  sampleRequest,
  sequencesRequest,
  stringsRequest,
  WEIGHTED_PARAMS,
  weightedEcho,
  weightedRequest,
} from './lists.ts';
import { BODY_ERRORS, COMMON_PARAMETERS, ENCODING, INTEGERS_PARAMS, PRECISION, readBody } from './values.ts';

export const TYPE = {
  name: 'type',
  kind: 'choice',
  values: ['integers', 'floats', 'bytes', 'uuid'],
  required: true,
  error: 'invalid_type',
  description: 'What kind of values.',
} as const satisfies ParameterDefinition;

export const LENGTH = {
  name: 'length',
  kind: 'integer',
  min: 1,
  max: LIMITS.batchBytesLengthMax,
  default: 16,
  error: 'invalid_length',
  description: 'Bytes per value.',
} as const satisfies ParameterDefinition;

/** What a batch draws, and the effective parameters that its answer echoes: its commitment is then bound to them. */
interface AskedOfBatch {
  readonly values: ValueRequest;
  readonly params: EchoedMembers;
}

/** What `params` of a type may hold, and what they ask for; they are read with `count` known. */
interface BatchType {
  readonly params: readonly ParameterDefinition[];
  readonly ask: (values: ReadValues, count: number) => AskedOfBatch;
}

function batchType<const D extends readonly ParameterDefinition[]>(
  params: D,
  request: (values: ValuesOf<D>, count: number) => ValueRequest,
  echo: (values: ValuesOf<D>) => EchoedMembers = (values) => values as EchoedMembers,
): BatchType {
  return {
    params,
    ask: ({ count: _, ...own }, count) => {
      const values = request(own as ValuesOf<D>, count);
      return { values, params: echo(own as ValuesOf<D>) };
    },
  };
}

const NUMBERS_MAX = LIMITS.batchCountMax;
const TYPES = {
  integers: batchType(INTEGERS_PARAMS, (own, count) => ({ kind: 'integers', count, ...own })),
  floats: batchType([PRECISION], (own, count) => ({ kind: 'floats', count, ...own })),
  bytes: batchType([ENCODING, LENGTH], (own, count) => ({ kind: 'bytes', count, ...own, single: false })),
  uuid: batchType([], (_, count) => ({ kind: 'uuid', count })),
  sample: batchType(SAMPLE_PARAMS, sampleRequest, sampleEcho),
  weighted: batchType(WEIGHTED_PARAMS, weightedRequest, weightedEcho),
  strings: batchType(STRINGS_PARAMS, stringsRequest),
  sequences: batchType(SEQUENCES_PARAMS, (own, count) => sequencesRequest(own, count, NUMBERS_MAX)),
  permutations: batchType(PERMUTATIONS_PARAMS, (own, count) => permutationsRequest(own, count, NUMBERS_MAX)),
  gaussians: batchType(GAUSSIANS_PARAMS, (own, count) => ({ kind: 'gaussians', count, ...own })),
};

const MEMBERS = [
  { ...TYPE, values: Object.keys(TYPES) as (keyof typeof TYPES)[] },
  {
    name: 'count',
    kind: 'integer',
    min: 1,
    max: LIMITS.batchCountMax,
    required: true,
    error: 'invalid_count',
    description: 'How many values.',
  },
] as const satisfies readonly ParameterDefinition[];

export const BATCH: DataEndpointDefinition = {
  name: 'batch',
  method: 'POST',
  path: '/v1/batch',
  scope: 'entropy:batch',
  summary: 'Up to 100,000 values in one answer.',
  parameters: COMMON_PARAMETERS,
  body: {
    members: [...MEMBERS, ...COMMON_PARAMETERS],
    params: Object.fromEntries(Object.entries(TYPES).map(([type, { params }]) => [type, params])),
  },
  errors: [...BODY_ERRORS, 'invalid_params', 'unique_impossible', 'invalid_sequences'],
  parse,
};

function parse(content: RequestContent): ParsedDataRequest {
  const { body, members, common, ignored } = readBody(content, MEMBERS, { alsoKnown: ['params'], placeOf });
  const { type, count } = readParameters(MEMBERS, members, readJson);
  const { values, params } = readValues(type, count, body);
  requireReplyFits(values);
  return {
    request: { endpoint: 'batch', values, valueKey: 'values', members: { count, params, type }, ...common() },
    ignored,
  };
}

/** Parameters of a type are given beside `count` more often than any other mistake is made. */
function placeOf(name: string): string | undefined {
  const isOfType = Object.values(TYPES).some(({ params }) => params.some((each) => each.name === name));
  return isOfType ? 'in params' : undefined;
}

/** The values of an object of `type`, `count` and `params`, as a body of the endpoint has them. */
export function readBatchRequest(request: JsonObject, prefix: string): ValueRequest {
  const given = membersOf(request, MEMBERS, { prefix, alsoKnown: ['params'], placeOf });
  const { type, count } = readParameters(MEMBERS, given, readJson, prefix);
  return readValues(type, count, request, prefix).values;
}

function readValues(type: keyof typeof TYPES, count: number, body: JsonObject, prefix = ''): AskedOfBatch {
  const given = Object.hasOwn(body, 'params') ? body['params'] : {};
  if (!isObject(given)) throw new ApiError('invalid_params');
  const { params, ask } = TYPES[type];
  const place = { prefix: `${prefix}params.`, placeOf: placeBesideParams };
  return ask(
    readParameters(params, membersOf(given, params, place), readJson, place.prefix, { count }),
    count,
  );
}

function placeBesideParams(name: string): string | undefined {
  return [...MEMBERS, ...COMMON_PARAMETERS].some((each) => each.name === name) ? 'beside params' : undefined;
}

/** Throws 400 `invalid_params` for values whose JSON could be longer than a reply may be. */
export function requireReplyFits(values: ValueRequest): void {
  const bytes = jsonBytesMax(values) + ENVELOPE_BYTES_MAX;
  if (bytes <= LIMITS.replyBytesMax) return;
  throw new ApiError('invalid_params', {
    message: `The answer could take ${grouped(bytes)} bytes; at most ${grouped(LIMITS.replyBytesMax)} are sent. Ask for fewer or shorter values.`,
    details: { bytes, limit: LIMITS.replyBytesMax },
  });
}
