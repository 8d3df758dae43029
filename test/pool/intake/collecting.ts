import type { TestContext } from 'node:test';
import type { Backend } from '../../../src/backend/backend.ts';
import { PURE_BLOCK_BYTES } from '../../../src/ledger/records.ts';
import { Collector, type CollectorOptions } from '../../../src/pool/intake/collector.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';
import { recordingLog, ScriptedAssessor, withCalls } from '../fixtures.ts';
import { VirtualTime } from './virtual-time.ts';

/** Raw bits of a lot with 192 conditioned pieces at a claim of 1: 64 seeds and one pure block of 4 KiB. */
export const LOT_RAW_BITS = 192 * 320;

/** A collector over parts of its own, which has not begun. `calls` replace calls of its ledger. */
export function idleCollector(
  backend: Backend,
  changes: Partial<CollectorOptions> & { readonly calls?: Parameters<typeof withCalls>[1] } = {},
) {
  const time = new VirtualTime();
  const ledger = memoryLedger(time.clock);
  const log = recordingLog();
  const assessor = new ScriptedAssessor();
  const closed: string[] = [];
  let onLotCalls = 0;
  const collector = new Collector({
    backend,
    store: withCalls(ledger, changes.calls ?? {}),
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

/**
 * Starts a collector, which is stopped when the test is over. Settings made before the test first waits apply before
 * the first read.
 */
export function collecting(t: TestContext, ...parts: Parameters<typeof idleCollector>) {
  const world = idleCollector(...parts);
  t.after(() => world.collector.stop());
  world.collector.start();
  return world;
}
