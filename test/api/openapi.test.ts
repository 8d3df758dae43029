import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { unpack } from 'msgpackr';
import { fetchWhole } from '../support/http.ts';
import { type Document, DocumentSchemas } from '../support/openapi.ts';
import { TestServer } from '../support/server.ts';

/** Compares the answers of the running service with its own document. */
let server: TestServer;
let document: Document;
let schemas: DocumentSchemas;
before(async () => {
  server = await TestServer.shared();
  const response = await fetchWhole(`${server.origin}/openapi.json`);
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
  document = (await response.json()) as Document;
  schemas = new DocumentSchemas(document);
});

interface Ask {
  readonly path: string;
  /** The path as the document has it. */
  readonly as?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Sends a request and holds status, content type, headers and body of its answer against the document. */
async function hold({ path, as, method = 'GET', headers = {}, body }: Ask): Promise<Response> {
  const init: RequestInit = { method, headers: { authorization: `Bearer ${server.key}`, ...headers } };
  if (body !== undefined) init.body = body;
  const response = await fetchWhole(`${server.origin}${path}`, init);
  const named = as ?? path.split('?')[0];
  const operation = document.paths[named][method.toLowerCase()];
  const documented = operation.responses[String(response.status)];
  assert.ok(documented, `${method} ${named} may answer ${response.status}`);
  for (const name of response.headers.keys()) {
    if (
      !/^(x-|ratelimit|retry-after|www-authenticate)/.test(name) ||
      /^x-(content-type|frame|robots)/.test(name)
    )
      continue;
    const known = Object.keys(documented.headers ?? {}).map((each) => each.toLowerCase());
    assert.ok(known.includes(name), `${method} ${path} ${response.status}: header ${name}`);
  }
  const type = (response.headers.get('content-type') ?? '').split(';')[0];
  const content = documented.content?.[type];
  assert.ok(content, `${method} ${named} ${response.status} may have content of type ${type}`);
  const bytes = Buffer.from(await response.clone().arrayBuffer());
  const value = type.endsWith('json')
    ? JSON.parse(bytes.toString())
    : type === 'application/msgpack'
      ? unpack(bytes)
      : undefined;
  if (value !== undefined)
    assert.equal(schemas.complaint(content.schema, value), '', `${method} ${path}: ${bytes.toString()}`);
  return response;
}

describe('the document of the running service', () => {
  it('is served at the address that it states', () => {
    assert.deepEqual(document.servers, [{ url: server.origin }]);
  });

  // what it says of JSON is held against every row of the table of requests (request-table.test.ts)
  it('describes values in other modes and forms', async () => {
    for (const mode of ['quantum-seeded', 'pure', 'csprng'])
      assert.equal((await hold({ path: `/v1/floats?count=5&entropy_mode=${mode}` })).status, 200);
    const ignored = await hold({ path: '/v1/integers?whatever=1' });
    assert.equal(ignored.headers.get('x-ignored-parameters'), 'whatever');
    const body = JSON.stringify({ type: 'uuid', count: 3 });
    for (const accept of ['application/msgpack', 'application/octet-stream']) {
      const headers = { accept, 'content-type': 'application/json' };
      for (const ask of [
        { path: '/v1/bytes', headers },
        { path: '/v1/batch', method: 'POST', headers, body },
      ])
        assert.equal((await hold(ask)).headers.get('content-type'), accept);
    }
  });

  it('describes certificate, usage and health', async () => {
    const answer = (await (await hold({ path: '/v1/uuid' })).json()) as {
      metadata: { certificate_id: string };
    };
    const id = answer.metadata.certificate_id;
    await hold({ path: `/v1/certificate?id=${id}` });
    await hold({ path: `/v1/certificate?id=${id}&format=pdf` });
    await hold({ path: `/verify/${id}`, as: '/verify/{id}', headers: { accept: 'application/json' } });
    await hold({ path: '/v1/usage' });
    await hold({ path: '/v1/usage', headers: { accept: 'application/msgpack' } });
    await hold({ path: '/v1/health' });
    const health = await hold({ path: '/v1/health', headers: { accept: 'application/health+json' } });
    assert.equal(health.headers.get('content-type'), 'application/health+json');
  });

  it('describes the endpoints that need no key', async () => {
    for (const path of [
      '/livez',
      '/readyz',
      '/metrics',
      '/openapi.json',
      '/docs',
      '/status',
      '/.well-known/qrn-keys.json',
      '/log/checkpoint',
    ]) {
      assert.equal((await hold({ path, headers: { authorization: '' } })).status, 200, path);
    }
    await hold({ path: '/log/tile/0/000', as: '/log/tile/{level}/{index}' });
    await hold({ path: '/log/consistency?from=1&to=1' });
  });

  it('describes errors in both of their forms', async () => {
    const poor = await server.account('enterprise', '--credits-per-month', '1023');
    const asPoor = { authorization: `Bearer ${poor.key}` };
    const refusals: [status: number, ask: Ask][] = [
      [400, { path: '/v1/certificate?id=cert_1' }],
      [401, { path: '/v1/uuid', headers: { authorization: 'Bearer qrn_p_no' } }],
      [401, { path: '/v1/health', headers: { authorization: '' } }],
      [404, { path: `/v1/certificate?id=cert_${'0'.repeat(26)}` }],
      [402, { path: '/v1/bytes?count=1024&entropy_mode=pure', headers: asPoor }],
      [415, { path: '/v1/batch', method: 'POST', body: '{}' }],
      [
        413,
        {
          path: '/v1/batch',
          method: 'POST',
          body: 'x'.repeat(70_000),
          headers: { 'content-type': 'application/json' },
        },
      ],
    ];
    for (const [status, ask] of refusals) {
      for (const accept of ['application/json', 'application/problem+json']) {
        const response = await hold({ ...ask, headers: { ...ask.headers, accept } });
        assert.equal(response.status, status, `${ask.path}: ${await response.text()}`);
        assert.equal(response.headers.get('content-type'), accept);
      }
    }
    const free = await server.account('free');
    const asFree = { authorization: `Bearer ${free.key}` };
    assert.equal((await hold({ path: '/v1/uuid?entropy_mode=pure', headers: asFree })).status, 403);
    let last = 200;
    for (let i = 0; i < 20 && last !== 429; i++)
      last = (await hold({ path: '/v1/uuid', headers: asFree })).status;
    assert.equal(last, 429);
  });
});
