import {
  boolean,
  constant,
  count,
  described,
  object,
  type Schema,
  sha256,
  type TypeOf,
  text,
  time,
} from '../core/schema.ts';
import type { ValueRequest } from '../values/value-request.ts';
import { canonicalText } from './members.ts';
import { digestText } from './verdict.ts';

/**
 * The public records of committed draws: the statement that a draw commits to, its outcome, and its two public leaves
 * in the log. docs/certificates.md specifies them. Every object here is hashed as canonical JSON (RFC 8785).
 */

/** The statement, which is fixed before anybody knows the outcome. Members that do not apply are left out. */
export const STATEMENT = object(
  {
    type: described(constant('draw_statement'), 'The type of the object.'),
    version: described(constant(1), 'The version of the format.'),
    // 128 random bits, so that nobody can guess the statement from its hash.
    id: described(text, 'The identifier of the draw.'),
    request: described(
      { type: 'object' } as Schema<ValueRequest>,
      'The request for the values, with all defaults written out. `kind` is the kind of values.',
    ),
    purpose: described(text, 'The purpose of the draw.'),
    public: described(boolean, 'Whether the certificate shows `purpose` and `user_data` to everyone.'),
    due_at: described(time, 'The time at which the draw is due.'),
  },
  {
    list: object(
      {
        sha256: described(sha256, 'The SHA-256 hash of the items in UTF-8, each followed by a line feed.'),
        size: described(count, 'The number of items in the list.'),
      },
      {},
      'The list that winners are drawn from.',
    ),
    user_data: described(text, 'The user data that the draw is bound to.'),
    user_data_sha256: described(sha256, 'The SHA-256 hash of the user data that the draw is bound to.'),
    nonce: described(text, 'The nonce of the caller, in hex. The values depend on it.'),
    nonce_sha256: described(sha256, 'The SHA-256 hash of a nonce that the caller reveals later.'),
    beacon: object(
      {
        chain: described(text, 'The hash of the beacon chain.'),
        round: described(count, 'The number of the round.'),
      },
      {},
      'The round of a public randomness beacon that the values depend on.',
    ),
    gives_up_at: described(
      time,
      'The time at which the draw fails if the beacon round or the nonce is still missing.',
    ),
  },
);
export type DrawStatement = TypeOf<typeof STATEMENT>;

/** The ends that a draw may have, each with its possible reasons: why it has no values, or values that do not count. */
export const ENDS = {
  revealed: [null],
  cancelled: ['cancelled'],
  failed: ['beacon_missing', 'beacon_wrong', 'nonce_missing', 'secret_lost'],
} as const;

/** Returns `sha256:` and the SHA-256 of the object's canonical JSON in hex. */
export function hashOf(value: object): string {
  return digestText(canonicalText(value));
}

/** The members of an outcome that its leaf repeats besides its hash. */
type DrawEnd = Readonly<Record<'statement_sha256' | 'state' | 'ended_at', string>>;

export interface Chance {
  readonly item: string;
  /** The chance in one pick, in percent with four digits, such as `33.33`. */
  readonly percent: string;
}

/** Returns the chance of each item of a weighted pick, in the order of the items; undefined for other draws. */
export function chancesOf(request: ValueRequest): readonly Chance[] | undefined {
  if (request.kind !== 'weighted') return undefined;
  const { items, weights } = request;
  const sum = weights.reduce((total, each) => total + each, 0);
  return items.map((item, i) => ({ item, percent: percentText((weights[i] / sum) * 100) }));
}

/** Returns the percentage with four digits and without an exponent. */
function percentText(percent: number): string {
  if (percent < 0.0001) return 'less than 0.0001';
  return percent > 99.99 && percent < 100 ? 'more than 99.99' : String(Number(percent.toPrecision(4)));
}

/** Returns the hash of a list: of its items in UTF-8, each followed by a line feed, like a file of lines. */
export function listSha256(items: readonly string[]): string {
  return digestText(items.map((item) => `${item}\n`).join(''));
}

/**
 * Returns the leaf that commits a draw. It names the bytes by the salted hash in their certificate, so that the
 * operator cannot draw several times for one statement and show what suits. It also says when the draw is due, so that
 * everybody sees a draw that does not end.
 */
export function drawCommitText(statement: DrawStatement, delivered: string): string {
  const { due_at, gives_up_at } = statement;
  return canonicalText({
    type: 'draw_commit',
    version: 1,
    statement_sha256: hashOf(statement),
    delivered,
    due_at,
    ...(gives_up_at === undefined ? {} : { gives_up_at }),
  });
}

/** Returns the leaf that says how a draw ended. */
export function drawEndText(outcome: DrawEnd): string {
  const { statement_sha256, state, ended_at } = outcome;
  return canonicalText({
    type: 'draw_end',
    version: 1,
    statement_sha256,
    state,
    outcome_sha256: hashOf(outcome),
    ended_at,
  });
}
