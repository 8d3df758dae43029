import { utf8Bytes } from '../core/bytes.ts';
import { toBase64 } from '../crypto/base64.ts';
import {
  CompactRange,
  consistencyProof,
  equalHashes,
  leafHash,
  rootOf,
  verifyConsistency,
} from '../crypto/merkle.ts';
import { formatNote } from '../crypto/note.ts';
import {
  contradictionOf,
  type Finding,
  type FindingKind,
  onceOf,
  rewrittenWords,
  twiceWords,
  withdrawalsIn,
  wrongDate,
} from './finding.ts';
import { LogDoubt, LogSource, LogUnavailable, type ReadPath } from './log-source.ts';
import { listAt, member, parsedObject, text, timeOf, timeText } from './members.ts';
import type { PublicLeaf } from './public-leaves.ts';
import {
  holdsLeaf,
  readCheckpoint,
  readProof,
  readSignatures,
  readSigned,
  type SignedCheckpoint,
} from './signed-checkpoint.ts';
import { found } from './verdict.ts';

/**
 * Follows a log from outside, from poll to poll. Each poll checks by the tiles that the tree that the log signs begins
 * with the tree that it signed before, and holds every public leaf. The state is one JSON document with all that the
 * next poll needs. Runs in browsers.
 */
export interface FollowState {
  readonly version: 1;
  /** The pinned document of keys, with the keys that pinned keys have vouched for since. */
  readonly keys: unknown;
  /** The newest checkpoint, a signed note. */
  readonly checkpoint: string;
  /** Index of each lot's leaf, by lot id. */
  readonly lots: Readonly<Record<string, number>>;
  /** The draws that are not due, by hash of the statement: index of the leaf that commits, and due time (Unix ms). */
  readonly draws: Draws;
  /** The leaves of all withdrawals, in the order of the log. */
  readonly withdrawals: readonly string[];
  /** Time by which the log, by its own word, held its newest statement or withdrawal: seconds since 1970. */
  readonly toldAtS: number;
}

type Draws = Readonly<Record<string, readonly [index: number, dueMs: number]>>;

export type FollowEvent =
  | { readonly kind: 'lot' | 'statement' | 'other'; readonly index: number; readonly leaf: string }
  | {
      readonly kind: 'withdrawal';
      readonly index: number;
      readonly leaf: string;
      readonly lotId: string;
      readonly reason: string;
      readonly revokedAt: string;
    }
  /** A pinned key vouches for a new key. */
  | { readonly kind: 'key'; readonly keyId: string }
  /** A new log succeeds the followed one, and names a checkpoint of it that covers all leaves seen. */
  | { readonly kind: 'incarnation'; readonly from: string; readonly to: string };

export type Poll =
  | {
      readonly state: FollowState;
      readonly events: readonly FollowEvent[];
      readonly size: number;
      /** When the log, by its own word, signed the checkpoint, in seconds since 1970. */
      readonly atS: number;
      readonly tilesRead: number;
      /** Whether the service showed an older checkpoint than an earlier poll saw. */
      readonly isStale: boolean;
    }
  | { readonly finding: Finding };

/** A growing log must log a statement or withdrawal every hour; 5 minutes more for clocks and batches. */
const SILENCE_MAX_S = 3_600 + 300;

/** How far the log's clock may be ahead of the monitor's. */
const AHEAD_MAX_S = 600;

/** Returns the draws not due at the last poll. For others a second leaf comes too late to choose bytes. */
function drawsNotDue(draws: Draws, { atS }: SignedCheckpoint): Record<string, Draws[string]> {
  return Object.fromEntries(Object.entries(draws).filter(([, [, dueMs]]) => !(dueMs < atS * 1_000)));
}

class Found extends Error {
  override name = 'Found';
  readonly finding: Finding;
  constructor(finding: Finding) {
    super(finding.what);
    this.finding = finding;
  }
}

/**
 * Looks at the log once. `url` and `nowMs` (Unix ms) go into a finding. Rejects with LogUnavailable, or with LogDoubt
 * if the service contradicts itself or what was pinned, and no signature proves it.
 */
export async function pollLog(
  state: FollowState | undefined,
  { read, url, nowMs }: { readonly read: ReadPath; readonly url: string; readonly nowMs: number },
): Promise<Poll> {
  const follower = new Follower(state, read, url, nowMs);
  try {
    return await follower.poll();
  } catch (error) {
    if (error instanceof Found) return { finding: error.finding };
    throw error;
  }
}

class Follower {
  #state: FollowState | undefined;
  readonly #source: LogSource;
  readonly #url: string;
  readonly #nowMs: number;
  readonly #events: FollowEvent[] = [];
  /** The document of keys that this poll pins. */
  #keys: unknown;
  readonly #lots: Record<string, number> = {};
  #draws: Record<string, Draws[string]> = {};
  readonly #withdrawals: string[] = [];
  /** The tree over the withdrawals. */
  readonly #counted = new CompactRange();
  /** Text of leaf 0 according to the document of keys; undefined for a log that succeeds no other. */
  #firstLeaf: string | undefined;

  constructor(state: FollowState | undefined, read: ReadPath, url: string, nowMs: number) {
    this.#state = state;
    this.#source = new LogSource(read);
    this.#url = url;
    this.#nowMs = nowMs;
  }

  async poll(): Promise<Poll> {
    const served = await this.#source.json('/.well-known/qrn-keys.json');
    // Read the checkpoint after the keys, so that the key that signed it is among them.
    const note = await this.#source.text('/log/checkpoint');
    this.#pin(served, note);
    const state = this.#state;
    const now = this.#signed(note);
    const before = state && this.#signed(state.checkpoint);
    if (state !== undefined && before !== undefined && this.#compare(before, now)) {
      const what = `the hashes at /log/tile/ do not lead to the ${before.checkpoint.size} leaves that the log signed before`;
      await this.#checkBeginning(now, before, new LogUnavailable(what));
      return this.#result(state, before, true);
    }
    // On later polls check the clock last: a checkpoint from the future must not hide a rewritten history.
    if (before === undefined) this.#checkClock(now);
    const next = await this.#extend(before, now);
    this.#checkClock(now);
    return this.#result(next, now, false);
  }

  #checkClock({ atS }: SignedCheckpoint): void {
    if (atS * 1_000 > this.#nowMs + AHEAD_MAX_S * 1_000)
      throw new LogUnavailable(
        `the log signed at ${timeText(atS)}, which is in the future: compare the clocks of the service and of this computer`,
      );
  }

  /** Throws a finding if the newer tree does not begin with the older one, and `doubt` if the tiles do not tell. */
  async #checkBeginning(older: SignedCheckpoint, newer: SignedCheckpoint, doubt: Error): Promise<void> {
    const [from, to] = [older.checkpoint, newer.checkpoint];
    if (from.size >= to.size) return;
    const readNode = this.#source.nodeReader(to.size);
    const root = await rootOf(from.size, readNode);
    const proof = await consistencyProof(from.size, to.size, readNode);
    if (!verifyConsistency(from.size, root, to.size, to.root, proof)) throw doubt;
    if (equalHashes(root, from.root)) return;
    throw this.#found('rewritten', rewrittenWords(older, newer), {
      checkpoints: [formatNote(older.note), formatNote(newer.note)],
      beginning: { root: toBase64(root), proof: proof.map(toBase64) },
    });
  }

  #result(state: FollowState, { checkpoint, atS }: SignedCheckpoint, isStale: boolean): Poll {
    const { size } = checkpoint;
    return { state, events: this.#events, size, atS, tilesRead: this.#source.tilesRead, isStale };
  }

  /** Pins the served document of keys or, on later polls, extends the pinned one by it. */
  #pin(served: unknown, note: string): void {
    const state = this.#state;
    this.#firstLeaf = text(member(served, 'first_leaf'));
    if (state === undefined) {
      this.#keys = served;
      return;
    }
    this.#keys = state.keys;
    const why = keysFailure(state.keys, served);
    if (why !== undefined) throw new LogDoubt(why);
    if (member(served, 'origin') !== member(state.keys, 'origin')) this.#succeed(state, served);
    else this.#keys = this.#vouched(state.keys, served, note);
  }

  /** Follows a new incarnation. It must name the log that was followed, with a checkpoint that is no fork. */
  #succeed(state: FollowState, served: unknown): void {
    const [from, to] = [text(member(state.keys, 'origin')) ?? '', text(member(served, 'origin')) ?? ''];
    const all = listAt(served, 'predecessors');
    const own = all.find((each) => member(each, 'origin') === from);
    const first = parsedObject(this.#firstLeaf ?? '');
    const isNamed =
      member(first, 'type') === 'incarnation' &&
      member(first, 'origin') === to &&
      member(first, 'predecessor', 'origin') === member(all.at(-1), 'origin') &&
      member(first, 'predecessor', 'checkpoint') === member(all.at(-1), 'checkpoint');
    if (!isNamed)
      throw new LogDoubt(
        `The log ${to} has replaced ${from}, but its first leaf does not name ${from} as its predecessor.`,
      );
    const before = this.#signed(state.checkpoint);
    const named = text(member(own, 'checkpoint')) ?? '';
    const last = this.#signed(named);
    if (last.checkpoint.size === before.checkpoint.size) this.#compare(before, last);
    const lost = before.checkpoint.size - last.checkpoint.size;
    if (lost > 0)
      throw new LogDoubt(`The log ${to} lacks ${lost} leaves that its predecessor ${from} had signed.`);
    this.#events.push({ kind: 'incarnation', from, to });
    this.#keys = served;
    this.#state = undefined;
  }

  /** Returns the pinned document with those new keys that have signed a checkpoint together with a pinned key. */
  #vouched(pinned: unknown, served: unknown, newest: string): unknown {
    const known = new Set(listAt(pinned, 'keys').map((key) => member(key, 'key_id')));
    const listed = listAt(served, 'keys');
    const taken = listed.filter((key) => known.has(member(key, 'key_id')));
    let document = { ...(pinned as object), keys: taken };
    for (const key of listed.filter((each) => !known.has(member(each, 'key_id')))) {
      const keyId = text(member(key, 'key_id')) ?? '';
      const both = { ...document, keys: [...document.keys, key] };
      for (const note of [text(member(key, 'vouched_by')), newest]) {
        const signed = found(() => readSignatures(both, readCheckpoint(note ?? ''))).known ?? [];
        if (signed.length < 2 || !signed.some((each) => each.key.keyId === keyId)) continue;
        document = both;
        this.#events.push({ kind: 'key', keyId });
        break;
      }
    }
    return { ...document, current_key_id: member(served, 'current_key_id') };
  }

  #signed(note: string): SignedCheckpoint {
    const { known, refusal } = found(() => readSigned(this.#keys, readCheckpoint(note)));
    if (known === undefined) throw new LogDoubt(`The signature of a checkpoint is not valid: ${refusal}`);
    return known;
  }

  /** Throws a finding if two checkpoints contradict each other. Else returns whether `now` is the older one. */
  #compare(before: SignedCheckpoint, now: SignedCheckpoint): boolean {
    const found = contradictionOf(before, now);
    const checkpoints = [formatNote(before.note), formatNote(now.note)];
    if (found !== undefined) throw this.#found(found.kind, found.what, { checkpoints });
    return now.checkpoint.size < before.checkpoint.size || now.atS < before.atS;
  }

  /** Reads what the log has added since `before`, and checks it against both checkpoints. */
  async #extend(before: SignedCheckpoint | undefined, now: SignedCheckpoint): Promise<FollowState> {
    const [from, { size }] = [before?.checkpoint.size ?? 0, now.checkpoint];
    const doubt = new LogDoubt(
      `The hashes at /log/tile/ do not lead to the root of the ${size} leaves that the log signed.`,
    );
    if (before !== undefined) await this.#checkBeginning(before, now, doubt);
    else if (!equalHashes(await rootOf(size, this.#source.nodeReader(size)), now.checkpoint.root))
      throw doubt;
    const listed = size > from ? await this.#source.publicLeaves(from, size) : new Map<number, string>();
    if (from === 0 && size > 0 && !(await this.#isLeaf(0, this.#firstLeaf, now)))
      throw new LogDoubt('The first leaf of the log is not first_leaf of the keys document.');
    const { lots = {}, draws = {}, withdrawals = [] } = this.#state ?? {};
    Object.assign(this.#lots, lots);
    if (before !== undefined) this.#draws = drawsNotDue(draws, before);
    for (const leaf of withdrawals) this.#addWithdrawal(leaf);
    let { toldAtS } = this.#state ?? { toldAtS: now.atS };
    for (const [index, leaf] of listed)
      if (await this.#takeLeaf({ index, leaf }, before, now)) toldAtS = now.atS;
    // A log that hides a withdrawal can log no more statements: each would contradict what it listed or logged.
    if (size > from && !(now.atS - toldAtS <= SILENCE_MAX_S))
      throw new LogDoubt(
        `The log grew until ${timeText(now.atS)}, but since ${timeText(toldAtS)} it lists no leaf that says which lots are withdrawn.`,
      );
    return {
      version: 1,
      keys: this.#keys,
      checkpoint: formatNote(now.note),
      lots: this.#lots,
      draws: this.#draws,
      withdrawals: this.#withdrawals,
      toldAtS,
    };
  }

  /**
   * Checks a public leaf against the tree, the dates and the leaves before it. Resolves to whether it tells of
   * withdrawals.
   */
  async #takeLeaf(
    { index, leaf }: PublicLeaf,
    before: SignedCheckpoint | undefined,
    now: SignedCheckpoint,
  ): Promise<boolean> {
    const counted = this.#counted;
    const facts = parsedObject(leaf);
    const proof = async (at: number) => ({ proof: await this.#source.proof(at, now) });
    if (!(await this.#isLeaf(index, leaf, now)))
      throw new LogDoubt(`The text that /log/leaves lists as leaf ${index} is not that leaf.`);
    const told = withdrawalsIn(facts);
    if (told !== undefined && (told.count !== counted.size || told.root !== toBase64(counted.root()))) {
      const others = told.count === counted.size ? ', but they are others' : '';
      throw new LogDoubt(
        `Leaf ${index} counts ${told.count} withdrawals, and /log/leaves lists ${counted.size} before it${others}.`,
      );
    }
    const wrong = wrongDate(facts, index, now, before);
    if (wrong !== undefined)
      throw this.#found('date', wrong, {
        checkpoints: before === undefined ? [] : [formatNote(before.note)],
        leaves: [{ leaf, ...(await proof(index)) }],
      });
    const once = onceOf(facts);
    if (once !== undefined) {
      const { kind, of } = once;
      const isLot = kind === 'lot-twice';
      if (Object.hasOwn(isLot ? this.#lots : this.#draws, of)) {
        const first = isLot ? this.#lots[of] : this.#draws[of][0];
        throw this.#found(kind, twiceWords(kind, first, index, of), {
          checkpoints: [],
          leaves: [
            { leaf: await this.#source.publicLeaf(first), ...(await proof(first)) },
            { leaf, ...(await proof(index)) },
          ],
        });
      }
      if (isLot) this.#lots[of] = index;
      else this.#draws[of] = [index, timeOf(member(facts, 'due_at'))];
    }
    const type = member(facts, 'type');
    if (type === 'revocation') {
      this.#addWithdrawal(leaf);
      const part = (name: string) => text(member(facts, name)) ?? '';
      const withdrawal = { lotId: part('lot_id'), reason: part('reason'), revokedAt: part('revoked_at') };
      this.#events.push({ kind: 'withdrawal', index, leaf, ...withdrawal });
    } else this.#events.push({ kind: type === 'lot' || type === 'statement' ? type : 'other', index, leaf });
    return told !== undefined || type === 'revocation';
  }

  #addWithdrawal(leaf: string): void {
    this.#withdrawals.push(leaf);
    this.#counted.append(leafHash(utf8Bytes(leaf)));
  }

  /** Returns whether the text is this leaf. True if the text is undefined, since then there is nothing to check. */
  async #isLeaf(index: number, leaf: string | undefined, now: SignedCheckpoint): Promise<boolean> {
    return leaf === undefined || holdsLeaf(readProof(await this.#source.proof(index, now)), leaf);
  }

  #found(
    kind: FindingKind,
    what: string,
    evidence: Pick<Finding, 'checkpoints' | 'leaves' | 'beginning'>,
  ): Found {
    return new Found({
      type: 'qrn-log-finding',
      version: 1,
      kind,
      what,
      url: this.#url,
      found_at: new Date(this.#nowMs).toISOString(),
      keys: this.#keys,
      ...evidence,
    });
  }
}

/**
 * Returns why the document of keys does not continue the pinned one; undefined if it does. It must list each pinned key
 * unchanged, except that a key may have been retired since. It may list new keys too.
 */
function keysFailure(pinned: unknown, served: unknown): string | undefined {
  const origin = text(member(pinned, 'origin'));
  const logs = [served, ...listAt(served, 'predecessors')];
  const log = logs.find((each) => member(each, 'origin') === origin);
  const listed = member(log, 'keys');
  if (!Array.isArray(listed))
    return `The keys document no longer names the log ${origin}, which was followed so far.`;
  for (const key of listAt(pinned, 'keys')) {
    const id = text(member(key, 'key_id'));
    const now: unknown = listed.find((each) => member(each, 'key_id') === id);
    if (now === undefined) return `The keys document no longer lists key ${id} of ${origin}.`;
    const facts = ['public_key', 'cosigner_key', 'created_at'];
    const same = facts.every((name) => (member(now, name) ?? null) === (member(key, name) ?? null));
    const retired = member(key, 'retired_at') ?? null;
    if (!same || (retired !== null && member(now, 'retired_at') !== retired))
      return `The keys document has changed what it says of key ${id}.`;
  }
  const first = member(pinned, 'first_leaf');
  if (log === served && first !== undefined && member(served, 'first_leaf') !== first)
    return 'first_leaf of the keys document has changed.';
  return undefined;
}
