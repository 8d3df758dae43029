import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { TIER_LIST } from '../../src/http/endpoints/tiers.ts';
import { fetchWhole } from '../support/http.ts';
import { DocumentSchemas } from '../support/openapi.ts';
import { bearer, bodyOf, usageOf } from '../support/replies.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
type TierList = typeof TIER_LIST;
type Refused = { readonly error: { readonly code: string; readonly details: { readonly tiers: string[] } } };

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
  it('states of each tier what its accounts really get', async () => {
    for (const row of list.tiers) {
      const { key } = await server.account(row.tier);
      const headers = bearer(key);
      const { tier, rate, requests, credits } = await usageOf(server, key);
      assert.equal(tier, row.tier);
      const given = [rate.limit_per_minute, rate.burst, requests.limit, credits.total];
      const told = [row.requests_per_minute, row.burst, row.requests_per_month, row.credits_per_month];
      // an account without an agreement is not limited; the list names no figure that it might agree on
      if (row.tier === 'enterprise') assert.deepEqual(told, [null, null, null, null]);
      else assert.deepEqual(told, given);
      const quoted = await server.get('/uuid?dry_run=true', headers);
      assert.equal(quoted.headers.get('x-entropy-mode'), row.default_entropy_mode);
      for (const mode of ['quantum-seeded', 'pure', 'csprng'] as const) {
        const reply = await server.get(`/uuid?dry_run=true&entropy_mode=${mode}`, headers);
        const { status, body } = await bodyOf<Refused>(reply);
        if (row.entropy_modes.includes(mode)) assert.equal(status, 200, `${row.tier} ${mode}`);
        else {
          assert.deepEqual([status, body.error.code], [403, 'mode_not_allowed'], `${row.tier} ${mode}`);
          const having = list.tiers.filter(({ entropy_modes }) => entropy_modes.includes(mode));
          const names = having.map(({ tier }) => tier);
          assert.deepEqual(body.error.details.tiers, names);
        }
      }
    }
  });

  it('states prices that dry_run quotes', async () => {
    for (const { example, credits } of list.prices) {
      const response = await fetchWhole(`${server.origin}${example}&dry_run=true`, {
        headers: { authorization: `Bearer ${server.key}` },
      });
      const { data } = (await response.json()) as { data: { required_bytes: number } };
      assert.equal(data.required_bytes, credits, example);
    }
  });

  it('states the limits that the table of requests tests the endpoints for', () => {
    assert.deepEqual(list.limits, {
      integers_count: 10_000,
      bytes_count: 1_024,
      floats_count: 10_000,
      uuid_count: 10_000,
      bitstring_length: 100_000,
      shuffle_items: 10_000,
      batch_count: 100_000,
    });
  });

  it('has a request id, and no other method than GET and HEAD', async () => {
    const response = await fetchWhole(`${server.baseUrl}/tiers`, { method: 'POST' });
    assert.equal(response.status, 405);
    const { headers } = await fetchWhole(`${server.baseUrl}/tiers`);
    assert.match(headers.get('x-request-id')!, /^[0-9a-f-]{36}$/);
  });
});
