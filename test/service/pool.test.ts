import assert from 'node:assert/strict';
import { it } from 'node:test';
import { loadSettings } from '../../src/config/config.ts';
import { ApiError } from '../../src/core/errors.ts';
import type { LotRecord } from '../../src/ledger/records.ts';
import { UNLIMITED } from '../../src/pool/intake/read.ts';
import type { FrontEvents } from '../../src/service/front-stack.ts';
import { startPool } from '../../src/service/pool.ts';
import { EntropyReader } from '../../src/values/entropy-reader.ts';
import { recordingLog, ScriptedAssessor, settle, withCalls } from '../pool/fixtures.ts';
import { deadBackend } from '../support/backends.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryLedger } from '../support/memory-ledger.ts';

it('the pool samples the csprng stream again a minute after the sample could not be stored', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const clock = new ManualClock();
  let isFull = true;
  const ledger = withCalls(new MemoryLedger(clock), {
    addLot: (addLot) => async (lot, blocks, jobKey) => {
      if (isFull) throw new ApiError('storage_unavailable', { retryAfterS: 5 });
      return addLot(lot, blocks, jobKey);
    },
  });
  const installed: (LotRecord | null)[] = [];
  const front: FrontEvents = {
    installSeed: () => {},
    installSystemLot: (lot) => void installed.push(lot),
    lotsCame: () => {},
    lotsRevoked: async () => {},
    sourcesClosed: () => {},
    becomeReady: () => {},
  };
  const pool = startPool({
    ledger,
    sources: [{ backend: deadBackend(), limits: UNLIMITED }],
    assessor: new ScriptedAssessor(),
    config: { ...loadSettings({}), sources: [] },
    log: recordingLog(),
    clock,
    fronts: [front],
    fillPure: async () => false,
    systemStream: new EntropyReader(() => crypto.getRandomValues(new Uint8Array(65_504))),
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
