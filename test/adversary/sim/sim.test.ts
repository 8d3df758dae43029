import './machine.ts'; // first: it takes its place before anything of the service is loaded
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runCourse } from './course.ts';

/** The short form of `npm run test:sim`: what fails here is replayed by `node test/adversary/sim/run.ts --seed N --steps M`. */
const SEEDS = [11];
const STEPS = 200;

describe('the whole service, simulated from one seed', () => {
  for (const seed of SEEDS) {
    it(`keeps its promises (seed ${seed})`, async () => {
      const { broken, recent, counts } = await runCourse({ seed, steps: STEPS });
      assert.equal(broken, undefined, [...recent, `replay: --seed ${seed} --steps ${STEPS}`].join('\n'));
      assert.ok(counts['answers acknowledged'] > 50 && counts['crashes'] > 0, JSON.stringify(counts));
      // the rate limit and the revoked keys are checked of admitted requests alone
      assert.ok(counts['requests admitted'] >= counts['answers acknowledged'], JSON.stringify(counts));
    });
  }

  it('repeats a world exactly, whether the ledger is in memory or in LMDB', async () => {
    const course = { seed: 5, steps: 60 };
    const first = await runCourse(course);
    const real = await runCourse({ ...course, store: 'lmdb' });
    assert.equal(first.broken, undefined);
    assert.equal(real.trace, first.trace);
    const other = await runCourse({ ...course, seed: 6 });
    assert.notEqual(other.trace, first.trace);
  });
});
