import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { SequenceLease } from '../../src/ledger/ledger.ts';
import { Sequences } from '../../src/ledger/sequences.ts';
import { ManualClock } from '../support/manual-clock.ts';

const AHEAD = 2 ** 16;
const HOUR_MS = 3_600_000;

/** Sequences of a lease, and the calls for others, which the test answers. */
function leased(lease: SequenceLease) {
  const clock = new ManualClock();
  const asked: PromiseWithResolvers<SequenceLease>[] = [];
  const leaseSequences = () => {
    asked.push(Promise.withResolvers());
    return asked.at(-1)!.promise;
  };
  const answer = async (next: SequenceLease | Error) => {
    if (next instanceof Error) asked.at(-1)!.reject(next);
    else asked.at(-1)!.resolve(next);
    await turn();
  };
  return { sequences: new Sequences({ leaseSequences }, clock, lease), clock, asked, answer };
}

const SECOND = { from: 1_000_001, before: 2_000_000 };

test('sequences are given out in order, and more are requested before they run out', async () => {
  const { sequences, asked, answer } = leased({ from: 11, before: 20 + AHEAD });
  for (let n = 11; n < 20; n++) assert.equal(sequences.next(), n);
  assert.deepEqual([asked.length, sequences.isOut], [0, false]);
  assert.equal(sequences.next(), 20);
  assert.equal(asked.length, 1);
  for (let n = 21; n < 20 + AHEAD; n++) assert.equal(sequences.next(), n);
  assert.deepEqual(
    [asked.length, sequences.isOut],
    [1, true],
    'until the next ones come nothing may be drawn',
  );
  await answer(SECOND);
  assert.deepEqual([sequences.isOut, sequences.next(), sequences.next()], [false, 1_000_001, 1_000_002]);
  assert.equal(asked.length, 1);
});

test('a refused request for sequences is repeated at the next use and at the next check', async () => {
  const { sequences, asked, answer } = leased({ from: 1, before: 3 });
  sequences.next();
  await answer(new Error('the ledger is away'));
  sequences.next();
  assert.equal(asked.length, 2);
  await answer(new Error('the ledger is away'));
  assert.equal(sequences.isOut, true);
  assert.equal(asked.length, 3);
  await answer(SECOND);
  assert.equal(sequences.next(), 1_000_001);
});

test('sequences are used for an hour, or for a day while there are no others', async () => {
  const { sequences, clock, asked, answer } = leased({ from: 1, before: 10 * AHEAD });
  clock.advance(HOUR_MS);
  assert.deepEqual([sequences.next(), asked.length], [1, 0]);
  clock.advance(1);
  assert.deepEqual([sequences.next(), asked.length], [2, 1]);
  clock.advance(23 * HOUR_MS - 1);
  assert.deepEqual([sequences.next(), sequences.isOut], [3, false]);
  clock.advance(1);
  assert.equal(sequences.isOut, true, 'others may have dropped what follows them');
  clock.advance(HOUR_MS + 1);
  await answer(SECOND);
  assert.equal(sequences.isOut, true, 'these were asked for a day ago');
  assert.equal(asked.length, 2);
  await answer({ from: 3_000_001, before: 4_000_000 });
  assert.deepEqual([sequences.isOut, sequences.next()], [false, 3_000_001]);
});

test('sequences that were leased in time replace the old ones after an hour', async () => {
  const { sequences, clock, answer } = leased({ from: 1, before: 10 * AHEAD });
  clock.advance(HOUR_MS + 1);
  sequences.next();
  await answer(SECOND);
  assert.deepEqual([sequences.next(), sequences.next()], [1_000_001, 1_000_002]);
});
