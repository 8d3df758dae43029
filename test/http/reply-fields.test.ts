import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { admit, newDecision, rateLimitOf, rateWords } from '../../src/account/rate.ts';
import { UNLIMITED } from '../../src/account/tiers.ts';
import { rateFacts, rateFields } from '../../src/http/reply-fields.ts';

const POLICY = /^"burst";q=(\d+);w=(\d+), "sustained";q=(\d+);w=(\d+)$/;
const STANDING = /^"burst";r=(\d+);t=(\d+)$/;

describe('the RateLimit fields', () => {
  it('never promise more than their policy, whatever was requested when (property)', () => {
    const gapsMs = fc.array(fc.oneof(fc.constant(0), fc.nat(2_000), fc.nat(100_000)), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 600 }), gapsMs, (requestsPerMinute, gaps) => {
        const limit = rateLimitOf(requestsPerMinute);
        const state = new Float64Array(rateWords(64));
        const decision = newDecision();
        let nowMs = 1_000;
        for (const gapMs of gaps) {
          nowMs += gapMs;
          admit(state, nowMs, limit, decision);
          const fields = new Map(rateFields(rateFacts(decision, limit, nowMs, true)));
          const [, quota, windowS] = POLICY.exec(fields.get('RateLimit-Policy')!)!.map(Number);
          const [, left, untilFullS] = STANDING.exec(fields.get('RateLimit')!)!.map(Number);
          assert.equal(quota, limit.burst);
          assert.ok(left <= quota && untilFullS <= windowS, `${fields.get('RateLimit')} in ${windowS} s`);
          assert.equal(left === quota, untilFullS === 0);
        }
      }),
      { numRuns: 200 },
    );
    const { resetAfterS } = rateFacts({ ...newDecision(), resetAfterMs: 1_001 }, rateLimitOf(1), 0, true);
    assert.equal(resetAfterS, 2, 'whole seconds, rounded up');
  });

  it('have two policies, and a client that obeys either is never refused', () => {
    for (const requestsPerMinute of [1, 3, 10, 100, 500]) {
      const limit = rateLimitOf(requestsPerMinute);
      const policy = POLICY.exec(rateFacts(newDecision(), limit, 0, true).policy!)!
        .slice(1)
        .map(Number);
      assert.deepEqual(policy.slice(2), [requestsPerMinute, 60]);
      for (const [quota, windowS] of [policy.slice(0, 2), policy.slice(2)]) {
        const decision = newDecision();
        const state = new Float64Array(rateWords(1_024));
        for (let window = 1; window <= 20; window++) {
          for (let i = 0; i < quota; i++) {
            admit(state, window * windowS * 1000, limit, decision);
            assert.ok(decision.allowed, `request ${i} of window ${window} at ${requestsPerMinute} a minute`);
          }
        }
      }
    }
  });

  it('are left out for an account without a limit, and when they are turned off', () => {
    const names = (requestsPerMinute: number, draftFields: boolean) => {
      const limit = rateLimitOf(requestsPerMinute);
      return rateFields(rateFacts(newDecision(), limit, 0, draftFields)).map(([name]) => name);
    };
    const plain = ['X-RateLimit-Remaining', 'X-RateLimit-Reset'];
    assert.deepEqual(names(UNLIMITED, true), plain);
    assert.deepEqual(names(10, false), plain);
    assert.deepEqual(names(10, true), [...plain, 'RateLimit-Policy', 'RateLimit']);
  });
});
