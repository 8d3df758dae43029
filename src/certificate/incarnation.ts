import {
  closeSync,
  existsSync,
  fdatasyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { assert } from '../core/assert.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { sha256Hex } from '../crypto/digest.ts';
import { KeyFileError, type PublishedKey } from '../crypto/key-files.ts';
import { equalHashes, rootOf } from '../crypto/merkle.ts';
import type { Checkpoint } from '../crypto/note.ts';
import type { Ledger, LedgerIdentity, LogStore } from '../ledger/ledger.ts';
import { jsonRecord, type LogReader, readJson } from './log-records.ts';
import { storedStateOf } from './log-state.ts';
import { canonicalText, parsedObject } from './members.ts';
import { readCheckpoint } from './signed-checkpoint.ts';
import { nodeReader } from './tiles.ts';

/**
 * Incarnations of a ledger. A ledger that was restored, copied or set back would give out certificate ids
 * that are already taken, sign a second history of its log, and deliver blocks a second time. So the newest
 * signed checkpoint is kept beside the log's keys, outside the ledger, with what identifies the ledger's
 * folder. A start that finds another folder, a smaller log or another history holds back until the operator
 * says what happened: `qrn ledger restore` begins a new incarnation, which has a number of its own in the ids
 * and a log of its own that names its predecessor; `qrn ledger moved` says that the folder is the original in
 * a new place.
 *
 * A disk that is set back as a whole, keys and all, cannot be told from the past by anything on it. Witnesses
 * tell.
 */
export interface Incarnation {
  /** 0 for the first one; in the ids' node field. */
  readonly number: number;
  /** The origin of its log. */
  readonly origin: string;
  /** Segments from here on are its own. */
  readonly firstSegment: number;
  /** ISO 8601. */
  readonly begunAt: string;
  /** The log before it, as far as it is known; null for the first one. */
  readonly predecessor: Predecessor | null;
}

/** A log that another one has succeeded. */
export interface Predecessor {
  readonly origin: string;
  /** Its last checkpoint that is known, a signed note. */
  readonly checkpoint: string;
  readonly keys: readonly PublishedKey[];
}

const RECORD_KEY = 'incarnations';

/**
 * All incarnations of a ledger, oldest first; undefined before the first start with a log.
 */
export function readIncarnations(store: LogReader): Promise<Incarnation[] | undefined> {
  return readJson(store, RECORD_KEY);
}

export function writeIncarnations(store: LogStore, incarnations: readonly Incarnation[]): Promise<void> {
  return store.putLog([jsonRecord(RECORD_KEY, incarnations)]);
}

const SIGNED_START_KEY = 'signed-start';

/**
 * Notes in the ledger which start signs from now on, before the anchor says so: a ledger that names an earlier start than the anchor
 * is an earlier state, however often it was started since.
 */
export async function noteSigningStart(store: LogStore & Pick<Ledger, 'identity'>): Promise<void> {
  if (store.identity !== undefined) await store.putLog([jsonRecord(SIGNED_START_KEY, store.identity.start)]);
}

/** The one that every ledger begins with. */
export function firstIncarnation(logName: string, nowMs: number): Incarnation {
  const begunAt = new Date(nowMs).toISOString();
  return { number: 0, origin: logName, firstSegment: 0, begunAt, predecessor: null };
}

/**
 * The log's records of one incarnation: each has keys of its own, so that no tile of an earlier log is
 * written over.
 */
export function logStoreOf<Store extends LogStore>(store: Store, number: number): Store {
  if (number === 0) return store;
  const prefix = `incarnation/${number}/`;
  const records: LogStore = {
    putLog: (puts, step, released) =>
      store.putLog(
        puts.map(({ key, value }) => ({ key: prefix + key, value })),
        step && { ...step, key: prefix + step.key },
        released,
      ),
    getLog: (key) => store.getLog(prefix + key),
  };
  return Object.assign(Object.create(store) as Store, records);
}

/** Origin of an incarnation's log, and the folder of its keys. */
export function logOf(keysPath: string, logName: string, number: number) {
  return number === 0
    ? { origin: logName, directory: keysPath }
    : { origin: `${logName}/${number}`, directory: join(keysPath, `incarnation-${number}`) };
}

/** The first leaf of a log that succeeds another: canonical JSON that names the last checkpoint before it. */
export function incarnationText({ number, origin, begunAt, predecessor }: Incarnation): string {
  assert(predecessor !== null, 'the first incarnation succeeds no other');
  return canonicalText({
    type: 'incarnation',
    version: 1,
    number,
    origin,
    begun_at: begunAt,
    predecessor: { origin: predecessor.origin, checkpoint: predecessor.checkpoint },
  });
}

/** What a copy of a folder does not have in common with it. */
export interface FolderIdentity {
  readonly inode: string;
  /** Nanoseconds since 1970; 0 where the file system keeps none. */
  readonly birthNs: string;
  /** A hash of the machine's id; null where there is none, as in most containers. */
  readonly machine: string | null;
}

export function folderIdentity(path: string): FolderIdentity {
  const { ino, birthtimeNs } = statSync(path, { bigint: true });
  return { inode: String(ino), birthNs: String(birthtimeNs), machine: machineDigest() };
}

function machineDigest(): string | null {
  try {
    const id = readFileSync('/etc/machine-id', 'utf8').trim();
    return id === '' ? null : sha256Hex(utf8Bytes(`qrn ledger folder\n${id}`));
  } catch {
    return null;
  }
}

/** What is kept beside the log's keys. */
export interface Anchor {
  readonly version: 1;
  readonly incarnation: number;
  readonly folder: FolderIdentity;
  /** As the start had it that signed last; absent where nodes share the ledger. */
  readonly ledger?: LedgerIdentity | undefined;
  /** The newest checkpoint that was signed, a signed note. */
  readonly checkpoint: string;
}

function anchorPath(keysPath: string): string {
  return join(keysPath, 'anchor.json');
}

/** Undefined when there is none. Throws for a file that is no anchor. */
export function readAnchor(keysPath: string): Anchor | undefined {
  const path = anchorPath(keysPath);
  if (!existsSync(path)) return undefined;
  const anchor = parsedObject(readFileSync(path, 'utf8')) as Partial<Anchor> | undefined;
  if (Number(anchor?.version) > 1) throw new KeyFileError(`${path} is of a later release`);
  if (anchor?.checkpoint !== undefined && anchor.folder !== undefined) return anchor as Anchor;
  throw new KeyFileError(`${path} is damaged: put it back from a backup`);
}

/**
 * Replaces the anchor as a whole. After a power cut there may be the one before, never a torn one: an anchor
 * that is behind its ledger holds nothing back.
 */
export function writeAnchor(keysPath: string, anchor: Anchor): void {
  const path = anchorPath(keysPath);
  const file = openSync(`${path}.draft`, 'w', 0o600);
  try {
    writeSync(file, `${JSON.stringify(anchor)}\n`);
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.draft`, path);
}

/**
 * `original`: go on. `new`: there is neither an anchor nor an incarnation yet. Anything else must not sign.
 */
export type IdentityCheck =
  | { readonly kind: 'original' }
  | { readonly kind: 'new' }
  | {
      /**
       * `moved`: whole, but in another folder than before. `behind`: the log of the ledger is not the one that was signed.
       */
      readonly kind: 'moved' | 'behind';
      /** A sentence for the operator. */
      readonly reason: string;
    };

/**
 * Compares the ledger in the folder with what is kept beside the keys. Reads only. With `isShared` other nodes write the
 * ledger too: one without an anchor joins them, and a later incarnation than its own was begun on one of them.
 */
export async function checkIdentity(
  store: LogStore & Pick<Ledger, 'identity'>,
  ledgerPath: string,
  anchor: Anchor | undefined,
  isShared = false,
): Promise<IdentityCheck> {
  const incarnations = await readIncarnations(store);
  const newest = incarnations?.at(-1);
  if (anchor === undefined) {
    if (incarnations === undefined) return { kind: 'new' };
    if (isShared) return { kind: 'original' };
    return behind('the file anchor.json, which says what was signed last, is missing from the keys folder');
  }
  const signed = readCheckpoint(anchor.checkpoint).checkpoint;
  const folder = folderIdentity(ledgerPath);
  const isSameFolder = JSON.stringify(folder) === JSON.stringify(anchor.folder);
  if (newest === undefined) {
    // perhaps the very first start ended between its first checkpoint and the note of its incarnation
    const isFirst = anchor.incarnation === 0 && isSameFolder;
    if (isFirst && (await historyFailure(store, signed)) === undefined) return { kind: 'new' };
    return behind(`it is empty, and a log of ${signed.size} leaves was signed`);
  }
  if (isShared && newest.number > anchor.incarnation && isSameFolder) return { kind: 'original' };
  if (newest.number !== anchor.incarnation)
    return behind(
      `it is incarnation ${newest.number}, and incarnation ${anchor.incarnation} was signed last`,
    );
  const failure = await historyFailure(logStoreOf(store, newest.number), signed);
  if (failure !== undefined) return behind(failure);
  const { identity } = store;
  if (identity !== undefined && anchor.ledger !== undefined) {
    if (identity.ledgerId !== anchor.ledger.ledgerId)
      return behind('it is another ledger, which began with the same log');
    const signedStart = (await readJson<number>(store, SIGNED_START_KEY)) ?? 0;
    if (signedStart < anchor.ledger.start)
      return behind(
        `it is from before start ${anchor.ledger.start}, which signed last: it is an earlier state`,
      );
  }
  if (isSameFolder) return { kind: 'original' };
  return { kind: 'moved', reason: `it is a copy: ${differences(anchor.folder, folder)}` };
}

function behind(reason: string): IdentityCheck {
  return { kind: 'behind', reason };
}

/** Why the stored log is not the one that was signed, or that with more. */
async function historyFailure(store: LogStore, signed: Checkpoint): Promise<string | undefined> {
  const state = await storedStateOf(store);
  if (state === undefined) return signed.size === 0 ? undefined : 'it has no log';
  const { size } = state;
  if (size < signed.size)
    return `its log has ${size} leaves, and one of ${signed.size} was signed: it is an earlier state`;
  const root = await rootOf(signed.size, nodeReader(store));
  return equalHashes(root, signed.root)
    ? undefined
    : `its first ${signed.size} leaves are not those that were signed: it is another history`;
}

function differences(was: FolderIdentity, is: FolderIdentity): string {
  const told: string[] = [];
  if (was.machine !== is.machine) told.push('the machine is another one');
  if (was.inode !== is.inode || was.birthNs !== is.birthNs) told.push('the folder was made anew');
  return told.join(' and ');
}
