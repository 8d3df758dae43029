import type { Provenance } from '../core/provenance.ts';
import {
  type BareType,
  type DataEndpoint,
  type EntropyMode,
  ORIGINS,
  type Origin,
  type Scope,
  type SystemGenerator,
  type Tier,
} from '../core/vocabulary.ts';
import type { SequenceOutcome } from '../stats/sp800-22/verdict.ts';
import type { AnswerLabel, EntryNote } from './label-records.ts';

/** The records of the ledger. Each is plain data, which MessagePack and structured clone carry unchanged. */

export interface AccountRecord {
  /** `acct_` and 26 base32 characters. */
  readonly id: string;
  /** Identifies the account inside packed records. Given at creation, counting from 1, and never reused. */
  readonly number: number;
  readonly name: string;
  readonly tier: Tier;
  readonly createdAtMs: number;
  /** Replaces figures of the tier, where not null. Only Enterprise accounts have any. */
  readonly overrides: AccountOverrides;
}

export interface AccountOverrides {
  readonly requestsPerMinute: number | null;
  readonly requestsPerMonth: number | null;
  readonly creditsPerMonth: number | null;
  readonly seedIntervalMs: number | null;
}

export interface KeyRecord {
  /** The public part of the key: 22 characters. */
  readonly keyId: string;
  readonly accountId: string;
  /** SHA-256 (hex) of the whole key text. The key itself is never stored. */
  readonly digest: string;
  readonly scopes: readonly Scope[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
}

/**
 * One statistical assessment of some bits. `verified` is true only when enough bits were tested and passed. `Of` names what
 * was tested: for a lot, its raw noise, its conditioned output, or the system source's own block.
 */
export interface AssessedBlock<Of extends string = 'raw' | 'conditioned' | 'system'> {
  readonly of: Of;
  readonly bits: number;
  /** Index of the first tested bit, counted in `order`. */
  readonly firstBit: number;
  /** For raw noise: `shots` is shot after shot; `channels` is all shots of channel 0, then all of channel 1, and so on. */
  readonly order?: 'shots' | 'channels';
  /** SHA-256 (hex) of the tested bits, packed most significant bit first. */
  readonly sha256: string;
  readonly sp80022: SequenceOutcome;
}

/**
 * The unit of provenance: one read of a backend. The record is durable before anything is drawn from the lot, and never
 * changes. A revocation is a record of its own.
 */
export interface LotRecord extends Provenance {
  /** `lot_` and 26 base32 characters. */
  readonly id: string;
  /** The configured source, e.g. `simulator`. */
  readonly source: string;
  readonly origin: Origin;
  /** True when only the operator's word says that the origin is quantum. */
  readonly isDeclared: boolean;
  readonly deterministic: boolean;
  readonly quantumBackend: string;
  readonly rawBits: number;
  /** SHA-256 (hex) of the raw bits, as the backend delivered them. */
  readonly rawSha256: string;
  readonly conditionedBytes: number;
  /** SHA-256 (hex) of the whole conditioned output of the lot. */
  readonly processedSha256: string;
  readonly health: {
    readonly samples: number;
    readonly rctFailures: number;
    readonly aptFailures: number;
    readonly grade: 'pass' | 'intermittent' | 'permanent';
  };
  /** SP 800-90B §6.3 estimate on the raw bits, never above the source's claim; null when not assessed. */
  readonly minEntropyPerBit: number | null;
  readonly minEntropyMethod: string;
  /** How far the lot's own shots support its origin; absent in lots of the csprng stream, which claim nothing. */
  readonly evidence?: LotEvidence;
  /** SP 800-22 on the first window of the raw noise, on its window of least min-entropy, and on every window of the output. */
  readonly assessments: readonly AssessedBlock[];
  /** Count of the windows of 10^6 bits that cover the raw bits in each order. SP 800-90B and SP 800-22 ran on each. */
  readonly rawWindows: number;
  /** The ten estimates of the window with the lowest result, by name; absent in short lots. */
  readonly estimators?: Readonly<Record<string, number>>;
  /** Share of ones of each channel. */
  readonly onesShares?: readonly number[];
  /** Commits to the lot's blocks; absent in lots that were not accepted. */
  readonly commitment?: LotCommitment;
  readonly accepted: boolean;
  /** Why the lot was not accepted; empty when it was. The ledger keeps a rejected lot as evidence; nothing is drawn from it. */
  readonly rejection: string;
}

/** What a lot's leaf in the log commits to: see crypto/merkle.ts. Hashes have 32 bytes and are in base64. */
export interface LotCommitment {
  /** Bytes of all pure blocks together. Each has PURE_BLOCK_BYTES; the last one may be shorter. */
  readonly pureBytes: number;
  /** The roots of the pure blocks' trees, concatenated. */
  readonly blockRoots: string;
  /** The hashes of the seeds, concatenated. */
  readonly seedHashes: string;
}

/**
 * From the weakest to the strongest. Each level includes the one before it, so all of several lots reach the weakest of
 * their claims. A lot has the highest level that its own shots support, and never rises above it.
 */
export const EVIDENCE_LEVELS = ['simulated', 'statistical', 'calibrated'] as const;
export type EvidenceLevel = (typeof EVIDENCE_LEVELS)[number];

/** What a lot's own shots show: the figure, the method, and the assumptions. */
export interface LotEvidence {
  readonly claim: EvidenceLevel;
  /** Min-entropy per raw bit under the claim's assumptions; null when the claim gives none. */
  readonly minEntropyPerBit: number | null;
  /** Measured figures by name, e.g. `ones_share_max`. */
  readonly figures: Readonly<Record<string, number>>;
  /** The formula, and where it is published. */
  readonly method: string;
  readonly assumptions: string;
  /** Claims that were tried and not reached, each with the reason. */
  readonly notReached: readonly { readonly claim: EvidenceLevel; readonly why: string }[];
}

/** Returns the claim of a draw from several lots: the weakest of their claims. */
export function weakestEvidence(claims: readonly EvidenceLevel[]): EvidenceLevel {
  return EVIDENCE_LEVELS[Math.min(...claims.map(rankOf))];
}

/** Whether a lot of this origin may make the claim, if its figures support it. */
export function allowsEvidence(origin: unknown, claim: EvidenceLevel): boolean {
  const known = ORIGINS.find((each) => each === origin);
  return known !== undefined && rankOf(claim) <= rankOf(CEILINGS[known]);
}

const CEILINGS: Readonly<Record<Origin, EvidenceLevel>> = {
  'quantum-processor': 'calibrated',
  'qrng-device': 'calibrated',
  simulated: 'simulated',
  replay: 'statistical',
  system: 'statistical',
};

function rankOf(claim: EvidenceLevel): number {
  return EVIDENCE_LEVELS.indexOf(claim);
}

/** Whether SP 800-22 verified all served windows. Whole windows that failed are left out: their bytes were erased. */
export function nistVerified({ assessments }: Pick<LotRecord, 'assessments'>): boolean {
  const served = assessments.filter(
    ({ of, bits, sp80022 }) => of !== 'raw' && (sp80022.verified || bits < TESTED_BITS),
  );
  return served.length > 0 && served.every(({ sp80022 }) => sp80022.verified);
}

/** Bits of a whole window of SP 800-22. A shorter window is too short for a verdict, so it neither passes nor fails. */
export const TESTED_BITS = 1_000_000;

/**
 * A job at a provider. `intended` is stored before the job is submitted and charges the day's budget; `submitted` is stored
 * after that, `stored` in the transaction that stores the lot, `ended` when nothing is left to do for the job. It charges its
 * estimated cost to the UTC day on which it was intended.
 */
export interface JobRecord extends SourceSpend {
  /** The idempotency key of all attempts to submit it. */
  readonly key: string;
  readonly state: 'intended' | 'submitted' | 'stored' | 'ended';
  readonly bits: number;
  /** The provider's id of the job; null until the provider gave one. */
  readonly jobId: string | null;
  /** The backend's own notes (JobReference). */
  readonly memo: string;
  readonly intendedAtMs: number;
  /** When this service first had the provider's id (Unix ms); null before. */
  readonly submittedAtMs: number | null;
  /** Why the job ended without a lot; empty otherwise. */
  readonly failure: string;
}

/** What a source spent at its provider on one UTC day. */
export interface SourceSpend {
  readonly source: string;
  readonly day: number;
  /** Exact to a millionth. */
  readonly amount: number;
  /** The one currency of the day; empty while the amount is 0. */
  readonly currency: string;
  readonly calls: number;
}

/** What a source may spend a day; null for no limit. */
export interface SpendLimits {
  readonly amountPerDay: number | null;
  readonly callsPerDay: number | null;
}

export interface LotRevocation {
  readonly lotId: string;
  readonly why: string;
  readonly atMs: number;
}

/** Pure blocks feed the ring of `pure` mode; each seed block becomes one seed. */
export const BLOCK_KINDS = ['pure', 'seed'] as const;
export type BlockKind = (typeof BLOCK_KINDS)[number];

export const SEED_BLOCK_BYTES = 32;
/** Bytes of a pure block; the last one of a lot may be shorter. Blocks are claimed whole, so a crash loses whole blocks. */
export const PURE_BLOCK_BYTES = 4096;

export interface ClaimedBlock {
  readonly lotId: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The block's index among the blocks of its kind in its lot, from 0. */
  readonly index: number;
  /** When the lot was released (ReleasedLots). */
  readonly releasedAtMs: number;
}

/** A range of a lot's bytes: of its pure blocks joined or, in seeded mode, of its seeds joined. */
export interface DrawnRange {
  /** Index into the source's `lotIds`. */
  readonly lot: number;
  readonly offset: number;
  readonly bytes: number;
}

/** The lots and the seed that a group of answers drew on. A segment holds each once; its entries name it by index. */
export interface DrawSource {
  readonly mode: EntropyMode;
  /** One lot in seeded and csprng mode; in pure mode every lot that gave bytes, in order. */
  readonly lotIds: readonly string[];
  /**
   * The ranges of the lots that the bytes came from, in the order of the draw: in seeded mode the one seed, in pure mode
   * the bytes of one answer alone, in csprng mode none.
   */
  readonly drawn: readonly DrawnRange[];
}

/** One answered data request. Its certificate, its debit and its share of the counters all follow from this record. */
export interface AnswerEntry {
  /** 16 bytes, printed as `req_…` and in X-Request-ID. Unique: the idempotency id of the debit. */
  readonly requestId: Uint8Array;
  readonly issuedAtMs: number;
  readonly accountNumber: number;
  readonly endpoint: DataEndpoint;
  readonly mode: EntropyMode;
  /** Index into the segment's `sources`. */
  readonly source: number;
  /** 32 bytes: SHA-256(salt ‖ canonical JSON of the `data` member), or SHA-256(salt ‖ values in octets). */
  readonly delivered: Uint8Array;
  /** The type of the octets that `delivered` hashes; undefined when it hashes JSON. */
  readonly octets?: BareType | undefined;
  readonly valueCount: number;
  /** Bytes that `delivered` hashes after the salt. */
  readonly deliveredBytes: number;
  /** Bytes of entropy drawn, rejected samples included. */
  readonly consumedBytes: number;
  /** Credits spent: 0 outside pure mode. */
  readonly credits: number;
  /** Stored as a note of the segment. */
  readonly label?: AnswerLabel | undefined;
}

/** The entries that one commit makes durable. */
export interface SegmentRecord {
  readonly sequence: number;
  readonly committedAtMs: number;
  readonly count: number;
  readonly sources: readonly DrawSource[];
  /** Settings at the time of the answers that every certificate of the segment prints. */
  readonly context: SegmentContext;
  /** `count` packed entries: see ledger/segment.ts. */
  readonly entries: Uint8Array<ArrayBuffer>;
  /** By ascending index; absent when no entry has a note. */
  readonly notes?: readonly EntryNote[];
}

export interface SegmentContext {
  /** The URL of the public certificate pages: `verify_url` is this, `/` and the id. */
  readonly verifyUrlBase: string;
  /** The source of the front's system entropy. */
  readonly systemGenerator: SystemGenerator;
}

/** The first answer to an Idempotency-Key, encrypted. */
export interface StoredAnswer {
  readonly accountNumber: number;
  /** SHA-256 (hex) of account and key. */
  readonly keyDigest: string;
  /** SHA-256 (hex) of the request: method, path, parameters. */
  readonly fingerprint: string;
  readonly expiresAtMs: number;
  /** The whole answer, encrypted by the front that made it; opaque to the ledger. */
  readonly sealed: Uint8Array<ArrayBuffer>;
}

/** The state of an account's rate limiter, saved so that a restart does not allow a new burst. Times are Unix ms. */
export interface RateRecord {
  readonly accountNumber: number;
  /** Theoretical arrival time of GCRA. */
  readonly tatMs: number;
  /** Admissions of the last 60 seconds, oldest first. */
  readonly admittedAtMs: readonly number[];
}

/** What an account was charged for the answers issued in one calendar month. */
export interface Balance {
  readonly accountNumber: number;
  readonly period: number;
  readonly requests: number;
  readonly credits: number;
}

/** Counters of one account and UTC day, by endpoint and by mode. */
export interface UsageDay extends UsageCount {
  readonly day: number;
  readonly credits: number;
  readonly byEndpoint: Readonly<Partial<Record<DataEndpoint, UsageCount>>>;
  readonly byMode: Readonly<Partial<Record<EntropyMode, UsageCount>>>;
}

export interface UsageCount {
  readonly requests: number;
  readonly values: number;
  readonly bytes: number;
}
