import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import {
  COUNTED,
  createMetricMemory,
  labelsOf,
  MetricShard,
  MetricTotals,
  quantileOf,
  STATUS_LABELS,
} from '../../src/core/metrics.ts';
import { reasonOf } from '../../src/http/head.ts';

describe('counts in shared memory', () => {
  it('have their own cells: no family overlaps another', () => {
    let next = 0;
    for (const { name, at, rows, width } of Object.values(COUNTED)) {
      assert.equal(at, next, name);
      next = at + rows * width;
    }
  });

  it('are combined over all shards, gauges by sum or by maximum', () => {
    const memory = createMetricMemory(3);
    const shards = [0, 1, 2].map((shard) => new MetricShard(memory, shard));
    shards.forEach((shard, i) => {
      shard.add(COUNTED.qrn_answers_total, 4, 10 ** i);
      shard.set(COUNTED.qrn_http_connections, i + 1);
      shard.set(COUNTED.qrn_ledger_commit_duration_max_seconds, [0.2, 0.7, 0.1][i]);
    });
    const totals = new MetricTotals(memory);
    assert.equal(totals.value(COUNTED.qrn_answers_total, 4), 111);
    assert.equal(totals.value(COUNTED.qrn_answers_total, 3), 0);
    assert.equal(totals.value(COUNTED.qrn_http_connections), 6);
    assert.equal(totals.value(COUNTED.qrn_ledger_commit_duration_max_seconds), 0.7);
  });

  it('are seen from another thread', async () => {
    const memory = createMetricMemory(2);
    const file = JSON.stringify(new URL('../../src/core/metrics.ts', import.meta.url).href);
    const worker = new Worker(
      `const { workerData } = require('node:worker_threads');
       import(${file}).then(({ MetricShard, COUNTED }) => {
         const shard = new MetricShard(workerData, 1);
         for (let i = 0; i < 100000; i++) shard.add(COUNTED.qrn_http_requests_total, 2);
         shard.set(COUNTED.qrn_http_connections, 7);
       });`,
      { eval: true, workerData: memory },
    );
    const mine = new MetricShard(memory, 0);
    for (let i = 0; i < 50_000; i++) mine.add(COUNTED.qrn_http_requests_total, 2);
    await new Promise((resolve) => worker.once('exit', resolve));
    const totals = new MetricTotals(memory);
    assert.equal(totals.value(COUNTED.qrn_http_requests_total, 2), 150_000);
    assert.equal(totals.value(COUNTED.qrn_http_connections), 7);
  });

  it('name each row by its labels, the last varying fastest', () => {
    assert.deepEqual(labelsOf(COUNTED.qrn_http_requests_total, 0), { endpoint: 'integers', code: '200' });
    assert.deepEqual(labelsOf(COUNTED.qrn_http_requests_total, 1), { endpoint: 'integers', code: '201' });
    assert.deepEqual(labelsOf(COUNTED.qrn_http_requests_total, STATUS_LABELS.length), {
      endpoint: 'bytes',
      code: '200',
    });
    assert.deepEqual(labelsOf(COUNTED.qrn_ledger_commit_duration_seconds, 0), {});
    for (const family of Object.values(COUNTED)) {
      const names = Array.from({ length: family.rows }, (_, row) => JSON.stringify(labelsOf(family, row)));
      assert.equal(new Set(names).size, family.rows, family.name);
    }
  });

  it('know every status that the service can send', () => {
    for (let status = 100; status < 600; status++) {
      const known = STATUS_LABELS.some((label) => label === String(status));
      if (known) assert.ok(reasonOf(status));
      else assert.throws(() => reasonOf(status));
    }
  });
});

describe('histograms', () => {
  it('count each observation in the first bucket that holds it', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 30, noNaN: true }), { maxLength: 50 }), (seconds) => {
        const memory = createMetricMemory(1);
        const shard = new MetricShard(memory, 0);
        for (const each of seconds) shard.observe(COUNTED.qrn_http_request_duration_seconds, 1, each);
        const totals = new MetricTotals(memory);
        const { bounds } = COUNTED.qrn_http_request_duration_seconds;
        const expected = [...bounds, Infinity].map(
          (bound, i) => seconds.filter((each) => each <= bound && (i === 0 || each > bounds[i - 1])).length,
        );
        assert.deepEqual([...totals.buckets(COUNTED.qrn_http_request_duration_seconds, 1)], expected);
        assert.equal(
          totals.sum(COUNTED.qrn_http_request_duration_seconds, 1),
          seconds.reduce((sum, each) => sum + each, 0),
        );
        assert.deepEqual(
          [...totals.buckets(COUNTED.qrn_http_request_duration_seconds, 0)].filter((count) => count !== 0),
          [],
        );
      }),
    );
  });

  it('give quantiles by linear interpolation within a bucket, and the last bound beyond it', () => {
    const bounds = [1, 2, 4];
    assert.equal(quantileOf(new Float64Array([0, 0, 0, 0]), bounds, 0.5), undefined);
    assert.equal(quantileOf(new Float64Array([10, 0, 0, 0]), bounds, 0.5), 0.5);
    assert.equal(quantileOf(new Float64Array([0, 10, 0, 0]), bounds, 0.5), 1.5);
    assert.equal(quantileOf(new Float64Array([0, 0, 10, 0]), bounds, 1), 4);
    assert.equal(quantileOf(new Float64Array([1, 0, 3, 0]), bounds, 0.5), 2 + 2 / 3);
    assert.equal(quantileOf(new Float64Array([0, 0, 0, 5]), bounds, 0.5), 4);
  });
});
