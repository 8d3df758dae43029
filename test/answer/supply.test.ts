import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EntropySupply } from '../../src/answer/supply.ts';
import { systemClock } from '../../src/core/clock.ts';
import { ApiError } from '../../src/core/errors.ts';
import { silentLog } from '../../src/core/log.ts';
import { seedGroupName } from '../../src/pool/supply/seeds.ts';
import { lot } from '../support/ledger-records.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

function emptySupply(askForSample = async () => {}): EntropySupply {
  const store = memoryLedger(systemClock);
  return new EntropySupply({
    store,
    expand: async () => [],
    clock: systemClock,
    log: silentLog,
    askForSeed: async () => false,
    askForSample,
  });
}

const isUnavailable = (error: unknown) => error instanceof ApiError && error.code === 'entropy_unavailable';

describe('csprng before the first sample of its stream is tested', () => {
  it('has the sample taken, waits for it, and names it', async () => {
    let asked = 0;
    const supply = emptySupply(async () => void asked++);
    assert.equal(supply.held(undefined), undefined);
    assert.equal(asked, 0);
    let isOver = false;
    const waiting = supply.comes(undefined).finally(() => (isOver = true));
    await nextTurn();
    assert.equal(isOver, false);
    assert.equal(asked, 1);
    const sample = lot(1);
    supply.installSystemLot(sample);
    await waiting;
    assert.deepEqual(supply.held(undefined)?.from.lotIds, [sample.id]);
    supply.close();
  });

  it('is refused with entropy_unavailable when the sample is rejected', async () => {
    const supply = emptySupply();
    const waiting = supply.comes(undefined);
    supply.installSystemLot(null);
    await assert.rejects(waiting, isUnavailable);
    assert.throws(() => supply.held(undefined), isUnavailable);
    supply.close();
  });

  it('is refused when the service stops before the sample is tested', async () => {
    const supply = emptySupply();
    const waiting = supply.comes(undefined);
    supply.close();
    await assert.rejects(waiting, isUnavailable);
  });
});

describe('a seeded answer after the service has stopped', () => {
  it('is refused with entropy_unavailable: the request waited for the ledger longer than the service for it', async () => {
    const supply = emptySupply();
    const group = { tier: 'pro', intervalMs: 1_000 } as const;
    const seed = {
      tier: 'pro',
      group: seedGroupName(group),
      generation: 1,
      lotId: lot(1).id,
      index: 0,
    } as const;
    const times = { releasedAtMs: 0, seededAtMs: 0, dueAtMonotonicMs: Number.POSITIVE_INFINITY };
    supply.installSeed({ ...seed, ...times }, new Uint8Array(32).fill(1), lot(1));
    supply.held(group)!.reader.fill(new Uint8Array(8));
    supply.close();
    assert.equal(supply.held(group), undefined);
    await assert.rejects(supply.comes(group), isUnavailable);
  });
});
