import type { DataRequest } from '../../answer/request.ts';
import { ApiError, type ErrorCode } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { DataEndpoint } from '../../core/vocabulary.ts';
import {
  type DataEndpointDefinition,
  DRY_RUN,
  ENTROPY_MODE,
  FORMAT,
  LABEL_PARAMETERS,
  labelRequest,
  type RequestContent,
} from '../endpoint.ts';
import { type MembersPlace, membersOf, parseJsonObject } from '../json-body.ts';
import {
  type ChoiceParameter,
  grouped,
  type IntegerParameter,
  ignore,
  type ParameterDefinition,
  type ReadValues,
  readJson,
  readParameters,
  readText,
  type SplitQuery,
  splitQuery,
  type ValuesOf,
} from '../params.ts';
import { isJson } from '../representation.ts';

/** What every endpoint that answers once takes, checked after its own parameters. */
export const COMMON_PARAMETERS = [
  ENTROPY_MODE,
  DRY_RUN,
  FORMAT,
  ...LABEL_PARAMETERS,
] as const satisfies readonly ParameterDefinition[];

/** The part of a request that these parameters make. */
function commonRequest(
  values: ValuesOf<typeof COMMON_PARAMETERS>,
): Pick<DataRequest, 'mode' | 'dryRun' | 'format' | 'label'> {
  const { entropy_mode: mode, dry_run: dryRun, format } = values;
  return { mode, dryRun, format, label: labelRequest(values) };
}

/** What an endpoint with a JSON body can answer beside the codes of its members. */
export const BODY_ERRORS = ['unsupported_media_type', 'payload_too_large', 'invalid_json'] as const;

/** The members of a JSON body and the common parameters, which may stand in the body or the query; the body wins. */
export function readBody(
  { query, contentType, body: bytes }: RequestContent,
  own: readonly ParameterDefinition[],
  place: MembersPlace = {},
) {
  if (!isJson(contentType)) throw new ApiError('unsupported_media_type');
  const body = parseJsonObject(bytes);
  const { given, ignored: unknown } = splitQuery(COMMON_PARAMETERS, query);
  const ignored = [...unknown];
  const members = membersOf(body, [...own, ...COMMON_PARAMETERS], place);
  const both = new Map<string, { json: unknown } | { text: string }>();
  for (const [name, text] of given) {
    if (members.has(name)) ignore(ignored, name);
    else both.set(name, { text });
  }
  for (const { name } of COMMON_PARAMETERS)
    if (members.has(name)) both.set(name, { json: members.get(name) });
  const common = () =>
    commonRequest(
      readParameters(COMMON_PARAMETERS, both, (definition, each) =>
        'text' in each ? readText(definition, each.text) : readJson(definition, each.json),
      ),
    );
  return { body, members, common, ignored };
}

/** How many values; one when it is left out. */
export function countUpTo(max: number, description: string) {
  return {
    name: 'count',
    kind: 'integer',
    min: 1,
    max,
    default: 1,
    error: 'invalid_count',
    description,
  } as const satisfies IntegerParameter;
}

/** An endpoint of one kind of value. `ask` turns its own parameters, which are valid, into what is asked for. */
export function valuesEndpoint<const Own extends readonly ParameterDefinition[]>({
  name,
  summary,
  parameters: own,
  errors,
  ask,
  takesBody = false,
}: {
  readonly name: DataEndpoint;
  readonly summary: string;
  readonly parameters: Own;
  readonly errors: readonly ErrorCode[];
  readonly ask: (values: ValuesOf<Own>) => Pick<DataRequest, 'values' | 'valueKey' | 'members'>;
  /** POST with its parameters in a JSON body works too: a list of items may be longer than a URL. */
  readonly takesBody?: boolean;
}): DataEndpointDefinition {
  const parameters = [...own, ...COMMON_PARAMETERS];
  return {
    name,
    method: 'GET',
    path: `/v1/${name}`,
    scope: 'entropy:read',
    summary,
    parameters,
    errors: takesBody ? [...errors, ...BODY_ERRORS] : errors,
    ...(takesBody ? { body: { members: parameters, params: {} } } : {}),
    parse(content) {
      if (content.method === 'POST') {
        const { members, common, ignored } = readBody(content, own);
        const asked = ask(readParameters(own, members, readJson));
        return { request: { endpoint: name, ...asked, ...common() }, ignored };
      }
      const { query } = content;
      const { given, ignored } = withoutAlias(splitQuery(parameters, query), parameters);
      const values = readParameters(parameters, given, readText);
      const asked = ask(values as ValuesOf<Own>);
      const common = commonRequest(values as ValuesOf<typeof COMMON_PARAMETERS>);
      return { request: { endpoint: name, ...asked, ...common }, ignored };
    },
  };
}

/**
 * Of an endpoint with `encoding`, `format` is an alias of that where it names none of the forms of an answer; `encoding`
 * wins.
 */
function withoutAlias(query: SplitQuery, parameters: readonly ParameterDefinition[]): SplitQuery {
  const { given, ignored } = query;
  const format = given.get(FORMAT.name);
  const isForm = format === undefined || readText(FORMAT, format) !== undefined;
  if (isForm || !parameters.includes(ENCODING)) return query;
  const withAlias = new Map([[ENCODING.name as string, format], ...given]);
  withAlias.delete(FORMAT.name);
  return { given: withAlias, ignored: given.has(ENCODING.name) ? [...ignored, FORMAT.name] : ignored };
}

const BOUND = {
  kind: 'integer',
  min: -LIMITS.integerMagnitudeMax,
  max: LIMITS.integerMagnitudeMax,
  error: 'invalid_range',
} as const;

export const RANGE = [
  { ...BOUND, name: 'min', default: 0, description: 'Lower bound, inclusive.' },
  {
    ...BOUND,
    name: 'max',
    default: 100,
    description: 'Upper bound, inclusive; more than min, and at most 2^53 - 1 above it.',
    check: requireRange,
  },
] as const satisfies readonly ParameterDefinition[];

export const UNIQUE = {
  name: 'unique',
  kind: 'boolean',
  default: false,
  error: 'invalid_boolean',
  description: 'No value twice; the range must hold at least count values.',
} as const satisfies ParameterDefinition;

export const SORT = {
  name: 'sort',
  kind: 'choice',
  values: ['none', 'ascending', 'descending'],
  default: 'none',
  error: 'invalid_sort',
  description: 'Order of the values.',
} as const satisfies ParameterDefinition;

export const INTEGERS_PARAMS = [
  ...RANGE,
  { ...UNIQUE, check: (values) => requirePossible(values, values['count'] as number) },
  SORT,
] as const satisfies readonly ParameterDefinition[];

export const INTEGERS = valuesEndpoint({
  name: 'integers',
  summary: 'Random integers in a range, each equally likely.',
  parameters: [countUpTo(LIMITS.integersCountMax, 'How many integers.'), ...INTEGERS_PARAMS],
  errors: ['unique_impossible'],
  ask: ({ count, min, max, unique, sort }) => ({
    values: { kind: 'integers', count, min, max, unique, sort },
    valueKey: 'values',
    members: { count, max, min, sort, unique },
  }),
});

/** Throws 400 `invalid_range` unless min < max and the range holds at most 2^53 values. */
export function requireRange(values: ReadValues): void {
  const min = values['min'] as number;
  const max = values['max'] as number;
  // The difference of two safe integers is rounded only above 2^53, where it is too large either way
  if (min < max && max - min <= LIMITS.integerSpanMax - 1) return;
  throw new ApiError('invalid_range', { details: { min, max } });
}

/**
 * Throws 400 `unique_impossible` when the range that was read holds fewer values than are asked for without
 * repeats.
 */
export function requirePossible(values: ReadValues, count: number): void {
  if (values['unique'] !== true) return;
  const span = (values['max'] as number) - (values['min'] as number) + 1;
  if (span >= count) return;
  throw new ApiError('unique_impossible', {
    message: `The range holds ${grouped(span)} values, fewer than the ${grouped(count)} asked for without repeats.`,
    details: { available: span, count },
  });
}

export const ENCODING = {
  name: 'encoding',
  kind: 'choice',
  values: ['hex', 'base64'],
  default: 'hex',
  error: 'invalid_encoding',
  description: 'hex in lower case, or base64 with padding (RFC 4648 §4).',
} as const satisfies ChoiceParameter;

export const BYTES = valuesEndpoint({
  name: 'bytes',
  summary: 'Random bytes. format=hex and format=base64 are accepted for encoding.',
  parameters: [{ ...countUpTo(LIMITS.bytesCountMax, 'How many bytes.'), default: 16 }, ENCODING],
  errors: [],
  ask: ({ count, encoding }) => ({
    values: { kind: 'bytes', count: 1, length: count, encoding, single: true },
    valueKey: 'bytes',
    members: { bits: 8 * count, count, encoding },
  }),
});

export const PRECISION = {
  name: 'precision',
  kind: 'integer',
  min: 1,
  max: LIMITS.floatPrecisionMax,
  default: null,
  error: 'invalid_precision',
  description:
    'Decimal places p: values are uniform on k / 10^p, 0 <= k < 10^p. Left out: uniform multiples of 2^-53.',
} as const satisfies IntegerParameter;

export const FLOATS = valuesEndpoint({
  name: 'floats',
  summary: 'Random IEEE 754 doubles in [0, 1).',
  parameters: [countUpTo(LIMITS.floatsCountMax, 'How many floats.'), PRECISION],
  errors: [],
  ask: ({ count, precision }) => ({
    values: { kind: 'floats', count, precision },
    valueKey: 'values',
    members: { count, precision },
  }),
});

export const UUID = valuesEndpoint({
  name: 'uuid',
  summary: 'Random UUIDs of version 4 (RFC 9562 §5.4).',
  parameters: [countUpTo(LIMITS.uuidCountMax, 'How many UUIDs.')],
  errors: [],
  ask: ({ count }) => ({
    values: { kind: 'uuid', count },
    valueKey: 'uuids',
    members: { count, version: 4 },
  }),
});

export const BITSTRING = valuesEndpoint({
  name: 'bitstring',
  summary: 'A random string of the digits 0 and 1.',
  parameters: [
    {
      name: 'length',
      kind: 'integer',
      min: 1,
      max: LIMITS.bitstringLengthMax,
      default: 128,
      error: 'invalid_length',
      description: 'How many bits.',
    },
  ],
  errors: [],
  ask: ({ length }) => ({
    values: { kind: 'bitstring', length },
    valueKey: 'bitstring',
    members: { length },
  }),
});

export const ITEMS = {
  name: 'items',
  kind: 'items',
  min: LIMITS.shuffleItemsMin,
  max: LIMITS.shuffleItemsMax,
  required: true,
  error: 'invalid_items',
  description:
    'In a query comma-separated items, each percent-encoded UTF-8; an item may be empty. %2C is a comma in an item, unless the value has no literal comma: then it separates items, as form encoders write it. + is a blank. In a body a list of strings.',
} as const satisfies ParameterDefinition;

export const SHUFFLE = valuesEndpoint({
  name: 'shuffle',
  takesBody: true,
  summary: 'The items in a random order, each order equally likely.',
  parameters: [ITEMS],
  errors: [],
  ask: ({ items }) => ({
    values: { kind: 'shuffle', items },
    valueKey: 'items',
    members: { count: items.length },
  }),
});
