import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCell, Meter, remainingRequests, resetAtUnixS, retryAfterS } from '../../src/account/meter.ts';
import { type Allowance, TIER_ALLOWANCES } from '../../src/account/tiers.ts';

const OCTOBER = 202_610;
const NOVEMBER = 202_611;
const DECEMBER = 202_612;

function meterOf(allowance: Allowance): Meter {
  return new Meter(createCell(allowance), allowance);
}

describe('the monthly quota', () => {
  it('is counted to the last request and begins anew with the month', () => {
    const meter = meterOf(TIER_ALLOWANCES.free);
    for (let i = 0; i < 1_000; i++) assert.ok(meter.reserveRequest(NOVEMBER));
    assert.ok(!meter.reserveRequest(NOVEMBER));
    assert.deepEqual(meter.used(NOVEMBER), { period: NOVEMBER, requests: 1_000, credits: 0 });
    assert.equal(meter.requestsRemaining(NOVEMBER), 0);
    assert.ok(meter.reserveRequest(DECEMBER));
    assert.equal(meter.requestsRemaining(DECEMBER), 999);
  });

  it('takes back what was not answered', () => {
    const meter = meterOf(TIER_ALLOWANCES.free);
    for (let i = 0; i < 1_000; i++) meter.reserveRequest(NOVEMBER);
    meter.releaseRequest(NOVEMBER);
    assert.ok(meter.reserveRequest(NOVEMBER));
    assert.ok(!meter.reserveRequest(NOVEMBER));
  });

  it('stays in the later month when the wall clock is set back', () => {
    const meter = meterOf(TIER_ALLOWANCES.free);
    for (let i = 0; i < 1_000; i++) meter.reserveRequest(NOVEMBER);
    assert.ok(!meter.reserveRequest(OCTOBER));
    assert.equal(meter.periodAt(OCTOBER), NOVEMBER);
    assert.equal(meter.used(OCTOBER).period, NOVEMBER);
  });

  it('takes nothing back for a month that is over', () => {
    const meter = meterOf(TIER_ALLOWANCES.pro);
    meter.reserveRequest(OCTOBER);
    meter.reserveCredits(100, OCTOBER);
    meter.reserveRequest(NOVEMBER);
    meter.reserveCredits(10, NOVEMBER);
    meter.releaseRequest(OCTOBER);
    meter.releaseCredits(100, OCTOBER);
    assert.deepEqual(meter.used(NOVEMBER), { period: NOVEMBER, requests: 1, credits: 10 });
  });

  it('goes on from the books', () => {
    const meter = meterOf(TIER_ALLOWANCES.pro);
    meter.load({ accountNumber: 1, period: NOVEMBER, requests: 499_999, credits: 10_000 });
    assert.ok(meter.reserveRequest(NOVEMBER));
    assert.ok(!meter.reserveRequest(NOVEMBER));
    assert.equal(meter.creditsRemaining(NOVEMBER), 240);
    meter.load({ accountNumber: 1, period: OCTOBER, requests: 3, credits: 3 });
    assert.equal(meter.used(NOVEMBER).requests, 500_000, 'an earlier month is no news');
  });
});

describe('credits', () => {
  it('are spent whole or not at all', () => {
    const meter = meterOf(TIER_ALLOWANCES.pro);
    assert.deepEqual({ ...meter.reserveCredits(10_000, NOVEMBER) }, { ok: true, remaining: 240 });
    assert.deepEqual({ ...meter.reserveCredits(241, NOVEMBER) }, { ok: false, remaining: 240 });
    assert.deepEqual({ ...meter.reserveCredits(240, NOVEMBER) }, { ok: true, remaining: 0 });
    assert.deepEqual({ ...meter.reserveCredits(1, NOVEMBER) }, { ok: false, remaining: 0 });
    meter.releaseCredits(240, NOVEMBER);
    assert.equal(meter.creditsRemaining(NOVEMBER), 240);
  });

  it('are unlimited for Enterprise, and counted all the same', () => {
    const meter = meterOf(TIER_ALLOWANCES.enterprise);
    assert.deepEqual(
      { ...meter.reserveCredits(1e9, NOVEMBER) },
      { ok: true, remaining: Number.POSITIVE_INFINITY },
    );
    assert.equal(meter.used(NOVEMBER).credits, 1e9);
  });

  it('are whole bytes', () => {
    const meter = meterOf(TIER_ALLOWANCES.pro);
    assert.throws(() => meter.reserveCredits(-1, NOVEMBER), /whole bytes/);
    assert.throws(() => meter.reserveCredits(0.5, NOVEMBER), /whole bytes/);
    assert.equal(meter.used(NOVEMBER).credits, 0);
  });

  it('below what is used, after a smaller allowance, leave none and not less', () => {
    const meter = meterOf(TIER_ALLOWANCES.business);
    meter.reserveCredits(50_000, NOVEMBER);
    meter.configure(TIER_ALLOWANCES.pro);
    assert.equal(meter.creditsRemaining(NOVEMBER), 0);
    assert.deepEqual({ ...meter.reserveCredits(1, NOVEMBER) }, { ok: false, remaining: 0 });
  });
});

describe('the rate limit of a meter', () => {
  it('becomes the header fields', () => {
    const meter = meterOf(TIER_ALLOWANCES.free);
    const wallMs = 1_700_000_000_400;
    assert.equal(remainingRequests(meter.admit(5_000)), 14);
    // one request in the bucket: 6 s until it is empty, 60 s until it has left the window
    assert.equal(resetAtUnixS(meter.peek(5_000), wallMs), 1_700_000_061);
    for (let i = 0; i < 14; i++) meter.admit(5_000);
    const refused = meter.admit(5_500);
    assert.equal(refused.allowed, false);
    assert.equal(remainingRequests(refused), 0);
    assert.equal(retryAfterS(refused), 60); // 59.5 s until the window is free
    assert.equal(resetAtUnixS(refused, wallMs), 1_700_000_000 + 90); // 400 ms + 89.5 s, rounded up
    assert.equal(retryAfterS({ ...refused, retryAfterMs: 1 }), 1);
  });

  it('has no number to tell without a limit', () => {
    const meter = meterOf(TIER_ALLOWANCES.enterprise);
    const decision = meter.admit(5_000);
    assert.equal(remainingRequests(decision), null);
    assert.equal(resetAtUnixS(decision, 1_700_000_000_000), 1_700_000_000);
  });

  it('follows the account to another tier', () => {
    const meter = meterOf(TIER_ALLOWANCES.free);
    for (let i = 0; i < 15; i++) assert.ok(meter.admit(1_000).allowed);
    assert.ok(!meter.admit(1_000).allowed);
    meter.configure(TIER_ALLOWANCES.business);
    assert.equal(meter.admit(1_000).remaining, 3_000 - 16);
    meter.configure(TIER_ALLOWANCES.free);
    assert.equal(meter.peek(1_000).remaining, 0);
    meter.configure(TIER_ALLOWANCES.enterprise);
    assert.ok(meter.admit(1_000).allowed);
  });

  it('is no fresher after a restart, whatever the two clocks show', () => {
    const meter = meterOf(TIER_ALLOWANCES.free);
    for (let i = 0; i < 12; i++) meter.admit(1_000_000 + i * 0.25);
    const wallMs = 1_700_000_000_000;
    const saved = meter.snapshot(7, wallMs, 1_000_003)!;
    assert.equal(saved.accountNumber, 7);
    assert.equal(saved.admittedAtMs.length, 12);
    assert.ok(saved.admittedAtMs.every((at) => Number.isInteger(at) && at <= wallMs));
    const restarted = meterOf(TIER_ALLOWANCES.free);
    restarted.restore(saved, wallMs + 6_000, 20);
    assert.equal(restarted.peek(20).remaining, 3, 'the window still holds all twelve');
    assert.equal(restarted.peek(54_100).remaining, 13, 'they have left it, the bucket holds two');
    const setBack = meterOf(TIER_ALLOWANCES.free);
    setBack.restore(saved, wallMs - 86_400_000, 20);
    assert.equal(setBack.peek(20).remaining, 0);
    assert.equal(setBack.peek(90_020).remaining, 15);
  });

  it('writes nothing down when the full burst is there', () => {
    const meter = meterOf(TIER_ALLOWANCES.free);
    assert.equal(meter.snapshot(1, 1_700_000_000_000, 1_000), undefined);
    meter.admit(1_000);
    assert.notEqual(meter.snapshot(1, 1_700_000_000_000, 1_000), undefined);
    assert.equal(meter.snapshot(1, 1_700_000_060_000, 61_000), undefined);
  });

  it('a snapshot leaves the state as it is', () => {
    const meter = meterOf(TIER_ALLOWANCES.free);
    meter.admit(1_000);
    meter.snapshot(1, 1_700_000_000_000, 50_000);
    assert.equal(meter.peek(1_000).remaining, 14);
  });
});
