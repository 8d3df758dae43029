import assert from 'node:assert/strict';
import { ApiError, type ErrorCode } from '../../src/core/errors.ts';
import type { DataEndpoint } from '../../src/core/vocabulary.ts';
import {
  contentOfGet,
  type DataEndpointDefinition,
  type ParsedDataRequest,
} from '../../src/http/endpoint.ts';
import { DATA_ENDPOINT_DEFINITIONS } from '../../src/http/endpoints/table.ts';

export function definitionOf(endpoint: DataEndpoint): DataEndpointDefinition {
  const found = DATA_ENDPOINT_DEFINITIONS.find(({ name }) => name === endpoint);
  assert.ok(found);
  return found;
}

export function parse(endpoint: DataEndpoint, query: string): ParsedDataRequest {
  return definitionOf(endpoint).parse(contentOfGet(query));
}

/** What a body of POST /v1/batch asks for; a text is sent as it is. */
export function parseBatch(body: unknown, query = '', contentType = 'application/json'): ParsedDataRequest {
  return parsePost('batch', body, query, contentType);
}

export function parsePost(
  endpoint: DataEndpoint,
  body: unknown,
  query = '',
  contentType = 'application/json',
): ParsedDataRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return definitionOf(endpoint).parse({
    method: 'POST',
    query,
    contentType,
    body: new TextEncoder().encode(text),
  });
}

/** The code that a client would be answered; undefined when nothing is refused. */
export function codeOf(parsing: () => unknown): ErrorCode | undefined {
  try {
    parsing();
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
  return undefined;
}

/** What a request says beside its values when no common parameter was given. */
export const NOTHING_SAID = {
  mode: undefined,
  dryRun: false,
  format: undefined,
  label: undefined,
};

/** The query is refused with the code; undefined: it is not. */
export function assertRefused(endpoint: DataEndpoint, query: string, code: ErrorCode | undefined): void {
  assert.equal(
    codeOf(() => parse(endpoint, query)),
    code,
    `${endpoint}?${query.slice(0, 80)}`,
  );
}

/** The data endpoints that take all they need from the query. */
export function dataGets(): DataEndpoint[] {
  return DATA_ENDPOINT_DEFINITIONS.filter(({ method }) => method === 'GET').map(({ name }) => name);
}

/** The parameters that a GET cannot do without, to be put before others. */
export function requiredQuery(endpoint: DataEndpoint): string {
  return REQUIRED[endpoint] ?? '';
}

const REQUIRED: Readonly<Partial<Record<DataEndpoint, string>>> = {
  shuffle: 'items=a,b&',
  sample: 'items=a,b&',
  weighted: 'items=a,b&weights=1,2&',
  sequences: 'length=1&min=0&max=1&',
  permutations: 'length=2&',
};

/** What no whole number looks like: syntax of SPEC-NOTES, integer syntax. */
export const NOT_INTEGERS = [
  ...'+1 %2B1 1.0 1. .5 1e3 1E3 0x10 0b1 1_000 1,000 %201 1%20 --1 - NaN Infinity null true one ١ %D9%A1'.split(
    ' ',
  ),
  ...'%EF%BC%91 1%00 % %1 %ff 1n 9007199254740992 -9007199254740992 99999999999999999999999999'.split(' '),
  ...'1;2 1%0d%0aX:y [1] "1"'.split(' '),
  ...['', '1 ', '- 1', '9'.repeat(60_000)],
];
