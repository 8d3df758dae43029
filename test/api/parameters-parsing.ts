import assert from 'node:assert/strict';
import { ApiError, type ErrorCode } from '../../src/core/errors.ts';
import type { DataEndpoint } from '../../src/core/vocabulary.ts';
import {
  contentOfGet,
  type DataEndpointDefinition,
  type ParsedDataRequest,
} from '../../src/http/endpoint.ts';
import { STREAM } from '../../src/http/endpoints/stream.ts';
import { CERTIFICATE_PARAMETERS, DATA_ENDPOINT_DEFINITIONS } from '../../src/http/endpoints/table.ts';
import { parseQuery } from '../../src/http/params.ts';

function definitionOf(endpoint: DataEndpoint): DataEndpointDefinition {
  const found = DATA_ENDPOINT_DEFINITIONS.find(({ name }) => name === endpoint);
  assert.ok(found);
  return found;
}

export function parse(endpoint: DataEndpoint, query: string): ParsedDataRequest {
  return definitionOf(endpoint).parse(contentOfGet(query));
}

export const parseStream = (query: string): ParsedDataRequest => STREAM.parse(contentOfGet(query));

export const parseCertificateQuery = (query: string) => parseQuery(CERTIFICATE_PARAMETERS, query);

/** Parses a body of POST /v1/batch; a text is parsed unchanged. */
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
