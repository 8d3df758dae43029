import { ApiError } from '../../core/errors.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import { oneOfWords, wholeFrom } from '../../core/schema.ts';
import type { ValueRequest } from '../../values/value-request.ts';
import type { DataEndpointDefinition, ParsedDataRequest, RequestContent } from '../endpoint.ts';
import { membersOf, readMembers } from '../json-body.ts';
import { type ParameterDefinition, type ReadValues, readParameters } from '../params.ts';
import { BODY_ERRORS, COMMON_PARAMETERS, commonRequest, readBody } from './common.ts';
import { BATCH_KINDS, type BatchType, type Kind } from './kinds.ts';
import { requireReplyFits } from './relations.ts';

const MEMBERS = [
  {
    name: 'type',
    schema: oneOfWords(Object.keys(BATCH_KINDS) as BatchType[]),
    required: true,
    error: 'invalid_type',
    description: 'What kind of values.',
  },
  {
    name: 'count',
    schema: wholeFrom(1, LIMITS.batchCountMax),
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
  const request = readAsked(body, given, '');
  requireReplyFits(request.values);
  return { request: { ...request, ...commonRequest(readParameters(COMMON_PARAMETERS, given)) }, ignored };
}

/** Returns the request of a batch from the valid parameters of its type. Throws an ApiError when they do not fit each other. */
export function batchRequest(type: BatchType, read: ReadValues, count: number) {
  const kind: Kind = BATCH_KINDS[type];
  return {
    endpoint: 'batch',
    values: kind.ask(read, count, LIMITS.batchCountMax),
    valueKey: 'values',
    members: { count, params: kind.echo(read, count), type },
  } as const;
}

/** Returns where a misplaced member belongs. To give a type's parameters beside `count` is the most common mistake. */
function placeOf(name: string): string | undefined {
  const isOfType = Object.values(BATCH_KINDS).some(({ own }) => own.some((each) => each.name === name));
  return isOfType ? 'in params' : undefined;
}

/** Reads the values that an object with the members `type`, `count` and `params` asks for, like the body of this endpoint. */
export function readBatchRequest(request: JsonObject, prefix: string): ValueRequest {
  return readAsked(request, membersOf(request, MEMBERS, { prefix, alsoKnown: ['params'], placeOf }), prefix)
    .values;
}

/** Reads `type`, `count` and `params`. The checks of the params see `count`. */
function readAsked(body: JsonObject, members: ReadonlyMap<string, unknown>, prefix: string) {
  const { type, count } = readParameters(MEMBERS, members, prefix);
  const params = Object.hasOwn(body, 'params') ? body['params'] : {};
  if (!isObject(params)) throw new ApiError('invalid_params');
  const { own }: Kind = BATCH_KINDS[type];
  const place = { prefix: `${prefix}params.`, placeOf: placeBesideParams };
  return batchRequest(type, readMembers(params, own, place, { count }), count);
}

function placeBesideParams(name: string): string | undefined {
  return [...MEMBERS, ...COMMON_PARAMETERS].some((each) => each.name === name) ? 'beside params' : undefined;
}
