import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Chance } from '../../support/chance.ts';
import { crashRounds } from './crash-rounds.ts';

/** The short form of `node test/adversary/crash/run.ts`. */
for (const durability of ['fsync', 'commit']) {
  it(`${durability}: kill -9 at any moment loses nothing acknowledged, overspends nothing, delivers nothing twice`, async () => {
    const environment = { QRN_DURABILITY: durability };
    const rounds = await crashRounds({
      rounds: 1,
      chance: new Chance(`a round of ${durability}`),
      environment,
    });
    assert.deepEqual(
      rounds.flatMap(({ violations }) => violations),
      [],
    );
    assert.ok(rounds[0].acknowledged > 0);
  });
}
