import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Cells, OwnedCells } from '../../src/account/cells.ts';
import { Meter } from '../../src/account/meter.ts';
import { SharedLimits } from '../../src/account/shared-limits.ts';
import { TIER_ALLOWANCES } from '../../src/account/tiers.ts';
import { silentLog } from '../../src/core/log.ts';
import type { Balance, RateRecord } from '../../src/ledger/records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryLimits } from '../support/memory-limits.ts';

const NOVEMBER_20_MS = Date.UTC(2026, 10, 20);
const pro = TIER_ALLOWANCES.pro;

/** A ledger that knows balances by month, and saved rates. */
function books(balances: readonly Balance[] = [], rates: readonly RateRecord[] = []) {
  return {
    balances: async (period: number) => balances.filter((balance) => balance.period === period),
    loadRates: async (sinceMs: number) => {
      assert.equal(sinceMs, NOVEMBER_20_MS - 60_000);
      return [...rates];
    },
  };
}

async function cellOf(cells: Pick<Cells, 'cellsOf'>, number: number): Promise<SharedArrayBuffer> {
  return (await cells.cellsOf([{ number, allowance: pro }]))[0];
}

describe('cells', () => {
  it('exist once per account, and start from the figures of the ledger', async () => {
    const clock = new ManualClock(NOVEMBER_20_MS, 500);
    const balance = { accountNumber: 1, period: 202_611, requests: 10, credits: 20 };
    const rate = {
      accountNumber: 1,
      tatMs: NOVEMBER_20_MS + 12_000,
      admittedAtMs: Array(100).fill(NOVEMBER_20_MS - 1),
    };
    const cells = await OwnedCells.open(books([balance], [rate]), clock);
    const cell = await cellOf(cells, 1);
    assert.equal(await cellOf(cells, 1), cell);
    const meter = new Meter(cell);
    assert.deepEqual(meter.used(202_611), { period: 202_611, requests: 10, credits: 20 });
    assert.equal(meter.peek(clock.monotonicMs()).remaining, 650);
    const other = new Meter(await cellOf(cells, 2));
    assert.deepEqual(other.used(202_611), { period: 202_611, requests: 0, credits: 0 });
    assert.equal(other.peek(clock.monotonicMs()).remaining, 750);
  });

  it('of accounts that nodes share start from the grant of the node, not from the ledger', async () => {
    const shared = new SharedLimits({ limits: new MemoryLimits().node('a'), log: silentLog });
    const balance = { accountNumber: 1, period: 202_611, requests: 10, credits: 20 };
    const cells = await OwnedCells.open(books([balance]), new ManualClock(NOVEMBER_20_MS, 500), shared);
    const meter = new Meter(await cellOf(cells, 1));
    const { requestsGranted, requestsUsed, creditsUsed } = meter.share();
    assert.deepEqual([requestsGranted, requestsUsed, creditsUsed], [750, 0, 0]);
    await cells.ask(1, 40);
    assert.equal(meter.share().creditsGranted, 40);
  });
});
