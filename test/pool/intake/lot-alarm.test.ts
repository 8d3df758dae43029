import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AssessedBlock, type LotRecord, PURE_BLOCK_BYTES } from '../../../src/ledger/records.ts';
import { ASSESSED_BITS } from '../../../src/pool/intake/assessor.ts';
import { LotAlarm } from '../../../src/pool/intake/lot-alarm.ts';
import { soundBackend } from '../../support/backends.ts';
import { uniforms } from '../../support/chance.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';
import { lotRecord, withCalls } from '../fixtures.ts';
import { collecting } from './collecting.ts';

function block(
  verified: boolean,
  of: AssessedBlock['of'] = 'conditioned',
  bits: number = ASSESSED_BITS,
  firstBit = 0,
): AssessedBlock {
  const sp80022 = { passed: 1, total: 1, smallestP: 0.5, verified, reason: '', deciles: '' };
  return { of, bits, firstBit, sha256: '', sp80022 };
}

/** An accepted lot with this estimate of its own, and these conditioned windows. */
function lotOf(estimate: number, windows: readonly boolean[] = [true, true]): LotRecord {
  const estimators = { Collision: 0.95, Compression: estimate };
  const assessments = windows.map((verified) => block(verified));
  return lotRecord('lot_1', { rawBits: 1e6, rawWindows: 2, minEntropyPerBit: 0.5, estimators, assessments });
}

/** Lots until the alarm is raised, and by what; undefined when `most` were not enough. */
function raised(next: (lot: number) => LotRecord, most: number): [number, string] | undefined {
  const alarm = new LotAlarm();
  for (let lot = 1; lot <= most; lot++) {
    alarm.add(next(lot), 0.006);
    const { raisedBy } = alarm.state();
    if (raisedBy !== null) return [lot, raisedBy];
  }
  return undefined;
}

describe('the alarm over lots', () => {
  it('is not raised by a sound source that chance refuses at the highest rate, in 2,000 lots of each of 5', () => {
    for (let source = 0; source < 5; source++) {
      const random = uniforms(`sound ${source}`);
      const found = raised(() => {
        const lot = lotOf(0.8 + random() / 10, [random() >= 0.002, random() >= 0.002]);
        return { ...lot, accepted: random() >= 0.006 };
      }, 2_000);
      assert.equal(found, undefined);
    }
  });

  it("finds estimates that fall or rise, though all of them are above the source's claim", () => {
    assert.deepEqual(
      raised((lot) => lotOf(0.9 - 0.005 * lot), 100),
      [14, 'fall'],
    );
    assert.deepEqual(
      raised((lot) => lotOf(0.6 + 0.005 * lot), 100),
      [14, 'rise'],
    );
    const random = uniforms('two deviations');
    const normal = () => (random() + random() + random() + random() - 2) / Math.sqrt(1 / 3);
    const [lots, by] = raised((lot) => lotOf(0.85 + 0.01 * (normal() - (lot > 200 ? 2 : 0))), 400)!;
    assert.ok(by === 'fall' && lots > 200 && lots < 250, `${by} after ${lots}`);
  });

  it('finds blocks that are rejected more often than one in 500, and refused lots', () => {
    assert.deepEqual(
      raised((lot) => lotOf(0.85, [lot % 4 !== 0, true]), 200),
      [24, 'rejections'],
    );
    assert.deepEqual(
      raised((lot) => ({ ...lotOf(0.85), accepted: lot % 4 !== 0 }), 200),
      [24, 'refusals'],
    );
    assert.equal(
      raised((lot) => lotOf(0.85, [lot % 400 !== 0, true]), 4_000),
      undefined,
    );
  });

  it('stays raised, and starts over after 4,096 estimates', () => {
    const alarm = new LotAlarm();
    const isRaised = () => alarm.state().raisedBy !== null;
    for (let lot = 0; lot < 40; lot++) alarm.add(lotOf(0.9 - 0.005 * lot));
    for (let lot = 40; lot < 4_096; lot++) alarm.add(lotOf(0.85));
    assert.ok(isRaised());
    alarm.add(lotOf(0.85));
    assert.ok(!isRaised() && alarm.state().bits < 1);
  });

  it('ignores blocks that are too short for a verdict, raw noise, and overlapping windows', () => {
    const alarm = new LotAlarm();
    for (let i = 0; i < 50; i++) {
      alarm.addBlocks([block(false, 'conditioned', ASSESSED_BITS - 8)]);
      alarm.addBlocks([block(false, 'conditioned', ASSESSED_BITS, 12_345)]);
      alarm.add(lotRecord('lot_1', { assessments: [block(false, 'raw')] }));
    }
    assert.deepEqual(alarm.state(), { bits: 0, alarmBits: 20, raisedBy: null, estimates: [] });
  });
});

describe('a source across its lots', () => {
  const LARGE = { pureBytesHigh: PURE_BLOCK_BYTES, lotRawBits: 4 * 1024 * 1024 };

  it('includes lots of earlier runs, though other sources had more since', async (t) => {
    const ledger = memoryLedger(new ManualClock());
    const source = soundBackend().name;
    for (let i = 0; i < 20; i++) {
      const id = `lot_${String(i).padStart(26, '0')}`;
      await ledger.addLot(lotRecord(id, { source, assessments: [block(i % 2 === 0)] }), []);
    }
    // a busy source beside it must not push its own out
    for (let i = 0; i < 260; i++) {
      await ledger.addLot(lotRecord(`lot_other${i}`, { source: 'other', assessments: [block(true)] }), []);
    }
    const { time, collector } = collecting(t, soundBackend(), { ...LARGE, store: ledger });
    assert.equal(collector.status().alarm.raisedBy, null);
    await time.pass(0);
    assert.equal(collector.status().alarm.raisedBy, 'rejections');
  });

  it('retries when its history cannot be read, and reads nothing of the source before', async (t) => {
    let isAway = true;
    const store = withCalls(memoryLedger(new ManualClock()), {
      lots: (lots) => async (limit, source) => {
        if (isAway) throw new Error('the disk is away');
        return lots(limit, source);
      },
    });
    const { time, log, collector } = collecting(t, soundBackend(), { ...LARGE, store });
    await time.pass(500);
    assert.deepEqual(log.reasons(), [
      [
        'the disk is away',
        'could not read the earlier lots of a source: it is not read before; trying again',
      ],
    ]);
    assert.equal(collector.status().reads.pass, 0);
    isAway = false;
    await time.pass(1_000);
    assert.equal(collector.status().lotsAccepted, 1);
  });
});
