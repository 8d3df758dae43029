import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import {
  closeSound,
  gatheringLog,
  openJournaledLedger,
  openTestLedger,
  temporaryFolder,
} from '../support/ledger-folder.ts';
import { account, block, filledSegment, lot } from '../support/ledger-records.ts';
import { addReleased } from '../support/released-lots.ts';

const FILE_HEADER_BYTES = 4_096;
const JOURNAL = ['journal-1-0-a', 'journal-1-0-b'];

/** A folder as a kill leaves it: `kept` is in LMDB, and what is committed while the folder is copied in the journal alone. */
async function killedFolder(
  t: TestContext,
  fill: (ledger: Awaited<ReturnType<typeof openJournaledLedger>>) => Promise<void>,
  blocks = 0,
): Promise<string> {
  const path = join(temporaryFolder(t), 'ledger');
  const image = join(temporaryFolder(t), 'image');
  mkdirSync(image);
  const ledger = await openJournaledLedger(path);
  await ledger.createAccount(account(1));
  if (blocks > 0)
    await addReleased(
      ledger,
      lot(1),
      Array.from({ length: blocks }, (_, i) => block('pure', i + 1)),
    );
  for (const name of ['data.mdb', 'block-keys']) copyFileSync(join(path, name), join(image, name));
  await fill(ledger);
  copyJournal(path, image);
  await ledger.close();
  return image;
}

function copyJournal(from: string, to: string): void {
  for (const name of JOURNAL) copyFileSync(join(from, name), join(to, name));
}

suite('a start that stores what a killed server left in its journal', () => {
  test('stores the records once when it is killed itself, before and after it has stored them', async (t) => {
    const path = await killedFolder(t, async (ledger) => {
      for (let n = 1; n <= 20; n++) await ledger.commit([filledSegment(n, 5)], []);
    });
    const startKilledAt = (failAt: number) => {
      let transactions = 0;
      return openTestLedger(path, {
        wrap: (raw) => ({
          ...raw,
          transact(body) {
            if (++transactions === failAt) throw new Error('killed here');
            raw.transact(body);
          },
        }),
      });
    };
    // the last of these ends what is left to do, so no start is killed in a later one
    const transactions = 3;
    for (let failAt = 1; failAt <= transactions; failAt++)
      await assert.rejects(startKilledAt(failAt), /killed here/, `transaction ${failAt}`);
    const ledger = await openTestLedger(path);
    assert.deepEqual((await ledger.audit()).problems, []);
    assert.equal((await ledger.balances(202611))[0].requests, 100);
    await ledger.close();
  });

  test("refuses another ledger's journal under the name of its own, and stores nothing of it", async (t) => {
    const path = await killedFolder(t, async (ledger) => ledger.commit([filledSegment(1, 5)], []));
    // segments whose numbers this ledger has not given out: only the header tells that they are not its own
    const other = await killedFolder(t, async (ledger) => ledger.commit([filledSegment(1_000, 5)], []));
    const own = temporaryFolder(t);
    copyJournal(path, own);
    copyJournal(other, path);
    for (const attempt of ['first', 'second']) {
      const reason = {
        reason: 'unusable',
        message: /journal-1-0-a is not as start 1 of ledger \d+ wrote it/,
      };
      await assert.rejects(openTestLedger(path), reason, attempt);
    }
    copyJournal(own, path);
    const ledger = await openTestLedger(path);
    assert.deepEqual(await ledger.segment(1), filledSegment(1, 5));
    assert.equal(await ledger.segment(1_000), undefined);
    await closeSound(ledger);
  });

  test('a start that is refused over another data file gives up no block, and no answer of the journal', async (t) => {
    const path = await killedFolder(t, async (ledger) => ledger.commit([filledSegment(1, 5)], []), 1);
    const other = temporaryFolder(t);
    const another = await openTestLedger(other);
    await addReleased(another, lot(1), [block('pure', 1), block('pure', 2)]);
    await another.claimBlocks('pure', 2);
    await another.close();
    const own = temporaryFolder(t);
    copyFileSync(join(path, 'data.mdb'), join(own, 'data.mdb'));
    copyFileSync(join(other, 'data.mdb'), join(path, 'data.mdb'));
    await assert.rejects(openTestLedger(path), { reason: 'unusable' });
    copyFileSync(join(own, 'data.mdb'), join(path, 'data.mdb'));
    const ledger = await openTestLedger(path);
    assert.equal((await ledger.claimBlocks('pure', 9)).length, 1);
    assert.deepEqual(await ledger.segment(1), filledSegment(1, 5));
    await ledger.close();
  });

  test("a restore sets another ledger's journal aside, and stores nothing of it", async (t) => {
    const path = await killedFolder(t, async (ledger) => ledger.commit([filledSegment(1, 5)], []));
    const other = await killedFolder(t, async (ledger) => ledger.commit([filledSegment(1_000, 5)], []));
    copyJournal(other, path);
    const foreign = readFileSync(join(path, JOURNAL[0])).subarray(FILE_HEADER_BYTES);
    const { log, told } = gatheringLog('error');
    const ledger = await openTestLedger(path, { mayLackJournals: true, log });
    assert.deepEqual(
      told.map(([, text]) => text),
      JOURNAL.map(() => 'ledger: a journal is of another ledger or start: nothing of it is stored'),
    );
    assert.deepEqual(await ledger.segmentsFrom(0, 9), []);
    await ledger.close();
    const kept = readFileSync(join(path, `${JOURNAL[0]}.foreign`));
    assert.deepEqual(kept.subarray(FILE_HEADER_BYTES), foreign);
    await closeSound(await openTestLedger(path));
  });

  test('a restore stores what it can read of a journal whose header it cannot read', async (t) => {
    const path = await killedFolder(t, async (ledger) => ledger.commit([filledSegment(1, 5)], []));
    const file = join(path, JOURNAL[0]);
    const content = readFileSync(file);
    content[3] ^= 0x40;
    writeFileSync(file, content);
    await assert.rejects(openTestLedger(path), { reason: 'unusable' });
    const ledger = await openTestLedger(path, { mayLackJournals: true });
    assert.deepEqual(await ledger.segment(1), filledSegment(1, 5));
    await closeSound(ledger);
  });
});
