import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { LedgerError } from '../../src/ledger/ledger.ts';
import type { LmdbLedger } from '../../src/ledger/lmdb/lmdb-ledger.ts';
import type { RawStore } from '../../src/ledger/lmdb/table.ts';
import {
  closeSound,
  openJournaledLedger,
  openTestLedger,
  temporaryFolder,
} from '../support/ledger-folder.ts';
import {
  account,
  answer,
  block,
  filledSegment,
  job,
  lot,
  lotId,
  NO_LIMITS,
  NOON_MS,
  spend,
  submitted,
} from '../support/ledger-records.ts';
import { addReleased } from '../support/released-lots.ts';
import { until } from '../support/server.ts';
import { assertRejects } from './contract/ledger.contract.ts';

/** An environment whose disk a test can break: the transaction runs, and its commit fails. */
class BreakableDisk {
  broken = false;
  transactions = 0;
  /** Runs within the next transaction. */
  during = () => {};

  readonly wrap = (raw: RawStore): RawStore => ({
    ...raw,
    transact: (body) => {
      this.transactions++;
      raw.transact(() => {
        body();
        this.during();
        this.during = () => {};
        if (this.broken) throw Object.assign(new Error('Input/output error'), { code: 5 });
      });
    },
  });
}

async function open(t: TestContext) {
  const path = temporaryFolder(t);
  const disk = new BreakableDisk();
  const ledger = await openTestLedger(path, { wrap: disk.wrap });
  return { path, disk, ledger };
}

async function openJournaled(t: TestContext, durability: 'fsync' | 'commit' = 'fsync') {
  const path = temporaryFolder(t);
  const disk = new BreakableDisk();
  const ledger = await openJournaledLedger(path, { durability, wrap: disk.wrap });
  return { path, disk, ledger };
}

suite('group commit', () => {
  test('concurrent writes share one transaction', async (t) => {
    const { disk, ledger } = await open(t);
    const before = disk.transactions;
    const commits = Array.from({ length: 100 }, (_, i) => ledger.commit([filledSegment(i + 1, 3)], []));
    await Promise.all([...commits, ledger.createAccount(account(1)), ledger.putLog([])]);
    assert.equal(disk.transactions, before + 1);
    await ledger.close();
  });

  test('a lot and its blocks take one transaction, and their release another', async (t) => {
    const { disk, ledger } = await open(t);
    const before = disk.transactions;
    await addReleased(ledger, lot(1), [block('pure', 1), block('seed', 2)]);
    assert.equal(disk.transactions, before + 2);
    await closeSound(ledger);
  });

  test('an answer waits for no transaction and a claim does, and both are visible at once', async (t) => {
    for (const durability of ['fsync', 'commit'] as const) {
      const { disk, ledger } = await openJournaled(t, durability);
      await addReleased(ledger, lot(1), [block('pure', 1)]);
      const before = disk.transactions;
      await ledger.commit([filledSegment(1, 3)], []);
      assert.equal(disk.transactions, before);
      assert.deepEqual(await ledger.segment(1), filledSegment(1, 3), 'read before LMDB has it');
      assert.equal(disk.transactions, before);
      assert.equal((await ledger.balances(202_611)).length, 1);
      assert.equal(disk.transactions, before + 1);
      await ledger.claimBlocks('pure', 1);
      assert.equal(disk.transactions, before + 2);
      await ledger.close();
    }
  });

  test('acknowledged answers are stored in the transaction that seals them', async (t) => {
    const { disk, ledger } = await openJournaled(t);
    for (const n of [1, 2, 3]) await ledger.commit([filledSegment(n, 3)], []);
    const before = disk.transactions;
    assert.deepEqual(await ledger.unsealed(5), [filledSegment(1, 3), filledSegment(2, 3)]);
    assert.equal(disk.transactions, before);
    const state = { key: 'state', value: new Uint8Array([1]) };
    await ledger.putLog([state], { key: 'state', expected: undefined, sealed: [1, 2] });
    assert.equal(disk.transactions, before + 1);
    const next = { key: 'state', value: new Uint8Array([2]) };
    const put = ledger.putLog([next], { key: 'state', expected: state.value, sealed: [3, 4] });
    await assertRejects(put, 'conflict');
    assert.deepEqual(await ledger.unsealed(5), [filledSegment(3, 3)]);
    await closeSound(ledger);
  });

  test('reads that are asked for together share a store, and an answer acknowledged during it goes with the next', async (t) => {
    const { disk, ledger } = await openJournaled(t, 'commit');
    const requests = async () => (await ledger.balances(202_611))[0].requests;
    const sequences = async () => (await ledger.unsealed(10)).map(({ sequence }) => sequence);
    await ledger.commit([filledSegment(1, 3)], []);
    const later: Promise<unknown>[] = [];
    disk.during = () => later.push(ledger.commit([filledSegment(2, 4)], []), sequences(), requests());
    const before = disk.transactions;
    assert.deepEqual(await Promise.all([requests(), requests()]), [3, 3]);
    assert.deepEqual(await Promise.all(later), [undefined, [1, 2], 7]);
    assert.equal(disk.transactions, before + 2);
    await closeSound(ledger);
  });

  test('answers that the log has read can be sealed, whatever is stored before it does', async (t) => {
    const { ledger } = await openJournaled(t);
    for (const n of [1, 2, 3, 4]) await ledger.commit([filledSegment(n, 1)], []);
    const sealed = (await ledger.unsealed(2)).map(({ sequence }) => sequence);
    assert.equal((await ledger.balances(202_611))[0].requests, 4);
    const state = { key: 'state', value: new Uint8Array([1]) };
    await ledger.putLog([state], { key: 'state', expected: undefined, sealed });
    assert.deepEqual(
      [sealed, await ledger.unsealed(5)],
      [
        [1, 2],
        [filledSegment(3, 1), filledSegment(4, 1)],
      ],
    );
    await closeSound(ledger);
  });

  test('acknowledged answers that LMDB refuses stop the ledger, whoever asked for the store', async (t) => {
    const { ledger } = await openJournaled(t);
    for (const count of [3, 4]) await ledger.commit([filledSegment(1, count)], []);
    await ledger.unsealed(10); // as the log does: what it has read is stored with its put
    await assertRejects(ledger.putLog([]), 'stopped');
    await assertRejects(ledger.createAccount(account(1)), 'stopped');
    await assert.rejects(ledger.close());
  });

  test('acknowledged answers reach LMDB unasked, in one transaction, and an idle ledger makes no transaction', async (t) => {
    const { disk, ledger } = await openJournaled(t, 'commit');
    const before = disk.transactions;
    for (let n = 1; n <= 20; n++) await ledger.commit([filledSegment(n, 3)], []);
    await until('a transaction', () => disk.transactions > before);
    assert.ok((await ledger.audit()).certificates === 60);
    assert.ok(disk.transactions <= before + 2);
    const stored = disk.transactions;
    assert.equal((await ledger.balances(202_611)).length, 1); // for which all that is acknowledged is stored first
    assert.equal(disk.transactions, stored);
    await ledger.close();
  });

  test('a commit too large for the ring is on the disk before it is acknowledged', async (t) => {
    const { disk, ledger } = await openJournaled(t, 'commit');
    await ledger.commit([filledSegment(1, 10)], []);
    const before = disk.transactions;
    const large = { ...answer(1, 1, NOON_MS + 1), sealed: new Uint8Array(5 * 2 ** 20).fill(7) };
    await ledger.commit([filledSegment(2, 10)], [large]);
    assert.ok(disk.transactions > before);
    assert.deepEqual(await ledger.storedAnswer(1, large.keyDigest), large);
    assert.equal((await ledger.audit()).certificates, 20);
    await ledger.close();
  });
});

suite('a commit that fails', () => {
  test('rejects all commits in flight, shows nothing of them, and stops every later write', async (t) => {
    const { path, disk, ledger } = await open(t);
    await ledger.commit([filledSegment(1, 3)], []);
    await addReleased(ledger, lot(1), [block('pure', 7)]);
    disk.broken = true;
    const results = await Promise.allSettled([
      ledger.createAccount(account(1)),
      ledger.claimBlocks('pure', 1),
      ledger.revokeLot({ lotId: lotId(1), why: 'x', atMs: 0 }),
    ]);
    for (const result of results) {
      assert.ok(result.status === 'rejected' && result.reason instanceof LedgerError);
      assert.equal(result.reason.reason, 'stopped');
      assert.match(result.reason.message, /a commit failed \(Input\/output error\)/);
    }
    assert.match((await ledger.failed).message, /Input\/output error/);
    disk.broken = false;
    const before = disk.transactions;
    await assertRejects(ledger.commit([filledSegment(3, 1)], []), 'stopped');
    await assertRejects(ledger.claimBlocks('pure', 1), 'stopped');
    assert.equal(disk.transactions, before, 'the disk is not asked again');
    await assertHolds(ledger, [1], [3]);
    assert.equal((await ledger.blockLevels()).pure.blocks, 1);
    assert.deepEqual(await ledger.accounts(), []);
    await ledger.close();
    assert.ok(existsSync(join(path, 'journal-1-0-a')), 'the next start audits');
    const again = await openTestLedger(path);
    await assertHolds(again, [1], [3]);
    await closeSound(again);
  });

  for (const durability of ['fsync', 'commit'] as const) {
    test(`${durability}: everything acknowledged before it is there at the next start`, async (t) => {
      const { path, disk, ledger } = await openJournaled(t, durability);
      await ledger.commit([filledSegment(1, 3)], []);
      await ledger.balances(202611); // in LMDB from here on
      disk.broken = true;
      await ledger.commit([filledSegment(2, 3)], [answer(1, 1, NOON_MS + 5)]);
      const alive = setInterval(() => {}, 1_000); // the ledger's own timers keep no process alive
      await ledger.failed;
      clearInterval(alive);
      await assertRejects(ledger.balances(202611), 'stopped');
      assert.deepEqual(await ledger.segment(2), filledSegment(2, 3), 'it was acknowledged');
      await assert.rejects(ledger.close());
      for (const next of ['fsync', 'commit'] as const) {
        const again = await openTestLedger(path, { durability: next });
        await assertHolds(again, [1, 2], [3]);
        assert.equal((await again.balances(202611))[0].requests, 6);
        assert.deepEqual(await again.storedAnswer(1, answer(1, 1, 0).keyDigest), answer(1, 1, NOON_MS + 5));
        await closeSound(again);
      }
    });
  }
});

suite('a disk that fills', () => {
  test('below the floor fronts take no answer and lots are refused, while everything that was drawn is stored', async (t) => {
    const path = temporaryFolder(t);
    let freeBytes = 1_000;
    const ledger = await openJournaledLedger(path, { freeBytesMin: 1_000, freeBytes: () => freeBytes });
    const { journal } = ledger;
    const refusal = () => journal.refusal?.why;
    await ledger.commit([filledSegment(1, 1)], []);
    await addReleased(ledger, lot(1), [block('pure', 1)]);
    assert.equal(refusal(), undefined);
    await ledger.openJob(job(1), NO_LIMITS);
    freeBytes = 999;
    for (const adding of [
      ledger.addLot(lot(2), []),
      ledger.openJob(job(2), NO_LIMITS), // nothing is bought that could not be stored
      ledger.charge('1', spend(1), NO_LIMITS),
      ledger.probe(),
    ])
      await assert.rejects(adding, { code: 'storage_unavailable' });
    await ledger.putJob(submitted(1)); // was bought before
    assert.equal(refusal(), 'disk-full', 'whoever looks first tells the fronts');
    await journal.commit(filledSegment(2, 1), []); // was drawn before
    await assertHolds(ledger, [1, 2], [3]);
    assert.equal((await ledger.claimBlocks('pure', 1)).length, 1);
    await ledger.createAccount(account(1));
    assert.deepEqual(await ledger.expire(0, NOON_MS + 10), { answers: 0, segments: 2 });
    freeBytes = 1_000;
    await ledger.addLot(lot(2), []);
    assert.equal(refusal(), undefined);
    await ledger.commit([filledSegment(3, 1)], []);
    await closeSound(ledger);
  });

  test('storing answers checks the free space, because they may have filled the disk', async (t) => {
    let freeBytes = 1_000;
    const options = { freeBytesMin: 1_000, freeBytes: () => freeBytes };
    const ledger = await openJournaledLedger(temporaryFolder(t), options);
    await ledger.commit([filledSegment(1, 1)], []);
    freeBytes = 999;
    await ledger.segmentSpan(); // stores first
    assert.equal(ledger.journal.refusal?.why, 'disk-full');
    await closeSound(ledger);
  });
});

async function assertHolds(
  ledger: LmdbLedger,
  stored: readonly number[],
  absent: readonly number[],
): Promise<void> {
  for (const sequence of stored) {
    const segment = await ledger.segment(sequence);
    assert.deepEqual(segment, filledSegment(sequence, segment?.count ?? -1));
  }
  for (const sequence of absent) assert.equal(await ledger.segment(sequence), undefined);
}
