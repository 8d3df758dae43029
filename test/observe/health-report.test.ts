import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HealthStatus } from '../../src/http/plain-routes.ts';
import { pureSecondsLeft, type Readings, seedSecondsLeft } from '../../src/observe/readings.ts';
import { healthReport } from '../../src/observe/table.ts';
import { LOT, SOUND, SOURCE } from './readings.ts';

const WITNESS = { name: 'w.example/w1', size: 12, cosignedAtS: 1_700_000_090, failure: null };

/** The checks that do not pass, by name. */
function wrong(change: Partial<Readings>): Record<string, HealthStatus> {
  const { checks } = healthReport({ ...SOUND, ...change });
  const all = Object.entries(checks).flatMap(([name, each]) =>
    each.map(({ status }) => [name, status] as const),
  );
  return Object.fromEntries(all.filter(([, status]) => status !== 'pass'));
}

describe('health', () => {
  it('passes when everything is as it should be', () => {
    const report = healthReport(SOUND);
    assert.equal(report.status, 'pass');
    assert.deepEqual(wrong({}), {});
    assert.match(report.releaseId, /^\d+\.\d+\.\d+/);
    assert.equal(report.time, '2023-11-14T22:15:00.000Z');
  });

  it('fails as a whole only when the ledger cannot be written', () => {
    const ledger = { ...SOUND.ledger, writable: false, reason: 'the disk is full' };
    assert.equal(healthReport({ ...SOUND, ledger }).status, 'fail');
    assert.equal(healthReport({ ...SOUND, ledger }).checks['ledger:writable'][0].output, 'the disk is full');
    const worst: Partial<Readings> = {
      sources: [{ ...SOURCE, state: 'closed', lastError: 'stuck' }],
      levels: { pure: { blocks: 0, bytes: 0 }, seed: { blocks: 0, bytes: 0 } },
      systemLot: undefined,
      seeds: SOUND.seeds.map((seed) => ({ ...seed, inForce: false })),
      diskFreeBytes: 0,
    };
    assert.equal(healthReport({ ...SOUND, ...worst }).status, 'warn');
    assert.equal(wrong(worst)['source:state'], 'warn', 'the system source is still starting');
  });

  it('reports the fault of each part', () => {
    const minute = SOUND.minute;
    const lot = { ...LOT, accepted: false, rejection: 'SP 800-22 failed' };
    const health = SOURCE.health!;
    const cases: [Partial<Readings>, Record<string, HealthStatus>][] = [
      [{ clockJumpMs: -120_001 }, { 'clock:wall': 'fail' }],
      [{ integrity: { ...SOUND.integrity, startAudit: 'running' } }, { 'ledger:audit': 'warn' }],
      [{ integrity: { ...SOUND.integrity, startAudit: 'sound' } }, {}],
      [{ integrity: { ...SOUND.integrity, startAudit: 'damaged' } }, { 'ledger:audit': 'fail' }],
      [{ integrity: { startAudit: 'none', scrub: null, database: null } }, {}],
      [
        {
          integrity: {
            startAudit: 'none',
            database: null,
            scrub: { ...SOUND.integrity.scrub!, damaged: 1, problems: ['segments 3: damaged'] },
          },
        },
        { 'ledger:scrub': 'fail' },
      ],
      [{ minute: { ...minute, commitP50Ms: 101 } }, { 'ledger:commit_time': 'warn' }],
      [{ minute: { ...minute, commitMaxMs: 1001 } }, { 'ledger:commit_time': 'warn' }],
      [{ minute: { ...minute, commitP50Ms: null, commitMaxMs: null } }, {}],
      [{ minute: { ...minute, lateSeconds: 9 } }, {}],
      [{ minute: { ...minute, lateSeconds: 10 } }, { 'eventloop:delay': 'warn' }],
      [{ diskFreeBytes: 2 ** 30 - 1 }, { 'disk:free': 'warn' }],
      [{ levels: { ...SOUND.levels, pure: { blocks: 1, bytes: 65_535 } } }, { 'pool:pure': 'warn' }],
      [{ levels: { ...SOUND.levels, pure: { blocks: 0, bytes: 0 } } }, { 'pool:pure': 'fail' }],
      [{ pureBytesPerS: 4_096_000 / 599 }, { 'pool:pure': 'warn' }],
      [{ pureBytesPerS: 0 }, {}],
      [{ pendingLots: { lots: 1, oldestMs: 60_000 } }, {}],
      [{ pendingLots: { lots: 2, oldestMs: 60_001 } }, { 'pool:held_lots': 'warn' }],
      [{ witnesses: [WITNESS] }, {}],
      [{ witnesses: [WITNESS, { ...WITNESS, failure: 'it answered 500' }] }, { 'log:witness': 'warn' }],
      [{ levels: { ...SOUND.levels, seed: { blocks: 0, bytes: 0 } } }, { 'pool:quantum-seeded': 'warn' }],
      [
        { seeds: [{ ...SOUND.seeds[0], inForce: false }, SOUND.seeds[1]] },
        { 'pool:quantum-seeded': 'fail', 'pool:seed_age': 'fail' },
      ],
      [{ systemLot: undefined }, { 'pool:csprng': 'warn', 'source:state': 'warn' }],
      [{ systemLot: null }, { 'pool:csprng': 'fail', 'source:state': 'warn' }],
      [{ sources: [{ ...SOURCE, state: 'failing' }] }, { 'source:state': 'warn' }],
      [{ sources: [{ ...SOURCE, state: 'starting' }] }, { 'source:state': 'warn' }],
      [{ sources: [{ ...SOURCE, state: 'closed' }] }, { 'source:state': 'fail', 'pool:pure': 'fail' }],
      [{ sources: [{ ...SOURCE, lastLot: lot }] }, { 'source:last_lot': 'warn' }],
      [{ sources: [{ ...SOURCE, lastLot: undefined }] }, {}],
      [
        { sources: [{ ...SOURCE, health: { ...health, intermittentInARow: 1 } }] },
        { 'source:health_tests': 'warn' },
      ],
      [
        {
          sources: [
            {
              ...SOURCE,
              health: {
                ...health,
                latchedBy: [{ test: 'rct', grade: 'permanent', channel: 3, observed: 70, cutoff: 62 }],
              },
            },
          ],
        },
        { 'source:health_tests': 'fail' },
      ],
      [{ sources: [{ ...SOURCE, health: null }] }, {}],
    ];
    for (const [change, expected] of cases) assert.deepEqual(wrong(change), expected, JSON.stringify(change));
  });

  it('has a row for each witness: its last cosignature and its time, or why it does not cosign', () => {
    const failing = {
      ...WITNESS,
      name: 'w.example/w2',
      size: null,
      cosignedAtS: null,
      failure: 'it answered 500',
    };
    const { checks } = healthReport({ ...SOUND, witnesses: [WITNESS, failing] });
    assert.deepEqual(
      checks['log:witness'].map(({ status, observedValue, output, details }) => {
        const { name, qrn_witness_cosigned_timestamp_seconds: atS } = details as Record<string, unknown>;
        return [name, status, observedValue, atS, output];
      }),
      [
        ['w.example/w1', 'pass', 12, 1_700_000_090, undefined],
        ['w.example/w2', 'warn', null, null, 'w.example/w2 does not cosign: it answered 500'],
      ],
    );
    assert.equal(healthReport(SOUND).checks['log:witness'], undefined, 'no witness is named');
  });

  it('reports how long stocks last', () => {
    assert.equal(pureSecondsLeft(SOUND), 40_960);
    assert.equal(pureSecondsLeft({ ...SOUND, pureBytesPerS: 0 }), null);
    // one seed an hour and one every five minutes
    assert.ok(Math.abs(seedSecondsLeft(SOUND)! - 200 / (1 / 3600 + 1 / 300)) < 1e-9);
  });
});
