import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chancesOf } from '../../src/certificate/draw.ts';
import type { CheckName } from '../../src/certificate/verify.ts';
import { verifyDraw } from '../../src/certificate/verify-draw.ts';
import { type DrawScene, type DrawSceneOptions, digestOf, drawScene, ITEMS } from './draw-scene.ts';
import { TIME_MS } from './fixtures.ts';
import { changed } from './scene.ts';
import { cosigned, witness } from './signatures.ts';

/** A time after the commitment, and before any of these draws is due. */
const NOW_MS = TIME_MS + 5_000;

async function failures({ document, keys }: DrawScene): Promise<readonly [CheckName, string][]> {
  const { ok, checks } = await verifyDraw({ draw: document, keys, nowMs: NOW_MS });
  const failed = checks.filter((check) => !check.ok).map(({ name, why }): [CheckName, string] => [name, why]);
  assert.equal(ok, failed.length === 0);
  return failed;
}

async function failuresOf(draw: DrawScene, path: string, to: unknown): Promise<CheckName[]> {
  const found = await failures({ ...draw, document: changed(draw.document, path, to) });
  return found.map(([name]) => name);
}

function pathsIn(value: unknown, above = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = `${above}${name}`;
    return [path, ...pathsIn(inner, `${path}.`)];
  });
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
        chances: ITEMS.map((item, i) => ({ item, percent: `${10 * (i + 1)}` })),
        hasBeacon: false,
      }),
      await drawScene({
        request: { kind: 'integers', count: 2, min: 1, max: 4, unique: true, sort: 'none' },
        hasBeacon: false,
      }),
    ];
    for (const draw of draws)
      assert.deepEqual(await failures(draw), [], JSON.stringify(draw.document['state']));
    const { checks } = await verifyDraw({ draw: draws[0].document, keys: draws[0].keys, nowMs: NOW_MS });
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

  it('is judged whatever stands in any of its places: no member makes the verifier throw', async () => {
    const { document, keys } = await drawScene({ hasBeacon: false });
    // a text that is no Unicode, and an object that becomes no number and no text
    const hostile = ['\ud800', { toString: 1, valueOf: 1 }];
    for (const path of pathsIn(document))
      for (const to of hostile)
        assert.doesNotThrow(
          () => verifyDraw({ draw: changed(document, path, to), keys, nowMs: NOW_MS }),
          `${path} is ${JSON.stringify(to)}`,
        );
  });

  it('fails if the service picked its certificate after the round, or from several', async () => {
    const late = await drawScene({ loggedAtMs: TIME_MS + 60_000, end: 'none' });
    assert.match(
      (await failures(late)).join(),
      /^logged,The log held the commitment only by .* is not before round 8/,
    );
    const due_at = new Date(Date.parse(late.dueAt) - 1_000).toISOString();
    assert.deepEqual(await failures(await drawScene({ statement: { due_at }, end: 'none' })), [
      ['logged', `The draw was due before round 8 of its beacon, which was due at ${late.dueAt}.`],
    ]);
    const committed = new Date(TIME_MS + 13).toISOString();
    const before = new Date(TIME_MS + 12).toISOString();
    for (const [at, why] of [
      [committed, []],
      [before, [['commitment', 'The draw was due before it was committed.']]],
    ] as const)
      assert.deepEqual(
        await failures(await drawScene({ statement: { due_at: at }, hasBeacon: false, end: 'none' })),
        why,
      );
    const draw = await drawScene({ end: 'none' });
    const { leaf } = draw.document['commit'] as { leaf: string };
    const other = leaf.replace(/"delivered":"sha256:..../, '"delivered":"sha256:0000');
    assert.deepEqual(await failuresOf(draw, 'commit.leaf', other), ['logged']);
    const unbound = leaf.replace(/"delivered":"[^"]*",/, '');
    assert.deepEqual(await failuresOf(draw, 'commit.leaf', unbound), ['logged']);
  });

  it('names one certificate, its time, and bytes that a lot fixed: no mode with system entropy commits to anything', async () => {
    const draw = await drawScene({ hasBeacon: false });
    for (const [path, to] of [
      ['certificate_id', 'cert_00000000000000000000000000'],
      ['committed_at', new Date(TIME_MS).toISOString()],
      ['certificate.certificate.entropy_mode', 'quantum-seeded'],
    ] as const)
      assert.ok((await failuresOf(draw, path, to)).includes('commitment'), path);
  });

  it('shows the bytes that were committed, and no outcome of a draw that is said to wait for one', async () => {
    const draw = await drawScene({ hasBeacon: false });
    assert.ok((await failuresOf(draw, 'outcome.secret', '00'.repeat(32))).includes('secret'));
    const waiting = await drawScene({ hasBeacon: false, end: 'none' });
    assert.deepEqual(await failuresOf(waiting, 'outcome', draw.document['outcome']), ['end']);
  });

  it('must have the order of lot and draw, whatever mode its certificate names', async () => {
    const failed = await failuresOf(await drawScene(), 'certificate.certificate.entropy_mode', 'csprng');
    assert.ok(failed.includes('fixed'), failed.join());
  });

  it('fails if it was cancelled or given up when its outcome could be known', async () => {
    const due = Date.parse((await drawScene({ end: 'none' })).dueAt);
    const ends: DrawSceneOptions[] = [
      { end: 'cancelled', reason: 'cancelled', endedMs: due, endLoggedMs: due },
      { end: 'cancelled', reason: 'cancelled', endLoggedMs: due },
      { end: 'cancelled', reason: 'cancelled', hasBeacon: false, endedMs: due, endLoggedMs: due },
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

  it('refuses a statement with members that its kind does not read, and lists that are not drawn from', async () => {
    const names = ['ada', 'grace', 'barbara', 'mary', 'joan'];
    const listOf = (items: readonly string[]) => ({
      sha256: digestOf(items.map((item) => `${item}\n`).join('')),
      size: items.length,
    });
    const strings = { kind: 'strings', count: 1, length: 1, alphabet: ['j', 'm'] };
    const fives = { kind: 'integers', count: 1, min: 1, max: 5, unique: true, sort: 'none' };
    const integers = { kind: 'integers', count: 2, min: 5, max: 5, unique: false, sort: 'none' };
    const sample = (...items: unknown[]) => ({ kind: 'sample', count: 1, items });
    const sequence = { length: 2, min: 3, max: 3, unique: false };
    const sequences = (range: object) => ({ kind: 'sequences', count: 1, sort: 'none', ranges: [range] });
    const listed = { list: listOf(names) };
    const listOfTwo = { list: { ...listOf(names), size: 2 } };
    const oneOutcome = /one possible outcome/;
    const otherList = /does not draw from the list that the statement names/;
    const forged: [request: Record<string, unknown>, why: RegExp, more?: DrawSceneOptions][] = [
      [{ ...strings, items: names }, /request\.items is an unknown member/, listed],
      [strings, /names a list, but a draw of "strings" reads none/, listed],
      [{ ...fives, items: names }, /request\.items is an unknown member/, listed],
      [{ ...fives, unique: false }, otherList, listed],
      [{ ...fives, sort: 'ascending' }, otherList, listed],
      [sample('ada\ngrace\nbarbara\nmary', 'joan'), /Item 1 has a line break/, listOfTwo],
      [sample('ada\rgrace', 'joan'), /Item 1 has a line break/],
      [sample('ada\u2028grace', 'joan'), /Item 1 has a line break/],
      [sample('1', '2'), otherList, listOfTwo],
      [sample(...names), otherList, listOfTwo],
      [{ ...fives, min: 2 }, otherList, listed],
      [sample('ada', 7), /request\.items\[1\] is 7, not a text/],
      [{ kind: 'sample', count: 1 }, /request\.items is missing/],
      [sample('ada', 'ada'), oneOutcome],
      [{ kind: 'strings', count: 2, length: 3, alphabet: ['j'] }, oneOutcome],
      [integers, oneOutcome],
      [{ ...integers, count: 3, max: 7, unique: true, sort: 'descending' }, oneOutcome],
      [{ kind: 'permutations', count: 9, length: 1 }, oneOutcome],
      [sequences(sequence), oneOutcome],
      [sequences({ ...sequence, max: 9, x: 1 }), /request\.ranges\[0\]\.x is an unknown member/],
      [{ kind: 'dice', count: 1 }, /kind "dice", not one of integers, /],
      [{ ...fives, unique: 'true' }, /request\.unique is "true", not true or false/],
      [
        { kind: 'bytes', count: 1, length: 1_025, encoding: 'hex', single: false },
        /request\.length is 1025, above 1024/,
      ],
      [{ ...fives, sort: 'asc' }, /request\.sort is "asc", not one of/],
      [{ ...strings, alphabet: ['ada\ngrace', 'joan'] }, /Character 1 of the alphabet has a line/],
      [{ ...strings, alphabet: ['joan', 'mary'] }, /Character 1 of the alphabet is "joan", not one/],
      [{ kind: 'gaussians', count: 1, mean: 5, stddev: 1e-9, digits: 2 }, oneOutcome],
      [fives, /statement\.winner is an unknown member/, { statement: { winner: 'joan' } }],
      [
        fives,
        /statement\.list\.items is an unknown member/,
        { list: { ...listOf(names), items: names } as never },
      ],
      [
        { kind: 'weighted', count: 1, items: ITEMS, weights: [1, 1, 1, 1] },
        /chances in the document do not follow/,
        { chances: ITEMS.map((item) => ({ item, percent: item === 'ada' ? '97' : '1' })) },
      ],
    ];
    for (const [request, why, more = { list: null }] of forged) {
      const [first] = await failures(await drawScene({ request, ...more, hasBeacon: false, end: 'none' }));
      assert.equal(first?.[0], 'statement', JSON.stringify(request));
      assert.match(first[1], why);
    }
  });

  it('shows the chances of a weighted draw as percentages', async () => {
    const draw = await drawScene({
      request: { kind: 'weighted', count: 1, items: ['ada', 'grace', 'joan'], weights: [1, 2, 2 ** 40] },
      list: null,
      chances: [
        { item: 'ada', percent: 'less than 0.0001' },
        { item: 'grace', percent: 'less than 0.0001' },
        { item: 'joan', percent: 'more than 99.99' },
      ],
      hasBeacon: false,
    });
    const { checks } = await verifyDraw({ draw: draw.document, keys: draw.keys, nowMs: NOW_MS });
    const told = checks.find(({ name }) => name === 'statement');
    assert.ok(
      told?.why.endsWith(
        'The chances in one pick are: "joan" more than 99.99 %, "ada" less than 0.0001 %, "grace" less than 0.0001 %.',
      ),
      told?.why,
    );
    const thirds = chancesOf({
      kind: 'weighted',
      count: 1,
      items: ['a', 'b', 'c'],
      weights: [1, 1, 10_000],
    });
    assert.deepEqual(
      thirds?.map(({ percent }) => percent),
      ['0.009998', '0.009998', '99.98'],
    );
  });

  it('is verified only if it ended as promised, and otherwise reports its own standing', async () => {
    const dueMs = Date.parse((await drawScene({ end: 'none' })).dueAt);
    const cases: [DrawSceneOptions, nowMs: number, standing: string, advice: RegExp | undefined][] = [
      [{}, NOW_MS, 'revealed', undefined],
      [{ end: 'none' }, dueMs - 1_000, 'pending', /It is due at/],
      [{ end: 'none' }, dueMs + 86_400_000 + 60_000, 'pending', /It is due at/],
      [{ end: 'none' }, dueMs + 86_400_000 + 60_001, 'overdue', /is holding its result back/],
      [{ end: 'none', hasBeacon: false }, TIME_MS + 60_000, 'pending', /due/],
      [{ end: 'none', hasBeacon: false }, TIME_MS + 60_014, 'overdue', /should have ended/],
      [{ end: 'none' }, Number.NaN, 'overdue', /should have ended/],
      [{ end: 'cancelled', reason: 'cancelled' }, NOW_MS, 'cancelled', /no result/],
      [
        { end: 'failed', reason: 'beacon_missing' },
        NOW_MS,
        'failed',
        /Check whether the beacon published round 8/,
      ],
      [{ end: 'failed', reason: 'secret_lost' }, NOW_MS, 'failed', /could have chosen/],
    ];
    for (const [options, nowMs, standing, advice] of cases) {
      const { document, keys } = await drawScene(options);
      const found = await verifyDraw({ draw: document, keys, nowMs });
      assert.equal(found.standing, standing, JSON.stringify(options));
      if (advice === undefined) assert.equal(found.advice, undefined);
      else assert.match(found.advice ?? '', advice);
    }
  });

  it('shows by witnesses that a log backdated its commitment', async () => {
    const { document, keys, dueAt } = await drawScene({ end: 'none' });
    const dueS = Date.parse(dueAt) / 1_000;
    const one = witness(1);
    const loggedVerdict = async (seenAtS: number, quorum = 1) => {
      let seen = document;
      for (const path of ['commit.proof', 'certificate.certificate.proof']) {
        const proof = path
          .split('.')
          .reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document);
        seen = changed(seen, path, cosigned(proof as string, one, seenAtS));
      }
      const witnesses = { keys: [one.verifier, witness(2).verifier].slice(0, quorum), quorum };
      const { checks } = await verifyDraw({ draw: seen, keys, witnesses, nowMs: NOW_MS });
      return checks.find(({ name }) => name === 'logged');
    };
    const before = await loggedVerdict(dueS - 1);
    assert.ok(before?.ok, before?.why);
    assert.match(before.why, /^The log and at least 1 witnesses held the commitment by /);
    assert.doesNotMatch(before.why, /own clock/);
    for (const late of [dueS, dueS + 3_600]) {
      const after = await loggedVerdict(late);
      assert.equal(after?.ok, false);
      assert.match(
        after.why,
        /^0 witnesses saw the commitment before round 8 was due, at .*, but 1 are required\.$/,
      );
    }
    assert.match((await loggedVerdict(dueS - 1, 2))?.why ?? '', /^1 witnesses saw .*, but 2 are required/);
  });

  it('states what proves the order of commitment and round, and whose chain it is', async () => {
    const { document, keys } = await drawScene();
    const { checks } = await verifyDraw({ draw: document, keys, nowMs: NOW_MS });
    const why = (name: CheckName) => checks.find((each) => each.name === name)?.why ?? '';
    assert.match(why('logged'), /rests on the log's own clock: to check it, name witnesses \(--witness\)/);
    assert.match(why('beacon'), /not one of the League of Entropy: whoever runs it may know its rounds/);
  });

  it('raises no exception for a document of any shape', async () => {
    const { document, keys } = await drawScene({ hasBeacon: false });
    let nested: unknown = [];
    for (let i = 0; i < 50_000; i++) nested = [nested];
    const shapes: unknown[] = [null, [], 'draw', 1, {}, { state: 'revealed' }, nested];
    for (const name of ['end', 'certificate', 'commit']) shapes.push({ type: 'draw', [name]: nested });
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
    for (const draw of shapes) assert.equal((await verifyDraw({ draw, keys, nowMs: NOW_MS })).ok, false);
  });
});
