import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AssessedBlock, PURE_BLOCK_BYTES } from '../../../src/ledger/records.ts';
import { ASSESSED_BITS, BlockHistory, HISTORY_BLOCKS } from '../../../src/pool/intake/assessor.ts';
import { soundBackend } from '../../support/backends.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryLedger } from '../../support/memory-ledger.ts';
import { lotRecord, withCalls } from '../fixtures.ts';
import { collecting } from './collecting.ts';

function block(
  verified: boolean,
  of: AssessedBlock['of'] = 'conditioned',
  bits: number = ASSESSED_BITS,
): AssessedBlock {
  return { of, bits, sha256: '', sp80022: { passed: 1, total: 1, smallestP: 0.5, verified, reason: '' } };
}

function historyOf(verdicts: readonly boolean[]): BlockHistory {
  const history = new BlockHistory();
  for (const verified of verdicts) history.add(block(verified));
  return history;
}

const good = (count: number) => new Array<boolean>(count).fill(true);
const bad = (count: number) => new Array<boolean>(count).fill(false);

describe('blocks looked at together', () => {
  it('keeps the last hundred blocks and forgets older ones', () => {
    const history = historyOf([...bad(5), ...good(95)]);
    assert.deepEqual([history.verdict().rejected, history.verdict().sequences], [5, HISTORY_BLOCKS]);
    for (const verified of good(4)) history.add(block(verified));
    assert.deepEqual([history.verdict().rejected, history.verdict().sequences], [1, HISTORY_BLOCKS]);
  });

  it('says nothing of blocks that are too short for a verdict', () => {
    const history = historyOf(good(10));
    history.add(block(false, 'conditioned', ASSESSED_BITS - 8));
    assert.deepEqual([history.verdict().rejected, history.verdict().sequences], [0, 10]);
  });
});

describe('a source across its lots', () => {
  // Conditioned output of two blocks of 10^6 bits a lot.
  const LARGE = { pureBytesHigh: PURE_BLOCK_BYTES, lotRawBits: 4 * 1024 * 1024 };

  it('counts its raw and its conditioned blocks apart, the second of a lot as well', async (t) => {
    const { time, assessor, collector } = collecting(t, soundBackend(), LARGE);
    assessor.verdicts = [false, true];
    assert.equal(collector.status().across.conditioned.sequences, 0);
    await time.pass(1_000);
    const { raw, conditioned } = collector.status().across;
    assert.equal(collector.status().lotsAccepted, 1);
    assert.deepEqual([raw.sequences, raw.rejected], [1, 0]);
    assert.deepEqual([conditioned.sequences, conditioned.rejected], [2, 1]);
  });

  it('remembers the lots of earlier runs, oldest first, though other sources had more since', async (t) => {
    const ledger = new MemoryLedger(new ManualClock());
    const source = soundBackend().name;
    // of 100 conditioned blocks the oldest two, one of them rejected, make room for those of the new lot
    for (let i = 0; i < 50; i++) {
      const id = `lot_${String(i).padStart(26, '0')}`;
      const assessments = [block(i > 2, 'raw'), block(i > 0), block(i !== 40)];
      await ledger.addLot(lotRecord(id, { source, assessments }), []);
    }
    // a busy source beside it must not push its own out
    for (let i = 0; i < 260; i++) {
      await ledger.addLot(lotRecord(`lot_other${i}`, { source: 'other', assessments: [block(false)] }), []);
    }
    const { time, assessor, collector } = collecting(t, soundBackend(), { ...LARGE, store: ledger });
    assessor.verdicts = [false, false];
    await time.pass(0);
    const { raw, conditioned } = collector.status().across;
    assert.deepEqual([raw.sequences, raw.rejected], [51, 3]);
    assert.deepEqual([conditioned.sequences, conditioned.rejected], [HISTORY_BLOCKS, 3]);
  });

  it('asks again for a history that cannot be read, and reads nothing of the source before', async (t) => {
    let isAway = true;
    const store = withCalls(new MemoryLedger(new ManualClock()), {
      lots: (lots) => async (limit, source) => {
        if (isAway) throw new Error('the disk is away');
        return lots(limit, source);
      },
    });
    const { time, log, collector } = collecting(t, soundBackend(), { ...LARGE, store });
    await time.pass(500);
    assert.deepEqual(log.reasons(), [['the disk is away', 'earlier lots not read']]);
    assert.equal(collector.status().reads.pass, 0);
    isAway = false;
    await time.pass(1_000);
    assert.equal(collector.status().lotsAccepted, 1);
  });
});
