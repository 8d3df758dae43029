import {
  constant,
  described,
  listOf,
  object,
  oneOfWords,
  orNull,
  ref,
  type Schema,
  type TypeOf,
  text,
  time,
} from '../core/schema.ts';
import type { CertificateDocument } from './document.ts';
import {
  chancesOf,
  type DrawOutcome,
  type DrawStatement,
  drawCommitText,
  drawEndText,
  hashOf,
  OUTCOME,
  STATEMENT,
  STATEMENT_SHA256,
  STATES,
  VERSION,
} from './draw.ts';

/** The reply of `GET /v1/draws/<id>`: all that is public of a draw and that a verifier needs (docs/draws.md). */

const open: Schema<object> = { type: 'object' };
const documentOrNull = <T>(name: string, meaning: string) =>
  described({ anyOf: [ref(name), { type: 'null' }] } as Schema<T | null>, meaning);

const leafOf = (meaning: string) =>
  object(
    {
      leaf: described(text, 'The leaf, as canonical JSON.'),
      proof: described(
        orNull(text),
        'The proof that the leaf is in the log (c2sp.org/tlog-proof). It is null until the leaf is logged.',
      ),
    },
    {},
    meaning,
  );

export const DRAW = object(
  {
    type: described(constant('draw'), 'The type of the document.'),
    version: VERSION,
    id: described(text, 'The identifier of the draw. Anyone who knows it can read the draw.'),
    state: oneOfWords(['committed', ...STATES], 'The state of the draw.'),
    statement: described(
      STATEMENT,
      'The statement: everything that was fixed before anyone could know the outcome.',
    ),
    statement_sha256: STATEMENT_SHA256,
    committed_at: described(time, 'The time at which the service committed to the draw.'),
    certificate_id: described(text, 'The identifier of the certificate of the committed bytes.'),
    certificate: documentOrNull<CertificateDocument>(
      'CertificateDocument',
      'The certificate of the committed bytes. It is null until the certificate is available.',
    ),
    commit: leafOf('The leaf in the log that commits to the draw.'),
    answer: documentOrNull<object>(
      'DrawAnswer',
      'The answer that contains the committed bytes, without the remaining credits of the account. It is null until the draw ends.',
    ),
    chain: described(orNull(open), 'The parameters of the beacon chain. The hash of the chain covers them.'),
    outcome: orNull(OUTCOME),
    end: orNull(
      leafOf('The leaf in the log that records the end of the draw. It is null until the draw ends.'),
    ),
  },
  {
    chances: described(
      listOf(
        object({
          item: described(text, 'The item.'),
          percent: described(text, 'The probability in percent that one pick yields the item.'),
        }),
      ),
      'The probability of each item. Only draws with weights have it.',
    ),
  },
);
export type DrawDocument = TypeOf<typeof DRAW>;

/** The answer whose bytes a draw committed to. */
export interface DrawCommitment {
  readonly certificate_id: string;
  /** `sha256:` and SHA-256(salt ‖ data), as in the certificate. */
  readonly delivered: string;
  readonly at: string;
}

/** The body of a draw in the ledger, stored as JSON. */
export interface DrawBody {
  readonly statement: DrawStatement;
  /** Fingerprint of the request that made the draw. A request with the same fingerprint is a retry. */
  readonly fingerprint: string;
  /** Null until the answer with the committed bytes is stored. */
  readonly committed: DrawCommitment | null;
  /** The nonce that the caller revealed after fixing `nonce_sha256`, in hex; null until then. */
  readonly nonce: string | null;
  readonly chain: object | null;
  readonly answer: object | null;
  readonly outcome: DrawOutcome | null;
}

/** Returns the document of a draw that is committed or has ended. */
export function drawDocument(
  { statement, committed, chain, answer, outcome }: DrawBody & { readonly committed: DrawCommitment },
  certificate: CertificateDocument | null,
  proofs: { readonly commit: string | null; readonly end: string | null },
): DrawDocument {
  const chances = chancesOf(statement.request);
  return {
    type: 'draw',
    version: 1,
    id: statement.id,
    state: outcome?.state ?? 'committed',
    statement,
    statement_sha256: hashOf(statement),
    ...(chances === undefined ? {} : { chances }),
    committed_at: committed.at,
    certificate_id: committed.certificate_id,
    certificate,
    commit: { leaf: drawCommitText(statement, committed.delivered), proof: proofs.commit },
    answer,
    chain,
    outcome,
    end: outcome && { leaf: drawEndText(outcome), proof: proofs.end },
  };
}
