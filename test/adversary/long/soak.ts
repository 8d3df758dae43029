import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { soak } from '../soak/soak.ts';

/** The short form of `node test/adversary/soak/run.ts`: everything that the long one does, and no judgement of times. */
describe('a mixed load with a revoked key, an outage and a kill', () => {
  it('leaves exact books', async () => {
    const outcome = await soak({
      seconds: 7,
      ratePerS: 150,
      simSeed: 1,
      events: [
        [0.05, 'revoke a key'],
        [0.1, 'source down'],
        [0.6, 'source sound'],
        [0.6, 'SIGKILL'],
      ],
    });
    assert.deepEqual(outcome.violations, []);
    const { ledger, acknowledged, restarts, windows } = outcome;
    assert.ok(acknowledged > 100, `${acknowledged} answers`);
    assert.ok(ledger.entries >= acknowledged && ledger.entries <= acknowledged + outcome.unknown);
    assert.ok(ledger.creditsBooked >= outcome.creditsAcknowledged && outcome.creditsAcknowledged > 0);
    assert.ok(outcome.verified > 0, 'certificates were verified');
    assert.deepEqual(restarts, { sigterm: 1, sigkill: 1 });
    assert.equal(outcome.keysRevoked, 1);
    assert.ok(ledger.seeds >= 2, 'seeds were refreshed');
    assert.ok(windows.length >= 1);
  });
});
