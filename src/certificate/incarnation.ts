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
 * Incarnations of a ledger. A ledger that was restored, copied or set back would issue certificate ids that are already
 * taken, sign a second history of its log, and deliver blocks a second time. To notice that, the service keeps an
 * anchor beside the log's keys, outside the ledger: the newest signed checkpoint, and what identifies the ledger's
 * folder. If it finds at the start another folder, a smaller log or another history, it signs nothing until the
 * operator says what happened. `qrn ledger restore` begins a new incarnation, with a number of its own in the ids and a
 * log of its own that names its predecessor. `qrn ledger moved` says that the folder is the original in a new place.
 *
 * If a whole disk is set back, with keys and anchor, nothing on the disk shows it. Only witnesses notice.
 */
export interface Incarnation {
  /** 0 for the first incarnation. It is part of every certificate id (ids.ts). */
  readonly number: number;
  /** The origin of the incarnation's log. */
  readonly origin: string;
  /** Sequence of the first segment that belongs to the incarnation. */
  readonly firstSegment: number;
  /** ISO 8601. */
  readonly begunAt: string;
  /** The previous log, as far as it is known; null for the first incarnation. */
  readonly predecessor: Predecessor | null;
}

/** A log that another one has succeeded. */
export interface Predecessor {
  readonly origin: string;
  /** The last known checkpoint of the log, a signed note. */
  readonly checkpoint: string;
  readonly keys: readonly PublishedKey[];
}

const RECORD_KEY = 'incarnations';

/** Returns all incarnations of a ledger, oldest first; undefined before the first start with a log. */
export function readIncarnations(store: LogReader): Promise<Incarnation[] | undefined> {
  return readJson(store, RECORD_KEY);
}

/** Resolves to the stored state of the newest incarnation's log; undefined before the first start with a log. */
export async function newestStateOf(store: LogStore): ReturnType<typeof storedStateOf> {
  const newest = (await readIncarnations(store))?.at(-1);
  return storedStateOf(logStoreOf(store, newest?.number ?? 0));
}

export function writeIncarnations(store: LogStore, incarnations: readonly Incarnation[]): Promise<void> {
  return store.putLog([jsonRecord(RECORD_KEY, incarnations)]);
}

const SIGNED_START_KEY = 'signed-start';

/**
 * Notes in the ledger the number of the start that signs from now on. Called before the anchor is written with that
 * number: so a ledger that notes an earlier start than the anchor is an earlier state, however often it was started
 * since.
 */
export async function noteSigningStart(store: LogStore & Pick<Ledger, 'identity'>): Promise<void> {
  if (store.identity !== undefined) await store.putLog([jsonRecord(SIGNED_START_KEY, store.identity.start)]);
}

/** Returns the incarnation that every ledger begins with. */
export function firstIncarnation(logName: string, nowMs: number): Incarnation {
  const begunAt = new Date(nowMs).toISOString();
  return { number: 0, origin: logName, firstSegment: 0, begunAt, predecessor: null };
}

/**
 * Returns a store for the log of one incarnation. It prefixes the keys, so that no log overwrites the tiles of an
 * earlier one.
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

/** Returns the origin of an incarnation's log, and the folder of its keys. */
export function logOf(keysPath: string, logName: string, number: number) {
  return number === 0
    ? { origin: logName, directory: keysPath }
    : { origin: `${logName}/${number}`, directory: join(keysPath, `incarnation-${number}`) };
}

/** Returns the first leaf of a log that succeeds another: canonical JSON with the last known checkpoint. */
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

/** Properties of a folder that a copy of it does not share. */
export interface FolderIdentity {
  readonly inode: string;
  /** When the folder was made, nanoseconds since 1970; 0 if the file system does not record it. */
  readonly birthNs: string;
  /** A hash of /etc/machine-id; null without that file, as in most containers. */
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

/** The file anchor.json, which the service keeps beside the log's keys. */
export interface Anchor {
  readonly version: 1;
  readonly incarnation: number;
  readonly folder: FolderIdentity;
  /** The ledger's identity at the start that signed last; absent if several nodes share the ledger. */
  readonly ledger?: LedgerIdentity | undefined;
  /** The newest checkpoint that was signed, a signed note. */
  readonly checkpoint: string;
}

function anchorPath(keysPath: string): string {
  return join(keysPath, 'anchor.json');
}

/** Returns the anchor; undefined if there is none. Throws KeyFileError for a file that is not an anchor. */
export function readAnchor(keysPath: string): Anchor | undefined {
  const path = anchorPath(keysPath);
  if (!existsSync(path)) return undefined;
  const anchor = parsedObject(readFileSync(path, 'utf8')) as Partial<Anchor> | undefined;
  if (Number(anchor?.version) > 1) throw new KeyFileError(`${path} is of a later release`);
  if (anchor?.checkpoint !== undefined && anchor.folder !== undefined) return anchor as Anchor;
  throw new KeyFileError(`${path} is damaged: put it back from a backup`);
}

/**
 * Replaces the anchor. After a power cut the file holds either this anchor or the previous one, never a part. The
 * previous one is harmless: a ledger with more leaves than its anchor passes the check.
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

/** `original`: the ledger may sign. `new`: it may, and has no incarnation yet. Every other kind must not sign. */
export type IdentityCheck =
  | { readonly kind: 'original' }
  | { readonly kind: 'new' }
  | {
      /**
       * `moved`: the log is the one that was signed, but the folder is another. `behind`: the log is not the one that
       * was signed.
       */
      readonly kind: 'moved' | 'behind';
      /** A sentence for the operator. */
      readonly reason: string;
    };

/**
 * Compares the ledger in the folder with the anchor. Writes nothing. With `isShared` other nodes write the same ledger:
 * then a node without an anchor joins them, and a later incarnation than the anchor's is one that another node began.
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
    // The very first start may have crashed after its first checkpoint and before it noted its incarnation.
    const isFirst = anchor.incarnation === 0 && isSameFolder;
    if (isFirst && (await historyFailure(store, signed)) === undefined) return { kind: 'new' };
    return behind(`it is empty, but a log of ${signed.size} leaves was signed`);
  }
  if (isShared && newest.number > anchor.incarnation && isSameFolder) return { kind: 'original' };
  if (newest.number !== anchor.incarnation)
    return behind(
      `it is incarnation ${newest.number}, but incarnation ${anchor.incarnation} was signed last`,
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

/** Returns why the stored log does not begin with the tree that was signed; undefined if it does. */
async function historyFailure(store: LogStore, signed: Checkpoint): Promise<string | undefined> {
  const state = await storedStateOf(store);
  if (state === undefined) return signed.size === 0 ? undefined : 'it has no log';
  const { size } = state;
  if (size < signed.size)
    return `its log has ${size} leaves, but a tree of ${signed.size} leaves was signed: it is an earlier state`;
  const root = await rootOf(signed.size, nodeReader(store));
  return equalHashes(root, signed.root)
    ? undefined
    : `its first ${signed.size} leaves are not those that were signed: it is another history`;
}

function differences(was: FolderIdentity, is: FolderIdentity): string {
  const told: string[] = [];
  if (was.machine !== is.machine) told.push('the machine is a different one');
  if (was.inode !== is.inode || was.birthNs !== is.birthNs) told.push('the folder was created again');
  return told.join(' and ');
}
