import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EntropySupply, type EntropySupplyOptions } from '../../src/answer/supply.ts';
import { ApiError } from '../../src/core/errors.ts';
import { silentLog } from '../../src/core/log.ts';
import type { EntropyMode } from '../../src/core/vocabulary.ts';
import { SEED_BLOCK_BYTES } from '../../src/ledger/records.ts';
import { type SeedGroup, seedGroupName } from '../../src/pool/supply/seeds.ts';
import { tested } from '../certificate/fixtures.ts';
import { block, lot, NOON_MS } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

const clock = new ManualClock();
const PRO = { tier: 'pro', intervalMs: 1_000 } as const;
const BUSINESS = { tier: 'business', intervalMs: 1_000 } as const;
/** Refused in these words, and to be asked again. */
const unavailable = (mode: EntropyMode) => (error: unknown) =>
  error instanceof ApiError &&
  error.code === 'entropy_unavailable' &&
  error.facts.retryAfterS === 5 &&
  error.facts.details?.['entropy_mode'] === mode &&
  error.message.includes(`mode ${mode} now`);
const PASSED = { assessments: [tested('conditioned')] };

function supplyWith(options: Partial<EntropySupplyOptions> = {}): EntropySupply {
  return new EntropySupply({
    store: memoryLedger(clock),
    expand: async () => [],
    clock,
    log: silentLog,
    askForSeed: async () => false,
    askForSample: async () => {},
    ...options,
  });
}

/** Installs the third seed of a lot, which may be used for a second from now on. */
function seed(supply: EntropySupply, { tier, intervalMs }: SeedGroup, of = lot(1), releasedAtMs = 0): void {
  const group = seedGroupName({ tier, intervalMs });
  const place = { tier, group, generation: 1, lotId: of.id, index: 2 } as const;
  const times = { releasedAtMs, seededAtMs: 0, dueAtMonotonicMs: clock.monotonicMs() + 1_000 };
  supply.installSeed({ ...place, ...times }, new Uint8Array(32).fill(1), of);
}

describe('csprng before the first sample of its stream is tested', () => {
  it('requests the sample, waits for it, and names it', async () => {
    let asked = 0;
    const supply = supplyWith({ askForSample: async () => void asked++ });
    assert.equal(supply.held(undefined), undefined);
    assert.equal(asked, 0);
    let isOver = false;
    const waiting = supply.waitUntilAvailable(undefined).finally(() => (isOver = true));
    await nextTurn();
    assert.equal(isOver, false);
    assert.equal(asked, 1);
    const sample = lot(1, { origin: 'system', ...PASSED });
    supply.installSystemLot(sample);
    await waiting;
    const held = supply.held(undefined);
    assert.deepEqual(held?.from, {
      ...{ mode: 'csprng', lotIds: [sample.id], drawn: [], origin: 'system', nistVerified: true },
      ...{ circuit: 'none', circuitVersion: 'none', quantumBackend: 'none' },
      availableAtMs: sample.finishedAtMs,
    });
    assert.equal(held.reader, supply.system);
    assert.deepEqual(held.order(), { from: 'system' });
    supply.close();
  });

  it('is refused when the sample is rejected or cannot be requested, or the service stops before it is tested', async () => {
    for (const end of [
      (supply: EntropySupply) => supply.installSystemLot(null),
      (supply: EntropySupply) => supply.close(),
    ]) {
      const supply = supplyWith({ askForSample: () => Promise.reject(new Error('it stops')) });
      const waiting = supply.waitUntilAvailable(undefined);
      await nextTurn();
      end(supply);
      await assert.rejects(waiting, unavailable('csprng'));
    }
    const supply = supplyWith();
    supply.installSystemLot(null);
    assert.throws(() => supply.held(undefined), unavailable('csprng'));
    supply.installSystemLot(lot(1));
    assert.ok(supply.held(undefined) !== undefined, 'a later sample is good');
  });
});

describe('a seed', () => {
  it('serves its group until it is due and never after, and names its place in its lot', async () => {
    const supply = supplyWith();
    await assert.rejects(supply.waitUntilAvailable(BUSINESS), unavailable('quantum-seeded'));
    await assert.rejects(
      supply.waitUntilAvailable(PRO),
      unavailable('quantum-seeded'),
      'it was said to come, and did not',
    );
    const of = lot(1, PASSED);
    seed(supply, PRO, of, NOON_MS + 7);
    await supply.waitUntilAvailable(PRO);
    assert.equal(supply.held(BUSINESS), undefined);
    const dueMs = clock.monotonicMs() + 1_000;
    const held = supply.held(PRO, dueMs - 1);
    assert.deepEqual(held?.from, {
      ...{
        mode: 'quantum-seeded',
        lotIds: [of.id],
        drawn: [{ lot: 0, offset: 64, bytes: SEED_BLOCK_BYTES }],
      },
      ...{ origin: 'simulated', nistVerified: true, availableAtMs: NOON_MS + 7 },
      ...{ circuit: of.circuit, circuitVersion: of.circuitVersion, quantumBackend: of.quantumBackend },
    });
    const [one, other] = [held.order(), held.order()];
    assert.ok(one.from === 'one-time-key' && other.from === 'one-time-key');
    assert.notDeepEqual(one.key, other.key);
    assert.equal(supply.held(PRO, dueMs), undefined);
    assert.equal(supply.held(PRO, dueMs - 1), undefined, 'it is erased');
    seed(supply, PRO, of);
    assert.equal(
      supply.held(PRO)?.from.availableAtMs,
      of.finishedAtMs,
      'the lot had ended after it was released',
    );
    assert.ok(supply.held(PRO)?.reader === held.reader, 'the stream goes on with a new seed');
  });

  it('is sampled as answers are drawn, so that nothing is delivered twice', () => {
    const supply = supplyWith();
    assert.equal(supply.sample(PRO, 64), undefined);
    seed(supply, PRO);
    const samples = [supply.sample(PRO, 64), supply.sample(PRO, 64), supply.sample(undefined, 64)];
    assert.deepEqual(
      samples.map((each) => each?.length),
      [64, 64, 64],
    );
    assert.equal(new Set(samples.map((each) => each?.join())).size, 3);
    assert.ok(samples.every((each) => each?.some((byte) => byte !== 0)));
  });

  it('ends with the lot that is withdrawn, as its pure bytes do, and a seed of another lot serves again', async () => {
    const store = memoryLedger(clock);
    await store.addLot(lot(1), [block('pure', 1, 64)]);
    const supply = supplyWith({ store });
    assert.equal(await supply.pure.fill(1), true);
    seed(supply, PRO);
    seed(supply, BUSINESS, lot(2));
    const [withdrawn, kept] = [supply.held(PRO), supply.held(BUSINESS)];
    supply.withdraw(new Set([lot(1).id, lot(3).id]));
    assert.equal(supply.held(PRO), undefined);
    assert.throws(() => withdrawn!.reader.fill(new Uint8Array(8)), 'nothing of it is left');
    assert.equal(supply.held(BUSINESS), kept);
    assert.equal(supply.pure.available(), 0);
    seed(supply, PRO, lot(2));
    assert.ok(supply.held(PRO) !== undefined);
  });

  it('serves nothing after the service has stopped, although a request may outlast the service', async () => {
    const store = memoryLedger(clock);
    const supply = supplyWith({ store });
    seed(supply, PRO);
    supply.held(PRO)!.reader.fill(new Uint8Array(8));
    supply.close();
    assert.equal(supply.held(PRO), undefined);
    await store.addLot(lot(1), [block('pure', 1, 64)]);
    assert.equal(await supply.pure.fill(1), false);
    await assert.rejects(supply.waitUntilAvailable(PRO), unavailable('quantum-seeded'));
  });
});

describe('the source that a pure draw states', () => {
  it('is the weakest of its lots, each named once, and the same object for draws from one lot', () => {
    const supply = supplyWith();
    const [device, plain] = [lot(1, { origin: 'qrng-device', circuit: 'device', ...PASSED }), lot(2)];
    const share = (of: typeof device, offset: number, releasedAtMs = NOON_MS) => ({
      lot: of,
      offset,
      bytes: 16,
      releasedAtMs,
    });
    const one = supply.pureFrom([share(device, 0)]);
    assert.deepEqual([one.lotIds, one.origin, one.nistVerified], [[device.id], 'qrng-device', true]);
    assert.equal(supply.pureFrom([share(device, 16), share(device, 32)]), one);
    const both = supply.pureFrom([share(device, 48), share(device, 64), share(plain, 0, NOON_MS + 9)]);
    assert.deepEqual(both, {
      ...{ mode: 'pure', lotIds: [device.id, plain.id], drawn: [], origin: 'simulated', nistVerified: false },
      ...{ circuit: 'device', circuitVersion: '1.0.0', quantumBackend: 'simulator-statevector' },
      availableAtMs: NOON_MS + 9,
    });
    assert.notEqual(supply.pureFrom([share(device, 80)]), both);
    assert.deepEqual(supply.pureFrom([share(plain, 16)]).lotIds, [plain.id]);
  });
});
