import { readFileSync } from 'node:fs';
import { ERRORS, type ErrorCode } from '../../core/errors.ts';
import { ref, type Schema } from '../../core/schema.ts';
import type { Scope } from '../../core/vocabulary.ts';
import { MEDIA_TYPES } from '../representation.ts';
import { PLAIN_HEADERS, refsOf } from './headers.ts';
import type { MediaTypes, Parameter } from './parameters.ts';

/** The error codes of every call under /v1 that needs a key. */
export const OF_KEYED: readonly ErrorCode[] = [
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
/** The error codes of calls that take parameters, in a query or a body. */
export const OF_PARAMETERS: readonly ErrorCode[] = ['duplicate_parameter', 'unknown_parameter'];
/** The error codes of calls that draw entropy. */
export const OF_DRAWING: readonly ErrorCode[] = [
  'quota_exceeded',
  'mode_not_allowed',
  'credits_exhausted',
  'invalid_idempotency_key',
  'idempotency_in_flight',
  'idempotency_mismatch',
  'idempotency_full',
  'entropy_unavailable',
  'storage_unavailable',
];

/** One operation of the document: a call. */
export interface OperationRow {
  readonly path: string;
  readonly method: 'get' | 'post' | 'delete';
  readonly operationId: string;
  readonly tag: 'values' | 'account' | 'public';
  readonly summary: string;
  /** The scope that the key needs; undefined if no key is needed. */
  readonly scope?: Scope;
  readonly parameters?: readonly Parameter[];
  readonly body?: MediaTypes;
  /** The responses by status, without those of `codes`, which follow them. */
  readonly responses: Readonly<Record<string, Response>>;
  readonly codes: readonly ErrorCode[];
}

interface Response {
  readonly description: string;
  readonly headers?: Schema;
  readonly content: MediaTypes;
}

interface Example {
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly body?: object;
  readonly answer?: object | string;
}

/**
 * The examples by operation, recorded from a service with the simulator. test/http/openapi.test.ts checks them against the
 * schemas, test/browser/docs.test.ts against the replies of a service.
 */
export const EXAMPLES: Readonly<Record<string, Example>> = JSON.parse(
  readFileSync(new URL('examples.json', import.meta.url), 'utf8'),
);

export function pathsOf(
  rows: readonly OperationRow[],
): Readonly<Record<string, Readonly<Record<string, Operation>>>> {
  const byPath = Map.groupBy(rows, ({ path }) => path);
  return Object.fromEntries(
    Array.from(byPath, ([path, each]) => [
      path,
      Object.fromEntries(each.map((row) => [row.method, operationOf(row)])),
    ]),
  );
}

export type Operation = ReturnType<typeof operationOf>;

function operationOf({ operationId, tag, summary, scope, parameters, body, responses, codes }: OperationRow) {
  const example = EXAMPLES[operationId.replace(/OfBody$/, '')] ?? {};
  const { parameters: given = {}, answer } = example;
  // an operation that makes a resource answers 201
  const success = responses[201] === undefined ? 200 : 201;
  const shown = { ...responses[success], content: withExample(responses[success].content, answer) };
  return {
    operationId,
    tags: [tag],
    summary,
    security: scope === undefined ? [] : [{ bearer: [scope] }, { apiKey: [scope] }],
    ...(parameters && {
      parameters: parameters.map((each) =>
        Object.hasOwn(given, each.name) ? { ...each, example: given[each.name] } : each,
      ),
    }),
    ...(body && { requestBody: { required: true, content: withExample(body, example.body) } }),
    responses: { ...errorResponses(codes), ...responses, [success]: shown } as OperationRow['responses'],
  };
}

/** Adds an example to the content. A string is an example of the first media type, anything else of JSON. */
function withExample(content: MediaTypes, example: object | string | undefined): MediaTypes {
  if (example === undefined) return content;
  const type = typeof example === 'string' ? Object.keys(content)[0] : MEDIA_TYPES.json;
  return { ...content, [type]: { ...content[type], example } };
}

/** Returns one response for each status, which lists its error codes. */
export function errorResponses(codes: readonly ErrorCode[]): Readonly<Record<string, Response>> {
  const byStatus = Map.groupBy(new Set(codes), (code) => ERRORS[code].status);
  return Object.fromEntries([...byStatus].map(([status, each]) => [status, errorResponse(status, each)]));
}

const EXAMPLE_REQUEST_ID = 'req_01m7yqhyapfryrdxevwzrxqb78';

function errorResponse(status: number, codes: readonly ErrorCode[]): Response {
  const headers = status === 401 ? ['X-Request-ID'] : [...PLAIN_HEADERS];
  if (status === 429 || status === 503 || status === 409) headers.push('Retry-After');
  if (status === 401) headers.push('WWW-Authenticate');
  const [code] = codes;
  const example = {
    error: { code, message: ERRORS[code].message, status, request_id: EXAMPLE_REQUEST_ID },
  };
  return {
    description: codes.map((each) => `\`${each}\`: ${ERRORS[each].message}`).join('\n\n'),
    headers: refsOf(headers),
    content: {
      [MEDIA_TYPES.json]: { schema: ref('Error'), example },
      [MEDIA_TYPES.problem]: { schema: ref('Problem') },
    },
  };
}
