import { certificateIdSchema, requestIdSchema } from '../../answer/fields.ts';
import { certificateForm } from '../../certificate/certificate-members.ts';
import { LOT_LEAF } from '../../certificate/lot-members.ts';
import {
  boolean,
  count,
  described,
  listOf,
  object,
  oneOfWords,
  orNull,
  type Schema,
  sha256,
  text,
  time,
} from '../../core/schema.ts';

/* The shapes of certificates, and of what the log says of its lots. */
export const lotId: Schema = { type: 'string', pattern: '^lot_[0-9a-hjkmnp-tv-z]{26}$' };

/** Beside a document for which nothing is drawn; a certificate's names what its answer was drawn from. */
export const documentMetadata = object({
  request_id: requestIdSchema,
  timestamp: time,
  lang_circuit: text,
  lang_version: text,
  quantum_backend: text,
  nist_verified: boolean,
  powered_by: text,
});

const run = object(
  { first: count, hashes: listOf(text), path: listOf(text) },
  {},
  'Neighbouring leaves of a tree and what leads from them to its root; hashes in base64.',
);
const lotProof = object({
  leaf: described(
    LOT_LEAF,
    'The lot, whole: `provenance.lots` has the hash of its canonical JSON as a leaf.',
  ),
  proof: described(
    orNull(text),
    'c2sp.org/tlog-proof of the leaf; null for a sample of the csprng stream that is not logged yet.',
  ),
  runs: listOf(run),
});
const logged = object({ leaf: text, proof: text });

/** What the log answers of its public leaves. */
export const LOG_SCHEMAS: Readonly<Record<string, Schema>> = {
  PublicLeaves: object({ leaves: listOf(object({ index: count, leaf: text })) }),
  PublicLot: object({
    lot_id: text,
    leaf: text,
    proof: text,
    withdrawal: orNull(logged),
    withdrawals: listOf(text),
    statement: orNull(logged),
  }),
};

/** What the caller said of an answer, in the answer itself. */
export const answerLabel = object(
  { public: boolean },
  { purpose: text, series: text, user_data: text, user_data_sha256: sha256 },
  'What the request said of the answer.',
);

/** What GET /v1/draws answers. */
export const drawList = object({
  purpose: text,
  series: described(
    listOf(object({ id: text, count })),
    'One for each account that used the purpose publicly, with how many answers it has had.',
  ),
  draws: listOf(
    object({
      series: text,
      serial: count,
      issued_at: time,
      certificate_id: described(orNull(certificateIdSchema), 'Null where the answer was not made public.'),
    }),
  ),
  next: described(orNull(count), 'The value of from that continues the list; null at its end.'),
});

const certificate = certificateForm(undefined, {
  status: oneOfWords(['valid', 'revoked', 'test'], 'What holds now; not part of what was signed.'),
  verify_url: described({ type: 'string', format: 'uri' }, 'The public page; not part of what was signed.'),
  proof: described(orNull(text), 'c2sp.org/tlog-proof; null for a moment after the answer.'),
});

export const certificateDocument = object(
  { certificate, lots: described(listOf(lotProof), 'The lots of `provenance.lots`, in the same order.') },
  {
    revocation: object({ lot_id: text, reason: text, revoked_at: time }),
    metadata: documentMetadata,
  },
);
