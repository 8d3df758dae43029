import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import type { ClaimedBlock } from '../../src/ledger/records.ts';
import { closeSound, openTestLedger, temporaryFolder } from '../support/ledger-folder.ts';
import { block, job, lot, NO_LIMITS, submitted } from '../support/ledger-records.ts';

/** A lot is stored in three transactions: its blocks are staged, the lot is stored, the staging ends. */
const STEPS = ['its blocks', 'the lot', 'the end of the staging'] as const;

const BLOCKS = [block('pure', 1), block('seed', 2), block('pure', 3)];
const NONE = { pure: { blocks: 0, bytes: 0 }, seed: { blocks: 0, bytes: 0 } };

/** A ledger in which something happens when a transaction of the number `at` has run, before it is on disk. */
async function opened(t: TestContext, happens: (transaction: number) => void = () => {}) {
  const path = temporaryFolder(t);
  let counted = Number.NaN;
  const ledger = await openTestLedger(path, {
    wrap: (raw) => ({
      ...raw,
      transact: (body) =>
        raw.transact(() => {
          body();
          happens(++counted);
        }),
    }),
  });
  const countFromHere = () => {
    counted = 0;
  };
  return { path, ledger, countFromHere };
}

suite('a lot and its blocks', () => {
  for (const [step, what] of STEPS.entries()) {
    test(`${what}: a stop before it is on disk leaves a whole lot or nothing, and the lot can be added again`, async (t) => {
      const { path, ledger, countFromHere } = await opened(t, (transaction) => {
        if (transaction === step + 1) throw new Error('power cut');
      });
      await ledger.addLot(lot(1), [block('pure', 9)]);
      countFromHere();
      await assert.rejects(ledger.addLot(lot(2), BLOCKS), { reason: 'stopped' });
      await ledger.close();

      const tool = await openTestLedger(path, { role: 'tool', readOnly: true });
      assert.deepEqual((await tool.audit()).problems, [], 'as it was left');
      await tool.close();
      const again = await openTestLedger(path);
      assert.deepEqual((await again.audit()).problems, []);
      const isStored = step === 2;
      assert.equal((await again.lot(lot(2).id)) !== undefined, isStored);
      const { pure } = await again.blockLevels();
      assert.equal(pure.blocks, isStored ? 3 : 1);
      assert.equal(await again.addLot(lot(2), BLOCKS), true);
      const indexes = (claimed: ClaimedBlock[]) => claimed.map(({ lotId, index }) => [lotId, index]);
      assert.deepEqual(indexes(await again.claimBlocks('pure', 9)), [
        [lot(1).id, 0],
        [lot(2).id, 0],
        [lot(2).id, 1],
      ]);
      assert.deepEqual(indexes(await again.claimBlocks('seed', 9)), [[lot(2).id, 0]]);
      await closeSound(again);
    });
  }

  test('blocks are claimed by nobody before their lot is stored', async (t) => {
    const { promise: staged, resolve } = Promise.withResolvers<ClaimedBlock[]>();
    const { ledger, countFromHere } = await opened(t, (transaction) => {
      if (transaction === 1) queueMicrotask(() => resolve(ledger.claimBlocks('pure', 9)));
    });
    countFromHere();
    const added = ledger.addLot(lot(1), BLOCKS);
    const early = await staged;
    assert.deepEqual(early, []);
    assert.equal(await added, true);
    assert.equal((await ledger.claimBlocks('pure', 9)).length, 2);
    await ledger.close();
  });

  test('blocks of a lot that is refused go', async (t) => {
    const { ledger } = await opened(t);
    await ledger.openJob(job(1), NO_LIMITS);
    await ledger.putJob(submitted(1));
    assert.equal(await ledger.addLot(lot(1), [block('pure', 1)], job(1).key), true);
    assert.equal(await ledger.addLot(lot(2), BLOCKS, job(1).key), false, 'the job has its lot');
    assert.deepEqual((await ledger.audit()).problems, []);
    assert.equal((await ledger.claimBlocks('pure', 9)).length, 1);
    assert.deepEqual(await ledger.blockLevels(), NONE);
    await ledger.addLot(lot(3), BLOCKS);
    assert.equal(
      (await ledger.claimBlocks('pure', 9)).length,
      2,
      'and those of the next one are sealed as ever',
    );
    await ledger.close();
  });
});
