import { assert } from '../core/assert.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { fromBase64, toBase64 } from '../crypto/base64.ts';
import { sha256 } from '../crypto/digest.ts';
import { CompactRange, leafHash } from '../crypto/merkle.ts';
import type { EntropyStore, LogRecord } from '../ledger/ledger.ts';
import type { LotRevocation } from '../ledger/records.ts';
import { jsonRecord, type LogReader, paddedNumber, readJson, textOf } from './log-records.ts';

/**
 * The leaves whose text anybody may read: lots, withdrawals, statements and draws. Each statement says how many lots
 * had been withdrawn before it, and has the root of the tree over those leaves, so a withdrawal that is left out of
 * the list contradicts every later statement. Records, by key:
 *   public/state       how many there are, the withdrawals among them, and when the last statement was logged
 *   public/<n>         the n-th of them
 *   withdrawn/<n>      the text of the n-th withdrawal
 */
export interface PublicLeaf {
  /** Its index in the log. */
  readonly index: number;
  /** Canonical JSON. */
  readonly leaf: string;
}

/** Never changed: a batch makes the next one. */
export interface PublicState {
  readonly count: number;
  readonly withdrawals: CompactRange;
  /** The number of the newest statement; null before the first. */
  readonly statement: number | null;
  /** When the newest statement was logged, or else when the log began, in seconds since 1970. */
  readonly lastAtS: number;
}

interface StoredPublicState {
  readonly count: number;
  readonly withdrawals: { readonly size: number; readonly roots: readonly string[] };
  readonly statement: number | null;
  readonly lastAtS: number;
}

const STATE_KEY = 'public/state';

/** The stored state; undefined for a new log. */
export async function loadPublicState(store: LogReader): Promise<PublicState | undefined> {
  const stored = await readJson<StoredPublicState>(store, STATE_KEY);
  if (stored === undefined) return undefined;
  const { withdrawals, ...rest } = stored;
  const roots = withdrawals.roots.map((root) => fromBase64(root) ?? new Uint8Array(0));
  return { ...rest, withdrawals: new CompactRange(sha256, withdrawals.size, roots) };
}

/** The state of a new log, which began at this time, in seconds since 1970. */
export function noPublicLeaves(beganAtS: number): PublicState {
  return { count: 0, withdrawals: new CompactRange(sha256), statement: null, lastAtS: beganAtS };
}

/** The public leaves that one batch adds. */
export class PublicBatch {
  readonly #records: LogRecord[] = [];
  #count: number;
  #statement: number | null;
  #isStated = false;
  readonly withdrawals: CompactRange;
  readonly #lastAtS: number;

  constructor({ count, withdrawals, statement, lastAtS }: PublicState) {
    this.#count = count;
    this.#statement = statement;
    this.#lastAtS = lastAtS;
    this.withdrawals = new CompactRange(sha256, withdrawals.size, withdrawals.roots);
  }

  addStatement(index: number, leaf: string): void {
    this.#statement = this.#count;
    this.#isStated = true;
    this.addPlain(index, leaf);
  }

  addWithdrawal(index: number, leaf: string): void {
    this.addPlain(index, leaf);
    this.#records.push({ key: withdrawnKey(this.withdrawals.size), value: utf8Bytes(leaf) });
    this.withdrawals.append(leafHash(sha256, utf8Bytes(leaf)));
  }

  /** A leaf that says nothing of lots. */
  addPlain(index: number, leaf: string): void {
    this.#records.push(jsonRecord(keyOf(this.#count++), { index, leaf } satisfies PublicLeaf));
  }

  /** The state after the batch, and what is to be stored of it. `sealedAtS` is when the batch was signed. */
  finish(sealedAtS: number): { readonly state: PublicState; readonly records: readonly LogRecord[] } {
    const lastAtS = this.#isStated ? sealedAtS : this.#lastAtS;
    const rest = { count: this.#count, statement: this.#statement, lastAtS };
    const state = { ...rest, withdrawals: this.withdrawals };
    const { size, roots } = this.withdrawals;
    const stored: StoredPublicState = { ...rest, withdrawals: { size, roots: roots.map(toBase64) } };
    return { state, records: [...this.#records, jsonRecord(STATE_KEY, stored)] };
  }
}

/** The public leaves from this index of the log on, at most `limit`. */
export async function publicLeavesFrom(
  store: LogReader,
  { count }: PublicState,
  index: number,
  limit: number,
): Promise<PublicLeaf[]> {
  let from = 0;
  let before = count;
  while (from < before) {
    const middle = Math.floor((from + before) / 2);
    if ((await readPublicLeaf(store, middle)).index < index) from = middle + 1;
    else before = middle;
  }
  const leaves: PublicLeaf[] = [];
  for (let n = from; n < Math.min(count, from + limit); n++) leaves.push(await readPublicLeaf(store, n));
  return leaves;
}

/** Withdrawals that are told at most. */
const WITHDRAWALS_TOLD_MAX = 1_000;

/** The newest statement, and the leaves of the withdrawals that it counts, in order. */
export async function readStatement(
  store: LogReader,
  { statement: n }: PublicState,
): Promise<{ withdrawals: string[]; statement: PublicLeaf | undefined }> {
  if (n === null) return { withdrawals: [], statement: undefined };
  const statement = await readPublicLeaf(store, n);
  const { withdrawals } = JSON.parse(statement.leaf) as { withdrawals: { count: number } };
  const texts: string[] = [];
  for (let i = 0; i < Math.min(withdrawals.count, WITHDRAWALS_TOLD_MAX); i++) {
    const record = await store.getLog(withdrawnKey(i));
    assert(record !== undefined, `withdrawal ${i} is stored`);
    texts.push(textOf(record));
  }
  return { withdrawals: texts, statement };
}

async function readPublicLeaf(store: LogReader, n: number): Promise<PublicLeaf> {
  const leaf = await readJson<PublicLeaf>(store, keyOf(n));
  assert(leaf !== undefined, `public leaf ${n} is stored`);
  return leaf;
}

function withdrawnKey(n: number): string {
  return `withdrawn/${paddedNumber(n)}`;
}

/** Withdrawals that have no leaf yet. `logged` keeps the ids of lots whose withdrawal was found to have one. */
export async function newRevocations(
  store: LogReader & Pick<EntropyStore, 'revocations'>,
  logged: Set<string>,
): Promise<LotRevocation[]> {
  const fresh: LotRevocation[] = [];
  for (const revocation of await store.revocations()) {
    if (logged.has(revocation.lotId)) continue;
    if ((await store.getLog(revocationKey(revocation.lotId))) === undefined) fresh.push(revocation);
    else logged.add(revocation.lotId);
  }
  return fresh;
}

export function revocationKey(lotId: string): string {
  return `revocation/${lotId}`;
}

function keyOf(n: number): string {
  return `public/${paddedNumber(n)}`;
}
