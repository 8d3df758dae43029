import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import { readWitnessPolicy, WITNESS_CLOCK_MS } from '../../src/certificate/verify-witnesses.ts';
import { SECOND, type Times, witnessed } from './witnessed-scene.ts';

async function check(lotSeen: Times, seen: Times, quorum: number, named = [1, 2, 3]) {
  const { checks } = await verifyAnswer(await witnessed(lotSeen, seen, quorum, named));
  const of = (name: string) => checks.find((each) => each.name === name);
  return { ...of('witnesses'), fixed: of('fixed') };
}

const two: Times = [
  [1, SECOND + 2],
  [2, SECOND + 5],
];
const early: Times = [[1, SECOND - WITNESS_CLOCK_MS / 1_000 - 1]];

describe('the witnesses of a certificate', () => {
  it('state between which two times it was logged, if they had seen the log with only its lots', async () => {
    const lotSeen: Times = [
      [1, SECOND - 20],
      [2, SECOND - 30],
    ];
    const { ok, why, fixed } = await check(lotSeen, [[3, SECOND + 9], ...two], 2);
    assert.equal(ok, true, why);
    assert.match(
      why ?? '',
      /^Seen by witness\.example\/w1 at 2026-11-21T08:30:02.000Z, .* So the certificate was logged between 2026-11-21T08:29:30.000Z, when witnesses had seen the log with 2 leaves and without the certificate, and 2026-11-21T08:30:05.000Z\.$/,
    );
    assert.equal(fixed?.ok, true, fixed?.why);
  });

  it('state only the later time, if too few of them had seen its lots before', async () => {
    const { ok, why, fixed } = await check([[1, SECOND - 20]], two, 2);
    assert.equal(ok, true, why);
    assert.match(
      why ?? '',
      /So the certificate was logged between 2026-11-21T08:30:00.\d{3}Z, according to the log alone, and /,
    );
    assert.equal(fixed?.ok, false, 'but the lots are not known to have been fixed before');
    assert.match(
      fixed?.why ?? '',
      /^1 witnesses saw lot .* before the answer was issued, but 2 are required\.$/,
    );
  });

  it('fail when there are too few, one is named twice, or one saw the tree before the certificate was issued', async () => {
    const cases: [Times, quorum: number, named: number[], why: RegExp][] = [
      [two, 3, [1, 2, 3], /^2 witnesses saw the tree, but 3 are required: /],
      [two, 2, [1, 1], /^1 witnesses saw .*, but 2 are required/],
      [early, 1, [1], /saw the tree at .*, before the certificate/],
      [two, 4, [1, 2, 3], /^The quorum is 4, but must be a whole number from 1 to the 3 witnesses named\.$/],
    ];
    for (const [seen, quorum, named, why] of cases) {
      const found = await check(seen, seen, quorum, named);
      assert.equal(found.ok, false);
      assert.match(found.why ?? '', why);
    }
  });
});

describe('a witness policy', () => {
  it('is read from keys with commas or white space between them, and a quorum', () => {
    assert.deepEqual(readWitnessPolicy('a, b\nc', ''), { keys: ['a', 'b', 'c'], quorum: 3 });
    assert.deepEqual(readWitnessPolicy('a,b', '1'), { keys: ['a', 'b'], quorum: 1 });
    assert.equal(readWitnessPolicy(' ,', ''), 'name at least one witness');
    for (const wrong of ['0', '3', '1.5', 'x'])
      assert.equal(
        readWitnessPolicy('a,b', wrong),
        `the quorum must be a number from 1 to 2, not ${JSON.stringify(wrong)}`,
      );
  });
});
