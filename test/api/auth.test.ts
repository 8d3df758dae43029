import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { mintKey } from '../../src/account/api-keys.ts';
import { fetchWhole } from '../support/http.ts';
import { bearer, refusalOf, statusOf } from '../support/replies.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
before(async () => {
  server = await TestServer.shared();
});

const url = (path: string) => `${server.origin}${path}`;

describe('keys', () => {
  it('are required on every /v1 path including health, and not by the probes', async () => {
    for (const path of ['/v1/integers', '/v1/health', '/v1/usage', '/v1/certificate?id=x']) {
      const response = await fetchWhole(url(path));
      assert.match(response.headers.get('www-authenticate')!, /^Bearer /);
      assert.equal(await refusalOf(response), '401 auth_missing', path);
    }
    for (const path of ['/livez', '/readyz']) assert.equal((await fetchWhole(url(path))).status, 200, path);
  });

  it('are read from Authorization (Bearer in any case) or X-API-Key, and Authorization wins', async () => {
    const good = server.key;
    const cases: [headers: Record<string, string>, expected: number][] = [
      [{ authorization: `Bearer ${good}` }, 200],
      [{ authorization: `bEARER ${good}` }, 200],
      [{ 'x-api-key': good }, 200],
      [{ authorization: `Bearer ${good}`, 'x-api-key': 'wrong' }, 200],
      [{ authorization: 'Bearer wrong', 'x-api-key': good }, 401],
      [{ authorization: `Basic ${good}`, 'x-api-key': good }, 200],
      [{ authorization: `Basic ${good}` }, 401],
      [{ authorization: good }, 401],
    ];
    for (const [headers, expected] of cases) {
      const status = await statusOf(fetchWhole(url('/v1/integers'), { headers }));
      assert.equal(status, expected, JSON.stringify(headers));
    }
  });

  it('are refused when they are mistyped, invented or cut short', async () => {
    const last = server.key.at(-1) === 'a' ? 'b' : 'a';
    for (const key of [
      `${server.key.slice(0, -1)}${last}`,
      server.key.slice(0, -1),
      `${server.key}x`,
      'x',
      'qrn_p_',
    ]) {
      assert.equal(
        await refusalOf(fetchWhole(url('/v1/integers'), { headers: { 'x-api-key': key } })),
        '401 auth_invalid',
      );
    }
  });

  it('get a 403 that names the missing scope', async () => {
    const { account_id } = await server.account('pro');
    const made = JSON.parse(
      await server.qrn('keys', 'create', '--account', account_id, '--scopes', 'entropy:read', '--json'),
    );
    const headers = bearer(made.key);
    await server.knows(made.key);
    const batch = await server.batch({ type: 'uuid', count: 1 }, headers);
    assert.equal(await refusalOf(batch), '403 auth_scope');
    for (const path of ['/usage', '/health', '/certificate?id=x']) {
      assert.equal(await refusalOf(server.get(path, headers)), '403 auth_scope', path);
    }
  });

  it('that are made up do not keep the ledger busy: all are refused, and the service answers', async () => {
    const made = Array.from({ length: 200 }, () => mintKey('pro').text);
    const statuses = await Promise.all(
      made.map((key) => statusOf(fetchWhole(url('/v1/uuid'), { headers: { 'x-api-key': key } }))),
    );
    assert.deepEqual(new Set(statuses), new Set([401]));
    assert.equal(await statusOf(server.get('/uuid')), 200);
  });
});
