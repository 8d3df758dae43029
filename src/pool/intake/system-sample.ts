import { createSystemSource, type StreamDraw } from '../../backend/system.ts';
import { wipe } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { EntropyStore } from '../../ledger/ledger.ts';
import type { LotRecord } from '../../ledger/records.ts';
import { ASSESSED_BITS, type Assessor } from './assessor.ts';
import { HealthMonitor } from './health.ts';
import { makeSystemLot } from './lots.ts';
import { readStream } from './read.ts';

/**
 * How long the sample that csprng certificates name is used. Their pages and PDFs state the interval
 * (certificate/meanings.ts), so change both together.
 */
export const SYSTEM_SAMPLE_INTERVAL_MS = 6 * 3_600_000;

/**
 * SP 800-22 rejects a sound generator at most once in 500 samples, the health tests once in 2,000: three in a row are
 * not chance.
 */
const REJECTED_IN_A_ROW_MAX = 3;

export interface SystemSampleOptions {
  /** Draws from the stream that csprng answers draw from. */
  readonly draw: StreamDraw;
  readonly store: Pick<EntropyStore, 'addLot'>;
  readonly assessor: Assessor;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Samples the csprng stream. A sample is drawn like an answer, tested, recorded and erased, and never delivered.
 * Resolves to the lot of a sample that passed, which is in the ledger; null if three in a row were rejected, which
 * means that the stream is broken. The lot of a rejected sample is kept as evidence, and the next sample takes new
 * bits: no bits are tested twice (SP 800-22 §4.2, §4.3). Rejects if the assessor or the ledger does.
 */
export async function sampleSystem(
  { draw, store, assessor, clock, log }: SystemSampleOptions,
  signal: AbortSignal,
): Promise<LotRecord | null> {
  const source = createSystemSource(clock, draw);
  for (let tries = 0; tries < REJECTED_IN_A_ROW_MAX; tries++) {
    const read = await readStream(source, ASSESSED_BITS, signal);
    let lot: LotRecord;
    try {
      const { claimedMinEntropyPerBit: minEntropyPerBit } = source;
      const health = new HealthMonitor({ width: read.width, minEntropyPerBit }).check(read);
      lot = await makeSystemLot(source, read, health, assessor, clock);
    } finally {
      wipe(read.bits);
    }
    await store.addLot(lot, []);
    if (lot.accepted) return lot;
    log.warn(
      { lot: lot.id, reason: lot.rejection },
      'a sample of the csprng stream failed its tests; testing another',
    );
  }
  return null;
}
