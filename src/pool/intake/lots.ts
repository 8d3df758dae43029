import { randomFillSync } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Backend, Provenance, RawRead } from '../../backend/backend.ts';
import { concatBytes, toHex, wipe } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import { base32Of, stampUuidV7 } from '../../core/ids.ts';
import { sha256 } from '../../crypto/digest.ts';
import {
  type AssessedBlock,
  type BlockKind,
  type LotEvidence,
  type LotRecord,
  PURE_BLOCK_BYTES,
  SEED_BLOCK_BYTES,
} from '../../ledger/records.ts';
import { ASSESSED_BITS, type Assessor } from './assessor.ts';
import { condition, rawBitsFor } from './conditioner.ts';
import { evidenceOf } from './evidence/evidence.ts';
import type { HealthFailure, HealthVerdict } from './health.ts';

/**
 * Seeds set aside from each lot, of a small one half of what it gives: two days of the busiest default schedule (288
 * five-minute seeds a day need nine lots).
 */
export const SEED_BLOCKS_PER_LOT = 64;
export interface Lot {
  readonly record: LotRecord;
  /** Views of `output`. */
  readonly blocks: readonly { kind: BlockKind; bytes: Uint8Array }[];
  /** The conditioned bytes; empty when the lot is rejected. The caller wipes them when the blocks are stored. */
  readonly output: Uint8Array<ArrayBuffer>;
}

/**
 * Turns one read into a lot: what was read, what the tests say of it, and, when it may serve, its conditioned bytes
 * cut into blocks. A lot that fails any test is evidence only and has no blocks. The caller wipes the read (`wipeRead`).
 */
export async function makeLot(
  backend: Backend,
  read: RawRead,
  health: HealthVerdict,
  assessor: Assessor,
  clock: Clock,
): Promise<Lot> {
  const reject = (rejection: string, findings: Findings): Lot => ({
    record: { ...recordOf(backend, read, health, clock, findings), rejection },
    blocks: [],
    output: new Uint8Array(0),
  });
  if (health.grade !== 'pass')
    return reject(`health tests: ${inWords(health.failures)}`, { assessments: [], measured: null });
  const rawBits = read.width * read.shots;
  const evidence = await evidenceOf(backend.origin, read);
  const raw = await assessor.testBits('raw', read.bits, Math.min(rawBits, ASSESSED_BITS));
  const estimate = await assessor.minEntropyPerBit(read.bits, Math.min(rawBits, ASSESSED_BITS));
  // SP 800-90B §3.1.1 asks for a million bits before a figure may be used; fewer are enough to refuse a lot by.
  const measured = rawBits < ASSESSED_BITS ? null : estimate;
  const found = { assessments: [raw], measured, evidence };
  if (estimate !== null && estimate < floorOf(read)) {
    return reject(`min-entropy ${estimate.toFixed(3)} per bit is below the floor`, found);
  }
  const claimed = backend.claimedMinEntropyPerBit;
  const least = Math.min(claimed, measured ?? claimed, evidence.minEntropyPerBit ?? claimed);
  const output = await conditionInSlices(read.bits, rawBits, least);
  let isAccepted = false;
  try {
    if (output.length < SEED_BLOCK_BYTES) return reject('too few bits for one seed', found);
    const tested = await testConditioned(assessor, output);
    const findings = { ...found, assessments: [raw, ...tested] };
    if (tested.every((block) => block.bits >= ASSESSED_BITS && !block.sp80022.verified)) {
      const blocks = tested.length === 1 ? 'the only block' : 'two blocks';
      return reject(`SP 800-22 failed on ${blocks} of the conditioned output`, findings);
    }
    isAccepted = true;
    return {
      record: {
        ...recordOf(backend, read, health, clock, findings),
        conditionedBytes: output.length,
        processedSha256: toHex(sha256(output)),
        accepted: true,
        rejection: '',
      },
      blocks: cutBlocks(output),
      output,
    };
  } finally {
    if (!isAccepted) wipe(output);
  }
}

/** The refused lot of a read whose raw result is that of the lot `earlier`: evidence, like any lot that is refused. */
export async function replayedLot(
  backend: Backend,
  read: RawRead,
  health: HealthVerdict,
  earlier: string,
  assessor: Assessor,
  clock: Clock,
): Promise<Lot> {
  const failure = { test: 'replay', grade: 'intermittent', channel: null, observed: 1, cutoff: 1 } as const;
  const failed: HealthVerdict = { ...health, grade: 'intermittent', failures: [failure] };
  const lot = await makeLot(backend, read, failed, assessor, clock);
  return { ...lot, record: { ...lot.record, rejection: `the raw bits are those of lot ${earlier}` } };
}

/**
 * Below this estimate a lot is refused. An ideal source scores about 0.85 (least of ten estimators, 10^6 bits) and
 * 0.797 at worst in 400 trials (bench `ideal-entropy`); a usable but biased device may score less, a broken one far less.
 */
const MIN_ENTROPY_FLOOR = 0.3;
/**
 * The same for the outcomes of Bell tests, pairs that are equal with probability 0.854 in three of the four settings: the
 * estimators, which take bits for alike and independent, score an ideal device in one such setting 0.2, though it has 0.61 a bit.
 * Pairs more equal than any quantum state makes them, 0.95, score less than this (test/pool/intake/bell-floor.test.ts).
 */
const BELL_MIN_ENTROPY_FLOOR = 0.1;

function floorOf({ witness }: RawRead): number {
  return witness?.kind === 'chsh' ? BELL_MIN_ENTROPY_FLOOR : MIN_ENTROPY_FLOOR;
}

/**
 * Conditioned bytes made between two turns of the event loop: 512 hashes, 1 to 3 ms where the 10,485 of a lot of 4 Mbit
 * took 11 to 60 ms in one go (Node 22, two shared cores).
 */
const SLICE_BYTES = 16 * 1024;

/** `condition` in slices of whole pieces: the same output, while requests go on being served. */
async function conditionInSlices(
  bits: Uint8Array,
  bitLength: number,
  minEntropyPerBit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const sliceBits = rawBitsFor(SLICE_BYTES, minEntropyPerBit);
  const slices: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < bitLength; at += sliceBits) {
    if (at > 0) await nextTurn();
    const size = Math.min(sliceBits, bitLength - at);
    slices.push(condition(bits.subarray(at / 8), size, minEntropyPerBit).output);
  }
  const output = concatBytes(...slices);
  wipe(...slices);
  return output;
}

/**
 * SP 800-22 on the first block of the conditioned output and, when that fails, on the next one (§4.2, §4.3 of the
 * document): never again on the same bits. A good block fails once in 500, two in a row once in 250,000.
 */
async function testConditioned(assessor: Assessor, output: Uint8Array): Promise<AssessedBlock[]> {
  const blockBytes = ASSESSED_BITS / 8;
  const first = await assessor.testBits('conditioned', output, Math.min(output.length * 8, ASSESSED_BITS));
  if (first.sp80022.verified || output.length < 2 * blockBytes) return [first];
  const second = await assessor.testBits('conditioned', output.subarray(blockBytes), ASSESSED_BITS);
  return [first, second];
}

/** Failures named in a rejection; a dead device may fail on every channel. */
const FAILURES_NAMED = 8;

function inWords(failures: readonly HealthFailure[]): string {
  const named = failures
    .slice(0, FAILURES_NAMED)
    .map(({ test, channel }) => (channel === null ? test : `${test} on channel ${channel}`));
  const more = failures.length - named.length;
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** What the tests of a read that is not discarded unseen came to. */
interface Findings {
  readonly assessments: readonly AssessedBlock[];
  /** SP 800-90B §6.3; null when not assessed. */
  readonly measured: number | null;
  readonly evidence?: LotEvidence;
}

function recordOf(
  backend: Backend,
  read: RawRead,
  health: HealthVerdict,
  clock: Clock,
  { assessments, measured, ...evidence }: Findings,
): LotRecord {
  return {
    ...printable(read.provenance), // first: nothing that it names beyond its own facts stands in their place
    id: newLotId(clock),
    source: backend.name,
    origin: backend.origin,
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
    minEntropyMethod:
      measured === null
        ? 'not assessed: too few raw bits'
        : 'SP 800-90B 6.3, least of ten estimators on raw bits; at most what the source claims',
    ...evidence,
    assessments,
    accepted: false,
    rejection: '',
  };
}

function newLotId(clock: Clock): string {
  return `lot_${base32Of(stampUuidV7(randomFillSync(new Uint8Array(16)), clock.wallMs()))}`;
}

/**
 * The first bytes become seeds, the rest pure blocks, the last of which may be shorter: bits that were paid for are not left
 * unused. A small lot gives half to either, since the service is not ready before it has both.
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

/** Erases the bits of a read, those of its witness too. */
export function wipeRead({ bits, witness }: RawRead): void {
  wipe(bits);
  if (witness?.kind === 'x-basis') wipe(witness.bits);
  if (witness?.kind === 'chsh') wipe(witness.settings);
}

/**
 * A lot of the system source: tested and recorded for csprng mode, never drawn from. It makes no claim to
 * be quantum, and so has no evidence of that.
 */
export async function makeSystemLot(
  backend: Backend,
  read: RawRead,
  health: HealthVerdict,
  assessor: Assessor,
  clock: Clock,
): Promise<LotRecord> {
  const bits = read.width * read.shots;
  const tested = await assessor.testBits('system', read.bits, Math.min(bits, ASSESSED_BITS));
  const measured = await assessor.minEntropyPerBit(read.bits, Math.min(bits, ASSESSED_BITS));
  return {
    ...recordOf(backend, read, health, clock, { assessments: [tested], measured }),
    processedSha256: read.rawSha256,
    accepted: health.grade === 'pass',
    rejection: health.grade === 'pass' ? '' : `health tests: ${inWords(health.failures)}`,
  };
}

/**
 * The texts of a backend as certificates can print and hash them: well-formed Unicode, nothing of the private use
 * area, whose meaning nobody else knows.
 */
function printable(provenance: Provenance): Provenance {
  const clean = (value: unknown) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll(/[\ue000-\uf8ff]/g, '\ufffd') : value;
  return Object.fromEntries(
    Object.entries(provenance).map(([name, value]) => [name, clean(value)]),
  ) as unknown as Provenance;
}
