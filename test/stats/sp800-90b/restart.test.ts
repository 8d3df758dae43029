import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { assessRestarts, largestCountAtMost, restartCutoff } from '../../../src/stats/sp800-90b/restart.ts';
import { keystream } from '../../vectors/sp800-90b/inputs.ts';
import { assertClose } from './details.ts';

/** Computes the same probability by enumerating all sequences of `samples` symbols. */
function byEnumeration(limit: number, samples: number, probabilities: readonly number[]): number {
  const visit = (left: number, counts: readonly number[]): number => {
    if (left === 0) return Number(Math.max(...counts) <= limit);
    return probabilities.reduce(
      (sum, p, symbol) => sum + p * visit(left - 1, counts.with(symbol, counts[symbol] + 1)),
      0,
    );
  };
  return visit(samples, new Array(probabilities.length).fill(0));
}

suite('largest count among the symbols of the worst source', () => {
  test('small cases agree with an enumeration', () => {
    for (let limit = 1; limit <= 7; limit++) {
      assertClose(largestCountAtMost(limit, 7, 0.5), byEnumeration(limit, 7, [0.5, 0.5]), 'two alike');
      assertClose(
        largestCountAtMost(limit, 7, 0.4),
        byEnumeration(limit, 7, [0.4, 0.4, 0.2]),
        'two and a rest',
      );
      assertClose(largestCountAtMost(limit, 7, 0.7), byEnumeration(limit, 7, [0.7, 0.3]), 'one and a rest');
      assertClose(
        largestCountAtMost(limit, 6, 0.25),
        byEnumeration(limit, 6, [0.25, 0.25, 0.25, 0.25]),
        'four',
      );
    }
  });

  test('a thousand bits follow the binomial distribution in exact integers', () => {
    const binomial = [1n];
    for (let k = 1; k <= 1000; k++) binomial.push((binomial[k - 1] * BigInt(1001 - k)) / BigInt(k));
    for (const limit of [500, 510, 540, 572]) {
      let ways = 0n;
      for (let ones = 1000 - limit; ones <= limit; ones++) ways += binomial[ones];
      const exact = Number((ways * 10n ** 18n) >> 1000n) / 1e18;
      assertClose(largestCountAtMost(limit, 1000, 0.5), exact, `at most ${limit}`);
    }
  });
});

suite('restart cutoff', () => {
  test('is the smallest count that is exceeded with the allowed probability', () => {
    for (const hInitial of [0.05, 0.4, 0.85, 1, Math.log2(3), 2.5, 5, 8]) {
      const cutoff = restartCutoff(hInitial);
      const p = 2 ** -hInitial;
      // one false alarm in a hundred among 2,000 rows and columns
      assert.ok(largestCountAtMost(cutoff, 1000, p) ** 2000 >= 0.99 - 1e-9, `H = ${hInitial}`);
      assert.ok(largestCountAtMost(cutoff - 1, 1000, p) ** 2000 < 0.99, `H = ${hInitial}`);
    }
  });

  test('is known for sources of full entropy', () => {
    assert.deepEqual([1, 2, 4, 8].map(restartCutoff), [572, 316, 104, 19]);
  });
});

suite('restart matrix', () => {
  const ideal = Uint8Array.from({ length: 1_000_000 }, (_, i) => i);
  const stream = keystream(20, 125_000);
  for (let i = 0; i < ideal.length; i++) ideal[i] = (stream[i >> 3] >> (7 - (i & 7))) & 1;

  test('an ideal source is valid, at the lowest of three estimates', () => {
    const assessed = assessRestarts(ideal, 1, 0.8);
    assert.ok(assessed.isSane && assessed.isValid);
    assert.equal(assessed.cutoff, restartCutoff(0.8));
    assert.ok(assessed.hRows !== null && assessed.hColumns !== null && assessed.hRows !== assessed.hColumns);
    assert.equal(assessed.minEntropy, Math.min(assessed.hRows, assessed.hColumns, 0.8));
  });

  test('a position that is alike in every restart is not sane', () => {
    const stuck = ideal.slice();
    for (let row = 0; row < 1000; row++) stuck[1000 * row + 7] = 1;
    assert.deepEqual(assessRestarts(stuck, 1, 0.8), {
      cutoff: restartCutoff(0.8),
      maxCount: 1000,
      isSane: false,
      hRows: null,
      hColumns: null,
      isValid: false,
      minEntropy: null,
    });
  });

  test('a source with memory is sane, but not valid when it scores less than half', () => {
    // A bit stays as it is with probability 0.65; the collision estimate of such rows lies near 0.33.
    const words = keystream(21, 4_000_000);
    let state = 0;
    const sticky = Uint8Array.from(ideal, (_, i) => {
      if (words.readUInt32BE(4 * i) >= 0.65 * 2 ** 32) state ^= 1;
      return state;
    });
    const assessed = assessRestarts(sticky, 1, 0.8);
    assert.ok(assessed.isSane);
    assert.ok(assessed.hRows !== null && assessed.hRows > 0.2 && assessed.hRows < 0.4, `${assessed.hRows}`);
    assert.ok(!assessed.isValid);
    assert.equal(assessed.minEntropy, null);
    const modest = assessRestarts(sticky, 1, 0.5);
    assert.ok(modest.isValid);
    assert.equal(modest.minEntropy, assessed.hRows);
  });

  test('a wrong size or an impossible estimate is refused', () => {
    assert.throws(() => assessRestarts(ideal.subarray(1), 1, 0.8), /1,000 rows/);
    assert.throws(() => assessRestarts(ideal, 1, 1.1), /H_I/);
    assert.throws(() => assessRestarts(ideal, 1, 0), /H_I/);
  });
});
