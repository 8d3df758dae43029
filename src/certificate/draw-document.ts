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
const version = described(constant(1), 'The version of the form.');
const statementSha256 = described(sha256, 'SHA-256 of the statement as canonical JSON.');

const REASONS = [...ENDS.cancelled, ...ENDS.failed];
export type DrawReason = (typeof REASONS)[number];
const STATES = Object.keys(ENDS) as (keyof typeof ENDS)[];

const ROUND = object(
  {
    chain: described(text, 'The hash of its chain.'),
    round: described({ ...count, minimum: 1 } as Schema<number>, 'The number of the round.'),
    signature: hex('What the beacon signed the round with'),
    randomness: hex('What follows from the signature'),
  },
  { previous_signature: hex('Of a chained scheme, what is signed too') },
  'The round that entered the values.',
);

const OUTCOME = object(
  {
    type: described(constant('draw_outcome'), 'The kind.'),
    version,
    statement_sha256: statementSha256,
    state: oneOfWords(STATES, 'How the draw ended, forever.'),
    reason: described(
      { type: ['string', 'null'], enum: [...REASONS, null] } as Schema<DrawReason | null>,
      'Null where it was revealed.',
    ),
    secret: orNull(hex('The 32 bytes that were committed')),
    nonce: orNull(hex('The bytes of the caller')),
    beacon: orNull(ROUND),
    values: described(
      orNull(listOf({})) as Schema,
      'The winners or values. Of a cancelled draw what they would have been; null where something that they need is missing.',
    ),
    ended_at: described(time, 'When it ended.'),
  },
  {},
  'How the draw ended, with its values; null before the end.',
);
/** How a draw ended, forever. */
export type DrawOutcome = TypeOf<typeof OUTCOME>;

const leafOf = (meaning: string) =>
  object(
    {
      leaf: described(text, 'The leaf, as canonical JSON.'),
      proof: described(orNull(text), 'c2sp.org/tlog-proof; null until the leaf is logged.'),
    },
    {},
    meaning,
  );

export const DRAW = object(
  {
    type: described(constant('draw'), 'The kind.'),
    version,
    id: described(text, 'Whoever has it can read the draw.'),
    state: oneOfWords(['committed', ...STATES], 'Where the draw stands.'),
    statement: described(STATEMENT, 'What was fixed before anybody could know the outcome.'),
    statement_sha256: statementSha256,
    committed_at: described(time, 'When the draw was fixed.'),
    certificate_id: described(text, 'The id of the certificate.'),
    certificate: documentOrNull<CertificateDocument>(
      'CertificateDocument',
      'Of the committed bytes; null until it can be read.',
    ),
    commit: leafOf('The leaf of the log that fixes the draw.'),
    answer: documentOrNull<object>(
      'DrawAnswer',
      'The answer whose bytes were committed, without what its account has left; null before the end.',
    ),
    chain: described(orNull(open), 'What the beacon’s chain says of itself; its hash names it.'),
    outcome: orNull(OUTCOME),
    end: orNull(leafOf('The leaf of the log that ends the draw; null before the end.')),
  },
  {
    chances: described(
      listOf(
        object({
          item: described(text, 'One of the items.'),
          percent: described(text, 'The chance in one pick.'),
        }),
      ),
      'Of a weighted pick the chance of each item, in percent of one pick.',
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
  /** The nonce that the caller opened after fixing `nonce_sha256`, in hex; null until then. */
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
