import type { ValueRequest } from '../values/value-request.ts';
import type { CertificateDocument } from './document.ts';
import { canonicalText } from './members.ts';
import type { ProvenLeaf } from './public-leaves.ts';
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

/** A beacon's round that entered a draw. Hex. */
interface DrawnRound {
  readonly chain: string;
  readonly round: number;
  readonly signature: string;
  /** Of a chained scheme: what is signed too. */
  readonly previous_signature?: string;
  readonly randomness: string;
}

type DrawEnd = 'revealed' | 'cancelled' | 'failed';

/** Why a draw has no values, or none that count. */
export type DrawReason = 'cancelled' | 'beacon_missing' | 'beacon_wrong' | 'nonce_missing' | 'secret_lost';

/** How a draw ended, forever. */
export interface DrawOutcome {
  readonly type: 'draw_outcome';
  readonly version: 1;
  /** `sha256:` and 64 hex digits. */
  readonly statement_sha256: string;
  readonly state: DrawEnd;
  /** Null when it was revealed. */
  readonly reason: DrawReason | null;
  /** The 32 committed bytes, hex; null for `secret_lost`. */
  readonly secret: string | null;
  readonly nonce: string | null;
  readonly beacon: DrawnRound | null;
  /** Of a cancelled draw what they would have been, where all that they follow from is known. */
  readonly values: unknown;
  readonly ended_at: string;
}

/** A leaf of the log; its proof is null until it is logged. */
type DrawnLeaf = Pick<ProvenLeaf, 'leaf'> & { readonly proof: string | null };

/** What `GET /v1/draws/<id>` answers: all that is public of a draw, and what its check needs. */
export interface DrawDocument {
  readonly type: 'draw';
  readonly version: 1;
  readonly id: string;
  readonly state: 'committed' | DrawEnd;
  readonly statement: DrawStatement;
  readonly statement_sha256: string;
  /** Of a weighted pick what the weights of the statement come to. */
  readonly chances?: readonly Chance[];
  readonly committed_at: string;
  readonly certificate_id: string;
  readonly certificate: CertificateDocument | null;
  readonly commit: DrawnLeaf;
  /** From the end on: the answer whose bytes were committed, as GET /v1/bytes gives it. */
  readonly answer: object | null;
  /** Of a draw with a beacon: what `/HASH/info` says of the chain. */
  readonly chain: object | null;
  readonly outcome: DrawOutcome | null;
  readonly end: DrawnLeaf | null;
}

/** `sha256:` and the hash of an object's canonical JSON. */
export function hashOf(value: object): string {
  return digestText(canonicalText(value));
}

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
export function drawEndText(outcome: DrawOutcome): string {
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

/** The answer whose bytes a draw committed to. */
export interface DrawCommitment {
  readonly certificate_id: string;
  /** `sha256:` and SHA-256(salt ‖ data), as in the certificate. */
  readonly delivered: string;
  readonly at: string;
}

/** What the ledger keeps of a draw as its body, JSON. */
export interface DrawBody {
  readonly statement: DrawStatement;
  /** Of the request that made it: what must be equal for another request to be its retry. */
  readonly fingerprint: string;
  /** Null while it is opening. */
  readonly committed: DrawCommitment | null;
  /** Hex: what the caller opened of `nonce_sha256`. */
  readonly nonce: string | null;
  readonly chain: object | null;
  readonly answer: object | null;
  readonly outcome: DrawOutcome | null;
}

/** Of a draw that is committed or has ended. */
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
