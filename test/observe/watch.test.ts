import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '../../src/core/errors.ts';
import { COUNTED, createMetricMemory, MetricShard } from '../../src/core/metrics.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { TICK_MS, Watch } from '../../src/observe/watch.ts';
import { ManualClock } from '../support/manual-clock.ts';

const PURE = 1;

/** A watch over one front, on a clock that stands still, with a ledger whose writes the test settles. */
function world() {
  const clock = new ManualClock();
  const metricMemory = createMetricMemory(1);
  const shard = new MetricShard(metricMemory, 0);
  const writes: { done: () => void; fail: (error: Error) => void }[] = [];
  const ledger: Pick<Ledger, 'probe'> = {
    probe: () => new Promise((resolve, reject) => writes.push({ done: resolve, fail: reject })),
  };
  const watch = new Watch({ metricMemory, ledger, clock });
  const pass = (seconds: number, each: () => void = () => {}) => {
    for (let i = 0; i < seconds; i++) {
      clock.advance(TICK_MS);
      each();
      watch.tick();
    }
  };
  watch.tick();
  return { clock, shard, watch, writes, pass };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the last minute', () => {
  it('is zero before anything happened', () => {
    const { watch, pass } = world();
    pass(3);
    assert.deepEqual(watch.lastMinute(), {
      requestsPerS: 0,
      commits: 0,
      commitP50Ms: null,
      commitMaxMs: null,
      loopDelayP99Ms: 0,
      loopDelayMaxMs: 0,
      lateSeconds: 0,
    });
  });

  it('has rates and times of the last sixty seconds alone', () => {
    const { watch, shard, pass } = world();
    pass(100, () => {
      shard.add(COUNTED.qrn_http_requests_total, 0, 50);
      for (let i = 0; i < 9; i++) shard.observe(COUNTED.qrn_ledger_commit_duration_seconds, 0, 0.5);
      shard.set(COUNTED.qrn_ledger_commit_duration_max_seconds, 0.9);
      shard.set(COUNTED.qrn_event_loop_delay_p99_seconds, 0.3);
    });
    pass(60, () => {
      shard.add(COUNTED.qrn_http_requests_total, 0, 5);
      shard.observe(COUNTED.qrn_ledger_commit_duration_seconds, 0, 0.0015);
      shard.set(COUNTED.qrn_ledger_commit_duration_max_seconds, 0.0016);
      shard.set(COUNTED.qrn_event_loop_delay_p99_seconds, 0.001);
    });
    const minute = watch.lastMinute();
    assert.equal(minute.requestsPerS, 5);
    assert.equal(minute.commits, 60);
    // half of what lies between 1 and 2 ms
    assert.equal(minute.commitP50Ms, 1.5);
    assert.equal(minute.commitMaxMs, 1.6);
    assert.equal(minute.loopDelayP99Ms, 1);
    assert.equal(minute.lateSeconds, 1, 'the second at which the minute begins');
  });
});

it('the rate of draws covers the last five minutes', () => {
  const { watch, shard, pass } = world();
  pass(300, () => shard.add(COUNTED.qrn_entropy_consumed_bytes_total, PURE, 1000));
  assert.equal(watch.pureBytesPerS(), 1000);
  pass(150, () => shard.add(COUNTED.qrn_entropy_consumed_bytes_total, PURE, 2000));
  assert.equal(watch.pureBytesPerS(), 1500);
  pass(310);
  assert.equal(watch.pureBytesPerS(), 0);
});

describe('the writability of the ledger', () => {
  it('is tested every ten seconds, one test at a time', async () => {
    const { watch, writes, pass, clock } = world();
    await settled();
    assert.equal(writes.length, 1);
    pass(25);
    assert.equal(writes.length, 1);
    writes[0].done();
    await settled();
    assert.deepEqual(watch.writability(), {
      writable: true,
      reason: '',
      writtenAtMs: clock.wallMs(),
      writtenInMs: 25_000,
    });
    pass(10);
    await settled();
    assert.equal(writes.length, 2);
  });

  it('is false while a write is not durable after five seconds', async () => {
    const { watch, writes, pass } = world();
    await settled();
    pass(4);
    assert.equal(watch.writability().writable, true);
    pass(3);
    assert.equal(watch.writability().writable, false);
    assert.equal(watch.writability().reason, 'a write is not durable after 7 s');
    writes[0].done();
    await settled();
    assert.equal(watch.writability().writable, true);
  });

  it('is false with the reason of the last test, until one succeeds', async () => {
    const { watch, writes, pass } = world();
    await settled();
    writes[0].fail(new ApiError('storage_unavailable'));
    await settled();
    const { writable, reason } = watch.writability();
    assert.equal(writable, false);
    assert.match(reason, /ledger cannot store answers/);
    pass(10);
    await settled();
    writes[1].done();
    await settled();
    assert.equal(watch.writability().writable, true);
  });
});
