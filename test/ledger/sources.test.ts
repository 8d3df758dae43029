import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { ApiError } from '../../src/core/errors.ts';
import { closeSound, openTestLedger, plant, temporaryFolder } from '../support/ledger-folder.ts';
import { block, job, lot, lotId, NO_LIMITS, spend, submitted, TODAY } from '../support/ledger-records.ts';
import { addReleased } from '../support/released-lots.ts';

/** Two jobs with their lots, one open, one that failed; a charge; a note. */
async function filledFolder(t: TestContext): Promise<string> {
  const path = temporaryFolder(t);
  const ledger = await openTestLedger(path);
  for (const n of [1, 2, 3, 4]) {
    await ledger.openJob(job(n), NO_LIMITS);
    await ledger.putJob(submitted(n));
  }
  for (const n of [1, 2]) await addReleased(ledger, lot(n), [block('pure', n)], job(n).key);
  await ledger.putJob(submitted(2, { state: 'ended', memo: '' }));
  await ledger.putJob(submitted(4, { state: 'ended', failure: 'device error' }));
  await ledger.charge('charge', spend(0.4), NO_LIMITS);
  await ledger.putSourceNote('anu', 'offset', '9');
  await closeSound(ledger);
  return path;
}

suite('the audit of lots and sources', () => {
  const stored = (n: number) => submitted(n, { state: 'stored' });
  const plants: readonly (readonly [string, Parameters<typeof plant>[1], RegExp])[] = [
    [
      'a job that is stored without a lot',
      (table) => table('jobs').put(job(1).key, { job: stored(1), ordinal: 1, lotId: null, node: 0 }),
      /job job 1 is stored and has no lot/,
    ],
    [
      'a job that failed and has a lot',
      (table) => {
        const failed = submitted(4, { state: 'ended', failure: 'x' });
        table('jobs').put(job(4).key, { job: failed, ordinal: 4, lotId: lotId(9), node: 0 });
      },
      /job job 4 is ended and has lot .*\n.*names lot .*, which is not stored/,
    ],
    [
      'two jobs with one lot',
      (table) => table('jobs').put(job(1).key, { job: stored(1), ordinal: 1, lotId: lotId(2), node: 0 }),
      /lot .* is of job job 1 and of job job 2/,
    ],
    [
      'a job under another key',
      (table) => table('jobs').put(job(1).key, { job: stored(2), ordinal: 1, lotId: lotId(1), node: 0 }),
      /job job 2 is stored as job 1/,
    ],
    [
      'blocks of a lot that was not accepted',
      (table) => table('lots').put(lotId(1), lot(1, { accepted: false })),
      /lot .* was not accepted and has blocks/,
    ],
    [
      'an open job that is not listed',
      (table) => table('openJobs').remove(['simulator', 3]),
      /^openJobs simulator,3: is missing, and other records imply it/m,
    ],
    [
      'a listed job that has ended',
      (table) => table('openJobs').put(['simulator', 4], job(4).key),
      /^openJobs simulator,4: is stored, and no other record implies it/m,
    ],
    [
      'a spend that is not the sum',
      (table) => table('spends').put(['simulator', TODAY], { micros: 799_999, currency: 'USD', calls: 5 }),
      /^spends simulator,\d+: \{"micros":799999,.*others imply \{"micros":800000,/m,
    ],
    [
      'a spend over currencies',
      (table) => table('charges').put('charge', spend(0.4, { currency: 'EUR' })),
      /^spends simulator,\d+: is a sum over currencies/m,
    ],
    [
      'a spend that is missing',
      (table) => table('spends').remove(['simulator', TODAY]),
      /^spends simulator,\d+: is missing, and other records imply it/m,
    ],
    [
      'records that are gone with their checksums',
      (table) => {
        table('jobs').remove(job(4).key);
        table('charges').remove('charge');
        table('sourceNotes').remove(['anu', 'offset']);
      },
      /^jobs: 3 are stored, 4 are counted\ncharges: 0 .*, 1 .*\nsourceNotes: 0 .*, 1 .*\nspends .*others imply/,
    ],
  ];
  for (const [what, write, problem] of plants) {
    test(`finds ${what}`, async (t) => {
      const path = await filledFolder(t);
      await plant(path, write);
      const ledger = await openTestLedger(path, { role: 'reader' });
      const { ok, problems } = await ledger.audit();
      await ledger.close();
      assert.equal(ok, false);
      assert.match(problems.join('\n'), problem);
    });
  }
});

suite('sources and who may write what', () => {
  test('on a full disk nothing is bought; what was bought goes on', async (t) => {
    let freeBytes = 100;
    const options = { freeBytes: () => freeBytes, freeBytesMin: 50 };
    const ledger = await openTestLedger(temporaryFolder(t), options);
    await ledger.openJob(job(1), NO_LIMITS);
    freeBytes = 10;
    const isFull = (error: unknown) => error instanceof ApiError && error.code === 'storage_unavailable';
    await assert.rejects(ledger.openJob(job(2), NO_LIMITS), isFull);
    await assert.rejects(ledger.charge('1', spend(1), NO_LIMITS), isFull);
    await ledger.putJob(submitted(1));
    assert.deepEqual(await ledger.openJobs('simulator'), [submitted(1)]);
    await ledger.close();
  });
});
