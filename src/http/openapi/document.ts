import { type HeadedField, IN_BARE_HEADS, IN_EVERY_HEAD } from '../../answer/fields.ts';
import { ERRORS, type ErrorCode } from '../../core/errors.ts';
import { described, octets, ref, type Schema, text } from '../../core/schema.ts';
import type { BodyDefinition, EndpointDefinition } from '../endpoint.ts';
import { BODY_ERRORS, COMMON_PARAMETERS } from '../endpoints/common.ts';
import { STREAM } from '../endpoints/stream.ts';
import { CERTIFICATE, ENDPOINT_DEFINITIONS, HEALTH, isDrawing, USAGE } from '../endpoints/table.ts';
import type { ParameterDefinition } from '../params.ts';
import { MEDIA_TYPES } from '../representation.ts';
import { withExamples } from './examples.ts';
import { explained } from './meanings.ts';
import { IDEMPOTENCY_KEY, json, memberSchemas, queryParameter } from './parameters.ts';
import { publicPaths } from './public.ts';
import { COMPONENT_SCHEMAS, nameOf } from './schemas.ts';

/** An OpenAPI 3.1 document; plain JSON. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

export interface OpenApiFacts {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly version: string;
}

/**
 * The OpenAPI document, made from the definitions that route and validate requests and from the table of
 * errors, so that it cannot say anything else than what the service does.
 */
export function openApiDocument({ baseUrl, version }: OpenApiFacts): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quantum Random Number Service',
      version,
      summary:
        'Random numbers, each answer with a certificate that states where its entropy came from and that anyone can check.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl.replace(/\/v1$/, '') }],
    tags: [
      { name: 'values', description: 'Random values.' },
      { name: 'account', description: 'Certificates, usage and health, with a key.' },
      { name: 'public', description: 'What needs no key.' },
    ],
    paths: withExamples(
      explained({
        ...Object.fromEntries(ENDPOINT_DEFINITIONS.map((each) => [each.path, pathItem(each)])),
        ...publicPaths(errorResponses),
      }),
    ),
    components: {
      schemas: explained(COMPONENT_SCHEMAS),
      headers: HEADERS,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer KEY' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An alias; Bearer wins.' },
      },
    },
  };
}

const DESCRIPTION = `Every answer names the entropy that it was drawn from and carries the id of its certificate.
No entropy mode ever turns into another: what cannot be served is 503 \`entropy_unavailable\`.
Errors have the shape \`{"error":{"code","message","status","request_id","details"?}}\`; a refused request has drawn nothing
and spent nothing. Integers go up to 2^53 - 1.`;

function pathItem(endpoint: EndpointDefinition): Schema {
  const { method, body } = endpoint;
  if (method === 'GET' && body !== undefined)
    return {
      get: operation(endpoint, endpoint.name),
      post: operation(endpoint, `${endpoint.name}OfBody`, body),
    };
  return { [method.toLowerCase()]: operation(endpoint, endpoint.name, body) };
}

function operation(endpoint: EndpointDefinition, operationId: string, body?: BodyDefinition): Schema {
  const { method, summary, scope, parameters } = endpoint;
  // with a body the query has nothing but the common parameters
  const inQuery = body === undefined ? parameters : COMMON_PARAMETERS;
  const withoutBody = method === 'GET' && body === undefined;
  const codes = errorCodesOf(endpoint).filter((code) => !withoutBody || !isOfBody(code));
  return {
    operationId,
    tags: [isDrawing(endpoint) ? 'values' : 'account'],
    summary,
    security: [{ bearer: [scope] }, { apiKey: [scope] }],
    parameters: [...inQuery.map(queryParameter), ...(isDrawing(endpoint) ? [IDEMPOTENCY_KEY] : [])],
    ...(body === undefined ? {} : { requestBody: requestBody(body) }),
    responses: { 200: success(endpoint), ...failures(endpoint, codes) },
  };
}

function isOfBody(code: ErrorCode): boolean {
  return BODY_ERRORS.some((each) => each === code);
}

/** One shape for each type: `params` of one is not a `params` of another. */
function requestBody({ members, params }: BodyDefinition): Schema {
  const shapes = Object.entries(params).map(([type, definitions]) => {
    const own = bodySchema(definitions);
    const { properties, required } = bodySchema(members);
    return {
      title: type,
      type: 'object',
      properties: { ...properties, type: { type: 'string', const: type }, params: own },
      required: own.required.length === 0 ? required : [...required, 'params'],
      additionalProperties: false,
    };
  });
  return { required: true, content: json(shapes.length === 0 ? bodySchema(members) : { oneOf: shapes }) };
}

function bodySchema(members: readonly ParameterDefinition[]) {
  return {
    type: 'object',
    properties: memberSchemas(members),
    required: members.filter(({ required }) => required === true).map(({ name }) => name),
    additionalProperties: false,
  };
}

function success(endpoint: EndpointDefinition): Schema {
  if (endpoint === STREAM) return streamSuccess();
  if (isDrawing(endpoint)) return dataSuccess(endpoint);
  const documentOf = (schema: string) => ({
    ...json(ref(schema)),
    [MEDIA_TYPES.msgpack]: { schema: ref(schema) },
  });
  switch (endpoint) {
    case CERTIFICATE:
      return {
        description: 'The certificate.',
        headers: headers(DOCUMENT_HEADERS),
        content: {
          ...documentOf('CertificateDocument'),
          'application/pdf': { schema: octets },
        },
      };
    case USAGE:
      return {
        description: 'The usage of the account.',
        headers: headers(DOCUMENT_HEADERS),
        content: documentOf('Usage'),
      };
    default:
      return {
        description: 'pass or warn.',
        headers: headers(HEALTH_HEADERS),
        content: { ...documentOf('Health'), [MEDIA_TYPES.health]: { schema: ref('HealthReport') } },
      };
  }
}

function streamSuccess(): Schema {
  const quote = { schema: ref('Quote') };
  return {
    description: 'Blocks of values, as long as the reader takes them; with dry_run=true the price of all.',
    headers: headers(DATA_HEADERS.filter((name) => !OF_BLOCKS.includes(name))),
    content: {
      'application/x-ndjson': { schema: described(text, LINES) },
      [MEDIA_TYPES.json]: quote,
      [MEDIA_TYPES.msgpack]: quote,
    },
  };
}

function dataSuccess(endpoint: EndpointDefinition): Schema {
  const schema = { anyOf: [ref(`${nameOf(endpoint.name)}Answer`), ref('Quote')] };
  const hasOctets = endpoint.name === 'bytes' || endpoint.name === 'batch';
  return {
    description: 'The values; with dry_run=true the price.',
    headers: headers([...DATA_HEADERS, ...namesOf(IN_BARE_HEADS)]),
    content: {
      ...json(schema),
      [MEDIA_TYPES.msgpack]: { schema },
      ...(hasOctets ? { [MEDIA_TYPES['octet-stream']]: { schema: described(octets, OCTETS) } } : {}),
      'text/plain': {
        schema: described(text, 'The bare values, one to a line; the metadata is in headers.'),
      },
      'text/csv': { schema: described(text, 'The same as RFC 4180, below the header line value.') },
    },
  };
}

/** What a stream is; test/api/stream.test.ts reads it back. */
const LINES =
  'One block a line: the JSON that POST /v1/batch would have answered for its values, with a certificate of its own. The last line is not a block: ' +
  '{"end":{"first","blocks","of"}} when the stream is complete, or, when a block is refused, the body of an error, with retry_after in ' +
  'seconds where there is one and in next the number of the block to resume with. A reply without a last line broke off.';
/** What application/octet-stream is. */
const OCTETS =
  'The bare values, one behind the other; the metadata is in headers. Integers are little-endian int32 when min and max fit, ' +
  'else float64, which holds each of them exactly; floats are little-endian float64; a UUID is 16 bytes (RFC 9562 §4).';

/** Codes that any endpoint under /v1 can answer. */
const ALWAYS: readonly ErrorCode[] = [
  'bad_request',
  'auth_missing',
  'auth_invalid',
  'auth_scope',
  'not_acceptable',
  'head_too_large',
  'internal_error',
  'overloaded',
  'shutting_down',
];
const OF_PARAMETERS: readonly ErrorCode[] = ['duplicate_parameter', 'unknown_parameter'];
const OF_DATA: readonly ErrorCode[] = [
  'quota_exceeded',
  'mode_not_allowed',
  'pure_too_large',
  'credits_exhausted',
  'invalid_idempotency_key',
  'idempotency_in_flight',
  'idempotency_mismatch',
  'idempotency_full',
  'entropy_unavailable',
  'storage_unavailable',
];

/** What nearly every call can answer: pages explain it once. */
export const ORDINARY_ERRORS: readonly ErrorCode[] = [
  ...ALWAYS,
  ...OF_PARAMETERS,
  ...OF_DATA,
  ...COMMON_PARAMETERS.map(({ error }) => error),
  'rate_limited',
];

/** Every code that an endpoint can answer, in the order of the table of errors. */
function errorCodesOf(endpoint: EndpointDefinition): ErrorCode[] {
  const { parameters, body, errors } = endpoint;
  const read = [...parameters, ...(body?.members ?? []), ...Object.values(body?.params ?? {}).flat()];
  const codes = new Set<ErrorCode>([
    ...ALWAYS,
    ...errors,
    ...read.map(({ error }) => error),
    ...(read.length > 0 ? OF_PARAMETERS : []),
    ...(endpoint === HEALTH ? [] : (['rate_limited'] as const)),
    ...(isDrawing(endpoint) ? OF_DATA : []),
  ]);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

function failures(
  endpoint: EndpointDefinition,
  codes: readonly ErrorCode[],
): Readonly<Record<string, Schema>> {
  const responses = errorResponses(codes);
  if (endpoint !== HEALTH) return responses;
  const failing = { [MEDIA_TYPES.health]: { schema: ref('HealthReport') } };
  const unavailable = responses['503'] as { content: Record<string, Schema> };
  const content = { ...unavailable.content, ...failing, ...json({ anyOf: [ref('Health'), ref('Error')] }) };
  return { ...responses, 503: { ...unavailable, description: 'fail, or no answer at all.', content } };
}

/** One response for each status, which names its codes. */
function errorResponses(codes: readonly ErrorCode[]): Readonly<Record<string, Schema>> {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return Object.fromEntries([...byStatus].map(([status, each]) => [status, errorResponse(status, each)]));
}

function errorResponse(status: number, codes: readonly ErrorCode[]): Schema {
  const names = status === 401 ? ['X-Request-ID'] : [...PLAIN_HEADERS];
  if (status === 429 || status === 503 || status === 409) names.push('Retry-After');
  if (status === 401) names.push('WWW-Authenticate');
  const [code] = codes;
  const example = {
    error: { code, message: ERRORS[code].message, status, request_id: EXAMPLE_REQUEST_ID },
  };
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join('\n\n'),
    headers: headers(names),
    content: {
      [MEDIA_TYPES.json]: { schema: ref('Error'), example },
      [MEDIA_TYPES.problem]: { schema: ref('Problem') },
    },
  };
}

const EXAMPLE_REQUEST_ID = 'req_01m7yqhyapfryrdxevwzrxqb78';

const PLAIN_HEADERS = [
  'X-Request-ID',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
];
const PROVENANCE_HEADERS = ['X-Lang-Circuit', 'X-Lang-Version', 'X-Quantum-Backend', 'X-NIST-Verified'];
const HEALTH_HEADERS = ['X-Request-ID', ...PROVENANCE_HEADERS];
const DOCUMENT_HEADERS = [...PLAIN_HEADERS, ...PROVENANCE_HEADERS];
const namesOf = (fields: readonly HeadedField[]) => fields.map(({ header }) => header);
const DATA_HEADERS = [...new Set([...PLAIN_HEADERS, ...namesOf(IN_EVERY_HEAD), 'X-Ignored-Parameters'])];
/** What the head of a stream does not say: it may differ from block to block. */
const OF_BLOCKS = [...PROVENANCE_HEADERS, 'X-Entropy-Origin'];

function headers(names: readonly string[]): Schema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function header(description: string, type: 'string' | 'integer' = 'string'): Schema {
  return { description, schema: { type } };
}

/** The fields of the table, each with what its member means. */
const ANSWER_HEADERS = [...IN_EVERY_HEAD, ...IN_BARE_HEADS].map((field) => {
  const place = field.group === 'drawn' ? 'data.metadata' : field.group;
  const ofBare = field.isInEveryHead === true ? '' : ' Of an answer of bare values.';
  const meaning = `${String(field.schema['description'] ?? '')} As ${place}.${field.name}.${ofBare}`.trim();
  return [field.header, header(meaning, 'number' in field ? 'integer' : 'string')] as const;
});

const HEADERS: Readonly<Record<string, Schema>> = {
  ...Object.fromEntries(ANSWER_HEADERS),
  RateLimit: header('draft-ietf-httpapi-ratelimit-headers: what is left of the burst.'),
  'RateLimit-Policy': header(
    'draft-ietf-httpapi-ratelimit-headers: the burst with the seconds in which all of it comes back, and the sustained rate of a minute.',
  ),
  'Retry-After': header('Seconds until a retry can succeed.', 'integer'),
  'WWW-Authenticate': header('RFC 6750 §3.'),
  'X-Ignored-Parameters': header('Names in the request that mean nothing here.'),
  'X-RateLimit-Remaining': header('Whole requests possible now.', 'integer'),
  'X-RateLimit-Reset': header('Unix second at which the full burst is there again.', 'integer'),
};
