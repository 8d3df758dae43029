import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type Backend, BackendError } from '../../../src/backend/backend.ts';
import { PURE_BLOCK_BYTES } from '../../../src/ledger/records.ts';
import type { CollectorOptions } from '../../../src/pool/intake/collector.ts';
import { failingBackend, soundBackend } from '../../support/backends.ts';
import { collecting } from './collecting.ts';
import { JobDouble } from './job-double.ts';

/** A source that is wanted when the test says so. */
function world(t: TestContext, backend: Backend, isWanted: boolean, changes: Partial<CollectorOptions> = {}) {
  const wish = { isWanted };
  const options = { pureBytesHigh: 2 * PURE_BLOCK_BYTES, isWanted: () => wish.isWanted, ...changes };
  return { ...collecting(t, backend, options), wish };
}

describe('a source that is not wanted', () => {
  it('stands by unread when the pool is empty, and fills it once it is wanted', async (t) => {
    const { time, wish, collector } = world(t, soundBackend(), false);
    await time.pass(3_600_000);
    assert.deepEqual([collector.state, collector.status().reads.pass], ['standby', 0]);
    wish.isWanted = true;
    await time.pass(1_000);
    assert.deepEqual([collector.state, collector.status().lotsAccepted], ['ok', 2]);
    wish.isWanted = false;
    await time.pass(1_000);
    assert.equal(collector.state, 'standby');
    assert.ok(collector.status().conditionedBytes >= 2 * PURE_BLOCK_BYTES, 'what it gave is remembered');
  });

  it('does not report an old failure while it stands by', async (t) => {
    const cutOff = Array.from({ length: 3 }, () => new BackendError('retryable', 'cut off'));
    const { time, wish, collector } = world(t, failingBackend(...cutOff), true);
    await time.pass(0);
    assert.equal(collector.state, 'failing');
    wish.isWanted = false;
    await time.pass(60_000);
    assert.deepEqual([collector.state, collector.status().lastError], ['standby', 'cut off']);
  });

  it('is failing when it is wanted again, not ok, until a read succeeds', async (t) => {
    const cutOff = [new BackendError('retryable', 'cut off'), new BackendError('retryable', 'cut off')];
    const { time, wish, collector, ledger } = world(t, failingBackend(...cutOff), true);
    await time.pass(0);
    wish.isWanted = false;
    await time.pass(60_000);
    const { clock, wait } = time;
    const other = world(t, soundBackend(), true, { store: ledger, clock, wait });
    await time.pass(10_000);
    assert.equal(other.collector.state, 'ok', 'the pool is full');
    wish.isWanted = true;
    await time.pass(10_000);
    assert.deepEqual([collector.state, collector.status().lastError], ['failing', 'cut off']);
  });

  it('reads a job that was paid for, and starts none', async (t) => {
    const jobs = new JobDouble({ state: 'queued' });
    jobs.repeatsLastState = true;
    const before = world(t, jobs, true);
    await before.time.pass(10_000);
    await before.collector.stop();
    assert.equal(jobs.started, 1);
    jobs.repeatsLastState = false;
    const { clock, wait } = before.time;
    const { collector } = world(t, jobs, false, { store: before.ledger, clock, wait });
    await before.time.pass(60_000);
    assert.deepEqual([jobs.started, collector.status().lotsAccepted, collector.state], [1, 1, 'standby']);
  });

  it('stays closed when it is no longer wanted', async (t) => {
    const dead = failingBackend(new BackendError('permanent', 'gone'));
    const { time, wish, collector } = world(t, dead, true);
    await time.pass(0);
    wish.isWanted = false;
    await time.pass(60_000);
    assert.equal(collector.state, 'closed');
  });
});
