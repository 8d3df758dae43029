import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { tierList } from '../../src/http/endpoints/tiers.ts';
import { fetchWhole } from '../support/http.ts';
import { DocumentSchemas } from '../support/openapi.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
type TierList = ReturnType<typeof tierList>;

let list: TierList;
before(async () => {
  server = await TestServer.shared();
  const response = await fetchWhole(`${server.baseUrl}/tiers`);
  assert.equal(response.status, 200);
  const body = (await response.json()) as { data: TierList };
  const document = await (await fetchWhole(`${server.origin}/openapi.json`)).json();
  assert.equal(
    new DocumentSchemas(document as never).complaint({ $ref: '#/components/schemas/Tiers' }, body),
    '',
  );
  list = body.data;
});

describe('GET /v1/tiers', () => {
  it('says of each tier what an account of it is really given', async () => {
    for (const row of list.tiers) {
      const { key } = await server.account(row.tier);
      const headers = { authorization: `Bearer ${key}` };
      const { data } = (await (await server.get('/usage', headers)).json()) as {
        data: {
          tier: string;
          rate: { limit_per_minute: number; burst: number };
          requests: { limit: number };
          credits: { total: number };
        };
      };
      assert.deepEqual(
        [data.tier, data.rate.limit_per_minute, data.rate.burst, data.requests.limit, data.credits.total],
        [row.tier, row.requests_per_minute, row.burst, row.requests_per_month, row.credits_per_month],
      );
      const quoted = await server.get('/uuid?dry_run=true', headers);
      assert.equal(quoted.headers.get('x-entropy-mode'), row.default_entropy_mode);
      for (const mode of ['quantum-seeded', 'pure', 'csprng'] as const) {
        const reply = await server.get(`/uuid?dry_run=true&entropy_mode=${mode}`, headers);
        assert.equal(reply.status, row.entropy_modes.includes(mode) ? 200 : 403, `${row.tier} ${mode}`);
        await reply.arrayBuffer();
      }
    }
  });

  it('names prices that dry_run quotes', async () => {
    for (const { example, credits } of list.prices) {
      const response = await fetchWhole(`${server.origin}${example}&dry_run=true`, {
        headers: { authorization: `Bearer ${server.key}` },
      });
      const { data } = (await response.json()) as { data: { required_bytes: number } };
      assert.equal(data.required_bytes, credits, example);
    }
  });

  it('names limits beyond which a request is refused', async () => {
    const asked: Record<string, (most: number) => string> = {
      integers_count: (most) => `/integers?count=${most}`,
      bytes_count: (most) => `/bytes?count=${most}`,
      floats_count: (most) => `/floats?count=${most}`,
      uuid_count: (most) => `/uuid?count=${most}`,
      bitstring_length: (most) => `/bitstring?length=${most}`,
      shuffle_items: (most) => `/shuffle?items=${'a,'.repeat(most - 1)}a`,
    };
    const { batch_count, ...limits } = list.limits;
    assert.deepEqual(Object.keys(limits), Object.keys(asked));
    const { key } = await server.account('business');
    const statusOf = async (path: string) => {
      const reply = await server.get(`${path}&dry_run=true`, { authorization: `Bearer ${key}` });
      await reply.arrayBuffer();
      return reply.status;
    };
    for (const [name, most] of Object.entries(limits)) {
      assert.deepEqual(
        [await statusOf(asked[name](most)), await statusOf(asked[name](most + 1))],
        [200, 400],
        name,
      );
    }
    for (const [count, status] of [
      [batch_count, 200],
      [batch_count + 1, 400],
    ]) {
      const reply = await server.batch({ type: 'uuid', count, dry_run: true });
      assert.equal(reply.status, status);
      await reply.arrayBuffer();
    }
  });

  it('has a request id, and no other method than GET and HEAD', async () => {
    const response = await fetchWhole(`${server.baseUrl}/tiers`, { method: 'POST' });
    assert.equal(response.status, 405);
    const { headers } = await fetchWhole(`${server.baseUrl}/tiers`);
    assert.match(headers.get('x-request-id')!, /^[0-9a-f-]{36}$/);
  });
});
