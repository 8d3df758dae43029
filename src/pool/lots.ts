import { randomFillSync } from 'node:crypto';
import type { Backend, RawRead } from '../backend/backend.ts';
import { assert } from '../core/assert.ts';
import { toHex } from '../core/bytes.ts';
import type { Clock } from '../core/clock.ts';
import { base32Of, stampUuidV7 } from '../core/ids.ts';
import { sha256 } from '../crypto/digest.ts';
import type { AssessedBlock, BlockKind, LotRecord } from '../store/records.ts';
import { ASSESSED_BITS, type Assessor } from './assessor.ts';
import { condition } from './conditioner.ts';
import type { HealthVerdict } from './health.ts';

/** A seed block is one seed. */
export const SEED_BLOCK_BYTES = 32;
/** Seeds set aside from each lot: two days of the busiest default schedule (288 five-minute seeds a day need nine lots). */
export const SEED_BLOCKS_PER_LOT = 64;
/** A pure block is the unit that is claimed, and so the most that one crash of an idle ring's reader can burn at a time. */
export const PURE_BLOCK_BYTES = 4096;

export interface Lot {
  readonly record: LotRecord;
  readonly blocks: readonly { kind: BlockKind; bytes: Uint8Array }[];
}

/**
 * Turns one read into a lot: what was read, what the tests say of it, and, when it may serve, its conditioned bytes
 * cut into blocks. A lot that fails any test is evidence only and has no blocks.
 */
export async function makeLot(
  backend: Backend,
  read: RawRead,
  health: HealthVerdict,
  assessor: Assessor,
  clock: Clock,
): Promise<Lot> {
  if (health.grade !== 'pass') {
    const failures = health.failures.map((each) => `${each.test}${each.channel === null ? '' : ` on channel ${each.channel}`}`).slice(0, 8);
    return rejected(backend, read, health, clock, [], null, `health tests: ${failures.join(', ')}`);
  }
  const rawBits = read.width * read.shots;
  const raw = await assessor.testBits('raw', read.bits, Math.min(rawBits, ASSESSED_BITS));
  const measured = await assessor.minEntropyPerBit(read.bits, Math.min(rawBits, ASSESSED_BITS));
  const minEntropy = Math.min(backend.claimedMinEntropyPerBit, measured ?? backend.claimedMinEntropyPerBit);
  if (measured !== null && measured < MIN_ENTROPY_FLOOR) {
    return rejected(backend, read, health, clock, [raw], measured, `min-entropy ${measured.toFixed(3)} per bit is below the floor`);
  }
  const { output } = condition(read.bits, rawBits, minEntropy);
  const tested = await testConditioned(assessor, output);
  const assessments = [raw, ...tested];
  const last = tested.at(-1);
  if (last !== undefined && last.bits >= ASSESSED_BITS && !last.sp80022.verified) {
    output.fill(0);
    return rejected(backend, read, health, clock, assessments, measured, 'SP 800-22 failed on two blocks of the conditioned output');
  }
  return {
    record: {
      ...recordOf(backend, read, health, clock, assessments, measured),
      conditionedBytes: output.length,
      processedSha256: toHex(sha256(output)),
      accepted: true,
      rejection: '',
    },
    blocks: cutBlocks(output),
  };
}

/**
 * Below this estimate a lot is refused. An ideal source scores about 0.85 (least of ten estimators, 10^6 bits) and
 * never below 0.80 in 120 trials; a usable but biased device may score less, a broken one far less.
 */
const MIN_ENTROPY_FLOOR = 0.3;

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

function rejected(
  backend: Backend,
  read: RawRead,
  health: HealthVerdict,
  clock: Clock,
  assessments: readonly AssessedBlock[],
  measured: number | null,
  rejection: string,
): Lot {
  return { record: { ...recordOf(backend, read, health, clock, assessments, measured), rejection }, blocks: [] };
}

function recordOf(
  backend: Backend,
  read: RawRead,
  health: HealthVerdict,
  clock: Clock,
  assessments: readonly AssessedBlock[],
  measured: number | null,
): LotRecord {
  return {
    id: newLotId(clock),
    source: backend.name,
    origin: backend.origin,
    deterministic: backend.deterministic,
    quantumBackend: backend.quantumBackend,
    ...read.provenance,
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
    assessments,
    accepted: false,
    rejection: '',
  };
}

function newLotId(clock: Clock): string {
  return `lot_${base32Of(stampUuidV7(randomFillSync(new Uint8Array(16)), clock.wallMs()))}`;
}

/** The first blocks become seeds, the rest pure blocks; a last piece shorter than a block is left unused. */
function cutBlocks(output: Uint8Array): { kind: BlockKind; bytes: Uint8Array }[] {
  const blocks: { kind: BlockKind; bytes: Uint8Array }[] = [];
  const seedBytes = SEED_BLOCKS_PER_LOT * SEED_BLOCK_BYTES;
  assert(output.length >= seedBytes, 'a lot is large enough for its seeds');
  for (let at = 0; at < seedBytes; at += SEED_BLOCK_BYTES) {
    blocks.push({ kind: 'seed', bytes: output.subarray(at, at + SEED_BLOCK_BYTES) });
  }
  for (let at = seedBytes; at + PURE_BLOCK_BYTES <= output.length; at += PURE_BLOCK_BYTES) {
    blocks.push({ kind: 'pure', bytes: output.subarray(at, at + PURE_BLOCK_BYTES) });
  }
  return blocks;
}

/** A lot of the system source: tested and recorded as evidence for csprng mode, never drawn from. */
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
    ...recordOf(backend, read, health, clock, [tested], measured),
    processedSha256: read.rawSha256,
    accepted: health.grade === 'pass',
    rejection: health.grade === 'pass' ? '' : 'health tests',
  };
}
