import '../sim/machine.ts'; // first: it takes its place before anything of the service is loaded
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runCourse } from '../sim/course.ts';

const SEEDS = 20;
const STEPS = 200;
const NODES_FAIL = { burst: 8, 'cut a node off': 3, 'pause a node': 3, 'fence a node': 3 };

describe('two nodes over one set of books, in many worlds', () => {
  for (let seed = 100; seed < 100 + SEEDS; seed++) {
    it(`keep their promises (seed ${seed})`, async () => {
      const { broken, recent } = await runCourse({ seed, steps: STEPS, nodes: 2, likely: NODES_FAIL });
      assert.equal(broken, undefined, recent.join('\n'));
    });
  }
});
