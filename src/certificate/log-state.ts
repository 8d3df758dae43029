import { utf8Bytes } from '../core/bytes.ts';
import type { LogKeys } from '../crypto/key-files.ts';
import { CompactRange, equalHashes, nodesCovering } from '../crypto/merkle.ts';
import {
  type Checkpoint,
  checkpointText,
  formatNote,
  type Note,
  parseNote,
  plainSignatures,
} from '../crypto/note.ts';
import { noteSignature } from '../crypto/signing.ts';
import type { Books, LogRecord, LogStore, ReleasedLots } from '../ledger/ledger.ts';
import type { SegmentRecord } from '../ledger/records.ts';
import type { CertificateIds } from './ids.ts';
import { jsonRecord, type LogReader, paddedNumber, readJson, textOf } from './log-records.ts';
import { type PublicState, withdrawalTree } from './public-leaves.ts';
import { readCheckpoint, readSignatures } from './signed-checkpoint.ts';
import { nodeReader, TileEdge } from './tiles.ts';
import { found } from './verdict.ts';

/**
 * The state of the log, stored and in memory: the growing edge of its tree, and its newest checkpoint. The ledger knows
 * which segments the log has sealed (Books.unsealed).
 *
 * The log signs each checkpoint twice with one key: with the plain signature of c2sp.org/signed-note, and with a
 * cosignature of c2sp.org/tlog-cosignature, which also says when it signed. Readers that know only the first ignore the
 * second.
 */

/**
 * The stored log does not fit the keys or the configuration, or the store returns records that contradict each other.
 */
export class CertificateLogError extends Error {
  override name = 'CertificateLogError';
}

export const STATE_KEY = 'state';
/** Segments that share a record: a large batch writes few records, a small one rewrites at most about 4 KB. */
const SEALS_PER_RECORD = 64;

/** The stored part of LogState. The growing edge of the tree is read from the stored tiles. */
interface StoredState {
  readonly version: 1;
  readonly origin: string;
  /**
   * Fingerprint of the key of the certificate ids. With another key the log would certify ids that no answer carried.
   */
  readonly ids: string;
  readonly size: number;
  /** The newest checkpoint, a signed note. */
  readonly checkpoint: string;
  readonly published: PublicState;
}

export function storedStateOf(store: LogReader): Promise<StoredState | undefined> {
  return readJson(store, STATE_KEY);
}

/** The state of the log in memory. It is immutable: each batch makes a new one. */
export interface LogState {
  readonly range: CompactRange;
  readonly edge: TileEdge;
  readonly checkpoint: string;
  /** When the newest checkpoint was signed, seconds since 1970. */
  readonly sealedAtS: number;
  readonly published: PublicState;
  /** The tree over the leaves of all withdrawals. */
  readonly withdrawals: CompactRange;
  /** The stored record of this state. The next batch is stored only if the store still holds this record (LogStep). */
  readonly record: Uint8Array | undefined;
}

/** Returns a checkpoint over the range, signed by the log's current key, once plainly and once with the time. */
export function signCheckpoint(keys: LogKeys, range: CompactRange, sealedAtS: number): string {
  const text = checkpointText({ origin: keys.name, size: range.size, root: range.root() });
  return formatNote({ text, signatures: signaturesOf(text, keys, sealedAtS) });
}

/** Returns the checkpoint with the current key's signatures added. Called after a rotation of the key. */
export function addSignatures(checkpoint: string, keys: LogKeys, sealedAtS: number): string {
  const { text, signatures } = noteOf(checkpoint);
  return formatNote({ text, signatures: [...signatures, ...signaturesOf(text, keys, sealedAtS)] });
}

function signaturesOf(text: string, { name, current }: LogKeys, sealedAtS: number): Note['signatures'] {
  return [noteSignature(name, current, text), noteSignature(name, current, text, sealedAtS)];
}

/** Returns the record of a checkpoint that the new and the previous key signed. Followers accept a key by it. */
export function voucherRecord({ checkpoint }: LogState, { currentKeyId }: LogKeys): LogRecord {
  return { key: voucherKey(currentKeyId), value: utf8Bytes(checkpoint) };
}

/** A checkpoint that a key and its predecessor both signed. */
export interface Voucher {
  readonly note: string;
  /** When it was signed last, seconds since 1970. */
  readonly sealedAtS: number;
}

/** Returns the vouchers by the id of the newer key. The first key of a log has none. */
export async function readVouchers(
  store: LogReader,
  keys: Pick<LogKeys, 'name' | 'published'>,
): Promise<ReadonlyMap<string, Voucher>> {
  const vouchers = new Map<string, Voucher>();
  for (const { key_id: keyId } of keys.published) {
    const record = await store.getLog(voucherKey(keyId));
    if (record === undefined) continue;
    const note = textOf(record);
    vouchers.set(keyId, { note, sealedAtS: ownCheckpoint(note, keys).sealedAtS });
  }
  return vouchers;
}

function voucherKey(keyId: string): string {
  return `voucher/${keyId}`;
}

export function isSignedBy(checkpoint: string, keyId: string): boolean {
  return noteOf(checkpoint).signatures.some((signature) => signature.keyId === keyId);
}

export function noteOf(checkpoint: string): Note {
  const note = parseNote(checkpoint);
  if (note === undefined) throw new CertificateLogError('the stored checkpoint is not a signed note');
  return note;
}

/** Returns the state together with its stored record. */
export function recorded(
  state: Omit<LogState, 'record'>,
  ids: CertificateIds,
  keys: LogKeys,
): LogState & { readonly record: Uint8Array } {
  const { range, checkpoint, published } = state;
  const stored: StoredState = {
    version: 1,
    origin: keys.name,
    ids: ids.fingerprint,
    size: range.size,
    checkpoint,
    published,
  };
  return { ...state, record: utf8Bytes(JSON.stringify(stored)) };
}

/**
 * Stores a batch and the state after it in one transaction, provided that the stored state is still `before`. If
 * another writer of the log was faster, rejects with `conflict` and stores nothing.
 */
export function putState(
  store: LogStore,
  before: LogState | undefined,
  after: ReturnType<typeof recorded>,
  batch: {
    readonly records: readonly LogRecord[];
    readonly sealed: readonly number[];
    readonly released?: ReleasedLots;
  },
): Promise<void> {
  const { range, checkpoint, record } = after;
  const records = [
    ...batch.records,
    { key: checkpointKey(range.size), value: utf8Bytes(checkpoint) },
    { key: STATE_KEY, value: record },
  ];
  const step = { key: STATE_KEY, expected: before?.record, sealed: batch.sealed };
  return store.putLog(records, step, batch.released);
}

/**
 * Marks the segments that the previous log did not seal as sealed, without giving them leaves: a new key must not sign
 * for answers that are older than the key.
 */
export async function sealWithoutLeaves(
  store: LogStore & Pick<Books, 'unsealed'>,
  first: ReturnType<typeof recorded>,
  batchLeaves: number,
): Promise<void> {
  for (;;) {
    const left = await store.unsealed(batchLeaves);
    if (left.length === 0) return;
    await putState(store, first, first, { records: [], sealed: left.map(({ sequence }) => sequence) });
  }
}

/** Returns the stored state, checked against the keys, the tiles and its checkpoint; undefined if nothing is stored. */
export async function loadState(
  store: LogStore,
  ids: CertificateIds,
  keys: LogKeys,
): Promise<LogState | undefined> {
  const record = await store.getLog(STATE_KEY);
  if (record === undefined) return undefined;
  const stored = JSON.parse(textOf(record)) as StoredState;
  if (stored.version !== 1 || typeof stored.published?.withdrawals !== 'number')
    throw new CertificateLogError(
      `the log was stored by another release (version ${stored.version}), and this program reads only its own: use that release, or a new data folder`,
    );
  if (stored.origin !== keys.name) {
    throw new CertificateLogError(
      `the stored log has the name ${stored.origin}, not ${keys.name}: set QRN_LOG_NAME to the name that the log began with`,
    );
  }
  if (stored.ids !== ids.fingerprint) {
    throw new CertificateLogError(
      'certificate-ids in the keys folder is not the key that this log was written with: put that key back from a copy of the folder',
    );
  }
  const readNode = nodeReader(store);
  const roots = nodesCovering(0, stored.size).map(({ level, index }) => readNode(level, index));
  const range = new CompactRange(stored.size, await Promise.all(roots));
  assertKeysAreNewest(stored.checkpoint, keys);
  const { checkpoint, sealedAtS } = ownCheckpoint(stored.checkpoint, keys);
  if (checkpoint.size !== range.size || !equalHashes(checkpoint.root, range.root()))
    throw new CertificateLogError(
      'the stored tiles are not those of the tree that was signed: restore a backup',
    );
  return {
    range,
    edge: await TileEdge.load(store, stored.size),
    checkpoint: stored.checkpoint,
    sealedAtS,
    published: stored.published,
    withdrawals: await withdrawalTree(store, stored.published.withdrawals),
    record,
  };
}

/** Parses a checkpoint of this log and checks its signatures. `sealedAtS` is the latest time that they state. */
function ownCheckpoint(
  note: string,
  { name, published }: Pick<LogKeys, 'name' | 'published'>,
): { readonly checkpoint: Checkpoint; readonly sealedAtS: number } {
  const read = found(() => readCheckpoint(note));
  const signed = found(() => readSignatures({ origin: name, keys: published }, read()));
  if (read.known === undefined || signed.known === undefined)
    throw new CertificateLogError(`the stored checkpoint is not signed by this log: ${signed.refusal}`);
  const sealedAtS = Math.max(...signed.known.map(({ atS }) => atS));
  return { checkpoint: read.known.checkpoint, sealedAtS };
}

/** Throws if the log was signed with a newer key: verifiers would refuse what this process's retired key signs. */
function assertKeysAreNewest(checkpoint: string, keys: LogKeys): void {
  const isUnknown = ({ name, keyId }: Note['signatures'][number]) =>
    name === keys.name && keys.published.every((key) => key.key_id !== keyId);
  const unknown = plainSignatures(noteOf(checkpoint)).find(isUnknown);
  if (unknown !== undefined)
    throw new CertificateLogError(
      `the log is signed with the key ${unknown.keyId}, which this process does not have, so it signs nothing: copy the folder ` +
        'keys from the node on which qrn log rotate-key was run, and restart',
    );
}

export function checkpointKey(size: number): string {
  return `checkpoint/${paddedNumber(size)}`;
}

/** Returns the key of the record that holds the seals of this segment and its neighbours. */
function sealsKey(segment: number): string {
  return `seals/${paddedNumber(Math.floor(segment / SEALS_PER_RECORD))}`;
}

/** Where the log holds the leaves of some consecutive segments. The leaves are consecutive too. */
interface Seal {
  /** Sequence of the first segment. */
  readonly segment: number;
  /** Index in the log of the first segment's first leaf. */
  readonly firstLeaf: number;
  /** How many leaves each segment has. */
  readonly counts: number[];
  /** Leaves of the checkpoint that the segments were sealed with. */
  readonly size: number;
}

/**
 * Returns the records that note the seals of these segments, with the seals that those records held before. The leaves
 * of the segments begin at index `firstLeaf` of the log, and their checkpoint has `size` leaves.
 */
export function sealRecords(
  store: LogReader,
  segments: readonly Pick<SegmentRecord, 'sequence' | 'count'>[],
  firstLeaf: number,
  size: number,
): Promise<LogRecord[]> {
  const seals: Seal[] = [];
  let leaf = firstLeaf;
  for (const { sequence, count } of segments) {
    const last = seals.at(-1);
    const isNext = last !== undefined && sequence === last.segment + last.counts.length;
    if (isNext && sequence % SEALS_PER_RECORD !== 0) last.counts.push(count);
    else seals.push({ segment: sequence, firstLeaf: leaf, counts: [count], size });
    leaf += count;
  }
  const records = [...Map.groupBy(seals, ({ segment }) => sealsKey(segment))];
  return Promise.all(
    records.map(async ([key, added]) => {
      return jsonRecord(key, [...((await readJson<Seal[]>(store, key)) ?? []), ...added]);
    }),
  );
}

/** Returns an answer's leaf index and the size of the checkpoint it was sealed with; undefined if not sealed. */
export async function sealedLeaf(
  store: LogReader,
  segment: number,
  index: number,
): Promise<{ readonly leaf: number; readonly size: number } | undefined> {
  for (const seal of (await readJson<Seal[]>(store, sealsKey(segment))) ?? []) {
    const count = seal.counts[segment - seal.segment];
    if (count === undefined || index >= count) continue;
    const before = seal.counts.slice(0, segment - seal.segment).reduce((sum, each) => sum + each, 0);
    return { leaf: seal.firstLeaf + before + index, size: seal.size };
  }
  return undefined;
}
