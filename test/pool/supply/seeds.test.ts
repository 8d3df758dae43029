import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLog } from '../../../src/core/log.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { type SeedInForce, SeedSchedule } from '../../../src/pool/supply/seeds.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';
import { isZero, lotRecord, MarkedBlocks, settle, withCalls, wordsOf } from '../fixtures.ts';

const HOUR_MS = 3_600_000;
const PRO = { tier: 'pro', intervalMs: HOUR_MS } as const;

interface Given {
  readonly seed: SeedInForce;
  /** The seed's words when it was given, and the array that it was given in. */
  readonly words: readonly number[];
  readonly bytes: Uint8Array;
}

/** A ledger with so many seeds of lot_1, some of its calls replaced, and a schedule on it. */
async function seeded(seeds: number, calls: Parameters<typeof withCalls>[1] = {}) {
  const clock = new ManualClock();
  const ledger = memoryLedger(clock);
  const blocks = new MarkedBlocks().seeds(seeds);
  if (seeds > 0) await ledger.addLot(lotRecord('lot_1'), blocks);
  const words = blocks.map(({ bytes }) => wordsOf(bytes));
  return { clock, ledger, words, ...scheduleOn(withCalls(ledger, calls), clock) };
}

function scheduleOn(ledger: Ledger, clock: ManualClock) {
  const schedule = new SeedSchedule(ledger, clock, silentLog);
  const given: Given[] = [];
  schedule.onSeed((seed, bytes, lot) => {
    assert.equal(lot.id, seed.lotId);
    given.push({ seed, words: wordsOf(bytes), bytes });
  });
  return { schedule, given };
}

describe('seed schedule', () => {
  it('gives each group its own seed, whole to every listener and wiped after them', async () => {
    const { clock, words, schedule, given } = await seeded(10);
    let second: number[] = [];
    schedule.onSeed((_seed, bytes) => {
      second = wordsOf(bytes);
    });
    const pro = schedule.add(PRO);
    const business = schedule.add({ tier: 'business', intervalMs: 900_000 });
    assert.equal(schedule.add(PRO), pro);
    assert.equal(schedule.inForce(pro), undefined);
    await schedule.refresh();
    assert.deepEqual(
      given.map(({ seed, words }) => [seed.group, seed.tier, seed.generation, seed.lotId, words]),
      [
        [pro, 'pro', 1, 'lot_1', words[0]],
        [business, 'business', 1, 'lot_1', words[1]],
      ],
    );
    assert.deepEqual(second, words[1]);
    for (const { bytes } of given) assert.ok(isZero(bytes));
    assert.equal(schedule.inForce(pro), given[0].seed);
    assert.deepEqual(given[0].seed.seededAtMs, clock.wallMs());
    await schedule.refresh();
    assert.equal(given.length, 2);
  });

  it('takes the next seed shortly before the interval ends', async () => {
    const { clock, schedule, given } = await seeded(10);
    const pro = schedule.add(PRO);
    await schedule.refresh();
    clock.advance(0.98 * HOUR_MS - 1);
    await schedule.refresh();
    assert.equal(given.length, 1);
    clock.advance(1);
    await schedule.refresh();
    assert.equal(given.length, 2);
    assert.equal(schedule.inForce(pro), given[1].seed);
    assert.equal(given[1].seed.generation, 2);
    assert.equal(given[1].seed.dueAtMonotonicMs, clock.monotonicMs() + HOUR_MS);
  });

  it('never extends a seed: with no successor, none is in force', async () => {
    const { clock, ledger, schedule, given } = await seeded(1);
    const pro = schedule.add(PRO);
    assert.equal(await schedule.ensure(pro), true);
    clock.advance(HOUR_MS - 1);
    await schedule.refresh();
    assert.equal(schedule.inForce(pro), given[0].seed);
    clock.advance(1);
    assert.equal(schedule.inForce(pro), undefined);
    assert.equal(await schedule.ensure(pro), false);
    assert.deepEqual(
      schedule.states().map(({ name, intervalMs, current }) => [name, intervalMs, current?.generation]),
      [[pro, HOUR_MS, 1]],
    );
    await ledger.addLot(lotRecord('lot_2'), new MarkedBlocks().seeds(1));
    assert.equal(await schedule.ensure(pro), true);
    assert.equal(schedule.inForce(pro)?.lotId, 'lot_2');
  });

  it('does not extend a seed when the clock is set back', async () => {
    const { clock, schedule } = await seeded(1);
    const pro = schedule.add(PRO);
    await schedule.refresh();
    clock.wall -= 10 * HOUR_MS;
    clock.monotonic += HOUR_MS;
    assert.equal(schedule.inForce(pro), undefined);
  });

  it('claims one seed for all concurrent requests', async () => {
    const { ledger, schedule, given } = await seeded(10);
    const pro = schedule.add(PRO);
    const asked = await Promise.all([
      schedule.ensure(pro),
      schedule.refresh(),
      schedule.ensure(pro),
      schedule.ensure(pro),
    ]);
    assert.deepEqual(asked, [true, undefined, true, true]);
    assert.equal(given.length, 1);
    assert.equal((await ledger.audit()).blocksClaimed, 1);
  });

  it('continues the numbers of generations across restarts, without a gap for seeds that never came', async () => {
    const { clock, ledger, ...first } = await seeded(0);
    first.schedule.add(PRO);
    for (let i = 0; i < 5; i++) await first.schedule.refresh();
    await ledger.addLot(lotRecord('lot_1'), new MarkedBlocks().seeds(4));
    await first.schedule.refresh();
    clock.advance(HOUR_MS);
    await first.schedule.refresh();
    const second = scheduleOn(ledger, clock);
    second.schedule.add({ tier: 'developer', intervalMs: HOUR_MS });
    second.schedule.add(PRO);
    await second.schedule.refresh();
    const numbers = [...first.given, ...second.given].map(({ seed }) => [seed.tier, seed.generation]);
    assert.deepEqual(numbers, [
      ['pro', 1],
      ['pro', 2],
      ['developer', 1],
      ['pro', 3],
    ]);
  });

  it('asks an empty reservoir without writing anything', async () => {
    const writes: string[] = [];
    const { schedule } = await seeded(0, {
      claimBlocks: (claimBlocks) => (kind, max) => {
        writes.push('claim');
        return claimBlocks(kind, max);
      },
      nextSeedGeneration: (next) => (tier) => {
        writes.push('number');
        return next(tier);
      },
    });
    const pro = schedule.add(PRO);
    await schedule.refresh();
    assert.equal(await schedule.ensure(pro), false);
    assert.deepEqual(writes, []);
  });

  it('takes no seed once closed, and the seed in force serves until its interval ends', async () => {
    const { clock, ledger, schedule, given } = await seeded(10);
    const pro = schedule.add(PRO);
    await schedule.refresh();
    schedule.close();
    clock.advance(HOUR_MS - 1);
    await schedule.refresh();
    assert.equal(await schedule.ensure(pro), true);
    assert.equal(schedule.inForce(pro), given[0].seed);
    clock.advance(1);
    await schedule.refresh();
    assert.equal(await schedule.ensure(pro), false);
    assert.equal(given.length, 1);
    assert.equal((await ledger.audit()).blocksClaimed, 1);
  });

  it('wipes unused a seed that is on its way when it is closed', async () => {
    const gate = Promise.withResolvers<void>();
    let claimed: Uint8Array = new Uint8Array(0);
    const { schedule, given } = await seeded(10, {
      claimBlocks: (claimBlocks) => async (kind, max) => {
        const blocks = await claimBlocks(kind, max);
        claimed = blocks[0].bytes;
        await gate.promise;
        return blocks;
      },
    });
    const ensured = schedule.ensure(schedule.add(PRO));
    await settle();
    assert.ok(!isZero(claimed));
    schedule.close();
    gate.resolve();
    assert.equal(await ensured, false);
    assert.equal(given.length, 0);
    assert.ok(isZero(claimed));
  });

  it('has no seed in force after a listener failed, and wipes the seed', async () => {
    const { schedule } = await seeded(10);
    let bytes: Uint8Array = new Uint8Array(0);
    let fails = true;
    schedule.onSeed((_seed, quantumSeed) => {
      bytes = quantumSeed;
      if (fails) throw new Error('no room');
    });
    const pro = schedule.add(PRO);
    await assert.rejects(schedule.refresh(), /no room/);
    assert.equal(schedule.inForce(pro), undefined);
    assert.equal(bytes.length, 32);
    assert.ok(isZero(bytes));
    fails = false;
    await schedule.refresh();
    assert.equal(schedule.inForce(pro)?.generation, 2);
  });

  it('never gives out a seed whose generation may not have been stored', async () => {
    let fails = true;
    const { ledger, schedule, given } = await seeded(10, {
      nextSeedGeneration: (next) => async (tier) => {
        const number = await next(tier); // taken, and the answer lost
        if (fails) throw new Error('unknown outcome');
        return number;
      },
    });
    const pro = schedule.add(PRO);
    await assert.rejects(schedule.ensure(pro), /unknown outcome/);
    assert.equal(given.length, 0);
    fails = false;
    assert.equal(await schedule.ensure(pro), true);
    assert.equal(given[0].seed.generation, 2);
    assert.equal((await ledger.audit()).blocksClaimed, 2);
  });

  it('does not give out a seed whose lot is withdrawn while it is on its way', async () => {
    const gate = Promise.withResolvers<void>();
    const { schedule, given } = await seeded(10, {
      nextSeedGeneration: (next) => async (tier) => {
        await gate.promise;
        return next(tier);
      },
    });
    const pro = schedule.add(PRO);
    const taken = schedule.ensure(pro);
    await settle();
    schedule.retire(new Set(['lot_1']));
    gate.resolve();
    assert.equal(await taken, false);
    assert.equal(given.length, 0);
    assert.equal(schedule.inForce(pro), undefined);
  });

  it('rejects an unknown group', async () => {
    const { schedule } = await seeded(1);
    await assert.rejects(schedule.ensure('pro/1'), { name: 'InvariantError' });
    assert.equal(schedule.inForce('pro/1'), undefined);
  });
});
