import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { booksIn, encoded, type LogPut } from '../../src/ledger/domain/books.ts';
import { LedgerError } from '../../src/ledger/ledger.ts';
import { tx } from '../../src/ledger/store.ts';
import { SEGMENT_TIMES, SEGMENTS, SPENT, UNSEALED } from '../../src/ledger/tables.ts';
import { entry, filledSegment, NOON_MS, segment } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryStore } from '../support/memory-store.ts';

const STATE = { key: 'state', value: new Uint8Array([1]) };

test('what a failover took back is in no counter, though this process had read it', async () => {
  const store = new MemoryStore();
  const books = booksIn(store, new ManualClock(NOON_MS), { number: 1, epoch: 1 });
  const spending = (credits: number) => segment(1, [entry(1, { credits })]);
  const credits = async () => (await books.balances(202611)).map((balance) => balance.credits);
  const lost = spending(7);
  await books.commit([lost], []);
  await books.unsealed(100);
  assert.deepEqual(await credits(), [7]);
  store.within(
    (function* () {
      yield* tx.remove(SEGMENTS, [1]);
      yield* tx.remove(SEGMENT_TIMES, [[lost.committedAtMs, 1]]);
      yield* tx.remove(UNSEALED, [1]);
    })(),
  );
  await books.commit([spending(2)], []);
  await books.unsealed(100); // as whoever seals reads what is signed
  await books.putLog([STATE], { key: STATE.key, expected: undefined, sealed: [1] });
  assert.deepEqual(await credits(), [2]);
});

test('a seal that is behind gets the oldest segments, as many as it asked for, and then the rest', async () => {
  const books = booksIn(new MemoryStore(), new ManualClock(NOON_MS), { number: 1, epoch: 1 });
  const all = Array.from({ length: 1_100 }, (_, i) => filledSegment(i + 1, 1));
  await books.commit(all, []);
  const sequences = async (certificates: number) =>
    (await books.unsealed(certificates)).map(({ sequence }) => sequence);
  const expected = all.map(({ sequence }) => sequence);
  assert.deepEqual(await sequences(1_030), expected.slice(0, 1_030));
  assert.deepEqual(await sequences(2_000), expected);
});

suite('segments that are stored in the transaction that puts their leaves', () => {
  const writer = { number: 1, epoch: 1 };
  /** Stores segments of one credit each in one transaction with a put that seals some of them. */
  function stored(sequences: readonly number[], sealed: readonly number[], expected?: Uint8Array) {
    const store = new MemoryStore();
    const books = booksIn(store, new ManualClock(NOON_MS), writer);
    const segments = sequences.map((sequence) =>
      encoded(segment(sequence, [entry(sequence, { credits: 1 })])),
    );
    const put: LogPut = [[STATE], { key: STATE.key, expected, sealed }];
    return {
      books,
      refusal: store.within(books.storing(segments, [], put)),
      waiting: store.within(tx.range(UNSEALED, {})).map(({ key }) => key),
      spent: store.within(tx.range(SPENT, {})).map(({ value }) => value.credits),
    };
  }

  test('never wait, and are counted once, with the others', async () => {
    const { books, refusal, waiting, spent } = stored([1, 2, 3], [1, 2]);
    assert.equal(refusal, undefined);
    assert.deepEqual(waiting, [3]);
    assert.deepEqual(spent, [2], 'as spent by this life of the node');
    assert.deepEqual(
      (await books.balances(202611)).map(({ credits }) => credits),
      [3],
    );
    await books.putLog([STATE], { key: STATE.key, expected: STATE.value, sealed: [3] });
    assert.deepEqual(
      (await books.balances(202611)).map(({ credits }) => credits),
      [3],
    );
  });

  test('are stored and wait where another writer of the log was first, or segments are gone', async () => {
    for (const { refusal, waiting, spent, books } of [
      stored([1, 2], [1, 2], new Uint8Array([7])),
      stored([1, 2], [1, 2, 9]),
    ]) {
      assert.ok(refusal instanceof LedgerError && refusal.reason === 'conflict');
      assert.deepEqual(waiting, [1, 2]);
      assert.deepEqual(spent, []);
      assert.equal(await books.getLog(STATE.key), undefined);
      assert.equal((await books.segment(2))?.count, 1);
    }
  });
});
