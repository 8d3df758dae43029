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
import type { AnswerLabel, EntryNote } from './label-records.ts';

/**
 * What the ledger keeps. Every record is plain data: it goes through msgpack and between threads as it is.
 */

export interface AccountRecord {
  /** `acct_` and 26 base32 characters. */
  readonly id: string;
  /** Dense small number given at creation: the account's name inside packed records. Never reused. */
  readonly number: number;
  readonly name: string;
  readonly tier: Tier;
  readonly createdAtMs: number;
  /** What replaces the tier's figures; null entries do not. Only Enterprise has any. */
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
 * One statistical assessment of named bits. `verified` is true only when enough bits were tested and passed.
 * `Of` says what was tested; of a lot that is its raw noise, its conditioned output, or the system source's
 * own block.
 */
export interface AssessedBlock<Of extends string = 'raw' | 'conditioned' | 'system'> {
  readonly of: Of;
  readonly bits: number;
  /** Place of the first bit in what was tested, read in `order`. */
  readonly firstBit: number;
  /** Of raw noise: shot after shot, or all shots of channel 0, then of channel 1, and so on. */
  readonly order?: 'shots' | 'channels';
  /** SHA-256 (hex) of the tested bits, packed most significant bit first. */
  readonly sha256: string;
  readonly sp80022: {
    readonly passed: number;
    readonly total: number;
    readonly smallestP: number;
    readonly verified: boolean;
    /** Why `verified` is false, or the rule that was met. */
    readonly reason: string;
    /** The tenth of [0, 1] in which each p-value lies, a digit a row. */
    readonly deciles: string;
  };
}

/** Answers of another service, in the order in which a read was put together from them. */
interface UpstreamAnswers {
  /** Name of the log that holds their certificates. */
  readonly log: string;
  /** The weakest that the certificates name. */
  readonly origin: Origin;
  /** Of each its id, `cert_…`, and the hash of its leaf in that log, in base64. */
  readonly certificates: readonly { readonly id: string; readonly leaf: string }[];
}

/**
 * The unit of provenance: one read of a backend. Durable before anything is drawn from it, never changed
 * after; a revocation is a record of its own.
 */
export interface LotRecord {
  /** `lot_` and 26 base32 characters. */
  readonly id: string;
  /** The configured source, e.g. `simulator`. */
  readonly source: string;
  readonly origin: Origin;
  /** The operator alone says that the origin is quantum. */
  readonly isDeclared: boolean;
  readonly deterministic: boolean;
  readonly quantumBackend: string;
  readonly provider: string;
  readonly device: string;
  readonly jobId: string | null;
  readonly circuit: string;
  readonly circuitVersion: string;
  readonly circuitSha256: string | null;
  readonly qubitsUsed: number;
  readonly circuitDepth: number;
  readonly shots: number;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly calibration: Readonly<Record<string, string | number | readonly number[]>> | null;
  /** The raw bits are answers of another service, which it certified; absent where they are not. */
  readonly upstream?: UpstreamAnswers;
  readonly rawBits: number;
  /** SHA-256 (hex) of the raw bits as the backend delivered them. */
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
  /** SP 800-90B §6.3, assessed on raw bits; null when not assessed. Never above the source's own claim. */
  readonly minEntropyPerBit: number | null;
  readonly minEntropyMethod: string;
  /** How quantum the lot is shown to be; absent in lots of the csprng stream, which make no such claim. */
  readonly evidence?: LotEvidence;
  /**
   * SP 800-22: of the raw noise the first window and the one of least min-entropy, of the conditioned output
   * every window.
   */
  readonly assessments: readonly AssessedBlock[];
  /**
   * Windows of 10^6 bits that cover every raw bit in each order; each was through SP 800-90B and SP 800-22.
   */
  readonly rawWindows: number;
  /** The ten estimates of the window that scored least, by name; absent in short lots. */
  readonly estimators?: Readonly<Record<string, number>>;
  /** Share of ones of each channel. */
  readonly onesShares?: readonly number[];
  /** What its blocks are held to; absent in lots that were not accepted. */
  readonly commitment?: LotCommitment;
  readonly accepted: boolean;
  /**
   * Why it was not accepted; empty when it was. A lot that is not accepted is evidence and never drawn from.
   */
  readonly rejection: string;
}

/** What a lot's leaf in the log commits to, see crypto/merkle.ts. Hashes of 32 bytes, in base64. */
export interface LotCommitment {
  /** Bytes of all pure blocks: whole blocks of PURE_BLOCK_BYTES, the last of which may be shorter. */
  readonly pureBytes: number;
  /** Root of each pure block's tree, one behind the other. */
  readonly blockRoots: string;
  /** Hash of each seed, one behind the other. */
  readonly seedHashes: string;
}

/**
 * From the weakest to the strongest, each with what the one before it has: the weakest claim of several lots is one that
 * all of them reach. A lot has the highest that its own shots support, and is never promoted.
 */
export const EVIDENCE_LEVELS = ['simulated', 'statistical', 'calibrated'] as const;
export type EvidenceLevel = (typeof EVIDENCE_LEVELS)[number];

/** What a lot's own shots show, with the figure, how it was got, and what must be true for it to hold. */
export interface LotEvidence {
  readonly claim: EvidenceLevel;
  /** Min-entropy per raw bit under the claim's assumptions; null where the claim gives none. */
  readonly minEntropyPerBit: number | null;
  /** Measured figures by name, e.g. `ones_share_max`. */
  readonly figures: Readonly<Record<string, number>>;
  /** The formula and where it is published. */
  readonly method: string;
  readonly assumptions: string;
  /** Claims that were tried and not reached, each with the reason. */
  readonly notReached: readonly { readonly claim: EvidenceLevel; readonly why: string }[];
}

/** The claim of a draw from several lots: the weakest of theirs. No claim is ever promoted. */
export function weakestEvidence(claims: readonly EvidenceLevel[]): EvidenceLevel {
  return EVIDENCE_LEVELS[Math.min(...claims.map(rankOf))];
}

/** Whether a lot of this origin may make the claim at all, whatever its figures are. */
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

/** Every window that answers are drawn from passed SP 800-22; what lay in one that failed was erased. */
export function nistVerified({ assessments }: Pick<LotRecord, 'assessments'>): boolean {
  const served = assessments.filter(
    ({ of, bits, sp80022 }) => of !== 'raw' && (sp80022.verified || bits < TESTED_BITS),
  );
  return served.length > 0 && served.every(({ sp80022 }) => sp80022.verified);
}

/** Bits of a whole window of SP 800-22: fewer are too few for a verdict, and do not fail. */
export const TESTED_BITS = 1_000_000;

/**
 * A job at a provider. `intended` is written before it is submitted and charges the day's budget, `submitted`
 * after; `stored` in the same transaction as its lot; `ended` when nothing is left to be done for it.
 */
export interface JobRecord {
  /** The idempotency key of all tries. */
  readonly key: string;
  readonly source: string;
  readonly state: 'intended' | 'submitted' | 'stored' | 'ended';
  readonly bits: number;
  /** Null until the provider named it. */
  readonly jobId: string | null;
  /** The backend's own words (JobReference). */
  readonly memo: string;
  /** UTC day of the intention, days since 1970: whose budget it takes. */
  readonly day: number;
  /** What it costs, as estimated when it was intended. */
  readonly amount: number;
  readonly currency: string;
  readonly calls: number;
  readonly intendedAtMs: number;
  /** When the provider first named it, as far as is known here; null before. */
  readonly submittedAtMs: number | null;
  /** Why it ended without a lot; empty otherwise. */
  readonly failure: string;
}

/** What a source took of its provider on one UTC day. */
export interface SourceSpend {
  readonly source: string;
  readonly day: number;
  /** Kept to a millionth. */
  readonly amount: number;
  /** One for the whole day; empty while the amount is 0. */
  readonly currency: string;
  readonly calls: number;
}

/** At most so much a day; null: no bound. */
export interface SpendLimits {
  readonly amountPerDay: number | null;
  readonly callsPerDay: number | null;
}

export interface LotRevocation {
  readonly lotId: string;
  readonly why: string;
  readonly atMs: number;
}

/** Pure blocks feed the ring of `pure` mode; seed blocks (32 bytes each) become seeds. */
export const BLOCK_KINDS = ['pure', 'seed'] as const;
export type BlockKind = (typeof BLOCK_KINDS)[number];

/** Bytes of a seed block: one seed. */
export const SEED_BLOCK_BYTES = 32;
/**
 * Bytes of a pure block; the last one of a lot may be shorter. Blocks are claimed whole, so a crash burns
 * whole blocks.
 */
export const PURE_BLOCK_BYTES = 4096;

export interface ClaimedBlock {
  readonly lotId: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Which block of its kind it is in its lot, from 0. */
  readonly index: number;
  /** When the lot was released (ReleasedLots). */
  readonly releasedAtMs: number;
}

/** Bytes of one of a source's lots: of its pure blocks joined, or in seeded mode of its seeds joined. */
export interface DrawnRange {
  /** Index into the source's `lotIds`. */
  readonly lot: number;
  readonly offset: number;
  readonly bytes: number;
}

/** Which lots, and which seed, a group of answers drew on. Kept once per segment, referred to by index. */
export interface DrawSource {
  readonly mode: EntropyMode;
  /** One lot for seeded and csprng; in pure mode every lot that gave bytes, in order. */
  readonly lotIds: readonly string[];
  /**
   * Where in the lots the bytes lay, in the order in which they were drawn: in seeded mode the one seed, in pure mode the
   * bytes of one answer alone, in csprng mode none.
   */
  readonly drawn: readonly DrawnRange[];
}

/**
 * One answered data request: its certificate, its spend and its share of the counters are all this record.
 */
export interface AnswerEntry {
  /** 16 bytes; printed as req_… and as X-Request-ID. Unique: the idempotency id of the debit. */
  readonly requestId: Uint8Array;
  readonly issuedAtMs: number;
  readonly accountNumber: number;
  readonly endpoint: DataEndpoint;
  readonly mode: EntropyMode;
  /** Index into the segment's `sources`. */
  readonly source: number;
  /** 32 bytes: SHA-256(salt ‖ canonical JSON of the `data` member), or SHA-256(salt ‖ values in octets). */
  readonly delivered: Uint8Array;
  /** What the octets are where `delivered` is the hash of octets; undefined where it is that of JSON. */
  readonly octets?: BareType | undefined;
  readonly valueCount: number;
  /** Size of what `delivered` hashes behind the salt, in bytes. */
  readonly deliveredBytes: number;
  /** Entropy really drawn, rejected draws included. */
  readonly consumedBytes: number;
  /** Credits spent: 0 outside pure mode. */
  readonly credits: number;
  /** Kept as a note of the segment. */
  readonly label?: AnswerLabel | undefined;
}

/** The certificates of one commit. */
export interface SegmentRecord {
  readonly sequence: number;
  readonly committedAtMs: number;
  readonly count: number;
  readonly sources: readonly DrawSource[];
  /** Facts that every certificate of the segment prints and that configuration may change later. */
  readonly context: SegmentContext;
  /** `count` packed entries, see ledger/segment.ts. */
  readonly entries: Uint8Array<ArrayBuffer>;
  /** By ascending index; absent where no entry has one. */
  readonly notes?: readonly EntryNote[];
}

export interface SegmentContext {
  /** Where public pages of certificates are: `verify_url` is this, `/` and the id. */
  readonly verifyUrlBase: string;
  /** Where the front's system entropy came from. */
  readonly systemGenerator: SystemGenerator;
}

/** The first answer to an Idempotency-Key, sealed for its owner. */
export interface StoredAnswer {
  readonly accountNumber: number;
  /** SHA-256 (hex) of account and key. */
  readonly keyDigest: string;
  /** SHA-256 (hex) of the request: method, path, parameters. */
  readonly fingerprint: string;
  readonly expiresAtMs: number;
  /** The whole answer, encrypted by its issuer; opaque to the ledger. */
  readonly sealed: Uint8Array<ArrayBuffer>;
}

/**
 * A limiter's state, written down so that a restart is not a way to a new burst. All times are Unix
 * milliseconds.
 */
export interface RateRecord {
  readonly accountNumber: number;
  /** Theoretical arrival time of GCRA. */
  readonly tatMs: number;
  /** Admissions of the last 60 seconds, oldest first. */
  readonly admittedAtMs: readonly number[];
}

/** Charged in one calendar month, which is that of the issue of the answers. */
export interface Balance {
  readonly accountNumber: number;
  readonly period: number;
  readonly requests: number;
  readonly credits: number;
}

/** Counters of one account and UTC day, by endpoint and by mode. */
export interface UsageDay {
  readonly day: number;
  readonly requests: number;
  readonly values: number;
  readonly bytes: number;
  readonly credits: number;
  readonly byEndpoint: Readonly<Partial<Record<DataEndpoint, UsageCount>>>;
  readonly byMode: Readonly<Partial<Record<EntropyMode, UsageCount>>>;
}

export interface UsageCount {
  readonly requests: number;
  readonly values: number;
  readonly bytes: number;
}
