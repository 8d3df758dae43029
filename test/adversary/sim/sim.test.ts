import './machine.ts'; // first: it takes its place before anything of the service is loaded
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CourseOptions, runCourse } from './course.ts';

/** A world in which processes end often, some by a power cut. What fails here is repeated by `node test/adversary/sim/run.ts`. */
const ENDS: CourseOptions = { seed: 35, steps: 120, likely: { crash: 5, burst: 8 } };
/** Two nodes over one set of books, in a world in which much happens to them. */
const NODES: CourseOptions = {
  seed: 18,
  steps: 80,
  nodes: 2,
  likely: { burst: 8, 'cut a node off': 3, 'pause a node': 3, 'fence a node': 3 },
};

describe('the whole service, simulated from one seed', () => {
  it('keeps its promises on one node that is killed, stopped and cut from power', async () => {
    const { broken, recent, counts } = await runCourse(ENDS);
    assert.equal(broken, undefined, [...recent, JSON.stringify(ENDS)].join('\n'));
    for (const happened of ['segments journaled', 'crashes', 'power cuts', 'losses told', 'proofs verified'])
      assert.ok(counts[happened] > 0, happened);
    // the rate limit and the revoked keys are checked of admitted requests alone
    assert.ok(counts['requests admitted'] >= counts['answers acknowledged'], JSON.stringify(counts));
    assert.ok(counts['answers acknowledged'] > 50, JSON.stringify(counts));
  });

  it('keeps its promises on two nodes that are killed, paused, fenced and cut off from their books', async () => {
    const { broken, recent, counts } = await runCourse(NODES);
    assert.equal(broken, undefined, recent.join('\n'));
    for (const happened of ['crashes', 'fences', 'nodes paused', 'nodes cut off'])
      assert.ok(counts[happened] > 0, happened);
    assert.ok(counts['answers acknowledged'] > 40, JSON.stringify(counts));
  });

  it('repeats a world exactly, and makes another one of another seed', async () => {
    const course = { ...ENDS, seed: 8, steps: 40, isLeftOpen: true } as const;
    const { trace } = await runCourse(course);
    assert.equal((await runCourse(course)).trace, trace);
    assert.notEqual((await runCourse({ ...course, seed: 6 })).trace, trace);
  });
});
