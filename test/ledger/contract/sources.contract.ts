import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, type TestContext } from 'node:test';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { JobRecord, SpendLimits } from '../../../src/ledger/records.ts';
import { openTestLedger, temporaryFolder } from '../../support/ledger-folder.ts';
import {
  block,
  job,
  lot,
  lotId,
  NO_LIMITS,
  NOON_MS,
  spend,
  submitted,
  TODAY,
} from '../../support/ledger-records.ts';
import {
  assertRejects,
  assertSound,
  type ContractOptions,
  casesOn,
  type OpenLedger,
} from './ledger.contract.ts';

const AMOUNT = (amountPerDay: number): SpendLimits => ({ amountPerDay, callsPerDay: null });
const CALLS = (callsPerDay: number): SpendLimits => ({ amountPerDay: null, callsPerDay });

/** A lot from job `n`, with the job open, submitted and read. */
async function storeLotOf(ledger: Ledger, n: number): Promise<void> {
  await ledger.openJob(job(n), NO_LIMITS);
  await ledger.putJob(submitted(n));
  assert.equal(await ledger.addLot(lot(n), [block('pure', n)], job(n).key), true);
}

/** The promises of every ledger about sources: the part SourceStore, and the lots of jobs. */
export function sourcesContract(
  name: string,
  open: (t: TestContext) => Promise<OpenLedger>,
  options: ContractOptions = {},
): void {
  const ends = ({ current }: OpenLedger) => assertSound(current(), {});
  const check = casesOn(open, { ends });
  const checkBackup = casesOn(open, { ends, skip: options.withoutBackup });
  suite(`sources contract: ${name}`, () => {
    check('a new ledger knows of no source', async ({ ledger }) => {
      assert.equal(await ledger.sourceNote('anu', 'offset'), undefined);
      assert.deepEqual(await ledger.openJobs('anu'), []);
      const nothing = { source: 'anu', day: TODAY, amount: 0, currency: '', calls: 0 };
      assert.deepEqual(await ledger.spent('anu', TODAY), nothing);
    });

    check('notes are kept by source and key', async ({ ledger, reopen }) => {
      await ledger.putSourceNote('a', 'offset', '1');
      await ledger.putSourceNote('a', 'offset', '2');
      await ledger.putSourceNote('a', 'hashes', 'long '.repeat(2_000));
      await ledger.putSourceNote('b', 'offset', '');
      const again = await reopen();
      assert.equal(await again.sourceNote('a', 'offset'), '2');
      assert.equal(await again.sourceNote('a', 'hashes'), 'long '.repeat(2_000));
      assert.equal(await again.sourceNote('b', 'offset'), '');
      assert.equal(await again.sourceNote('b', 'hashes'), undefined);
      assert.deepEqual(await again.sourceNotes('offset'), ['2', '']);
      assert.deepEqual(await again.sourceNotes('a'), []);
    });

    check('a day’s budget is used up to the last millionth and no further', async ({ ledger, reopen }) => {
      assert.equal(await ledger.charge('1', spend(0.1), AMOUNT(0.3)), true);
      assert.equal(await ledger.charge('2', spend(0.1), AMOUNT(0.3)), true);
      const again = await reopen();
      assert.equal(await again.charge('3', spend(0.100001), AMOUNT(0.3)), false);
      assert.equal(await again.charge('4', spend(0.1), AMOUNT(0.3)), true, '0.1 three times are 0.3');
      assert.equal(await again.charge('5', spend(0.000001), AMOUNT(0.3)), false);
      assert.equal(await again.charge('6', spend(0), AMOUNT(0.3)), true, 'what costs nothing has room');
      assert.deepEqual(await again.spent('simulator', TODAY), spend(0.3, { calls: 4 }));
    });

    check('calls have their own bound', async ({ ledger }) => {
      assert.equal(await ledger.charge('1', spend(1, { calls: 3 }), CALLS(5)), true);
      assert.equal(await ledger.charge('2', spend(1, { calls: 3 }), CALLS(5)), false);
      assert.equal(await ledger.charge('3', spend(1, { calls: 2 }), CALLS(5)), true);
      assert.equal(await ledger.charge('4', spend(0, { calls: 0 }), CALLS(5)), true);
      assert.equal(await ledger.charge('5', spend(0), { amountPerDay: 2, callsPerDay: 5 }), false);
      assert.deepEqual(await ledger.spent('simulator', TODAY), spend(2, { calls: 5 }));
    });

    check(
      'a charge is taken once under its key, and one that was refused may come again',
      async ({ ledger, reopen }) => {
        assert.equal(await ledger.charge('1', spend(5), AMOUNT(4)), false);
        assert.equal(await ledger.charge('1', spend(5), AMOUNT(5)), true);
        const again = await reopen();
        assert.equal(await again.charge('1', spend(5), AMOUNT(5)), true);
        assert.deepEqual(await again.spent('simulator', TODAY), spend(5));
      },
    );

    check('each source and each day has a budget of its own', async ({ ledger }) => {
      assert.equal(await ledger.charge('1', spend(5), AMOUNT(5)), true);
      assert.equal(await ledger.charge('2', spend(5, { source: 'anu' }), AMOUNT(5)), true);
      assert.equal(await ledger.charge('3', spend(5, { day: TODAY + 1 }), AMOUNT(5)), true);
      assert.equal(await ledger.charge('4', spend(1, { day: TODAY + 1 }), AMOUNT(5)), false);
      assert.deepEqual(await ledger.spent('anu', TODAY), spend(5, { source: 'anu' }));
      assert.equal((await ledger.spent('anu', TODAY + 1)).amount, 0);
    });

    check('a day has one currency', async ({ ledger }) => {
      assert.equal(await ledger.charge('0', spend(0, { currency: 'none' }), NO_LIMITS), true);
      assert.equal(await ledger.charge('1', spend(5), NO_LIMITS), true);
      assert.equal(await ledger.charge('2', spend(1, { currency: 'EUR' }), NO_LIMITS), false);
      assert.equal(await ledger.openJob(job(1, { currency: 'EUR' }), NO_LIMITS), false);
      assert.equal(await ledger.charge('3', spend(0, { currency: 'EUR' }), NO_LIMITS), true, 'calls alone');
      assert.equal(await ledger.charge('4', spend(1, { currency: 'EUR', day: TODAY + 1 }), NO_LIMITS), true);
      assert.deepEqual(await ledger.spent('simulator', TODAY), spend(5, { calls: 3 }));
    });

    check('a charge that is none is refused', async ({ ledger }) => {
      for (const amount of [-1, Number.NaN, Number.POSITIVE_INFINITY, 1e9 + 1]) {
        await assertRejects(ledger.charge('1', spend(amount), NO_LIMITS), 'refused');
        await assertRejects(ledger.openJob(job(1, { amount }), NO_LIMITS), 'refused');
      }
      for (const calls of [-1, 0.5, Number.NaN]) {
        await assertRejects(ledger.charge('1', spend(1, { calls }), NO_LIMITS), 'refused');
      }
      assert.equal((await ledger.spent('simulator', TODAY)).calls, 0);
    });

    check('a job is opened and charged, or neither', async ({ ledger, reopen }) => {
      assert.equal(await ledger.openJob(job(1), AMOUNT(0.2)), true);
      assert.equal(await ledger.openJob(job(1), AMOUNT(0.2)), true, 'known already: admitted, not charged');
      assert.equal(await ledger.openJob(job(2), AMOUNT(0.2)), true);
      assert.equal(await ledger.openJob(job(3), AMOUNT(0.2)), false);
      assert.equal(await ledger.openJob(job(2), AMOUNT(0)), true, 'known already, whatever the limits');
      await assertRejects(ledger.openJob(job(2, { amount: 0.05 }), NO_LIMITS), 'conflict');
      await assertRejects(ledger.openJob(submitted(4), NO_LIMITS), 'refused');
      const again = await reopen();
      assert.deepEqual(await again.openJobs('simulator'), [job(1), job(2)]);
      assert.deepEqual(await again.openJobs('anu'), []);
      assert.deepEqual(await again.spent('simulator', TODAY), spend(0.2, { calls: 2 }));
    });

    check('jobs and charges share the day', async ({ ledger }) => {
      assert.equal(await ledger.openJob(job(1, { amount: 3 }), AMOUNT(5)), true);
      assert.equal(await ledger.charge('1', spend(3), AMOUNT(5)), false);
      assert.equal(await ledger.charge('2', spend(2), AMOUNT(5)), true);
      assert.equal(await ledger.openJob(job(2, { amount: 1 }), AMOUNT(5)), false);
    });

    check('a job goes on and never back', async ({ ledger, reopen }) => {
      await assertRejects(ledger.putJob(submitted(1)), 'refused');
      await ledger.openJob(job(1), NO_LIMITS);
      await ledger.putJob(job(1, { memo: 'planned' }));
      await assertRejects(ledger.putJob(submitted(1, { jobId: null })), 'refused');
      await ledger.putJob(submitted(1));
      await ledger.putJob(job(1));
      await ledger.putJob(submitted(1, { memo: 'more' }));
      await assertRejects(ledger.putJob(submitted(1, { jobId: 'another' })), 'conflict');
      await assertRejects(ledger.putJob(submitted(1, { amount: 0 })), 'conflict');
      await assertRejects(ledger.putJob(submitted(1, { day: TODAY + 1 })), 'conflict');
      await assertRejects(ledger.putJob(submitted(1, { state: 'stored' })), 'refused');
      await assertRejects(ledger.putJob(submitted(1, { state: 'ended' })), 'refused');
      const again = await reopen();
      assert.deepEqual(await again.openJobs('simulator'), [submitted(1, { memo: 'more' })]);
      await again.putJob(submitted(1, { state: 'ended', failure: 'device error' }));
      await again.putJob(submitted(1));
      await again.putJob(submitted(1, { state: 'ended', failure: 'again' }));
      assert.deepEqual(await again.openJobs('simulator'), []);
      assert.equal(await again.addLot(lot(1), [block('pure', 1)], job(1).key), false);
      assert.equal(await again.lot(lotId(1)), undefined);
      assert.deepEqual(await again.spent('simulator', TODAY), spend(0.1), 'it stays charged');
    });

    check('a job is stored with its lot, and gives no second one', async ({ ledger, reopen }) => {
      const { key } = job(1);
      await assertRejects(ledger.addLot(lot(1), [], key), 'refused');
      await ledger.openJob(job(1), NO_LIMITS);
      await assertRejects(ledger.addLot(lot(1), [], key), 'refused');
      await ledger.putJob(submitted(1));
      assert.equal(await ledger.addLot(lot(1), [block('pure', 1)], key), true);
      assert.equal(await ledger.addLot(lot(1), [block('pure', 1)], key), true, 'the same again');
      assert.equal(await ledger.addLot(lot(2), [block('pure', 2)], key), false);
      const again = await reopen();
      assert.equal(await again.addLot(lot(2), [block('pure', 2)], key), false);
      assert.deepEqual(await again.openJobs('simulator'), [submitted(1, { state: 'stored' })]);
      await assertRejects(again.putJob(submitted(1, { state: 'ended', failure: 'it has a lot' })), 'refused');
      await again.putJob(submitted(1, { state: 'ended', memo: '' }));
      assert.equal(await again.addLot(lot(2), [block('pure', 2)], key), false);
      assert.equal(await again.addLot(lot(1), [block('pure', 1)], key), true, 'the same again');
      assert.deepEqual(await again.openJobs('simulator'), []);
      assert.equal((await again.lots(9)).length, 1);
      assert.equal((await again.blockLevels()).pure.blocks, 1);
    });

    check('a lot that came without a job is not the lot of one', async ({ ledger }) => {
      assert.equal(await ledger.addLot(lot(1), []), true);
      await ledger.openJob(job(1), NO_LIMITS);
      await ledger.putJob(submitted(1));
      assert.equal(await ledger.addLot(lot(1), [], job(1).key), false);
      assert.equal(await ledger.addLot(lot(2, { accepted: false, rejection: 'APT' }), [], job(1).key), true);
      assert.equal((await ledger.openJobs('simulator'))[0].state, 'stored', 'evidence is a result too');
      assert.equal(await ledger.addLot(lot(2, { accepted: false }), []), true);
    });

    check('open jobs come in the order in which they were opened', async ({ ledger, reopen }) => {
      const numbers = [7, 300, 2, 41];
      for (const n of numbers) await ledger.openJob(job(n, { intendedAtMs: NOON_MS - n }), NO_LIMITS);
      await ledger.openJob(job(5, { source: 'anu' }), NO_LIMITS);
      await ledger.putJob(submitted(300, { intendedAtMs: NOON_MS - 300 }));
      const again = await reopen();
      const keys = (await again.openJobs('simulator')).map(({ key }: JobRecord) => key);
      assert.deepEqual(
        keys,
        numbers.map((n) => job(n).key),
      );
      assert.equal((await again.openJobs('anu')).length, 1);
    });

    check('admits as many charges as there is room for when many come at once', async ({ ledger }) => {
      const admitted = await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          n % 2 === 0
            ? ledger.openJob(job(n), AMOUNT(1))
            : ledger.charge(`charge ${n}`, spend(0.1), AMOUNT(1)),
        ),
      );
      assert.equal(admitted.filter((each) => each).length, 10);
      assert.deepEqual(await ledger.spent('simulator', TODAY), spend(1, { calls: 10 }));
    });

    checkBackup(
      'a backup keeps jobs, spends and notes, and does not go on with open jobs',
      async ({ ledger }, t) => {
        const target = join(temporaryFolder(t), 'copy');
        await storeLotOf(ledger, 1);
        await ledger.openJob(job(2), NO_LIMITS);
        await ledger.openJob(job(3, { source: 'anu' }), NO_LIMITS);
        await ledger.putJob(submitted(3, { source: 'anu' }));
        await ledger.charge('1', spend(0.4), NO_LIMITS);
        await ledger.putSourceNote('anu', 'offset', '9');
        await ledger.backup(target);
        assert.equal((await ledger.openJobs('simulator')).length, 2, 'the ledger itself does go on');
        const copy = await openTestLedger(target);
        try {
          assert.deepEqual(await copy.openJobs('simulator'), [submitted(1, { state: 'stored' })]);
          assert.deepEqual(await copy.openJobs('anu'), []);
          assert.equal(await copy.addLot(lot(4), [block('pure', 4)], job(1).key), false);
          assert.equal(await copy.addLot(lot(4), [block('pure', 4)], job(3).key), false);
          assert.deepEqual(await copy.spent('simulator', TODAY), spend(0.6, { calls: 3 }));
          assert.equal(await copy.sourceNote('anu', 'offset'), '9');
          await assertSound(copy, { blocksUnclaimed: 0 });
        } finally {
          await copy.close();
        }
      },
    );
  });
}
