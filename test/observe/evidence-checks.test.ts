import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AssessedBlock } from '../../src/ledger/records.ts';
import { healthReport } from '../../src/observe/table.ts';
import type { DeliveredState } from '../../src/pool/intake/assessor.ts';
import type { SourceStatus } from '../../src/pool/intake/collector.ts';
import { LotTrends } from '../../src/pool/intake/lot-trends.ts';
import { DriftTest } from '../../src/stats/drift.ts';
import { verdictOnRejections } from '../../src/stats/sp800-22/verdict.ts';
import { lotRecord } from '../pool/fixtures.ts';
import { SOUND } from './readings.ts';

function block<Of extends string>(
  of: Of,
  passed: number,
  verified: boolean,
  sha256: string,
): AssessedBlock<Of> {
  const sp80022 = { passed, total: 188, smallestP: 0.001, verified, reason: `reason of ${sha256}` };
  return { of, bits: 1_000_000, sha256, sp80022 };
}

function evidenceChecks(sources: readonly SourceStatus[], delivered: readonly DeliveredState[]) {
  const read = sources.map((source) => ({ ...source, spend: null }));
  return healthReport({ ...SOUND, sources: read, delivered }).checks;
}

function status(changes: Partial<SourceStatus> = {}): SourceStatus {
  return {
    name: 'test',
    origin: 'simulated',
    isDeclared: false,
    state: 'ok',
    lastError: '',
    lastLot: undefined,
    lotsAccepted: 0,
    lotsRejected: 0,
    conditionedBytes: 0,
    ...new LotTrends().state(),
    reads: { pass: 0, intermittent: 0, permanent: 0, failed: 0 },
    health: null,
    ...changes,
  };
}

const lastLot = lotRecord('lot_1', {
  minEntropyPerBit: 0.79,
  minEntropyMethod: 'by ten estimators',
  assessments: [
    block('raw', 40, false, 'r'),
    block('conditioned', 170, false, 'c1'),
    block('conditioned', 187, true, 'c2'),
  ],
});

describe('evidence in health', () => {
  it('sees estimates fall that are all above what the source claims', () => {
    const trends = new LotTrends();
    for (let lot = 0; lot < 20; lot++) {
      const estimators = { Collision: 0.9, Compression: 0.85 - 0.01 * lot };
      trends.add(lotRecord(`lot_${lot}`, { rawBits: 1e6, rawWindows: 2, minEntropyPerBit: 0.5, estimators }));
    }
    assert.equal(trends.state().drift.drifts, 'down');
  });

  it('warns of raw noise whose min-entropy estimate falls from lot to lot', () => {
    const drift = new DriftTest();
    for (let lot = 0; lot < 20; lot++) drift.add(0.85 - 0.01 * lot);
    const checks = evidenceChecks([status({ drift: drift.state() })], []);
    const [check] = checks['source:raw_noise'];
    assert.equal(check.status, 'warn');
    assert.equal(check.output, 'the min-entropy estimate of the last 20 lots drifts down');
    const { drift: told } = check.details as { drift: Record<string, number> };
    assert.deepEqual([told['lots'], told['up_bits'], told['alarm_bits']], [20, 0, 20]);
    assert.ok(told['down_bits'] >= 20);
  });

  it('warns of conditioned bits whose p-values are not uniform, and only reports those of raw noise', () => {
    const crowded = { passed: false, sequences: 100, p: 1e-9, counts: [18_800, 0, 0, 0, 0, 0, 0, 0, 0, 0] };
    const checks = evidenceChecks([status({ uniformity: { raw: crowded, conditioned: crowded } })], []);
    const [conditioned] = checks['source:conditioned'];
    assert.deepEqual(
      [conditioned.status, conditioned.output],
      ['warn', 'the p-values of the last 100 blocks are not uniform'],
    );
    assert.equal(checks['source:raw_noise'][0].status, 'pass');
  });

  it('tells raw noise, conditioned bits and each delivered stream apart', () => {
    const stream: DeliveredState = {
      name: 'pro/3600000',
      last: block('delivered', 186, true, 'd'),
      sampledAtMs: Date.UTC(2026, 10, 21),
      across: verdictOnRejections(7, 0),
    };
    const across = { raw: verdictOnRejections(50, 50), conditioned: verdictOnRejections(51, 1) };
    const checks = evidenceChecks([status({ lastLot, across })], [stream]);
    const rule = { bits: 1_000_000, smallest_p: 0.001 };
    const nothingYet = { blocks: 0, p: 1, alarm_below: 1e-6, counts: new Array(10).fill(0) };
    assert.deepEqual(checks['source:raw_noise'], [
      {
        componentType: 'component',
        status: 'pass', // whatever its rows say
        observedValue: '40/188 passed',
        output: '50 of 50 blocks were rejected',
        details: {
          name: 'test',
          ...rule,
          sha256: 'r',
          verified: false,
          reason: 'reason of r',
          last_blocks: 50,
          last_blocks_rejected: 50,
          lot: 'lot_1',
          min_entropy_per_bit: 0.79,
          min_entropy_method: 'by ten estimators',
          drift: { lots: 0, down_bits: 0, up_bits: 0, alarm_bits: 20 },
          p_value_uniformity: nothingYet,
        },
      },
    ]);
    assert.deepEqual(checks['source:conditioned'], [
      {
        componentType: 'component',
        status: 'pass',
        observedValue: '187/188 passed',
        details: {
          name: 'test',
          ...rule,
          sha256: 'c2',
          verified: true,
          reason: 'reason of c2',
          last_blocks: 51,
          last_blocks_rejected: 1,
          lot: 'lot_1',
          p_value_uniformity: nothingYet,
        },
      },
    ]);
    assert.deepEqual(checks['delivery:sample'], [
      {
        componentType: 'component',
        status: 'pass',
        observedValue: '186/188 passed',
        details: {
          ...rule,
          sha256: 'd',
          verified: true,
          reason: 'reason of d',
          last_blocks: 7,
          last_blocks_rejected: 0,
          group: 'pro/3600000',
          sampled_at: '2026-11-21T00:00:00.000Z',
        },
      },
    ]);
  });

  it('warns when more blocks are rejected than chance rejects', () => {
    const across = { raw: verdictOnRejections(0, 0), conditioned: verdictOnRejections(100, 4) };
    const [conditioned] = evidenceChecks([status({ lastLot, across })], [])['source:conditioned'];
    assert.deepEqual([conditioned.status, conditioned.output], ['warn', '4 of 100 blocks were rejected']);
  });

  it('says nothing of what was not tested', () => {
    const checks = evidenceChecks([status()], []);
    for (const name of ['source:raw_noise', 'source:conditioned']) {
      const [{ status, observedValue, details }] = checks[name];
      assert.deepEqual([status, observedValue], ['pass', null]);
      assert.deepEqual((details as Record<string, unknown>)['verified'], false);
      assert.deepEqual((details as Record<string, unknown>)['reason'], 'no block was tested yet');
    }
    assert.deepEqual(checks['delivery:sample'], []);
  });
});
