import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Backend, BackendError } from '../../../src/backend/backend.ts';
import { PURE_BLOCK_BYTES } from '../../../src/ledger/records.ts';
import { Collector } from '../../../src/pool/intake/collector.ts';

import { failingBackend, soundBackend } from '../../support/backends.ts';
import { MemoryLedger } from '../../support/memory-ledger.ts';
import { recordingLog, ScriptedAssessor } from '../fixtures.ts';
import { JobDouble } from './job-double.ts';
import { VirtualTime } from './virtual-time.ts';

const LOT_RAW_BITS = 64 * 1024;

/** A source that is wanted when the test says so. */
function world(
  backend: Backend,
  isWanted = false,
  time = new VirtualTime(),
  ledger = new MemoryLedger(time.clock),
) {
  const wish = { isWanted };
  const collector = new Collector({
    backend,
    store: ledger,
    assessor: new ScriptedAssessor(),
    clock: time.clock,
    log: recordingLog(),
    pureBytesHigh: 2 * PURE_BLOCK_BYTES,
    lotRawBits: LOT_RAW_BITS,
    isWanted: () => wish.isWanted,
    onLot: async () => {},
    wait: time.wait,
  });
  collector.start();
  return { time, ledger, wish, collector };
}

describe('a source that is not wanted', () => {
  it('stands by unread at an empty pool, and fills it when it is', async () => {
    const { time, wish, collector } = world(soundBackend());
    await time.pass(3_600_000);
    assert.deepEqual([collector.state, collector.status().reads.pass], ['standby', 0]);
    wish.isWanted = true;
    await time.pass(1_000);
    assert.deepEqual([collector.state, collector.status().lotsAccepted], ['ok', 2]);
    wish.isWanted = false;
    await time.pass(1_000);
    assert.equal(collector.state, 'standby');
    assert.ok(collector.status().conditionedBytes >= 2 * PURE_BLOCK_BYTES, 'what it gave is remembered');
    await collector.stop();
  });

  it('does not report an old failure of a source that stands by', async () => {
    const cutOff = Array.from({ length: 3 }, () => new BackendError('retryable', 'cut off'));
    const { time, wish, collector } = world(failingBackend(...cutOff), true);
    await time.pass(0);
    assert.equal(collector.state, 'failing');
    wish.isWanted = false;
    await time.pass(60_000);
    assert.deepEqual([collector.state, collector.status().lastError], ['standby', 'cut off']);
    await collector.stop();
  });

  it('reads a job that was paid for, and starts none', async () => {
    const jobs = new JobDouble({ state: 'queued' });
    jobs.repeatsLastState = true;
    const before = world(jobs, true);
    await before.time.pass(10_000);
    await before.collector.stop();
    assert.equal(jobs.started, 1);
    jobs.repeatsLastState = false;
    const { time, collector } = world(jobs, false, before.time, before.ledger);
    await time.pass(60_000);
    assert.deepEqual([jobs.started, collector.status().lotsAccepted, collector.state], [1, 1, 'standby']);
    await collector.stop();
  });

  it('stays closed when it was', async () => {
    const dead = failingBackend(new BackendError('permanent', 'gone'));
    const { time, wish, collector } = world(dead, true);
    await time.pass(0);
    wish.isWanted = false;
    await time.pass(60_000);
    assert.equal(collector.state, 'closed');
    await collector.stop();
  });
});
