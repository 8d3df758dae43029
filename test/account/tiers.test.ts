import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allowanceOf, burstOf, seededTier, TIER_ALLOWANCES, tiersWith } from '../../src/account/tiers.ts';
import { ENTROPY_MODES, TIERS, type Tier } from '../../src/core/vocabulary.ts';
import { account } from '../support/ledger-records.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const unlimited = Number.MAX_SAFE_INTEGER;

// specification, Limits: rate limits per tier, monthly credits, seed refresh intervals
const SPECIFIED: readonly [Tier, number, number, number, number, number | null][] = [
  // tier, per minute, per month, burst, credits, seed interval
  ['free', 10, 1_000, 15, 0, null],
  ['developer', 100, 50_000, 150, 0, 6 * HOUR_MS],
  ['pro', 500, 500_000, 750, 10_240, HOUR_MS],
  ['business', 2_000, 5_000_000, 3_000, 102_400, 15 * MINUTE_MS],
  ['enterprise', unlimited, unlimited, unlimited, unlimited, 5 * MINUTE_MS],
];

describe('tiers', () => {
  it('allow what the specification says', () => {
    const allowed = TIERS.map((tier) => {
      const { requestsPerMinute, requestsPerMonth, creditsPerMonth, seedIntervalMs } = TIER_ALLOWANCES[tier];
      assert.equal(seededTier(tier) !== undefined, seedIntervalMs !== null);
      return [
        ...[tier, requestsPerMinute, requestsPerMonth, burstOf(requestsPerMinute)],
        ...[creditsPerMonth, seedIntervalMs],
      ];
    });
    assert.deepEqual(allowed, SPECIFIED);
  });

  it('have the modes of the specification', () => {
    assert.deepEqual(tiersWith('quantum-seeded'), ['developer', 'pro', 'business', 'enterprise']);
    assert.deepEqual(tiersWith('pure'), ['pro', 'business', 'enterprise']);
    assert.deepEqual(tiersWith('csprng'), [...TIERS]);
    assert.equal(ENTROPY_MODES.length, 3);
  });

  it('never choose pure by default, and choose a mode they have', () => {
    for (const { defaultMode, modes } of Object.values(TIER_ALLOWANCES)) {
      assert.notEqual(defaultMode, 'pure');
      assert.ok(modes.includes(defaultMode));
    }
    assert.equal(TIER_ALLOWANCES.free.defaultMode, 'csprng');
  });

  it('are replaced by the figures of an Enterprise account, one by one', () => {
    const overrides = {
      requestsPerMinute: 7,
      requestsPerMonth: null,
      creditsPerMonth: 0,
      seedIntervalMs: 60_000,
    };
    const allowance = allowanceOf({ ...account(1, { tier: 'enterprise', overrides }), number: 1 });
    assert.equal(allowance.requestsPerMinute, 7);
    assert.equal(allowance.requestsPerMonth, unlimited);
    assert.equal(allowance.creditsPerMonth, 0);
    assert.equal(allowance.seedIntervalMs, 60_000);
  });
});
