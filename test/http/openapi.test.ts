import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERRORS, type ErrorCode } from '../../src/core/errors.ts';
import { contentOfGet } from '../../src/http/endpoint.ts';
import { DATA_ENDPOINT_DEFINITIONS, ENDPOINT_DEFINITIONS } from '../../src/http/endpoints/table.ts';
import { BATCH } from '../../src/http/endpoints/values.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { EXAMPLES } from '../../src/http/openapi/operation.ts';
import { type Document, DocumentSchemas, type Operation } from '../support/openapi.ts';
import { AS_BATCHES, BODIES, QUERIES, type TableRow } from '../support/request-table.ts';

const document = openApiDocument({
  baseUrl: 'https://qrn.example/api/v1',
  version: '1.2.3',
}) as unknown as Document;
const schemas = new DocumentSchemas(document);
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);
const operationOf = (path: string): Operation => Object.values(document.paths[path])[0];

/** Operations under /v1/draws that need a key. */
const COMMITTED_DRAWS = ['createDraw', 'cancelDraw', 'openNonce'];

describe('the OpenAPI document', () => {
  it('is plain JSON of OpenAPI 3.1 for the configured address', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(document)), document);
    assert.match(document.openapi, /^3\.1\.\d$/);
    assert.deepEqual(document.servers, [{ url: 'https://qrn.example/api' }]);
  });

  it('gives each operation a unique id and a method of authentication', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    assert.equal(new Set(ids).size, ids.length);
    for (const { path, operation } of operations) {
      const scopes = operation.security.flatMap((each) => Object.values(each).flat());
      const needed = ENDPOINT_DEFINITIONS.find((endpoint) => endpoint.path === path)?.scope;
      const ofDraws = COMMITTED_DRAWS.includes(operation.operationId) ? 'entropy:batch' : undefined;
      const scope = needed ?? ofDraws;
      assert.deepEqual([...new Set(scopes)], scope === undefined ? [] : [scope], path);
      for (const name of operation.security.flatMap((each) => Object.keys(each))) {
        assert.ok(document.components.securitySchemes[name]);
      }
    }
  });

  it('lists every code of the table of requests under its status, and the codes that any call may get', () => {
    const refused = [...QUERIES, ...BODIES].filter(({ code }) => code !== undefined);
    const always = ['auth_missing', 'auth_scope', 'rate_limited', 'quota_exceeded', 'overloaded'] as const;
    for (const { endpoint, code } of refused) {
      const described = Object.values(document.paths[`/v1/${endpoint}`]).map(({ responses }) => responses);
      for (const each of [code, ...always] as ErrorCode[]) {
        const told = described.map(
          (all) => (all[ERRORS[each].status] as { description?: string })?.description,
        );
        assert.ok(told.join().includes(`\`${each}\``), `${endpoint} ${each}`);
      }
    }
  });

  it('has schemas that compile, and examples that fit them', () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      assert.doesNotThrow(() => schemas.complaint(schema, null), name);
    }
    for (const { path, operation } of operations) {
      for (const { content = {} } of Object.values(operation.responses)) {
        for (const { schema, example } of Object.values(content)) {
          if (example !== undefined) assert.equal(schemas.complaint(schema, example), '', path);
        }
      }
    }
  });

  it('has examples that the endpoints accept', () => {
    for (const endpoint of DATA_ENDPOINT_DEFINITIONS) {
      const { parameters = {}, body } = EXAMPLES[endpoint.name];
      const given = Object.entries(parameters).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const query = new URLSearchParams(given).toString();
      assert.equal(body !== undefined, endpoint.body !== undefined);
      const ofQuery = endpoint.method === 'GET' ? endpoint.parse(contentOfGet(query)) : undefined;
      assert.deepEqual(ofQuery?.ignored ?? [], [], endpoint.name);
      if (body === undefined) continue;
      const ofBody = endpoint.parse({
        method: 'POST',
        query: '',
        contentType: 'application/json',
        body: new Uint8Array(Buffer.from(JSON.stringify(body))),
      });
      assert.deepEqual(ofBody.request, ofQuery?.request ?? ofBody.request, endpoint.name);
    }
    const ids = operations.map(({ operation }) => operation.operationId);
    for (const name of Object.keys(EXAMPLES)) assert.ok(ids.includes(name), name);
    const silent = ids.filter((id) => EXAMPLES[id.replace(/OfBody$/, '')]?.answer === undefined);
    assert.deepEqual(
      silent,
      ['metrics', 'openapi', 'docs', 'status', 'tile'],
      'pages, octets and the document itself',
    );
  });
});

describe('the schema of a batch', () => {
  const { schema } = operationOf(BATCH.path).requestBody!.content['application/json'];
  const batches = [...BODIES.filter(({ endpoint }) => endpoint === 'batch'), ...AS_BATCHES];
  /**
   * Rules that no schema can express: how members fit together, how JSON is written, surrogates, other spellings of a
   * mode.
   */
  const BEYOND =
    /^(unique_impossible|invalid_(sequences|json|range|weights|alphabet|items|user_data|params)|duplicate_parameter|payload_too_large)$/;
  const isBeyond = ({ request, code = '' }: TableRow<string>) =>
    BEYOND.test(code) ||
    (code === 'invalid_count' && /"type":"(sequences|permutations)"/.test(request)) ||
    /"entropy_mode":"(hybrid|[^"]*[A-Z])/.test(request);

  it('accepts and refuses what the table of requests says', () => {
    for (const { request, code = '' } of batches.filter((row) => !isBeyond(row))) {
      const complaint = schemas.complaint(schema, JSON.parse(request));
      assert.equal(complaint === '', code === '', `${code} ${request.slice(0, 100)}: ${complaint}`);
    }
  });
});
