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
 * How old the sample may be that csprng answers are certified by. Certificates print the interval
 * (certificate/record.ts), so a change of it is a change of their text.
 */
export const SYSTEM_SAMPLE_INTERVAL_MS = 6 * 3_600_000;

/**
 * A sound generator is rejected by SP 800-22 at most once in 500 samples, and by the health tests once in
 * 2,000: three in a row are not chance.
 */
const REJECTED_IN_A_ROW_MAX = 3;

export interface SystemSampleOptions {
  /** Draws of the stream that csprng answers are drawn from. */
  readonly draw: StreamDraw;
  readonly store: Pick<EntropyStore, 'addLot'>;
  readonly assessor: Assessor;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Samples the csprng stream as answers are drawn from it: a sample is tested, recorded, erased and never delivered. Gives
 * one that passed, whose lot is in the ledger, or null when three in a row were rejected: then the stream is broken. A
 * sample that is rejected is kept as evidence and followed by one of the next bits, never by a second look at the same
 * (SP 800-22 §4.2, §4.3). Rejects as the assessor and the ledger do.
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
    log.warn({ lot: lot.id, reason: lot.rejection }, 'a sample of the csprng stream was rejected');
  }
  return null;
}
