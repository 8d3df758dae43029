import { ApiError } from '../../core/errors.ts';
import { grouped } from '../../core/figures.ts';
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
import { type ParameterDefinition, type ReadValues, readParameters } from '../params.ts';
import { BODY_ERRORS, COMMON_PARAMETERS, commonRequest, readBody } from './common.ts';
import { BATCH_KINDS, type BatchType, type Kind, ownOf } from './kinds.ts';

const MEMBERS = [
  {
    name: 'type',
    kind: 'choice',
    values: Object.keys(BATCH_KINDS) as BatchType[],
    required: true,
    error: 'invalid_type',
    description: 'What kind of values.',
  },
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
    params: Object.fromEntries(Object.entries(BATCH_KINDS).map(([type, { own }]) => [type, own])),
  },
  errors: [...BODY_ERRORS, 'invalid_params', 'unique_impossible', 'invalid_sequences'],
  parse,
};

function parse(content: RequestContent): ParsedDataRequest {
  const { body, given, ignored } = readBody(content, MEMBERS, { alsoKnown: ['params'], placeOf });
  const { type, count } = readParameters(MEMBERS, given);
  const request = batchRequest(type, readOwn(type, count, body), count);
  requireReplyFits(request.values);
  return { request: { ...request, ...commonRequest(readParameters(COMMON_PARAMETERS, given)) }, ignored };
}

/** What a batch asks for, of the parameters of its type, which are valid. Throws an ApiError where they do not fit each other. */
export function batchRequest(type: BatchType, own: ReadValues, count: number) {
  const kind: Kind = BATCH_KINDS[type];
  return {
    endpoint: 'batch',
    values: kind.ask(own, count, LIMITS.batchCountMax),
    valueKey: 'values',
    members: { count, params: kind.echo(own, count), type },
  } as const;
}

/** Parameters of a type are given beside `count` more often than any other mistake is made. */
function placeOf(name: string): string | undefined {
  const isOfType = Object.values(BATCH_KINDS).some(({ own }) => own.some((each) => each.name === name));
  return isOfType ? 'in params' : undefined;
}

/** The values of an object of `type`, `count` and `params`, as a body of the endpoint has them. */
export function readBatchRequest(request: JsonObject, prefix: string): ValueRequest {
  const given = membersOf(request, MEMBERS, { prefix, alsoKnown: ['params'], placeOf });
  const { type, count } = readParameters(MEMBERS, given, prefix);
  return batchRequest(type, readOwn(type, count, request, prefix), count).values;
}

/** The parameters of a type, read with `count` known. */
function readOwn(type: BatchType, count: number, body: JsonObject, prefix = ''): ReadValues {
  const given = Object.hasOwn(body, 'params') ? body['params'] : {};
  if (!isObject(given)) throw new ApiError('invalid_params');
  const kind = BATCH_KINDS[type];
  const place = { prefix: `${prefix}params.`, placeOf: placeBesideParams };
  const members = membersOf(given, kind.own, place);
  return ownOf(kind, readParameters(kind.own, members, place.prefix, { count }));
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
