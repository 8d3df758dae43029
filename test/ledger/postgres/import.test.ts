import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, suite, type TestContext, test } from 'node:test';
import { FolderWriter } from '../../../src/cli/folder-writer.ts';
import { silentLog } from '../../../src/core/log.ts';
import { writeImportMark } from '../../../src/ledger/lmdb/import-mark.ts';
import type { LmdbLedgerOptions } from '../../../src/ledger/lmdb/lmdb-ledger.ts';
import { type LmdbLedger, openLmdbLedger } from '../../../src/ledger/lmdb/lmdb-ledger.ts';
import { Database } from '../../../src/ledger/postgres/connection.ts';
import { importFolder, importStateOf } from '../../../src/ledger/postgres/import.ts';
import { openPostgresLedger } from '../../../src/ledger/postgres/postgres-ledger.ts';
import { serverLives } from '../../../src/ledger/server-socket.ts';
import { BOOK_TABLES } from '../../../src/ledger/tables.ts';
import {
  account,
  answer,
  block,
  DAY_MS,
  entry,
  filledSegment,
  job,
  key,
  lot,
  lotId,
  NO_LIMITS,
  NOON_MS,
  segment,
  source,
  spend,
  submitted,
} from '../../support/ledger-records.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { administer, freshDatabase } from '../../support/postgres.ts';
import { addReleased } from '../../support/released-lots.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';

const clock = new ManualClock(NOON_MS);
const common = { clock, log: silentLog, durability: 'fsync' } as const;

async function openFolder(t: TestContext): Promise<LmdbLedger> {
  const path = join(scratchFolder(), 'ledger');
  const ledger = await openLmdbLedger({ ...common, path, role: 'server' });
  t.after(() => ledger.close());
  return ledger;
}

/** Fills a ledger with records of every kind, logged except those that wait for it. */
async function fill(ledger: LmdbLedger): Promise<void> {
  for (const n of [1, 2]) {
    const { id } = await ledger.createAccount(account(n));
    for (const each of [0, 1]) await ledger.putKey(key(10 * n + each, id));
  }
  await ledger.openJob(job(1), NO_LIMITS);
  await ledger.openJob(job(2), NO_LIMITS);
  await ledger.putJob(submitted(1));
  await addReleased(ledger, lot(1), [block('pure', 1), block('seed', 2)], 'job 1');
  await addReleased(ledger, lot(2), [block('pure', 3)]);
  await ledger.addLot(lot(3, { source: 'other', accepted: false, rejection: 'biased' }), []);
  await ledger.addLot(lot(4), [block('pure', 4)]);
  for (const n of [2, 3]) await ledger.revokeLot({ lotId: lotId(n), why: `reason ${n}`, atMs: NOON_MS - n });
  await ledger.putSourceNote('simulator', 'seen', 'yes');
  await ledger.charge('a charge', spend(1.25), NO_LIMITS);
  await ledger.nextSeedGeneration('pro');
  await ledger.saveRates([{ accountNumber: 1, tatMs: NOON_MS + 5, admittedAtMs: [NOON_MS - 1.5, NOON_MS] }]);
  const { from } = await ledger.leaseSequences();
  const answers = [answer(1, 7, NOON_MS + DAY_MS)];
  await ledger.commit(
    [filledSegment(from, 3, { mode: 'quantum-seeded' }, [source('quantum-seeded', [1])])],
    answers,
  );
  await ledger.commit([labelled(from + 1)], []);
  const inDecember = { issuedAtMs: NOON_MS + 30 * DAY_MS };
  await ledger.commit([segment(from + 2, [entry(900, inDecember), entry(901, { accountNumber: 2 })])], []);
  // dropped by retention
  await ledger.commit([segment(from + 3, [entry(950)], { committedAtMs: 5 })], []);
  const sealed = [from, from + 1, from + 2, from + 3];
  const state = { key: 'state', value: new Uint8Array([1, 2, 3]) };
  await ledger.putLog([state, { key: 'tile/é', value: new Uint8Array(600).fill(255) }], {
    key: 'state',
    expected: undefined,
    sealed,
  });
  await ledger.expire(0, 6);
  const draw = {
    id: 'draw_1',
    accountNumber: 1,
    state: 'opening',
    dueAtMs: NOON_MS,
    body: '{"a": 1}',
  } as const;
  await ledger.openDraw(draw, 10);
  await ledger.putDraw(
    { ...draw, state: 'committed' },
    { drawId: 'draw_1', kind: 'commit', text: '{"leaf":1}' },
  );
}

function labelled(sequence: number) {
  const label = { series: 'series 1', purpose: 'lottery', isPublic: true };
  return { ...segment(sequence, [entry(500), entry(501)]), notes: [{ index: 1, label }] } as ReturnType<
    typeof segment
  >;
}

suite('the import of a folder', () => {
  let url: string;
  before(async () => {
    url = await freshDatabase();
  });

  function importOf(t: TestContext, ledger: LmdbLedger, to: string, beforeCommit = () => {}) {
    const database = new Database({ url: to, log: silentLog, connections: 1 });
    t.after(() => database.close());
    const records = ledger.records();
    return importFolder({ database, records, node: 'a', id: 'one', nowMs: NOON_MS, beforeCommit }).finally(
      () => records.at.done(),
    );
  }

  test('leaves nothing behind if it fails before its commit, and otherwise has every record of the folder', async (t) => {
    const ledger = await openFolder(t);
    await fill(ledger);
    const failing = importOf(t, ledger, url, () => {
      throw new Error('the power went');
    });
    await assert.rejects(failing, /the power went/);
    const counts = await importOf(t, ledger, url);
    const ofNodes = ['unsealed', 'spent', 'keyClaims', 'allowances', 'grants'];
    const filled = BOOK_TABLES.map(({ name }) => name).filter((name) => !ofNodes.includes(name));
    assert.deepEqual(Object.keys(counts), [...filled, 'meta'].sort(), 'each table was tested');
    assert.deepEqual(
      await importOf(t, ledger, url),
      counts,
      'whoever does not know of the commit asks again',
    );
    const node = await openPostgresLedger({
      ...common,
      url,
      node: 'a',
      path: scratchFolder(),
      role: 'server',
    });
    t.after(() => node.close());
    assert.deepEqual(await node.audit(), { ...(await ledger.audit()), blocksUnclaimed: 0, blocksClaimed: 0 });
    assert.deepEqual(await node.accounts(), await ledger.accounts());
    assert.deepEqual(await node.loadRates(0), await ledger.loadRates(0));
    const [lease, next] = [await ledger.leaseSequences(), await node.leaseSequences()];
    assert.deepEqual(next, lease, 'no sequence is leased twice');
    assert.equal(await node.nextSeedGeneration('pro'), await ledger.nextSeedGeneration('pro'));
  });

  test('makes commands wait for its end, and then lets none of them change the folder', async () => {
    const path = join(scratchFolder(), 'ledger');
    const open = (more: Partial<LmdbLedgerOptions> = {}) =>
      openLmdbLedger({ ...common, path, role: 'server', ...more });
    const ledger = await open();
    const { id } = await ledger.createAccount(account(1));
    await ledger.close();
    const importing = await open({ forImport: true });
    const command = new FolderWriter(path, () => open({ fronts: 0, isCommand: true }));
    const revoked = command.ledger.putKey({ ...key(1, id), revokedAtMs: NOON_MS });
    revoked.catch(() => {}); // told below
    await serverLives(path); // a round trip through the socket behind that of the command
    assert.deepEqual(await importing.keys(), []);
    writeImportMark(path, { id: 'x', database: 'here', databaseMadeAtMs: 1 });
    await importing.close();
    await assert.rejects(revoked, /was imported into PostgreSQL at here/);
  });

  test('refuses answers that are not in the log yet', async (t) => {
    const ledger = await openFolder(t);
    const { from } = await ledger.leaseSequences();
    await ledger.commit([filledSegment(from, 1)], []);
    await assert.rejects(
      importOf(t, ledger, url),
      /are not in the transparency log yet.*stop it with SIGTERM/s,
    );
  });

  test('refuses a database that holds anything', async (t) => {
    const ledger = await openFolder(t);
    const other = await freshDatabase();
    await administer(other, "INSERT INTO qrn.record VALUES ('usage', 'x', '1', 'x')");
    await assert.rejects(importOf(t, ledger, other), /not empty: there are records in qrn\.record/);
    await administer(other, 'TRUNCATE qrn.record');
    assert.equal((await importOf(t, ledger, other)).segments, undefined);
  });

  test('stores nothing when the copy differs from the folder', async (t) => {
    const ledger = await openFolder(t);
    await fill(ledger);
    for (const damage of [
      "UPDATE qrn.record SET value = 'x' WHERE part = 'log' AND name = '\"state\"'",
      "DELETE FROM qrn.record WHERE part = 'charges'",
      "UPDATE qrn.record SET value = value || 'x' WHERE part = 'balances'",
      "UPDATE qrn.record SET value = substring(value FOR 20) WHERE part = 'segments'",
    ]) {
      const other = await freshDatabase();
      // the rule of a hostile or broken database: what is stored is changed as soon as all is there
      await administer(
        other,
        `CREATE FUNCTION damage() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${damage}; RETURN NULL; END $$`,
      );
      await administer(other, 'CREATE TRIGGER damage AFTER INSERT ON qrn.record EXECUTE FUNCTION damage()');
      await assert.rejects(
        importOf(t, ledger, other),
        /the copy in PostgreSQL differs from the folder/,
        damage,
      );
      const database = new Database({ url: other, log: silentLog, connections: 1 });
      assert.equal((await importStateOf(database)).importId, null);
      await database.close();
    }
  });
});
