import type {
  BriefMetadata,
  DataEndpoint,
  DocumentMetadata,
  EntropyMode,
  Label,
  Origin,
  Tier,
} from './answers.ts';

/** What the certificate endpoint answers. */
export interface CertificateDocument {
  readonly certificate: Certificate;
  /** Of this request, with the provenance of the certified answer. */
  readonly metadata?: BriefMetadata & DocumentMetadata;
  /** Version 4: of each lot with a leaf in the log, that leaf and its proof. */
  readonly lots?: readonly Readonly<Record<string, unknown>>[];
  /** Which lot was withdrawn, why and when. */
  readonly revocation?: { readonly lot_id: string; readonly reason: string; readonly revoked_at: string };
}

/** Where the entropy of one answer came from, and a commitment to what was delivered. */
export interface Certificate {
  readonly version: number;
  readonly id: string;
  /** `test`: made by a deterministic test source, not random. */
  readonly status: 'valid' | 'revoked' | 'test';
  readonly issued_at: string;
  readonly request_id: string;
  readonly endpoint: DataEndpoint;
  readonly entropy_mode: EntropyMode;
  /** The media type of the octets that `hashes.delivered` is over; left out where it is over JSON. */
  readonly media_type?: string;
  /** What the caller said of the answer; left out where it said nothing. */
  readonly label?: CertifiedLabel;
  readonly powered_by: string;
  readonly provenance: CertificateProvenance;
  readonly verification: CertificateVerification;
  /** Each `sha256:` and 64 hex digits. */
  readonly hashes: { readonly raw_output: string; readonly processed: string; readonly delivered: string };
  readonly verify_url: string;
  /** c2sp.org/tlog-proof; null until the certificate is logged, a moment after it was issued. */
  readonly proof: string | null;
}

/** The label of an answer. A private one has commitments in place of its texts. */
export interface CertifiedLabel extends Label {
  /** Of the purpose, salted; of a private label. */
  readonly purpose_commitment?: string;
  /** With a purpose: place among all answers of the series, from 1, none left out. */
  readonly serial?: number;
  /** Of the user data, salted; of a private label. */
  readonly user_data_commitment?: string;
}

export interface CertificateProvenance {
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
  /** The seed's generation, in quantum-seeded mode; up to version 3. */
  readonly generation?: { readonly tier: Tier; readonly number: number } | null;
  /** Version 4: which of the lot's seeds served, in quantum-seeded mode. */
  readonly seed?: { readonly index: number } | null;
  /** Version 4: which of the lots' pure bytes were drawn, in pure mode. */
  readonly drawn?:
    | readonly { readonly lot: number; readonly offset: number; readonly bytes: number }[]
    | null;
  /** Version 3, not of pure mode: where the service's system entropy came from. */
  readonly system_entropy?: 'kernel' | 'openssl';
  /** Every lot drawn from, in order. */
  readonly lots: readonly CertificateLot[];
  /** The weakest claim of the lots; from version 2 on. In version 5 the strongest that every lot reaches. */
  readonly evidence?: EvidenceLevel;
  /** What all this means, in a sentence or two. */
  readonly meaning: string;
}

export interface CertificateLot {
  readonly id: string;
  readonly origin: Origin;
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
  readonly tested: readonly CertificateTest[];
  /** Version 3: the operator declared the origin, and nothing attests it. */
  readonly declared?: boolean;
  /** Version 3: the windows of raw bits that were assessed. */
  readonly raw_windows?: number;
  /** Version 4: the lot has a leaf in the log. */
  readonly committed?: boolean;
  /** What was read, and how; from version 2 on. */
  readonly read?: CertificateRead;
  /** How quantum the lot is shown to be; from version 2 on. */
  readonly evidence?: CertificateEvidence;
}

/** Facts that the source does not give are null. */
export interface CertificateRead {
  readonly source: string;
  readonly provider: string;
  readonly device: string;
  readonly lang_circuit: string;
  readonly lang_version: string;
  readonly circuit_sha256: string | null;
  readonly qubits_used: number;
  readonly circuit_depth: number;
  readonly shots: number;
  readonly calibration: {
    readonly id: string | null;
    readonly date: string | null;
    readonly digest: string;
  } | null;
}

/** From the weakest to the strongest. */
export type EvidenceLevel = 'simulated' | 'statistical' | 'calibrated';

export interface CertificateEvidence {
  readonly claim: EvidenceLevel;
  /** Per raw bit, under the assumptions; null where the claim gives none. */
  readonly min_entropy_per_bit: number | null;
  readonly figures: Readonly<Record<string, number>>;
  readonly method: string;
  readonly assumptions: string;
  readonly not_reached: readonly { readonly claim: EvidenceLevel; readonly why: string }[];
}

/** One run of SP 800-22 on named bits. */
export interface CertificateTest {
  readonly of: 'raw' | 'conditioned' | 'system';
  readonly bits: number;
  /** Version 3: where the tested range begins. */
  readonly first_bit?: number;
  /** Version 3: the order in which raw bits were read. */
  readonly order?: 'shots' | 'channels';
  readonly sha256: string;
  readonly passed: number;
  readonly total: number;
  readonly smallest_p: number;
  readonly verified: boolean;
  /** Why it is not verified. */
  readonly reason?: string;
}

export interface CertificateVerification {
  /** `<passed>/<total> passed`, or `not tested`. */
  readonly nist_sp800_22: string;
  readonly nist_verified: boolean;
  readonly dieharder: 'not implemented';
  readonly min_entropy_per_bit: number | null;
  readonly meaning: string;
}
