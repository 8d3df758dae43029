import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { systemClock } from '../../src/core/clock.ts';
import { FrontJournal } from '../../src/ledger/front-journal.ts';
import { createJournal, JournalBoard } from '../../src/ledger/journal.ts';
import { LedgerError, SEQUENCES_PER_LEASE } from '../../src/ledger/ledger.ts';
import type { JournalPosition, LmdbBooks } from '../../src/ledger/lmdb/books.ts';
import { FreeSpace } from '../../src/ledger/lmdb/data-file.ts';
import { FollowingBooks } from '../../src/ledger/lmdb/following-books.ts';
import type { GroupWriter } from '../../src/ledger/lmdb/group-writer.ts';
import type { SegmentRecord } from '../../src/ledger/records.ts';
import type { Run } from '../../src/ledger/segment.ts';
import { Sequences } from '../../src/ledger/sequences.ts';
import { temporaryFolder } from '../support/ledger-folder.ts';
import { filledSegment } from '../support/ledger-records.ts';

const FILE_BYTES = 64 * 1_024;
/** The loop that stores in its own time never does so in these tests. */
const NEVER_MS = 2 ** 30;

/** A journal, the books that follow it, and an LMDB that takes each store only when it is told to. */
function followed(t: TestContext) {
  const path = join(temporaryFolder(t), 'journal-1-0');
  const header = { ledgerId: 1, start: 1, front: 0, durability: 'commit', fileBytes: FILE_BYTES } as const;
  assert.ok(createJournal(path, header));
  const board = JournalBoard.create(1);
  const place = { path, fileBytes: FILE_BYTES, front: 0, shared: board.shared };
  const ledger = { commit: async () => assert.fail('the journal has room') };
  const sequences = new Sequences({ leaseSequences: () => assert.fail('no lease is due') }, systemClock, {
    from: 1,
    before: SEQUENCES_PER_LEASE,
  });
  const journal = new FrontJournal({ place, durability: 'commit', ledger, sequences });
  const stores: {
    runs: number[][];
    sequences: number[];
    take: () => void;
    refuse: (error: Error) => void;
  }[] = [];
  const inLmdb: SegmentRecord[] = [];
  const stopped: unknown[] = [];
  const books = {
    store(runs: Run[], _answers: unknown, [{ position }]: JournalPosition[]) {
      const segments = runs.flat();
      assert.equal(position, board.written(0));
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const take = () => {
        inLmdb.push(...segments.map(({ segment }) => segment));
        resolve();
      };
      const stored = runs.map((run) => run.map(({ segment }) => segment.sequence));
      stores.push({ runs: stored, sequences: stored.flat(), take, refuse: reject });
      return promise;
    },
    unsealed: async () => [...inLmdb],
    putLog: async () => {},
  };
  const writer = {
    requireRunning() {
      if (stopped.length > 0) throw stopped[0];
    },
    stop(error: unknown) {
      stopped.push(error);
      return error;
    },
  };
  const following = new FollowingBooks({
    books: books as unknown as LmdbBooks,
    writer: writer as unknown as GroupWriter,
    board,
    space: new FreeSpace(() => 0, 0),
    journals: [{ name: 'journal-1-0', place }],
    intervalMs: NEVER_MS,
  });
  t.after(async () => {
    await following.close().catch((error) => assert.equal(error, stopped[0]));
    journal.close();
  });
  return {
    following,
    stores,
    stopped,
    board,
    commit: (sequence: number) => journal.commit(filledSegment(sequence, 1), []),
  };
}

suite('storing what journals hold', () => {
  test('calls before a store begins share it, and calls while it runs share the next one', async (t) => {
    const { following, stores, commit } = followed(t);
    await commit(1);
    const first = following.store();
    assert.equal(following.store(), first);
    while (stores.length < 1) await new Promise((resolve) => setImmediate(resolve));
    await commit(2);
    assert.deepEqual(
      stores.map(({ sequences }) => sequences),
      [[1]],
    );
    const second = following.store();
    assert.notEqual(second, first, 'the first one began before the second commit');
    await commit(3);
    assert.equal(following.store(), second, 'it has not begun, and will take all three');
    stores[0].take();
    await first;
    while (stores.length < 2) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(stores[1].sequences, [2, 3]);
    stores[1].take();
    await second;
  });

  test('a call that finds nothing new returns without a store', async (t) => {
    const { following, stores, commit } = followed(t);
    await following.store();
    assert.equal(stores.length, 0);
    await commit(1);
    const store = following.store();
    while (stores.length < 1) await new Promise((resolve) => setImmediate(resolve));
    stores[0].take();
    await store;
    await following.store();
    assert.equal(stores.length, 1);
  });

  test('segments that a running store has taken still count as unsealed', async (t) => {
    const { following, stores, commit } = followed(t);
    await commit(1);
    const store = following.store();
    while (stores.length < 1) await new Promise((resolve) => setImmediate(resolve));
    const unsealed = following.unsealed(10);
    await new Promise((resolve) => setImmediate(resolve));
    stores[0].take();
    await store;
    assert.deepEqual(
      (await unsealed).map(({ sequence }) => sequence),
      [1],
    );
  });

  test('a store between a read of the log and its put makes no run of segments that were read and others', async (t) => {
    const { following, stores, commit } = followed(t);
    for (const sequence of [1, 2, 3, 4]) await commit(sequence);
    const read = await following.unsealed(2);
    assert.deepEqual(
      read.map(({ sequence }) => sequence),
      [1, 2],
    );
    const store = following.store();
    while (stores.length < 1) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(stores[0].runs, [
      [1, 2],
      [3, 4],
    ]);
    stores[0].take();
    await store;
  });

  test('a store that LMDB refuses stops the writer, whoever asked for it, because no later store has its segments', async (t) => {
    const { following, stores, stopped, commit } = followed(t);
    await commit(1);
    await following.unsealed(10); // as the log does: what it has not read is left to the next put
    const put = following.putLog([]);
    while (stores.length < 1) await new Promise((resolve) => setImmediate(resolve));
    const refusal = new LedgerError('conflict', 'segment 1 is stored with other content');
    stores[0].refuse(refusal);
    await assert.rejects(put, refusal);
    assert.deepEqual(stopped, [refusal]);
    await assert.rejects(following.store(), refusal);
  });
});
