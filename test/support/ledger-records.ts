import { dayOf } from '../../src/core/clock.ts';
import { base32Of } from '../../src/core/ids.ts';
import type { EntropyMode } from '../../src/core/vocabulary.ts';
import type {
  AccountRecord,
  AnswerEntry,
  DrawSource,
  JobRecord,
  KeyRecord,
  LotRecord,
  SegmentRecord,
  SourceSpend,
  SpendLimits,
  StoredAnswer,
} from '../../src/ledger/records.ts';
import { SegmentWriter } from '../../src/ledger/segment.ts';

/** Records for tests of the ledger: everything follows from small numbers, and equal numbers give equal records. */

/** 2026-11-20T12:00:00Z */
export const NOON_MS = Date.UTC(2026, 10, 20, 12);
export const DAY_MS = 86_400_000;

function idOf(kind: number, n: number): Uint8Array<ArrayBuffer> {
  const id = new Uint8Array(16);
  const view = new DataView(id.buffer);
  view.setUint32(0, kind);
  view.setUint32(12, n);
  return id;
}

export function lotId(n: number): string {
  return `lot_${base32Of(idOf(1, n))}`;
}

export function account(n: number, more: Partial<AccountRecord> = {}): Omit<AccountRecord, 'number'> {
  const overrides = {
    requestsPerMinute: null,
    requestsPerMonth: null,
    creditsPerMonth: null,
    seedIntervalMs: null,
  };
  return {
    id: `acct_${base32Of(idOf(2, n))}`,
    name: `account ${n}`,
    tier: 'pro',
    createdAtMs: NOON_MS + n,
    overrides,
    ...more,
  };
}

export function key(n: number, accountId: string, more: Partial<KeyRecord> = {}): KeyRecord {
  return {
    keyId: `key${String(n).padStart(19, '0')}`,
    accountId,
    digest: n.toString(16).padStart(64, '0'),
    scopes: ['entropy:read', 'usage:read'],
    createdAtMs: NOON_MS,
    expiresAtMs: null,
    revokedAtMs: null,
    ...more,
  };
}

export function lot(n: number, more: Partial<LotRecord> = {}): LotRecord {
  return {
    id: lotId(n),
    source: 'simulator',
    origin: 'simulated',
    isDeclared: false,
    deterministic: true,
    quantumBackend: 'simulator-statevector',
    provider: 'test',
    device: 'none',
    jobId: null,
    circuit: 'superposition-16',
    circuitVersion: '1.0.0',
    circuitSha256: null,
    qubitsUsed: 16,
    circuitDepth: 1,
    shots: 4_096,
    startedAtMs: NOON_MS,
    finishedAtMs: NOON_MS + 1,
    calibration: { t1: [1.5, 2.5], note: 'test' },
    rawBits: 65_536,
    rawSha256: 'a'.repeat(64),
    conditionedBytes: 6_553,
    processedSha256: 'b'.repeat(64),
    health: { samples: 65_536, rctFailures: 0, aptFailures: 0, grade: 'pass' },
    minEntropyPerBit: 0.9,
    minEntropyMethod: 'SP 800-90B 6.3',
    assessments: [],
    rawWindows: 1,
    accepted: true,
    rejection: '',
    ...more,
  };
}

export function block(kind: 'pure' | 'seed', fill: number, size = 32) {
  return { kind, bytes: new Uint8Array(size).fill(fill) };
}

export function entry(n: number, more: Partial<AnswerEntry> = {}): AnswerEntry {
  return {
    requestId: idOf(3, n),
    issuedAtMs: NOON_MS + n,
    accountNumber: 1,
    endpoint: 'integers',
    mode: 'csprng',
    source: 0,
    delivered: new Uint8Array(32).fill(n),
    valueCount: 10,
    deliveredBytes: 120,
    consumedBytes: 40,
    credits: 0,
    ...more,
  };
}

export const CSPRNG: DrawSource = { mode: 'csprng', lotIds: [], drawn: [] };

export function source(mode: EntropyMode, lots: readonly number[] = []): DrawSource {
  const drawn = mode === 'quantum-seeded' ? [{ lot: 0, offset: 96, bytes: 32 }] : [];
  return { mode, lotIds: lots.map(lotId), drawn };
}

export function segment(
  sequence: number,
  entries: readonly AnswerEntry[],
  more: Partial<Pick<SegmentRecord, 'committedAtMs' | 'sources'>> = {},
): SegmentRecord {
  const writer = new SegmentWriter(1);
  for (const each of entries) writer.append(each);
  return {
    sequence,
    committedAtMs: NOON_MS + sequence,
    sources: [CSPRNG],
    context: { verifyUrlBase: 'https://verify.example', systemGenerator: 'kernel' },
    ...writer.finish(),
    ...more,
  };
}

/** A segment of `count` entries whose request ids are its own. */
export function filledSegment(
  sequence: number,
  count: number,
  more: Partial<AnswerEntry> = {},
  sources: readonly DrawSource[] = [CSPRNG],
): SegmentRecord {
  const entries = Array.from({ length: count }, (_, i) => entry(sequence * 10_000 + i, more));
  return segment(sequence, entries, { sources });
}

/** Returns a segment that counts in the month of NOON_MS, whatever its number: a start leases 2^24 numbers. */
export function childSegment(sequence: number, count: number): SegmentRecord {
  return filledSegment(sequence, count, { issuedAtMs: NOON_MS });
}

export function answer(accountNumber: number, n: number, expiresAtMs: number): StoredAnswer {
  return {
    accountNumber,
    keyDigest: n.toString(16).padStart(64, '0'),
    fingerprint: 'c'.repeat(64),
    expiresAtMs,
    sealed: new Uint8Array([n, 1, 2, 3]),
  };
}

/** The day of NOON_MS. */
export const TODAY = dayOf(NOON_MS);

export const NO_LIMITS: SpendLimits = { amountPerDay: null, callsPerDay: null };

export function job(n: number, more: Partial<JobRecord> = {}): JobRecord {
  return {
    key: `job ${n}`,
    source: 'simulator',
    state: 'intended',
    bits: 65_536,
    jobId: null,
    memo: '',
    day: TODAY,
    amount: 0.1,
    currency: 'USD',
    calls: 1,
    intendedAtMs: NOON_MS + n,
    submittedAtMs: null,
    failure: '',
    ...more,
  };
}

export function submitted(n: number, more: Partial<JobRecord> = {}): JobRecord {
  const named = {
    state: 'submitted',
    jobId: `id ${n}`,
    memo: `memo ${n}`,
    submittedAtMs: NOON_MS + n,
  } as const;
  return job(n, { ...named, ...more });
}

export function spend(amount: number, more: Partial<SourceSpend> = {}): SourceSpend {
  return { source: 'simulator', day: TODAY, amount, currency: 'USD', calls: 1, ...more };
}
