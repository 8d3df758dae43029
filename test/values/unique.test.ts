import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { drawUnique, uniqueBytesMax } from '../../src/values/unique.ts';
import { requireDistribution } from '../support/chi-square.ts';
import { keystreamReader } from './keystream.ts';
import { anySpan } from './requests.ts';

describe('drawUnique', () => {
  it('gives different offsets within the span, and takes no more than its bound', () => {
    fc.assert(
      fc.property(anySpan, fc.integer({ min: 1, max: 300 }), (span, wanted) => {
        const count = Math.min(span, wanted);
        const reader = keystreamReader(2 ** 16);
        const drawn = drawUnique(reader, span, count);
        assert.equal(drawn.length, count);
        assert.equal(new Set(drawn).size, count);
        for (const offset of drawn) assert.ok(Number.isInteger(offset) && offset >= 0 && offset < span);
        assert.ok(reader.consumedBytes <= uniqueBytesMax(span, count, 64));
      }),
    );
  });

  it('draws a whole range of 100,000', () => {
    const drawn = drawUnique(keystreamReader(2 ** 20), 100_000, 100_000);
    assert.deepEqual(
      drawn.toSorted(),
      Uint32Array.from({ length: 100_000 }, (_, i) => i),
    );
    assert.notDeepEqual(drawn, drawn.toSorted());
  });

  for (const span of [400_000, 400_001, 2 ** 32, 2 ** 53]) {
    it(`draws 100,000 out of ${span}`, () => {
      const reader = keystreamReader(2 ** 20);
      assert.equal(new Set(drawUnique(reader, span, 100_000)).size, 100_000);
      assert.ok(reader.consumedBytes <= uniqueBytesMax(span, 100_000, 64));
    });
  }

  it('allows for repeats as well as for refused words', () => {
    // The second of two values out of 1024 repeats the first with p = 2^-10: seven times in a row with p = 2^-70 only,
    // six times with 2^-60, which the bound must still hold, each repeat costing a word.
    assert.ok(uniqueBytesMax(1_024, 2, 64) >= 4 * (1 + 6));
  });

  it('refuses more values than the range has', () => {
    assert.throws(() => drawUnique(keystreamReader(64), 3, 4));
  });

  // Ordered pairs out of 9 are sparse (9 > 4 · 2), ordered triples out of 6 dense: every sequence must be as likely.
  for (const { span, count, cells } of [
    { span: 9, count: 2, cells: 72 },
    { span: 6, count: 3, cells: 120 },
  ]) {
    it(`gives every sequence of ${count} out of ${span} equally often`, () => {
      const runs = 40_000;
      const reader = keystreamReader(2 ** 20);
      const counts = new Map<string, number>();
      for (let run = 0; run < runs; run++) {
        const key = drawUnique(reader, span, count).join();
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      assert.equal(counts.size, cells);
      requireDistribution('sequences', [...counts.values()], Array<number>(cells).fill(1 / cells));
    });
  }
});
