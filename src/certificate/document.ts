import type { LotRevocation } from '../ledger/records.ts';
import type { Certificate } from './record.ts';

/**
 * What holds now, unlike the certificate itself: `revoked` when a lot was withdrawn, `test` for test sources.
 */
type CertificateStatus = 'valid' | 'revoked' | 'test';

/** The certificate as it is answered: what was issued, what holds now, and the proof that it was logged. */
export interface CertificateDocument {
  readonly certificate: Certificate & {
    readonly status: CertificateStatus;
    /** c2sp.org/tlog-proof; null until the certificate is logged, a moment after it was issued. */
    readonly proof: string | null;
  };
  /** Version 4: of every lot with a leaf, that leaf, its proof, and what leads from it to the bytes drawn. */
  readonly lots?: readonly LotProof[];
  /** Which lot was withdrawn, why and when. */
  readonly revocation?: { readonly lot_id: string; readonly reason: string; readonly revoked_at: string };
}

/** How the bytes that an answer was drawn from are bound to the leaf of their lot. */
export interface LotProof {
  readonly lot_id: string;
  /** Canonical JSON: the leaf (lot-leaf.ts). */
  readonly leaf: string;
  /** c2sp.org/tlog-proof of the leaf, against the checkpoint on whose signatures the lot was released. */
  readonly proof: string;
  /** For each range of this lot in `drawn`, or for the seed. */
  readonly runs: readonly HashRun[];
}

/** Neighbouring leaves of a tree and what leads from them to its root (crypto/hash-tree.ts); hashes in base64. */
interface HashRun {
  readonly first: number;
  readonly hashes: readonly string[];
  readonly path: readonly string[];
}

/** What holds now. `revocations` are all that the ledger has, for any lot. */
export function certificateDocument(
  certificate: Certificate,
  proof: string | null,
  revocations: readonly LotRevocation[],
  lotProofs: readonly LotProof[] = [],
): CertificateDocument {
  const { lots } = certificate.provenance;
  const revoked = revocations.find(({ lotId }) => lots.some((lot) => lot.id === lotId));
  const status = lots.some((lot) => lot.deterministic) ? 'test' : 'valid';
  return {
    certificate: { ...certificate, status: revoked === undefined ? status : 'revoked', proof },
    ...(certificate.version >= 4 && { lots: lotProofs }),
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
export function drawnText({ entropy_mode: mode, provenance }: Certificate): string {
  const { generation, seed, drawn } = provenance;
  if (generation) return `seed of generation ${generation.number}, ${generation.tier} tier`;
  if (seed) return `seed ${seed.index} of the lot`;
  if (mode !== 'pure') return 'from the system, not from the lot';
  if (!drawn) return 'from the lots; where is not recorded';
  const [{ offset, bytes }] = drawn;
  const more = drawn.length > 1 ? `, and ${drawn.length - 1} more` : '';
  return `bytes ${offset} to ${offset + bytes - 1} of the lot${more}`;
}
