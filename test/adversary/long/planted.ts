import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { planted } from '../../mutants/plant.ts';
import { Chance } from '../../support/chance.ts';
import { crashRounds } from '../crash/crash-rounds.ts';
import { assertBooks } from '../fuzz/oracle.ts';
import { PLANTS, UNRELEASED_QUOTA } from '../fuzz/plants.ts';
import { FUZZ_PROPERTIES } from '../fuzz/properties.ts';
import { World } from '../fuzz/world.ts';

/** The instruments can fail: each finds the bugs that are planted for it. */

it('the crash test finds answers that are sent before the commit', async () => {
  const rounds = await crashRounds({
    rounds: 5,
    chance: new Chance('planted'),
    environment: planted({
      'src/answer/commit.ts': [
        'sink.commit(segment, answers).then(',
        'new Promise((early) => early(setTimeout(() => sink.commit(segment, answers), 500))).then(',
      ],
    }),
  });
  const violations = rounds.flatMap((round) => round.violations);
  assert.match(violations.join('\n'), /acknowledged certificates are lost/);
});

/** The damage that these bugs do to the books of their world stays. */
describe('the fuzzer finds', () => {
  let world: World;
  before(async () => {
    world = await World.start();
  });
  after(() => world.stop());
  const [runs, holds] = FUZZ_PROPERTIES['table'];
  const table = (numRuns: number) => fc.check(holds(world), { numRuns, endOnFailure: true });

  for (const [bug, plant] of Object.entries(PLANTS))
    it(bug, async () => {
      const undo = plant(world);
      const { failed, numRuns } = await table(3 * runs).finally(undo);
      assert.ok(failed, `not found in ${numRuns} cases`);
    });

  it('a quota that refused requests consume', async () => {
    const undo = UNRELEASED_QUOTA();
    await table(50).finally(undo);
    await assert.rejects(assertBooks(world), /the books of/);
  });
});
