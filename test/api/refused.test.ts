import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { fetchWhole } from '../support/http.ts';
import { bearer, refusalOf, usageOf } from '../support/replies.ts';
import { BODIES, QUERIES, statusOf, type TableRow } from '../support/request-table.ts';
import { TestServer } from '../support/server.ts';

/** A request that is refused, at whatever step, has drawn nothing, spent nothing and counted nowhere. */
let server: TestServer;
let key: string;
before(async () => {
  server = await TestServer.shared();
  ({ key } = await server.account('enterprise', '--credits-per-month', '1000'));
});

/** Refused requests, besides a request of the table for each refusal of each endpoint. */
const REFUSED: [path: string, code: string][] = [
  ['/bytes?count=1024&entropy_mode=pure', 'credits_exhausted'],
  ['/certificate?id=cert_1', 'invalid_id'],
  ['/certificate?id=cert_00000000000000000000000000', 'cert_not_found'],
  ...firstOfEach(QUERIES).map(({ endpoint, request, code = '' }): [string, string] => [
    `/${endpoint}?${request}`,
    code,
  ]),
];

/** Returns the first row of each endpoint and code. */
function firstOfEach(rows: readonly TableRow<string>[]): TableRow<string>[] {
  const refused = rows.filter(({ code }) => code !== undefined).toReversed();
  return [...new Map(refused.map((row) => [`${row.endpoint} ${row.code}`, row])).values()];
}

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
    for (const row of firstOfEach(BODIES)) {
      const posted = server.post(`/${row.endpoint}`, row.request, headers);
      assert.equal(await refusalOf(posted), `${statusOf(row)} ${row.code}`);
    }
    const plain = server.batch('count=1', { ...headers, 'content-type': 'text/plain' });
    assert.equal(await refusalOf(plain), '415 unsupported_media_type');
    assert.deepEqual(await books(), before);
    assert.deepEqual(await audit(), { ok: true, certificates });
  });
});

it('a request that fails several checks is refused by the first of them', async () => {
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
