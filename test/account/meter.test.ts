import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createCell, Meter, resetAtUnixS, retryAfterS } from '../../src/account/meter.ts';
import { type Reservation, requireRequest } from '../../src/account/reservation.ts';
import { type Allowance, TIER_ALLOWANCES, UNLIMITED } from '../../src/account/tiers.ts';
import type { ApiError } from '../../src/core/errors.ts';

const OCTOBER = 202_610;
const NOVEMBER = 202_611;
const DECEMBER = 202_612;

function meterOf(allowance: Allowance): Meter {
  return new Meter(createCell(allowance));
}

const enter = (meter: Meter, period: number) => meter.enter(1_000, period);

interface Charge {
  readonly reservation: Reservation;
  period: number;
  requests: number;
  credits: number;
  hasTaken: boolean;
}

/**
 * A month by its definition: its balance in the books, and the charges that are counted in it and were not given back.
 */
class PlainMonth {
  period = 0;
  loaded = { requests: 0, credits: 0 };
  allowance: Allowance;
  readonly charges: Charge[] = [];

  constructor(allowance: Allowance) {
    this.allowance = allowance;
  }

  used() {
    const counted = this.charges.filter(({ period }) => period === this.period);
    const sumOf = (what: 'requests' | 'credits') =>
      counted.reduce((sum, each) => sum + each[what], this.loaded[what]);
    return { period: this.period, requests: sumOf('requests'), credits: sumOf('credits') };
  }

  left() {
    const { requests, credits } = this.used();
    const { requestsPerMonth, creditsPerMonth } = this.allowance;
    return {
      period: this.period,
      requests: Math.max(0, requestsPerMonth - requests),
      credits: Math.max(0, creditsPerMonth - credits),
    };
  }

  turnTo(period: number): void {
    if (period <= this.period) return;
    this.period = period;
    this.loaded = { requests: 0, credits: 0 };
  }
}

describe('the month of an account', () => {
  const rateless = { ...TIER_ALLOWANCES.pro, requestsPerMinute: Number.POSITIVE_INFINITY };
  const step = fc.record({
    do: fc.constantFrom('enter', 'enter', 'enter', 'take', 'take', 'count', 'release', 'configure', 'load'),
    thread: fc.nat({ max: 1 }),
    which: fc.nat({ max: 5 }),
    period: fc.constantFrom(OCTOBER, NOVEMBER, NOVEMBER, DECEMBER),
    requests: fc.nat({ max: 6 }),
    credits: fc.nat({ max: 40 }),
  });

  it('counts the same in every thread, whatever is taken, moved, given back and changed (property)', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const allowance = { ...rateless, requestsPerMonth: 4, creditsPerMonth: 100 };
        const month = new PlainMonth(allowance);
        const cell = createCell(allowance);
        const meters = [new Meter(cell), new Meter(cell)];
        for (const { do: what, thread, which, period, requests, credits } of steps) {
          const meter = meters[thread];
          const charge = month.charges.at(-1 - (which % Math.max(1, month.charges.length)));
          if (what === 'enter') {
            month.turnTo(period);
            const left = month.left();
            const reservation = enter(meter, period);
            assert.deepEqual(
              [
                reservation.isAllowed,
                reservation.hasRequest,
                reservation.creditsRemaining,
                reservation.period,
              ],
              [true, left.requests > 0, left.credits, month.period],
            );
            const counted = { period: month.period, requests: Math.min(1, left.requests), credits: 0 };
            month.charges.push({ reservation, ...counted, hasTaken: false });
          } else if (what === 'take' && charge !== undefined && !charge.hasTaken && charge.period > 0) {
            charge.period = month.period; // a request that has waited takes its holding to the new month
            const left = month.left().credits;
            charge.hasTaken = credits > 0 && credits <= left;
            assert.equal(charge.reservation.takeCredits(credits), credits <= left);
            if (charge.hasTaken) charge.credits = credits;
            assert.equal(charge.reservation.creditsRemaining, month.left().credits);
          } else if (what === 'count' && charge !== undefined) {
            charge.reservation.countIn(period);
            if (period > charge.period) {
              month.turnTo(period);
              charge.period = month.period;
            }
          } else if (what === 'release' && charge !== undefined) {
            charge.reservation.release();
            Object.assign(charge, { requests: 0, credits: 0, hasTaken: true });
          } else if (what === 'configure') {
            month.allowance = { ...rateless, requestsPerMonth: requests, creditsPerMonth: 5 * credits };
            meter.configure(month.allowance);
          } else if (what === 'load' && month.charges.length === 0) {
            month.turnTo(period);
            meter.load({ accountNumber: 1, period, requests, credits });
            const { requests: had, credits: hadCredits } = month.used();
            if (period === month.period) {
              month.loaded.requests += requests - had;
              month.loaded.credits += credits - hadCredits;
            }
          }
          for (const each of meters) {
            assert.deepEqual(each.used(0), month.used());
            assert.deepEqual(each.left(0), month.left());
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is not charged for a request that the rate limit refuses', () => {
    const meter = meterOf(TIER_ALLOWANCES.free);
    for (let i = 0; i < 15; i++) assert.ok(enter(meter, NOVEMBER).isAllowed);
    const { activity } = meter;
    const refused = enter(meter, DECEMBER);
    assert.deepEqual([refused.isAllowed, refused.hasRequest], [false, false]);
    assert.equal(meter.decision.allowed, false);
    assert.equal(meter.activity, activity);
    refused.release();
    assert.equal(meter.used(NOVEMBER).requests, 15, 'nor does it begin a month');
  });

  it('has whole bytes as credits, which a request takes once, and which can be spent to the last', () => {
    const meter = meterOf(rateless);
    const reservation = enter(meter, NOVEMBER);
    for (const credits of [-1, 0.5]) assert.throws(() => reservation.takeCredits(credits), /whole bytes/);
    assert.equal(reservation.takeCredits(10_240), true);
    assert.throws(() => reservation.takeCredits(1), /credits once/);
    assert.equal(enter(meter, NOVEMBER).takeCredits(1), false);
    meter.configure({ ...rateless, creditsPerMonth: 1 });
    assert.equal(
      enter(meter, NOVEMBER).takeCredits(0),
      true,
      'what costs nothing needs none, whatever was spent',
    );
  });
});

describe('a meter that nodes share', () => {
  const granted = {
    requestsGranted: 0,
    creditsGranted: 0,
    requestsLeft: 0,
    creditsLeft: 0,
    requestsUnused: 0,
  };

  /** A meter that holds nothing yet, and knows how much was granted to nobody. */
  function sharing(requestsLeft: number, creditsLeft: number, requestsUnused = 0): Meter {
    const allowance = { ...TIER_ALLOWANCES.pro, requestsPerMinute: UNLIMITED };
    const meter = new Meter(createCell(allowance, true));
    meter.grant({ period: NOVEMBER, ...granted, requestsLeft, creditsLeft, requestsUnused });
    return meter;
  }

  it('counts refusals, changed limits and credits as activity, so that its node looks again', () => {
    const meter = sharing(0, 10);
    const before = meter.activity;
    enter(meter, NOVEMBER);
    assert.equal(meter.activity, before + 1);
    meter.configure(TIER_ALLOWANCES.pro);
    assert.equal(meter.activity, before + 2);
    meter.grant({ period: NOVEMBER, ...granted, requestsGranted: 1, creditsGranted: 7 });
    enter(meter, NOVEMBER).takeCredits(7);
    assert.equal(meter.activity, before + 10);
  });

  it('has plenty for a request count that fits twice for every node into what nobody was granted', () => {
    const meter = sharing(60, 0);
    meter.divideRate(3);
    assert.deepEqual(
      [10, 11].map((requests) => meter.isPlentyFor(requests)),
      [true, false],
    );
  });

  it('reports whether it gave anything up, and accepts no grant of a past month', () => {
    const meter = sharing(0, 0);
    meter.grant({ period: NOVEMBER, ...granted, requestsGranted: 9, creditsGranted: 7 });
    const kept = [meter.keep(9, true), meter.keep(8, true), meter.keep(8, false), meter.keep(8, false)];
    assert.deepEqual(kept, [false, true, true, false]);
    meter.grant({ period: OCTOBER, ...granted, requestsGranted: 100 });
    assert.equal(meter.share().requestsGranted, 8);
  });

  it('tells a refused request to retry soon if other nodes have requests left, else next month', () => {
    const atMs = Date.UTC(2026, 10, 29);
    const retryAfterS = (meter: Meter) => {
      try {
        requireRequest(enter(meter, NOVEMBER), atMs);
      } catch (error) {
        return (error as ApiError).facts.retryAfterS;
      }
      return undefined;
    };
    assert.equal(retryAfterS(sharing(0, 0, 50)), 3);
    assert.equal(retryAfterS(sharing(1, 0, 0)), 3);
    assert.equal(retryAfterS(sharing(0, 0, 0)), 172_800);
    const ofOneNode = meterOf(TIER_ALLOWANCES.free);
    assert.equal(retryAfterS(ofOneNode), undefined, 'it is not refused');
  });

  it('tells a request to retry soon when a new month has begun and nothing is granted here yet', () => {
    const meter = sharing(0, 0, 0);
    assert.equal(enter(meter, NOVEMBER).mayComeBack, false);
    assert.throws(
      () => requireRequest(enter(meter, DECEMBER), Date.UTC(2026, 11, 1)),
      (error: ApiError) => error.facts.retryAfterS === 3,
    );
  });

  it('hands out at once what larger limits add, and obeys smaller limits with the next grant', () => {
    const meter = sharing(7, 5);
    const { requestsPerMonth, creditsPerMonth } = TIER_ALLOWANCES.pro;
    const configure = (requests: number, credits: number) =>
      meter.configure({
        ...TIER_ALLOWANCES.pro,
        requestsPerMonth: requestsPerMonth + requests,
        creditsPerMonth: creditsPerMonth + credits,
      });
    configure(3, 20);
    assert.deepEqual(meter.left(NOVEMBER), { period: NOVEMBER, requests: 10, credits: 25 });
    configure(-4, -1);
    assert.deepEqual(meter.left(NOVEMBER), { period: NOVEMBER, requests: 10, credits: 25 });
    configure(0, 0);
    assert.deepEqual(meter.left(NOVEMBER), { period: NOVEMBER, requests: 14, credits: 26 });
    assert.equal(enter(meter, NOVEMBER).creditsRemaining, 26);
  });

  it('counts an answer that is dated in a month which is not granted here yet in that month, and not in the last one', () => {
    const meter = sharing(0, 0);
    meter.grant({ period: NOVEMBER, ...granted, requestsGranted: 9, creditsGranted: 40 });
    const [kept, released] = [enter(meter, NOVEMBER), enter(meter, NOVEMBER)];
    for (const [reservation, credits] of [
      [kept, 7],
      [released, 11],
    ] as const) {
      reservation.takeCredits(credits);
      const before = meter.activity;
      reservation.countIn(DECEMBER);
      assert.equal(meter.activity, before, 'what was used is still told by it');
    }
    enter(meter, NOVEMBER);
    const used = () => [meter.share().requestsUsed, meter.share().creditsUsed];
    assert.deepEqual(used(), [1, 0]);
    released.release();
    assert.deepEqual(used(), [1, 0], 'it is given back to the month that it is counted in');
    meter.grant({ period: DECEMBER, ...granted, requestsGranted: 9, creditsGranted: 40 });
    assert.deepEqual(used(), [1, 7]);
    assert.equal(
      enter(meter, DECEMBER).takeCredits(40),
      true,
      'what waits for it has what was granted for it',
    );
    assert.equal(meter.share().creditsGranted, 47, 'the ledger learns of both');
    assert.deepEqual(used(), [2, 47]);
    kept.release();
    assert.deepEqual(used(), [1, 40]);
  });

  it('counts what other nodes hold unused as left, and its own holding once', () => {
    const meter = sharing(0, 0, 50);
    assert.equal(meter.left(NOVEMBER).requests, 50);
    const grant = { period: NOVEMBER, ...granted, requestsGranted: 20, requestsLeft: 5, requestsUnused: 50 };
    meter.grant(grant);
    assert.equal(meter.left(NOVEMBER).requests, 55);
    enter(meter, NOVEMBER);
    assert.equal(meter.left(NOVEMBER).requests, 54);
    meter.grant(grant);
    assert.equal(meter.left(NOVEMBER).requests, 55);
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
    for (const [ms, seconds] of [
      [1, 1],
      [60_000, 60],
      [60_001, 61],
    ])
      assert.equal(retryAfterS({ ...refused, retryAfterMs: ms }), seconds);
  });

  it('follows the account to another tier', () => {
    const meter = meterOf(TIER_ALLOWANCES.free);
    for (let i = 0; i < 15; i++) assert.ok(meter.admit(1_000).allowed);
    assert.ok(!meter.admit(1_000).allowed);
    meter.configure(TIER_ALLOWANCES.business);
    assert.equal(meter.admit(1_000).remaining, 3_000 - 16);
    meter.configure(TIER_ALLOWANCES.free);
    assert.equal(meter.peek(1_000).remaining, 0);
    assert.equal(meter.peek(1_000).resetAfterMs, 90_000, 'a full bucket of the lower tier');
    meter.configure(TIER_ALLOWANCES.enterprise);
    assert.ok(meter.admit(1_000).allowed);
  });

  it('is not restored to full by a restart, whatever the two clocks show', () => {
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

  it('is not changed by a snapshot', () => {
    const meter = meterOf(TIER_ALLOWANCES.free);
    meter.admit(1_000);
    meter.snapshot(1, 1_700_000_000_000, 50_000);
    assert.equal(meter.peek(1_000).remaining, 14);
  });
});

describe('the rate of an account that nodes share', () => {
  it('is divided among the living nodes, for every thread, and whole again once the others are gone', () => {
    const cell = createCell(TIER_ALLOWANCES.free, true);
    const [meter, other] = [1, 2].map(() => new Meter(cell));
    meter.divideRate(3);
    const admitted = (nowMs: number) => {
      let count = 0;
      while (other.admit(nowMs).allowed) count++;
      return count;
    };
    assert.equal(admitted(0), 5, 'a third of the burst of 15');
    assert.equal(other.peek(0).retryAfterMs, 60_000, 'the window of a minute');
    assert.deepEqual(other.limit, { requestsPerMinute: 10, burst: 15 });
    assert.equal(admitted(60_000), 3, 'a third of ten a minute');
    meter.divideRate(1);
    assert.equal(admitted(60_000), 10);
  });

  it('is unlimited on every node if the account has no limit', () => {
    const meter = new Meter(createCell(TIER_ALLOWANCES.enterprise, true));
    meter.divideRate(2);
    assert.equal(meter.admit(0).remaining, UNLIMITED);
  });

  it('follows for every thread what one thread was told of the account', () => {
    const cell = createCell(TIER_ALLOWANCES.free, true);
    const [front, main] = [1, 2].map(() => new Meter(cell));
    main.divideRate(2);
    front.configure(TIER_ALLOWANCES.pro);
    assert.equal(main.burstHere, 375, 'which is what the node holds requests for');
    assert.equal(main.admit(0).remaining, 374);
  });

  it('lets one request through on each node at least', () => {
    const meter = new Meter(createCell(TIER_ALLOWANCES.free, true));
    meter.divideRate(100);
    assert.equal(meter.admit(0).allowed, true);
    assert.equal(meter.admit(0).allowed, false);
  });
});
