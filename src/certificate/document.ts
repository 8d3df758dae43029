import {
  count,
  described,
  listOf,
  type MembersOf,
  object,
  oneOfWords,
  orNull,
  type Schema,
  type TypeOf,
  text,
  time,
} from '../core/schema.ts';
import type { LotRevocation } from '../ledger/records.ts';
import { certificateForm, type IssuedCertificate, type UNSIGNED } from './certificate-members.ts';
import { LOT_LEAF, type LotLeaf } from './lot-members.ts';

/** Consecutive leaves of a tree, and the hashes that prove them against its root (crypto/merkle.ts). */
const RUN = object(
  {
    first: described(count, 'The index of the first.'),
    hashes: described(listOf(text), 'SHA-256 digests.'),
    path: described(listOf(text), 'Hashes from the leaf to the root.'),
  },
  {},
  'Neighbouring leaves of a tree and what leads from them to its root; hashes in base64.',
);

/** A lot, with the proofs that it is logged and that its leaf commits to what the answer drew. */
const LOT_PROOF = object({
  leaf: described(
    LOT_LEAF as Schema<LotLeaf>,
    'The lot, whole: `provenance.lots` has the hash of its canonical JSON as a leaf.',
  ),
  // Against a checkpoint that the log had signed before the answer was issued (CertificateLog.lotProof).
  proof: described(
    orNull(text),
    'c2sp.org/tlog-proof of the leaf; null for a sample of the csprng stream that is not logged yet.',
  ),
  // One for each range of this lot in `drawn`; in seeded mode one for the seed.
  runs: described(listOf(RUN), 'Proofs of the pieces that were drawn.'),
});
export type LotProof = TypeOf<typeof LOT_PROOF>;

const BESIDE_ISSUED = {
  // `revoked` if a lot was withdrawn; else `test` if a lot is of a deterministic test source.
  status: oneOfWords(['valid', 'revoked', 'test'], 'What holds now; not part of what was signed.'),
  verify_url: described(
    { type: 'string', format: 'uri' } as Schema<string>,
    'The public page; not part of what was signed.',
  ),
  proof: described(orNull(text), 'c2sp.org/tlog-proof; null for a moment after the answer.'),
} satisfies Record<(typeof UNSIGNED)[number], Schema>;
type Answered = IssuedCertificate & MembersOf<typeof BESIDE_ISSUED>;

/** The reply of the certificate endpoint: the certificate as issued, its present status and its proof. */
export const CERTIFICATE_DOCUMENT = object(
  {
    certificate: described(
      certificateForm(undefined, BESIDE_ISSUED) as Schema<Answered>,
      'The certificate: where the entropy came from, how it was tested, and what was delivered.',
    ),
    lots: described(listOf(LOT_PROOF), 'The lots of `provenance.lots`, in the same order.'),
  },
  {
    revocation: described(
      object({
        lot_id: described(text, 'The id of the lot.'),
        reason: described(text, 'Why.'),
        revoked_at: described(time, 'When it was withdrawn.'),
      }),
      'The withdrawal of a lot that the answer drew on.',
    ),
  },
);
export type CertificateDocument = TypeOf<typeof CERTIFICATE_DOCUMENT>;

interface Shown {
  /** The URL of the public pages of certificates, without the id. */
  readonly verifyUrlBase: string;
  /** The proof that the certificate is logged; null until it is. */
  readonly proof: string | null;
}

/** Returns the reply of the certificate endpoint. `revocations` are all withdrawals in the ledger, of any lot. */
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

/** Returns in words which part of its lots the answer drew. */
export function drawnText({ provenance: { seed, drawn } }: IssuedCertificate): string {
  if (seed !== undefined) return `seed ${seed.index} of the lot`;
  if (drawn === undefined) return 'from the system, not from the lot';
  const [{ offset, bytes }] = drawn;
  const more = drawn.length > 1 ? `, and ${drawn.length - 1} more` : '';
  return `bytes ${offset} to ${offset + bytes - 1} of the lot${more}`;
}
