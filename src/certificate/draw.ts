import type { ValueRequest } from '../values/value-request.ts';
import { canonicalText } from './members.ts';
import { digestText } from './verdict.ts';

/**
 * Committed draws as everybody reads them: what a draw commits to, how it ended, and the two public leaves of the log.
 * docs/certificates.md specifies all of it. Every object here is hashed as canonical JSON (RFC 8785).
 */

/** What is fixed before anybody knows the outcome. Members that do not apply are left out. */
export interface DrawStatement {
  readonly type: 'draw_statement';
  readonly version: 1;
  /** `draw_` and 26 base32 characters of 128 random bits: whoever lacks it cannot guess the statement. */
  readonly id: string;
  /** What is drawn, as the samplers take it. */
  readonly request: ValueRequest;
  /** Of a list that is drawn from: see `listSha256`. */
  readonly list?: { readonly sha256: string; readonly size: number };
  readonly purpose: string;
  readonly public: boolean;
  readonly user_data?: string;
  /** `sha256:` and 64 hex digits, as all hashes here. */
  readonly user_data_sha256?: string;
  /** Hex, 1 to 64 bytes; or its SHA-256, where the caller opens it later. */
  readonly nonce?: string;
  readonly nonce_sha256?: string;
  readonly beacon?: { readonly chain: string; readonly round: number };
  /** ISO 8601, as all times here. */
  readonly due_at: string;
  /** When the draw fails that cannot be revealed; left out where nothing can be missing. */
  readonly gives_up_at?: string;
}

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
