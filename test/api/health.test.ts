import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { fetchWhole } from '../support/http.ts';
import { bearer } from '../support/replies.ts';
import { TestServer, until } from '../support/server.ts';

interface Check {
  readonly status: string;
  readonly observedValue: unknown;
  readonly details?: Record<string, unknown>;
}

interface Report {
  readonly status: string;
  readonly checks: Record<string, Check[]>;
}

let server: TestServer;
before(async () => {
  server = await TestServer.shared();
});

async function health(): Promise<Report> {
  const response = await server.get('/health');
  assert.equal(response.status, 200);
  const { data } = (await response.json()) as { data: Report };
  return data;
}

/** Lines that the service wrote, once there are `count` of the kind: its pipe is read a moment later. */
async function linesOf(kind: (line: string) => boolean, count: number): Promise<string[]> {
  const lines = () => server.output().split('\n').filter(kind);
  await until(`${count} lines`, () => lines().length >= count);
  return lines();
}

it('/v1/health looks at ledger, pool, source, workers, disk and event loop', async () => {
  const { checks } = await health();
  for (const name of [
    'ledger:writable',
    'clock:wall',
    'ledger:commit_time',
    'ledger:pending_answers',
    'pool:pure',
    'pool:quantum-seeded',
    'pool:csprng',
    'pool:seed_age',
    'source:state',
    'source:health_tests',
    'source:last_lot',
    'workers:queue',
    'disk:free',
    'eventloop:delay',
  ]) {
    assert.ok((checks[name] ?? []).length > 0, name);
  }
  assert.equal(checks['pool:seed_age'].length, 4);
  assert.deepEqual(
    checks['source:state'].map(({ details }) => details?.['name']),
    ['simulator', 'system'],
  );
  assert.equal(checks['source:last_lot'][0].observedValue, 'accepted');
  assert.equal(checks['ledger:writable'][0].observedValue, true);
});

describe('a page of another origin', () => {
  const url = () => `${server.baseUrl}/uuid`;
  const from = (origin: string) => ({ ...bearer(server.key), origin });

  it('may call the API when it is named, and read what is in headers', async () => {
    const preflight = await fetchWhole(url(), {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get('access-control-allow-origin'), 'https://app.example');
    assert.match(preflight.headers.get('access-control-allow-headers')!, /Authorization/);
    assert.equal(preflight.headers.get('access-control-allow-methods'), 'GET, HEAD');
    // values and errors are never compressed, so they do not vary by Accept-Encoding
    for (const [path, vary] of [
      ['/uuid', 'Origin'],
      ['/uuid?count=0', 'Origin'],
      ['/usage', 'Accept-Encoding, Origin'],
      ['/nothing', 'Origin'],
    ]) {
      const response = await fetchWhole(`${server.baseUrl}${path}`, { headers: from('https://app.example') });
      assert.equal(response.headers.get('access-control-allow-origin'), 'https://app.example', path);
      assert.match(response.headers.get('access-control-expose-headers')!, /X-Request-ID/);
      assert.equal(response.headers.get('vary'), vary, path);
    }
  });

  it('may read public documents from anywhere', async () => {
    const response = await fetchWhole(`${server.origin}/log/checkpoint`, {
      headers: { origin: 'https://evil.example' },
    });
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
  });
});

describe('a request with a trace context', () => {
  const TRACE = '0af7651916cd43dd8448eb211c80319c';

  it('is answered in that trace, and its log line names the trace', async () => {
    const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
    for (const path of ['/uuid', '/uuid?count=0']) {
      const response = await server.get(path, headers);
      const id = response.headers.get('x-request-id')!.replaceAll('-', '');
      assert.equal(response.headers.get('traceparent'), `00-${TRACE}-${id.slice(16)}-01`);
      await response.arrayBuffer();
    }
    const lines = await linesOf((line) => line.includes(TRACE), 2);
    assert.equal(lines.length, 2);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).status),
      [200, 400],
    );
  });
});

it('the log holds no key and no query, whatever was asked', async () => {
  const shuffles = (line: string) => line.includes('"endpoint":"shuffle"');
  const before = (await linesOf(shuffles, 0)).length;
  await (await server.get('/shuffle?items=secret-one,secret-two')).arrayBuffer();
  await (await server.get('/shuffle?items=secret-one')).arrayBuffer();
  await (await server.get('/uuid', { 'idempotency-key': 'secret-three' })).arrayBuffer();
  const log = await linesOf((line) => line.startsWith('{'), 3);
  assert.equal((await linesOf(shuffles, before + 2)).length, before + 2);
  for (const line of log) {
    assert.ok(!line.includes('secret-'), line);
    assert.ok(!line.includes(server.key), line);
  }
});
