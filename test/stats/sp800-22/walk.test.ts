/** The walk, and the three tests that read it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  cumulativeSumsTest,
  minimumCycles,
  randomExcursionsTest,
  walkOf,
} from '../../../src/stats/sp800-22/walk.ts';
import { cyclesOf, partialSums } from '../../reference/sp800-22.ts';
import { arbitraryBits, sequenceOf } from '../../support/bit-sequences.ts';

test('walkOf finds extremes, cycles and visits, far from zero and near it', () => {
  fc.assert(
    fc.property(arbitraryBits(1, 800), (bits) => {
      const walk = walkOf(sequenceOf(bits));
      const sums = partialSums(bits);
      assert.equal(walk.end, sums[sums.length - 1]);
      assert.equal(walk.minimum, Math.min(0, ...sums));
      assert.equal(walk.maximum, Math.max(0, ...sums));
      const cycles = cyclesOf(bits);
      assert.equal(walk.cycles, cycles.length);
      for (let state = -9; state <= 9; state++) {
        assert.equal(
          walk.visits[state + 9],
          sums.filter((sum) => sum === state).length,
          `visits of ${state}`,
        );
      }
      for (const { state, counts } of randomExcursionsTest(walk)) {
        const expected = new Array(6).fill(0);
        for (const cycle of cycles) expected[Math.min(cycle.filter((sum) => sum === state).length, 5)]++;
        assert.deepEqual(counts, expected, `cycles by visits of ${state}`);
      }
    }),
    { numRuns: 200 },
  );
});

test('CumulativeSums reversed is CumulativeSums of the reversed sequence', () => {
  fc.assert(
    fc.property(arbitraryBits(1, 500), (bits) => {
      const there = cumulativeSumsTest(walkOf(sequenceOf(bits)), bits.length);
      const back = cumulativeSumsTest(walkOf(sequenceOf([...bits].reverse())), bits.length);
      assert.deepEqual(there.z, [back.z[1], back.z[0]]);
      assert.deepEqual(there.pValues, [back.pValues[1], back.pValues[0]]);
      assert.equal(there.z[0], Math.max(...partialSums(bits).map(Math.abs)));
      for (const p of there.pValues) assert.ok(p >= 0 && p <= 1);
    }),
  );
});

test('CumulativeSums keeps the digits of a small p, where 1 minus a sum has none', () => {
  // z = n: p is 4 Φ(-√n) up to terms of Φ(-3√n).
  const { pValues } = cumulativeSumsTest(walkOf(sequenceOf('1'.repeat(100))), 100);
  assert.ok(Math.abs(pValues[0] / (4 * 7.619853024160527e-24) - 1) < 1e-9, `${pValues[0]}`);
});

test('minimumCycles is 500, or more beyond 10^10 bits', () => {
  assert.equal(minimumCycles(1_000_000), 500);
  assert.equal(minimumCycles(1e12), 5000);
});
