import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawUnique, uniqueBytesMax } from '../../src/values/unique.ts';
import { requireDistribution } from '../support/chi-square.ts';
import { keystreamReader } from './keystream.ts';

describe('drawUnique', () => {
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
