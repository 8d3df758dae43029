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
 * Committed draws as everybody reads them: what a draw commits to, how it ended, and the two public leaves of the log.
 * docs/certificates.md specifies all of it. Every object here is hashed as canonical JSON (RFC 8785).
 */

/** What is fixed before anybody knows the outcome. Members that do not apply are left out. */
export const STATEMENT = object(
  {
    type: described(constant('draw_statement'), 'The kind.'),
    version: described(constant(1), 'The version of the form.'),
    // 128 random bits: whoever lacks it cannot guess the statement
    id: described(text, 'Names it.'),
    request: described(
      { type: 'object' } as Schema<ValueRequest>,
      'What is drawn, every default written out; kind says of which kind.',
    ),
    purpose: described(text, 'What the values are for.'),
    public: described(boolean, 'Whether the certificate shows purpose and user_data.'),
    due_at: described(time, 'When the draw is due.'),
  },
  {
    list: object(
      {
        sha256: described(sha256, 'Of its items, each in UTF-8 with a line feed behind it.'),
        size: described(count, 'How many items it has.'),
      },
      {},
      'The list that is drawn from.',
    ),
    user_data: described(text, 'What the draw is bound to.'),
    user_data_sha256: described(sha256, 'Of what the draw is bound to.'),
    nonce: described(text, 'Bytes of the caller that enter the values, in hex.'),
    nonce_sha256: described(sha256, 'Of bytes that the caller opens later.'),
    beacon: object(
      {
        chain: described(text, 'The hash of its chain.'),
        round: described(count, 'The number of the round.'),
      },
      {},
      'The round of a public beacon that enters the values.',
    ),
    gives_up_at: described(time, 'When the draw fails if the round or the nonce is still missing.'),
  },
);
export type DrawStatement = TypeOf<typeof STATEMENT>;

/** `sha256:` and the hash of an object's canonical JSON. */
export function hashOf(value: object): string {
  return digestText(canonicalText(value));
}

/** What the log says of an outcome, beside its hash. */
type DrawEnd = Readonly<Record<'statement_sha256' | 'state' | 'ended_at', string>>;

export interface Chance {
  readonly item: string;
  /** Of one pick, in percent: four digits, such as `33.33`. */
  readonly percent: string;
}

/** The chance of each item of a weighted pick, in its order; undefined for draws in which no item is favoured. */
export function chancesOf(request: ValueRequest): readonly Chance[] | undefined {
  if (request.kind !== 'weighted') return undefined;
  const { items, weights } = request;
  const sum = weights.reduce((total, each) => total + each, 0);
  return items.map((item, i) => ({ item, percent: percentText((weights[i] / sum) * 100) }));
}

/** Four digits, without an exponent. */
function percentText(percent: number): string {
  if (percent < 0.0001) return 'less than 0.0001';
  return percent > 99.99 && percent < 100 ? 'more than 99.99' : String(Number(percent.toPrecision(4)));
}

/** The hash of a list: of each item in UTF-8 with a line feed behind it, as of a file with one item a line. */
export function listSha256(items: readonly string[]): string {
  return digestText(items.map((item) => `${item}\n`).join(''));
}

/**
 * The leaf that says which bytes a draw has, by the salted hash in their certificate, so that nobody draws several for one
 * statement and shows those that suit; and when the draw is due: one without an end after that time is seen.
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

/** The leaf that says how a draw ended. */
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
