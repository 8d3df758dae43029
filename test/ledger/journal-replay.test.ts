import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import type { LmdbLedgerOptions } from '../../src/ledger/lmdb/lmdb.ts';
import {
  closeSound,
  openJournaledLedger,
  openTestLedger,
  temporaryFolder,
} from '../support/ledger-folder.ts';
import { account, entry, filledSegment, key, NOON_MS, segment } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';

const LAST_OF_NOVEMBER_MS = Date.UTC(2026, 10, 30, 23, 59, 59, 900);
const DECEMBER_MS = Date.UTC(2026, 11, 1);
const JOURNAL = 'journal-1-0';

/** A folder as a kill leaves it: `kept` is in LMDB, and what is committed while the folder is copied in the journal alone. */
async function killedFolder(
  t: TestContext,
  fill: (ledger: Awaited<ReturnType<typeof openJournaledLedger>>) => Promise<void>,
  more: Partial<LmdbLedgerOptions> = {},
): Promise<string> {
  const path = join(temporaryFolder(t), 'ledger');
  const image = join(temporaryFolder(t), 'image');
  mkdirSync(image);
  const ledger = await openJournaledLedger(path, more);
  await ledger.createAccount(account(1));
  for (const name of ['data.mdb', 'block-keys']) copyFileSync(join(path, name), join(image, name));
  await fill(ledger);
  copyFileSync(join(path, JOURNAL), join(image, JOURNAL));
  await ledger.close();
  return image;
}

suite('a start that stores what a killed server left in its journal', () => {
  test('charges answers to the month in which they were given, also when the start is in the next one', async (t) => {
    const path = await killedFolder(t, async (ledger) => {
      await ledger.commit([segment(1, [entry(1, { issuedAtMs: LAST_OF_NOVEMBER_MS })])], []);
      await ledger.commit([segment(2, [entry(2, { issuedAtMs: LAST_OF_NOVEMBER_MS + 50 })])], []);
    });
    const ledger = await openTestLedger(path, { clock: new ManualClock(DECEMBER_MS) });
    const charged = async (period: number) => (await ledger.balances(period)).map(({ requests }) => requests);
    assert.deepEqual(await charged(202611), [2]);
    assert.deepEqual(await charged(202612), []);
    await closeSound(ledger);
  });

  test('keeps the answers of a key that was revoked before the start, and leaves the key revoked', async (t) => {
    const path = await killedFolder(t, async (ledger) => {
      await ledger.commit([filledSegment(1, 3)], []);
    });
    const tool = await openTestLedger(path, { fronts: 0, isCommand: true });
    const [{ id }] = await tool.accounts();
    await tool.putKey(key(1, id, { revokedAtMs: NOON_MS }));
    await tool.close();
    const ledger = await openTestLedger(path);
    assert.deepEqual(await ledger.segment(1), filledSegment(1, 3));
    assert.deepEqual(
      (await ledger.keys()).map(({ revokedAtMs }) => revokedAtMs),
      [NOON_MS],
    );
    assert.equal((await ledger.balances(202611))[0].requests, 3);
    await ledger.close();
  });

  test('stores the records once when it is killed itself, before and after it has stored them', async (t) => {
    const path = await killedFolder(t, async (ledger) => {
      for (let n = 1; n <= 20; n++) await ledger.commit([filledSegment(n, 5)], []);
    });
    let starts = 0;
    for (const failAt of [1, 2, 3, 4, 5]) {
      let transactions = 0;
      const start = openTestLedger(path, {
        wrap: (raw) => ({
          ...raw,
          transact(body) {
            if (++transactions === failAt) throw new Error('killed here');
            raw.transact(body);
          },
        }),
      });
      await assert.rejects(start, /killed here/);
      starts++;
    }
    assert.equal(starts, 5);
    const ledger = await openTestLedger(path);
    assert.deepEqual((await ledger.audit()).problems, []);
    assert.equal((await ledger.balances(202611))[0].requests, 100);
    await ledger.close();
  });

  test("refuses another ledger's journal under the name of its own, and stores nothing of it", async (t) => {
    const path = await killedFolder(t, async (ledger) => ledger.commit([filledSegment(1, 5)], []));
    // segments whose numbers this ledger has not given out: only the owner tells that they are not its own
    const other = await killedFolder(t, async (ledger) => ledger.commit([filledSegment(1_000, 5)], []));
    const own = readFileSync(join(path, JOURNAL));
    copyFileSync(join(other, JOURNAL), join(path, JOURNAL));
    for (const attempt of ['first', 'second']) {
      const reason = {
        reason: 'unusable',
        message: /journal-1-0 does not fit .* written for another ledger/,
      };
      await assert.rejects(openTestLedger(path), reason, attempt);
    }
    writeFileSync(join(path, JOURNAL), own);
    const ledger = await openTestLedger(path);
    assert.deepEqual(await ledger.segment(1), filledSegment(1, 5));
    assert.equal(await ledger.segment(1_000), undefined);
    await closeSound(ledger);
  });
});
