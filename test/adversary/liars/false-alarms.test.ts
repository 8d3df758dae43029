import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countedAlphas } from './false-alarms.ts';

/** `node test/adversary/liars/run.ts alarms` counts them at the real cutoffs. */
describe('sound bits', () => {
  it('reach cutoffs as often as alpha says', () => {
    const tallies = countedAlphas(2_000);
    for (const { what, trials, seen, chance, p } of tallies) {
      assert.ok(p > 1e-6, `${what}: ${seen} of ${trials}, ${(trials * chance).toFixed(1)} expected, p ${p}`);
    }
    assert.ok(tallies.every(({ seen, trials }) => seen > 0 && seen <= trials));
  });
});
