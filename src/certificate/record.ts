import canonicalize from 'canonicalize';
import { assert } from '../core/assert.ts';
import { concatBytes, fromHex, utf8Bytes } from '../core/bytes.ts';
import { base32Of } from '../core/ids.ts';
import type {
  BareType,
  DataEndpoint,
  EntropyMode,
  Origin,
  SystemGenerator,
  Tier,
} from '../core/vocabulary.ts';
import { bareMediaType, ORIGINS } from '../core/vocabulary.ts';
import { sha256Hex } from '../crypto/digest.ts';
import type { AnswerLabel } from '../ledger/label-records.ts';
import {
  type AnswerEntry,
  type DrawnRange,
  type DrawSource,
  type EvidenceLevel,
  type LotEvidence,
  type LotRecord,
  nistVerified,
  SEED_BLOCK_BYTES,
  type SegmentContext,
  verifyingBlock,
  weakestEvidence,
} from '../ledger/records.ts';
import { type CertifiedLabel, certifiedLabel } from './certified-label.ts';
import { evidenceMeaning, modeMeaning, originMeaning, testsMeaning } from './meanings.ts';

/**
 * The certificate of one answer, as it is issued: a pure function of records that never change, so it is not
 * stored but made again whenever it is asked for. Its canonical JSON (RFC 8785) is a leaf of the log; every
 * change of a byte here breaks the proofs of all certificates issued before. A new form takes a new `version`
 * and keeps those before it.
 *
 * Version 2 is version 1 with the evidence of every lot. A lot of a release that did not ask for evidence
 * has none: whatever draws on such a lot is certified in version 1.
 *
 * Version 3 is version 2 for lots of which every bit was assessed: it names the tested windows, whether its origin is declared alone, and where system entropy came from.
 * Samples of the csprng stream are such lots; they have no evidence.
 *
 * Version 4 says where in its lots an answer was drawn, and whether those bytes were committed to in the log before.
 * It names no tier. It has what the lots have of versions 2 and 3.
 */
export interface Certificate {
  readonly version: 1 | 2 | 3 | 4;
  readonly id: string;
  readonly issued_at: string;
  readonly request_id: string;
  readonly endpoint: DataEndpoint;
  readonly entropy_mode: EntropyMode;
  /**
   * Names the octets that `hashes.delivered` commits to, as the reply's Content-Type did. Absent where it commits
   * to the canonical JSON of the `data` member, in any version: leaves of the log never change.
   */
  readonly media_type?: string;
  /** What the caller said of the answer; absent where it said nothing, in any version. */
  readonly label?: CertifiedLabel;
  readonly powered_by: string;
  readonly provenance: CertifiedProvenance;
  readonly verification: ReturnType<typeof verificationOf>;
  /** Each `sha256:` and 64 hex digits. */
  readonly hashes: { readonly raw_output: string; readonly processed: string; readonly delivered: string };
  readonly verify_url: string;
}

interface CertifiedProvenance {
  readonly lang_circuit: string;
  readonly lang_version: string;
  readonly quantum_backend: string;
  readonly qubits_used: number;
  readonly circuit_depth: number;
  readonly origin: Origin;
  readonly source: string;
  readonly provider: string;
  readonly device: string;
  readonly job_id: string | null;
  readonly shots: number;
  /** Up to version 3: the seed's generation in seeded mode. */
  readonly generation?: { readonly tier: Tier; readonly number: number } | null;
  /** Version 4: which of the lot's seeds served, from 0; null in pure mode. */
  readonly seed?: { readonly index: number } | null;
  /** Version 4: which of the lots' pure bytes were drawn, in order; null in seeded mode. */
  readonly drawn?: readonly DrawnRange[] | null;
  /** Version 3, not of pure: the generator that was mixed in, or that gave the values of csprng. */
  readonly system_entropy?: SystemGenerator;
  /** Every lot drawn from, in order. */
  readonly lots: readonly CertifiedLot[];
  /** From version 2 on: the weakest claim of the lots. */
  readonly evidence?: EvidenceLevel;
  readonly meaning: string;
}

interface CertifiedLot {
  readonly id: string;
  readonly origin: Origin;
  /** Made by a deterministic test source. */
  readonly deterministic: boolean;
  readonly quantum_backend: string;
  readonly job_id: string | null;
  readonly finished_at: string;
  readonly raw_bits: number;
  readonly raw_output: string;
  readonly processed: string;
  readonly health: {
    readonly samples: number;
    readonly rct_failures: number;
    readonly apt_failures: number;
  };
  readonly min_entropy_per_bit: number | null;
  readonly tested: readonly CertifiedTest[];
  /** Version 2. */
  readonly read?: ReturnType<typeof certifiedRead>;
  /** Version 2. */
  readonly evidence?: ReturnType<typeof certifiedEvidence>;
  /** Version 3: the operator alone says that the origin is quantum. */
  readonly declared?: boolean;
  /** Version 3: windows of raw bits, in both orders, that were assessed; together they cover every bit. */
  readonly raw_windows?: number;
  /** Version 4: the lot has a leaf in the log; false for a lot of an earlier release. */
  readonly committed?: boolean;
}

/** One run of SP 800-22 on named bits. */
interface CertifiedTest {
  readonly of: 'raw' | 'conditioned' | 'system';
  readonly bits: number;
  /** Version 3: place of the first bit. What lay in a window of conditioned bits that failed was erased. */
  readonly first_bit?: number;
  /** Version 3, of raw bits: shot after shot, or channel after channel. */
  readonly order?: 'shots' | 'channels';
  readonly sha256: string;
  readonly passed: number;
  readonly total: number;
  readonly smallest_p: number;
  readonly verified: boolean;
  /** Why it is not verified; absent when it is. */
  readonly reason?: string;
}

/** What a certificate is made of beside its entry. `lots` are those that `source` names, in its order. */
export interface CertificateFacts {
  readonly source: DrawSource;
  readonly lots: readonly LotRecord[];
  readonly context: SegmentContext;
}

export function certificateOf(id: string, entry: AnswerEntry, facts: CertificateFacts): Certificate {
  assert(entry.mode === facts.source.mode, 'an entry and its source agree on the mode');
  return issueCertificate(facts, entry.endpoint, entry.octets, {
    id,
    issuedAt: new Date(entry.issuedAtMs).toISOString(),
    requestId: `req_${base32Of(entry.requestId)}`,
    delivered: Buffer.from(entry.delivered).toString('hex'),
    label: entry.label,
  });
}

/** The members that differ between the answers of one endpoint from one source. */
export interface CertificateMembers {
  readonly id: string;
  readonly issuedAt: string;
  readonly requestId: string;
  /** 64 hex digits. */
  readonly delivered: string;
  /** In place of what the source says was drawn: for templates. */
  readonly drawn?: CertifiedProvenance['drawn'];
  readonly label?: AnswerLabel | undefined;
}

/** `octets` says what the commitment is over; undefined: the canonical JSON of the `data` member. */
export function issueCertificate(
  facts: CertificateFacts,
  endpoint: DataEndpoint,
  octets: BareType | undefined,
  members: CertificateMembers,
): Certificate {
  const { source, lots, context } = facts;
  assert(lots.length > 0, 'every answer was drawn from a lot');
  assert(
    lots.length === source.lotIds.length && lots.every((lot, i) => lot.id === source.lotIds[i]),
    'the lots are those the source names',
  );
  const version = versionOf(facts);
  return {
    version,
    id: members.id,
    issued_at: members.issuedAt,
    request_id: members.requestId,
    endpoint,
    entropy_mode: source.mode,
    ...(octets === undefined ? {} : { media_type: bareMediaType(octets) }),
    ...(members.label === undefined ? {} : { label: certifiedLabel(members.label) }),
    powered_by: context.poweredBy,
    provenance: provenanceOf(facts, version, members.drawn),
    verification: verificationOf(source.mode, lots, version),
    hashes: {
      raw_output: prefixed(joinedDigest(lots.map((lot) => lot.rawSha256))),
      processed: prefixed(joinedDigest(lots.map((lot) => lot.processedSha256))),
      delivered: prefixed(members.delivered),
    },
    verify_url: `${context.verifyUrlBase}/${members.id}`,
  };
}

/** One lot's digest as it is; several joined in order and hashed again. Digests in hex. */
function joinedDigest(digests: readonly string[]): string {
  return digests.length === 1 ? digests[0] : sha256Hex(concatBytes(...digests.map(fromHex)));
}

function prefixed(digest: string): string {
  assert(digest.length === 64, 'a digest has 64 hex digits');
  return `sha256:${digest}`;
}

/**
 * Where a draw came from, when it took from lots of several kinds: the weakest claim, in the order of ORIGINS
 * from `quantum-processor` down to `system`. An origin is never upgraded.
 */
export function originOf(lots: readonly LotRecord[]): Origin {
  return ORIGINS[Math.max(...lots.map((lot) => ORIGINS.indexOf(lot.origin)))];
}

/** The newest version of certificates that this release issues. */
export const NEWEST_VERSION = 4;

function versionOf({ source, lots }: CertificateFacts): Certificate['version'] {
  const { mode, drawn } = source;
  if (drawn !== undefined) return 4;
  if (mode !== 'csprng' && !hasEvidence(lots)) return 1;
  if (lots.every((lot) => lot.rawWindows !== undefined)) return 3;
  return hasEvidence(lots) ? 2 : 1;
}

/** Lots that all say what they are evidence of. */
function hasEvidence(lots: readonly LotRecord[]): lots is readonly (LotRecord & { evidence: LotEvidence })[] {
  return lots.every((lot) => lot.evidence !== undefined);
}

/**
 * The first lot names circuit, backend and job; each lot of several names its own backend and job in `lots`.
 */
function provenanceOf(
  { source, lots, context }: CertificateFacts,
  version: Certificate['version'],
  drawn: CertifiedProvenance['drawn'],
): CertifiedProvenance {
  const [first] = lots;
  const generator = version >= 3 && source.mode !== 'pure' ? context.systemGenerator : undefined;
  const origin = originOf(lots);
  // decisions.md, Entropy modes, "one shape": csprng has no quantum origin whatever its lot says.
  const quantum = source.mode !== 'csprng';
  const evidence = hasEvidence(lots) ? weakestEvidence(lots.map((lot) => lot.evidence.claim)) : undefined;
  const meaning = `${modeMeaning(source.mode, generator)} ${originMeaning(origin, lots)}`;
  return {
    lang_circuit: quantum ? first.circuit : 'none',
    lang_version: quantum ? first.circuitVersion : 'none',
    quantum_backend: quantum ? first.quantumBackend : 'none',
    qubits_used: quantum ? first.qubitsUsed : 0,
    circuit_depth: quantum ? first.circuitDepth : 0,
    origin,
    source: first.source,
    provider: first.provider,
    device: first.device,
    job_id: first.jobId,
    shots: lots.reduce((shots, lot) => shots + lot.shots, 0),
    ...(version >= 4 ? drawnOf(source, drawn) : { generation: source.generation }),
    ...(generator === undefined ? {} : { system_entropy: generator }),
    lots: lots.map((lot) => certifiedLot(lot, version)),
    ...(evidence === undefined
      ? { meaning }
      : { evidence, meaning: `${meaning} ${evidenceMeaning(evidence)}` }),
  };
}

/** Where in the lots the answer lies; `drawn` in place of what the source says. */
function drawnOf(
  source: DrawSource,
  drawn: CertifiedProvenance['drawn'] = source.drawn,
): Required<Pick<CertifiedProvenance, 'seed' | 'drawn'>> {
  if (source.mode === 'pure') return { seed: null, drawn: drawn ?? null };
  const offset = source.drawn?.[0].offset ?? 0;
  return { seed: { index: offset / SEED_BLOCK_BYTES }, drawn: null };
}

/** What a certificate says of one lot. */
export function certifiedLot(lot: LotRecord, version: Certificate['version']): CertifiedLot {
  return {
    id: lot.id,
    origin: lot.origin,
    deterministic: lot.deterministic,
    quantum_backend: lot.quantumBackend,
    job_id: lot.jobId,
    finished_at: new Date(lot.finishedAtMs).toISOString(),
    raw_bits: lot.rawBits,
    raw_output: prefixed(lot.rawSha256),
    processed: prefixed(lot.processedSha256),
    health: {
      samples: lot.health.samples,
      rct_failures: lot.health.rctFailures,
      apt_failures: lot.health.aptFailures,
    },
    min_entropy_per_bit: lot.minEntropyPerBit,
    tested: lot.assessments.map((assessed) => ({
      of: assessed.of,
      bits: assessed.bits,
      ...(version >= 3 && assessed.firstBit !== undefined ? { first_bit: assessed.firstBit } : {}),
      ...(version >= 3 && assessed.order !== undefined ? { order: assessed.order } : {}),
      sha256: assessed.sha256,
      passed: assessed.sp80022.passed,
      total: assessed.sp80022.total,
      smallest_p: assessed.sp80022.smallestP,
      verified: assessed.sp80022.verified,
      ...(assessed.sp80022.verified ? {} : { reason: assessed.sp80022.reason }),
    })),
    ...(version >= 2 && lot.evidence !== undefined
      ? { read: certifiedRead(lot), evidence: certifiedEvidence(lot.evidence) }
      : {}),
    ...(version >= 3 && lot.rawWindows !== undefined
      ? {
          declared: lot.isDeclared === true,
          raw_windows: lot.rawWindows,
        }
      : {}),
    ...(version >= 4 ? { committed: lot.commitment !== undefined } : {}),
  };
}

/** What version 4 says of the lot: its leaf in the log has the hash of this. */
export function certifiedFacts(lot: LotRecord): CertifiedLot {
  return certifiedLot(lot, 4);
}

/** What was read, and how: the provenance of one lot. Facts that the source does not give are null. */
function certifiedRead(lot: LotRecord) {
  return {
    /** As the operator named the source. */
    source: lot.source,
    provider: lot.provider,
    device: lot.device,
    lang_circuit: lot.circuit,
    lang_version: lot.circuitVersion,
    circuit_sha256: lot.circuitSha256 === null ? null : prefixed(lot.circuitSha256),
    qubits_used: lot.qubitsUsed,
    circuit_depth: lot.circuitDepth,
    shots: lot.shots,
    calibration: lot.calibration === null ? null : certifiedCalibration(lot.calibration),
  };
}

/** Names the calibration as its provider does; the digest is of all of it, as RFC 8785 prints it. */
function certifiedCalibration(calibration: NonNullable<LotRecord['calibration']>) {
  const { id, date } = calibration;
  return {
    id: id === undefined ? null : String(id),
    date: date === undefined ? null : String(date),
    digest: prefixed(sha256Hex(utf8Bytes(canonicalize(calibration)!))),
  };
}

/** How quantum the lot is shown to be, as LotEvidence says. */
function certifiedEvidence(evidence: LotEvidence) {
  return {
    claim: evidence.claim,
    min_entropy_per_bit: evidence.minEntropyPerBit,
    figures: evidence.figures,
    method: evidence.method,
    assumptions: evidence.assumptions,
    not_reached: evidence.notReached.map(({ claim, why }) => ({ claim, why })),
  };
}

function verificationOf(mode: EntropyMode, lots: readonly LotRecord[], version: Certificate['version']) {
  const estimates = lots.map((lot) => lot.minEntropyPerBit);
  return {
    /** `<passed>/<total> passed`, over the blocks that answers are drawn from, or `not tested`. */
    nist_sp800_22: sp80022Text(lots),
    nist_verified: lots.every(nistVerified),
    dieharder: 'not implemented' as const,
    min_entropy_per_bit: estimates.includes(null)
      ? null
      : Math.min(...estimates.filter((each) => each !== null)),
    meaning: testsMeaning(mode, version),
  };
}

/** One result over all lots: a lot that was not tested leaves nothing to report. */
function sp80022Text(lots: readonly LotRecord[]): string {
  let passed = 0;
  let total = 0;
  for (const lot of lots) {
    const block = verifyingBlock(lot)?.sp80022;
    if (block === undefined || block.total === 0) return 'not tested';
    passed += block.passed;
    total += block.total;
  }
  return `${passed}/${total} passed`;
}
