import type { BriefMetadata, DataEndpoint, DocumentMetadata, EntropyMode, Label, Origin } from './answers.ts';

/** What the certificate endpoint answers. */
export interface CertificateDocument {
  readonly certificate: Certificate;
  /** Of this request, with the provenance of the certified answer. */
  readonly metadata?: BriefMetadata & DocumentMetadata;
  /** The lots of `provenance.lots`, whole: each leaf in the log, its proof, and what leads from it to the bytes drawn. */
  readonly lots: readonly {
    readonly leaf: CertificateLot;
    readonly proof: string | null;
    readonly runs: readonly HashRun[];
  }[];
  /** Which lot was withdrawn, why and when. */
  readonly revocation?: { readonly lot_id: string; readonly reason: string; readonly revoked_at: string };
}

/** Leads from the bytes drawn to the lot; hashes in base64. */
export interface HashRun {
  readonly first: number;
  readonly hashes: readonly string[];
  readonly path: readonly string[];
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
  /** The weakest of the lots. */
  readonly origin: Origin;
  /** The weakest claim of the lots; not in csprng mode. */
  readonly evidence?: EvidenceLevel;
  /** Not in pure mode: where the service's system entropy came from. */
  readonly system_entropy?: 'kernel' | 'openssl';
  /** Which of the lot's seeds served, in quantum-seeded mode. */
  readonly seed?: { readonly index: number };
  /** Which of the lots' pure bytes were drawn, in pure mode; `lot` is the place in `lots`. */
  readonly drawn?: readonly { readonly lot: number; readonly offset: number; readonly bytes: number }[];
  /** In csprng mode: the lot is a sample of the stream, and not what the values were drawn from. */
  readonly sample?: boolean;
  /** Every lot, in order, with the hash of its leaf in the log, in base64. */
  readonly lots: readonly { readonly id: string; readonly leaf: string }[];
}

/** A lot as the log holds it. */
export interface CertificateLot {
  readonly type: 'lot';
  readonly version: 1;
  readonly lot_id: string;
  /** As the operator named the source. */
  readonly source: string;
  readonly provider: string;
  readonly device: string;
  readonly quantum_backend: string;
  readonly job_id: string | null;
  readonly origin: Origin;
  /** The operator declared the origin, and nothing attests it. */
  readonly declared: boolean;
  readonly deterministic: boolean;
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
  /** Of raw bits that another service certified: its log, the weakest origin, and each certificate with its leaf's hash. */
  readonly upstream: {
    readonly log: string;
    readonly origin: Origin;
    readonly certificates: readonly { readonly id: string; readonly leaf: string }[];
  } | null;
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
  /** The windows of raw bits that were assessed. */
  readonly raw_windows: number;
  readonly tested: readonly CertificateTest[];
  /** How quantum the lot is shown to be; null for a sample of the csprng stream. */
  readonly evidence: CertificateEvidence | null;
  /** Its bytes for pure mode, and the root of the tree over the roots of their blocks, in base64. */
  readonly pure: {
    readonly bytes: number;
    readonly block_bytes: number;
    readonly piece_bytes: number;
    readonly root: string;
  };
  /** Its seeds, and the root of the tree over their hashes, in base64. */
  readonly seeds: { readonly count: number; readonly root: string };
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
  /** Where the tested range begins. */
  readonly first_bit: number;
  /** The order in which raw bits were read. */
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
  /** `<passed>/<total> passed` of the windows that the answer was drawn from, or `not tested`. */
  readonly nist_sp800_22: string;
  /** Every bit that the answer drew on lies in a tested window that passed. */
  readonly nist_verified: boolean;
  readonly dieharder: 'not implemented';
  readonly min_entropy_per_bit: number | null;
}
