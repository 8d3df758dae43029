import {
  constant,
  count,
  described,
  listOf,
  object,
  oneOfWords,
  orNull,
  ref,
  type Schema,
  sha256,
  type TypeOf,
  text,
  time,
} from '../core/schema.ts';
import type { CertificateDocument } from './document.ts';
import {
  chancesOf,
  type DrawStatement,
  drawCommitText,
  drawEndText,
  ENDS,
  hashOf,
  STATEMENT,
} from './draw.ts';

/** The reply of `GET /v1/draws/<id>`: all that is public of a draw and that a verifier needs (docs/draws.md). */

const open: Schema<object> = { type: 'object' };
const hex = (meaning: string) => described(text, `${meaning}, in hex.`);
const documentOrNull = <T>(name: string, meaning: string) =>
  described({ anyOf: [ref(name), { type: 'null' }] } as Schema<T | null>, meaning);
const version = described(constant(1), 'The version of the format.');
const statementSha256 = described(sha256, 'The SHA-256 hash of the statement as canonical JSON.');

const REASONS = [...ENDS.cancelled, ...ENDS.failed];
export type DrawReason = (typeof REASONS)[number];
const STATES = Object.keys(ENDS) as (keyof typeof ENDS)[];

const ROUND = object(
  {
    chain: described(text, 'The hash of the beacon chain.'),
    round: described({ ...count, minimum: 1 } as Schema<number>, 'The number of the round.'),
    signature: hex('The signature of the beacon for the round'),
    randomness: hex('The randomness of the round, which follows from the signature'),
  },
  { previous_signature: hex('The signature of the previous round, which a chained scheme signs too') },
  'The round of the beacon that the values depend on.',
);

const OUTCOME = object(
  {
    type: described(constant('draw_outcome'), 'The type of the object.'),
    version,
    statement_sha256: statementSha256,
    state: oneOfWords(STATES, 'How the draw ended. This never changes.'),
    reason: described(
      { type: ['string', 'null'], enum: [...REASONS, null] } as Schema<DrawReason | null>,
      'The reason why the draw was cancelled or failed. It is null if the draw was revealed.',
    ),
    secret: orNull(hex('The 32 committed bytes')),
    nonce: orNull(hex('The nonce of the caller')),
    beacon: orNull(ROUND),
    values: described(
      orNull(listOf({})) as Schema,
      'The winners or values. For a cancelled draw, the values that it would have had. It is null if the secret, the nonce or the beacon round is missing.',
    ),
    ended_at: described(time, 'The time at which the draw ended.'),
  },
  {},
  'The outcome of the draw, with its values. It is null until the draw ends.',
);
/** How a draw ended, forever. */
export type DrawOutcome = TypeOf<typeof OUTCOME>;

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
    version,
    id: described(text, 'The identifier of the draw. Anyone who knows it can read the draw.'),
    state: oneOfWords(['committed', ...STATES], 'The state of the draw.'),
    statement: described(
      STATEMENT,
      'The statement: everything that was fixed before anyone could know the outcome.',
    ),
    statement_sha256: statementSha256,
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
