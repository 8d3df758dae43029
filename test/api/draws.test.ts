import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { hashOf, listSha256 } from '../../src/certificate/draw.ts';
import type { DrawDocument } from '../../src/certificate/draw-document.ts';
import { verifyDraw } from '../../src/certificate/verify-draw.ts';
import { fromHex } from '../../src/core/bytes.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { drawnValues } from '../../src/draws/values.ts';
import { fetchWhole } from '../support/http.ts';
import { bearer, failedChecks, statusOf, usageOf } from '../support/replies.ts';
import { REFUSED_DRAWS } from '../support/request-table.ts';
import { TestServer } from '../support/server.ts';

/** Committed draws of the real service: without a beacon, for which test/draws/keeper.test.ts has one of its own. */
let server: TestServer;
before(async () => {
  server = await TestServer.shared();
});

const LIST = ['ada', 'grace', 'barbara', 'katherine'];
const WINNERS = { winners: { count: 2, list: { items: LIST } }, purpose: 'raffle' };
const HOUR_MS = 3_600_000;

function later(ms = HOUR_MS): string {
  return new Date(Date.now() + ms).toISOString();
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; location: string | null; body: DrawDocument & { error?: { code: string } } }> {
  const response = await fetchWhole(`${server.baseUrl}${path}`, {
    method,
    headers: { ...bearer(server.key), 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const location = response.headers.get('location');
  return { status: response.status, location, body: (await response.json()) as never };
}

const create = (body: unknown, headers?: Record<string, string>) => call('POST', '/draws', body, headers);

/** The draw without a key, once `isReady`. */
async function drawOf(id: string, isReady: (draw: DrawDocument) => boolean): Promise<DrawDocument> {
  let draw: DrawDocument;
  await server.until(`draw ${id} is ready`, async () => {
    draw = (await (await fetchWhole(`${server.baseUrl}/draws/${id}`)).json()) as DrawDocument;
    return isReady(draw);
  });
  return draw!;
}

const isLogged = ({ certificate, commit, end }: DrawDocument) =>
  certificate?.certificate.proof != null && commit.proof !== null && end !== null && end.proof !== null;

/** Computes, as everybody can, the values of an ended draw. */
function valuesOf({ statement, outcome }: DrawDocument): unknown {
  return drawnValues(statement.request, {
    secret: fromHex(outcome?.secret ?? ''),
    nonce: fromHex(outcome?.nonce ?? ''),
    randomness: fromHex(outcome?.beacon?.randomness ?? ''),
    statementSha256: fromHex(hashOf(statement).slice(7)),
  });
}

const used = async () => {
  const { requests, credits } = await usageOf(server);
  return [requests.used, credits.used];
};

describe('committed draws', () => {
  it('are committed, revealed, and show everybody all that is needed to check them', async () => {
    const made = await create({ ...WINNERS, user_data: 'rules v1', public: true });
    const { status, body: created } = made;
    assert.deepEqual([status, made.location], [201, `/v1/draws/${created.id}`]);
    assert.equal(created.statement_sha256, hashOf(created.statement));
    assert.deepEqual(created.statement.request, { kind: 'sample', count: 2, items: LIST });
    const draw = await drawOf(created.id, isLogged);
    assert.equal(draw.state, 'revealed');
    assert.deepEqual(draw.statement, created.statement, 'nothing of it changed');
    assert.deepEqual(draw.outcome?.values, valuesOf(draw));
    const keys = await server.keys();
    assert.deepEqual(failedChecks(await verifyDraw({ draw, keys, nowMs: Date.now() })), []);
    // the committed bytes are those of an ordinary pure answer, whose certificate is bound to the statement
    const { certificate } = draw;
    assert.equal((draw.answer as { data: { bytes: string } }).data.bytes, draw.outcome?.secret);
    assert.equal(certificate?.certificate.label?.user_data_sha256, draw.statement_sha256);
    assert.equal(certificate?.certificate.entropy_mode, 'pure');
    const drawn = certificate?.certificate.provenance.drawn ?? [];
    assert.equal(
      drawn.reduce((sum, { bytes }) => sum + bytes, 0),
      32,
    );
    // both leaves are public
    const leaves = await leavesOf(draw.commit.proof ?? '', draw.end?.proof ?? '');
    assert.deepEqual(leaves, [draw.commit.leaf, draw.end?.leaf]);
    assert.deepEqual(JSON.parse(draw.end?.leaf ?? ''), {
      type: 'draw_end',
      version: 1,
      statement_sha256: draw.statement_sha256,
      state: 'revealed',
      outcome_sha256: hashOf(draw.outcome ?? {}),
      ended_at: draw.outcome?.ended_at,
    });
  });

  it('show nothing of the committed bytes before they are due', async () => {
    const { body } = await create({ ...WINNERS, reveal_at: later() }, { 'idempotency-key': 'sealed' });
    const draw = await drawOf(body.id, ({ commit }) => commit.proof !== null);
    assert.equal(draw.state, 'committed');
    assert.deepEqual([draw.answer, draw.outcome, draw.end], [null, null, null]);
    // nor by the key under which the service keeps the answer
    const stolen = server.get('/bytes?count=32&encoding=hex&entropy_mode=pure', {
      'idempotency-key': `draw/${body.id}`,
    });
    assert.equal(await statusOf(stolen), 422);
  });

  it('are the same for a retry, and for no other request', async () => {
    const key = { 'idempotency-key': 'my raffle'.replace(' ', '-') };
    const body = JSON.stringify({ ...WINNERS, reveal_at: later() });
    const [first, before] = [await create(body, key), await used()];
    const again = await create(body, key);
    assert.deepEqual([first.status, again.status, again.location], [201, 200, null]);
    assert.equal(again.body.id, first.body.id);
    assert.deepEqual(again.body.statement, first.body.statement);
    assert.deepEqual(await used(), before);
    const other = await create(JSON.stringify({ ...WINNERS, reveal_at: later(2 * HOUR_MS) }), key);
    assert.deepEqual([other.status, other.body.error?.code], [422, 'idempotency_mismatch']);
  });

  it('are numbered by purpose, so that repeating one is visible', async () => {
    const purpose = 'drawn until it suits';
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.push((await create({ ...WINNERS, purpose, public: true })).body.id);
    const serials: (number | undefined)[] = [];
    for (const id of ids) {
      const { certificate } = await drawOf(id, isLogged);
      serials.push(certificate?.certificate.label?.serial);
    }
    assert.deepEqual(serials, [1, 2, 3]);
  });

  it('pick lines of a list that stays with the caller, and refuse a list that was changed', async () => {
    const sha256 = createHash('sha256').update('ada\ngrace\nbarbara\nkatherine\n').digest('hex');
    assert.equal(listSha256(LIST), `sha256:${sha256}`, 'as sha256sum gives it');
    const { body } = await create({ winners: { count: 4, list: { sha256, size: 4 } }, purpose: 'raffle' });
    const draw = await drawOf(body.id, ({ state }) => state === 'revealed');
    assert.deepEqual(draw.statement.list, { sha256: `sha256:${sha256}`, size: 4 });
    const drawn = draw.outcome?.values as number[];
    assert.deepEqual(drawn.toSorted(), [1, 2, 3, 4]);
    const whole = await create({
      winners: { count: 2, list: { items: LIST, sha256, size: 4 } },
      purpose: 'p',
    });
    assert.equal(whole.status, 201);
    const weighted = { count: 1, list: { sha256, size: 4 }, weights: [1, 3, 1, 1] };
    const { body: byWeight } = await create({ winners: weighted, purpose: 'p' });
    assert.deepEqual((byWeight.statement.request as { items?: unknown }).items, ['1', '2', '3', '4']);
    const changed = { items: ['eve', ...LIST.slice(1)], sha256 };
    const refused = await create({ winners: { count: 2, list: changed }, purpose: 'raffle' });
    assert.deepEqual([refused.status, refused.body.error?.code], [400, 'list_mismatch']);
  });

  it('of weights show the chances in their document and on their page', async () => {
    const winners = { count: 1, list: { items: LIST }, weights: [1, 1, 2, 4] };
    const { body } = await create({ winners, purpose: 'raffle' });
    const draw = await drawOf(body.id, isLogged);
    const percents = ['12.5', '12.5', '25', '50'];
    assert.deepEqual(
      draw.chances,
      LIST.map((item, i) => ({ item, percent: percents[i] })),
    );
    assert.deepEqual(
      failedChecks(await verifyDraw({ draw, keys: await server.keys(), nowMs: Date.now() })),
      [],
    );
    const page = await (await fetchWhole(`${server.origin}/draws/${body.id}`)).text();
    assert.match(page, /<dt>katherine<\/dt><dd[^>]*>50 %<\/dd>/);
  });

  it('mix in a nonce that the caller opens after the commitment', async () => {
    const nonce = 'c0ffee';
    const nonceSha256 = createHash('sha256').update(fromHex(nonce)).digest('hex');
    const { body } = await create({ ...WINNERS, nonce_sha256: nonceSha256 });
    const early = await drawOf(body.id, ({ commit }) => commit.proof !== null);
    const { due_at: dueAt, gives_up_at: givesUpAt = '' } = early.statement;
    assert.equal(Date.parse(givesUpAt) - Date.parse(dueAt), LIMITS.drawPatienceMs);
    assert.equal(early.state, 'committed', 'it waits for the nonce');
    const wrong = await call('POST', `/draws/${body.id}/reveal`, { nonce: 'c0ffef' });
    assert.deepEqual([wrong.status, wrong.body.error?.code], [400, 'invalid_nonce']);
    assert.equal((await call('POST', `/draws/${body.id}/reveal`, { nonce })).status, 200);
    const draw = await drawOf(body.id, ({ state }) => state !== 'committed');
    assert.equal(draw.state, 'revealed');
    assert.equal(draw.outcome?.nonce, nonce);
    assert.deepEqual(draw.outcome?.values, valuesOf(draw));
    const twice = await call('POST', `/draws/${body.id}/reveal`, { nonce });
    assert.deepEqual([twice.status, twice.body.error?.code], [409, 'draw_ended']);
  });

  it('show their bytes when they are cancelled, and never change again', async () => {
    const { body } = await create({ ...WINNERS, reveal_at: later() });
    const cancelled = await call('DELETE', `/draws/${body.id}`);
    assert.equal(cancelled.status, 200);
    assert.equal(cancelled.body.state, 'cancelled');
    assert.deepEqual(cancelled.body.outcome?.values, valuesOf(cancelled.body), 'what it would have been');
    const twice = await call('DELETE', `/draws/${body.id}`);
    assert.deepEqual([twice.status, twice.body.error?.code], [409, 'draw_ended']);
    const draw = await drawOf(body.id, isLogged);
    assert.equal(draw.state, 'cancelled');
    const { body: due } = await create(WINNERS);
    await drawOf(due.id, ({ state }) => state === 'revealed');
    const late = await call('DELETE', `/draws/${due.id}`);
    assert.deepEqual([late.status, late.body.error?.code], [409, 'draw_ended']);
  });

  it('refuse each malformed request with its own code, and draw and charge nothing', async () => {
    const before = await used();
    for (const row of REFUSED_DRAWS) {
      const reply = await create(row.request);
      assert.deepEqual([reply.status, reply.body.error?.code], [400, row.code], row.request);
    }
    const plain = await create(JSON.stringify(WINNERS), { 'content-type': 'text/plain' });
    assert.equal(plain.body.error?.code, 'unsupported_media_type');
    assert.equal(
      (await create(WINNERS, { 'idempotency-key': 'a b' })).body.error?.code,
      'invalid_idempotency_key',
    );
    const reveal = `/draws/draw_${'0'.repeat(26)}/reveal`;
    for (const [body, code, headers] of [
      [{}, 'invalid_nonce'],
      [{ nonce: '0' }, 'invalid_nonce'],
      [{ nonce_sha256: 'ab'.repeat(32) }, 'unknown_parameter'],
      [{ nonce: '00' }, 'unsupported_media_type', { 'content-type': 'text/plain' }],
    ] as const)
      assert.equal((await call('POST', reveal, body, headers)).body.error?.code, code, JSON.stringify(body));
    assert.equal((await call('GET', '/draws?purpose=p&from=0')).body.error?.code, 'invalid_count');
    assert.deepEqual(await used(), before);
  });

  it('refuse malformed and unknown ids, other accounts, and requests without a key', async () => {
    const unknown = `draw_${'0'.repeat(26)}`;
    assert.equal((await call('POST', `/draws/${unknown}`)).body.error?.code, 'not_found');
    assert.equal((await call('POST', '/draws/x/reveal')).body.error?.code, 'invalid_draw_id');
    for (const method of ['GET', 'DELETE'] as const) {
      assert.equal((await call(method, `/draws/${unknown}`)).body.error?.code, 'draw_not_found', method);
      assert.equal((await call(method, '/draws/nonsense')).body.error?.code, 'invalid_draw_id', method);
      assert.equal((await call(method, `/draws/${unknown}/more`)).body.error?.code, 'not_found', method);
    }
    const { body } = await create({ ...WINNERS, reveal_at: later() });
    const { key: other } = await server.account('pro');
    const theirs = await call('DELETE', `/draws/${body.id}`, undefined, bearer(other));
    assert.equal(theirs.body.error?.code, 'draw_not_found');
    const none = await call('POST', '/draws', WINNERS, { authorization: '' });
    assert.deepEqual([none.status, none.body.error?.code], [401, 'auth_missing']);
  });
});

/** Texts of the public leaves with these proofs. */
async function leavesOf(...proofs: readonly string[]): Promise<(string | undefined)[]> {
  const texts: (string | undefined)[] = [];
  for (const proof of proofs) {
    const index = Number(/^index (\d+)$/m.exec(proof)?.[1]);
    const page = (await (await fetchWhole(`${server.origin}/log/leaves?from=${index}`)).json()) as {
      leaves: { index: number; leaf: string }[];
    };
    texts.push(page.leaves.find((each) => each.index === index)?.leaf);
  }
  return texts;
}
