import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Backend, BackendError, type RawRead } from '../../../src/backend/backend.ts';
import { readBackend } from '../../../src/pool/intake/read.ts';
import {
  deadBackend,
  failingBackend,
  rawRead,
  shortBackend,
  soundBackend,
  stallingBackend,
} from '../../support/backends.ts';
import { hasKind, JobDouble } from './job-double.ts';
import { VirtualTime } from './virtual-time.ts';

const BITS = 4096;
const HOUR_MS = 3_600_000;

function reading(backend: Backend) {
  const time = new VirtualTime();
  const stopping = new AbortController();
  return { time, stopping, read: readBackend(backend, BITS, stopping.signal, time.wait) };
}

function lyingBackend(change: Partial<RawRead>): Backend {
  const sound = soundBackend();
  return {
    ...sound,
    async read(bits, signal) {
      assert.ok(sound.kind === 'stream');
      return { ...(await sound.read(bits, signal)), ...change };
    },
  };
}

describe('a stream read', () => {
  it('gives what the backend gives', async () => {
    const expected = await soundBackend().read(BITS, new AbortController().signal);
    assert.deepEqual(await reading(soundBackend()).read, expected);
  });

  it('rejects with what the backend rejects with', async () => {
    const error = new BackendError('quota', 'spent', 77);
    await assert.rejects(reading(failingBackend(error)).read, (thrown) => thrown === error);
    await assert.rejects(reading(deadBackend()).read, hasKind('permanent', /gone/));
  });

  it('rejects a read that gives too few bits as retryable', async () => {
    await assert.rejects(reading(shortBackend()).read, hasKind('retryable', /2048 of 4096 bits/));
  });

  it('rejects a read that contradicts itself as permanent', async () => {
    const bits = new Uint8Array(BITS / 8 - 1);
    await assert.rejects(
      reading(lyingBackend({ bits })).read,
      hasKind('permanent', /511 bytes for 4096 bits/),
    );
    await assert.rejects(
      reading(lyingBackend({ shots: 10 })).read,
      hasKind('permanent', /512 bytes for 160/),
    );
  });

  it('gives a read as much time as the source names', async () => {
    const { time, read } = reading({ ...stallingBackend(), readTimeoutMs: 45_000 });
    const rejected = assert.rejects(read, hasKind('retryable', /no answer within 45 s/));
    await time.pass(44_999);
    assert.deepEqual(time.pending(), [45_000]);
    await time.pass(1);
    await rejected;
  });

  for (const deaf of [false, true]) {
    it(`gives up a backend that stalls${deaf ? ', deaf to its signal' : ''}`, async () => {
      const { time, read } = reading(stallingBackend({ deaf }));
      const rejected = assert.rejects(read, hasKind('retryable', /no answer within 30 s/));
      await time.pass(29_999);
      assert.deepEqual(time.pending(), [30_000]);
      await time.pass(1);
      await rejected;
    });

    it(`stops with the signal's own reason${deaf ? ', though the backend is deaf' : ''}`, async () => {
      const { time, stopping, read } = reading(stallingBackend({ deaf }));
      const rejected = assert.rejects(read, (error) => error === 'the service stops');
      stopping.abort('the service stops');
      await rejected;
      assert.deepEqual(time.pending(), []);
    });
  }
});

describe('a job that nobody keeps', () => {
  it('submits a job, polls it as the provider asks, and fetches it', async () => {
    const job = new JobDouble(
      { state: 'queued' },
      { state: 'queued', retryAfterMs: 0 },
      { state: 'running', retryAfterMs: 20_000 },
      { state: 'running', retryAfterMs: 1e12 },
      { state: 'done' },
    );
    const { time, read } = reading(job);
    await time.pass(HOUR_MS);
    assert.equal((await read).shots * (await read).width, BITS);
    assert.deepEqual(time.passed, [5_000, 500, 20_000, 300_000]);
    assert.deepEqual(job.calls, ['submit', 'poll', 'poll', 'poll', 'poll', 'poll', 'fetch']);
    const other = new JobDouble({ state: 'done' });
    await reading(other).read;
    assert.notEqual(other.keys[0], job.keys[0]);
  });

  it('does not give up a job for polls and fetches that fail a few times', async () => {
    const job = new JobDouble({ state: 'running' }, { state: 'done' });
    const cutOff = (retryAfterMs?: number) => new BackendError('retryable', 'cut off', retryAfterMs);
    job.failures.set('poll', [cutOff(), cutOff(30_000), cutOff(), cutOff()]);
    job.failures.set('fetch', [cutOff()]);
    const { time, read } = reading(job);
    await time.pass(HOUR_MS);
    await read;
    assert.deepEqual(time.passed, [1_000, 30_000, 4_000, 8_000, 5_000, 1_000]);
    assert.deepEqual(job.cancelled, []);
  });

  it('cancels a job when polls go on failing, or fail for good', async () => {
    const cutOff = new BackendError('retryable', 'cut off');
    const refused = new BackendError('auth', 'key withdrawn');
    for (const [failures, kind] of [
      [[cutOff, cutOff, cutOff, cutOff, cutOff], 'retryable'],
      [[refused], 'auth'],
    ] as const) {
      const job = new JobDouble({ state: 'done' });
      job.failures.set('poll', [...failures]);
      const { time, read } = reading(job);
      const rejected = assert.rejects(read, hasKind(kind, /cut off|withdrawn/));
      await time.pass(HOUR_MS);
      await rejected;
      assert.deepEqual(job.cancelled, ['job 1']);
    }
  });

  it('lets a failed or cancelled job be tried again, and does not cancel it once more', async () => {
    for (const state of ['failed', 'cancelled'] as const) {
      const job = new JobDouble({ state, reason: 'calibration' });
      await assert.rejects(
        reading(job).read,
        hasKind('retryable', new RegExp(`job 1 ${state}: calibration`)),
      );
      assert.deepEqual(job.cancelled, []);
    }
  });

  it('gives up and cancels a job that is not done within a day', async () => {
    const job = new JobDouble({ state: 'queued', retryAfterMs: 300_000 });
    job.repeatsLastState = true;
    const { time, read } = reading(job);
    const rejected = assert.rejects(read, hasKind('retryable', /not done in 24 h/));
    await time.pass(25 * HOUR_MS);
    await rejected;
    assert.equal(job.calls.filter((call) => call === 'poll').length, 289);
    assert.deepEqual(job.cancelled, ['job 1']);
  });

  it('cancels a job at a stop, rejects with its reason, and waits ten seconds at most', async () => {
    for (const stalls of [false, true]) {
      const job = new JobDouble({ state: 'queued' });
      job.repeatsLastState = true;
      if (stalls) job.stalls.add('cancel');
      const { time, stopping, read } = reading(job);
      const rejected = assert.rejects(read, (error) => error === 'the service stops');
      await time.pass(12_000);
      stopping.abort('the service stops');
      if (stalls) await time.pass(10_000);
      await rejected;
      assert.deepEqual(job.cancelled, ['job 1']);
      assert.deepEqual(time.pending(), []);
    }
  });

  it('ignores a cancellation that the provider refuses, and reports a bug', async () => {
    for (const [failure, expected] of [
      [new BackendError('retryable', 'too late'), 'the service stops'],
      [new TypeError('a bug'), 'TypeError: a bug'],
    ] as const) {
      const job = new JobDouble({ state: 'queued' });
      job.repeatsLastState = true;
      job.failures.set('cancel', [failure]);
      const { time, stopping, read } = reading(job);
      const rejected = assert.rejects(read, (error) => String(error) === expected);
      await time.pass(0);
      stopping.abort('the service stops');
      await rejected;
    }
  });

  it('checks the result of a job like any other read', async () => {
    const job = new JobDouble({ state: 'done' });
    job.result = () => rawRead(new Uint8Array(8), 8, 8);
    await assert.rejects(reading(job).read, hasKind('retryable', /64 of 4096 bits/));
  });
});
