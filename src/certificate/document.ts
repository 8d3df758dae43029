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
    first: described(count, 'The index of the first leaf.'),
    hashes: described(listOf(text), 'The SHA-256 hashes of the leaves.'),
    path: described(listOf(text), 'The hashes that lead from the leaves to the root.'),
  },
  {},
  'Consecutive leaves of a Merkle tree with their proof against its root. Hashes are in base64.',
);

/** A lot, with the proofs that it is logged and that its leaf commits to what the answer drew. */
const LOT_PROOF = object({
  leaf: described(
    LOT_LEAF as Schema<LotLeaf>,
    'The complete record of the lot in the log. `provenance.lots` contains the leaf hash of its canonical JSON.',
  ),
  // Against a checkpoint that the log had signed before the answer was issued (CertificateLog.lotProof).
  proof: described(
    orNull(text),
    'The proof that the lot is in the log (c2sp.org/tlog-proof). It is null for a sample of the csprng stream that is not logged yet.',
  ),
  // One for each range of this lot in `drawn`; in seeded mode one for the seed.
  runs: described(
    listOf(RUN),
    'The proofs that the pieces or the seed that the answer used belong to the lot.',
  ),
});
export type LotProof = TypeOf<typeof LOT_PROOF>;

const BESIDE_ISSUED = {
  // `revoked` if a lot was withdrawn; else `test` if a lot is of a deterministic test source.
  status: oneOfWords(
    ['valid', 'revoked', 'test'],
    'The present status of the certificate: `revoked` if a lot was withdrawn, `test` if a lot came from a deterministic test source, otherwise `valid`. The signature does not cover it.',
  ),
  verify_url: described(
    { type: 'string', format: 'uri' } as Schema<string>,
    'The URL of the public page of the certificate. The signature does not cover it.',
  ),
  proof: described(
    orNull(text),
    'The proof that the certificate is in the log (c2sp.org/tlog-proof). It is null for a short time after the answer, until the certificate is logged.',
  ),
} satisfies Record<(typeof UNSIGNED)[number], Schema>;
type Answered = IssuedCertificate & MembersOf<typeof BESIDE_ISSUED>;

/** The reply of the certificate endpoint: the certificate as issued, its present status and its proof. */
export const CERTIFICATE_DOCUMENT = object(
  {
    certificate: described(
      certificateForm(undefined, BESIDE_ISSUED) as Schema<Answered>,
      'The certificate. It states where the entropy came from, how it was tested, and which values were delivered.',
    ),
    lots: described(listOf(LOT_PROOF), 'The lots of `provenance.lots`, in the same order.'),
  },
  {
    revocation: described(
      object({
        lot_id: described(text, 'The identifier of the lot.'),
        reason: described(text, 'The reason why the lot was withdrawn.'),
        revoked_at: described(time, 'The time at which the lot was withdrawn.'),
      }),
      'The withdrawal of a lot that the answer was drawn from. Absent if no lot was withdrawn.',
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
