import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { fetchWhole } from '../support/http.ts';
import { bearer, refusalOf, statusOf, usageOf } from '../support/replies.ts';
import { ALL_ON, TestServer } from '../support/server.ts';

/**
 * Several front threads must be one service: limits, credits, keys and certificates are shared. Three, so that two of them
 * run beside the main thread; that one front does all this is what the rest of test/api shows.
 */
describe('three fronts', () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.shared(ALL_ON);
  });
  /** An account that every front knows: the command that makes a key returns when each has heard of it. */
  const account = (tier: string, ...options: string[]) => server.account(tier, ...options);
  /** A connection of its own each time, so that the system spreads them over the fronts. */
  const get = (path: string, key: string, headers: Record<string, string> = {}) =>
    fetchWhole(`${server.baseUrl}${path}`, {
      headers: { ...bearer(key), connection: 'close', ...headers },
    });

  it('serve every mode, and each finds the certificates of all', async () => {
    for (const mode of ['quantum-seeded', 'pure', 'csprng']) {
      const ids: string[] = [];
      for (let i = 0; i < 8; i++) {
        const response = await get(`/uuid?count=2&entropy_mode=${mode}`, server.key);
        assert.equal(response.status, 200, await response.clone().text());
        ids.push(
          ((await response.json()) as { metadata: { certificate_id: string } }).metadata.certificate_id,
        );
      }
      assert.equal(new Set(ids).size, 8);
      for (const id of ids) {
        const response = await get(`/certificate?id=${id}`, server.key);
        const body = (await response.json()) as { certificate: { id: string; entropy_mode: string } };
        assert.deepEqual([body.certificate.id, body.certificate.entropy_mode], [id, mode]);
      }
    }
  });

  it('share one burst exactly', async () => {
    const { key } = await account('free');
    const statuses = await Promise.all(Array.from({ length: 30 }, () => statusOf(get('/integers', key))));
    assert.equal(statuses.filter((status) => status === 200).length, 15);
    assert.equal(statuses.filter((status) => status === 429).length, 15);
  });

  it('share credits exactly and answer an Idempotency-Key once', async () => {
    const { key } = await account('enterprise', '--credits-per-month', '100');
    const racing = Array.from({ length: 24 }, () => statusOf(get('/bytes?count=10&entropy_mode=pure', key)));
    const statuses = await Promise.all(racing);
    assert.equal(statuses.filter((status) => status === 200).length, 10);
    assert.equal(statuses.filter((status) => status === 402).length, 14);
    const other = await account('pro');
    const twins = await Promise.all(
      Array.from({ length: 16 }, () =>
        get('/bytes?count=20&entropy_mode=pure', other.key, { 'idempotency-key': 'one' }),
      ),
    );
    const replies = await Promise.all(
      twins.map(async (each) => ({ status: each.status, text: await each.text() })),
    );
    const answers = new Set(replies.filter(({ status }) => status === 200).map(({ text }) => text));
    assert.equal(answers.size, 1);
    for (const { status, text } of replies) if (status !== 200) assert.match(text, /idempotency_in_flight/);
    assert.equal((await usageOf(server, other.key)).credits.used, 20);
  });

  it('refuse an unknown parameter where parameters are strict, and count nothing', async () => {
    const requestsUsed = async () => (await usageOf(server)).requests.used;
    const before = await requestsUsed();
    const refused = await server.get('/uuid?cache=1');
    const { error } = (await refused.json()) as {
      error: { code: string; details: { parameters: string[] } };
    };
    assert.deepEqual([refused.status, error.code], [400, 'unknown_parameter']);
    assert.deepEqual(error.details.parameters, ['cache']);
    const id = `cert_${'0'.repeat(26)}`;
    assert.equal(await refusalOf(server.get(`/certificate?id=${id}&x=1`)), '400 unknown_parameter');
    assert.equal(await refusalOf(server.get('/draws?purpose=p&x=1')), '400 unknown_parameter');
    assert.equal((await server.get('/uuid?count=1')).status, 200);
    assert.equal(await requestsUsed(), before + 1);
  });
});
