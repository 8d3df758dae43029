import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { QrnClient } from '../../clients/typescript/src/client.ts';
import type { DrawDocument } from '../../clients/typescript/src/draws.ts';
import { verifyDraw } from '../../src/certificate/verify-draw.ts';
import { Link } from '../support/link.ts';
import { TestServer } from '../support/server.ts';

/** Committed draws by the client, of the real service; `distant` loses replies on its way. */
let server: TestServer;
let client: QrnClient;
let link: Link;
let distant: QrnClient;
before(async () => {
  server = await TestServer.shared();
  const { key } = await server.account('pro');
  client = new QrnClient({ baseUrl: server.baseUrl, key });
  link = await Link.open(server.port);
  distant = new QrnClient({ baseUrl: `http://127.0.0.1:${link.port}/v1`, key });
});
after(() => link.close());

const ITEMS = ['ada', 'grace', 'barbara', 'katherine'];
const RAFFLE = { winners: { count: 2, list: { items: ITEMS } }, purpose: 'raffle of the client' } as const;
const later = () => new Date(Date.now() + 3_600_000);
const used = async () => (await client.usage()).data.credits.used;

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

  it('send each member under its name', async () => {
    const revealAt = later();
    const nonce = Uint8Array.of(0, 255);
    const request = { type: 'integers', count: 3, params: { min: 1, max: 6 } } as const;
    const draw = await client.draws.create({
      request,
      purpose: 'p',
      nonce,
      revealAt,
      userDataSha256: 'ab'.repeat(32),
    });
    const { statement } = draw;
    assert.deepEqual([statement.nonce, statement.due_at], ['00ff', revealAt.toISOString()]);
    assert.equal(statement.user_data_sha256, `sha256:${'ab'.repeat(32)}`);
    const { kind, count, min, max } = statement.request;
    assert.deepEqual([kind, count, min, max], ['integers', 3, 1, 6]);
    const beacon = client.draws.create({ ...RAFFLE, beacon: { chain: 'nowhere', round: 1 } });
    await assert.rejects(beacon, { code: 'invalid_beacon', status: 400, attempts: 1 });
  });

  it('take the nonce that was promised, and no other', async () => {
    const nonce = Uint8Array.of(0xc0, 0xff, 0xee);
    const nonceSha256 = createHash('sha256').update(nonce).digest('hex');
    const { id } = await client.draws.create({ ...RAFFLE, nonceSha256 });
    await assert.rejects(client.draws.reveal(id, Uint8Array.of(1)), { code: 'invalid_nonce' });
    link.loseNext('reply', 1); // the retry may come before or after the end
    await distant.draws.reveal(id, nonce);
    const draw = await client.draws.wait(id);
    assert.deepEqual([draw.state, draw.outcome?.nonce], ['revealed', 'c0ffee']);
  });

  it('are cancelled once, also where the reply was lost', async () => {
    const { id } = await client.draws.create({ ...RAFFLE, revealAt: later() });
    link.loseNext('reply', 1);
    const cancelled = await distant.draws.cancel(id);
    assert.deepEqual([cancelled.id, cancelled.state], [id, 'cancelled']);
    assert.equal((await client.draws.get(id)).state, 'cancelled');
    await assert.rejects(client.draws.cancel(id), { code: 'draw_ended', status: 409 });
  });

  it('are paid once, also where the reply was lost', async () => {
    const before = await used();
    link.requests.length = 0;
    link.loseNext('reply', 2);
    const draw: DrawDocument = await distant.draws.create({ ...RAFFLE, revealAt: later() });
    assert.equal(link.requests.length, 3);
    assert.equal(draw.state, 'committed');
    assert.equal(await used(), before + 32);
  });

  it('are waited for no longer than the caller said', async () => {
    const { id } = await client.draws.create({ ...RAFFLE, revealAt: later() });
    await assert.rejects(client.draws.wait(id, { timeoutMs: 50 }), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'timeout');
      assert.ok(error.message.startsWith(`The draw ${id} has not ended within 50 ms; it is due at 20`));
      return true;
    });
    const signal = AbortSignal.timeout(50);
    await assert.rejects(client.draws.wait(id, { signal }), { name: 'TimeoutError' });
  });

  it('can be read without a valid key, and not be made', async () => {
    const { id } = await client.draws.create({ ...RAFFLE, revealAt: later() });
    const stranger = new QrnClient({ baseUrl: server.baseUrl, key: 'qrn_nobody' });
    assert.equal((await stranger.draws.get(id)).id, id);
    await assert.rejects(stranger.draws.create(RAFFLE), { code: 'auth_invalid' });
    await assert.rejects(client.draws.get('../usage'), { status: 400, code: 'invalid_draw_id' });
  });
});
