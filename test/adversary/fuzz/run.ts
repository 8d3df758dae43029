// `node test/adversary/fuzz/run.ts [--seed N] [--runs M] [--property NAME] [--path PATH]`: the long form of grammar.test.ts.
// Without a seed each round has one of its own, which is printed; `--path` replays one case.

import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { bookFailure, FUZZ_PROPERTIES, tryProperty } from './properties.ts';
import { World } from './world.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    runs: { type: 'string', default: '20000' },
    property: { type: 'string' },
    path: { type: 'string' },
  },
});
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
const runs = Number(values.runs);
const chosen = FUZZ_PROPERTIES.filter(
  ({ name }) => values.property === undefined || name === values.property,
);
if (chosen.length === 0)
  throw new Error(
    `no property ${values.property}; there are ${FUZZ_PROPERTIES.map(({ name }) => name).join(', ')}`,
  );

const world = await World.start();
try {
  for (const property of chosen) {
    const { name, cases, failure } = await tryProperty(world, property, seed, runs, {
      path: values.path ?? '',
    });
    process.stdout.write(`${name}: ${cases} cases with seed ${seed}: ${failure ?? 'held'}\n`);
    if (failure !== undefined) process.exitCode = 1;
  }
  const seen = [...world.outcomes].sort(([, one], [, other]) => other - one);
  process.stdout.write(`outcomes: ${seen.map(([outcome, count]) => `${outcome} ${count}`).join(', ')}\n`);
  const wrong = await bookFailure(world);
  process.stdout.write(`the books: ${wrong ?? 'agree'}\n`);
  if (wrong !== undefined) process.exitCode = 1;
} finally {
  await world.stop();
}
