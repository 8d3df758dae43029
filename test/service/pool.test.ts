import assert from 'node:assert/strict';
import { it } from 'node:test';
import { loadSettings } from '../../src/config/config.ts';
import { ApiError } from '../../src/core/errors.ts';
import { fillSystemEntropy } from '../../src/crypto/system-entropy.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { LotRecord } from '../../src/ledger/records.ts';
import { UNLIMITED } from '../../src/pool/intake/read.ts';
import type { FrontEvents } from '../../src/service/front-stack.ts';
import { type PoolOptions, startPool } from '../../src/service/pool.ts';
import { recordingLog, ScriptedAssessor, settle, withCalls } from '../pool/fixtures.ts';
import { deadBackend } from '../support/backends.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

const FRONT: FrontEvents = {
  installSeed: () => {},
  installSystemLot: () => {},
  lotsAdded: () => {},
  lotsRevoked: async () => {},
  sourcesClosed: () => {},
  becomeReady: () => {},
  holdBack: () => {},
};

function partsOf(ledger: Ledger, clock: ManualClock): PoolOptions {
  return {
    ledger,
    sources: [{ backend: deadBackend(), limits: UNLIMITED }],
    assessor: new ScriptedAssessor(),
    config: { ...loadSettings({}), sources: [] },
    log: recordingLog(),
    clock,
    fronts: [FRONT],
    tested: {
      fillPure: async () => false,
      sample: async (_group, size) => fillSystemEntropy(new Uint8Array(size)),
    },
  };
}

it('the pool uses what an earlier run left before it reads a source', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const clock = new ManualClock();
  const used = Promise.withResolvers<void>();
  const levels: string[] = [];
  const ledger = withCalls(memoryLedger(clock), {
    revocations: (revocations) => async () => {
      await used.promise;
      return revocations();
    },
    blockLevels: (blockLevels) => async () => {
      levels.push('asked');
      return blockLevels();
    },
  });
  const pool = startPool(partsOf(ledger, clock));
  await settle();
  assert.deepEqual(levels, [], 'no source is read meanwhile');
  used.resolve();
  await settle();
  assert.ok(levels.length > 0, 'the source may be read now');
  await pool.stop();
});

it('the pool samples the csprng stream again a minute after the sample could not be stored', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const clock = new ManualClock();
  let isFull = true;
  const ledger = withCalls(memoryLedger(clock), {
    addLot: (addLot) => async (lot, blocks, jobKey) => {
      if (isFull) throw new ApiError('storage_unavailable', { retryAfterS: 5 });
      return addLot(lot, blocks, jobKey);
    },
  });
  const installed: (LotRecord | null)[] = [];
  const pool = startPool({
    ...partsOf(ledger, clock),
    fronts: [{ ...FRONT, installSystemLot: (lot) => void installed.push(lot) }],
  });
  pool.sampleSystem();
  await settle();
  assert.deepEqual(installed.splice(0), [null], 'csprng is refused');
  isFull = false;
  t.mock.timers.tick(60_000);
  await settle();
  assert.deepEqual(
    installed.map((lot) => lot?.accepted),
    [true],
    'csprng is served',
  );
  await pool.stop();
});
