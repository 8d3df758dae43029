import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retention } from '../../src/ledger/retention.ts';
import { healthReport } from '../../src/observe/table.ts';
import { followDatabase } from '../../src/service/service.ts';
import { SOUND } from '../observe/readings.ts';
import { recordingLog } from '../pool/fixtures.ts';
import { ManualClock } from '../support/manual-clock.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 22);

/** A retention of 400 days over a ledger that only notes what it is asked to expire. */
function retentionOver(oldestMs: number, newestMs: number, isSkewed = false) {
  const clock = new ManualClock(NOW_MS);
  const log = recordingLog();
  const asked: { nowMs: number; beforeMs: number }[] = [];
  const database = {
    isAway: false,
    isSkewed,
    isStandbyLate: false,
    skewMs: isSkewed ? DAY_MS : 0,
    unsealedSegments: 0,
  };
  const ledger = {
    integrity: async () => ({ startAudit: 'none' as const, scrub: null, database }),
    segmentSpan: async () => ({ oldestMs, newestMs }),
    expire: async (nowMs: number, beforeMs: number) => {
      asked.push({ nowMs, beforeMs });
      return { answers: 0, segments: 0 };
    },
  };
  return { clock, log, asked, sweep: retention(ledger, 400, { clock, log }) };
}

describe('a node on PostgreSQL', () => {
  for (const [isAway, isSkewed, isStandbyLate, reason, status] of [
    [false, false, false, null, 'pass'],
    [false, false, true, 'standby-late', 'fail'],
    [false, true, true, 'clock-skewed', 'fail'],
    [true, true, true, 'database-away', 'fail'],
  ] as const) {
    it(`is held back for the reason ${reason}, and its health reports ${status}`, async () => {
      const skewMs = isSkewed ? 1_001 : 0;
      const database = { isAway, isSkewed, isStandbyLate, skewMs, unsealedSegments: 0 };
      const integrity = { startAudit: 'none' as const, scrub: null, database };
      const told: (string | null)[] = [];
      const front = { holdBack: (why: string | null) => void told.push(why) };
      await followDatabase({ integrity: async () => integrity }, [front, front]);
      assert.deepEqual(told, [reason, reason]);
      const [check] = healthReport({ ...SOUND, integrity }).checks['ledger:database'];
      assert.equal(check.status, status);
    });
  }
});

describe('retention', () => {
  it('deletes what is older than the retention', async () => {
    const { clock, asked, sweep } = retentionOver(NOW_MS - 400.5 * DAY_MS, NOW_MS + DAY_MS);
    clock.advance(DAY_MS / 2);
    await sweep();
    const nowMs = NOW_MS + DAY_MS / 2;
    assert.deepEqual(asked, [{ nowMs, beforeMs: nowMs - 400 * DAY_MS }]);
  });

  it('measures age against the newest certificate, not against a later wall clock', async () => {
    const { asked, sweep } = retentionOver(NOW_MS - 500 * DAY_MS, NOW_MS - 401 * DAY_MS);
    await sweep();
    assert.ok(asked[0].beforeMs <= NOW_MS - 801 * DAY_MS, 'nothing is old enough beside the newest');
  });

  it('deletes nothing at all while the system clock has jumped', async () => {
    const { clock, asked, sweep } = retentionOver(NOW_MS - 500 * DAY_MS, NOW_MS);
    clock.jump = 401 * DAY_MS;
    await sweep();
    assert.deepEqual(asked, []);
  });

  it("deletes nothing while the clock differs from the database's, or stored answers of other nodes would go early", async () => {
    const { asked, sweep } = retentionOver(NOW_MS - 500 * DAY_MS, NOW_MS, true);
    await sweep();
    assert.deepEqual(asked, []);
  });

  it('deletes three days for each day that it runs, however far behind it is, and logs that once', async () => {
    const oldestMs = NOW_MS - 450 * DAY_MS;
    const { clock, log, asked, sweep } = retentionOver(oldestMs, NOW_MS + 10 * DAY_MS);
    for (let day = 0; day < 3; day++) {
      await sweep();
      clock.advance(DAY_MS);
    }
    const days = asked.map(({ beforeMs }) => (beforeMs - oldestMs) / DAY_MS);
    assert.deepEqual(days, [0, 3, 6]);
    assert.equal(log.lines.filter(({ message }) => message.startsWith('retention is days behind')).length, 1);
  });

  it('deletes no more when it is started again and again', async () => {
    const oldestMs = NOW_MS - 450 * DAY_MS;
    for (let start = 0; start < 3; start++) {
      const { asked, sweep } = retentionOver(oldestMs, NOW_MS);
      await sweep();
      assert.deepEqual(asked, [{ nowMs: NOW_MS, beforeMs: oldestMs }]);
    }
  });
});
