import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { logNoRun, predictionEstimate } from '../../../src/stats/sp800-90b/prediction.ts';
import { assertClose } from './details.ts';

/**
 * Probability that `trials` trials of success probability p hold no `r` successes in a row, state by state.
 */
function noRun(p: number, r: number, trials: number): number {
  let current = [1, ...new Array(r - 1).fill(0)];
  for (let trial = 0; trial < trials; trial++) {
    const failed = current.reduce((sum, each) => sum + each, 0) * (1 - p);
    current = [failed, ...current.slice(0, r - 1).map((each) => each * p)];
  }
  return current.reduce((sum, each) => sum + each, 0);
}

suite('probability of no run (SP 800-90B 6.3.7, step 5)', () => {
  // Feller's approximation is better than 1e-9 here; the exact chain is the check.
  for (const [p, r, trials] of [
    [0.5, 12, 1000],
    [0.5, 20, 5000],
    [0.25, 8, 3000],
    [0.8, 40, 2000],
    [0.004, 3, 4000],
  ] as const) {
    test(`p = ${p}, r = ${r}, n = ${trials}`, () => {
      assertClose(Math.exp(logNoRun(p, r, trials)), noRun(p, r, trials), 'probability');
    });
  }

  test('the probability falls as p rises, until a run is certain', () => {
    let last = 0;
    for (let p = 0.01; p < 20 / 21; p += 0.01) {
      const value = logNoRun(p, 20, 10_000);
      assert.ok(value <= last, `p = ${p}`);
      last = value;
    }
  });

  test('from p = r / (r + 1) on, where the formula becomes 0/0 and then 0, a run is nearly certain', () => {
    for (const r of [1, 2, 3, 10, 100]) {
      for (const p of [r / (r + 1), (r + 0.001) / (r + 1), (r + 0.5) / (r + 1), (r + 0.999_999) / (r + 1)]) {
        assert.ok(logNoRun(p, r, 1000) < -1, `r = ${r}, p = ${p}`);
      }
    }
  });
});

suite('prediction estimate', () => {
  test('a predictor that is never right counts as chance, 1/k', () => {
    const estimate = predictionEstimate({ predictions: 10_000, correct: 0, longestRun: 0 }, 4);
    assertClose(estimate.pGlobalUpper, 1 - 0.01 ** (1 / 10_000), 'none right');
    assert.equal(estimate.minEntropy, 2);
  });

  test('a predictor that is always right leaves no entropy', () => {
    const estimate = predictionEstimate({ predictions: 1000, correct: 1000, longestRun: 1000 }, 2);
    assert.equal(estimate.minEntropy, 0);
    assert.equal(estimate.pLocal, null);
  });
});
