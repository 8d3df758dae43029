import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COUNTED, createMetricMemory, MetricShard, MetricTotals } from '../../src/core/metrics.ts';
import { countedFamilies, exposition } from '../../src/observe/exposition.ts';

describe('the Prometheus text', () => {
  it('escapes help and label values', () => {
    const text = exposition([
      {
        name: 'a_b',
        type: 'gauge',
        help: 'one\\two\nthree "four"',
        samples: [
          { labels: { which: 'q"uote\\back\nline' }, value: 1.5 },
          { value: Infinity },
          { value: Number.NaN },
        ],
      },
    ]);
    assert.equal(
      text,
      [
        '# HELP a_b one\\\\two\\nthree "four"',
        '# TYPE a_b gauge',
        'a_b{which="q\\"uote\\\\back\\nline"} 1.5',
        'a_b +Inf',
        'a_b NaN',
        '',
      ].join('\n'),
    );
  });

  it('cumulates buckets and agrees with their count', () => {
    const memory = createMetricMemory(1);
    const shard = new MetricShard(memory, 0);
    for (const seconds of [0.00005, 0.004, 0.004, 100])
      shard.observe(COUNTED.qrn_ledger_commit_duration_seconds, 0, seconds);
    const family = countedFamilies(new MetricTotals(memory)).find(
      ({ name }) => name === COUNTED.qrn_ledger_commit_duration_seconds.name,
    );
    assert.ok(family);
    const values = new Map(
      family.samples.map(({ suffix, labels, value }) => [`${suffix} ${labels?.['le'] ?? ''}`, value]),
    );
    assert.equal(values.get('_bucket 0.0001'), 1);
    assert.equal(values.get('_bucket 0.003'), 1);
    assert.equal(values.get('_bucket 0.005'), 3);
    assert.equal(values.get('_bucket 5'), 3);
    assert.equal(values.get('_bucket +Inf'), 4);
    assert.equal(values.get('_count '), 4);
    assert.ok(Math.abs(values.get('_sum ')! - 100.00805) < 1e-9);
  });

  it('shows a pair of labels once it occurred', () => {
    const memory = createMetricMemory(1);
    const samples = () =>
      countedFamilies(new MetricTotals(memory)).find(
        ({ name }) => name === COUNTED.qrn_http_requests_total.name,
      )!.samples;
    assert.deepEqual(samples(), []);
    new MetricShard(memory, 0).add(COUNTED.qrn_http_requests_total, 0);
    assert.deepEqual(samples(), [{ labels: { endpoint: 'integers', code: '200' }, value: 1 }]);
  });
});
