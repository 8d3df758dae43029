import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Backend,
  BackendError,
  type RawRead,
  type StreamBackend,
} from '../../../src/backend/backend.ts';
import { silentLog } from '../../../src/core/log.ts';
import { PURE_BLOCK_BYTES } from '../../../src/ledger/records.ts';
import { Collector, type CollectorOptions } from '../../../src/pool/intake/collector.ts';

import { LotCatalog } from '../../../src/pool/supply/catalog.ts';
import { PureSupply } from '../../../src/pool/supply/pure.ts';
import { SeedSchedule } from '../../../src/pool/supply/seeds.ts';
import {
  deadBackend,
  failingBackend,
  repeatingBackend,
  shortBackend,
  soundBackend,
  stallingBackend,
  stuckBackend,
} from '../../support/backends.ts';
import { MemoryLedger } from '../../support/memory-ledger.ts';
import {
  isZero,
  lotRecord,
  MarkedBlocks,
  recordingLog,
  ScriptedAssessor,
  settle,
  withCalls,
} from '../fixtures.ts';
import { JobDouble } from './job-double.ts';
import { VirtualTime } from './virtual-time.ts';

/** With a claim of 1 such a lot has 192 conditioned pieces: 64 seeds and one pure block of 4 KiB. */
const LOT_RAW_BITS = 192 * 320;
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

function world(backend: Backend, changes: Partial<CollectorOptions> = {}) {
  const time = new VirtualTime();
  const ledger = new MemoryLedger(time.clock);
  const log = recordingLog();
  const assessor = new ScriptedAssessor();
  const closed: string[] = [];
  let onLotCalls = 0;
  const collector = new Collector({
    backend,
    store: ledger,
    assessor,
    clock: time.clock,
    log,
    pureBytesHigh: 4 * PURE_BLOCK_BYTES,
    lotRawBits: LOT_RAW_BITS,
    onLot: async () => {
      onLotCalls++;
    },
    onClosed: (reason) => closed.push(reason),
    wait: time.wait,
    ...changes,
  });
  return { time, ledger, log, assessor, closed, collector, onLotCalls: () => onLotCalls };
}

const pureBlocks = async (ledger: MemoryLedger) => (await ledger.blockLevels()).pure.blocks;

describe('the levels of the reservoir', () => {
  it('fills the reservoir to the high watermark, and again only below half of it', async () => {
    const { time, ledger, collector, onLotCalls } = world(soundBackend());
    collector.start();
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
    await collector.stop();
  });

  it('says ok of a source that a full reservoir needs nothing of, without a read, as after a restart', async () => {
    const { time, ledger, collector } = world(soundBackend());
    collector.start();
    await time.pass(0);
    await collector.stop();
    const { reads, backend } = watched(soundBackend());
    const next = world(backend, { store: ledger });
    assert.equal(next.collector.status().state, 'starting');
    next.collector.start();
    await next.time.pass(0);
    assert.equal(next.collector.status().state, 'ok');
    assert.equal(reads.length, 0);
    await next.collector.stop();
  });

  it('reads one lot when fewer than 16 seeds are left', async () => {
    const { time, ledger, collector } = world(soundBackend());
    collector.start();
    await time.pass(0);
    await ledger.claimBlocks('seed', 4 * 64 - 16);
    await time.pass(60_000);
    assert.equal(collector.status().lotsAccepted, 4);
    await ledger.claimBlocks('seed', 1);
    await time.pass(1_000);
    assert.equal(collector.status().lotsAccepted, 5);
    assert.equal((await ledger.blockLevels()).seed.blocks, 15 + 64);
    await collector.stop();
  });

  it('asks for the smaller first lot of a source while seeds or pure bytes are out, and otherwise for whole lots', async () => {
    const { reads, backend } = watched({ ...soundBackend(), firstLotRawBits: LOT_RAW_BITS / 2 });
    const { time, ledger, collector } = world(backend);
    collector.start();
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
    await collector.stop();
  });

  it('fills a nearly empty reservoir at once, and then rests three quarters of the time', async () => {
    const time = new VirtualTime();
    const assessor = new ScriptedAssessor();
    assessor.estimate = 1;
    const { assessLot } = assessor;
    assessor.assessLot = async (...lot) => {
      await time.wait(10_000, new AbortController().signal);
      return assessLot.apply(assessor, lot);
    };
    const { ledger, collector } = world(soundBackend(), {
      assessor,
      clock: time.clock,
      wait: time.wait,
      pureBytesHigh: 256 * PURE_BLOCK_BYTES,
      lotRawBits: (64 + 32 * 128) * 320, // 64 seeds and 32 pure blocks: two lots are 256 KiB
    });
    const lots = () => collector.status().lotsAccepted;
    collector.start();
    await time.pass(20_000);
    assert.equal(lots(), 2, 'the pool was nearly empty');
    await time.pass(39_000);
    assert.equal(lots(), 2, 'thirty seconds of rest, and ten of tests');
    await time.pass(2_000);
    assert.equal(lots(), 3);
    await ledger.claimBlocks('pure', 33);
    await time.pass(12_000);
    assert.equal(lots(), 4, 'it is nearly empty again: no rest');
    await collector.stop();
  });

  it('does not blame the source when the levels cannot be read', async () => {
    const inner = new MemoryLedger(new VirtualTime().clock);
    let isAway = false;
    const store = withCalls(inner, {
      blockLevels: (blockLevels) => async () => {
        if (isAway) throw new Error('the disk is away');
        return blockLevels();
      },
    });
    const { time, log, collector } = world(soundBackend(), { store });
    collector.start();
    await time.pass(0);
    isAway = true;
    await time.pass(3_000);
    assert.deepEqual(
      log.errors().map(({ facts, message }) => [facts.reason, message]),
      new Array(3).fill(['the disk is away', 'levels of the reservoir not read']),
    );
    assert.equal(collector.status().state, 'ok');
    isAway = false;
    await inner.claimBlocks('pure', 4);
    await time.pass(1_000);
    assert.equal(collector.status().lotsAccepted, 8);
    await collector.stop();
  });
});

describe('a lot on its way', () => {
  it('stores a lot whole before it is announced, and keeps nothing of it in memory', async () => {
    const { backend, reads } = watched(soundBackend());
    const seen: number[] = [];
    const { time, ledger, collector, assessor } = world(backend, {
      pureBytesHigh: 1,
      onLot: async () => {
        seen.push((await ledger.blockLevels()).seed.blocks, (await ledger.lots(10)).length);
      },
    });
    collector.start();
    await time.pass(0);
    assert.deepEqual(seen, [64, 1]);
    const [stored] = await ledger.lots(1);
    assert.equal(collector.status().lastLot?.id, stored.id);
    assert.equal(stored.rawBits, LOT_RAW_BITS);
    assert.ok(isZero(reads[0].bits));
    assert.ok(isZero(assessor.lent[0]));
    const [seed] = await ledger.claimBlocks('seed', 1);
    assert.ok(!isZero(seed.bytes));
    await collector.stop();
  });

  it('counts a lot that is not put to use at once', async () => {
    const { time, log, collector } = world(soundBackend(), {
      onLot: async () => {
        throw new Error('no seed taken');
      },
    });
    collector.start();
    await time.pass(0);
    assert.equal(collector.status().lotsAccepted, 4);
    assert.equal(collector.status().state, 'ok');
    assert.deepEqual([...new Set(log.errors().map(({ facts }) => facts.reason))], ['no seed taken']);
    await collector.stop();
  });

  it('wipes a lot that cannot be stored, and makes another', async () => {
    const { backend, reads } = watched(soundBackend());
    const inner = new MemoryLedger(new VirtualTime().clock);
    let failures = 2;
    const store = withCalls(inner, {
      addLot: (addLot) => async (lot, blocks) => {
        if (failures-- > 0) throw new Error('the disk is full');
        return addLot(lot, blocks);
      },
    });
    const { time, collector, assessor } = world(backend, { store, pureBytesHigh: 1 });
    collector.start();
    await time.pass(0);
    assert.deepEqual(
      [collector.status().state, collector.status().lastError],
      ['failing', 'the disk is full'],
    );
    await time.pass(3_000);
    assert.deepEqual(time.passed, [1_000, 2_000]);
    assert.equal(collector.status().state, 'ok');
    assert.equal(reads.length, 3);
    for (const { bits } of reads) assert.ok(isZero(bits));
    for (const bytes of assessor.lent) assert.ok(isZero(bytes));
    await collector.stop();
  });

  it('wipes a lot whose tests fail to run, and tries the source again', async () => {
    const { backend, reads } = watched(soundBackend());
    const { time, collector, assessor } = world(backend, { pureBytesHigh: 1 });
    assessor.failure = new Error('the worker died');
    collector.start();
    await time.pass(0);
    assert.deepEqual(
      [collector.status().state, collector.status().lastError],
      ['failing', 'the worker died'],
    );
    assert.equal(collector.status().reads.failed, 0);
    assessor.failure = undefined;
    await time.pass(1_000);
    assert.equal(collector.status().state, 'ok');
    for (const { bits } of reads) assert.ok(isZero(bits));
    await collector.stop();
  });

  it('gives up a lot whose tests never end', async () => {
    const { time, collector, assessor } = world(soundBackend());
    assessor.assessLot = () => new Promise(() => {});
    collector.start();
    await time.pass(600_000);
    assert.equal(collector.status().state, 'failing');
    assert.match(collector.status().lastError, /took longer than 600 s/);
    await collector.stop();
  });
});

describe('a source that fails', () => {
  it('tries a failing source again after pauses that double up to a minute, and forgets them when it answers', async () => {
    const outage = Array.from({ length: 100 }, () => cutOff());
    const { time, collector, ledger } = world(failingBackend(...outage));
    collector.start();
    await time.pass(0);
    assert.equal(collector.status().state, 'failing');
    assert.equal(collector.status().lastError, 'cut off');
    await time.pass(63_000 + 94 * 60_000);
    assert.deepEqual(time.passed.slice(0, 8), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    assert.equal(collector.status().reads.failed, 100);
    assert.equal(collector.status().state, 'ok');
    assert.equal(collector.status().lastError, '');
    assert.equal(await pureBlocks(ledger), 4);
    await collector.stop();
  });

  it('begins with short pauses again after each success', async () => {
    const sound = soundBackend();
    let reads = 0;
    const flaky: StreamBackend = {
      ...sound,
      read: async (bits, signal) => {
        if (++reads % 3 !== 0) throw cutOff();
        return sound.read(bits, signal);
      },
    };
    const { time, collector } = world(flaky);
    collector.start();
    await time.pass(30_000);
    assert.deepEqual(time.passed.slice(0, 8), [1_000, 2_000, 1_000, 2_000, 1_000, 2_000, 1_000, 2_000]);
    await collector.stop();
  });

  it('leaves a source alone for as long as it asks, within an hour', async () => {
    const { time, collector } = world(
      failingBackend(cutOff(0), cutOff(500), cutOff(90_000), new BackendError('quota', 'spent', 1e12)),
    );
    collector.start();
    await time.pass(93_000 + HOUR_MS);
    assert.deepEqual(time.passed.slice(0, 4), [1_000, 2_000, 90_000, HOUR_MS]);
    assert.equal(collector.status().state, 'ok');
    await collector.stop();
  });

  it('gives too little, or nothing: that may pass', async () => {
    for (const backend of [shortBackend(), stallingBackend(), stallingBackend({ deaf: true })]) {
      const { time, collector, closed, ledger } = world(backend);
      collector.start();
      await time.pass(HOUR_MS);
      assert.equal(collector.status().state, 'failing');
      assert.ok(collector.status().reads.failed > 10);
      assert.deepEqual(closed, []);
      assert.equal((await ledger.lots(10)).length, 0);
      await collector.stop();
    }
  });

  it('closes a source at once when it fails for good or has no raw shots', async () => {
    for (const error of [
      new BackendError('permanent', 'the device is gone'),
      new BackendError('no_raw_shots', 'only a histogram'),
    ]) {
      const { time, collector, closed, log } = world(deadBackend(error));
      collector.start();
      await time.pass(DAY_MS);
      assert.equal(collector.closed, true);
      assert.equal(collector.status().state, 'closed');
      assert.deepEqual(closed, [error.message]);
      assert.equal(collector.status().reads.failed, 1);
      assert.equal(log.errors().length, 1);
      assert.deepEqual([time.pending(), time.passed], [[], []]);
      await collector.stop();
    }
  });

  it('over its budget is left alone, and nothing is read', async () => {
    const priced = { ...soundBackend(), estimate: () => ({ amount: 1, currency: 'USD', calls: 1 }) };
    const { backend, reads } = watched(priced);
    const limits = { amountPerDay: 2, callsPerDay: null };
    const { time, collector } = world(backend, { limits });
    time.clock.wall = Date.UTC(2026, 10, 20, 22, 30);
    collector.start();
    await time.pass(0);
    assert.equal(reads.length, 2);
    assert.equal(collector.status().state, 'failing');
    assert.match(collector.status().lastError, /^budget of test-sound: 2 of 2 USD are spent today/);
    assert.deepEqual(time.pending(), [HOUR_MS]);
    await time.pass(HOUR_MS + HOUR_MS / 2 - 1);
    assert.equal(reads.length, 2);
    await time.pass(1);
    assert.equal(reads.length, 4, 'the next day has a budget of its own');
    await collector.stop();
  });

  it('serves jobs as well as streams', async () => {
    const jobs = new JobDouble({ state: 'running' }, { state: 'done' });
    const { time, collector, ledger } = world(jobs, { pureBytesHigh: 1 });
    collector.start();
    await time.pass(5_000);
    assert.equal(collector.status().state, 'ok');
    assert.equal((await ledger.lots(10)).length, 1);
    await collector.stop();
  });
});

describe('a job', () => {
  it('reads a job that is paid for though the reservoir is full', async () => {
    const jobs = new JobDouble({ state: 'queued', retryAfterMs: 60_000 }, { state: 'done' });
    const first = world(jobs, { pureBytesHigh: 1 });
    first.collector.start();
    await first.time.pass(1_000);
    await first.collector.stop();
    assert.deepEqual(jobs.cancelled, []);
    await first.ledger.addLot(lotRecord('lot_full'), [
      ...new MarkedBlocks().pure(1),
      ...new MarkedBlocks().seeds(64),
    ]);
    const second = world(jobs, { pureBytesHigh: 1, store: first.ledger });
    second.collector.start();
    await second.time.pass(60_000);
    assert.equal(second.collector.status().lotsAccepted, 1);
    assert.deepEqual([jobs.started, jobs.forgotten], [1, ['job 1']]);
    assert.deepEqual(await first.ledger.openJobs(jobs.name), []);
    await second.collector.stop();
  });

  it('offers a lot of a job to the store again, with its bytes, when it could not be stored', async () => {
    const jobs = new JobDouble();
    const inner = new MemoryLedger(new VirtualTime().clock);
    let failures = 4;
    const store = withCalls(inner, {
      addLot: (addLot) => async (lot, blocks, jobKey) => {
        if (failures === 2) await addLot(lot, blocks, jobKey); // made, and its answer lost
        if (failures-- > 0) throw new Error('the disk is full');
        return addLot(lot, blocks, jobKey);
      },
    });
    const { time, collector, assessor } = world(jobs, { store, pureBytesHigh: 1 });
    collector.start();
    await time.pass(60_000);
    assert.deepEqual(time.passed.slice(0, 4), [1_000, 2_000, 4_000, 8_000]);
    assert.deepEqual([collector.status().state, collector.status().lotsAccepted], ['ok', 1]);
    assert.equal((await inner.lots(9)).length, 1);
    assert.ok(!isZero((await inner.claimBlocks('pure', 1))[0].bytes));
    for (const bytes of assessor.lent) assert.ok(isZero(bytes));
    assert.equal(jobs.calls.filter((call) => call === 'fetch').length, 1);
    await collector.stop();
  });

  it('does not read a job again whose lot was stored though every answer got lost', async () => {
    const jobs = new JobDouble();
    const inner = new MemoryLedger(new VirtualTime().clock);
    let failures = 5;
    const store = withCalls(inner, {
      addLot: (addLot) => async (lot, blocks, jobKey) => {
        const isStored = await addLot(lot, blocks, jobKey);
        if (failures-- > 0) throw new Error('the link is down');
        return isStored;
      },
    });
    const { time, collector } = world(jobs, { store, pureBytesHigh: 1 });
    collector.start();
    await time.pass(60_000);
    assert.deepEqual(
      [collector.status().state, collector.status().lastError],
      ['failing', 'the link is down'],
    );
    assert.deepEqual([jobs.started, (await inner.lots(9)).length], [1, 1]);
    assert.deepEqual(jobs.calls, ['submit', 'poll', 'fetch', 'forget']);
    assert.deepEqual(await inner.openJobs(jobs.name), []);
    await collector.stop();
  });

  it('takes no job for a replay that is fetched again because nothing came of it', async () => {
    const jobs = new JobDouble();
    const { time, collector, assessor, ledger } = world(jobs, { pureBytesHigh: 1 });
    assessor.failure = new Error('the worker died');
    collector.start();
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
    await collector.stop();
  });

  it('makes one lot of a job and loses none over it', async () => {
    const jobs = new JobDouble();
    const inner = new MemoryLedger(new VirtualTime().clock);
    let isFirst = true;
    const store = withCalls(inner, {
      addLot: (addLot) => async (lot, blocks, jobKey) => {
        if (isFirst) await addLot(lotRecord('lot_of_another'), [], jobKey); // another process, against all rules
        isFirst = false;
        return addLot(lot, blocks, jobKey);
      },
    });
    const { time, collector, log } = world(jobs, { store, pureBytesHigh: 1 });
    collector.start();
    await time.pass(1_000);
    assert.deepEqual(
      log.errors().map(({ message }) => message),
      ['a job that gave a lot before: not stored'],
    );
    assert.deepEqual([jobs.started, collector.status().lotsAccepted], [2, 1]);
    assert.deepEqual(await inner.openJobs(jobs.name), []);
    await collector.stop();
  });

  it('does not count it as a failure of the source when the provider cannot be told that a job is over', async () => {
    const jobs = new JobDouble();
    jobs.failures.set('forget', [new TypeError('a bug')]);
    const { time, collector, log } = world(jobs, { pureBytesHigh: 1 });
    collector.start();
    await time.pass(1_000);
    assert.deepEqual(
      log.errors().map(({ facts, message }) => [facts.reason, message]),
      [['a bug', 'a job was not brought to its end']],
    );
    assert.equal(collector.status().state, 'ok');
    await collector.stop();
  });
});

describe('a result that was delivered before', () => {
  it('refuses a result that an earlier run of the service was given', async () => {
    const first = world(repeatingBackend(), { pureBytesHigh: 1 });
    first.collector.start();
    await first.time.pass(0);
    assert.equal(first.collector.status().lotsAccepted, 1);
    const { id } = first.collector.status().lastLot!;
    await first.collector.stop();
    await first.ledger.claimBlocks('pure', 1);
    await first.ledger.claimBlocks('seed', 64);
    const rejection = `the raw bits are those of lot ${id}`;
    for (let run = 1; run <= 3; run++) {
      const next = world(repeatingBackend(), { store: first.ledger });
      next.collector.start();
      await next.time.pass(0);
      assert.deepEqual(
        [next.collector.status().state, next.collector.status().lastError],
        ['failing', rejection],
      );
      assert.equal(next.assessor.tested.length, 0);
      await next.collector.stop();
    }
    const lots = await first.ledger.lots(9);
    assert.deepEqual(
      lots.map(({ accepted, rejection }) => [accepted, rejection]),
      [...new Array(3).fill([false, rejection]), [true, '']],
    );
    assert.equal((await first.ledger.blockLevels()).pure.blocks, 0);
  });

  it('three times in a row, in differing bits, closes the source', async () => {
    const sound = soundBackend();
    const stale: StreamBackend = {
      ...sound,
      read: async (bits, signal) => ({ ...(await sound.read(bits, signal)), rawSha256: 'a'.repeat(64) }),
    };
    const { time, collector, closed, ledger } = world(stale);
    collector.start();
    await time.pass(DAY_MS);
    assert.deepEqual(closed, [`the raw bits are those of lot ${(await ledger.lots(9)).at(-1)?.id}`]);
    assert.deepEqual([collector.status().lotsAccepted, collector.status().lotsRejected], [1, 3]);
    await collector.stop();
  });
});

describe('health tests', () => {
  it('keeps the read as evidence and closes the source when health tests fail for good', async () => {
    const { backend, reads } = watched(stuckBackend());
    const { time, ledger, collector, closed, assessor, onLotCalls } = world(backend);
    collector.start();
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
    await collector.stop();
  });

  it('discards the read and goes on when health tests fail now and then', async () => {
    const sound = soundBackend();
    const repeating = repeatingBackend();
    let reads = 0;
    // The first repeats nothing yet, four more do, then all is well.
    const sometimes: StreamBackend = {
      ...sound,
      read: (bits, signal) => (++reads <= 5 ? repeating : sound).read(bits, signal),
    };
    const { time, collector, closed, ledger } = world(sometimes);
    collector.start();
    await time.pass(0);
    assert.equal(collector.status().state, 'failing');
    assert.equal(collector.status().lastError, 'health tests: replay');
    await time.pass(15_000);
    assert.equal(collector.status().state, 'ok');
    assert.deepEqual(closed, []);
    assert.deepEqual(collector.status().reads, { pass: 4, intermittent: 4, permanent: 0, failed: 0 });
    assert.equal(await pureBlocks(ledger), 4);
    assert.equal((await ledger.lots(10)).filter(({ accepted }) => !accepted).length, 4);
    await collector.stop();
  });

  it('closes the source when health tests fail five times in a row', async () => {
    const { time, collector, closed } = world(repeatingBackend());
    collector.start();
    await time.pass(DAY_MS);
    assert.deepEqual(collector.status().reads, { pass: 1, intermittent: 4, permanent: 1, failed: 0 });
    assert.deepEqual(closed, ['health tests: replay']);
    await collector.stop();
  });

  it('know each layout of channels by itself', async () => {
    const wide = soundBackend('wide', 16);
    const narrow = soundBackend('narrow', 8);
    let reads = 0;
    const changing: StreamBackend = {
      ...wide,
      read: (bits, signal) => (++reads % 2 === 1 ? wide : narrow).read(bits, signal),
    };
    const { time, collector } = world(changing);
    collector.start();
    await time.pass(0);
    assert.equal(collector.status().lotsAccepted, 4);
    assert.equal(collector.status().health?.width, 8);
    assert.equal(collector.status().health?.reads, 2);
    await collector.stop();
  });
});

describe('statistical tests', () => {
  it('closes the source when statistical tests refuse three lots in a row', async () => {
    const { time, collector, closed, assessor, ledger } = world(soundBackend());
    assessor.estimates = [0.1, 0.1, 0.1];
    collector.start();
    await time.pass(DAY_MS);
    assert.deepEqual(time.passed, [1_000, 2_000]);
    assert.deepEqual(closed, ['min-entropy 0.100 per bit is below the floor']);
    assert.equal((await ledger.lots(10)).length, 3);
    assert.equal(collector.status().lotsRejected, 3);
    await collector.stop();
  });

  it('counts anew after statistical tests refused two lots and accepted one', async () => {
    const { time, collector, closed, assessor } = world(soundBackend(), {
      pureBytesHigh: 3 * PURE_BLOCK_BYTES,
    });
    assessor.estimates = [0.1, 0.1, 1, 0.1, 0.1, 1];
    collector.start();
    await time.pass(60_000);
    assert.deepEqual(closed, []);
    assert.deepEqual([collector.status().lotsAccepted, collector.status().lotsRejected], [3, 4]);
    await collector.stop();
  });
});

describe('a closed source', () => {
  it('ends pure at once and takes no seed; the seed in force serves to the end of its interval', async () => {
    const sound = soundBackend();
    let reads = 0;
    const breaking: StreamBackend = {
      ...sound,
      read: (bits, signal) => (++reads === 1 ? sound : stuckBackend()).read(bits, signal),
    };
    let onLot = async () => {};
    let onClosed = () => {};
    const { time, ledger, collector } = world(breaking, { onLot: () => onLot(), onClosed: () => onClosed() });
    const catalog = new LotCatalog(ledger);
    const schedule = new SeedSchedule(ledger, catalog, time.clock, silentLog);
    const pure = new PureSupply(ledger, catalog, silentLog);
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
    collector.start();
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
    await collector.stop();
  });

  it('keeps a source closed, and says so, when the listener of its closing fails', async () => {
    const { time, collector, log } = world(deadBackend(), {
      onClosed: () => {
        throw new Error('a bug');
      },
    });
    collector.start();
    await time.pass(HOUR_MS);
    assert.equal(collector.closed, true);
    assert.ok(log.errors().some(({ facts }) => facts.reason === 'a bug'));
    await collector.stop();
  });
});

describe('a stop', () => {
  it('ends an idle collector, twice, and before it began', async () => {
    const idle = world(soundBackend());
    idle.collector.start();
    await idle.time.pass(0);
    assert.deepEqual(idle.time.pending(), [1_000]);
    await Promise.all([idle.collector.stop(), idle.collector.stop()]);
    assert.deepEqual(idle.time.pending(), []);
    const unborn = world(soundBackend());
    assert.deepEqual(unborn.collector.status().state, 'starting');
    assert.equal(unborn.collector.status().health, null);
    await unborn.collector.stop();
    unborn.collector.start();
    await settle();
    assert.equal(unborn.collector.status().lotsAccepted, 0);
  });

  it('waits for no backend, be it deaf, and is no failure', async () => {
    for (const backend of [stallingBackend(), stallingBackend({ deaf: true })]) {
      const { time, collector, log } = world(backend);
      collector.start();
      await settle();
      await collector.stop();
      assert.deepEqual(time.pending(), []);
      assert.deepEqual([collector.status().state, collector.status().reads.failed], ['starting', 0]);
      assert.deepEqual(log.errors(), []);
    }
  });

  it('waits for no test of a lot, and keeps nothing of it', async () => {
    const { backend, reads } = watched(soundBackend());
    const { time, collector, ledger, assessor, log } = world(backend);
    const gate = Promise.withResolvers<void>();
    const testBits = assessor.testBits.bind(assessor);
    assessor.testBits = async (of, bits, bitLength) => {
      const tested = testBits(of, bits, bitLength);
      if (of === 'conditioned') await gate.promise;
      return tested;
    };
    collector.start();
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

  it('ends the pause after a failure', async () => {
    const { time, collector } = world(failingBackend(cutOff(HOUR_MS)));
    collector.start();
    await time.pass(0);
    assert.deepEqual(time.pending(), [HOUR_MS]);
    await collector.stop();
    assert.deepEqual(time.pending(), []);
  });

  it('lets a lot be stored that is being stored', async () => {
    const inner = new MemoryLedger(new VirtualTime().clock);
    const gate = Promise.withResolvers<void>();
    const store = withCalls(inner, {
      addLot: (addLot) => async (lot, blocks) => {
        await gate.promise;
        return addLot(lot, blocks);
      },
    });
    const { collector } = world(soundBackend(), { store });
    collector.start();
    await settle();
    const stopped = collector.stop();
    gate.resolve();
    await stopped;
    assert.equal((await inner.lots(10)).length, 1);
    const [block] = await inner.claimBlocks('pure', 1);
    assert.ok(!isZero(block.bytes));
  });
});
