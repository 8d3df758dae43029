import { assert } from '../core/assert.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { CompactRange, leafHash } from '../crypto/merkle.ts';
import type { DrawLeaf } from '../ledger/draw-records.ts';
import type { LogRecord } from '../ledger/ledger.ts';
import { firstIndexWhere, jsonRecord, type LogReader, paddedNumber, readJson } from './log-records.ts';

/**
 * The leaves whose text anybody may read: lots, withdrawals, statements and draws. Each statement says how many lots
 * had been withdrawn before it, and has the root of the tree over the leaves of those withdrawals. So a list that
 * leaves a withdrawal out contradicts every later statement. Public leaves are numbered from 0. Records, by key:
 *   public/<n>         the public leaf number n
 *   withdrawn/<n>      the number of the leaf of withdrawal n
 *   lot/<lot>, revocation/<lot>, draw/<draw>/<kind>   the number of the leaf with this name
 */
export interface PublicLeaf {
  /** The leaf's index in the log. */
  readonly index: number;
  /** Canonical JSON. */
  readonly leaf: string;
}

/** A leaf with its proof. */
export interface ProvenLeaf {
  /** Canonical JSON. */
  readonly leaf: string;
  /** c2sp.org/tlog-proof. */
  readonly proof: string;
}

/** A public leaf as it is stored. */
export interface StoredLeaf extends PublicLeaf {
  /** Size of the checkpoint that the leaf was logged with. */
  readonly size: number;
}

export function lotLeafKey(lotId: string): string {
  return `lot/${lotId}`;
}

export function revocationKey(lotId: string): string {
  return `revocation/${lotId}`;
}

export function drawLeafKey({ drawId, kind }: Pick<DrawLeaf, 'drawId' | 'kind'>): string {
  return `draw/${drawId}/${kind}`;
}

function leafKey(n: number): string {
  return `public/${paddedNumber(n)}`;
}

function withdrawnKey(n: number): string {
  return `withdrawn/${paddedNumber(n)}`;
}

/** Resolves to the leaf with this name; undefined until it is logged. */
export async function namedLeaf(store: LogReader, name: string): Promise<StoredLeaf | undefined> {
  const n = await readJson<number>(store, name);
  return n === undefined ? undefined : await leafAt(store, n);
}

async function leafAt(store: LogReader, n: number): Promise<StoredLeaf> {
  const leaf = await readJson<StoredLeaf>(store, leafKey(n));
  assert(leaf !== undefined, `public leaf ${n} is stored`);
  return leaf;
}

/** Resolves to those of `named` whose name has no leaf yet. */
export async function withoutLeaf<T>(
  store: LogReader,
  named: readonly T[],
  nameOf: (each: T) => string,
): Promise<T[]> {
  const without: T[] = [];
  for (const each of named) if ((await store.getLog(nameOf(each))) === undefined) without.push(each);
  return without;
}

/** The part of the log's state about public leaves, as it is stored. It is immutable: each batch makes a new one. */
export interface PublicState {
  /** How many public leaves there are. */
  readonly count: number;
  /** The number of the newest statement; null before the first. */
  readonly statement: number | null;
  /** When the newest statement was logged or, before the first, when the log began: seconds since 1970. */
  readonly lastAtS: number;
  /** How many withdrawals there are. */
  readonly withdrawals: number;
}

/** Resolves to the tree over the leaves of the first `count` withdrawals. */
export async function withdrawalTree(store: LogReader, count: number): Promise<CompactRange> {
  const tree = new CompactRange();
  for (const leaf of await withdrawalLeaves(store, count)) tree.append(leafHash(utf8Bytes(leaf)));
  return tree;
}

/** Resolves to the texts of the first `count` withdrawals, in order. */
async function withdrawalLeaves(store: LogReader, count: number): Promise<string[]> {
  const leaves: string[] = [];
  for (let i = 0; i < count; i++) {
    const withdrawn = await namedLeaf(store, withdrawnKey(i));
    assert(withdrawn !== undefined, `withdrawal ${i} is stored`);
    leaves.push(withdrawn.leaf);
  }
  return leaves;
}

/** The public leaves that one batch adds. */
export class PublicBatch {
  readonly #before: PublicState;
  readonly #leaves: PublicLeaf[] = [];
  readonly #records: LogRecord[] = [];
  #statement: number | undefined;
  readonly withdrawals: CompactRange;

  /** `withdrawals` is the tree over the leaves of all withdrawals before the batch. */
  constructor(before: PublicState, { size, roots }: CompactRange) {
    this.#before = before;
    this.withdrawals = new CompactRange(size, roots);
  }

  add(leaf: PublicLeaf, name?: string): number {
    const n = this.#before.count + this.#leaves.push(leaf) - 1;
    if (name !== undefined) this.#records.push(jsonRecord(name, n));
    return n;
  }

  addWithdrawal(leaf: PublicLeaf, name: string): void {
    this.#records.push(jsonRecord(withdrawnKey(this.withdrawals.size), this.add(leaf, name)));
    this.withdrawals.append(leafHash(utf8Bytes(leaf.leaf)));
  }

  addStatement(leaf: PublicLeaf): void {
    this.#statement = this.add(leaf);
  }

  /** Returns the next state and the records to store. The batch was signed at `sealedAtS`, over `size` leaves. */
  finish(size: number, sealedAtS: number): { readonly state: PublicState; readonly records: LogRecord[] } {
    const { count, statement, lastAtS } = this.#before;
    const state = {
      count: count + this.#leaves.length,
      statement: this.#statement ?? statement,
      lastAtS: this.#statement === undefined ? lastAtS : sealedAtS,
      withdrawals: this.withdrawals.size,
    };
    return {
      state,
      records: [
        ...this.#leaves.map((leaf, i) => jsonRecord(leafKey(count + i), { ...leaf, size })),
        ...this.#records,
      ],
    };
  }
}

/** Resolves to at most `limit` public leaves, from this index of the log on. */
export async function publicLeavesFrom(
  store: LogReader,
  { count }: PublicState,
  index: number,
  limit: number,
): Promise<PublicLeaf[]> {
  const from = await firstIndexWhere(count, async (n) => (await leafAt(store, n)).index >= index);
  const leaves: PublicLeaf[] = [];
  for (let n = from; n < Math.min(count, from + limit); n++) {
    const { index: at, leaf } = await leafAt(store, n);
    leaves.push({ index: at, leaf });
  }
  return leaves;
}

/** How many withdrawals a reply lists at most. */
const WITHDRAWALS_TOLD_MAX = 1_000;

/** Resolves to the newest statement, and the leaves of the first 1,000 withdrawals that it counts, in order. */
export async function readStatement(
  store: LogReader,
  { statement: n }: PublicState,
): Promise<{ withdrawals: string[]; statement: PublicLeaf | undefined }> {
  if (n === null) return { withdrawals: [], statement: undefined };
  const statement = await leafAt(store, n);
  const { withdrawals } = JSON.parse(statement.leaf) as { withdrawals: { count: number } };
  const told = Math.min(withdrawals.count, WITHDRAWALS_TOLD_MAX);
  return { withdrawals: await withdrawalLeaves(store, told), statement };
}
