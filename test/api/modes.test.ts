import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { fetchWhole } from '../support/http.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
const keys: Record<string, string> = {};
before(async () => {
  server = await TestServer.shared();
  for (const tier of ['free', 'developer', 'pro', 'business', 'enterprise'])
    keys[tier] = (await server.account(tier)).key;
});

/** The specification's table of modes and tiers. */
const MODES: Record<string, { allowed: string[]; unasked: string }> = {
  free: { allowed: ['csprng'], unasked: 'csprng' },
  developer: { allowed: ['csprng', 'quantum-seeded'], unasked: 'quantum-seeded' },
  pro: { allowed: ['csprng', 'quantum-seeded', 'pure'], unasked: 'quantum-seeded' },
  business: { allowed: ['csprng', 'quantum-seeded', 'pure'], unasked: 'quantum-seeded' },
  enterprise: { allowed: ['csprng', 'quantum-seeded', 'pure'], unasked: 'quantum-seeded' },
};

describe('entropy modes by tier', () => {
  for (const [tier, { allowed, unasked }] of Object.entries(MODES)) {
    it(`serves ${tier} in ${allowed.join(', ')}, and unasked in ${unasked}`, async () => {
      const headers = { authorization: `Bearer ${keys[tier]}` };
      const plain = await server.get('/integers', headers);
      assert.equal(plain.headers.get('x-entropy-mode'), unasked);
      await plain.arrayBuffer();
      for (const mode of ['csprng', 'quantum-seeded', 'pure']) {
        const response = await server.get(`/bytes?entropy_mode=${mode}`, headers);
        const body = (await response.json()) as {
          error?: { code: string; details: { tiers: string[] } };
          data?: { metadata: { entropy_mode: string } };
        };
        if (allowed.includes(mode)) assert.equal(body.data?.metadata.entropy_mode, mode);
        else {
          assert.equal(`${response.status} ${body.error?.code}`, '403 mode_not_allowed');
          assert.deepEqual(
            body.error?.details.tiers,
            Object.keys(MODES).filter((each) => MODES[each].allowed.includes(mode)),
          );
        }
      }
    });
  }

  it('takes aliases in any case, in the query and in the body, and the body wins', async () => {
    const spelled: [string, string][] = [
      ['hybrid', 'quantum-seeded'],
      ['CSPRNG', 'csprng'],
      ['Quantum-Seeded', 'quantum-seeded'],
    ];
    for (const [spelling, mode] of spelled) {
      const response = await server.get(`/uuid?entropy_mode=${spelling}`);
      assert.equal(response.headers.get('x-entropy-mode'), mode);
      await response.arrayBuffer();
    }
    const response = await fetchWhole(`${server.baseUrl}/batch?entropy_mode=csprng`, {
      method: 'POST',
      headers: { 'x-api-key': server.key, 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify({ type: 'floats', count: 2, entropy_mode: 'hybrid' }),
    });
    assert.equal(response.headers.get('x-entropy-mode'), 'quantum-seeded');
  });

  it('reports an invalid parameter before it reports that the mode is not allowed', async () => {
    const headers = { authorization: `Bearer ${keys['free']}` };
    const response = await server.get('/integers?count=0&entropy_mode=pure', headers);
    assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'invalid_count');
  });
});
