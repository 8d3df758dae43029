import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { booksIn, encoded, type LogPut, runsOf } from '../../src/ledger/domain/books.ts';
import { LedgerError } from '../../src/ledger/ledger.ts';
import { tx } from '../../src/ledger/store.ts';
import { SPENT, UNSEALED } from '../../src/ledger/tables.ts';
import { entry, filledSegment, NOON_MS, segment, source } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryStore } from '../support/memory-store.ts';

const STATE = { key: 'state', value: new Uint8Array([1]) };

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
    const segments = sequences.flatMap((sequence) =>
      encoded(segment(sequence, [entry(sequence, { credits: 1 })])),
    );
    const put: LogPut = [[STATE], { key: STATE.key, expected, sealed }];
    return {
      books,
      refusal: store.within(books.storing(runsOf(segments, new Set(sealed)), [], put)),
      waiting: store.within(tx.range(UNSEALED, {})).map(({ key }) => key),
      spent: store.within(tx.range(SPENT, {})).map(({ value }) => value.credits),
    };
  }

  test('are never unsealed, and are counted once, together with the others', async () => {
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

  test('are stored as unsealed if another writer of the log was first, or segments are gone', async () => {
    for (const { refusal, waiting, spent, books } of [
      stored([1, 2], [1, 2], new Uint8Array([7])),
      stored([1, 2], [1, 2, 9]),
    ]) {
      assert.ok(refusal instanceof LedgerError && refusal.reason === 'conflict');
      assert.deepEqual(waiting, [2], 'both, in one run');
      assert.deepEqual(spent, []);
      assert.equal(await books.getLog(STATE.key), undefined);
      assert.equal((await books.segment(2))?.count, 1);
    }
  });
});

suite('runs of segments', () => {
  const writer = { number: 1, epoch: 0 };
  const anyPart = fc.record({
    skipped: fc.constantFrom(0, 0, 0, 1, 300),
    count: fc.constantFrom(1, 1, 1, 2, 90, 300),
    laterMs: fc.constantFrom(0, 0, 1, 700, 60_000),
    isMarked: fc.boolean(),
    lot: fc.constantFrom(1, 1, 1, 2),
  });
  const anySegments = fc.array(anyPart, { minLength: 1, maxLength: 60 }).map((parts) => {
    let [sequence, atMs] = [0, NOON_MS];
    return parts.map(({ skipped, count, laterMs, isMarked, lot }) => {
      const filled = filledSegment((sequence += 1 + skipped), count, {}, [source('csprng', [lot])]);
      return { segment: { ...filled, committedAtMs: (atMs += laterMs) }, isMarked };
    });
  });

  test('are as long as their rules allow, and no segment is lost or moved', () => {
    const property = fc.property(anySegments, (parts) => {
      const all = parts.flatMap(({ segment }) => encoded(segment));
      const marked = new Set(parts.filter((each) => each.isMarked).map(({ segment }) => segment.sequence));
      const runs = runsOf(all, marked);
      assert.deepEqual(runs.flat(), all);
      const kindOf = ({ segment }: (typeof all)[number], i: number) =>
        `${segment.sequence - i} ${marked.has(segment.sequence)} ${Math.floor(segment.committedAtMs / 1_000)}`;
      for (const [i, run] of runs.entries()) {
        assert.equal(new Set(run.map(kindOf)).size, 1);
        const bytes = run.reduce((sum, each) => sum + each.bytes.length, 0);
        assert.ok(run.length === 1 || bytes <= 16_384);
        const [next] = runs[i + 1] ?? [];
        if (next !== undefined && kindOf(next, run.length) === kindOf(run[0], 0))
          assert.ok(bytes + next.bytes.length > 16_384, 'it could have taken the next one');
      }
    });
    fc.assert(property);
  });

  test('are read segment by segment, and storing them again in other runs changes nothing', async () => {
    const property = fc.asyncProperty(anySegments, fc.nat(), async (parts, from) => {
      const store = new MemoryStore();
      const books = booksIn(store, new ManualClock(NOON_MS), writer);
      const all = parts.map(({ segment }) => segment);
      const bytes = all.flatMap(encoded);
      for (const { segment, isMarked } of parts) if (isMarked) await books.commit([segment], []);
      store.within(books.storing(runsOf(bytes), []));
      const waiting = store.within(tx.range(UNSEALED, {}));
      const before = all[all.length - 1].sequence + 2;
      const known = new Map(all.map((each) => [each.sequence, each]));
      for (let n = 0; n < before; n++) assert.deepEqual(await books.segment(n), known.get(n));
      const later = all.filter(({ sequence }) => sequence >= from % before);
      assert.deepEqual(await books.segmentsFrom(from % before, 3), later.slice(0, 3));
      store.within(books.storing(runsOf(bytes.slice(from % bytes.length)), []));
      await books.commit([all[from % all.length]], []);
      assert.deepEqual(store.within(tx.range(UNSEALED, {})), waiting);
      const other = { ...all[from % all.length], committedAtMs: NOON_MS - 1 };
      await assert.rejects(books.commit([other], []), { reason: 'conflict' });
    });
    await fc.assert(property, { numRuns: 20 });
  });

  test('are stored beside those that a repetition finds, and sealed as a whole or not at all', async () => {
    const store = new MemoryStore();
    const books = booksIn(store, new ManualClock(NOON_MS), writer);
    const all = [1, 2, 3, 4, 5].map((sequence) => filledSegment(sequence, 2));
    await books.commit([all[2]], []);
    store.within(books.storing(runsOf(all.flatMap(encoded)), []));
    const keys = () => store.within(tx.range(UNSEALED, {})).map(({ key }) => key);
    assert.deepEqual(keys(), [2, 3, 5]);
    store.within(books.storing([all.flatMap(encoded)], []));
    assert.deepEqual(keys(), [2, 3, 5]);
    const seal = (...sealed: number[]) =>
      books.putLog([STATE], { key: STATE.key, expected: undefined, sealed });
    for (const part of [[5], [4], [1, 2, 3, 5], [1, 3]])
      await assert.rejects(seal(...part), { reason: 'conflict' });
    await seal(4, 5, 3);
    assert.deepEqual(keys(), [2]);
    assert.equal((await books.balances(202611))[0].requests, 10);
  });
});
