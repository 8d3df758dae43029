import '../sim/machine.ts'; // first, because it replaces parts before anything of the service is loaded
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { InvariantError } from '../../../src/core/assert.ts';
import { runCourse } from '../sim/course.ts';
import { MUTANTS } from '../sim/mutants.ts';
import { Violation } from '../sim/oracle/violation.ts';

/** Count of worlds that are tried for a planted bug after the one named for it, and the length of each. */
const WORLDS_MAX = 16;
const WORLD_STEPS = 120;

/**
 * The simulation can fail: each planted bug breaks a promise in some world. Any change in the order of the service's
 * work makes other worlds of the same seeds, so others are tried when the named one shows nothing.
 */
for (const mutant of MUTANTS) {
  it(`the simulation finds a planted bug: ${mutant.name}`, async () => {
    let { broken } = await runCourse({ ...mutant.shows, mutant });
    for (let seed = 1; broken === undefined && seed <= WORLDS_MAX; seed++) {
      ({ broken } = await runCourse({ ...mutant.shows, seed, steps: WORLD_STEPS, mutant }));
    }
    // an assertion of the service itself may see the bug before the oracle does
    const isOwnFault = broken instanceof InvariantError;
    const found = isOwnFault ? new Violation('no fault of its own', broken!.message) : broken;
    assert.ok(found instanceof Violation, `${found ?? `shows in none of ${WORLDS_MAX} worlds`}`);
    assert.ok(mutant.breaks.includes(found.invariant), found.message);
  });
}
