import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CertificateService } from '../../src/certificate/archive.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { statusOf } from '../../src/http/head.ts';
import { metricsAlone } from '../../src/http/info-routes.ts';
import { type PlainRouteSources, plainRoutes } from '../../src/http/plain-routes.ts';
import { RouteTable } from '../../src/http/route-table.ts';
import { replyOf } from './pages/page-server.ts';

/** The resource of a path, and how the public log and the metrics treat paths and queries. */

describe('the table of routes', () => {
  const routes = new RouteTable(
    [],
    ['/docs', '/v1/usage', '/', '/lots/', '/v1/draws/'].map((path) => {
      return { path, handler: () => assert.fail('not asked') };
    }),
    false,
  );
  const cases: [path: string, isFound: boolean, withoutSlash: string | undefined][] = [
    ['/docs', true, undefined],
    ['/docs/', false, '/docs'],
    [`/docs${'/'.repeat(8)}`, false, '/docs'],
    [`/docs${'/'.repeat(9)}`, false, undefined],
    ['/none/', false, undefined],
    ['/', true, undefined],
    ['//', false, undefined],
    ['/x', false, undefined],
    ['/lots/x', true, undefined],
    ['/lots/x/', false, '/lots/x'],
    ['/v1/usage/', false, undefined],
    ['/v1/draws/x', true, undefined],
    ['/v1/draws/', true, undefined],
  ];
  for (const [path, isFound, withoutSlash] of cases)
    it(`${isFound ? 'has' : 'has not'} ${path}, which is ${withoutSlash ?? 'nothing'} without its slashes`, () => {
      assert.equal(routes.of(path) !== undefined, isFound);
      assert.equal(routes.withoutSlash(path), withoutSlash);
    });
});

describe('the public log', () => {
  const LOT = 'lot_00000000000000000000000000';
  const asked: unknown[] = [];
  const service = {
    tile: async (level: number, index: number) => {
      asked.push(level, index);
      return index === 9 ? undefined : new Uint8Array(32 * (index === 1_234_067 ? 256 : 5)).fill(7);
    },
    publicLeaves: async (...all: unknown[]) => all,
    publicLot: async (id: string) => (id === LOT ? { id } : undefined),
    consistencyProof: async (from: number, to: number) =>
      from < 1 || from > to ? undefined : [new Uint8Array(3).fill(from)],
  } as unknown as CertificateService;
  const cases: [target: string, status: number, body?: unknown][] = [
    ['/log/tile/0/x001/x234/067', 200, 256 * 32],
    ['/log/tile/12/003.p/5', 200, 5 * 32],
    ['/log/tile/12/003.p/4', 200, 4 * 32],
    ['/log/tile/12/003.p/6', 404],
    ['/log/tile/12/003.p/0', 404],
    ['/log/tile/12/003', 404],
    ['/log/tile/0/009', 404],
    ['/log/tile/0/9', 404],
    ['/log/leaves', 200, { leaves: [0, 64] }],
    ['/log/leaves?from=12', 200, { leaves: [12, 64] }],
    ['/log/leaves?from=-1', 404],
    [`/log/lots/${LOT}`, 200, { id: LOT }],
    [`/log/lots/${LOT.replace(/0$/, '1')}`, 404],
    ['/log/lots/x', 404],
    ['/log/consistency?from=2&to=3', 200, { from: 2, to: 3, hashes: ['AgIC'] }],
    ['/log/consistency?from=2', 404],
    ['/log/consistency?to=3', 404],
    ['/log/consistency?from=1.5&to=3', 404],
  ];
  for (const [target, status, body] of cases)
    it(`answers ${status} to ${target}`, async () => {
      asked.length = 0;
      const reply = await replyOf(service, target, 'application/json');
      assert.equal(reply.status, status);
      if (typeof body === 'number') assert.equal(reply.body.length, body);
      else if (body !== undefined) assert.deepEqual(JSON.parse(reply.text), body);
      if (target.includes('x001')) assert.deepEqual(asked, [0, 1_234_067]);
    });
});

describe('the answer of /v1/health', () => {
  it('is 503 for fail alone', async () => {
    for (const accept of ['', 'application/health+json'])
      for (const status of ['pass', 'warn', 'fail'] as const) {
        const health = async () => ({ status, version: '1', releaseId: '1.2.3', time: '', checks: {} });
        const routes = plainRoutes({ health, poweredBy: 'Lang' } as unknown as PlainRouteSources);
        const { handler } = routes.find(({ path }) => path === '/v1/health')!;
        const { head } = await handler({ accept, atMs: 0 } as Exchange);
        assert.equal(statusOf(head), status === 'fail' ? 503 : 200, `${status} ${accept}`);
      }
  });
});

describe('a port for metrics alone', () => {
  const cases: [method: string, path: string, status: number][] = [
    ['GET', '/metrics', 200],
    ['HEAD', '/metrics', 200],
    ['POST', '/metrics', 405],
    ['GET', '/', 404],
  ];
  for (const [method, path, status] of cases)
    it(`answers ${status} to ${method} ${path}`, async () => {
      const handle = metricsAlone(async (isFresh) => `fresh: ${isFresh}`);
      const { promise, resolve } = Promise.withResolvers<[head: Uint8Array, body: Uint8Array]>();
      const exchange = {
        ...{ method, path, accept: '', isFromThisMachine: true },
        head: { acceptEncoding: '', asksForFresh: true },
        ...{
          requestId: new Uint8Array(16),
          nameWith: () => {},
          send: (...sent: never[]) => resolve(sent as never),
        },
      };
      handle(exchange as unknown as Exchange);
      const [head, body] = await promise;
      assert.equal(statusOf(head), status);
      if (status === 200) assert.equal(Buffer.from(body).toString(), 'fresh: true');
    });
});
