import { utf8Bytes } from '../core/bytes.ts';
import { toBase64 } from '../crypto/base64.ts';
import { CompactRange, equalHashes, leafHash, verifyConsistency } from '../crypto/merkle.ts';
import { parseHashes } from '../crypto/note.ts';
import { listAt, member, parsedObject, text, timeOf, timeText } from './members.ts';
import type { ProvenLeaf } from './public-leaves.ts';
import {
  holdsLeaf,
  readCheckpoint,
  readProof,
  readSigned,
  type SignedCheckpoint,
} from './signed-checkpoint.ts';
import { about, found, refuse } from './verdict.ts';

/**
 * Findings: proofs that a log misbehaved, which anybody can check again with nothing but the log's public keys. What no
 * signature of the log covers is not a finding but a `LogDoubt`, because anybody could have made it up. Runs in
 * browsers.
 */
export type FindingKind =
  /** Two checkpoints of one size have different roots. */
  | 'fork'
  /** The first leaves of a checkpoint are not those of an earlier one. */
  | 'rewritten'
  /** A checkpoint is later than another and has fewer leaves. */
  | 'shrunk'
  /** One lot has two leaves, so its bytes were fixed twice. */
  | 'lot-twice'
  /** Two leaves commit to one draw, so the operator could choose between two sets of bytes. */
  | 'draw-twice'
  /** A leaf is later than the checkpoint that covers it, or a statement earlier than a checkpoint that lacks it. */
  | 'date';

/** A finding as a JSON document. Members that a kind does not need are absent. */
export interface Finding {
  readonly type: 'qrn-log-finding';
  readonly version: 1;
  readonly kind: FindingKind;
  /** What was found, in a sentence. */
  readonly what: string;
  /** The URL of the service. */
  readonly url: string;
  /** When it was found, ISO 8601, by the clock of the monitor. */
  readonly found_at: string;
  /** The document of keys that the monitor had pinned. */
  readonly keys: unknown;
  /** Signed notes, in the order in which the monitor saw them. */
  readonly checkpoints: readonly string[];
  readonly leaves?: readonly ProvenLeaf[];
  /**
   * For `rewritten`: with n as the size of the first checkpoint, the root of the first n leaves of the second
   * checkpoint's tree, and the consistency proof from n leaves to the second checkpoint (RFC 9162 §2.1.4). All hashes
   * in base64.
   */
  readonly beginning?: { readonly root: string; readonly proof: readonly string[] };
}

export interface FindingCheck {
  /** Whether the log's own signatures show what the finding says. */
  readonly holds: boolean;
  readonly why: string;
}

/** Checks a finding again. Never throws: a document that cannot be read does not hold. */
export function checkFinding(finding: unknown): FindingCheck {
  const { known, refusal = '' } = found(() => whatIsShown(finding));
  return { holds: known !== undefined, why: known ?? refusal };
}

/** Returns what the evidence of a finding shows, in a sentence. Refuses a finding whose evidence does not show it. */
function whatIsShown(finding: unknown): string {
  const kind = text(member(finding, 'kind')) ?? '';
  const isFinding = member(finding, 'type') === 'qrn-log-finding' && member(finding, 'version') === 1;
  if (!isFinding || !Object.hasOwn(CHECKS, kind))
    refuse('The document is not a finding about a log of version 1.');
  return CHECKS[kind as FindingKind](finding) ?? refuse('The evidence does not show what the finding says.');
}

interface SignedLeaf {
  /** The leaf, parsed; undefined if it is not JSON. */
  readonly told: unknown;
  readonly index: number;
  /** The checkpoint that covers the leaf. */
  readonly at: SignedCheckpoint;
}

/** Returns checkpoint n of the finding, counted from 0. Refuses one that the log's keys have not signed. */
function signedIn(finding: unknown, n: number): SignedCheckpoint {
  const note = text(listAt(finding, 'checkpoints')[n]) ?? '';
  return about(`Checkpoint ${n + 1}`, () => readSigned(member(finding, 'keys'), readCheckpoint(note)));
}

function leafIn(finding: unknown, n: number): SignedLeaf {
  const given = listAt(finding, 'leaves')[n];
  const leaf = text(member(given, 'leaf')) ?? '';
  return about(`Leaf ${n + 1}`, () => {
    const logged = readProof(text(member(given, 'proof')) ?? '');
    const at = readSigned(member(finding, 'keys'), logged);
    if (!holdsLeaf(logged, leaf)) refuse('The leaf is not in the tree that its proof names.');
    return { told: parsedObject(leaf), index: logged.proof.index, at };
  });
}

/** For each kind, a function that returns what the evidence shows; undefined if it shows no such finding. */
const CHECKS: Readonly<Record<FindingKind, (finding: unknown) => string | undefined>> = {
  fork: (finding) => contradictionIn(finding, 'fork'),
  shrunk: (finding) => contradictionIn(finding, 'shrunk'),

  rewritten(finding) {
    const [a, b] = checkpointsIn(finding);
    const [from, to] = [a.checkpoint, b.checkpoint];
    const [root] = parseHashes([member(finding, 'beginning', 'root')]) ?? [];
    const proof = parseHashes(member(finding, 'beginning', 'proof'));
    if (!root || !proof || !verifyConsistency(from.size, root, to.size, to.root, proof))
      refuse('The hashes in beginning do not lead to the second checkpoint.');
    return equalHashes(root, from.root) ? undefined : rewrittenWords(a, b);
  },

  'lot-twice': (finding) => twiceIn(finding, 'lot-twice'),
  'draw-twice': (finding) => twiceIn(finding, 'draw-twice'),

  date(finding) {
    const { told, index, at } = leafIn(finding, 0);
    if (leafTimeOf(told) === undefined)
      refuse('The leaf is neither a statement nor a withdrawal, so it has no time to compare.');
    return wrongDate(told, index, at, undefined) ?? wrongDate(told, index, at, signedIn(finding, 0));
  },
};

function contradictionIn(finding: unknown, kind: FindingKind): string | undefined {
  const shown = contradictionOf(...checkpointsIn(finding));
  return shown?.kind === kind ? shown.what : undefined;
}

function twiceIn(finding: unknown, kind: FindingKind): string | undefined {
  const [a, b] = [leafIn(finding, 0), leafIn(finding, 1)];
  const [one, other] = [onceOf(a.told), onceOf(b.told)];
  const isSame = one?.kind === kind && other?.kind === kind && one.of === other.of && a.index !== b.index;
  return isSame ? twiceWords(kind, a.index, b.index, one.of) : undefined;
}

function checkpointsIn(finding: unknown): [SignedCheckpoint, SignedCheckpoint] {
  const pair: [SignedCheckpoint, SignedCheckpoint] = [signedIn(finding, 0), signedIn(finding, 1)];
  if (pair[0].checkpoint.origin !== pair[1].checkpoint.origin)
    refuse('The checkpoints are of two different logs.');
  return pair;
}

/** Returns the contradiction between two checkpoints of one log, given in either order; undefined if there is none. */
export function contradictionOf(
  a: SignedCheckpoint,
  b: SignedCheckpoint,
): { readonly kind: 'fork' | 'shrunk'; readonly what: string } | undefined {
  const { size } = a.checkpoint;
  if (size === b.checkpoint.size)
    return equalHashes(a.checkpoint.root, b.checkpoint.root)
      ? undefined
      : { kind: 'fork', what: `The log signed two different trees of ${size} leaves.` };
  const [larger, smaller] = size > b.checkpoint.size ? [a, b] : [b, a];
  if (larger.atS >= smaller.atS) return undefined;
  const what = `The log shrank: it signed ${larger.checkpoint.size} leaves at ${timeText(larger.atS)}, but ${smaller.checkpoint.size} at ${timeText(smaller.atS)}.`;
  return { kind: 'shrunk', what };
}

export function rewrittenWords(from: SignedCheckpoint, to: SignedCheckpoint): string {
  return `The log signed a tree of ${to.checkpoint.size} leaves whose first ${from.checkpoint.size} are not those that it signed before.`;
}

/** Returns what a leaf fixes that may be fixed only once: its lot or draw. Undefined for other leaves. */
export function onceOf(told: unknown): { readonly kind: 'lot-twice' | 'draw-twice'; of: string } | undefined {
  const type = member(told, 'type');
  const of = text(member(told, type === 'lot' ? 'lot_id' : 'statement_sha256'));
  if (of === undefined || (type !== 'lot' && type !== 'draw_commit')) return undefined;
  return { kind: type === 'lot' ? 'lot-twice' : 'draw-twice', of };
}

export function twiceWords(kind: FindingKind, first: number, second: number, of: string): string {
  const words =
    kind === 'lot-twice' ? 'both fix the bytes of lot' : 'both commit to the draw with the statement';
  return `Leaves ${first} and ${second} ${words} ${of}.`;
}

/**
 * Returns why the time in a leaf is wrong; undefined if it is right, or the leaf has no time. `atS` is the time of a
 * checkpoint that covers the leaf: the leaf must not be later. `before` is a checkpoint without the leaf: a statement
 * must not be earlier. A withdrawal may be, because it is logged some time after it was made.
 */
export function wrongDate(
  leaf: unknown,
  index: number,
  { atS }: SignedCheckpoint,
  before: SignedCheckpoint | undefined,
): string | undefined {
  const toldMs = leafTimeOf(leaf);
  if (toldMs === undefined) return undefined;
  if (Number.isNaN(toldMs)) return `Leaf ${index} has no time that can be read.`;
  const told = `Leaf ${index} states the time ${timeText(toldMs / 1_000)}`;
  // The log signs in whole seconds.
  if (Math.floor(toldMs / 1_000) > atS) return `${told}, but the log had signed it by ${timeText(atS)}.`;
  const isStatement = member(leaf, 'type') === 'statement';
  if (!isStatement || before === undefined || before.checkpoint.size > index) return undefined;
  return toldMs < before.atS * 1_000
    ? `${told}, but at ${timeText(before.atS)} the log had only ${before.checkpoint.size} leaves.`
    : undefined;
}

interface CountedWithdrawals {
  readonly count: number;
  readonly root: string;
}

/** Returns what a statement says of the withdrawals logged before it; undefined for other leaves. */
export function withdrawalsIn(told: unknown): CountedWithdrawals | undefined {
  const type = member(told, 'type');
  const count = member(told, 'withdrawals', 'count');
  const root = member(told, 'withdrawals', 'root');
  const isTold = type === 'statement' && member(told, 'version') === 1;
  return isTold && typeof count === 'number' && typeof root === 'string' ? { count, root } : undefined;
}

/** Returns whether these leaves are exactly the withdrawals that a statement counts. */
export function countsThese({ count, root }: CountedWithdrawals, withdrawals: readonly string[]): boolean {
  const range = new CompactRange();
  for (const leaf of withdrawals) range.append(leafHash(utf8Bytes(leaf)));
  return withdrawals.length === count && toBase64(range.root()) === root;
}

/** Returns the time of a statement or a withdrawal, Unix ms: NaN if it cannot be read, undefined for other leaves. */
function leafTimeOf(told: unknown): number | undefined {
  if (member(told, 'type') === 'statement') return timeOf(member(told, 'at'));
  if (member(told, 'type') === 'revocation') return timeOf(member(told, 'revoked_at'));
  return undefined;
}
