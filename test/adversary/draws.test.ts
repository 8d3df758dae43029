import assert from 'node:assert/strict';
import { it } from 'node:test';
import { roundAt } from '../../src/beacon/drand.ts';
import type { DrawDocument } from '../../src/certificate/draw-document.ts';
import { verifyDraw } from '../../src/certificate/verify-draw.ts';
import { fetchWhole } from '../support/http.ts';
import { LocalDrand } from '../support/local-drand.ts';
import { ProviderServer } from '../support/providers/http-server.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { TestServer } from '../support/server.ts';

const PERIOD_S = 5;

async function documentOf(server: TestServer, id: string): Promise<DrawDocument> {
  return (await (await fetchWhole(`${server.baseUrl}/draws/${id}`)).json()) as DrawDocument;
}

function post(server: TestServer, body: object): Promise<Response> {
  return fetchWhole(`${server.baseUrl}/draws`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ purpose: 'raffle', ...body }),
  });
}

async function create(server: TestServer, body: object): Promise<DrawDocument> {
  const winners = { count: 2, list: { items: ['ada', 'grace', 'barbara', 'katherine'] } };
  const response = await post(server, { winners, ...body });
  assert.equal(response.status, 201, await response.clone().text());
  return (await response.json()) as DrawDocument;
}

it('reveals draws after kill -9 with what they committed to, and verifies offline', async (t) => {
  const drand = new LocalDrand(Math.floor(Date.now() / 1_000) - 100, PERIOD_S);
  const beacon = await new ProviderServer(({ path }) => {
    const reply = drand.reply(path);
    return reply === undefined ? { status: 404 } : { body: reply };
  }).start(t);
  const environment = { QRN_BEACONS: `own ${drand.hash} ${beacon.url}` };
  const folder = scratchFolder();
  let server = TestServer.spawnFor(t, environment, folder);
  await server.ready();
  const round = roundAt(drand.chain, Date.now()) + Math.ceil(20 / PERIOD_S);
  const past = await post(server, {
    request: { type: 'uuid', count: 1 },
    beacon: { chain: 'own', round: round - Math.ceil(20 / PERIOD_S) },
  });
  assert.equal(((await past.json()) as { error: { code: string } }).error.code, 'beacon_round_past');
  const waiting = await create(server, { beacon: { chain: 'own', round }, nonce: 'c0ffee' });
  const timed = await create(server, { reveal_at: new Date(Date.now() + 3_000).toISOString() });
  await server.until('the commitments are logged', async () => {
    const { certificate, commit } = await documentOf(server, waiting.id);
    return certificate?.certificate.proof != null && commit.proof !== null;
  });
  const committed = await documentOf(server, waiting.id);
  await server.kill('SIGKILL');
  server = TestServer.spawnFor(t, environment, folder);
  await server.ready();
  await server.until(
    'the timed draw is revealed',
    async () => (await documentOf(server, timed.id)).state === 'revealed',
    30_000,
  );
  assert.equal((await documentOf(server, waiting.id)).state, 'committed');
  await server.kill('SIGKILL');
  drand.publish(round);
  server = TestServer.spawnFor(t, environment, folder);
  await server.ready();
  await server.until(
    'both are revealed and logged',
    async () => {
      const draws = await Promise.all([waiting.id, timed.id].map((id) => documentOf(server, id)));
      return draws.every(({ end }) => end !== null && end.proof !== null);
    },
    90_000,
  );
  const draw = await documentOf(server, waiting.id);
  assert.equal(draw.state, 'revealed');
  assert.deepEqual([draw.statement, draw.certificate_id], [committed.statement, committed.certificate_id]);
  assert.equal(draw.outcome?.beacon?.signature, drand.round(round).signature);
  const keys = await server.keys();
  for (const id of [waiting.id, timed.id]) {
    const { checks } = await verifyDraw({ draw: await documentOf(server, id), keys, nowMs: Date.now() });
    assert.deepEqual(
      checks.filter(({ ok }) => !ok),
      [],
    );
  }
});
