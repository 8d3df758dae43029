import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ByteStream } from '../../src/certificate/draw-samplers.ts';
import { drawnValues } from '../../src/certificate/draw-values.ts';
import type { CheckName } from '../../src/certificate/verify.ts';
import { verifyDraw } from '../../src/certificate/verify-draw.ts';
import { type DrawScene, type DrawSceneOptions, drawScene, ITEMS, LIST_SHA256 } from './draw-scene.ts';
import { TIME_MS } from './fixtures.ts';
import { changed } from './scene.ts';

async function failures({ document, keys }: DrawScene): Promise<readonly [CheckName, string][]> {
  const { ok, checks } = await verifyDraw({ draw: document, keys });
  const failed = checks.filter((check) => !check.ok).map(({ name, why }): [CheckName, string] => [name, why]);
  assert.equal(ok, failed.length === 0);
  return failed;
}

async function failuresOf(draw: DrawScene, path: string, to: unknown): Promise<CheckName[]> {
  const found = await failures({ ...draw, document: changed(draw.document, path, to) });
  return found.map(([name]) => name);
}

describe('a committed draw', () => {
  it('verifies before and after its end, with a beacon, with a nonce and without either', async () => {
    const nonceHash = {
      nonce_sha256: 'sha256:123d4c7ef2d1600a1b3a0f6addc60a10f05a3495c9409f2ecbf4cc095d000a6b',
    };
    const draws = [
      await drawScene(),
      await drawScene({ isPublic: false, hasBeacon: false }),
      await drawScene({ end: 'none' }),
      await drawScene({ end: 'none', isPublic: false, hasBeacon: false }),
      await drawScene({ hasBeacon: false }),
      await drawScene({ statement: { nonce: '00ff' }, nonce: '00ff', hasBeacon: false }),
      await drawScene({ statement: nonceHash, nonce: 'abcd', hasBeacon: false }),
      await drawScene({ end: 'cancelled', reason: 'cancelled' }),
      await drawScene({ end: 'failed', reason: 'beacon_missing' }),
      await drawScene({
        request: { kind: 'weighted', count: 3, items: ITEMS, weights: [1, 2, 3, 4] },
        hasBeacon: false,
      }),
      await drawScene({
        request: { kind: 'integers', count: 2, min: 1, max: 4, unique: true, sort: 'none' },
        hasBeacon: false,
      }),
    ];
    for (const draw of draws)
      assert.deepEqual(await failures(draw), [], JSON.stringify(draw.document['state']));
    const { checks } = await verifyDraw({ draw: draws[0].document, keys: draws[0].keys });
    const ofDraw = ['statement', 'commitment', 'logged', 'secret', 'nonce', 'beacon', 'values', 'end'];
    assert.deepEqual(
      checks.map(({ name }) => name).filter((name) => ofDraw.includes(name)),
      ofDraw,
    );
    assert.ok(
      checks.some(({ name }) => name === 'fixed'),
      'the lot stood in the log before the draw',
    );
    const { outcome } = draws[0].document as { outcome: { values: string[] } };
    assert.equal(new Set(outcome.values).size, 2);
    assert.ok(outcome.values.every((winner) => ITEMS.includes(winner)));
  });

  it('fails where the caller or the service changed anything afterwards', async () => {
    const nonce = { statement: { nonce: '00ff' }, nonce: '00ff' };
    const [draw, withBeacon] = [await drawScene({ ...nonce, hasBeacon: false }), await drawScene(nonce)];
    const cases: [path: string, to: unknown, failed: CheckName[]][] = [
      ['outcome.values', ['ada', 'grace'].reverse(), ['values', 'end']],
      ['outcome.secret', '00'.repeat(32), ['secret', 'values', 'end']],
      ['outcome.nonce', '00fe', ['nonce', 'values', 'end']],
      ['outcome.beacon.signature', 'aa'.repeat(96), ['beacon', 'values', 'end']],
      ['outcome.beacon.round', 9, ['beacon', 'values', 'end']],
      ['outcome.ended_at', '2026-11-21T08:31:00.000Z', ['end']],
      ['answer.data.bytes', '00'.repeat(32), ['delivered', 'fixed', 'secret', 'values']],
      ['chain.period', 11, ['logged', 'beacon', 'values']],
      ['committed_at', '2026-11-21T08:30:00.000Z', ['commitment']],
      ['certificate_id', 'cert_00000000000000000000000000', ['commitment']],
      ['id', 'draw_00000000000000000000000000', ['statement']],
      ['state', 'failed', ['end']],
      ['end.proof', null, ['end']],
      ['commit.proof', null, ['logged']],
      ['statement_sha256', `sha256:${'0'.repeat(64)}`, ['statement']],
    ];
    for (const [path, to, expected] of cases) {
      const changedDraw = /beacon|chain/.test(path) ? withBeacon : draw;
      assert.deepEqual(await failuresOf(changedDraw, path, to), expected, path);
    }
    const others = {
      request: { kind: 'sample', count: 2, items: [...ITEMS].reverse() },
      purpose: 'summer raffle',
    };
    for (const [name, value] of Object.entries(others)) {
      const failed = await failuresOf(draw, `statement.${name}`, value);
      for (const each of ['statement', 'commitment', 'logged', 'end'])
        assert.ok(failed.includes(each as CheckName));
    }
  });

  it('fails where the service picked its certificate after the round, or from several', async () => {
    const late = await drawScene({ loggedAtMs: TIME_MS + 60_000, end: 'none' });
    assert.match(
      (await failures(late)).join(),
      /^logged,The log held the commitment by .* is not before round 8/,
    );
    const due_at = new Date(Date.parse(late.dueAt) - 1_000).toISOString();
    assert.deepEqual(await failures(await drawScene({ statement: { due_at }, end: 'none' })), [
      ['logged', `The draw was due before round 8, at ${late.dueAt}.`],
    ]);
    const draw = await drawScene({ end: 'none' });
    const { leaf } = draw.document['commit'] as { leaf: string };
    const other = leaf.replace(/"delivered":"sha256:..../, '"delivered":"sha256:0000');
    assert.deepEqual(await failuresOf(draw, 'commit.leaf', other), ['logged']);
    const unbound = leaf.replace(/"delivered":"[^"]*",/, '');
    assert.deepEqual(await failuresOf(draw, 'commit.leaf', unbound), ['logged']);
  });

  it('fails where a draw was cancelled, or given up, when its outcome could be known', async () => {
    const due = Date.parse((await drawScene({ end: 'none' })).dueAt);
    const ends: DrawSceneOptions[] = [
      { end: 'cancelled', reason: 'cancelled', endedMs: due, endLoggedMs: due },
      { end: 'cancelled', reason: 'cancelled', endLoggedMs: due },
      { end: 'cancelled', reason: 'beacon_missing' },
      { end: 'failed', reason: 'beacon_missing', endedMs: due + 3_600_000, endLoggedMs: due + 3_600_000 },
      { end: 'failed', reason: 'cancelled' },
    ];
    for (const end of ends)
      assert.deepEqual(
        (await failures(await drawScene(end))).map(([name]) => name),
        ['end'],
        JSON.stringify(end),
      );
    const hidden = await drawScene({ statement: { public: false }, end: 'none', hasBeacon: false });
    assert.deepEqual(
      (await failures(hidden)).map(([name]) => name),
      ['commitment'],
    );
  });

  it('fails, or names the member as not covered, whatever a single member is changed to', async () => {
    const { document, keys } = await drawScene({ hasBeacon: false });
    const unseen: string[] = [];
    let changes = 0;
    for (const [path, to] of changesOf(document)) {
      changes++;
      const { ok, notCovered } = await verifyDraw({ draw: changed(document, path.join('.'), to), keys });
      const inner = isRecord(to) ? [...path, 'stranger'] : path;
      const name = inner.filter((each) => !/^\d+$/.test(each)).join('.');
      if (ok && !notCovered.includes(name.replace(/^answer\./, ''))) unseen.push(name);
    }
    assert.deepEqual(unseen, []);
    assert.ok(changes > 150, `${changes} changes`);
    const stranger = await verifyDraw({ draw: { ...document, winners: ['eve'] }, keys });
    assert.ok(stranger.notCovered.includes('winners'));
  });

  it('refuses a request that no number of words would answer, where it would count forever', () => {
    const none = () => assert.fail('nothing is drawn');
    for (const request of [
      { kind: 'integers', count: 1, min: -1, max: 2 ** 53 - 1, unique: false, sort: 'none' },
      { kind: 'weighted', count: 100_000, items: Array(100_000).fill('a'), weights: Array(100_000).fill(1) },
    ])
      assert.equal(typeof drawnValues(request, new ByteStream(none)), 'string');
  });

  it('fails where a list or a request is not the one that was published', async () => {
    const list = { sha256: LIST_SHA256, size: 3 };
    assert.deepEqual(
      (await failures(await drawScene({ statement: { list }, end: 'none' }))).map(([name]) => name),
      ['statement'],
    );
    const other = { kind: 'integers', count: 2, min: 2, max: 4, unique: true, sort: 'none' };
    assert.deepEqual(
      (await failures(await drawScene({ request: other, end: 'none' }))).map(([name]) => name),
      ['statement'],
    );
  });

  it('is no exception for a document of any shape', async () => {
    const { document, keys } = await drawScene({ hasBeacon: false });
    const shapes: unknown[] = [null, [], 'draw', 1, {}, { state: 'revealed' }];
    const paths = [
      'statement',
      'certificate',
      'commit',
      'answer',
      'outcome',
      'end',
      'state',
      'statement.request',
    ];
    for (const path of paths)
      for (const to of [null, [], 'x', 7, {}]) shapes.push(changed(document, path, to));
    for (const draw of shapes)
      assert.equal((await verifyDraw({ draw, keys })).ok, false, JSON.stringify(draw)?.slice(0, 99));
  });
});

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of every member in the document: another value; of an object one with one member more. */
function* changesOf(value: unknown, path: readonly string[] = []): Generator<[readonly string[], unknown]> {
  const isList = Array.isArray(value);
  if (path.length > 0) {
    if (typeof value === 'string') yield [path, `${value}x`];
    else if (typeof value === 'number') yield [path, value + 1];
    else if (isList) yield [path, [...value, 'x']];
    else yield [path, isRecord(value) ? { ...value, stranger: 1 } : value !== true];
  }
  if (isList || isRecord(value))
    for (const [name, inner] of Object.entries(value)) yield* changesOf(inner, [...path, name]);
}
