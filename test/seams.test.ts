import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { it } from 'node:test';
import { ROOMS, reachOfTests, roomOf } from './seams.ts';
import { reachedFrom } from './support/import-graph.ts';

const BELOW_SHARE_MAX = 1 / 3;

it('every room has promises, and test suites that load it', () => {
  const rooms = new Set(globSync('src/**/*.ts').map(roomOf));
  assert.deepEqual(Object.keys(ROOMS).sort(), [...rooms].filter((room) => room !== 'main').sort());
  const wrong = Object.entries(ROOMS).flatMap(([room, promises]) =>
    promises
      .flatMap(([, ...suites]) => suites)
      .filter(
        (suite) =>
          !existsSync(suite) || ![...reachedFrom(suite).keys()].some((each) => roomOf(each) === room),
      )
      .map((suite) => `${suite} does not load ${room}`),
  );
  assert.deepEqual(wrong, []);
});

it('at most a third of the lines of tests know more of a room than other rooms do', (t) => {
  const folders = [...reachOfTests()].sort(([, one], [, other]) => other.below - one.below);
  const [lines, below] = (['lines', 'below'] as const).map((name) =>
    folders.reduce((sum, [, reach]) => sum + reach[name], 0),
  );
  const shown = folders.map(([folder, reach]) => `${folder} ${reach.below} of ${reach.lines}`).join(', ');
  const share = `${below} of ${lines} lines (${((100 * below) / lines).toFixed(1)} %): ${shown}`;
  t.diagnostic(share);
  assert.ok(below <= BELOW_SHARE_MAX * lines, share);
});
