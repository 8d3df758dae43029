import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AssessedBlock } from '../../src/ledger/records.ts';
import { healthReport } from '../../src/observe/table.ts';
import type { SourceStatus } from '../../src/pool/intake/collector.ts';
import type { DeliveredState } from '../../src/pool/intake/delivered-sampler.ts';
import { LotAlarm } from '../../src/pool/intake/lot-alarm.ts';
import { lotRecord } from '../pool/fixtures.ts';
import { SOUND, SOURCE } from './readings.ts';

function block<Of extends string>(
  of: Of,
  passed: number,
  verified: boolean,
  sha256: string,
): AssessedBlock<Of> {
  const sp80022 = {
    passed,
    total: 188,
    smallestP: 0.001,
    verified,
    reason: `reason of ${sha256}`,
    deciles: '',
  };
  return { of, bits: 1_000_000, firstBit: 0, sha256, sp80022 };
}

function evidenceChecks(sources: readonly SourceStatus[], delivered: readonly DeliveredState[]) {
  const read = sources.map((source) => ({ ...source, spend: null }));
  return healthReport({ ...SOUND, sources: read, delivered }).checks;
}

const status = (changes: Partial<SourceStatus> = {}): SourceStatus => ({
  ...SOURCE,
  name: 'test',
  lastLot: undefined,
  ...changes,
});

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
  it('warns of lots that together are not those of a sound source, and names the test', () => {
    for (const [raisedBy, words] of [
      ['fall', /the estimated min-entropy falls from lot to lot/],
      ['rejections', /more blocks fail SP 800-22 than chance/],
    ] as const) {
      const alarm = { bits: 21.26, alarmBits: 20, raisedBy, estimates: [] };
      const [check] = evidenceChecks([status({ alarm, lastLot })], [])['source:last_lot'];
      assert.equal(check.status, 'warn');
      assert.match(check.output ?? '', words);
      const { alarm: told } = check.details as { alarm: object };
      assert.deepEqual(told, { bits: 21.26, alarm_bits: 20, raised_by: raisedBy });
      const refused = { ...lastLot, accepted: false, rejection: 'SP 800-22 failed' };
      const [last] = evidenceChecks([status({ alarm, lastLot: refused })], [])['source:last_lot'];
      assert.equal(last.output, 'SP 800-22 failed', 'what is newest is said');
    }
  });

  it('reports raw noise, conditioned bits and each delivered stream separately', () => {
    const stream: DeliveredState = {
      name: 'pro/3600000',
      last: block('delivered', 186, true, 'd'),
      sampledAtMs: Date.UTC(2026, 10, 21),
      alarm: new LotAlarm().state(),
    };
    const checks = evidenceChecks([status({ lastLot })], [stream]);
    const told = (name: string) =>
      checks[name].map(({ status, observedValue, details }) => {
        const { name: of, sha256, verified } = details as Record<string, unknown>;
        return [of, status, observedValue, sha256, verified];
      });
    // raw noise passes whatever its rows say
    assert.deepEqual(told('source:raw_noise'), [['test', 'pass', '40/188 passed', 'r', false]]);
    assert.deepEqual(told('source:conditioned'), [['test', 'pass', '187/188 passed', 'c2', true]]);
    assert.deepEqual(told('delivery:sample'), [['pro/3600000', 'pass', '186/188 passed', 'd', true]]);
  });

  it('says nothing of what was not tested', () => {
    const checks = evidenceChecks([status()], []);
    for (const name of ['source:raw_noise', 'source:conditioned']) {
      const [{ status, observedValue, details }] = checks[name];
      assert.deepEqual([status, observedValue], ['pass', null]);
      assert.deepEqual((details as Record<string, unknown>)['verified'], false);
      assert.deepEqual((details as Record<string, unknown>)['reason'], 'no block was tested yet');
    }
    assert.equal(checks['delivery:sample'], undefined);
  });
});
