import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { dayOf } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { Database } from '../../src/ledger/postgres/connection.ts';
import { auditBooks } from '../../src/ledger/postgres/upkeep.ts';
import { countersCodec, newCounters, type UsageCounters, usageKey } from '../../src/ledger/usage-counters.ts';
import { openTestLedger, plant, temporaryFolder } from '../support/ledger-folder.ts';
import { DAY_MS, entry, NOON_MS, segment } from '../support/ledger-records.ts';
import { administer, emptiedDatabase } from '../support/postgres.ts';
import { openBooks } from '../support/postgres-books.ts';

const LATER_MS = NOON_MS + 10 * DAY_MS;
const TODAY = usageKey(dayOf(NOON_MS), 1);
const LATER = usageKey(dayOf(LATER_MS), 1);
const STATE = { key: 'state', value: new Uint8Array([1]) };

/** Of the first day one segment of two was dropped by retention; the later day is whole. */
async function retainedFolder(t: TestContext): Promise<string> {
  const path = temporaryFolder(t);
  const ledger = await openTestLedger(path);
  await ledger.commit([segment(1, [entry(1)]), segment(2, [entry(2)])], []);
  const later = segment(3, [entry(3, { issuedAtMs: LATER_MS })], { committedAtMs: LATER_MS });
  await ledger.commit([later], []);
  await ledger.putLog([STATE], { key: STATE.key, expected: undefined, sealed: [1, 2, 3] });
  assert.equal((await ledger.expire(0, NOON_MS + 2)).segments, 1);
  assert.deepEqual((await ledger.audit()).problems, []);
  await ledger.close();
  return path;
}

async function problemsAfter(path: string, change: (usage: UsageTable) => void): Promise<readonly string[]> {
  await plant(path, (table) => change(table<number, UsageCounters>('usage', countersCodec)));
  const ledger = await openTestLedger(path, { role: 'reader' });
  const { problems } = await ledger.audit();
  await ledger.close();
  return problems;
}

interface UsageTable {
  get(key: number): UsageCounters | undefined;
  put(key: number, counters: UsageCounters): void;
  remove(key: number): void;
}

suite('the audit of usage', () => {
  test('holds a day of which all segments are stored to their sum', async (t) => {
    const path = await retainedFolder(t);
    const more = await problemsAfter(path, (usage) => {
      const counters = usage.get(LATER)!;
      counters[3] += 1;
      usage.put(LATER, counters);
    });
    assert.match(
      more.join('\n'),
      /^the usage of account 1 on day \d+ is not the sum of its entries: 1 requests/,
    );
    const none = await problemsAfter(path, (usage) => usage.remove(LATER));
    assert.match(
      none.join('\n'),
      /^the usage of account 1 on day \d+ is missing\nbalances \d+,1: .* is stored, others imply/,
    );
  });

  test('holds a day of which retention dropped segments to at least the sum of the others', async (t) => {
    const path = await retainedFolder(t);
    const alone = countersCodec.decode(countersCodec.encode(newCounters()));
    const less = await problemsAfter(path, (usage) => usage.put(TODAY, alone));
    assert.match(
      less.join('\n'),
      /^the usage of account 1 on day \d+ is not the sum of its entries: 0 requests/,
    );
    const none = await problemsAfter(path, (usage) => usage.remove(TODAY));
    assert.match(
      none.join('\n'),
      /^the usage of account 1 on day \d+ is missing\nbalances \d+,1: .* is stored, others imply/,
    );
  });

  test('finds usage in PostgreSQL that is not the sum of sealed segments', async (t) => {
    const url = await emptiedDatabase(t);
    const { books } = await openBooks(t, url, { name: 'a' });
    const database = new Database({ url, log: silentLog });
    t.after(() => database.close());
    const problems = async () => (await database.transact(auditBooks)).problems;
    await books.commit([segment(1, [entry(1)]), segment(2, [entry(2)])], []);
    await books.putLog([STATE], { key: STATE.key, expected: undefined, sealed: [1, 2] });
    assert.deepEqual(await problems(), []);
    assert.equal((await books.expire(0, NOON_MS + 2)).segments, 1);
    assert.deepEqual(await problems(), []);
    await administer(url, "UPDATE qrn.record SET value = '' WHERE part = 'usage'");
    assert.match(
      (await problems()).join('\n'),
      /^the usage of account 1 on day \d+ is not the sum of its entries: 0/,
    );
  });
});
