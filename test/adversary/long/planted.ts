import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { planted } from '../../mutants/plant.ts';
import { Chance } from '../../support/chance.ts';
import { crashRounds } from '../crash/crash-rounds.ts';
import { PLANTS, UNRELEASED_QUOTA } from '../fuzz/plants.ts';
import { bookFailure, FUZZ_PROPERTIES, tryProperty } from '../fuzz/properties.ts';
import { World } from '../fuzz/world.ts';

/** The instruments can fail: each finds the bugs that are planted for it. */
const SEED = 20_261_122;

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
  const propertyOf = (name: string) => FUZZ_PROPERTIES.find((each) => each.name === name)!;

  for (const { bug, foundBy, plant } of PLANTS) {
    it(bug, async () => {
      const property = propertyOf(foundBy);
      const undo = plant(world);
      try {
        const runs = 3 * property.runs;
        const found = await tryProperty(world, property, SEED, runs, { stopsAtFirst: true });
        assert.ok(found.failure, `not found in ${runs} cases`);
      } finally {
        undo();
      }
    });
  }

  it('a quota that refused requests consume', async () => {
    const undo = UNRELEASED_QUOTA();
    try {
      await tryProperty(world, propertyOf('table'), SEED + 1, 50, { stopsAtFirst: true });
      assert.match((await bookFailure(world)) ?? '', /the books of/);
    } finally {
      undo();
    }
  });
});
