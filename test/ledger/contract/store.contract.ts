import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { DrawRecord } from '../../../src/ledger/draw-records.ts';
import { LedgerError } from '../../../src/ledger/ledger.ts';
import { type Key, type KeyRange, type Store, tx } from '../../../src/ledger/store.ts';
import { DRAWS, increase, OPEN_DRAWS } from '../../../src/ledger/tables.ts';
import { compared } from '../../support/memory-store.ts';

const LOCKS = ['a lock'];

const draw = (id: string): DrawRecord => ({
  id,
  accountNumber: 1,
  state: 'opening',
  dueAtMs: 1.5,
  body: `{"é":"${id}"}`,
});

/** Keys that a driver may put into another order: signs, fractions, texts and lists that begin with another. */
const key = fc.oneof(
  fc.tuple(
    fc.constantFrom(-2, -1.5, 0, 1, 2 ** 40, 2 ** 53 - 1),
    fc.constantFrom('', 'a', 'aé', '\uffff', '😀'),
  ),
  fc.constantFrom(1, 2),
);

/** The promises of every driver to the rules of the ledger: the seam Store. */
export function storeContract(name: string, open: (t: TestContext) => Promise<Store>): void {
  suite(`store contract: ${name}`, () => {
    test('a body reads what was written before it and what it writes itself', async (t) => {
      const store = await open(t);
      const found = await store.write(LOCKS, function* () {
        yield* tx.put(DRAWS, 'b', draw('b'));
        yield* tx.put(DRAWS, 'a', draw('a'));
        yield* tx.put(DRAWS, 'c', draw('c'));
        yield* tx.remove(DRAWS, ['c']);
        yield* tx.remove(DRAWS, ['never']);
        const got = [yield* tx.get(DRAWS, 'a'), yield* tx.get(DRAWS, 'c')];
        got.push(...(yield* tx.getMany(DRAWS, ['b', 'c', 'a'])));
        return { got, listed: (yield* tx.range(DRAWS, {})).map(({ key }) => key) };
      });
      assert.deepEqual(found, {
        got: [draw('a'), undefined, draw('b'), undefined, draw('a')],
        listed: ['a', 'b'],
      });
      await store.write(LOCKS, function* () {
        yield* tx.put(DRAWS, 'a', { ...draw('a'), state: 'ended' });
        yield* tx.remove(DRAWS, ['b']);
      });
      const after = await store.read(function* () {
        return [yield* tx.get(DRAWS, 'a'), ...(yield* tx.getMany(DRAWS, ['b', 'a']))];
      });
      const ended = { ...draw('a'), state: 'ended' };
      assert.deepEqual(after, [ended, undefined, ended]);
      assert.deepEqual(await store.read(() => tx.get(DRAWS, 'a')), after[0]);
    });

    test('a range is in the order of its keys, and honours from, before, a limit, and descending order', async (t) => {
      const store = await open(t);
      const bound = fc.option(key, { nil: undefined });
      const limit = fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined });
      const given = fc.record({
        keys: fc.uniqueArray(key, { selector: String, maxLength: 12 }),
        bound,
        end: bound,
        limit,
      });
      await fc.assert(
        fc.asyncProperty(given, async ({ keys, bound: from, end: before, limit }) => {
          const all = keys as [number, string][]; // some of them are numbers
          const range = Object.fromEntries(
            Object.entries({ from, before, limit }).filter(([, value]) => value !== undefined),
          ) as KeyRange;
          const read = await store.write(LOCKS, function* () {
            for (const { key } of yield* tx.range(OPEN_DRAWS, {})) yield* tx.remove(OPEN_DRAWS, [key]);
            for (const [i, each] of all.entries()) yield* tx.put(OPEN_DRAWS, each, i);
            return yield* tx.range(OPEN_DRAWS, range);
          });
          const isWithin = (each: Key) =>
            (from === undefined || compared(each, from) >= 0) &&
            (before === undefined || compared(each, before) < 0);
          const expected = all
            .map((each, value) => ({ key: each, value }))
            .filter((row) => isWithin(row.key));
          expected.sort((one, other) => compared(one.key, other.key));
          assert.deepEqual(read, expected.slice(0, limit));
          assert.deepEqual(await store.read(() => tx.range(OPEN_DRAWS, range)), read);
          const last = await store.read(() => tx.range(OPEN_DRAWS, { isReverse: true, limit: 2 }));
          assert.deepEqual(last, (await store.read(() => tx.range(OPEN_DRAWS, {}))).slice(-2).reverse());
        }),
        { numRuns: 60 },
      );
    });

    test('bodies under one lock lose no change, and one that throws is rolled back alone', async (t) => {
      const store = await open(t);
      const adding = Array.from({ length: 12 }, (_, i) =>
        store.write(LOCKS, function* () {
          if (i % 4 === 0) throw new LedgerError('refused', 'not this one');
          return yield* increase('draws', 1);
        }),
      );
      const sums = (await Promise.allSettled(adding)).map((each) =>
        each.status === 'fulfilled' ? each.value : (each.reason as LedgerError).reason,
      );
      const numbers = sums.filter((sum) => typeof sum === 'number').sort((a, b) => a - b);
      assert.deepEqual(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
      assert.equal(sums.filter((sum) => sum === 'refused').length, 3);
    });

    test('a read sees one moment, even if a write ends between its steps', async (t) => {
      const store = await open(t);
      const move = () =>
        store.write(LOCKS, function* () {
          const [from, to] = (yield* tx.get(DRAWS, 'a')) === undefined ? ['b', 'a'] : ['a', 'b'];
          yield* tx.remove(DRAWS, [from]);
          yield* tx.put(DRAWS, to, draw('moved'));
        });
      await move();
      const moves: Promise<void>[] = [];
      const places = await store.read(function* () {
        const a = yield* tx.get(DRAWS, 'a');
        let isMoved = false;
        moves.push(move().then(() => void (isMoved = true)));
        for (let i = 0; i < 200 && !isMoved; i++) yield* tx.get(DRAWS, 'c');
        return [a, yield* tx.get(DRAWS, 'b')].filter((each) => each !== undefined);
      });
      assert.equal(places.length, 1);
      await Promise.all(moves);
    });
  });
}
