import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { freshDatabase, socketOf } from '../../support/postgres.ts';
import type { DatabasePlace } from './cluster.ts';
import { series } from './rounds.ts';

/** On the server that the tests bring: no standby, and it stays alive. */
async function testDatabase(): Promise<DatabasePlace> {
  const url = await freshDatabase();
  const { pathname } = new URL(url);
  return {
    url,
    target: socketOf(url),
    throughPort: (port) => `postgres://qrn@127.0.0.1:${port}${pathname}`,
  };
}

/** The short form of `node test/adversary/cluster/run.ts`. */
describe('two nodes on PostgreSQL', () => {
  it('lose nothing acknowledged, overspend nothing and fork no log when one is cut off and fenced, and one is killed', async () => {
    const outcome = await series({
      database: await testDatabase(),
      nodes: 2,
      totals: { requests: 100_000, credits: 1_000_000 },
      faults: ['partition of a node that is fenced'],
      clients: 4,
      pauseMs: 200,
    });
    assert.deepEqual(outcome.violations, [], outcome.output);
    assert.ok(outcome.acknowledged > 0 && outcome.leaves >= outcome.acknowledged);
    assert.equal(outcome.starts, 3);
  });
});
