import { sha256 } from '@noble/hashes/sha2.js';
import { utf8Bytes } from '../core/bytes.ts';
import { fromBase64, toBase64 } from '../crypto/base64.ts';
import {
  CompactRange,
  equalHashes,
  type Hash,
  leafHash,
  nodeHash,
  nodesCovering,
  type ReadNode,
  verifyInclusion,
} from '../crypto/merkle.ts';
import { parseHashes } from '../crypto/note.ts';
import { member, parsedObject, show, text, timeOf, timeText } from './members.ts';
import {
  holdsLeaf,
  readCheckpoint,
  readProof,
  readSigned,
  type SignedCheckpoint,
} from './signed-checkpoint.ts';

/**
 * What a monitor found against a log, written so that anybody can check it again with nothing but the log's public
 * keys. Runs in browsers.
 */
export type FindingKind =
  /** Two checkpoints of one size with different roots. */
  | 'fork'
  /** A checkpoint whose first leaves are not those of an earlier one. */
  | 'rewritten'
  /** A checkpoint that is later than another and has fewer leaves. */
  | 'shrunk'
  /** A log that succeeds another goes on from fewer leaves than that one had signed. */
  | 'disowned'
  /** Two leaves of one lot: its bytes were fixed twice. */
  | 'lot-twice'
  /** Two leaves that commit to one draw: its bytes could be chosen from several. */
  | 'draw-twice'
  /** A leaf whose time is not between the checkpoints before and after it. */
  | 'date'
  /** The withdrawals that are listed are not those that a leaf counts. */
  | 'withdrawals'
  /** A text that is listed as a public leaf is not the leaf with that index. */
  | 'leaf'
  /** The log grew for more than an hour and no leaf says which lots were withdrawn. */
  | 'silent'
  /** The tiles do not give the root that was signed. */
  | 'tiles'
  /** No pinned key signed the checkpoint, or a signature is wrong. */
  | 'signature'
  /** A key that was pinned is gone or changed, or another log stands in the place of the one that was followed. */
  | 'keys';

interface LeafProof {
  readonly leaf: string;
  /** c2sp.org/tlog-proof. */
  readonly proof: string;
}

/** A JSON document. Members that a kind does not need are absent. */
export interface Finding {
  readonly type: 'qrn-log-finding';
  readonly version: 1;
  readonly kind: FindingKind;
  /** What was found, in a sentence. */
  readonly what: string;
  /** Where, and when: ISO 8601 by the clock of whoever watched. */
  readonly url: string;
  readonly found_at: string;
  /** The document of keys that was pinned. */
  readonly keys: unknown;
  /** Signed notes, in the order in which they were seen. */
  readonly checkpoints: readonly string[];
  readonly leaves?: readonly LeafProof[];
  /**
   * Of the second checkpoint's tree, base64: the roots of the maximal complete subtrees of as many leaves as the first
   * checkpoint has, and the nodes that complete the tree.
   */
  readonly nodes?: { readonly before: readonly string[]; readonly after: readonly string[] };
  /** What the service answered, where that is not signed. */
  readonly served?: unknown;
}

export interface FindingCheck {
  /** The evidence shows what the finding says. */
  readonly holds: boolean;
  /** The log's own signatures show all of it; otherwise something is the word of whoever watched. */
  readonly isSigned: boolean;
  readonly why: string;
}

/** A log that grows says at least this often which lots were withdrawn; clocks and batches need a little. */
export const SILENCE_MAX_S = 3_600 + 300;

/** Checks a document of a finding again. Never throws: what cannot be read does not hold. */
export async function checkFinding(finding: unknown): Promise<FindingCheck> {
  const kind = text(member(finding, 'kind')) ?? '';
  const isFinding = member(finding, 'type') === 'qrn-log-finding' && member(finding, 'version') === 1;
  const check = Object.hasOwn(CHECKS, kind) ? CHECKS[kind as FindingKind] : undefined;
  if (!isFinding || check === undefined) return failed('This is not a finding of a log.');
  try {
    return await check(await readEvidence(finding));
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    return failed(error.message);
  }
}

/** The evidence does not show what it is said to. */
class EvidenceError extends Error {
  override name = 'EvidenceError';
}

interface SignedLeaf {
  readonly leaf: string;
  readonly index: number;
  /** The checkpoint that covers it. */
  readonly at: SignedCheckpoint;
}

interface Evidence {
  readonly finding: unknown;
  readonly keys: unknown;
  /** The n-th checkpoint, which must be signed. */
  readonly signed: (n: number) => Promise<SignedCheckpoint>;
  readonly leaf: (n: number) => Promise<SignedLeaf>;
}

async function readEvidence(finding: unknown): Promise<Evidence> {
  const keys = member(finding, 'keys');
  const each = (name: string, n: number) => {
    const list = member(finding, name);
    return Array.isArray(list) ? (list[n] as unknown) : undefined;
  };
  return {
    finding,
    keys,
    async signed(n) {
      const read = await readSigned(keys, readCheckpoint(text(each('checkpoints', n)) ?? ''));
      if (typeof read === 'string') throw new EvidenceError(`Checkpoint ${n + 1}: ${read}`);
      return read;
    },
    async leaf(n) {
      const given = each('leaves', n);
      const leaf = text(member(given, 'leaf')) ?? '';
      const logged = readProof(text(member(given, 'proof')) ?? '');
      const at = await readSigned(keys, logged);
      if (typeof logged === 'string' || typeof at === 'string')
        throw new EvidenceError(`Leaf ${n + 1}: ${String(at)}`);
      if (!holdsLeaf(logged, leaf))
        throw new EvidenceError(`Leaf ${n + 1} is not in the tree that its proof names.`);
      return { leaf, index: logged.proof.index, at };
    },
  };
}

function failed(why: string): FindingCheck {
  return { holds: false, isSigned: false, why };
}

function shown(condition: boolean, why: string, isSigned = true): FindingCheck {
  return condition ? { holds: true, isSigned, why } : failed('The evidence does not show it.');
}

const CHECKS: Readonly<Record<FindingKind, (evidence: Evidence) => Promise<FindingCheck>>> = {
  async fork(evidence) {
    const [a, b] = await two(evidence);
    const isFork =
      a.checkpoint.size === b.checkpoint.size && !equalHashes(a.checkpoint.root, b.checkpoint.root);
    return shown(isFork, `The log signed two trees of ${a.checkpoint.size} leaves.`);
  },

  async rewritten(evidence) {
    const [a, b] = await two(evidence);
    const before = parseHashes(member(evidence.finding, 'nodes', 'before'));
    const after = parseHashes(member(evidence.finding, 'nodes', 'after'));
    const roots = before && after && rootsOf(a.checkpoint.size, b.checkpoint.size, { before, after });
    if (roots === undefined || !equalHashes(roots.whole, b.checkpoint.root))
      return failed('The nodes are not those of the second checkpoint.');
    return shown(
      !equalHashes(roots.beginning, a.checkpoint.root),
      `The first ${a.checkpoint.size} leaves of the tree of ${b.checkpoint.size} that the log signed are not those that it signed before.`,
    );
  },

  async shrunk(evidence) {
    const [a, b] = await two(evidence);
    const [older, newer] = (a.atS ?? 0) <= (b.atS ?? 0) ? [a, b] : [b, a];
    const isShrunk =
      older.atS !== undefined &&
      newer.atS !== undefined &&
      older.atS < newer.atS &&
      older.checkpoint.size > newer.checkpoint.size;
    return shown(
      isShrunk,
      `The log signed ${older.checkpoint.size} leaves at ${timeText(older.atS ?? 0)}, and ${newer.checkpoint.size} at ${timeText(newer.atS ?? 0)}.`,
    );
  },

  async disowned(evidence) {
    const [seen, named] = await two(evidence);
    const { origin, size } = seen.checkpoint;
    const served = member(evidence.finding, 'served');
    const predecessors = member(served, 'predecessors');
    const listed = (Array.isArray(predecessors) ? predecessors : []) as readonly unknown[];
    const entry = listed.find((each) => member(each, 'origin') === origin);
    const [, checkpoint] = (member(evidence.finding, 'checkpoints') ?? []) as readonly unknown[];
    if (member(entry, 'checkpoint') !== checkpoint)
      return failed('The document of keys names another checkpoint as the last one.');
    const why = `${origin} signed ${size} leaves, and ${show(member(served, 'origin'))} goes on from ${named.checkpoint.size} of them.`;
    return shown(named.checkpoint.size < size, why, false);
  },

  async 'lot-twice'(evidence) {
    const [a, b] = [await evidence.leaf(0), await evidence.leaf(1)];
    const [one, other] = [lotIdOf(a.leaf), lotIdOf(b.leaf)];
    const isTwice = one !== undefined && one === other && a.index !== b.index;
    return shown(isTwice, `Leaves ${a.index} and ${b.index} are both of lot ${one}.`);
  },

  async 'draw-twice'(evidence) {
    const [a, b] = [await evidence.leaf(0), await evidence.leaf(1)];
    const [one, other] = [committedDrawOf(a.leaf), committedDrawOf(b.leaf)];
    const isTwice = one !== undefined && one.statement === other?.statement && a.index !== b.index;
    return shown(isTwice, `Leaves ${a.index} and ${b.index} both commit to the draw ${one?.statement}.`);
  },

  async date(evidence) {
    const { leaf, index, at } = await evidence.leaf(0);
    const toldMs = leafTimeOf(leaf);
    if (toldMs === undefined || at.atS === undefined) return failed('There is no time to compare.');
    if (Number.isNaN(toldMs)) return shown(true, `Leaf ${index} says no time that can be read.`);
    // the log signs in whole seconds
    if (Math.floor(toldMs / 1_000) > at.atS)
      return shown(
        true,
        `Leaf ${index} is of ${timeText(toldMs / 1_000)}, and was signed at ${timeText(at.atS)}.`,
      );
    const before = await evidence.signed(0);
    const isBackdated =
      isStatement(leaf) &&
      before.checkpoint.size <= index &&
      before.atS !== undefined &&
      toldMs < before.atS * 1_000;
    return shown(
      isBackdated,
      `Leaf ${index} is of ${timeText(toldMs / 1_000)}; the log had ${before.checkpoint.size} leaves at ${timeText(before.atS ?? 0)}.`,
    );
  },

  async withdrawals(evidence) {
    const { leaf, index } = await evidence.leaf(0);
    const listed = member(evidence.finding, 'served');
    const texts = Array.isArray(listed) ? listed.flatMap((each) => text(each) ?? []) : [];
    const counted = withdrawalsIn(leaf);
    const why = `Leaf ${index} counts ${counted?.count} withdrawals; those that were listed are others.`;
    return shown(counted !== undefined && !countsThese(counted, texts), why, false);
  },

  async leaf(evidence) {
    const told = text(member(evidence.finding, 'served', 'leaf'));
    const hash = fromBase64(text(member(evidence.finding, 'served', 'hash')) ?? '');
    const logged = readProof(member(evidence.finding, 'served', 'proof'));
    if (told === undefined || hash === undefined || typeof logged === 'string')
      return failed('There is no proof of the leaf.');
    const at = await readSigned(evidence.keys, logged);
    if (typeof at === 'string') return failed(at);
    const { size, root } = logged.checkpoint;
    const { index, path } = logged.proof;
    if (!verifyInclusion(sha256, hash, index, size, path, root)) return failed('The proof does not hold.');
    const isOther = !equalHashes(hash, leafHash(sha256, utf8Bytes(told)));
    return shown(isOther, `The text that was listed as leaf ${index} is not that leaf.`, false);
  },

  async silent(evidence) {
    const [a, b] = await two(evidence);
    const isLong = (b.atS ?? 0) - (a.atS ?? Number.POSITIVE_INFINITY) > SILENCE_MAX_S;
    const why = `The log grew until ${timeText(b.atS ?? 0)}, and listed no leaf that says which lots were withdrawn since ${timeText(a.atS ?? 0)}.`;
    return shown(isLong && b.checkpoint.size > a.checkpoint.size, why, false);
  },

  async tiles(evidence) {
    const { checkpoint } = await evidence.signed(0);
    const size = member(evidence.finding, 'served', 'size');
    const roots = parseHashes(member(evidence.finding, 'served', 'roots'));
    if (typeof size !== 'number' || roots === undefined || size !== checkpoint.size)
      return failed('It does not say what the tiles give.');
    const range = rangeOf(size, roots);
    const isOther = range !== undefined && !equalHashes(range.root(), checkpoint.root);
    return shown(isOther, `The tiles that were served do not give the root of ${size} leaves.`, false);
  },

  async signature(evidence) {
    const note = text(member(evidence.finding, 'served')) ?? '';
    const read = await readSigned(evidence.keys, readCheckpoint(note));
    return typeof read === 'string' ? shown(true, read, false) : failed('A pinned key did sign it.');
  },

  async keys(evidence) {
    const why = keysFailure(evidence.keys, member(evidence.finding, 'served'));
    return why === undefined ? failed('The keys are those that were pinned.') : shown(true, why, false);
  },
};

async function two({ signed }: Evidence): Promise<[SignedCheckpoint, SignedCheckpoint]> {
  const pair: [SignedCheckpoint, SignedCheckpoint] = [await signed(0), await signed(1)];
  if (pair[0].checkpoint.origin !== pair[1].checkpoint.origin)
    throw new EvidenceError('The checkpoints are of two logs.');
  return pair;
}

/**
 * Why the document of keys does not continue the one that was pinned: each pinned key must stand there as it was, but
 * for the time at which it was retired. New keys may stand beside them.
 */
export function keysFailure(pinned: unknown, served: unknown): string | undefined {
  const origin = text(member(pinned, 'origin'));
  const predecessors = member(served, 'predecessors');
  const logs = [served, ...(Array.isArray(predecessors) ? predecessors : [])];
  const log = logs.find((each) => member(each, 'origin') === origin);
  const listed = member(log, 'keys');
  if (!Array.isArray(listed))
    return `The document of keys does not name the log ${origin} that was followed.`;
  const known = member(pinned, 'keys');
  for (const key of Array.isArray(known) ? known : []) {
    const id = text(member(key, 'key_id'));
    const now = listed.find((each) => member(each, 'key_id') === id) as unknown;
    if (now === undefined) return `The key ${id} is no longer among the keys of ${origin}.`;
    const facts = ['public_key', 'cosigner_key', 'created_at'];
    const same = facts.every((name) => (member(now, name) ?? null) === (member(key, name) ?? null));
    const retired = member(key, 'retired_at') ?? null;
    if (!same || (retired !== null && member(now, 'retired_at') !== retired))
      return `The facts of the key ${id} were changed.`;
  }
  const first = member(pinned, 'first_leaf');
  if (log === served && first !== undefined && member(served, 'first_leaf') !== first)
    return 'The first leaf is no longer the one that was pinned.';
  return undefined;
}

/** What completes the tree of a checkpoint from that of an earlier one, as `Finding.nodes` has it. */
export interface NodesBetween {
  readonly before: readonly Hash[];
  readonly after: readonly Hash[];
}

/** The roots of the two trees of a finding of kind `rewritten`; undefined for nodes that do not fit the sizes. */
export function rootsOf(
  from: number,
  to: number,
  { before, after }: NodesBetween,
): { readonly beginning: Hash; readonly whole: Hash } | undefined {
  const range = rangeOf(from, before);
  const levels = nodesCovering(from, to);
  // of two trees the second must be the larger: else the nodes of a smaller one would pass for those of the first
  if (range === undefined || from === 0 || from >= to || levels.length !== after.length) return undefined;
  const stack = nodesCovering(0, from).map(({ level }, i) => ({ level, hash: before[i] }));
  levels.forEach((each, i) => {
    let [level, hash] = [each.level, after[i]];
    for (let last = stack.at(-1); last?.level === level; last = stack.at(-1), level++) {
      hash = nodeHash(sha256, last.hash, hash);
      stack.pop();
    }
    stack.push({ level, hash });
  });
  const whole = rangeOf(
    to,
    stack.map(({ hash }) => hash),
  );
  return whole && { beginning: range.root(), whole: whole.root() };
}

/** The nodes that `rootsOf` takes, from the tree of `to` leaves. */
export async function nodesBetween(from: number, to: number, readNode: ReadNode): Promise<NodesBetween> {
  const named = [...nodesCovering(0, from), ...nodesCovering(from, to)];
  const hashes = await Promise.all(named.map(({ level, index }) => readNode(level, index)));
  const count = nodesCovering(0, from).length;
  return { before: hashes.slice(0, count), after: hashes.slice(count) };
}

export function rangeOf(size: number, roots: readonly Hash[]): CompactRange | undefined {
  const isWhole = Number.isSafeInteger(size) && size >= 0;
  return isWhole && roots.length === nodesCovering(0, size).length
    ? new CompactRange(sha256, size, roots)
    : undefined;
}

interface CountedWithdrawals {
  readonly count: number;
  readonly root: string;
}

/** What a lot's leaf or a statement says of the withdrawals before it; undefined for another leaf. */
export function withdrawalsIn(leaf: string): CountedWithdrawals | undefined {
  const told = parsedObject(leaf);
  const type = member(told, 'type');
  const count = member(told, 'withdrawals', 'count');
  const root = member(told, 'withdrawals', 'root');
  const isTold = (type === 'lot' || type === 'statement') && member(told, 'version') === 1;
  return isTold && typeof count === 'number' && typeof root === 'string' ? { count, root } : undefined;
}

/** Whether these are the withdrawals that a leaf counts. */
export function countsThese({ count, root }: CountedWithdrawals, withdrawals: readonly string[]): boolean {
  const range = new CompactRange(sha256);
  for (const leaf of withdrawals) range.append(leafHash(sha256, utf8Bytes(leaf)), () => {});
  return withdrawals.length === count && toBase64(range.root()) === root;
}

export function lotIdOf(leaf: string): string | undefined {
  const told = parsedObject(leaf);
  return member(told, 'type') === 'lot' ? text(member(told, 'lot_id')) : undefined;
}

/** The hash of the statement that a leaf commits to, and when the draw is due (Unix ms). */
export function committedDrawOf(leaf: string): { statement: string; dueMs: number } | undefined {
  const told = parsedObject(leaf);
  const statement = text(member(told, 'statement_sha256'));
  if (member(told, 'type') !== 'draw_commit' || statement === undefined) return undefined;
  return { statement, dueMs: timeOf(member(told, 'due_at')) };
}

/** Milliseconds since 1970 of a withdrawal or a statement; NaN for one without a time, undefined for another leaf. */
export function leafTimeOf(leaf: string): number | undefined {
  const told = parsedObject(leaf);
  if (member(told, 'type') === 'statement') return timeOf(member(told, 'at'));
  if (member(told, 'type') === 'revocation') return timeOf(member(told, 'revoked_at'));
  return undefined;
}

export function isStatement(leaf: string): boolean {
  return member(parsedObject(leaf), 'type') === 'statement';
}
