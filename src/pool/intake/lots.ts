import { type Backend, isDeclaredQuantum, type RawRead } from '../../backend/backend.ts';
import { assert } from '../../core/assert.ts';
import { toHex, wipe } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import { base32Of, stampUuidV7 } from '../../core/ids.ts';
import type { Provenance } from '../../core/provenance.ts';
import { sha256 } from '../../crypto/sha256.ts';
import { fillSystemEntropy } from '../../crypto/system-entropy.ts';
import {
  type AssessedBlock,
  type BlockKind,
  type LotCommitment,
  type LotRecord,
  PURE_BLOCK_BYTES,
  SEED_BLOCK_BYTES,
} from '../../ledger/records.ts';
import { type Autocorrelation, minEntropyOfCorrelation } from '../../stats/autocorrelation.ts';
import { verdictOnRejections } from '../../stats/sp800-22/verdict.ts';
import { windowStarts } from './assess-lot.ts';
import { ASSESSED_BITS, type AssessedWindow, type Assessor } from './assessor.ts';
import { condition } from './conditioner.ts';
import { evidenceOf } from './evidence/evidence.ts';
import type { HealthFailure, HealthVerdict } from './health.ts';
import { commitmentOf } from './lot-commitment.ts';
import type { ShortLots } from './short-lots.ts';

/**
 * Seeds cut from each lot; a small lot gives half of its output. The busiest default schedule takes 288 seeds a day, so
 * nine lots last two days.
 */
export const SEED_BLOCKS_PER_LOT = 64;
export interface Lot {
  readonly record: LotRecord;
  /** The blocks, as views of `output`. */
  readonly blocks: readonly { kind: BlockKind; bytes: Uint8Array }[];
  /** The conditioned bytes; empty if the lot is rejected. The caller wipes them when the blocks are stored. */
  readonly output: Uint8Array<ArrayBuffer>;
}

/**
 * Makes a lot of one read: its record with the results of the tests and, if it is accepted, its conditioned bytes cut
 * into blocks. A rejected lot is evidence alone and has no blocks; so is that of a read whose raw result is that of the lot
 * `earlier`. The caller wipes the bits of the read. `shortLots` collects the source's lots below 10^6 bits.
 */
export async function makeLot(
  backend: Backend,
  read: RawRead,
  health: HealthVerdict,
  assessor: Assessor,
  clock: Clock,
  shortLots: Pick<ShortLots, 'add'>,
  earlier?: string,
): Promise<Lot> {
  const reject = (rejection: string, findings: Findings, tested = health): Lot => ({
    record: { ...recordOf(backend, read, tested, clock, findings), rejection },
    blocks: [],
    output: new Uint8Array(0),
  });
  const nothing: Findings = { assessments: [], rawWindows: 0, measured: null };
  if (earlier !== undefined)
    return reject(`the raw bits are those of lot ${earlier}`, nothing, { ...health, grade: 'intermittent' });
  if (health.grade !== 'pass') return reject(`health tests: ${inWords(health.failures)}`, nothing);
  const rawBits = read.width * read.shots;
  const assessment = await assessor.assessLot(read.bits, read.width, read.shots);
  const { windows, minEntropyPerBit: estimate, ones } = assessment;
  const evidence = evidenceOf(backend.origin, read, assessment);
  const raw = toldOf(windows);
  const { estimators } = leastOf(windows);
  const drawn = {
    rawWindows: windows.length,
    ...(estimators === undefined ? {} : { estimators }),
    onesShares: Array.from(ones, (count) => count / read.shots),
  };
  if (estimate !== null && estimate < MIN_ENTROPY_FLOOR) {
    const measured = rawBits < ASSESSED_BITS ? null : estimate;
    const found = { assessments: raw, ...drawn, measured, evidence };
    return reject(`min-entropy ${estimate.toFixed(3)} per bit is below the floor`, found);
  }
  // SP 800-90B §3.1.1 asks for a million bits, so short lots of a source are estimated together. Their estimate must
  // not raise that of this lot, which may be a poor one among good ones.
  const pooled = rawBits < ASSESSED_BITS ? await shortLots.add(read, assessor) : estimate;
  const measured = pooled === null || estimate === null ? pooled : Math.min(pooled, estimate);
  const found = { assessments: raw, ...drawn, measured, evidence };
  if (measured !== null && measured < MIN_ENTROPY_FLOOR) {
    return reject(`min-entropy ${measured.toFixed(3)} per bit of the last lots is below the floor`, found);
  }
  const claimed = backend.claimedMinEntropyPerBit;
  const assessed = measured ?? estimate ?? claimed;
  const least = Math.min(claimed, assessed, evidence.minEntropyPerBit ?? claimed);
  const { output } = await condition(read.bits, rawBits, least);
  let isAccepted = false;
  try {
    if (output.length < SEED_BLOCK_BYTES) return reject('too few bits for one seed', found);
    const tested = await testConditioned(assessor, output);
    const findings = { ...found, assessments: [...raw, ...tested] };
    const rejection = rejectionOf(tested);
    if (rejection !== undefined) return reject(rejection, findings);
    const kept = withoutFailed(output, tested);
    const blocks = cutBlocks(kept);
    const commitment = await commitmentOf(blocks);
    isAccepted = true;
    return {
      record: {
        ...recordOf(backend, read, health, clock, findings),
        conditionedBytes: kept.length,
        processedSha256: toHex(sha256(kept)),
        commitment,
        accepted: true,
        rejection: '',
      },
      blocks,
      output: kept,
    };
  } finally {
    if (!isAccepted) wipe(output);
  }
}

/**
 * A lot with a lower estimate is rejected. An ideal source scores about 0.85 (least of ten estimators, 10^6 bits) and
 * 0.797 at worst in 400 trials (bench `ideal-entropy`). A biased device may be usable and score less; a broken one
 * scores far less.
 */
const MIN_ENTROPY_FLOOR = 0.3;
/**
 * Returns the raw windows that the record lists: the first, and the one of least min-entropy. All ten would make every
 * certificate 2 KB longer.
 */
function toldOf(windows: readonly AssessedWindow[]): AssessedBlock[] {
  const least = leastOf(windows);
  const told = least === windows[0] ? [least] : [windows[0], least];
  return told.map(({ minEntropyPerBit: _, estimators: __, leastRow: ___, ...block }) => block);
}

function leastOf(windows: readonly AssessedWindow[]): AssessedWindow {
  const scoreOf = ({ minEntropyPerBit }: AssessedWindow) => minEntropyPerBit ?? 1;
  return windows.reduce((worst, each) => (scoreOf(each) < scoreOf(worst) ? each : worst));
}

/**
 * Runs SP 800-22 on every bit of the conditioned output, in windows, so that everything that answers draw is tested. No
 * window is tested twice (SP 800-22 §4.2, §4.3).
 */
async function testConditioned(assessor: Assessor, output: Uint8Array): Promise<AssessedBlock[]> {
  const tested: AssessedBlock[] = [];
  for (const firstBit of windowStarts(output.length * 8)) {
    const window = output.subarray(firstBit / 8);
    const bits = Math.min(window.length * 8, ASSESSED_BITS);
    tested.push({ ...(await assessor.testBits('conditioned', window, bits)), firstBit });
  }
  return tested;
}

/** Returns why a lot is rejected: no window passed, or more failed than chance explains (2 of 3, but not 1 of 2). */
function rejectionOf(tested: readonly AssessedBlock[]): string | undefined {
  const failed = tested.filter(hasFailed).length;
  const isRefused = failed === tested.length || !verdictOnRejections(tested.length, failed).passed;
  return isRefused && failed > 0
    ? `SP 800-22 failed on ${failed} of ${tested.length} blocks of the conditioned output`
    : undefined;
}

/** Returns whether a window failed. One with too few bits for a verdict did not. */
function hasFailed({ bits, sp80022 }: AssessedBlock): boolean {
  return bits >= ASSESSED_BITS && !sp80022.verified;
}

/** Returns the output without the failed windows, cut to whole seeds. Erases the original if it returns less. */
function withoutFailed(
  output: Uint8Array<ArrayBuffer>,
  tested: readonly AssessedBlock[],
): Uint8Array<ArrayBuffer> {
  const failed = tested.filter(hasFailed).map(({ firstBit, bits }) => [firstBit / 8, (firstBit + bits) / 8]);
  if (failed.length === 0) return output;
  const isKept = (_: number, at: number) => failed.every(([from, to]) => at < from || at >= to);
  const kept = output.filter(isKept);
  wipe(output);
  const whole = kept.length - (kept.length % SEED_BLOCK_BYTES);
  wipe(kept.subarray(whole));
  return kept.slice(0, whole);
}

/** How many failures a rejection names, since a dead device may fail on every channel. */
const FAILURES_NAMED = 8;

function inWords(failures: readonly HealthFailure[]): string {
  const named = failures
    .slice(0, FAILURES_NAMED)
    .map(({ test, channel }) => (channel === null ? test : `${test} on channel ${channel}`));
  const more = failures.length - named.length;
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** The results of the tests of a read. */
interface Findings
  extends Pick<LotRecord, 'assessments' | 'rawWindows' | 'estimators' | 'onesShares' | 'evidence'> {
  /** The estimate of SP 800-90B §6.3, per bit; null if there is none. */
  readonly measured: number | null;
}

function recordOf(
  backend: Backend,
  read: RawRead,
  health: HealthVerdict,
  clock: Clock,
  { assessments, measured, ...evidence }: Findings,
): LotRecord {
  return {
    ...printable(read.provenance), // first, so that it cannot replace any of the members below
    id: newLotId(clock),
    source: backend.name,
    origin: backend.origin,
    isDeclared: isDeclaredQuantum(backend),
    deterministic: backend.deterministic,
    quantumBackend: backend.quantumBackend,
    rawBits: read.width * read.shots,
    rawSha256: read.rawSha256,
    conditionedBytes: 0,
    processedSha256: '',
    health: {
      samples: health.counters.samples,
      rctFailures: health.counters.rctFailures,
      aptFailures: health.counters.aptFailures,
      grade: health.grade,
    },
    minEntropyPerBit: measured === null ? null : Math.min(measured, backend.claimedMinEntropyPerBit),
    minEntropyMethod: methodOf(read.width * read.shots, measured),
    ...evidence,
    assessments,
    accepted: false,
    rejection: '',
  };
}

function methodOf(rawBits: number, measured: number | null): string {
  if (measured === null) return 'not assessed: too few raw bits';
  return rawBits < ASSESSED_BITS ? MEASURED_SHORT : MEASURED;
}

const MEASURED =
  'SP 800-90B 6.3, least of ten estimators over windows of all raw bits; at most what their autocorrelation leaves, and what the source claims';
const MEASURED_SHORT =
  'SP 800-90B 6.3, least of ten estimators over all raw bits of this short lot, and over the last million bits of such lots; at most what their autocorrelation leaves, and what the source claims';

function newLotId(clock: Clock): string {
  return `lot_${base32Of(stampUuidV7(fillSystemEntropy(new Uint8Array(16)), clock.wallMs()))}`;
}

/**
 * Cuts the first bytes into seeds and the rest into pure blocks. The last block may be shorter, so that no paid bits
 * are wasted. A small lot gives half to each kind, since the service is not ready before it has both.
 */
function cutBlocks(output: Uint8Array): { kind: BlockKind; bytes: Uint8Array }[] {
  const blocks: { kind: BlockKind; bytes: Uint8Array }[] = [];
  const half = Math.max(1, Math.floor(output.length / SEED_BLOCK_BYTES / 2));
  const seedBytes = Math.min(SEED_BLOCKS_PER_LOT, half) * SEED_BLOCK_BYTES;
  for (let at = 0; at < seedBytes; at += SEED_BLOCK_BYTES) {
    blocks.push({ kind: 'seed', bytes: output.subarray(at, at + SEED_BLOCK_BYTES) });
  }
  for (let at = seedBytes; at < output.length; at += PURE_BLOCK_BYTES) {
    blocks.push({ kind: 'pure', bytes: output.subarray(at, Math.min(at + PURE_BLOCK_BYTES, output.length)) });
  }
  return blocks;
}

/**
 * Makes a lot of the csprng stream: a sample that is tested and recorded, and that no answer draws from. It does not
 * claim to be quantum, so it has no evidence. It is accepted if it passed every test.
 */
export async function makeSystemLot(
  backend: Backend,
  read: RawRead,
  health: HealthVerdict,
  assessor: Assessor,
  clock: Clock,
): Promise<LotRecord> {
  const bits = read.width * read.shots;
  assert(bits === ASSESSED_BITS && read.width === 1, 'a sample is one window of one channel');
  const assessment = await assessor.assessLot(read.bits, 1, bits);
  const { windows, minEntropyPerBit: measured, autocorrelation } = assessment;
  const [{ firstBit, sha256, sp80022 }] = windows;
  const tested = { of: 'system', bits, sha256, sp80022, firstBit } as const;
  const rejection = sampleRejection(health, tested, measured, autocorrelation);
  const findings = { assessments: [tested], rawWindows: 1, measured };
  return {
    ...recordOf(backend, read, health, clock, findings),
    processedSha256: read.rawSha256,
    ...(rejection === '' ? { commitment: NOTHING_TO_DRAW } : {}),
    accepted: rejection === '',
    rejection,
  };
}

/** The commitment of a sample, which has a leaf in the log like every lot, but neither seeds nor pure bytes. */
const NOTHING_TO_DRAW: LotCommitment = { pureBytes: 0, blockRoots: '', seedHashes: '' };

function sampleRejection(
  health: HealthVerdict,
  { sp80022 }: AssessedBlock,
  measured: number | null,
  autocorrelation: Autocorrelation,
): string {
  if (health.grade !== 'pass') return `health tests: ${inWords(health.failures)}`;
  if (!sp80022.verified) return `SP 800-22: ${sp80022.reason}`;
  if (measured !== null && measured < MIN_ENTROPY_FLOOR) {
    return `min-entropy ${measured.toFixed(3)} per bit is below the floor`;
  }
  if (minEntropyOfCorrelation(autocorrelation) !== null)
    return `autocorrelation at lag ${autocorrelation.lag}`;
  return '';
}

/**
 * Returns the provenance with texts that certificates can print and hash: well-formed Unicode, without characters of
 * the private use area, which have no common meaning.
 */
function printable(provenance: Provenance): Provenance {
  const clean = (value: unknown) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll(/[\ue000-\uf8ff]/g, '\ufffd') : value;
  return Object.fromEntries(
    Object.entries(provenance).map(([name, value]) => [name, clean(value)]),
  ) as unknown as Provenance;
}
