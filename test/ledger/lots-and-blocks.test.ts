import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import type { LmdbLedger } from '../../src/ledger/lmdb/lmdb-ledger.ts';
import { closeSound, openTestLedger, temporaryFolder } from '../support/ledger-folder.ts';
import { block, lot, NOON_MS } from '../support/ledger-records.ts';
import { addReleased, release } from '../support/released-lots.ts';

/** A lot has two transactions: one stores it with its blocks, and one releases it. */
const STEPS: Readonly<Record<string, (ledger: LmdbLedger) => Promise<unknown>>> = {
  'the lot with its blocks': (ledger) => ledger.addLot(lot(2), BLOCKS),
  'its release': (ledger) => release(ledger, lot(2).id),
};

const BLOCKS = [block('pure', 1), block('seed', 2), block('pure', 3)];

/** A ledger whose transactions are counted, and that stops when one of the number `stopAt` has run and is not on disk. */
async function opened(t: TestContext) {
  const path = temporaryFolder(t);
  const disk = { transactions: 0, stopAt: Number.NaN };
  const ledger = await openTestLedger(path, {
    wrap: (raw) => ({
      ...raw,
      transact: (body) =>
        raw.transact(() => {
          body();
          if (++disk.transactions === disk.stopAt) throw new Error('power cut');
        }),
    }),
  });
  return { path, ledger, disk };
}

suite('a lot and its blocks', () => {
  for (const [step, [what, stopped]] of Object.entries(STEPS).entries()) {
    test(`${what}: a stop before it is on disk leaves no part of it, and it can be repeated`, async (t) => {
      const { path, ledger, disk } = await opened(t);
      await addReleased(ledger, lot(1), [block('pure', 9)]);
      disk.stopAt = disk.transactions + step + 1;
      for (const before of Object.values(STEPS).slice(0, step)) await before(ledger);
      await assert.rejects(stopped(ledger), { reason: 'stopped' });
      await ledger.close();

      const tool = await openTestLedger(path, { role: 'reader' });
      assert.deepEqual((await tool.audit()).problems, [], 'as it was left');
      await tool.close();
      const again = await openTestLedger(path);
      assert.deepEqual((await again.audit()).problems, []);
      assert.equal((await again.pendingLots(9)).length, step);
      assert.equal((await again.blockLevels()).pure.blocks, 1 + 2 * step);
      for (const repeated of Object.values(STEPS)) await repeated(again);
      const claimed = [...(await again.claimBlocks('pure', 9)), ...(await again.claimBlocks('seed', 9))];
      assert.deepEqual(
        claimed.map(({ lotId, index, bytes }) => [lotId, index, bytes[0]]),
        [
          [lot(1).id, 0, 9],
          [lot(2).id, 0, 1],
          [lot(2).id, 1, 3],
          [lot(2).id, 0, 2],
        ],
      );
      await closeSound(again);
    });
  }

  test('it takes two transactions from the read to the first claim', async (t) => {
    const { ledger, disk } = await opened(t);
    const before = disk.transactions;
    await addReleased(ledger, lot(1), BLOCKS);
    assert.equal(disk.transactions, before + 2);
    await ledger.close();
  });

  test('one that is released before an earlier one stays pending, whose keys are older', async (t) => {
    const { ledger } = await opened(t);
    for (const n of [1, 2, 3]) await ledger.addLot(lot(n), [block('pure', n)]);
    await ledger.putLog([], undefined, { lotIds: [lot(2).id, lot(3).id], atMs: NOON_MS });
    assert.deepEqual(await ledger.claimBlocks('pure', 9), []);
    for (const n of [1, 2, 3]) await release(ledger, lot(n).id);
    assert.deepEqual(
      (await ledger.claimBlocks('pure', 9)).map(({ bytes }) => bytes[0]),
      [1, 2, 3],
    );
    await closeSound(ledger);
  });
});
