/** Frequency, BlockFrequency, Runs, LongestRun, Rank: their counts against the slow twins. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../../src/core/assert.ts';
import {
  blockFrequencyTest,
  frequencyTest,
  longestRunBlockBits,
  longestRunTest,
  rankTest,
  runsTest,
} from '../../../src/stats/sp800-22/counting.ts';
import { blocksOf, longestRunOfOnes, onesOf, rankOf, runsOf } from '../../reference/sp800-22.ts';
import { arbitraryBits, sequenceOf } from '../../support/bit-sequences.ts';

test('Frequency counts the ones', () => {
  fc.assert(
    fc.property(arbitraryBits(1, 300), (bits) => {
      const { ones, sum } = frequencyTest(sequenceOf(bits));
      assert.equal(ones, onesOf(bits));
      assert.equal(sum, onesOf(bits) - (bits.length - onesOf(bits)));
    }),
  );
});

test('BlockFrequency sums 4M (π - 1/2)² over blocks of any length', () => {
  fc.assert(
    fc.property(arbitraryBits(50, 400), fc.integer({ min: 1, max: 50 }), (bits, blockBits) => {
      const blocks = blocksOf(bits, blockBits);
      const expected = blocks.reduce((sum, block) => sum + (onesOf(block) / blockBits - 0.5) ** 2, 0);
      const actual = blockFrequencyTest(sequenceOf(bits), blockBits);
      assert.equal(actual.blocks, blocks.length);
      assert.ok(Math.abs(actual.chiSquared - 4 * blockBits * expected) < 1e-9);
    }),
  );
});

test('Runs counts the runs; a sequence that is not balanced has p = 0', () => {
  fc.assert(
    fc.property(arbitraryBits(1, 300), (bits) => {
      assert.equal(runsTest(sequenceOf(bits)).runs, runsOf(bits));
    }),
  );
  assert.equal(runsTest(sequenceOf('1'.repeat(80) + '0'.repeat(20))).pValue, 0);
  assert.ok(runsTest(sequenceOf('10'.repeat(50))).pValue < 1e-20);
  assert.ok(runsTest(sequenceOf('1100'.repeat(25))).pValue > 0.8);
});

test('LongestRun sorts blocks by their longest run', () => {
  fc.assert(
    fc.property(
      arbitraryBits(8, 1000),
      fc.constantFrom([8, 1, 4], [128, 4, 9]),
      (bits, [blockBits, low, high]) => {
        fc.pre(bits.length >= blockBits);
        const expected = new Array(high - low + 1).fill(0);
        for (const block of blocksOf(bits, blockBits)) {
          expected[Math.min(Math.max(longestRunOfOnes(block), low), high) - low]++;
        }
        assert.deepEqual(longestRunTest(sequenceOf(bits), blockBits).counts, expected);
      },
    ),
  );
});

test('a sequence shorter than one block is a bug of the caller', () => {
  assert.throws(() => blockFrequencyTest(sequenceOf('1'.repeat(20)), 21), InvariantError);
  assert.throws(() => longestRunTest(sequenceOf('1'.repeat(20)), 128), InvariantError);
  assert.throws(() => rankTest(sequenceOf('1'.repeat(20))), InvariantError);
});

test('LongestRun takes the blocks of 2.4.2 and no others', () => {
  assert.deepEqual([128, 6271, 6272, 749_999, 750_000].map(longestRunBlockBits), [8, 8, 128, 128, 10_000]);
  assert.throws(() => longestRunTest(sequenceOf('1'.repeat(160)), 16), InvariantError);
});

test('Rank is that of Gaussian elimination', () => {
  const sizes = fc.constantFrom([3, 3], [5, 5], [4, 7], [32, 32], [8, 32]);
  fc.assert(
    fc.property(arbitraryBits(1024, 3000), sizes, (bits, [rows, columns]) => {
      const counts = [0, 0, 0];
      for (const block of blocksOf(bits, rows * columns)) {
        counts[Math.min(Math.min(rows, columns) - rankOf(blocksOf(block, columns)), 2)]++;
      }
      assert.deepEqual(rankTest(sequenceOf(bits), rows, columns).counts, counts);
    }),
    { numRuns: 60 },
  );
});
