import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCell, Meter, resetAtUnixS, retryAfterS } from '../../src/account/meter.ts';
import { requireRequest } from '../../src/account/reservation.ts';
import { type Allowance, TIER_ALLOWANCES, UNLIMITED } from '../../src/account/tiers.ts';
import type { ApiError } from '../../src/core/errors.ts';

const OCTOBER = 202_610;
const NOVEMBER = 202_611;
const DECEMBER = 202_612;

function meterOf(allowance: Allowance): Meter {
  return new Meter(createCell(allowance), allowance);
}

/** The tier's month without its rate. */
function monthOf(tier: keyof typeof TIER_ALLOWANCES): Meter {
  return meterOf({ ...TIER_ALLOWANCES[tier], requestsPerMinute: Number.POSITIVE_INFINITY });
}

const enter = (meter: Meter, period: number) => meter.enter(1_000, period);

describe('the monthly quota', () => {
  it('is counted to the last request and begins anew with the month', () => {
    const meter = monthOf('free');
    for (let i = 0; i < 1_000; i++) assert.ok(enter(meter, NOVEMBER).hasRequest);
    assert.ok(!enter(meter, NOVEMBER).hasRequest);
    assert.deepEqual(meter.used(NOVEMBER), { period: NOVEMBER, requests: 1_000, credits: 0 });
    assert.equal(meter.left(NOVEMBER).requests, 0);
    assert.ok(enter(meter, DECEMBER).hasRequest);
    assert.equal(meter.left(DECEMBER).requests, 999);
  });

  it('has one ceiling for all threads, also once it was changed', () => {
    const cell = createCell(TIER_ALLOWANCES.free);
    const meters = [new Meter(cell, TIER_ALLOWANCES.free), new Meter(cell, TIER_ALLOWANCES.free)];
    const left = () => meters.map((meter) => [meter.left(NOVEMBER).requests, meter.left(NOVEMBER).credits]);
    const { free, developer } = TIER_ALLOWANCES;
    const ceilings = ({ requestsPerMonth, creditsPerMonth }: Allowance) => [
      requestsPerMonth,
      creditsPerMonth,
    ];
    assert.deepEqual(left(), [ceilings(free), ceilings(free)]);
    meters[0].configure(developer);
    assert.deepEqual(left(), [ceilings(developer), ceilings(developer)]);
    meters[1].configure({ ...free, requestsPerMonth: 0 });
    assert.ok(!enter(meters[0], NOVEMBER).hasRequest);
  });

  it('gets back a request that was not answered, once', () => {
    const meter = monthOf('free');
    const last = Array.from({ length: 1_000 }, () => enter(meter, NOVEMBER)).at(-1)!;
    last.release();
    last.release();
    assert.ok(enter(meter, NOVEMBER).hasRequest);
    assert.ok(!enter(meter, NOVEMBER).hasRequest);
  });

  it('gets nothing back from a request that held nothing', () => {
    const meter = monthOf('free');
    for (let i = 0; i < 1_000; i++) enter(meter, NOVEMBER);
    enter(meter, NOVEMBER).release();
    assert.equal(meter.used(NOVEMBER).requests, 1_000);
  });

  it('is not charged for a request that the rate limit refuses', () => {
    const meter = meterOf(TIER_ALLOWANCES.free);
    for (let i = 0; i < 15; i++) assert.ok(enter(meter, NOVEMBER).isAllowed);
    const refused = enter(meter, DECEMBER);
    assert.deepEqual([refused.isAllowed, refused.hasRequest], [false, false]);
    assert.equal(meter.decision.allowed, false);
    refused.release();
    assert.equal(meter.used(NOVEMBER).requests, 15, 'nor does it begin a month');
  });

  it('stays in the later month when the wall clock is set back', () => {
    const meter = monthOf('free');
    for (let i = 0; i < 1_000; i++) enter(meter, NOVEMBER);
    const reservation = enter(meter, OCTOBER);
    assert.deepEqual([reservation.hasRequest, reservation.period], [false, NOVEMBER]);
    assert.equal(meter.left(OCTOBER).period, NOVEMBER);
    assert.equal(meter.used(OCTOBER).period, NOVEMBER);
  });

  it('takes nothing back for a month that is over', () => {
    const meter = monthOf('pro');
    const october = enter(meter, OCTOBER);
    october.takeCredits(100);
    enter(meter, NOVEMBER).takeCredits(10);
    october.release();
    assert.deepEqual(meter.used(NOVEMBER), { period: NOVEMBER, requests: 1, credits: 10 });
  });

  it('counts a request that waited over the end of its month in the month in which its credits are taken', () => {
    const meter = monthOf('pro');
    const waited = enter(meter, OCTOBER);
    enter(meter, NOVEMBER);
    waited.takeCredits(100);
    assert.equal(waited.period, NOVEMBER);
    assert.deepEqual(meter.used(NOVEMBER), { period: NOVEMBER, requests: 2, credits: 100 });
    waited.release();
    assert.deepEqual(meter.used(NOVEMBER), { period: NOVEMBER, requests: 1, credits: 0 });
  });

  it('counts a request in the month of its answer, also when that begins with it', () => {
    const meter = monthOf('pro');
    const [first, second] = [enter(meter, OCTOBER), enter(meter, OCTOBER)];
    assert.ok(first.takeCredits(100) && second.takeCredits(10));
    first.countIn(NOVEMBER);
    assert.deepEqual(meter.used(NOVEMBER), { period: NOVEMBER, requests: 1, credits: 100 });
    second.countIn(OCTOBER);
    second.release();
    assert.deepEqual(
      meter.used(NOVEMBER),
      { period: NOVEMBER, requests: 1, credits: 100 },
      'its month is over',
    );
    first.release();
    assert.deepEqual(meter.used(NOVEMBER), { period: NOVEMBER, requests: 0, credits: 0 });
  });

  it('goes on from the books', () => {
    const meter = monthOf('pro');
    meter.load({ accountNumber: 1, period: NOVEMBER, requests: 499_999, credits: 10_000 });
    assert.ok(enter(meter, NOVEMBER).hasRequest);
    const last = enter(meter, NOVEMBER);
    assert.deepEqual([last.hasRequest, last.creditsRemaining], [false, 240]);
    assert.equal(meter.left(NOVEMBER).credits, 240);
    meter.load({ accountNumber: 1, period: OCTOBER, requests: 3, credits: 3 });
    assert.equal(meter.used(NOVEMBER).requests, 500_000, 'an earlier month is no news');
  });
});

describe('credits', () => {
  /** Whether a new request gets these credits, and what is left then. */
  const take = (meter: Meter, credits: number) => {
    const reservation = enter(meter, NOVEMBER);
    return [reservation.takeCredits(credits), reservation.creditsRemaining];
  };

  it('are spent whole or not at all', () => {
    const meter = monthOf('pro');
    assert.deepEqual(take(meter, 10_000), [true, 240]);
    assert.deepEqual(take(meter, 241), [false, 240]);
    const all = enter(meter, NOVEMBER);
    assert.ok(all.takeCredits(240));
    assert.equal(all.creditsRemaining, 0);
    assert.deepEqual(take(meter, 1), [false, 0]);
    all.release();
    assert.equal(all.creditsRemaining, 240);
    assert.equal(meter.left(NOVEMBER).credits, 240);
  });

  it('of a request beyond the quota are given back too, to the last', () => {
    const meter = monthOf('pro');
    meter.load({ accountNumber: 1, period: NOVEMBER, requests: 500_000, credits: 0 });
    const beyond = enter(meter, NOVEMBER);
    assert.deepEqual([beyond.hasRequest, beyond.takeCredits(1)], [false, true]);
    beyond.release();
    assert.deepEqual(meter.used(NOVEMBER), { period: NOVEMBER, requests: 500_000, credits: 0 });
  });

  it('are taken once a request', () => {
    const reservation = enter(monthOf('pro'), NOVEMBER);
    reservation.takeCredits(10);
    assert.throws(() => reservation.takeCredits(10), /credits once/);
  });

  it('are unlimited for Enterprise, and counted all the same', () => {
    const meter = meterOf(TIER_ALLOWANCES.enterprise);
    assert.deepEqual(take(meter, 1e9), [true, UNLIMITED - 1e9]);
    assert.equal(meter.used(NOVEMBER).credits, 1e9);
  });

  it('are whole bytes', () => {
    const meter = monthOf('pro');
    assert.throws(() => take(meter, -1), /whole bytes/);
    assert.throws(() => take(meter, 0.5), /whole bytes/);
    assert.equal(meter.used(NOVEMBER).credits, 0);
  });

  it('leave none, and not less, when a smaller allowance is below what is used', () => {
    const meter = monthOf('business');
    take(meter, 50_000);
    meter.configure({ ...TIER_ALLOWANCES.pro, requestsPerMinute: Number.POSITIVE_INFINITY });
    assert.equal(meter.left(NOVEMBER).credits, 0);
    assert.deepEqual(take(meter, 1), [false, 0]);
  });
});

describe('a meter that nodes share', () => {
  /** Holds nothing yet, and knows what nobody was granted. */
  function sharing(requestsLeft: number, creditsLeft: number, requestsUnused = 0): Meter {
    const allowance = { ...TIER_ALLOWANCES.pro, requestsPerMinute: UNLIMITED };
    const meter = new Meter(createCell(allowance, true), allowance);
    const granted = { requestsGranted: 0, creditsGranted: 0, requestsUnused };
    meter.grant({ period: NOVEMBER, requestsLeft, creditsLeft, ...granted });
    return meter;
  }

  it('asks for the last request that nobody was granted, and for none beyond it', () => {
    assert.equal(enter(sharing(1, 0), NOVEMBER).mustAsk, true);
    const { mustAsk, hasRequest } = enter(sharing(0, 0), NOVEMBER);
    assert.deepEqual([mustAsk, hasRequest], [false, false]);
  });

  it('looks again after a refusal, and not after what it may ask for', () => {
    const meter = sharing(0, 10);
    const before = meter.activity;
    const may = enter(meter, NOVEMBER);
    const refusedRequest = meter.activity - before;
    assert.deepEqual([may.takeCredits(10), may.mustAsk], [false, true]);
    assert.equal(meter.activity - before, refusedRequest, 'it is to be asked for');
    const never = enter(meter, NOVEMBER);
    assert.deepEqual([never.takeCredits(11), never.mustAsk], [false, false]);
    assert.equal(meter.activity - before, 2 * refusedRequest + 1);
  });

  it('says when a refused request may be possible: soon where another node holds some unused, else next month', () => {
    const atMs = Date.UTC(2026, 10, 30, 23, 59);
    const retryAfterS = (meter: Meter) => {
      try {
        requireRequest(enter(meter, NOVEMBER), atMs);
      } catch (error) {
        return (error as ApiError).facts.retryAfterS;
      }
      return undefined;
    };
    assert.equal(retryAfterS(sharing(0, 0, 50)), 3);
    assert.equal(retryAfterS(sharing(0, 0, 0)), 60);
  });

  it('counts what others hold unused as left, and what it holds itself once', () => {
    const meter = sharing(0, 0, 50);
    assert.equal(meter.left(NOVEMBER).requests, 50);
    meter.grant({
      period: NOVEMBER,
      requestsGranted: 20,
      creditsGranted: 0,
      requestsLeft: 5,
      creditsLeft: 0,
      requestsUnused: 50,
    });
    assert.equal(meter.left(NOVEMBER).requests, 55);
    enter(meter, NOVEMBER);
    assert.equal(meter.left(NOVEMBER).requests, 54);
  });
});

describe('the rate limit of a meter', () => {
  it('becomes the header fields', () => {
    const meter = meterOf(TIER_ALLOWANCES.free);
    const wallMs = 1_700_000_000_400;
    assert.equal(meter.admit(5_000).remaining, 14);
    // one request in the bucket: 6 s until it is empty, 60 s until it has left the window
    assert.equal(resetAtUnixS(meter.peek(5_000), wallMs), 1_700_000_061);
    for (let i = 0; i < 14; i++) meter.admit(5_000);
    const refused = meter.admit(5_500);
    assert.equal(refused.allowed, false);
    assert.equal(refused.remaining, 0);
    assert.equal(retryAfterS(refused), 60); // 59.5 s until the window is free
    assert.equal(resetAtUnixS(refused, wallMs), 1_700_000_000 + 90); // 400 ms + 89.5 s, rounded up
    assert.equal(retryAfterS({ ...refused, retryAfterMs: 1 }), 1);
  });

  it('is the largest safe integer without a limit', () => {
    const meter = meterOf(TIER_ALLOWANCES.enterprise);
    const decision = meter.admit(5_000);
    assert.equal(decision.remaining, UNLIMITED);
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

describe('the rate of an account that nodes share', () => {
  it('is divided by the nodes that live, for every thread, and whole again when the others are gone', () => {
    const cell = createCell(TIER_ALLOWANCES.free, true);
    const [meter, other] = [1, 2].map(() => new Meter(cell, TIER_ALLOWANCES.free));
    meter.divideRate(3);
    const admitted = () => {
      let count = 0;
      while (other.admit(0).allowed) count++;
      return count;
    };
    assert.equal(admitted(), 5, 'a third of the burst of 15');
    assert.equal(other.peek(0).retryAfterMs, 60_000, 'the window of a minute');
    assert.deepEqual(meter.limit, { requestsPerMinute: 10, burst: 15 });
    meter.divideRate(1);
    assert.equal(admitted(), 10);
  });

  it('lets one request through on each node at least', () => {
    const meter = new Meter(createCell(TIER_ALLOWANCES.free, true), TIER_ALLOWANCES.free);
    meter.divideRate(100);
    assert.equal(meter.admit(0).allowed, true);
    assert.equal(meter.admit(0).allowed, false);
  });
});
