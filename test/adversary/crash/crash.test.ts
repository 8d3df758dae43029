import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Chance } from '../../support/chance.ts';
import { crashRounds } from './crash-rounds.ts';

/** The short form of `node test/adversary/crash/run.ts`. */
describe('kill -9 at any moment', () => {
  for (const durability of ['fsync', 'commit']) {
    it(`loses nothing acknowledged, overspends nothing, delivers nothing twice (${durability})`, async () => {
      const rounds = await crashRounds({
        rounds: 2,
        chance: new Chance(`two rounds ${durability}`),
        environment: { QRN_DURABILITY: durability },
      });
      assert.deepEqual(
        rounds.flatMap(({ violations }) => violations),
        [],
      );
      assert.equal(rounds.length, 2);
      assert.ok(rounds.some(({ acknowledged }) => acknowledged > 0));
    });
  }

  it('finds answers that are sent before the commit (a planted bug)', async () => {
    const plant = new URL('./plant-early-answer.ts', import.meta.url).href;
    const rounds = await crashRounds({
      rounds: 5,
      chance: new Chance('planted'),
      environment: { NODE_OPTIONS: `--import=${plant}` },
    });
    const violations = rounds.flatMap((round) => round.violations);
    assert.match(violations.join('\n'), /acknowledged certificates are lost/);
  });
});
