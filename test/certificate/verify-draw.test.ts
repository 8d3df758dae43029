import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CheckName } from '../../src/certificate/verify.ts';
import { verifyDraw } from '../../src/certificate/verify-draw.ts';
import { type DrawScene, drawScene, ITEMS, LIST_SHA256 } from './draw-scene.ts';
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
    const draw = await drawScene({ end: 'none' });
    const { leaf } = draw.document['commit'] as { leaf: string };
    const other = leaf.replace(/"delivered":"sha256:..../, '"delivered":"sha256:0000');
    assert.deepEqual(await failuresOf(draw, 'commit.leaf', other), ['logged']);
    const unbound = leaf.replace(/"delivered":"[^"]*",/, '');
    assert.deepEqual(await failuresOf(draw, 'commit.leaf', unbound), ['logged']);
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
