import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Chance } from '../../support/chance.ts';
import { crashRounds } from './crash-rounds.ts';

/** The short form of `node test/adversary/crash/run.ts`. */
it('kill -9 at any moment loses nothing acknowledged, overspends nothing, delivers nothing twice', async () => {
  const rounds = await crashRounds({ rounds: 2, chance: new Chance('two rounds fsync') });
  assert.deepEqual(
    rounds.flatMap(({ violations }) => violations),
    [],
  );
  assert.equal(rounds.length, 2);
  assert.ok(rounds.some(({ acknowledged }) => acknowledged > 0));
});
