import type { DataEndpoint } from '../../src/core/vocabulary.ts';
import { sha256 } from '../../src/crypto/digest.ts';
import type {
  AnswerEntry,
  DrawSource,
  EvidenceLevel,
  LotEvidence,
  LotRecord,
  SegmentContext,
  SegmentRecord,
} from '../../src/ledger/records.ts';
import { SegmentWriter } from '../../src/ledger/segment.ts';
import { commitmentOf } from '../../src/pool/intake/lot-commitment.ts';

/** Records as the ledger holds them; everything a test does not care about is fixed. */

export const TIME_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 123);
export const CONTEXT = {
  verifyUrlBase: 'https://qrn.example/verify',
  poweredBy: 'Lang Quantum Circuits',
};

export function lotRecord(name: string, changes: Partial<LotRecord> = {}): LotRecord {
  return {
    id: `lot_${name.padEnd(26, '0')}`,
    source: 'simulator',
    origin: 'simulated',
    deterministic: false,
    quantumBackend: 'simulator-statevector',
    provider: 'local',
    device: 'statevector-16',
    jobId: `job-${name}`,
    circuit: 'superposition-16',
    circuitVersion: '1.0.0',
    circuitSha256: 'c'.repeat(64),
    qubitsUsed: 16,
    circuitDepth: 1,
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
    minEntropyMethod: 'SP 800-90B 6.3',
    assessments: [test('raw', 185), test('conditioned', 186)],
    accepted: true,
    rejection: '',
    ...changes,
  };
}

function test(of: 'raw' | 'conditioned', passed: number): LotRecord['assessments'][number] {
  return {
    of,
    bits: 1_000_000,
    sha256: digestText(of),
    sp80022: { passed, total: 188, smallestP: 0.00213, verified: true, reason: 'at most 4 of 188 failed' },
  };
}

/** What a lot with this claim could be evidence of. */
export function lotEvidence(claim: EvidenceLevel, changes: Partial<LotEvidence> = {}): LotEvidence {
  const figures = { calibrated_min_entropy: 0.964211, ones_share_max: 0.5021 };
  const isFigured = claim === 'calibrated';
  return {
    claim,
    minEntropyPerBit: isFigured ? 0.732_148 : null,
    figures,
    method: `method of ${claim}`,
    assumptions: `assumptions of ${claim}`,
    notReached: isFigured
      ? []
      : [{ claim: 'calibrated', why: 'no readout errors are published for each channel' }],
    ...changes,
  };
}

/** A lot of a quantum processor with evidence. */
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
export function digestText(name: string): string {
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

export function seededSource(...lotIds: string[]): DrawSource {
  return { mode: 'quantum-seeded', lotIds, generation: { tier: 'pro', number: 7 } };
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

/** The pure blocks of a lot made by `committedLot`: three, the last of 512 bytes; the same in every run. */
export function committedBlocks(lotId: string): Uint8Array<ArrayBuffer>[] {
  return [4_096, 4_096, 512].map((size, i) => streamOf(`${lotId} block ${i}`, size));
}

/** A lot with a commitment to its blocks and to five seeds. */
export async function committedLot(lot: LotRecord): Promise<LotRecord> {
  const seeds = Array.from({ length: 5 }, (_, i) => streamOf(`${lot.id} seed ${i}`, 32));
  const commitment = await commitmentOf([
    ...seeds.map((bytes) => ({ kind: 'seed' as const, bytes })),
    ...committedBlocks(lot.id).map((bytes) => ({ kind: 'pure' as const, bytes })),
  ]);
  return { ...lot, commitment };
}

function streamOf(name: string, size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 32) bytes.set(sha256(Buffer.from(`${name} ${at}`)), at);
  return bytes;
}

/** What books without labelled answers say of any purpose. */
export const NO_SERIES = { series: [], answers: [] };
