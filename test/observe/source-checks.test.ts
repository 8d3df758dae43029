import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SourceReading } from '../../src/observe/readings.ts';
import { healthReport, readingFamilies } from '../../src/observe/table.ts';
import { PAID_SOURCE, SOUND, SOURCE } from './readings.ts';

const checksOf = (...sources: SourceReading[]) => healthReport({ ...SOUND, sources }).checks;
const detail = (check: { details?: object }, name: string) =>
  (check.details as Record<string, unknown>)[name];

describe('several sources in health', () => {
  it('are reported one by one, by priority, with their share of the lots', () => {
    const checks = checksOf(SOURCE, PAID_SOURCE);
    for (const name of ['source:health_tests', 'source:last_lot', 'source:raw_noise', 'source:conditioned']) {
      assert.deepEqual(
        checks[name].map((check) => detail(check, 'name')),
        ['simulator', 'ibm'],
        name,
      );
    }
    const states = checks['source:state'];
    assert.deepEqual(
      states.map((check) => [detail(check, 'name'), check.observedValue, check.status]),
      [
        ['simulator', 'ok', 'pass'],
        ['ibm', 'standby', 'pass'],
        ['system', 'ok', 'pass'],
      ],
    );
    assert.deepEqual(
      states.map((check) => [detail(check, 'share_of_lots'), detail(check, 'share_of_bytes')]),
      [
        [0.75, 0.75],
        [0.25, 0.25],
        [undefined, undefined],
      ],
    );
  });

  it('have no share before any lot came', () => {
    const none = { ...SOURCE, lotsAccepted: 0, conditionedBytes: 0 };
    const [state] = checksOf(none)['source:state'];
    assert.deepEqual([detail(state, 'share_of_lots'), detail(state, 'share_of_bytes')], [null, null]);
  });

  it('keep pure mode open until the last of them is closed', () => {
    const closed = { ...SOURCE, state: 'closed' } as const;
    const one = checksOf(closed, PAID_SOURCE);
    assert.deepEqual([one['source:state'][0].status, one['pool:pure'][0].status], ['fail', 'pass']);
    assert.equal(checksOf(closed, { ...PAID_SOURCE, state: 'closed' })['pool:pure'][0].status, 'fail');
  });

  it("warn when a day's budget is nearly spent", () => {
    assert.equal(checksOf(SOURCE)['source:spend'], undefined, 'it costs nothing');
    const spent = (amount: number, calls: number, limits = PAID_SOURCE.spend!.limits) =>
      checksOf(SOURCE, { ...PAID_SOURCE, spend: { ...PAID_SOURCE.spend!, amount, calls, limits } })[
        'source:spend'
      ];
    const [half] = spent(5, 3);
    assert.deepEqual([half.status, half.observedValue, half.observedUnit], ['pass', 5, 'USD']);
    assert.deepEqual(detail(half, 'qrn_source_budget_per_day'), { USD: 10 });
    assert.deepEqual([detail(half, 'name'), detail(half, 'qrn_source_calls_per_day')], ['ibm', 20]);
    assert.equal(spent(8.99, 17)[0].status, 'pass');
    assert.equal(spent(9, 0)[0].status, 'warn');
    assert.equal(spent(0, 18)[0].status, 'warn');
    assert.equal(spent(1e6, 1e6, { amountPerDay: null, callsPerDay: null })[0].status, 'pass');
  });
});

describe('several sources in metrics', () => {
  const sourceFamilies = (...sources: SourceReading[]) =>
    readingFamilies({ ...SOUND, sources }).filter(({ name }) =>
      /^qrn_(?:source|lots?|health_test)_/.test(name),
    );
  const families = sourceFamilies(SOURCE, PAID_SOURCE);
  const samples = (name: string) => families.find((each) => each.name === name)!.samples;

  it('are identified by name', () => {
    for (const { name, samples } of families) {
      for (const { labels } of samples) {
        assert.ok(['simulator', 'ibm'].includes(labels!['source']), name);
      }
    }
    const states = samples('qrn_source_state').filter(({ value }) => value === 1);
    assert.deepEqual(
      states.map(({ labels }) => labels),
      [
        { source: 'simulator', origin: 'simulated', state: 'ok' },
        { source: 'ibm', origin: 'quantum-processor', state: 'standby' },
      ],
    );
    assert.deepEqual(
      samples('qrn_source_conditioned_bytes_total').map(({ value }) => value),
      [900_000, 300_000],
    );
  });

  it('have a series of expense and bounds if they have any', () => {
    const by = { source: 'ibm', currency: 'USD' };
    assert.deepEqual(samples('qrn_source_spend_today'), [{ labels: by, value: 5 }]);
    assert.deepEqual(samples('qrn_source_budget_per_day'), [{ labels: by, value: 10 }]);
    assert.deepEqual(samples('qrn_source_calls_today'), [{ labels: { source: 'ibm' }, value: 3 }]);
    assert.deepEqual(samples('qrn_source_calls_per_day'), [{ labels: { source: 'ibm' }, value: 20 }]);
    const unlimited = { ...PAID_SOURCE.spend!, limits: { amountPerDay: null, callsPerDay: null } };
    const free = sourceFamilies({ ...PAID_SOURCE, spend: unlimited });
    assert.deepEqual(free.find(({ name }) => name === 'qrn_source_budget_per_day')!.samples, []);
  });
});
