import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BackendError, type BackendErrorKind } from '../../../src/backend/backend.ts';
import { dayOf } from '../../../src/core/clock.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { JobRecord } from '../../../src/ledger/records.ts';
import { sourceReader } from '../../../src/pool/intake/jobs.ts';
import { UNLIMITED } from '../../../src/pool/intake/read.ts';
import { rawRead } from '../../support/backends.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';
import { lotRecord, recordingLog, withCalls } from '../fixtures.ts';
import { hasKind, type JobCall, JobDouble } from './job-double.ts';
import { VirtualTime } from './virtual-time.ts';

const BITS = 4096;
const HOUR_MS = 3_600_000;
const WAITING = { state: 'queued', retryAfterMs: 300_000 } as const;

const failing = (kind: BackendErrorKind, retryAfterMs?: number) => new BackendError(kind, 'no', retryAfterMs);
const times = (count: number, kind: BackendErrorKind) => Array.from({ length: count }, () => failing(kind));

/** A provider and a ledger, and services that come and go over them; the first is there. */
function world(provider: JobDouble) {
  const time = new VirtualTime();
  const ledger = memoryLedger(time.clock);
  const puts: JobRecord[] = [];
  const watched = withCalls(ledger, {
    putJob: (putJob) => async (job) => {
      puts.push(job);
      await putJob(job);
    },
  });
  let lots = 0;
  const service = (store: Ledger = watched) => {
    const log = recordingLog();
    const stopping = new AbortController();
    const { signal } = stopping;
    const parts = { backend: provider, store, limits: UNLIMITED, clock: time.clock, log, wait: time.wait };
    const reader = sourceReader(parts);
    /** Reads one job to its stored lot. */
    const readLot = async () => {
      const { read, jobKey } = await reader.read(BITS, signal);
      assert.ok(jobKey !== undefined);
      assert.equal(await ledger.addLot(lotRecord(`lot_${++lots}`), [], jobKey), true);
      await reader.lotStored(jobKey, signal);
      return read;
    };
    /** Returns the result of the call while an hour passes. */
    const within = async <T>(call: Promise<T>, ms = HOUR_MS): Promise<T> => {
      call.catch(() => {}); // awaited below
      await time.pass(ms);
      return call;
    };
    return { reader, log, stopping, signal, readLot, within };
  };
  const open = () => ledger.openJobs(provider.name);
  const today = dayOf(time.clock.wallMs());
  /** Over the days that a test may take. */
  const spent = async () => {
    const days = await Promise.all([0, 1, 2].map((later) => ledger.spent(provider.name, today + later)));
    return days.reduce((sum, { amount }) => sum + amount, 0);
  };
  return { time, ledger, watched, puts, service, open, spent, ...service() };
}

describe('a job', () => {
  it('is recorded before each step, and ends when its lot is stored and its results are deleted', async () => {
    const provider = new JobDouble(
      { state: 'queued' },
      { state: 'queued', retryAfterMs: 0 },
      { state: 'running', retryAfterMs: 20_000 },
      { state: 'running', retryAfterMs: 1e12 },
    );
    const { time, ledger, puts, service, open, spent } = world(provider);
    const seen: (readonly [JobCall, JobRecord['state'][]])[] = [];
    for (const call of ['submit', 'poll', 'fetch', 'forget'] as const) {
      const original = provider[call].bind(provider) as (...args: unknown[]) => Promise<never>;
      provider[call] = async (...args: unknown[]) => {
        seen.push([call, (await open()).map(({ state }) => state)]);
        return original(...args);
      };
    }
    const { readLot, within, log } = service();
    const read = await within(readLot());
    assert.equal(read.shots * read.width, BITS);
    assert.deepEqual(seen, [
      ['submit', ['intended']],
      ...new Array(5).fill(['poll', ['submitted']]),
      ['fetch', ['submitted']],
      ['forget', ['stored']],
    ]);
    assert.deepEqual(time.passed, [5_000, 500, 20_000, 300_000]);
    assert.deepEqual([...provider.memos], ['memo of 1']);
    assert.deepEqual(await open(), []);
    const [submitted, ended] = puts;
    assert.equal(submitted.key, provider.keys[0]);
    assert.equal(submitted.submittedAtMs, submitted.intendedAtMs);
    assert.deepEqual([ended.state, ended.failure, ended.memo, ended.jobId], ['ended', '', '', '1']);
    assert.equal(await spent(), 0.5);
    assert.deepEqual((await ledger.audit()).problems, []);
    assert.deepEqual(
      log.lines.map(({ message }) => message),
      ['job submitted'],
    );
  });

  it('of a backend that deletes nothing ends with its lot', async () => {
    const provider = new JobDouble();
    Object.defineProperty(provider, 'forget', { value: undefined });
    const { open, readLot } = world(provider);
    await readLot();
    assert.deepEqual(await open(), []);
  });

  it('remains a single job when the answer to its submission gets lost', async () => {
    const provider = new JobDouble();
    provider.failures.set('submit', [
      failing('retryable'),
      failing('retryable', 30_000),
      failing('retryable'),
    ]);
    const { time, readLot, within } = world(provider);
    await within(readLot());
    assert.deepEqual(time.passed, [1_000, 30_000, 4_000]);
    assert.equal(provider.keys.length, 4);
    assert.equal(new Set(provider.keys).size, 1);
    await within(readLot());
    assert.equal(new Set(provider.keys).size, 2);
  });

  it('is cancelled when nobody comes back for it, whatever the provider says, within ten seconds', async () => {
    for (const ending of ['taken', 'refused', 'stalled'] as const) {
      const provider = new JobDouble(WAITING);
      provider.repeatsLastState = true;
      if (ending === 'refused') provider.failures.set('cancel', [failing('retryable')]);
      if (ending === 'stalled') provider.stalls.add('cancel');
      const { time, stopping, reader, readLot, within } = world(provider);
      const stopped = assert.rejects(readLot(), (error) => error === 'enough');
      await time.pass(12_000);
      stopping.abort('enough');
      await stopped;
      await within(reader.abandon(), ending === 'stalled' ? 10_000 : 0);
      assert.deepEqual([provider.cancelled, time.pending()], [['job 1'], []]);
    }
  });

  it('is read for the bits that it was made for', async () => {
    const provider = new JobDouble(WAITING, { state: 'done' });
    const { time, service } = world(provider);
    const first = service();
    first.reader.read(2 * BITS, first.signal).catch(() => {});
    await time.pass(1_000);
    first.stopping.abort();
    const read = await service().readLot();
    assert.equal(read.shots * read.width, 2 * BITS);
  });

  for (const call of ['submit', 'poll', 'fetch'] as const) {
    for (const kind of ['retryable', 'quota', 'auth'] as const) {
      it(`outlives a ${call} that fails (${kind}), and is charged once`, async () => {
        const provider = new JobDouble();
        const isTriedAgain = kind === 'retryable';
        provider.failures.set(
          call,
          Array.from({ length: isTriedAgain ? 5 : 1 }, () => failing(kind, 70_000)),
        );
        const { open, spent, readLot, within } = world(provider);
        await assert.rejects(within(readLot()), (error: BackendError) => {
          return hasKind(kind, /^no$/)(error) && error.retryAfterMs === 70_000;
        });
        assert.equal((await open()).length, 1);
        await within(readLot());
        assert.equal(provider.started, 1);
        assert.equal(new Set(provider.keys).size, 1);
        assert.equal(await spent(), 0.5);
        assert.deepEqual(provider.cancelled, []);
        assert.deepEqual(await open(), []);
      });
    }
  }

  it('that cannot be submitted for good ends, and calls for a person', async () => {
    for (const kind of ['permanent', 'no_raw_shots'] as const) {
      const provider = new JobDouble();
      provider.failures.set('submit', [failing(kind)]);
      const { service, open, puts } = world(provider);
      await assert.rejects(service().readLot(), hasKind(kind, /^no$/));
      assert.deepEqual(await open(), []);
      assert.deepEqual([puts[0].state, puts[0].failure, puts[0].jobId], ['ended', 'no', null]);
      assert.deepEqual(provider.cancelled, []);
    }
  });

  it('that failed or was cancelled ends with the reason, and another is submitted', async () => {
    for (const state of ['failed', 'cancelled'] as const) {
      const provider = new JobDouble({ state, reason: 'calibration' });
      const { open, puts, spent, readLot, within, log } = world(provider);
      await assert.rejects(readLot(), hasKind('retryable', new RegExp(`^job 1 ${state}: calibration$`)));
      assert.equal(puts.at(-1)?.failure, `${state}: calibration`);
      assert.equal(log.lines.at(-1)?.message, 'job ended without a lot');
      assert.deepEqual([await open(), provider.cancelled], [[], []]);
      await within(readLot());
      assert.equal(provider.started, 2);
      assert.equal(await spent(), 1);
    }
  });

  it('whose results are lost ends for good, and calls for a person at the second in a row', async () => {
    const provider = new JobDouble();
    const lost = () => new BackendError('permanent', 'read before');
    provider.failures.set('fetch', [lost()]);
    const { open, readLot } = world(provider);
    await assert.rejects(readLot(), hasKind('retryable', /^job 1: read before$/));
    assert.deepEqual(await open(), []);
    await readLot();
    provider.failures.set('fetch', [lost(), lost()]);
    await assert.rejects(readLot(), hasKind('retryable', /^job 3: read before$/));
    await assert.rejects(readLot(), hasKind('permanent', /^job 4: read before$/));
    assert.deepEqual([provider.cancelled, await open()], [[], []]);
  });

  it('that the provider no longer knows is cancelled', async () => {
    const provider = new JobDouble();
    provider.failures.set('poll', [new BackendError('permanent', 'no such job')]);
    provider.failures.set('cancel', [new BackendError('permanent', 'no such job')]);
    const { service, open } = world(provider);
    await assert.rejects(service().readLot(), hasKind('retryable', /^job 1: no such job$/));
    assert.deepEqual([provider.cancelled, await open()], [['job 1'], []]);
  });

  it('without raw shots ends, and says so', async () => {
    const provider = new JobDouble();
    provider.failures.set('fetch', [new BackendError('no_raw_shots', 'only a histogram')]);
    const { service, open } = world(provider);
    await assert.rejects(service().readLot(), hasKind('no_raw_shots', /histogram/));
    assert.deepEqual(await open(), []);
  });

  it('whose result is too short or contradicts itself is not fetched again', async () => {
    for (const [result, message] of [
      [() => rawRead(new Uint8Array(8), 8, 8), /64 of 4096 bits/],
      [() => rawRead(new Uint8Array(9), 8, 8), /9 bytes for 64 bits/],
    ] as const) {
      const provider = new JobDouble();
      provider.result = result;
      const { open, readLot } = world(provider);
      await assert.rejects(readLot(), hasKind('retryable', message));
      assert.deepEqual(await open(), []);
      await assert.rejects(readLot(), hasKind('permanent', message));
      assert.equal(provider.calls.filter((call) => call === 'fetch').length, 2);
    }
  });

  it('whose result cannot be fetched is given up after twenty rounds', async () => {
    const provider = new JobDouble();
    provider.failures.set('fetch', times(100, 'retryable'));
    const { open, readLot, within } = world(provider);
    for (let round = 1; round < 20; round++)
      await assert.rejects(within(readLot()), hasKind('retryable', /^no$/));
    assert.equal((await open()).length, 1);
    await assert.rejects(
      within(readLot()),
      hasKind('retryable', /^job 1: results that cannot be fetched: no$/),
    );
    assert.deepEqual(await open(), []);
  });

  it('that is not done within a day is given up and cancelled', async () => {
    const provider = new JobDouble(WAITING);
    provider.repeatsLastState = true;
    const { open, puts, readLot, within } = world(provider);
    await assert.rejects(within(readLot(), 25 * HOUR_MS), hasKind('retryable', /^job 1 not done in 24 h$/));
    assert.equal(provider.calls.filter((call) => call === 'poll').length, 289);
    assert.deepEqual(provider.cancelled, ['job 1']);
    assert.deepEqual([puts.at(-1)?.failure, await open()], ['not done in 24 h', []]);
  });

  it('is polled once more, however old, before it is given up', async () => {
    for (const [state, isGivenUp] of [
      [{ state: 'done' }, false],
      [WAITING, true],
    ] as const) {
      const provider = new JobDouble(WAITING, state);
      provider.repeatsLastState = true;
      const { time, service } = world(provider);
      const first = service();
      first.readLot().catch(() => {});
      await time.pass(1_000);
      first.stopping.abort();
      await time.pass(60 * HOUR_MS);
      const second = service();
      const reading = second.within(second.readLot(), 1_000);
      if (isGivenUp) await assert.rejects(reading, hasKind('retryable', /not done in 24 h/));
      else assert.equal((await reading).shots * 16, BITS);
      assert.deepEqual(provider.cancelled, isGivenUp ? ['job 1'] : []);
      assert.equal(provider.started, 1);
    }
  });

  it('is not given up over the first errors after a long downtime', async () => {
    const provider = new JobDouble(WAITING, { state: 'done' });
    const { time, service, open } = world(provider);
    const first = service();
    first.readLot().catch(() => {});
    await time.pass(1_000);
    first.stopping.abort();
    await time.pass(60 * HOUR_MS);
    provider.failures.set('poll', [failing('auth'), failing('auth'), failing('auth')]);
    const second = service();
    await assert.rejects(second.readLot(), hasKind('auth', /^no$/));
    await time.pass(24 * HOUR_MS);
    await assert.rejects(second.readLot(), hasKind('auth', /^no$/));
    assert.equal((await open()).length, 1);
    await time.pass(1);
    await assert.rejects(second.readLot(), hasKind('auth', /^no$/));
    assert.deepEqual([await open(), provider.cancelled], [[], ['job 1']]);
  });

  it('does not wait for calls that never return', async () => {
    for (const call of ['submit', 'poll', 'fetch'] as const) {
      const provider = new JobDouble();
      provider.stalls.add(call);
      const { open, readLot, within } = world(provider);
      await assert.rejects(within(readLot()), hasKind('retryable', /no answer within 60 s/));
      assert.equal(provider.calls.filter((each) => each === call).length, 5);
      provider.stalls.clear();
      await within(readLot());
      assert.equal(provider.started, 1);
      assert.deepEqual(await open(), []);
    }
  });
});

describe('raw results that the provider does not delete', () => {
  it('are deleted by another request after the next lot and at the next start', async () => {
    const provider = new JobDouble();
    provider.failures.set('forget', times(3, 'retryable'));
    const { time, service, open } = world(provider);
    const first = service();
    await first.readLot();
    assert.deepEqual(
      (await open()).map(({ state, memo }) => [state, memo]),
      [['stored', 'memo of 1']],
    );
    assert.equal(first.log.lines.at(-1)?.facts.reason, 'no');
    assert.equal(await first.reader.isOwed(first.signal), false);
    await first.readLot();
    assert.equal((await open()).length, 2, 'neither is deleted');
    const second = service();
    assert.equal(await second.reader.isOwed(second.signal), false);
    assert.deepEqual(provider.forgotten, ['job 1', 'job 2']);
    assert.deepEqual([await open(), time.passed], [[], []]);
    assert.equal(provider.started, 2);
  });

  it('remain with a provider that never deletes, or has not for a day', async () => {
    const never = new JobDouble();
    never.failures.set('forget', [failing('permanent')]);
    const one = world(never);
    const { readLot, log } = one.service();
    await readLot();
    assert.deepEqual(await one.open(), []);
    assert.deepEqual([log.lines.at(-1)?.level, log.lines.at(-1)?.facts.isGivenUp], ['warn', true]);

    const later = new JobDouble();
    later.failures.set('forget', times(3, 'auth'));
    const other = world(later);
    const service = other.service();
    await service.readLot();
    await other.time.pass(24 * HOUR_MS + 1);
    await service.readLot();
    assert.deepEqual(
      (await other.open()).map(({ jobId }) => jobId),
      ['2'],
    );
  });

  it('may take ten seconds to delete', async () => {
    const provider = new JobDouble();
    provider.stalls.add('forget');
    const { time, open, readLot, within } = world(provider);
    await within(readLot(), 10_000);
    assert.deepEqual(time.passed, [10_000]);
    assert.equal((await open()).length, 1);
  });
});

describe('a store that fails', () => {
  for (const call of ['openJob', 'putJob', 'openJobs'] as const) {
    it(`leaves one job under one key, charged once, when ${call} fails once, made or not`, async () => {
      for (const isMade of [false, true]) {
        const provider = new JobDouble();
        const { watched, service, open, spent } = world(provider);
        let failures = 1;
        const failOnce =
          (made: (...args: never[]) => Promise<unknown>) =>
          async (...args: never[]) => {
            if (failures-- <= 0) return made(...args);
            if (isMade) await made(...args);
            throw new Error('the disk is away');
          };
        const { readLot } = service(
          withCalls(watched, { [call]: failOnce } as Parameters<typeof withCalls>[1]),
        );
        await assert.rejects(readLot(), /the disk is away/);
        assert.equal(provider.started, call === 'putJob' ? 1 : 0);
        await readLot();
        assert.deepEqual([provider.started, new Set(provider.keys).size, await spent()], [1, 1, 0.5]);
        assert.equal(provider.keys.length, call === 'putJob' && !isMade ? 2 : 1);
        assert.deepEqual(await open(), []);
      }
    });
  }
});
