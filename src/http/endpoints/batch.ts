import { ApiError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import { repeatedMember } from '../../core/repeated-member.ts';
import { jsonBytesMax, type ValueRequest } from '../../values/value-request.ts';
import {
  type DataEndpointDefinition,
  ENVELOPE_BYTES_MAX,
  type ParsedDataRequest,
  type RequestContent,
} from '../endpoint.ts';
import {
  duplicate,
  grouped,
  ignore,
  type ParameterDefinition,
  type ReadValues,
  readJson,
  readParameters,
  readText,
  splitQuery,
  type ValuesOf,
} from '../params.ts';
import { isJson } from '../representation.ts';
import {
  GAUSSIANS_PARAMS,
  PERMUTATIONS_PARAMS,
  permutationsRequest,
  SAMPLE_PARAMS,
  SEQUENCES_PARAMS,
  STRINGS_PARAMS,
  sampleRequest,
  sequencesRequest,
  stringsRequest,
  WEIGHTED_PARAMS,
  weightedRequest,
} from './lists.ts';
import { COMMON_PARAMETERS, commonRequest, ENCODING, INTEGERS_PARAMS, PRECISION } from './values.ts';

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

/** What `params` of a type may hold, and what they ask for; they are read with `count` known. */
interface BatchType {
  readonly params: readonly ParameterDefinition[];
  readonly request: (values: ReadValues, count: number) => ValueRequest;
}

function batchType<const D extends readonly ParameterDefinition[]>(
  params: D,
  request: (values: ValuesOf<D>, count: number) => ValueRequest,
): BatchType {
  return { params, request: (values, count) => request(values as ValuesOf<D>, count) };
}

const NUMBERS_MAX = LIMITS.batchCountMax;
const TYPES = {
  integers: batchType(INTEGERS_PARAMS, (own, count) => ({ kind: 'integers', count, ...own })),
  floats: batchType([PRECISION], (own, count) => ({ kind: 'floats', count, ...own })),
  bytes: batchType([ENCODING, LENGTH], (own, count) => ({ kind: 'bytes', count, ...own, single: false })),
  uuid: batchType([], (_, count) => ({ kind: 'uuid', count })),
  sample: batchType(SAMPLE_PARAMS, sampleRequest),
  weighted: batchType(WEIGHTED_PARAMS, weightedRequest),
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
  errors: [
    'unsupported_media_type',
    'payload_too_large',
    'invalid_json',
    'invalid_params',
    'unique_impossible',
    'invalid_sequences',
  ],
  parse,
};

function parse(content: RequestContent): ParsedDataRequest {
  if (!isJson(content.contentType)) throw new ApiError('unsupported_media_type');
  const body = parseJsonObject(content.body);
  const query = splitQuery(COMMON_PARAMETERS, content.query);
  const ignored = [...query.ignored];
  const members = known(body, [...MEMBERS, ...COMMON_PARAMETERS], ignored, '', ['params']);
  const { type, count } = readParameters(MEMBERS, members, readJson);
  const values = readValues(type, count, body, ignored);
  requireReplyFits(values);
  const common = commonRequest(readCommon(members, query.given, ignored));
  return {
    request: { endpoint: 'batch', values, valueKey: 'values', members: { count, type }, ...common },
    ignored,
  };
}

/** The values of an object of `type`, `count` and `params`, as a body of the endpoint has them. */
export function readBatchRequest(
  request: Readonly<Record<string, unknown>>,
  ignored: string[],
  prefix: string,
): ValueRequest {
  const given = known(request, MEMBERS, ignored, prefix, ['params']);
  const { type, count } = readParameters(MEMBERS, given, readJson, prefix);
  return readValues(type, count, request, ignored, prefix);
}

function readValues(
  type: keyof typeof TYPES,
  count: number,
  body: Readonly<Record<string, unknown>>,
  ignored: string[],
  prefix = '',
): ValueRequest {
  const params = Object.hasOwn(body, 'params') ? body['params'] : {};
  if (!isObject(params)) throw new ApiError('invalid_params');
  const { params: definitions, request } = TYPES[type];
  const given = known(params, definitions, ignored, `${prefix}params.`);
  return request(readParameters(definitions, given, readJson, `${prefix}params.`, { count }), count);
}

/** The members of an object that definitions name; the others are reported as ignored. */
export function known(
  object: Readonly<Record<string, unknown>>,
  definitions: readonly ParameterDefinition[],
  ignored: string[],
  prefix: string,
  alsoKnown: readonly string[] = [],
): Map<string, unknown> {
  const given = new Map<string, unknown>();
  for (const [name, value] of Object.entries(object)) {
    if (definitions.some((definition) => definition.name === name)) given.set(name, value);
    else if (!alsoKnown.includes(name)) ignore(ignored, prefix + name);
  }
  return given;
}

/** In the body or the query; the body wins. */
function readCommon(
  members: ReadonlyMap<string, unknown>,
  query: ReadonlyMap<string, string>,
  ignored: string[],
): ValuesOf<typeof COMMON_PARAMETERS> {
  const given = new Map<string, { json: unknown } | { text: string }>();
  for (const [name, text] of query) {
    if (members.has(name)) ignore(ignored, name);
    else given.set(name, { text });
  }
  for (const { name } of COMMON_PARAMETERS)
    if (members.has(name)) given.set(name, { json: members.get(name) });
  return readParameters(COMMON_PARAMETERS, given, (definition, each) =>
    'text' in each ? readText(definition, each.text) : readJson(definition, each.json),
  );
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

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * A request body as one JSON object. Throws invalid_json for anything else, for bytes that are not UTF-8
 * included (RFC 8259 §8.1; a byte order mark is skipped), and duplicate_parameter where an object names a
 * member twice: JSON.parse would keep the last one, and the service never does (RFC 8259 §4 leaves it open).
 */
export function parseJsonObject(body: Uint8Array): Readonly<Record<string, unknown>> {
  const text = decode(body);
  const value = parseJson(text);
  if (!isObject(value)) throw new ApiError('invalid_json');
  const repeated = repeatedMember(text);
  if (repeated !== undefined) throw duplicate(repeated);
  return value;
}

function decode(body: Uint8Array): string {
  try {
    return utf8.decode(body);
  } catch (error) {
    if (error instanceof TypeError) throw new ApiError('invalid_json');
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new ApiError('invalid_json');
    throw error;
  }
}
