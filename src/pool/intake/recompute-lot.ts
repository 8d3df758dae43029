import type { Backend } from '../../backend/backend.ts';
import type { Clock } from '../../core/clock.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import type { LotRecord } from '../../ledger/records.ts';
import { assessorInPlace } from './assess-lot.ts';
import { ASSESSED_BITS } from './assessor.ts';
import { HealthMonitor, type HealthVerdict } from './health.ts';
import { makeLot } from './lots.ts';
import type { RawShots } from './raw-shots.ts';

/**
 * Resolves to the record that the raw shots give, computed by the code that made the lot. Only names, times and
 * provenance are taken from `record`, and for a short lot the estimate, which is over several lots.
 */
export async function recomputeLot(record: LotRecord, shots: RawShots, clock: Clock): Promise<LotRecord> {
  const { claimedMinEntropyPerBit } = shots;
  const backend = {
    kind: 'stream',
    name: record.source,
    origin: record.origin,
    isDeclared: record.isDeclared,
    quantumBackend: record.quantumBackend,
    deterministic: record.deterministic,
    claimedMinEntropyPerBit,
    read: () => Promise.reject(new Error('a recomputation reads no source')),
  } satisfies Backend;
  const { provider, device, jobId, circuit, circuitVersion, circuitSha256, qubitsUsed, circuitDepth } =
    record;
  const { startedAtMs, finishedAtMs, calibration } = record;
  const provenance = {
    ...{ provider, device, jobId, circuit, circuitVersion, circuitSha256, qubitsUsed, circuitDepth },
    ...{ shots: record.shots, startedAtMs, finishedAtMs, calibration },
  };
  const read = { ...shots.read, rawSha256: record.rawSha256, provenance };
  const { width } = read;
  const health = afterStartup(
    new HealthMonitor({ width, minEntropyPerBit: claimedMinEntropyPerBit }).check(read),
  );
  const pooled = { add: async () => record.minEntropyPerBit };
  const { record: made } = await makeLot(backend, read, health, assessorInPlace, clock, pooled);
  return { ...made, id: record.id };
}

/** Returns the verdict without startup failures, which a lot with too few shots would have by itself. */
function afterStartup(verdict: HealthVerdict): HealthVerdict {
  const isStartup = verdict.failures.every(({ test }) => test === 'startup');
  return isStartup ? { ...verdict, grade: 'pass', failures: [] } : verdict;
}

export interface ReplayedFigure {
  readonly name: string;
  readonly recorded: unknown;
  readonly recomputed: unknown;
  readonly isEqual: boolean;
  /** Why the raw shots do not show the figure; absent if they do. */
  readonly notShown?: string;
}

/** A record does not say whether a source without a circuit delivers bits or encoded answers. */
const NOT_OF_BITS =
  'it is not the hash of these bits. That is right where they were decoded from the result of a job, from the answers of a network service or from text, and wrong of a device that delivers bits';

/** Returns every figure of a lot's record, as it was recorded and as its raw shots give it. */
export function replayedFigures(
  record: LotRecord,
  made: LotRecord,
  { bits }: RawShots['read'],
): ReplayedFigure[] {
  const figure = (name: string, recorded: unknown, recomputed: unknown): ReplayedFigure => {
    return { name, recorded, recomputed, isEqual: JSON.stringify(recorded) === JSON.stringify(recomputed) };
  };
  const blocksOf = ({ assessments }: LotRecord, of: string) => assessments.filter((each) => each.of === of);
  const figures = [
    figure('raw bits', record.rawBits, made.rawBits),
    figure('shots', record.shots, made.shots),
    figure('health tests', record.health, made.health),
    figure('min-entropy per bit (SP 800-90B)', record.minEntropyPerBit, made.minEntropyPerBit),
    figure('windows of raw bits', record.rawWindows, made.rawWindows),
    figure('estimators', record.estimators, made.estimators),
    figure('shares of ones', record.onesShares, made.onesShares),
    figure('SP 800-22 of raw bits', blocksOf(record, 'raw'), blocksOf(made, 'raw')),
    figure('evidence', record.evidence, made.evidence),
    figure('conditioned bytes', record.conditionedBytes, made.conditionedBytes),
    figure('processed', record.processedSha256, made.processedSha256),
    figure('what the blocks are held to', record.commitment, record.commitment && made.commitment),
    figure('SP 800-22 of conditioned bits', blocksOf(record, 'conditioned'), blocksOf(made, 'conditioned')),
    figure('accepted', record.accepted, made.accepted),
  ].map((each) =>
    // If the recorded estimate were above that of the lot's own bits, the two would differ.
    each.name.startsWith('min-entropy') && record.rawBits < ASSESSED_BITS && each.isEqual
      ? { ...each, notShown: 'a short lot: the estimate is over several lots of the source' }
      : each,
  );
  const raw = figure('raw_output', record.rawSha256, sha256Hex(bits));
  const isOfBits = record.jobId === null && record.circuit !== 'none';
  return [raw.isEqual || isOfBits ? raw : { ...raw, notShown: NOT_OF_BITS }, ...figures];
}
