import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Backend, BackendError, type Spend } from '../../../src/backend/backend.ts';
import { dayOf } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { SpendLimits } from '../../../src/ledger/records.ts';
import { type SourceReader, sourceReader } from '../../../src/pool/intake/jobs.ts';
import { failingBackend, soundBackend } from '../../support/backends.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';
import { lotRecord } from '../fixtures.ts';
import { JobDouble } from './job-double.ts';
import { VirtualTime } from './virtual-time.ts';

const BITS = 4096;
/** 2026-11-20T23:59:00Z */
const BEFORE_MIDNIGHT_MS = Date.UTC(2026, 10, 20, 23, 59);
const MINUTE_MS = 60_000;
const NEVER = new AbortController().signal;

/** A stream that counts its reads and costs what is told; nothing when nothing is. */
function stream(spend?: Spend) {
  const sound = soundBackend();
  let reads = 0;
  const backend: Backend = {
    ...sound,
    name: 'test-stream',
    ...(spend === undefined ? {} : { estimate: () => spend }),
    read: (bits, signal) => {
      reads++;
      return sound.read(bits, signal);
    },
  };
  return { backend, reads: () => reads };
}

/** Services that follow one another over one ledger, at the same time of the same clock. */
function world(limits: SpendLimits) {
  const clock = new ManualClock(BEFORE_MIDNIGHT_MS);
  const ledger = memoryLedger(clock);
  const { wait } = new VirtualTime();
  const reader = (backend: Backend) =>
    sourceReader({ backend, store: ledger, limits, clock, log: silentLog, wait });
  let lots = 0;
  /** Reads once, up to a lot. */
  const readLot = async (from: SourceReader) => {
    const { jobKey } = await from.read(BITS, NEVER);
    await ledger.addLot(lotRecord(`lot_${++lots}`), [], jobKey);
    if (jobKey !== undefined) await from.lotStored(jobKey, NEVER);
  };
  return { clock, ledger, reader, readLot };
}

function isSpent(message: string, untilNextDayMs: number) {
  return (error: unknown) => {
    assert.ok(error instanceof BackendError, String(error));
    assert.deepEqual([error.kind, error.message, error.retryAfterMs], ['quota', message, untilNextDayMs]);
    return true;
  };
}

const PRICE: Spend = { amount: 0.1, currency: 'USD', calls: 2 };

for (const shape of ['job', 'stream'] as const) {
  /** A source at PRICE, and how often its provider was asked for bits. */
  const source = (price = PRICE): { backend: Backend; bought: () => number } => {
    if (shape === 'stream') {
      const { backend, reads } = stream(price);
      return { backend, bought: reads };
    }
    const provider = new JobDouble();
    provider.price = price;
    return { backend: provider, bought: () => provider.keys.length };
  };

  describe(`the budget of a ${shape}`, () => {
    it('is spent exactly, and then nothing is bought until the next day (UTC)', async () => {
      const { clock, reader, readLot } = world({ amountPerDay: 0.3, callsPerDay: null });
      const { backend, bought } = source();
      const reading = reader(backend);
      for (let i = 0; i < 3; i++) await readLot(reading);
      const message = `budget of ${backend.name}: 0.3 of 0.3 USD are spent today, and a read takes 0.1 USD and 2 calls`;
      await assert.rejects(readLot(reading), isSpent(message, MINUTE_MS));
      clock.advance(MINUTE_MS - 1);
      await assert.rejects(readLot(reading), isSpent(message, 1));
      assert.equal(bought(), 3);
      clock.advance(1);
      await readLot(reading);
      assert.equal(bought(), 4);
    });

    it('is kept over restarts', async () => {
      const { reader, readLot, ledger, clock } = world({ amountPerDay: null, callsPerDay: 5 });
      const { backend, bought } = source();
      for (let i = 0; i < 2; i++) await readLot(reader(backend));
      await assert.rejects(
        readLot(reader(backend)),
        isSpent(
          `budget of ${backend.name}: 4 of 5 calls are spent today, and a read takes 0.1 USD and 2 calls`,
          MINUTE_MS,
        ),
      );
      assert.equal(bought(), 2);
      const day = dayOf(clock.wallMs());
      const spent = { source: backend.name, day, amount: 0.2, currency: 'USD', calls: 4 };
      assert.deepEqual(await ledger.spent(backend.name, day), spent);
    });

    it('buys nothing if it is smaller than one read', async () => {
      const { reader, readLot } = world({ amountPerDay: 0.09, callsPerDay: 1 });
      const { backend, bought } = source();
      const message = `budget of ${backend.name}: 0 of 0.09 USD and 0 of 1 calls are spent today, and a read takes 0.1 USD and 2 calls`;
      await assert.rejects(readLot(reader(backend)), isSpent(message, MINUTE_MS));
      assert.equal(bought(), 0);
    });

    it('is not spent in another currency on the same day', async () => {
      const { clock, reader, readLot } = world({ amountPerDay: 5, callsPerDay: null });
      const { backend } = source();
      await readLot(reader(backend));
      const changed = source({ ...PRICE, currency: 'EUR' });
      const message = `budget of ${backend.name}: 0.1 USD were spent today, and no other currency is until the next day`;
      await assert.rejects(readLot(reader(changed.backend)), isSpent(message, MINUTE_MS));
      assert.equal(changed.bought(), 0);
      clock.advance(MINUTE_MS);
      await readLot(reader(changed.backend));
    });
  });
}

describe('the budget is charged', () => {
  it('nothing for a stream that costs nothing', async () => {
    const { clock, ledger, reader, readLot } = world({ amountPerDay: 0, callsPerDay: 0 });
    const { backend } = stream();
    await readLot(reader(backend));
    assert.equal((await ledger.spent(backend.name, dayOf(clock.wallMs()))).calls, 0);
  });

  it('one call for a job without an estimate', async () => {
    const { clock, ledger, reader, readLot } = world({ amountPerDay: 0, callsPerDay: 2 });
    const provider = new JobDouble();
    Object.defineProperty(provider, 'estimate', { value: undefined });
    for (let i = 0; i < 2; i++) await readLot(reader(provider));
    await assert.rejects(readLot(reader(provider)), /2 of 2 calls are spent today/);
    assert.equal((await ledger.spent(provider.name, dayOf(clock.wallMs()))).amount, 0);
  });

  it('for a stream read that fails, because the provider may have counted it', async () => {
    const { clock, ledger, reader, readLot } = world({ amountPerDay: null, callsPerDay: null });
    const backend: Backend = {
      ...failingBackend(new BackendError('retryable', 'cut off')),
      estimate: () => PRICE,
    };
    await assert.rejects(readLot(reader(backend)), /cut off/);
    assert.equal((await ledger.spent(backend.name, dayOf(clock.wallMs()))).calls, 2);
  });

  it("for a job that is resumed on the next day on the job's own day", async () => {
    const { clock, ledger, reader, readLot } = world({ amountPerDay: 0.1, callsPerDay: null });
    const provider = new JobDouble();
    provider.price = PRICE;
    provider.failures.set('fetch', [new BackendError('auth', 'no')]);
    await assert.rejects(readLot(reader(provider)), /^BackendError: no$/);
    const day = dayOf(clock.wallMs());
    clock.advance(2 * MINUTE_MS);
    await readLot(reader(provider));
    await readLot(reader(provider));
    assert.deepEqual([provider.started, (await ledger.spent(provider.name, day)).amount], [2, 0.1]);
    assert.equal((await ledger.spent(provider.name, day + 1)).amount, 0.1);
  });
});
