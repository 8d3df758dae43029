import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createCell, Meter } from '../../src/account/meter.ts';
import { type Allowance, TIER_ALLOWANCES } from '../../src/account/tiers.ts';
import { lock, unlock } from '../../src/core/spin-lock.ts';
import type { MeterThreadCounts, MeterThreadData } from './meter-thread.ts';

const ENTRY = new URL('./meter-thread.ts', import.meta.url);
/** The lock word while a thread sleeps on it (core/spin-lock.ts). */
const HELD_WITH_SLEEPERS = 2;
const THREADS = 3;
const PERIOD = 202_611;
const ATTEMPTS = 250_000;
// Fewer than the attempts of all threads, so that the allowance is used up, and enough that the threads write most of
// the time: without its lock the meter is off by thousands.
const ALLOWANCE: Allowance = {
  ...TIER_ALLOWANCES.enterprise,
  requestsPerMinute: 400_000,
  requestsPerMonth: 350_000,
  creditsPerMonth: 2_100_001,
};

describe('a meter that several threads share', () => {
  it('admits and reserves exactly what one alone would', async () => {
    const cell = createCell(ALLOWANCE);
    const gate = new Int32Array(new SharedArrayBuffer(4));
    gate[0] = THREADS;
    const workerData: MeterThreadData = {
      cell,
      attempts: ATTEMPTS,
      creditBytes: 7,
      gate,
    };
    const workers = Array.from({ length: THREADS }, () => new Worker(ENTRY, { workerData }));
    const counts = await Promise.all(
      workers.map(async (worker) => (await once(worker, 'message'))[0] as MeterThreadCounts),
    );
    await Promise.all(workers.map((worker) => worker.terminate()));

    const sum = (of: (each: MeterThreadCounts) => number) =>
      counts.reduce((total, each) => total + of(each), 0);
    const meter = new Meter(cell);
    const used = meter.used(PERIOD);
    assert.equal(
      sum((each) => each.admitted),
      600_000,
    );
    assert.equal(meter.peek(1_000).remaining, 0);
    assert.equal(
      used.requests,
      sum((each) => each.requests),
    );
    assert.ok(used.requests <= ALLOWANCE.requestsPerMonth);
    assert.equal(
      used.credits,
      sum((each) => each.credits),
    );
    assert.ok(used.credits <= ALLOWANCE.creditsPerMonth);
    assert.ok(used.credits > 2_000_000, 'they are all but used up');
  });

  it('waits while another thread holds the lock, and continues when that releases it', async () => {
    const cell = createCell(ALLOWANCE);
    const lockWord = new Int32Array(cell, 0, 1);
    const gate = new Int32Array(new SharedArrayBuffer(4)).fill(1);
    const workerData: MeterThreadData = { cell, attempts: 1, creditBytes: 7, gate };
    lock(lockWord, 0);
    const worker = new Worker(ENTRY, { workerData });
    let done = false;
    const counts = once(worker, 'message').then(([message]) => {
      done = true;
      return message as MeterThreadCounts;
    });
    while (Atomics.load(lockWord, 0) !== HELD_WITH_SLEEPERS && !done) await turn();
    assert.equal(done, false);
    unlock(lockWord, 0);
    assert.deepEqual(await counts, { admitted: 1, requests: 1, credits: 7 });
    await worker.terminate();
    assert.equal(lockWord[0], 0, 'the word is free again');
  });
});
