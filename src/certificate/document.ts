import type { LotRevocation } from '../ledger/records.ts';
import type { IssuedCertificate } from './certificate-members.ts';
import type { LotLeaf } from './lot-members.ts';

/**
 * What holds now, unlike the certificate itself: `revoked` when a lot was withdrawn, `test` for test sources.
 */
type CertificateStatus = 'valid' | 'revoked' | 'test';

/** Members of an answered certificate that are not of what was issued, and so not of the leaf. */
export const UNSIGNED = ['status', 'verify_url', 'proof'] as const;

/** The certificate as it is answered: what was issued, what holds now, and the proof that it was logged. */
export interface CertificateDocument {
  readonly certificate: IssuedCertificate & {
    readonly status: CertificateStatus;
    readonly verify_url: string;
    /** c2sp.org/tlog-proof; null until the certificate is logged, a moment after it was issued. */
    readonly proof: string | null;
  };
  /** The lots of `provenance.lots`, whole, in the same order: each is bound by the hash of its leaf. */
  readonly lots: readonly LotProof[];
  /** Which lot was withdrawn, why and when. */
  readonly revocation?: { readonly lot_id: string; readonly reason: string; readonly revoked_at: string };
}

/** A lot, and how the bytes that an answer was drawn from are bound to it. */
export interface LotProof {
  readonly leaf: LotLeaf;
  /**
   * c2sp.org/tlog-proof of the leaf, against the checkpoint on whose signatures the lot was released. Null for a sample
   * of the csprng stream that is not logged yet.
   */
  readonly proof: string | null;
  /** For each range of this lot in `drawn`, or for the seed. */
  readonly runs: readonly HashRun[];
}

/** Neighbouring leaves of a tree and what leads from them to its root (crypto/merkle.ts); hashes in base64. */
interface HashRun {
  readonly first: number;
  readonly hashes: readonly string[];
  readonly path: readonly string[];
}

/** Where public pages of certificates are, and whether one was logged. */
interface Shown {
  readonly verifyUrlBase: string;
  readonly proof: string | null;
}

/** What holds now. `revocations` are all that the ledger has, for any lot. */
export function certificateDocument(
  issued: IssuedCertificate,
  { verifyUrlBase, proof }: Shown,
  lots: readonly LotProof[],
  revocations: readonly LotRevocation[],
): CertificateDocument {
  const revoked = revocations.find(({ lotId }) => lots.some(({ leaf }) => leaf.lot_id === lotId));
  const status = lots.some(({ leaf }) => leaf.deterministic) ? 'test' : 'valid';
  return {
    certificate: {
      ...issued,
      status: revoked === undefined ? status : 'revoked',
      verify_url: `${verifyUrlBase}/${issued.id}`,
      proof,
    },
    lots,
    ...(revoked && {
      revocation: {
        lot_id: revoked.lotId,
        reason: revoked.why,
        revoked_at: new Date(revoked.atMs).toISOString(),
      },
    }),
  };
}

/** Where in its lots the answer was drawn, in words. */
export function drawnText({ provenance: { seed, drawn } }: IssuedCertificate): string {
  if (seed !== undefined) return `seed ${seed.index} of the lot`;
  if (drawn === undefined) return 'from the system, not from the lot';
  const [{ offset, bytes }] = drawn;
  const more = drawn.length > 1 ? `, and ${drawn.length - 1} more` : '';
  return `bytes ${offset} to ${offset + bytes - 1} of the lot${more}`;
}
