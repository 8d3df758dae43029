import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { linearComplexityTest } from '../../../src/stats/sp800-22/linear-complexity.ts';
import { berlekampMassey, blocksOf } from '../../reference/sp800-22.ts';
import { arbitraryBits, type Bits, sequenceOf } from '../../support/bit-sequences.ts';

/** 2.10.4 steps 3 to 5 by their words. */
function classesOf(bits: Bits, M: number): number[] {
  const counts = new Array(7).fill(0);
  const mean = M / 2 + (9 + (-1) ** (M + 1)) / 36 - (M / 3 + 2 / 9) / 2 ** M;
  for (const block of blocksOf(bits, M)) {
    const t = (-1) ** M * (berlekampMassey(block) - mean) + 2 / 9;
    counts[[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5].filter((bound) => t > bound).length]++;
  }
  return counts;
}

test('the classes are those of the textbook algorithm, for blocks of any length', () => {
  fc.assert(
    fc.property(arbitraryBits(20, 400), fc.integer({ min: 1, max: 140 }), (bits, blockBits) => {
      fc.pre(bits.length >= blockBits);
      assert.deepEqual(linearComplexityTest(sequenceOf(bits), blockBits).counts, classesOf(bits, blockBits));
    }),
    { numRuns: 200 },
  );
});
