import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAccount } from '../../src/account/administration.ts';
import type { Account } from '../../src/account/directory.ts';
import { createCell, Meter } from '../../src/account/meter.ts';
import { allowanceOf, UNLIMITED } from '../../src/account/tiers.ts';
import { usageOf } from '../../src/account/usage.ts';
import type { Tier } from '../../src/core/vocabulary.ts';
import { CSPRNG, entry, segment, source } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const DAY_MS = 86_400_000;

async function world(tier: Tier, isShared = false) {
  const clock = new ManualClock(NOW_MS, 5_000);
  const ledger = memoryLedger(clock);
  const record = await createAccount(ledger, clock, { name: 'Ann', tier });
  const allowance = allowanceOf(record);
  const account: Account = { record, allowance, meter: new Meter(createCell(allowance, isShared)) };
  return { clock, ledger, account };
}

describe('usage', () => {
  it('sums the month by endpoint and mode, and the last 31 days', async () => {
    const { clock, ledger, account } = await world('pro');
    const seeded = { mode: 'quantum-seeded' } as const;
    const entries = [
      entry(1, { issuedAtMs: NOW_MS, endpoint: 'integers', valueCount: 10, deliveredBytes: 100 }),
      entry(2, { issuedAtMs: NOW_MS - DAY_MS, endpoint: 'integers', valueCount: 5, deliveredBytes: 50 }),
      entry(3, {
        issuedAtMs: NOW_MS,
        endpoint: 'bytes',
        mode: 'pure',
        source: 1,
        valueCount: 1,
        credits: 16,
      }),
      entry(4, { issuedAtMs: NOW_MS - 25 * DAY_MS, endpoint: 'uuid', ...seeded, source: 2, valueCount: 3 }), // October
      entry(5, { issuedAtMs: NOW_MS - 40 * DAY_MS, endpoint: 'uuid', valueCount: 7 }), // too old to be shown
      entry(6, { issuedAtMs: NOW_MS, accountNumber: 2, endpoint: 'uuid', valueCount: 1_000 }), // somebody else's
    ];
    const sources = [CSPRNG, source('pure', [1]), source('quantum-seeded', [1])];
    await ledger.createAccount({ ...account.record, id: 'acct_other' });
    await ledger.commit([segment(1, entries, { sources })], []);
    const enter = (nowMs: number) => account.meter.enter(nowMs, 202_611);
    for (const minutesAgo of [6, 4, 2]) enter(clock.monotonicMs() - minutesAgo * 60_000);
    enter(clock.monotonicMs()).takeCredits(16);

    const usage = await usageOf(account, ledger, clock);

    const { by_endpoint: byEndpoint, by_mode: byMode, days, ...rest } = usage;
    assert.deepEqual(rest, {
      period: '2026-11',
      starts_at: '2026-11-01T00:00:00.000Z',
      ends_at: '2026-12-01T00:00:00.000Z',
      tier: 'pro',
      requests: { used: 4, limit: 500_000, remaining: 499_996 },
      rate: { limit_per_minute: 500, burst: 750, remaining: 746, reset_at: '2026-11-20T12:01:00.000Z' },
      credits: { total: 10_240, used: 16, remaining: 10_224 },
    });
    const none = { requests: 0, values: 0, bytes: 0 };
    assert.deepEqual(byEndpoint, {
      integers: { requests: 2, values: 15, bytes: 150 },
      bytes: { requests: 1, values: 1, bytes: 120 },
      floats: none,
      uuid: none,
      bitstring: none,
      shuffle: none,
      batch: none,
      sample: none,
      weighted: none,
      strings: none,
      sequences: none,
      permutations: none,
      gaussians: none,
    });
    assert.deepEqual(byMode, {
      'quantum-seeded': none,
      pure: { requests: 1, values: 1, bytes: 120 },
      csprng: { requests: 2, values: 15, bytes: 150 },
    });
    assert.equal(days.length, 31);
    assert.equal(days[0].date, '2026-10-21');
    assert.deepEqual(days[1], { date: '2026-10-22', requests: 0, values: 0, bytes: 0, credits: 0 });
    assert.deepEqual(days[5], { date: '2026-10-26', requests: 1, values: 3, bytes: 120, credits: 0 });
    assert.deepEqual(days[29], { date: '2026-11-19', requests: 1, values: 5, bytes: 50, credits: 0 });
    assert.deepEqual(days[30], { date: '2026-11-20', requests: 2, values: 11, bytes: 220, credits: 16 });
    assert.equal(
      days.reduce((sum, day) => sum + day.requests, 0),
      4,
    );
  });

  it('reports the largest safe integer where there is no limit', async () => {
    const { clock, ledger, account } = await world('enterprise');
    account.meter.enter(clock.monotonicMs(), 202_611).takeCredits(1_000_000);
    const { requests, rate, credits } = await usageOf(account, ledger, clock);
    assert.deepEqual(requests, { used: 1, limit: UNLIMITED, remaining: UNLIMITED - 1 });
    assert.deepEqual(rate, {
      limit_per_minute: UNLIMITED,
      burst: UNLIMITED,
      remaining: UNLIMITED,
      reset_at: '2026-11-20T12:00:00.000Z',
    });
    assert.deepEqual(credits, { total: UNLIMITED, used: 1_000_000, remaining: UNLIMITED - 1_000_000 });
  });

  it('counts what all nodes have answered for an account that they share', async () => {
    const { clock, ledger, account } = await world('pro', true);
    const nothing = {
      requestsGranted: 5,
      creditsGranted: 0,
      requestsLeft: 0,
      creditsLeft: 0,
      requestsUnused: 0,
    };
    account.meter.grant({ period: 202_611, ...nothing });
    const entries = [10, 20].map((credits, i) =>
      entry(i, { issuedAtMs: NOW_MS - i * DAY_MS, mode: 'pure', source: 1, credits }),
    );
    await ledger.commit([segment(1, entries, { sources: [CSPRNG, source('pure', [1])] })], []);
    const { requests, credits } = await usageOf(account, ledger, clock);
    assert.deepEqual([requests.used, credits.used], [2, 30]);
  });

  it('reports nothing left when more was used than is allowed now', async () => {
    const { clock, ledger, account } = await world('pro');
    account.meter.load({ accountNumber: 1, period: 202_611, requests: 600_000, credits: 20_000 });
    const { requests, credits } = await usageOf(account, ledger, clock);
    assert.deepEqual([requests.remaining, credits.remaining], [0, 0]);
  });

  it('covers the whole of a month of 31 days on its last day', async () => {
    const { clock, ledger, account } = await world('free');
    clock.wall = Date.UTC(2026, 11, 31, 23, 59);
    await ledger.commit([segment(1, [entry(1, { issuedAtMs: Date.UTC(2026, 11, 1) })])], []);
    const usage = await usageOf(account, ledger, clock);
    assert.equal(usage.by_endpoint.integers.requests, 1);
    assert.equal(usage.days[0].date, '2026-12-01');
  });

  it('stays in the later month when the wall clock was set back', async () => {
    const { clock, ledger, account } = await world('free');
    account.meter.enter(clock.monotonicMs(), 202_612);
    const usage = await usageOf(account, ledger, clock);
    assert.equal(usage.period, '2026-12');
    assert.equal(usage.requests.used, 1);
  });
});
