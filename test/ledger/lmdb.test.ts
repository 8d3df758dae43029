import assert from 'node:assert/strict';
import fs, {
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { open } from 'lmdb';
import { guarded, type LedgerCalls, LedgerError, stoppedBy } from '../../src/ledger/ledger.ts';
import { freeBytesOf } from '../../src/ledger/lmdb/data-file.ts';
import { FORMAT } from '../../src/ledger/tables.ts';
import {
  closeSound,
  openJournaledLedger,
  openTestLedger,
  plant,
  temporaryFolder,
} from '../support/ledger-folder.ts';
import {
  account,
  answer,
  block,
  filledSegment,
  key,
  lot,
  lotId,
  NOON_MS,
} from '../support/ledger-records.ts';
import { addReleased } from '../support/released-lots.ts';
import { assertRejects } from './contract/ledger.contract.ts';

suite('opening', () => {
  for (const format of [FORMAT - 1, FORMAT + 1]) {
    test(`a folder of format ${format} is not changed, and the message names both formats`, async (t) => {
      const path = temporaryFolder(t);
      await (await openTestLedger(path)).close();
      await plant(path, (table) => table<string, number>('meta').put('format', format));
      for (const role of ['server', 'reader'] as const) {
        await assert.rejects(openTestLedger(path, { role }), {
          name: 'LedgerError',
          reason: 'unusable',
          message: `the ledger in ${path} has format ${format}, and this program reads format ${FORMAT} alone: use the release that wrote it, or another data folder`,
        });
      }
      await plant(path, (table) => assert.equal(table('meta').get('start'), 1, 'no start was counted'));
    });
  }

  test('a folder that lacks a table is refused, and the table is not made', async (t) => {
    const path = temporaryFolder(t);
    await (await openTestLedger(path)).close();
    const raw = open({ path, noSubdir: false, encoding: 'binary', overlappingSync: false, maxDbs: 64 });
    raw.openDB({ name: 'unsealed', encoding: 'binary' }).dropSync();
    await raw.close();
    for (const options of [{}, {}, { role: 'reader' }, { role: 'reader' }] as const) {
      await assert.rejects(openTestLedger(path, options), {
        reason: 'unusable',
        message:
          /^the ledger has no table unsealed, so another release wrote it or it is damaged: use that release/,
      });
    }
  });

  test('a second server on the folder is refused, and the first continues', async (t) => {
    const path = temporaryFolder(t);
    const first = await openTestLedger(path);
    await assert.rejects(openTestLedger(path), {
      name: 'LedgerError',
      reason: 'unusable',
      message: `another server (process ${process.pid}) is using ${path}: stop it first`,
    });
    await first.commit([filledSegment(1, 1)], []);
    await first.close();
    const second = await openTestLedger(path);
    assert.equal((await second.segment(1))?.count, 1);
    await second.close();
  });

  test('a server that lost the folder to another writes nothing more', async (t) => {
    const path = temporaryFolder(t);
    const first = await openJournaledLedger(path);
    await addReleased(first, lot(1), [block('pure', 1), block('pure', 2)]);
    rmSync(join(path, 'server.sock')); // an operator's hand, or a folder mounted twice
    const second = await openTestLedger(path);
    await assertRejects(first.commit([filledSegment(1, 1)], []), 'stopped'); // its journal is fenced
    assert.match((await first.failed).message, /another process has taken over the folder of the ledger/);
    await assert.rejects(first.claimBlocks('pure', 1), {
      reason: 'stopped',
      message:
        /another process \(start 2\) has taken over the folder of the ledger from this one \(start 1\)/,
    });
    assert.equal((await second.claimBlocks('pure', 2)).length, 2);
    await second.commit([filledSegment(1, 2)], []);
    await closeSound(second);
    await first.close(); // what is in its journal was never acknowledged
  });

  test('an idle server whose whole folder is removed stops with a sentence', async (t) => {
    const path = temporaryFolder(t);
    const ledger = await openTestLedger(path);
    const alive = setInterval(() => {}, 1_000); // the ledger's own timers keep no process alive
    t.after(() => clearInterval(alive));
    rmSync(path, { recursive: true });
    assert.match((await ledger.failed).message, /data\.mdb was removed or replaced while the service ran/);
    await ledger.close();
  });

  test('a server does not touch a file that replaced its data file', async (t) => {
    const path = temporaryFolder(t);
    const file = join(path, 'data.mdb');
    const ledger = await openTestLedger(path);
    renameSync(file, `${file}.was`);
    writeFileSync(file, 'another file');
    await ledger.commit([filledSegment(1, 1)], []);
    assert.equal(readFileSync(file, 'utf8'), 'another file');
    await ledger.close();
  });

  test('a server that closes while it checks its files says which of them is gone', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    for (const name of ['data.mdb', 'block-keys', 'journal-1-0-a', 'server.sock']) {
      const path = temporaryFolder(t);
      const ledger = await openTestLedger(path);
      rmSync(join(path, name));
      t.mock.timers.tick(1_000);
      await ledger.close();
      const told = await Promise.race([ledger.failed, Promise.resolve(new Error('it said nothing'))]);
      assert.match(told.message, new RegExp(`${name} was removed or replaced while the service ran`));
    }
  });

  test('a folder that is not a ledger is not opened', async (t) => {
    const path = temporaryFolder(t);
    await assert.rejects(openTestLedger(path, { role: 'reader' }), {
      reason: 'unusable',
      message: `there is no ledger in ${path}`,
    });
    writeFileSync(join(path, 'data.mdb'), '');
    await assert.rejects(openTestLedger(path, { role: 'reader' }), {
      reason: 'unusable',
      message: /data\.mdb is empty: restore a backup$/,
    });
    const noLedger = {
      reason: 'unusable',
      message: /data\.mdb is not a ledger, or its header is damaged: restore a backup$/,
    };
    writeFileSync(join(path, 'data.mdb'), 'this is not an LMDB file'.repeat(1_000));
    await assert.rejects(openTestLedger(path), noLedger);
    const sound = temporaryFolder(t);
    await (await openTestLedger(sound)).close();
    const content = readFileSync(join(sound, 'data.mdb'));
    for (const page of [0, 1]) {
      const damaged = Buffer.from(content);
      damaged[page * 4_096 + 24] ^= 1; // the magic of a meta page
      writeFileSync(join(path, 'data.mdb'), damaged);
      await assert.rejects(openTestLedger(path), noLedger, `meta page ${page}`);
    }
  });

  test('a read-only tool refuses a data file that was cut short', async (t) => {
    const { path, copy } = await backedUp(t);
    const file = join(copy, 'data.mdb');
    truncateSync(file, statSync(file).size - 4_096);
    await assert.rejects(openTestLedger(copy, { role: 'reader' }), {
      reason: 'damaged',
      message: /is cut short: it has \d+ bytes of \d+/,
    });
    const whole = await openTestLedger(path, { role: 'reader' });
    assert.deepEqual((await whole.audit()).problems, []);
    await assertRejects(whole.commit([filledSegment(9, 1)], []), 'refused');
    await whole.close();
  });
});

test('a file system without free inodes counts as full, unless it counts none', (t) => {
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  let counts = { files: 100, ffree: 16 };
  t.mock.method(fs, 'statfsSync', () => ({ bavail: 7, bsize: 4_096, ...counts }));
  syncBuiltinESMExports();
  assert.equal(freeBytesOf('/'), 7 * 4_096);
  counts = { files: 100, ffree: 15 };
  assert.equal(freeBytesOf('/'), 0);
  counts = { files: 0, ffree: 0 };
  assert.equal(freeBytesOf('/'), 7 * 4_096);
});

/** They change what a process holds in memory, or would be lost with it. */
const CALLS_OF_SERVER =
  'addLot claimBlocks nextSeedGeneration openJob putJob leaseSequences commit saveRates expire probe openDraw putDraw dropDraw ' +
  'drawLeavesLogged putLog askLimits claimKey releaseKey';
/** Calls that check for room. `commit` does not: fronts asked for room before they drew for an answer. */
const CALLS_WITH_ROOM = 'addLot charge openJob probe openDraw';

test('a ledger that stopped gives the cause, and says if a commit failed', () => {
  const messages = (['damaged', 'refused', 'stopped'] as const).map((reason) => {
    const { message, reason: told } = stoppedBy(new LedgerError(reason, 'the cause'));
    return [told, message];
  });
  assert.deepEqual(messages, [
    ['stopped', 'the ledger stopped: the cause'],
    ['stopped', 'the ledger stopped: a commit failed (the cause)'],
    ['stopped', 'the cause'],
  ]);
});

test('while the disk is nearly full, only writes that add data are refused', async () => {
  const asked: string[] = [];
  const calls = guarded({} as LedgerCalls, (name, { room }) => {
    if (room) asked.push(name);
  });
  for (const call of Object.values(calls)) await assert.rejects(call as () => Promise<unknown>, TypeError);
  assert.equal(asked.join(' '), CALLS_WITH_ROOM);
});

test('a reader beside the server sees what it writes, and writes nothing', async (t) => {
  const path = temporaryFolder(t);
  const server = await openTestLedger(path);
  const reader = await openTestLedger(path, { role: 'reader' });
  const created = await server.createAccount(account(1));
  await new Promise((resolve) => setImmediate(resolve)); // a read sees the turn in which it is
  assert.deepEqual(await reader.accounts(), [created]);
  for (const write of [
    reader.createAccount(account(2)),
    reader.putKey(key(1, created.id)),
    reader.revokeLot({ lotId: lotId(1), why: 'x', atMs: NOON_MS }),
    reader.putSourceNote('anu', 'offset', '7'),
  ])
    await assertRejects(write, 'refused');
  const calls = reader as unknown as Record<string, () => Promise<unknown>>;
  const ofServer: string[] = [];
  for (const name of Object.keys(guarded({} as LedgerCalls, () => {})))
    await calls[name]().catch(({ message }: Error) => {
      if (message === `${name} is for the server of the folder, not for a reader`) ofServer.push(name);
    });
  assert.deepEqual(ofServer.join(' '), CALLS_OF_SERVER);
  await reader.close();
  await server.close();
});

test('a reader beside the server opens a data file whose last pages were freed before they were written', async (t) => {
  const path = temporaryFolder(t);
  const server = await openTestLedger(path);
  const draw = { accountNumber: 1, state: 'opening', dueAtMs: 5, body: '' } as const;
  const large = { ...draw, id: 'draw_b', body: 'x'.repeat(2 ** 20) };
  // one transaction, in which the large one comes last and takes the last pages
  await Promise.all([
    server.openDraw({ ...draw, id: 'draw_a' }, 9),
    server.openDraw(large, 9),
    server.dropDraw(large.id),
  ]);
  await (await openTestLedger(path, { role: 'reader' })).close();
  await server.close();
});

suite('copies', () => {
  test('a backup beside the server has all that it acknowledged, and opens as a ledger of its own', async (t) => {
    const path = temporaryFolder(t);
    const copy = join(temporaryFolder(t), 'copy');
    const server = await openJournaledLedger(path);
    const reader = await openTestLedger(path, { role: 'reader' });
    await addReleased(server, lot(1), [block('pure', 1), block('pure', 2)]);
    await server.commit([filledSegment(1, 5)], []);
    await reader.backup(copy);
    await reader.close();
    await server.close();
    const restored = await openTestLedger(copy);
    assert.deepEqual(await restored.segment(1), filledSegment(1, 5));
    // the ledger it was copied from goes on to deliver its blocks: a restored copy must not
    assert.deepEqual(await restored.claimBlocks('pure', 9), []);
    await closeSound(restored);
  });

  test('a compacted copy has the same content and is smaller', async (t) => {
    const path = temporaryFolder(t);
    const target = join(temporaryFolder(t), 'new', 'compact');
    const ledger = await openTestLedger(path);
    for (let sequence = 1; sequence <= 100; sequence++) {
      await ledger.commit([filledSegment(sequence, 50)], [answer(1, sequence, NOON_MS + 9)]);
    }
    await ledger.expire(NOON_MS + 9, NOON_MS + 96);
    await ledger.compactTo(target);
    const expected = await ledger.audit();
    await ledger.close();
    assert.ok(statSync(join(target, 'data.mdb')).size * 4 < statSync(join(path, 'data.mdb')).size);
    assert.ok(!existsSync(join(target, 'lock.mdb')));
    const compact = await openTestLedger(target);
    assert.deepEqual(await compact.audit(), expected);
    assert.deepEqual(await compact.segment(100), filledSegment(100, 50));
    await compact.close();
  });
});

async function backedUp(t: Parameters<typeof temporaryFolder>[0]): Promise<{ path: string; copy: string }> {
  const path = temporaryFolder(t);
  const copy = join(temporaryFolder(t), 'copy');
  const ledger = await openTestLedger(path);
  await addReleased(ledger, lot(1), [block('pure', 1), block('pure', 2)]);
  for (let sequence = 1; sequence <= 30; sequence++) await ledger.commit([filledSegment(sequence, 20)], []);
  await ledger.backup(copy);
  await ledger.close();
  return { path, copy };
}
