import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { QrnClient } from '../../clients/typescript/src/client.ts';
import { verifyDraw } from '../../src/certificate/verify-draw.ts';
import { TestServer } from '../support/server.ts';

/** Committed draws by the client, of the real service; what it sends and makes of replies is told by clients/conformance.json. */
let client: QrnClient;
before(async () => {
  const server = await TestServer.shared();
  const { key } = await server.account('pro');
  client = new QrnClient({ baseUrl: server.baseUrl, key });
});

const ITEMS = ['ada', 'grace', 'barbara', 'katherine'];
const RAFFLE = { winners: { count: 2, list: { items: ITEMS } }, purpose: 'raffle of the client' } as const;
const later = () => new Date(Date.now() + 3_600_000);

describe('draws', () => {
  it('are created, and verified once they have ended', async () => {
    const { answer, response } = await client.draws
      .create({ ...RAFFLE, userData: 'é', public: true })
      .withResponse();
    assert.deepEqual([response.status, answer.statement.purpose], [201, RAFFLE.purpose]);
    assert.deepEqual([answer.statement.user_data, answer.statement.public], ['é', true]);
    const draw = await client.draws.wait(answer.id);
    assert.equal(draw.state, 'revealed');
    const winners = draw.outcome?.values ?? [];
    assert.equal(new Set(winners.filter((winner) => ITEMS.includes(String(winner)))).size, 2);
    const { checks } = await verifyDraw({ draw, keys: await client.keys(), nowMs: Date.now() });
    assert.deepEqual(
      checks.filter(({ ok }) => !ok),
      [],
    );
    assert.ok(checks.length > 0);
  });

  it('are waited for no longer than the caller allows', async () => {
    const { id } = await client.draws.create({ ...RAFFLE, revealAt: later() });
    await assert.rejects(client.draws.wait(id, { timeoutMs: 50 }), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'timeout');
      assert.ok(error.message.startsWith(`The draw ${id} has not ended within 50 ms; it is due at 20`));
      return true;
    });
    const signal = AbortSignal.timeout(50);
    await assert.rejects(client.draws.wait(id, { signal }), { name: 'TimeoutError' });
  });
});
