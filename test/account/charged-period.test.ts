import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OwnedCells } from '../../src/account/cells.ts';
import { Meter } from '../../src/account/meter.ts';
import { allowanceOf } from '../../src/account/tiers.ts';
import { periodOf, systemClock } from '../../src/core/clock.ts';
import { OverloadedFront } from '../overload/stack.ts';

const CREDITS = 1_000;

describe('a wall clock that ran over the end of a month and was set back', () => {
  it('renews no credits at a restart', async (t) => {
    let wallMs = Date.UTC(2026, 11, 1, 0, 1); // December, too early
    const clock = { wallMs: () => wallMs, monotonicMs: systemClock.monotonicMs, jumpMs: () => 0 };
    const front = await OverloadedFront.start(clock, 8);
    t.after(() => front.stop());
    const key = await front.account({ creditsPerMonth: CREDITS });
    const spend = async (count: number) =>
      (await front.get(key, `/bytes?count=${count}&entropy_mode=pure`)).status;
    assert.equal(await spend(100), 200);
    wallMs = Date.UTC(2026, 10, 30, 23, 0); // November again
    assert.equal(await spend(900), 200);
    assert.equal(await spend(1), 402);

    const [record] = await front.ledger.accounts();
    for (let restart = 0; restart < 2; restart++) {
      const cells = await OwnedCells.open(front.ledger, clock);
      const meter = new Meter(await cells.cellOf(record.number, allowanceOf(record)), allowanceOf(record));
      const period = meter.left(periodOf(wallMs)).period;
      assert.deepEqual(meter.used(period), { period: 202_612, requests: 2, credits: CREDITS });
      assert.equal(meter.enter(clock.monotonicMs(), period).takeCredits(1), false);
    }
  });
});
