import { concatBytes } from '../../src/core/bytes.ts';
import type { DataEndpoint } from '../../src/core/vocabulary.ts';
import { toBase64 } from '../../src/crypto/base64.ts';
import { BlockCommitment } from '../../src/crypto/block-commitment.ts';
import { seedHash } from '../../src/crypto/merkle.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import type {
  AnswerEntry,
  AssessedBlock,
  DrawSource,
  EvidenceLevel,
  LotCommitment,
  LotEvidence,
  LotRecord,
  SegmentContext,
  SegmentRecord,
} from '../../src/ledger/records.ts';
import { SegmentWriter } from '../../src/ledger/segment.ts';
import { lot } from '../support/ledger-records.ts';

/** Records as the ledger holds them; everything a test does not care about is fixed. */

export const TIME_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 123);
export const CONTEXT = {
  verifyUrlBase: 'https://qrn.example/verify',
  systemGenerator: 'kernel',
} as const;
export const POWERED_BY = 'Lang Quantum Circuits';

/** An accepted lot with five seeds and three pure blocks (`committedBlocks`), the same in every run. */
export function lotRecord(name: string, changes: Partial<LotRecord> = {}): LotRecord {
  const id = `lot_${name.padEnd(26, '0')}`;
  const { origin = 'simulated' } = changes;
  return lot(1, {
    id,
    deterministic: false,
    provider: 'local',
    device: 'statevector-16',
    jobId: `job-${name}`,
    circuitSha256: 'c'.repeat(64),
    shots: 65_536,
    startedAtMs: TIME_MS - 5_000,
    finishedAtMs: TIME_MS - 4_000,
    calibration: null,
    rawBits: 1_048_576,
    rawSha256: digestText(`raw ${name}`),
    conditionedBytes: 98_304,
    processedSha256: digestText(`processed ${name}`),
    health: { samples: 1_048_576, rctFailures: 0, aptFailures: 0, grade: 'pass' },
    minEntropyPerBit: 0.8561,
    rawWindows: 2,
    evidence: lotEvidence(origin === 'simulated' ? 'simulated' : 'statistical'),
    assessments: [tested('raw', { passed: 185 }), tested('conditioned')],
    commitment: commitmentOf(id),
    ...changes,
  });
}

interface Tested {
  readonly firstBit?: number;
  readonly bits?: number;
  readonly passed?: number;
  readonly total?: number;
  readonly verified?: boolean;
}

/** Returns one run of SP 800-22, which passed by default. */
export function tested(of: 'raw' | 'conditioned' | 'system', changes: Tested = {}): AssessedBlock {
  const { firstBit = 0, bits = 1_000_000, passed = 186, total = 188, verified = true } = changes;
  return {
    of,
    bits,
    firstBit,
    sha256: digestText(of),
    sp80022: {
      passed,
      total,
      smallestP: 0.00213,
      verified,
      reason: `${total - passed} of ${total} failed`,
      deciles: '',
    },
  };
}

/** A sample of the csprng stream, as a lot. */
export function sampleLot(name: string, changes: Partial<LotRecord> = {}): LotRecord {
  const { evidence: _, ...lot } = lotRecord(name, {
    origin: 'system',
    source: 'system',
    quantumBackend: 'none',
  });
  return {
    ...lot,
    assessments: [tested('system', { passed: 187 })],
    rawWindows: 1,
    commitment: { pureBytes: 0, blockRoots: '', seedHashes: '' },
    ...changes,
  };
}

/** Returns the evidence of a lot with this claim. */
export function lotEvidence(claim: EvidenceLevel, changes: Partial<LotEvidence> = {}): LotEvidence {
  return {
    claim,
    minEntropyPerBit: claim === 'calibrated' ? 0.732_148 : null,
    figures: { calibrated_min_entropy: 0.964211 },
    method: `method of ${claim}`,
    assumptions: `assumptions of ${claim}`,
    notReached:
      claim === 'calibrated' ? [] : [{ claim: 'calibrated', why: 'no readout errors are published' }],
    ...changes,
  };
}

/** A lot of a quantum processor with this claim; of a simulator where it is `simulated`. */
export function lotWithEvidence(
  name: string,
  claim: EvidenceLevel,
  changes: Partial<LotRecord> = {},
): LotRecord {
  const origin = claim === 'simulated' ? 'simulated' : 'quantum-processor';
  const calibration = { id: 'cal-7', readout_e01: [0.004, 0.25], date: '2026-11-20T06:00:00Z' };
  return lotRecord(name, { origin, calibration, evidence: lotEvidence(claim), ...changes });
}

/** 64 hex digits that differ from name to name. */
function digestText(name: string): string {
  return Buffer.from(name.padEnd(32, '.')).subarray(0, 32).toString('hex');
}

export function answerEntry(number: number, changes: Partial<AnswerEntry> = {}): AnswerEntry {
  const requestId = new Uint8Array(16);
  new DataView(requestId.buffer).setUint32(12, number);
  requestId[0] = 0x01;
  return {
    requestId,
    issuedAtMs: TIME_MS + number,
    accountNumber: 1,
    endpoint: 'integers' as DataEndpoint,
    mode: 'quantum-seeded',
    source: 0,
    delivered: new Uint8Array(32).fill(number & 255),
    valueCount: 10,
    deliveredBytes: 100,
    consumedBytes: 40,
    credits: 0,
    ...changes,
  };
}

/** The fourth seed of the lot. */
export function seededSource(...lotIds: string[]): DrawSource {
  return { mode: 'quantum-seeded', lotIds, drawn: [{ lot: 0, offset: 96, bytes: 32 }] };
}

export function segmentRecord(
  sequence: number,
  sources: readonly DrawSource[],
  entries: readonly AnswerEntry[],
  context: SegmentContext = CONTEXT,
): SegmentRecord {
  const writer = new SegmentWriter();
  for (const entry of entries) writer.append(entry);
  return { sequence, committedAtMs: TIME_MS, sources, context, ...writer.finish() };
}

/** The pure blocks of a lot of `lotRecord`: three, the last of 512 bytes; the same in every run. */
export function committedBlocks(lotId: string): Uint8Array<ArrayBuffer>[] {
  return [4_096, 4_096, 512].map((size, i) => streamOf(`${lotId} block ${i}`, size));
}

const commitments = new Map<string, LotCommitment>();

function commitmentOf(lotId: string): LotCommitment {
  let commitment = commitments.get(lotId);
  if (commitment === undefined) {
    const blocks = committedBlocks(lotId);
    const seeds = Array.from({ length: 5 }, (_, i) => seedHash(streamOf(`${lotId} seed ${i}`, 32)));
    commitment = {
      pureBytes: blocks.reduce((sum, block) => sum + block.length, 0),
      blockRoots: toBase64(concatBytes(...blocks.map((block) => new BlockCommitment(block).tree.root))),
      seedHashes: toBase64(concatBytes(...seeds)),
    };
    commitments.set(lotId, commitment);
  }
  return commitment;
}

function streamOf(name: string, size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 32) bytes.set(sha256(Buffer.from(`${name} ${at}`)), at);
  return bytes;
}

/** The answer of books without labelled answers for any purpose. */
export const NO_SERIES = { series: [], answers: [] };
