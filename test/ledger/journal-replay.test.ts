import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { createJournal, filesOf } from '../../src/ledger/journal.ts';
import {
  closeSound,
  gatheringLog,
  openJournaledLedger,
  openTestLedger,
  plant,
  temporaryFolder,
} from '../support/ledger-folder.ts';
import { block, filledSegment, lot } from '../support/ledger-records.ts';
import { addReleased } from '../support/released-lots.ts';

const FILE_HEADER_BYTES = 4_096;
/** The files of the first front of the first start. */
const JOURNAL = ['journal-1-0-a', 'journal-1-0-b'];

function copyFiles(from: string, to: string, names: readonly string[]): void {
  for (const name of names) copyFileSync(join(from, name), join(to, name));
}

/** A folder that was killed with segments of five certificates in its journal alone, 1 to 3 unless given, and so many blocks in LMDB. */
async function killedFolder(t: TestContext, sequences = [1, 2, 3], blocks = 0): Promise<string> {
  const [path, image] = [temporaryFolder(t), temporaryFolder(t)];
  const ledger = await openJournaledLedger(path);
  const held = Array.from({ length: blocks }, (_, i) => block('pure', i + 1));
  if (blocks > 0) await addReleased(ledger, lot(1), held);
  copyFiles(path, image, ['data.mdb', 'block-keys']);
  for (const n of sequences) await ledger.journal.commit(filledSegment(n, 5), []);
  copyFiles(path, image, JOURNAL);
  await ledger.close();
  return image;
}

function flip(file: string, at: number): void {
  const content = readFileSync(file);
  content[at] ^= 0x40;
  writeFileSync(file, content);
}

/**
 * What is done to the first file, how a start refuses it, and the segments that are kept when the operator accepts the
 * folder as it is.
 */
const SPOILS: Readonly<
  Record<string, readonly [(file: string, other: string) => void, string, readonly number[]]>
> = {
  'that is missing': [(file) => rmSync(file), 'is missing', []],
  'that is empty': [
    (file) => truncateSync(file),
    'is not as start 1 of ledger \\d+ wrote it: it has 0 bytes and begins with ""',
    [],
  ],
  'that is cut short': [
    (file) => truncateSync(file, 20_000),
    'is not as .*: it has 20000 bytes and begins with "qrn journal 1,.*',
    [1, 2, 3],
  ],
  'without a header': [
    (file) => flip(file, 3),
    'is not as .* and begins with "qrn`journal 1, ledger .*',
    [1, 2, 3],
  ],
  'with a damaged record': [
    (file) => flip(file, FILE_HEADER_BYTES + 60),
    `is damaged at byte ${FILE_HEADER_BYTES}`,
    [2, 3],
  ],
  'in the place of the other one': [
    (file, other) => {
      renameSync(file, `${file}.x`);
      renameSync(other, file);
      renameSync(`${file}.x`, other);
    },
    'is not as .* and begins with ".* front 0, file 1, .*',
    [],
  ],
  'of another ledger, start or front': [
    (file) => {
      const place = `${file}.x`;
      createJournal(place, { ledgerId: 8, start: 2, front: 3, durability: 'fsync', fileBytes: 131_072 });
      renameSync(filesOf(place)[0], file);
      rmSync(filesOf(place)[1]);
    },
    'is not as start 1 of ledger \\d+ wrote it: .* "qrn journal 1, ledger 8, start 2, front 3, file 0, .*',
    [],
  ],
};

suite('a start after a server was killed with records in its journal', () => {
  test('stores the records once even if it is killed itself, before or after it has stored them', async (t) => {
    const path = await killedFolder(t);
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
    assert.equal((await ledger.balances(202611))[0].requests, 15);
    await closeSound(ledger);
  });

  for (const [what, [spoil, why, left]] of Object.entries(SPOILS))
    test(`refuses a file ${what} each time, until the operator accepts the folder as it is`, async (t) => {
      const path = await killedFolder(t);
      const [file, other] = JOURNAL.map((name) => join(path, name));
      spoil(file, other);
      for (let start = 1; start <= 2; start++)
        await assert.rejects(openTestLedger(path), {
          reason: 'unusable',
          message: new RegExp(
            `^${file} ${why}, and acknowledged answers that only it held are lost without it: put it back, or take the folder as it lies with .qrn ledger restore ${path}.$`,
          ),
        });
      const taken = await openTestLedger(path, { mayLackJournals: true });
      const stored = (await taken.segmentsFrom(0, 9)).map(({ sequence }) => sequence);
      assert.deepEqual(stored, left, 'what can be read of it is kept');
      assert.ok((await taken.leaseSequences()).from > 3, 'no certificate id comes twice');
      await closeSound(taken);
      await closeSound(await openTestLedger(path));
    });

  test('a start that is refused for another data file gives up no block and no answer of the journal', async (t) => {
    const path = await killedFolder(t, [1], 1);
    const other = temporaryFolder(t);
    const another = await openTestLedger(other);
    await addReleased(another, lot(1), [block('pure', 1), block('pure', 2)]);
    await another.claimBlocks('pure', 2);
    await another.close();
    const own = temporaryFolder(t);
    copyFiles(path, own, ['data.mdb']);
    copyFiles(other, path, ['data.mdb']);
    await assert.rejects(openTestLedger(path), { reason: 'unusable' });
    copyFiles(own, path, ['data.mdb']);
    const ledger = await openTestLedger(path);
    assert.equal((await ledger.claimBlocks('pure', 9)).length, 1);
    assert.deepEqual(await ledger.segment(1), filledSegment(1, 5));
    await ledger.close();
  });

  test('a restore sets aside the journal of another ledger, and stores nothing of it', async (t) => {
    const path = await killedFolder(t);
    // segments whose numbers this ledger has not given out: only the header tells that they are not its own
    copyFiles(await killedFolder(t, [1_000]), path, JOURNAL);
    const foreign = readFileSync(join(path, JOURNAL[0])).subarray(FILE_HEADER_BYTES);
    const { log, told } = gatheringLog('error');
    const ledger = await openTestLedger(path, { mayLackJournals: true, log });
    assert.deepEqual(
      told.map(([, text]) => text),
      JOURNAL.map(
        () =>
          'ledger: a journal file is of another ledger or start: nothing of it is stored, and it is kept under another name',
      ),
    );
    assert.deepEqual(await ledger.segmentsFrom(0, 9), []);
    await ledger.close();
    const kept = readFileSync(join(path, `${JOURNAL[0]}.foreign`));
    assert.deepEqual(kept.subarray(FILE_HEADER_BYTES), foreign);
    await closeSound(await openTestLedger(path));
  });

  test('a backup and a compacted ledger need no journal, and a clean stop leaves none', async (t) => {
    const path = temporaryFolder(t);
    const ledger = await openJournaledLedger(path);
    await ledger.commit([filledSegment(1, 5)], []);
    const copies = temporaryFolder(t);
    await ledger.backup(join(copies, 'backup'));
    await ledger.compactTo(join(copies, 'compacted'));
    await ledger.close();
    const { log, told: errors } = gatheringLog('error');
    for (const folder of [path, join(copies, 'backup'), join(copies, 'compacted')]) {
      const again = await openTestLedger(folder, { log });
      assert.deepEqual([folder, errors], [folder, []]);
      await again.close();
    }
  });

  test("a backup of a killed server's folder is refused while a journal holds answers that it would lack", async (t) => {
    const path = await killedFolder(t);
    const backup = join(temporaryFolder(t), 'backup');
    const tool = await openTestLedger(path, { role: 'reader' });
    await assert.rejects(tool.backup(backup), {
      reason: 'refused',
      message: /was killed, and a copy would lack/,
    });
    assert.ok(!existsSync(backup));
    await tool.close();
    await (await openTestLedger(path)).close();
    const again = await openTestLedger(path, { role: 'reader' });
    await again.backup(backup);
    await again.close();
    const restored = await openTestLedger(backup);
    assert.equal((await restored.segment(1))?.sequence, 1);
    await restored.close();
  });

  test('journals without their data file refuse the start, and no new data file is made', async (t) => {
    const path = temporaryFolder(t);
    const ledger = await openJournaledLedger(path);
    await ledger.commit([filledSegment(1, 5)], []);
    const copy = temporaryFolder(t);
    copyFiles(path, copy, JOURNAL);
    await ledger.close();
    const before = readdirSync(copy);
    await assert.rejects(openTestLedger(copy), {
      reason: 'unusable',
      message: /data\.mdb is missing, and journals of it are there: put it back, or move the folder away and/,
    });
    assert.deepEqual(readdirSync(copy), before);
  });

  test('a journal beside a ledger that was rolled back to a backup refuses the start, and is never stored', async (t) => {
    const path = temporaryFolder(t);
    const ledger = await openJournaledLedger(path);
    await ledger.commit([filledSegment(1, 5)], []);
    const backup = join(temporaryFolder(t), 'backup');
    await ledger.backup(backup);
    await ledger.commit([filledSegment(2, 5)], []);
    copyFiles(path, backup, JOURNAL);
    await ledger.close();
    await assert.rejects(openTestLedger(backup), {
      reason: 'unusable',
      message: /journal-1-0-a is of another state of the ledger than the data file/,
    });
    const restored = await openTestLedger(backup, { mayLackJournals: true });
    assert.equal(await restored.segment(2), undefined);
    const { from } = await restored.leaseSequences();
    assert.ok(from > 2, 'the number that the journal has is not given again');
    await restored.close();
    assert.ok(readdirSync(backup).includes('journal-1-0-a.foreign'));
    await closeSound(await openTestLedger(backup));
  });

  test('nothing of a journal that contradicts the data file is stored, and the message says what to restore', async (t) => {
    const path = temporaryFolder(t);
    const image = await killedFolder(t);
    copyFiles(image, path, ['data.mdb', 'block-keys']);
    const ledger = await openTestLedger(path, { mayLackJournals: true });
    await ledger.commit([filledSegment(1, 6)], []);
    await ledger.close();
    // as if the data file still waited for the journal of the first start
    await plant(path, (table) => table<string, number>('meta').put('journal/journal-1-0', 0));
    copyFiles(image, path, JOURNAL);
    for (const attempt of ['first', 'second']) {
      await assert.rejects(openTestLedger(path), {
        reason: 'unusable',
        message:
          /journal-1-0 does not fit the data file \(segment 1 is stored with other content\).*ledger restore/,
      });
      assert.ok(readdirSync(path).includes('journal-1-0-a'), `kept by the ${attempt} start`);
    }
    const { log, told } = gatheringLog('error');
    const restored = await openTestLedger(path, { mayLackJournals: true, log });
    assert.match(
      told.map(([, text]) => text).join('\n'),
      /a journal file does not fit the data file \(segment 1 is stored with other content\): nothing of it is stored/,
    );
    assert.equal((await restored.segment(1))?.count, 6);
    await restored.close();
    assert.ok(JOURNAL.every((file) => readdirSync(path).includes(`${file}.foreign`)));
    await closeSound(await openTestLedger(path));
  });

  test('a journal that a killed start left incomplete loses nothing and is removed', async (t) => {
    const path = temporaryFolder(t);
    await (await openTestLedger(path)).close();
    writeFileSync(join(path, 'journal-2-0-a'), Buffer.alloc(2 * FILE_HEADER_BYTES));
    writeFileSync(join(path, 'journal-2-0-b'), 'qrn jour');
    const { log, told: errors } = gatheringLog('error');
    const ledger = await openTestLedger(path, { log, fronts: 0 });
    assert.deepEqual(errors, []);
    assert.deepEqual(
      readdirSync(path).filter((name) => name.startsWith('journal-')),
      [],
    );
    await ledger.close();
  });
});
