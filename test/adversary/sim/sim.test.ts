import './machine.ts'; // first: it takes its place before anything of the service is loaded
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CourseOptions, runCourse } from './course.ts';

/** What fails here is repeated by `node test/adversary/sim/run.ts --seed N --steps M`. */
const SEEDS = [11];
const STEPS = 200;
/** Two nodes over one set of books, in a world in which much happens to them. */
const NODES: CourseOptions = {
  seed: 18,
  steps: 80,
  nodes: 2,
  likely: { burst: 8, 'cut a node off': 3, 'pause a node': 3, 'fence a node': 3 },
};

describe('the whole service, simulated from one seed', () => {
  const traces = new Set<string>();

  for (const seed of SEEDS) {
    it(`keeps its promises (seed ${seed})`, async () => {
      const { broken, recent, counts, trace } = await runCourse({ seed, steps: STEPS });
      assert.equal(broken, undefined, [...recent, `replay: --seed ${seed} --steps ${STEPS}`].join('\n'));
      assert.ok(counts['answers acknowledged'] > 50 && counts['crashes'] > 0, JSON.stringify(counts));
      // the rate limit and the revoked keys are checked of admitted requests alone
      assert.ok(counts['requests admitted'] >= counts['answers acknowledged'], JSON.stringify(counts));
      traces.add(trace);
    });
  }

  it('keeps its promises on two nodes that are killed, paused, fenced and cut off from their books', async () => {
    const { broken, recent, counts } = await runCourse(NODES);
    assert.equal(broken, undefined, recent.join('\n'));
    for (const happened of ['crashes', 'fences', 'nodes paused', 'nodes cut off'])
      assert.ok(counts[happened] > 0, happened);
    assert.ok(counts['answers acknowledged'] > 50, JSON.stringify(counts));
  });

  it('repeats a world exactly, whether the ledger is in memory or in LMDB', async () => {
    const course = { seed: 5, steps: 60 };
    const first = await runCourse(course);
    const real = await runCourse({ ...course, store: 'lmdb' });
    assert.equal(first.broken, undefined);
    assert.equal(real.trace, first.trace);
    assert.ok(!traces.has(first.trace), 'another seed gives another trace');
  });
});
