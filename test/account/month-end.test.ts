import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OwnedCells } from '../../src/account/cells.ts';
import { createCell, Meter } from '../../src/account/meter.ts';
import { COMES_BACK_S } from '../../src/account/reservation.ts';
import { allowanceOf } from '../../src/account/tiers.ts';
import { periodOf, systemClock } from '../../src/core/clock.ts';
import { overloadedFront } from '../overload/stack.ts';
import { fetchWhole } from '../support/http.ts';
import { lot, NOON_MS } from '../support/ledger-records.ts';

const CREDITS = 1_000;
const MINUTE_MS = 60_000;
const DECEMBER_MS = Date.UTC(2026, 11, 1);

describe('an answer near the end of a month', () => {
  it('is counted and dated in the later month when the wall clock is set back over its beginning', async (t) => {
    let wallMs = DECEMBER_MS + MINUTE_MS;
    const { front, spend, charged } = await frontAt(() => wallMs);
    t.after(() => front.stop());
    assert.equal((await spend(100)).status, 200);
    wallMs = DECEMBER_MS - MINUTE_MS;
    const back = await spend(900);
    assert.equal(back.status, 200);
    assert.equal(back.timestamp, '2026-12-01T00:00:00.000Z');
    assert.equal((await spend(1)).status, 402);
    assert.deepEqual(await charged(202_611), []);
    assert.deepEqual(await charged(202_612), [[2, CREDITS]]);

    // A start under the earlier clock counts the earlier month, in which nothing was issued.
    const [record] = await front.ledger.accounts();
    const clock = { wallMs: () => wallMs, monotonicMs: systemClock.monotonicMs, jumpMs: () => 0 };
    const cells = await OwnedCells.open(front.ledger, clock);
    const allowance = allowanceOf(record);
    const [cell] = await cells.cellsOf([{ number: record.number, allowance }]);
    const meter = new Meter(cell);
    const november = { period: 202_611, requests: 0, credits: 0 };
    assert.deepEqual(meter.used(periodOf(wallMs)), november);
  });

  it('counts in the month in which its lot could first be drawn from, for the limits too', async (t) => {
    assert.equal(periodOf(lot(1).finishedAtMs), 202_611);
    let wallMs = Date.UTC(2026, 9, 31);
    const { front, spend, charged } = await frontAt(() => wallMs);
    t.after(() => front.stop());
    assert.equal((await spend(100)).status, 200);
    assert.deepEqual(await charged(202_610), []);
    assert.deepEqual(await charged(202_611), [[1, 100]]);
    wallMs = NOON_MS;
    assert.equal((await spend(901)).status, 402);
    assert.equal((await spend(900)).status, 200);
    assert.deepEqual(await charged(202_611), [[2, CREDITS]]);
  });
});

it('HEAD reports like GET when a request is possible, at the beginning of a month that nodes share', async (t) => {
  const front = await overloadedFront(systemClock, 0, {
    cellsOf: async (accounts) => accounts.map(({ allowance }) => usedUp(createCell(allowance, true))),
  });
  t.after(() => front.stop());
  const key = await front.account(); // this node has no grant for the month of this account yet
  const told = await Promise.all(
    ['GET', 'HEAD'].map(async (method) => {
      const { status, headers } = await fetchWhole(`${front.stack.baseUrl}/integers?count=1`, {
        method,
        headers: { 'x-api-key': key },
      });
      return [status, headers.get('retry-after')];
    }),
  );
  assert.deepEqual(told, Array(2).fill([429, String(COMES_BACK_S)]));
});

/** Returns a cell with nothing left of an earlier month, the last one that the node heard of. */
function usedUp(cell: SharedArrayBuffer): SharedArrayBuffer {
  const nothing = {
    requestsGranted: 0,
    creditsGranted: 0,
    requestsLeft: 0,
    creditsLeft: 0,
    requestsUnused: 0,
  };
  new Meter(cell).grant({ period: 202_610, ...nothing });
  return cell;
}

/** Starts a front with one account of CREDITS credits. */
async function frontAt(wallMs: () => number) {
  const clock = { wallMs, monotonicMs: systemClock.monotonicMs, jumpMs: () => 0 };
  const front = await overloadedFront(clock, 8);
  const key = await front.account({ creditsPerMonth: CREDITS });
  return {
    front,
    spend: async (count: number) => {
      const { status, body } = await front.get(key, `/bytes?count=${count}&entropy_mode=pure`);
      return { status, timestamp: (body.metadata as { timestamp?: string } | undefined)?.timestamp };
    },
    charged: async (period: number) =>
      (await front.ledger.balances(period)).map(({ requests, credits }) => [requests, credits]),
  };
}
