import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BackendError, type RawRead, type StreamBackend } from '../../../src/backend/backend.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { PURE_BLOCK_BYTES } from '../../../src/ledger/records.ts';
import type { Collector } from '../../../src/pool/intake/collector.ts';
import { PureSupply } from '../../../src/pool/supply/pure.ts';
import { SeedSchedule } from '../../../src/pool/supply/seeds.ts';
import {
  deadBackend,
  failingBackend,
  repeatingBackend,
  soundBackend,
  stallingBackend,
  stuckBackend,
} from '../../support/backends.ts';
import { isZero, lotRecord, MarkedBlocks, ScriptedAssessor, settle, type withCalls } from '../fixtures.ts';
import { collecting, idleCollector, LOT_RAW_BITS } from './collecting.ts';
import { JobDouble } from './job-double.ts';
import { VirtualTime } from './virtual-time.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const cutOff = (retryAfterMs?: number) => new BackendError('retryable', 'cut off', retryAfterMs);

/** Remembers what was read, to see that it is wiped. */
function watched(backend: StreamBackend) {
  const reads: RawRead[] = [];
  const watching: StreamBackend = {
    ...backend,
    async read(bits, signal) {
      const read = await backend.read(bits, signal);
      reads.push(read);
      return read;
    },
  };
  return { reads, backend: watching };
}

type Calls = Parameters<typeof withCalls>[1];

function assertFailing(collector: Collector, lastError: string): void {
  const status = collector.status();
  assert.deepEqual([status.state, status.lastError], ['failing', lastError]);
}

const pureBlocks = async (ledger: Ledger) => (await ledger.blockLevels()).pure.blocks;

describe('the levels of the reservoir', () => {
  it('are filled to the high watermark, and again only below half of it', async (t) => {
    const { time, ledger, collector, onLotCalls } = collecting(t, soundBackend());
    collector.start();
    await time.pass(0);
    assert.equal(await pureBlocks(ledger), 4);
    assert.equal(collector.status().lotsAccepted, 4);
    assert.equal(onLotCalls(), 4);
    await ledger.claimBlocks('pure', 2);
    await time.pass(60_000);
    assert.equal(await pureBlocks(ledger), 2, 'at the low watermark nothing is read');
    await ledger.claimBlocks('pure', 1);
    await time.pass(1_000);
    assert.equal(await pureBlocks(ledger), 4);
  });

  it('report a source as ok without a read, as after a restart, while a full reservoir needs nothing', async (t) => {
    const { time, ledger, collector } = collecting(t, soundBackend());
    await time.pass(0);
    await collector.stop();
    const { reads, backend } = watched(soundBackend());
    const next = collecting(t, backend, { store: ledger });
    assert.equal(next.collector.status().state, 'starting');
    await next.time.pass(0);
    assert.equal(next.collector.status().state, 'ok');
    assert.equal(reads.length, 0);
  });

  it('cause the read of one lot when fewer than 16 seeds are left', async (t) => {
    const { time, ledger, collector } = collecting(t, soundBackend());
    await time.pass(0);
    await ledger.claimBlocks('seed', 4 * 64 - 16);
    await time.pass(60_000);
    assert.equal(collector.status().lotsAccepted, 4);
    await ledger.claimBlocks('seed', 1);
    await time.pass(1_000);
    assert.equal(collector.status().lotsAccepted, 5);
    assert.equal((await ledger.blockLevels()).seed.blocks, 15 + 64);
  });

  it('call for the smaller first lot of a source while seeds or pure bytes are out, and otherwise for whole lots', async (t) => {
    const { reads, backend } = watched({ ...soundBackend(), firstLotRawBits: LOT_RAW_BITS / 2 });
    const { time, ledger } = collecting(t, backend);
    await time.pass(0);
    const sizes = () => reads.map(({ shots, width }) => shots * width);
    assert.ok(sizes().length > 1);
    assert.deepEqual(
      sizes(),
      sizes().map((_, i) => (i === 0 ? LOT_RAW_BITS / 2 : LOT_RAW_BITS)),
    );
    for (const kind of ['pure', 'seed'] as const) {
      const before = sizes().length;
      while ((await ledger.claimBlocks(kind, 64)).length > 0);
      await time.pass(1_000);
      assert.equal(sizes()[before], LOT_RAW_BITS / 2, `requests wait for ${kind} blocks`);
      assert.equal(sizes()[before + 1] ?? LOT_RAW_BITS, LOT_RAW_BITS);
    }
  });

  it('are filled at once when nearly empty, and then the source rests three quarters of the time', async (t) => {
    const time = new VirtualTime();
    const assessor = new ScriptedAssessor();
    assessor.estimate = 1;
    const { assessLot } = assessor;
    assessor.assessLot = async (...lot) => {
      await time.wait(10_000, new AbortController().signal);
      return assessLot.apply(assessor, lot);
    };
    const { ledger, collector } = collecting(t, soundBackend(), {
      assessor,
      clock: time.clock,
      wait: time.wait,
      pureBytesHigh: 256 * PURE_BLOCK_BYTES,
      lotRawBits: (64 + 32 * 128) * 320, // 64 seeds and 32 pure blocks: two lots are 256 KiB
    });
    const lots = () => collector.status().lotsAccepted;
    await time.pass(20_000);
    assert.equal(lots(), 2, 'the pool was nearly empty');
    await time.pass(39_000);
    assert.equal(lots(), 2, 'thirty seconds of rest, and ten of tests');
    await time.pass(2_000);
    assert.equal(lots(), 3);
    await ledger.claimBlocks('pure', 33);
    await time.pass(12_000);
    assert.equal(lots(), 4, 'it is nearly empty again: no rest');
  });

  it('do not count against the source when they cannot be read', async (t) => {
    let isAway = false;
    const calls: Calls = {
      blockLevels: (blockLevels) => async () => {
        if (isAway) throw new Error('the disk is away');
        return blockLevels();
      },
    };
    const { time, ledger, log, collector } = collecting(t, soundBackend(), { calls });
    await time.pass(0);
    isAway = true;
    await time.pass(3_000);
    assert.deepEqual(
      log.reasons(),
      new Array(3).fill(['the disk is away', 'could not read how much entropy is in stock; trying again']),
    );
    assert.equal(collector.status().state, 'ok');
    isAway = false;
    await ledger.claimBlocks('pure', 4);
    await time.pass(1_000);
    assert.equal(collector.status().lotsAccepted, 8);
  });
});

describe('the path of a lot', () => {
  it('stores the whole lot before it is announced, and keeps nothing of it in memory', async (t) => {
    const { backend, reads } = watched(soundBackend());
    const seen: number[] = [];
    const { time, ledger, collector, assessor } = collecting(t, backend, {
      pureBytesHigh: 1,
      onLot: async () => {
        seen.push((await ledger.blockLevels()).seed.blocks, (await ledger.lots(10)).length);
      },
    });
    await time.pass(0);
    assert.deepEqual(seen, [64, 1]);
    const [stored] = await ledger.lots(1);
    assert.equal(collector.status().lastLot?.id, stored.id);
    assert.equal(stored.rawBits, LOT_RAW_BITS);
    assert.ok(isZero(reads[0].bits));
    assert.ok(isZero(assessor.lent[0]));
    const [seed] = await ledger.claimBlocks('seed', 1);
    assert.ok(!isZero(seed.bytes));
  });

  it('counts a lot even if putting it to use at once fails', async (t) => {
    const { time, log, collector } = collecting(t, soundBackend(), {
      onLot: async () => {
        throw new Error('no seed taken');
      },
    });
    await time.pass(0);
    assert.equal(collector.status().lotsAccepted, 4);
    assert.equal(collector.status().state, 'ok');
    assert.deepEqual([...new Set(log.errors().map(({ facts }) => facts.reason))], ['no seed taken']);
  });

  it('wipes a lot that cannot be stored, and makes another', async (t) => {
    const { backend, reads } = watched(soundBackend());
    let failures = 2;
    const calls: Calls = {
      addLot: (addLot) => async (lot, blocks) => {
        if (failures-- > 0) throw new Error('the disk is full');
        return addLot(lot, blocks);
      },
    };
    const { time, collector, assessor } = collecting(t, backend, { pureBytesHigh: 1, calls });
    await time.pass(0);
    assertFailing(collector, 'the disk is full');
    await time.pass(3_000);
    assert.deepEqual(time.passed, [1_000, 2_000]);
    assert.equal(collector.status().state, 'ok');
    assert.equal(reads.length, 3);
    for (const { bits } of reads) assert.ok(isZero(bits));
    for (const bytes of assessor.lent) assert.ok(isZero(bytes));
  });

  it('wipes a lot whose tests fail to run, and retries the source', async (t) => {
    const { backend, reads } = watched(soundBackend());
    const { time, collector, assessor } = collecting(t, backend, { pureBytesHigh: 1 });
    assessor.failure = new Error('the worker died');
    await time.pass(0);
    assertFailing(collector, 'the worker died');
    assert.equal(collector.status().reads.failed, 0);
    assessor.failure = undefined;
    await time.pass(1_000);
    assert.equal(collector.status().state, 'ok');
    for (const { bits } of reads) assert.ok(isZero(bits));
  });

  it('gives up a lot whose tests never end', async (t) => {
    const { time, collector, assessor } = collecting(t, soundBackend());
    assessor.assessLot = () => new Promise(() => {});
    await time.pass(600_000);
    assert.equal(collector.status().state, 'failing');
    assert.match(collector.status().lastError, /took longer than 600 s/);
  });
});

describe('a source that fails', () => {
  it('is retried after pauses that double up to a minute and start again when it answers', async (t) => {
    const outage = Array.from({ length: 100 }, () => cutOff());
    const { time, collector, ledger } = collecting(t, failingBackend(...outage));
    await time.pass(0);
    assertFailing(collector, 'cut off');
    await time.pass(63_000 + 94 * 60_000);
    assert.deepEqual(time.passed.slice(0, 8), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    assert.equal(collector.status().reads.failed, 100);
    assert.equal(collector.status().state, 'ok');
    assert.equal(collector.status().lastError, '');
    assert.equal(await pureBlocks(ledger), 4);
  });

  it('is retried with short pauses again after each success', async (t) => {
    const sound = soundBackend();
    let reads = 0;
    const flaky: StreamBackend = {
      ...sound,
      read: async (bits, signal) => {
        if (++reads % 3 !== 0) throw cutOff();
        return sound.read(bits, signal);
      },
    };
    const { time } = collecting(t, flaky);
    await time.pass(30_000);
    assert.deepEqual(time.passed.slice(0, 8), [1_000, 2_000, 1_000, 2_000, 1_000, 2_000, 1_000, 2_000]);
  });

  it('is left alone for as long as it asks, within an hour', async (t) => {
    const { time, collector } = collecting(
      t,
      failingBackend(
        cutOff(0),
        new BackendError('auth', 'refused', 500),
        cutOff(90_000),
        new BackendError('quota', 'spent', 1e12),
      ),
    );
    await time.pass(93_000 + HOUR_MS);
    assert.deepEqual(time.passed.slice(0, 4), [1_000, 2_000, 90_000, HOUR_MS]);
    assert.equal(collector.status().state, 'ok');
  });

  it('is closed at once when it fails for good or has no raw shots', async (t) => {
    for (const error of [
      new BackendError('permanent', 'the device is gone'),
      new BackendError('no_raw_shots', 'only a histogram'),
    ]) {
      const { time, collector, closed, log } = collecting(t, deadBackend(error));
      await time.pass(DAY_MS);
      assert.equal(collector.closed, true);
      assert.equal(collector.status().state, 'closed');
      assert.deepEqual(closed, [error.message]);
      assert.equal(collector.status().reads.failed, 1);
      assert.equal(log.errors().length, 1);
      assert.deepEqual([time.pending(), time.passed], [[], []]);
    }
  });

  it('that stalls is given up, even if it ignores its signal, after 30 s or as long as it says', async (t) => {
    for (const [backend, seconds] of [
      [stallingBackend(), 30],
      [stallingBackend({ deaf: true }), 30],
      [{ ...stallingBackend(), readTimeoutMs: 45_000 }, 45],
    ] as const) {
      const { time, collector } = collecting(t, backend);
      await time.pass(1_000 * seconds - 1);
      assert.equal(collector.state, 'starting');
      await time.pass(1);
      assertFailing(collector, `no answer within ${seconds} s`);
    }
  });

  it('that is over its budget is left alone, and nothing is read', async (t) => {
    const priced = { ...soundBackend(), estimate: () => ({ amount: 1, currency: 'USD', calls: 1 }) };
    const { backend, reads } = watched(priced);
    const limits = { amountPerDay: 2, callsPerDay: null };
    const { time, collector } = collecting(t, backend, { limits });
    time.clock.wall = Date.UTC(2026, 10, 20, 22, 30);
    await time.pass(0);
    assert.equal(reads.length, 2);
    assert.equal(collector.status().state, 'failing');
    assert.match(collector.status().lastError, /^budget of test-sound: 2 of 2 USD are spent today/);
    assert.deepEqual(time.pending(), [HOUR_MS]);
    await time.pass(HOUR_MS + HOUR_MS / 2 - 1);
    assert.equal(reads.length, 2);
    await time.pass(1);
    assert.equal(reads.length, 4, 'the next day has a budget of its own');
  });
});

describe('a job', () => {
  it('is read if it is paid for, even if the reservoir is full', async (t) => {
    const jobs = new JobDouble({ state: 'queued', retryAfterMs: 60_000 }, { state: 'done' });
    const first = collecting(t, jobs, { pureBytesHigh: 1 });
    await first.time.pass(1_000);
    await first.collector.stop();
    assert.deepEqual(jobs.cancelled, []);
    await first.ledger.addLot(lotRecord('lot_full'), [
      ...new MarkedBlocks().pure(1),
      ...new MarkedBlocks().seeds(64),
    ]);
    const second = collecting(t, jobs, { pureBytesHigh: 1, store: first.ledger });
    await second.time.pass(60_000);
    assert.equal(second.collector.status().lotsAccepted, 1);
    assert.deepEqual([jobs.started, jobs.forgotten], [1, ['job 1']]);
    assert.deepEqual(await first.ledger.openJobs(jobs.name), []);
  });

  it('whose lot could not be stored is offered to the store again, with the bytes', async (t) => {
    const jobs = new JobDouble();
    let failures = 4;
    const calls: Calls = {
      addLot: (addLot) => async (lot, blocks, jobKey) => {
        if (failures === 2) await addLot(lot, blocks, jobKey); // made, and its answer lost
        if (failures-- > 0) throw new Error('the disk is full');
        return addLot(lot, blocks, jobKey);
      },
    };
    const { time, ledger, collector, assessor } = collecting(t, jobs, { pureBytesHigh: 1, calls });
    await time.pass(60_000);
    assert.deepEqual(time.passed.slice(0, 4), [1_000, 2_000, 4_000, 8_000]);
    assert.deepEqual([collector.status().state, collector.status().lotsAccepted], ['ok', 1]);
    assert.equal((await ledger.lots(9)).length, 1);
    assert.ok(!isZero((await ledger.claimBlocks('pure', 1))[0].bytes));
    for (const bytes of assessor.lent) assert.ok(isZero(bytes));
    assert.equal(jobs.calls.filter((call) => call === 'fetch').length, 1);
  });

  it('is not read again if its lot was stored and only the answers got lost', async (t) => {
    const jobs = new JobDouble();
    let failures = 5;
    const calls: Calls = {
      addLot: (addLot) => async (lot, blocks, jobKey) => {
        const isStored = await addLot(lot, blocks, jobKey);
        if (failures-- > 0) throw new Error('the link is down');
        return isStored;
      },
    };
    const { time, ledger, collector } = collecting(t, jobs, { pureBytesHigh: 1, calls });
    await time.pass(60_000);
    assertFailing(collector, 'the link is down');
    assert.deepEqual([jobs.started, (await ledger.lots(9)).length], [1, 1]);
    assert.deepEqual(jobs.calls, ['submit', 'poll', 'fetch', 'forget']);
    assert.deepEqual(await ledger.openJobs(jobs.name), []);
  });

  it('whose first lot failed is not taken for a replay when it is fetched again', async (t) => {
    const jobs = new JobDouble();
    const { time, collector, assessor, ledger } = collecting(t, jobs, { pureBytesHigh: 1 });
    assessor.failure = new Error('the worker died');
    await time.pass(0);
    assert.equal(collector.status().lastError, 'the worker died');
    assessor.failure = undefined;
    await time.pass(60_000);
    assert.deepEqual(
      (await ledger.lots(9)).map(({ accepted, rejection }) => [accepted, rejection]),
      [[true, '']],
    );
    assert.deepEqual([jobs.started, jobs.calls.filter((call) => call === 'fetch').length], [1, 2]);
    assert.equal(collector.status().reads.pass, 1, 'the same samples are tested once');
    assert.equal(collector.status().health?.totals.samples, LOT_RAW_BITS);
  });

  it('has only the first of its two lots stored, and the collector continues', async (t) => {
    const jobs = new JobDouble();
    let isFirst = true;
    const calls: Calls = {
      addLot: (addLot) => async (lot, blocks, jobKey) => {
        if (isFirst) await addLot(lotRecord('lot_of_another'), [], jobKey); // another process, against all rules
        isFirst = false;
        return addLot(lot, blocks, jobKey);
      },
    };
    const { time, ledger, collector, log } = collecting(t, jobs, { pureBytesHigh: 1, calls });
    await time.pass(1_000);
    assert.deepEqual(
      log.errors().map(({ message }) => message),
      ['a job has already given a lot, so this second lot of it is not stored'],
    );
    assert.deepEqual([jobs.started, collector.status().lotsAccepted], [2, 1]);
    assert.deepEqual(await ledger.openJobs(jobs.name), []);
  });

  it('does not count as failed when the provider cannot be told that it is over', async (t) => {
    const jobs = new JobDouble();
    jobs.failures.set('forget', [new TypeError('a bug')]);
    const { time, collector, ledger, log } = collecting(t, jobs, { pureBytesHigh: 1 });
    await time.pass(1_000);
    assert.deepEqual(log.reasons(), [['a bug', 'could not store that a job has ended; trying again later']]);
    assert.equal(collector.status().state, 'ok');
    assert.equal((await ledger.openJobs(jobs.name))[0].state, 'stored');
  });
});

describe('a result that was delivered before', () => {
  it('is refused even if an earlier run of the service got it', async (t) => {
    const first = collecting(t, repeatingBackend(), { pureBytesHigh: 1 });
    await first.time.pass(0);
    assert.equal(first.collector.status().lotsAccepted, 1);
    const { id } = first.collector.status().lastLot!;
    await first.collector.stop();
    await first.ledger.claimBlocks('pure', 1);
    await first.ledger.claimBlocks('seed', 64);
    const rejection = `the raw bits are those of lot ${id}`;
    for (let run = 1; run <= 3; run++) {
      const next = collecting(t, repeatingBackend(), { store: first.ledger });
      await next.time.pass(0);
      assertFailing(next.collector, rejection);
      assert.equal(next.assessor.tested.length, 0);
    }
    const lots = await first.ledger.lots(9);
    assert.deepEqual(
      lots.map(({ accepted, rejection }) => [accepted, rejection]),
      [...new Array(3).fill([false, rejection]), [true, '']],
    );
    assert.equal((await first.ledger.blockLevels()).pure.blocks, 0);
  });

  it('closes the source if it comes back three times in a row, even in differing bits', async (t) => {
    const sound = soundBackend();
    const stale: StreamBackend = {
      ...sound,
      read: async (bits, signal) => ({ ...(await sound.read(bits, signal)), rawSha256: 'a'.repeat(64) }),
    };
    const { time, collector, closed, ledger } = collecting(t, stale);
    await time.pass(DAY_MS);
    assert.deepEqual(closed, [`the raw bits are those of lot ${(await ledger.lots(9)).at(-1)?.id}`]);
    assert.deepEqual([collector.status().lotsAccepted, collector.status().lotsRejected], [1, 3]);
  });
});

describe('health tests', () => {
  it('that fail for good keep the read as evidence and close the source', async (t) => {
    const { backend, reads } = watched(stuckBackend());
    const { time, ledger, collector, closed, assessor, onLotCalls } = collecting(t, backend);
    await time.pass(DAY_MS);
    assert.equal(reads.length, 1);
    assert.ok(isZero(reads[0].bits));
    const [evidence] = await ledger.lots(10);
    assert.equal(evidence.accepted, false);
    assert.equal(evidence.health.grade, 'permanent');
    assert.deepEqual(await ledger.blockLevels(), {
      pure: { blocks: 0, bytes: 0 },
      seed: { blocks: 0, bytes: 0 },
    });
    const status = collector.status();
    assert.equal(status.state, 'closed');
    assert.deepEqual(closed, [evidence.rejection]);
    assert.deepEqual(status.reads, { pass: 0, intermittent: 0, permanent: 1, failed: 0 });
    assert.equal(status.health?.latchedBy.length, 2);
    assert.deepEqual([status.lotsAccepted, status.lotsRejected], [0, 1]);
    assert.deepEqual([assessor.tested.length, onLotCalls()], [0, 0]);
  });

  it('that fail now and then discard the read, and the collector continues', async (t) => {
    const sound = soundBackend();
    const repeating = repeatingBackend();
    let reads = 0;
    // The first repeats nothing yet, four more do, and two again after a good one.
    const sometimes: StreamBackend = {
      ...sound,
      read: (bits, signal) =>
        (++reads <= 5 || reads === 7 || reads === 8 ? repeating : sound).read(bits, signal),
    };
    const { time, collector, closed, ledger } = collecting(t, sometimes);
    await time.pass(0);
    assertFailing(collector, 'health tests: replay');
    await time.pass(30_000);
    assert.equal(collector.status().state, 'ok');
    assert.deepEqual(closed, []);
    assert.deepEqual(collector.status().reads, { pass: 4, intermittent: 6, permanent: 0, failed: 0 });
    assert.equal(await pureBlocks(ledger), 4);
    assert.equal((await ledger.lots(10)).filter(({ accepted }) => !accepted).length, 6);
  });

  it('are separate for each layout of channels', async (t) => {
    const wide = soundBackend('wide', 16);
    const narrow = soundBackend('narrow', 8);
    let reads = 0;
    const changing: StreamBackend = {
      ...wide,
      read: (bits, signal) => (++reads % 2 === 1 ? wide : narrow).read(bits, signal),
    };
    const { time, collector } = collecting(t, changing);
    await time.pass(0);
    assert.equal(collector.status().lotsAccepted, 4);
    assert.equal(collector.status().health?.width, 8);
    assert.equal(collector.status().health?.reads, 2);
  });
});

describe('statistical tests', () => {
  it('that refuse three lots in a row close the source', async (t) => {
    const { time, collector, closed, assessor, ledger } = collecting(t, soundBackend());
    assessor.estimates = [0.1, 0.1, 0.1];
    await time.pass(DAY_MS);
    assert.deepEqual(time.passed, [1_000, 2_000]);
    assert.deepEqual(closed, ['min-entropy 0.100 per bit is below the floor']);
    assert.equal((await ledger.lots(10)).length, 3);
    assert.equal(collector.status().lotsRejected, 3);
  });

  it('count refused lots from zero after an accepted one', async (t) => {
    const { time, collector, closed, assessor } = collecting(t, soundBackend(), {
      pureBytesHigh: 3 * PURE_BLOCK_BYTES,
    });
    assessor.estimates = [0.1, 0.1, 1, 0.1, 0.1, 1];
    await time.pass(60_000);
    assert.deepEqual(closed, []);
    assert.deepEqual([collector.status().lotsAccepted, collector.status().lotsRejected], [3, 4]);
  });
});

describe('a closed source', () => {
  it('ends pure at once and takes no seed; the seed in force serves to the end of its interval', async (t) => {
    const sound = soundBackend();
    let reads = 0;
    const breaking: StreamBackend = {
      ...sound,
      read: (bits, signal) => (++reads === 1 ? sound : stuckBackend()).read(bits, signal),
    };
    let onLot = async () => {};
    let onClosed = () => {};
    const { time, ledger, collector } = collecting(t, breaking, {
      onLot: () => onLot(),
      onClosed: () => onClosed(),
    });
    const schedule = new SeedSchedule(ledger, time.clock, silentLog);
    const pure = new PureSupply(ledger, silentLog);
    const group = schedule.add({ tier: 'pro', intervalMs: HOUR_MS });
    let hadPure = false;
    onLot = async () => {
      await schedule.refresh();
      hadPure = await pure.fill(100);
    };
    onClosed = () => {
      schedule.close();
      pure.close();
    };
    await time.pass(0);
    assert.ok(hadPure);
    assert.equal(collector.closed, true);
    assert.equal(pure.available(), 0);
    assert.equal(await pure.fill(1), false);
    assert.equal(schedule.inForce(group)?.generation, 1);
    time.clock.advance(HOUR_MS - 1);
    await schedule.refresh();
    assert.equal(schedule.inForce(group)?.generation, 1);
    time.clock.advance(1);
    await schedule.refresh();
    assert.equal(schedule.inForce(group), undefined);
  });

  it('stays closed and says so, even if the listener of its closing fails', async (t) => {
    const { time, collector, log } = collecting(t, deadBackend(), {
      onClosed: () => {
        throw new Error('a bug');
      },
    });
    await time.pass(HOUR_MS);
    assert.equal(collector.closed, true);
    assert.ok(log.errors().some(({ facts }) => facts.reason === 'a bug'));
  });
});

describe('a stop', () => {
  it('ends an idle collector, also twice, and one that has not begun', async () => {
    const idle = idleCollector(soundBackend());
    idle.collector.start();
    await idle.time.pass(0);
    assert.deepEqual(idle.time.pending(), [1_000]);
    await Promise.all([idle.collector.stop(), idle.collector.stop()]);
    assert.deepEqual(idle.time.pending(), []);
    const unborn = idleCollector(soundBackend());
    assert.deepEqual(unborn.collector.status().state, 'starting');
    assert.equal(unborn.collector.status().health, null);
    await unborn.collector.stop();
    unborn.collector.start();
    await settle();
    assert.equal(unborn.collector.status().lotsAccepted, 0);
  });

  it('does not wait for a backend, even one that ignores its signal, and is no failure, whatever the backend says', async (t) => {
    const angry: StreamBackend = {
      ...stallingBackend(),
      read: (_bits, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new BackendError('permanent', 'cut off')));
        }),
    };
    for (const backend of [stallingBackend(), stallingBackend({ deaf: true }), angry]) {
      const { time, collector, log } = collecting(t, backend);
      await settle();
      await collector.stop();
      assert.deepEqual(time.pending(), []);
      assert.deepEqual([collector.status().state, collector.status().reads.failed], ['starting', 0]);
      assert.deepEqual(log.errors(), []);
    }
  });

  it('does not wait for the tests of a lot, and keeps nothing of it', async (t) => {
    const { backend, reads } = watched(soundBackend());
    const { time, collector, ledger, assessor, log } = collecting(t, backend);
    const gate = Promise.withResolvers<void>();
    const testBits = assessor.testBits.bind(assessor);
    assessor.testBits = async (of, bits, bitLength) => {
      const tested = testBits(of, bits, bitLength);
      if (of === 'conditioned') await gate.promise;
      return tested;
    };
    await settle();
    assert.equal(assessor.lent.length, 1);
    assert.ok(!isZero(assessor.lent[0]));
    await collector.stop();
    assert.ok(isZero(reads[0].bits));
    assert.deepEqual(time.pending(), []);
    gate.resolve(); // the abandoned lot comes to its end
    await settle();
    assert.ok(isZero(assessor.lent[0]));
    assert.equal((await ledger.lots(1)).length, 0);
    assert.deepEqual(log.errors(), []);
  });

  it('ends the pause after a failure', async (t) => {
    const { time, collector } = collecting(t, failingBackend(cutOff(HOUR_MS)));
    await time.pass(0);
    assert.deepEqual(time.pending(), [HOUR_MS]);
    await collector.stop();
    assert.deepEqual(time.pending(), []);
  });

  it('waits for a lot that is being stored', async (t) => {
    const gate = Promise.withResolvers<void>();
    const calls: Calls = {
      addLot: (addLot) => async (lot, blocks) => {
        await gate.promise;
        return addLot(lot, blocks);
      },
    };
    const { collector, ledger } = collecting(t, soundBackend(), { calls });
    await settle();
    const stopped = collector.stop();
    gate.resolve();
    await stopped;
    assert.equal((await ledger.lots(10)).length, 1);
    const [block] = await ledger.claimBlocks('pure', 1);
    assert.ok(!isZero(block.bytes));
  });
});
