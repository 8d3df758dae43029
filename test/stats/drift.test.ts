import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DriftTest } from '../../src/stats/drift.ts';
import { uniforms } from './sp800-90b/sources.ts';

/** The mean of a few uniform numbers: roughly normal, as estimates of lots are. */
function figures(seed: number, mean: number, spread: number): () => number {
  const uniform = uniforms(seed);
  return () => mean + spread * (uniform() + uniform() + uniform() + uniform() - 2);
}

function stateAfter(of: Iterable<number>) {
  const test = new DriftTest();
  for (const figure of of) test.add(figure);
  return test.state();
}

describe('DriftTest', () => {
  it('bets so that the mean gain factor over all ranks is 1', () => {
    // With figures 1 to n - 1 seen in order, a last figure of each possible rank gives each factor once.
    for (const n of [2, 3, 7]) {
      let mean = 0;
      for (let rank = 1; rank <= n; rank++) {
        const test = new DriftTest();
        // seen in an order that leaves the score for a fall at zero: rising
        for (let i = 1; i < n; i++) test.add(i);
        assert.equal(test.state().fallBits, 0);
        const weight = (1 - (rank - 0.5) / n) ** 3;
        const total = Array.from({ length: n }, (_, i) => (1 - (i + 0.5) / n) ** 3).reduce((a, b) => a + b);
        test.add(rank - 0.5);
        const expected = Math.max(0, Math.log2((weight * n) / total));
        assert.ok(Math.abs(test.state().fallBits - expected) < 1e-12);
        mean += (weight * n) / total / n;
      }
      assert.ok(Math.abs(mean - 1) < 1e-12);
    }
  });

  it('raises no alarm over 20,000 lots of a source that does not drift', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const next = figures(seed, 0.85, 0.03);
      const { drifts } = stateAfter(Array.from({ length: 1_000 }, next));
      assert.equal(drifts, null, `seed ${seed}`);
    }
  });

  it('finds a fall by two standard deviations within 40 lots, and says its direction', () => {
    const before = figures(7, 0.85, 0.03);
    const after = figures(8, 0.85 - 2 * 0.03 * Math.sqrt(1 / 3), 0.03);
    const state = stateAfter([...Array.from({ length: 200 }, before), ...Array.from({ length: 40 }, after)]);
    assert.equal(state.drifts, 'down');
    assert.ok(state.fallBits >= state.alarmBits);
    assert.equal(state.figures, 240);
  });

  it('finds a rise', () => {
    const before = figures(9, 0.85, 0.03);
    const after = figures(10, 0.9, 0.03);
    const state = stateAfter([...Array.from({ length: 200 }, before), ...Array.from({ length: 40 }, after)]);
    assert.equal(state.drifts, 'up');
  });

  it('finds a slow fall that no two neighbouring lots show', () => {
    const next = figures(11, 0, 0.03);
    const state = stateAfter(Array.from({ length: 400 }, (_, i) => 0.85 - 0.0002 * i + next()));
    assert.equal(state.drifts, 'down');
  });

  it('takes equal figures for no drift: a source whose claim is below every estimate', () => {
    const { fallBits, riseBits, drifts } = stateAfter(new Array(3_000).fill(0.5));
    assert.deepEqual([fallBits, riseBits, drifts], [0, 0, null]);
  });

  it('begins again after 4,096 figures, and forgets the alarm', () => {
    const test = new DriftTest();
    for (let i = 0; i < 4_096; i++) test.add(-i);
    assert.deepEqual([test.state().figures, test.state().drifts], [4_096, 'down']);
    test.add(1);
    assert.deepEqual([test.state().figures, test.state().drifts, test.state().fallBits], [1, null, 0]);
  });
});
