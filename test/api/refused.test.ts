import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { fetchWhole } from '../support/http.ts';
import { bearer, refusalOf, usageOf } from '../support/replies.ts';
import { TestServer } from '../support/server.ts';

/** A request that is refused, at whatever step, has drawn nothing, spent nothing and counted nowhere. */
let server: TestServer;
let key: string;
before(async () => {
  server = await TestServer.shared();
  ({ key } = await server.account('enterprise', '--credits-per-month', '1000'));
});

const REFUSED: [path: string, code: string][] = [
  ['/integers?count=0', 'invalid_count'],
  ['/integers?min=5&max=5', 'invalid_range'],
  ['/integers?unique=true&count=11&min=1&max=10', 'unique_impossible'],
  ['/integers?unique=yes', 'invalid_boolean'],
  ['/integers?sort=up', 'invalid_sort'],
  ['/integers?count=1&count=1', 'duplicate_parameter'],
  ['/integers?entropy_mode=quantum', 'invalid_entropy_mode'],
  ['/bytes?count=1025', 'invalid_count'],
  ['/bytes?encoding=utf8', 'invalid_encoding'],
  ['/floats?precision=16', 'invalid_precision'],
  ['/bitstring?length=100001', 'invalid_length'],
  ['/shuffle', 'invalid_items'],
  ['/shuffle?items=a,%ff', 'invalid_items'],
  ['/bytes?count=1024&entropy_mode=pure', 'credits_exhausted'],
  ['/certificate?id=cert_1', 'invalid_id'],
  ['/certificate?id=cert_00000000000000000000000000', 'cert_not_found'],
  ['/certificate', 'invalid_id'],
];

const BATCHES: [body: unknown, status: number, code: string][] = [
  ['{', 400, 'invalid_json'],
  [{ type: 'dice', count: 1 }, 400, 'invalid_type'],
  [{ type: 'uuid', count: 100_001 }, 400, 'invalid_count'],
  [{ type: 'uuid', count: '5' }, 400, 'invalid_count'],
  [{ type: 'integers', count: 1, params: [] }, 400, 'invalid_params'],
  [{ type: 'integers', count: 1, params: { min: 2, max: 1 } }, 400, 'invalid_range'],
  [{ type: 'bytes', count: 100_000, params: { length: 1024 } }, 400, 'invalid_params'],
  [`{"type":"uuid","count":1,"pad":"${'x'.repeat(70_000)}"}`, 413, 'payload_too_large'],
];

describe('a refused request', () => {
  const books = async () => {
    const { requests, credits, by_endpoint: byEndpoint } = await usageOf(server, key);
    return { requests, credits, byEndpoint };
  };

  const audit = async () => {
    const { ok, certificates } = JSON.parse(await server.qrn('ledger', 'audit', '--json'));
    return { ok, certificates };
  };

  it('changes nothing in the books, and the ledger has no certificate of it', async () => {
    const headers = bearer(key);
    const before = await books();
    const { certificates } = await audit();
    for (const [path, code] of REFUSED) {
      assert.match(await refusalOf(server.get(path, headers)), new RegExp(`^4\\d\\d ${code}$`), path);
    }
    for (const [body, status, code] of BATCHES) {
      assert.equal(await refusalOf(server.batch(body, headers)), `${status} ${code}`);
    }
    const plain = server.batch('count=1', { ...headers, 'content-type': 'text/plain' });
    assert.equal(await refusalOf(plain), '415 unsupported_media_type');
    assert.deepEqual(await books(), before);
    assert.deepEqual(await audit(), { ok: true, certificates });
  });
});

it('refuses a request that fails several checks by the first of them', async () => {
  const keyOf = async (tier: string, options: readonly string[], scopes?: string) => {
    const { account_id: account, key: own } = await server.account(tier, ...options);
    if (scopes === undefined) return own;
    const made = await server.qrn('keys', 'create', '--account', account, '--scopes', scopes, '--json');
    return { own, scoped: (JSON.parse(made) as { key: string }).key };
  };
  const codeOf = async (path: string, apiKey: string, accept = 'image/png', method = 'GET') => {
    const headers = { accept, ...(apiKey === '' ? {} : bearer(apiKey)) };
    const response = await fetchWhole(`${server.baseUrl}${path}`, { method, headers });
    const text = await response.text();
    return response.status === 200
      ? 'answered'
      : (JSON.parse(text) as { error: { code: string } }).error.code;
  };
  const wrong = '/bytes?count=0&entropy_mode=pure';
  assert.equal(await codeOf('/nothing?count=0', ''), 'not_found');
  assert.equal(await codeOf(wrong, '', 'image/png', 'PUT'), 'method_not_allowed');
  assert.equal(await codeOf(wrong, ''), 'auth_missing');
  const free = (await keyOf('free', [], 'usage:read')) as { own: string; scoped: string };
  for (let i = 0; i < 15; i++) await codeOf('/uuid', free.own, '*/*');
  assert.equal(await codeOf(wrong, free.scoped), 'rate_limited');
  const used = (await keyOf('enterprise', ['--requests-per-month', '1'], 'usage:read')) as typeof free;
  assert.equal(await codeOf('/uuid', used.own, '*/*'), 'answered');
  assert.equal(await codeOf(wrong, used.scoped), 'quota_exceeded');
  const developer = (await keyOf('developer', [], 'usage:read')) as typeof free;
  assert.equal(await codeOf(wrong, developer.scoped), 'auth_scope');
  assert.equal(await codeOf(wrong, developer.own), 'invalid_count');
  assert.equal(await codeOf(wrong.replace('=0', '=9'), developer.own), 'not_acceptable');
  assert.equal(await codeOf(wrong.replace('=0', '=9'), developer.own, '*/*'), 'mode_not_allowed');
  const poor = (await keyOf('enterprise', ['--credits-per-month', '1'])) as string;
  assert.equal(await codeOf(wrong.replace('=0', '=9'), poor, '*/*'), 'credits_exhausted');
});
