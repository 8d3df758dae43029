// `node test/adversary/fuzz/run.ts [--seed N] [--runs M] [--property NAME] [--path PATH]`: the long form of grammar.test.ts.
// Without a seed each round has one of its own, which is printed; `--path` replays one case.

import { randomInt } from 'node:crypto';
import { NOT_GIVEN, readOptions, say } from '../program.ts';
import { bookFailure, FUZZ_PROPERTIES, tryProperty } from './properties.ts';
import { World } from './world.ts';

const {
  seed,
  runs,
  property: wanted,
  path,
} = readOptions({
  seed: randomInt(2 ** 31),
  runs: 20_000,
  property: NOT_GIVEN,
  path: '',
});
const chosen = FUZZ_PROPERTIES.filter(({ name }) => wanted === undefined || name === wanted);
if (chosen.length === 0)
  throw new Error(`no property ${wanted}; there are ${FUZZ_PROPERTIES.map(({ name }) => name).join(', ')}`);

const world = await World.start();
try {
  for (const property of chosen) {
    const { name, cases, failure } = await tryProperty(world, property, seed, runs, { path });
    say(`${name}: ${cases} cases with seed ${seed}: ${failure ?? 'held'}`);
    if (failure !== undefined) process.exitCode = 1;
  }
  const seen = [...world.outcomes].sort(([, one], [, other]) => other - one);
  say(`outcomes: ${seen.map(([outcome, count]) => `${outcome} ${count}`).join(', ')}`);
  const wrong = await bookFailure(world);
  say(`the books: ${wrong ?? 'agree'}`);
  if (wrong !== undefined) process.exitCode = 1;
} finally {
  await world.stop();
}
