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
import {
  loadPublicState,
  type PublicState,
  type StoredPublicState,
  storedPublicState,
} from './public-leaves.ts';
import { readCheckpoint, readSignatures } from './signed-checkpoint.ts';
import { nodeReader, TileEdge } from './tiles.ts';
import { found } from './verdict.ts';

/**
 * Where the log stands, stored and in memory: its tree's growing edge, and its newest checkpoint. The ledger knows which
 * segments are in it (Books.unsealed).
 *
 * The log signs a checkpoint twice with one key: the plain signature of c2sp.org/signed-note, and a
 * cosignature of c2sp.org/tlog-cosignature, which also says when. Readers that know only the first one ignore
 * the other.
 */

/**
 * What is stored and what is configured do not belong together, or the store gives back what was never
 * stored.
 */
export class CertificateLogError extends Error {
  override name = 'CertificateLogError';
}

export const STATE_KEY = 'state';
/** A batch of answers alone writes a few of these, and a single one no more than a page. */
const SEALS_PER_RECORD = 64;

/** The growing edge of the tree is that of the stored tiles. */
interface StoredState {
  readonly version: 1;
  readonly origin: string;
  /**
   * Fingerprint of the certificate ids: with another key the log would speak of ids that nobody was given.
   */
  readonly ids: string;
  readonly size: number;
  /** The newest checkpoint, a signed note. */
  readonly checkpoint: string;
  readonly published: StoredPublicState;
}

export function storedStateOf(store: LogReader): Promise<StoredState | undefined> {
  return readJson(store, STATE_KEY);
}

/** Where the log stands, in memory. Never changed: a batch makes the next one. */
export interface LogState {
  readonly range: CompactRange;
  readonly edge: TileEdge;
  readonly checkpoint: string;
  /** When the newest checkpoint was signed, seconds since 1970. */
  readonly sealedAtS: number;
  readonly published: PublicState;
  /** As it is stored: a batch is put only where this is found (LogStep). */
  readonly record: Uint8Array | undefined;
}

/** A checkpoint over the range, signed by the log's current key, with the time. */
export function signCheckpoint(keys: LogKeys, range: CompactRange, sealedAtS: number): string {
  const text = checkpointText({ origin: keys.name, size: range.size, root: range.root() });
  return formatNote({ text, signatures: signaturesOf(text, keys, sealedAtS) });
}

/** The same checkpoint with the current key's signatures added: after a rotation. */
export function addSignatures(checkpoint: string, keys: LogKeys, sealedAtS: number): string {
  const { text, signatures } = noteOf(checkpoint);
  return formatNote({ text, signatures: [...signatures, ...signaturesOf(text, keys, sealedAtS)] });
}

function signaturesOf(text: string, { name, current }: LogKeys, sealedAtS: number): Note['signatures'] {
  return [noteSignature(name, current, text), noteSignature(name, current, text, sealedAtS)];
}

/** The checkpoint that the new key and the one before it have signed, for whoever missed it. */
export function voucherRecord({ checkpoint }: LogState, { currentKeyId }: LogKeys): LogRecord {
  return { key: voucherKey(currentKeyId), value: utf8Bytes(checkpoint) };
}

/** A checkpoint on which a key was vouched for, and when it was signed: seconds since 1970. */
export interface Voucher {
  readonly note: string;
  readonly sealedAtS: number;
}

/** Those checkpoints by the id of the new key; the first key of a log has none. */
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

/** The state with its record. */
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
    published: storedPublicState(published),
  };
  return { ...state, record: utf8Bytes(JSON.stringify(stored)) };
}

/**
 * Stores a batch with the state that it leads to, in one transaction, where the log still stands at `before`. Rejects
 * with `conflict`, and stores nothing, when another writer of the log was faster.
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
 * Segments that were not logged are left to the log before this one: no key signs for what is older than itself.
 */
export async function leaveUnsealed(
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

/**
 * The stored state, checked against the keys, the tiles and its own checkpoint; undefined when nothing is
 * stored.
 */
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
      `the log was stored by another build (version ${stored.version}), and this program reads its own alone: begin with a new data folder`,
    );
  if (stored.origin !== keys.name) {
    throw new CertificateLogError(`the stored log is ${stored.origin}; ${keys.name} would be another one`);
  }
  if (stored.ids !== ids.fingerprint) {
    throw new CertificateLogError(
      'certificate-ids in the keys folder is not the key that this log was written with: put that back from a copy of the folder',
    );
  }
  const readNode = nodeReader(store);
  const roots = nodesCovering(0, stored.size).map(({ level, index }) => readNode(level, index));
  const range = new CompactRange(stored.size, await Promise.all(roots));
  assertKeysAreNewest(stored.checkpoint, keys);
  const { checkpoint, sealedAtS } = ownCheckpoint(stored.checkpoint, keys);
  if (checkpoint.size !== range.size || !equalHashes(checkpoint.root, range.root()))
    throw new CertificateLogError('the stored tiles are not those of the tree that was signed');
  return {
    range,
    edge: await TileEdge.load(store, stored.size),
    checkpoint: stored.checkpoint,
    sealedAtS,
    published: await loadPublicState(store, stored.published),
    record,
  };
}

/** A checkpoint that this log has signed, and the latest time that it did. */
function ownCheckpoint(
  note: string,
  { name, published }: Pick<LogKeys, 'name' | 'published'>,
): { readonly checkpoint: Checkpoint; readonly sealedAtS: number } {
  const read = found(() => readCheckpoint(note));
  const signed = found(() => readSignatures({ origin: name, keys: published }, read()));
  if (read.known === undefined || signed.known === undefined)
    throw new CertificateLogError(`the stored checkpoint is not one of this log: ${signed.refusal}`);
  const sealedAtS = Math.max(...signed.known.map(({ atS }) => atS));
  return { checkpoint: read.known.checkpoint, sealedAtS };
}

/** What an older key signs on top of a newer one is refused by whoever verifies it: that key is retired. */
function assertKeysAreNewest(checkpoint: string, keys: LogKeys): void {
  const isUnknown = ({ name, keyId }: Note['signatures'][number]) =>
    name === keys.name && keys.published.every((key) => key.key_id !== keyId);
  const unknown = plainSignatures(noteOf(checkpoint)).find(isUnknown);
  if (unknown !== undefined)
    throw new CertificateLogError(
      `the log is signed with the key ${unknown.keyId}, which is not among those of this process, so it signs nothing: put ` +
        'the newest folder keys in place, which is that of the node on which qrn log rotate-key was run, and restart',
    );
}

export function checkpointKey(size: number): string {
  return `checkpoint/${paddedNumber(size)}`;
}

/** The record of the seals of segments whose numbers are near each other. */
function sealsKey(segment: number): string {
  return `seals/${paddedNumber(Math.floor(segment / SEALS_PER_RECORD))}`;
}

/** Where the leaves of segments are whose numbers follow each other: one behind the other, in the checkpoint of `size` leaves. */
interface Seal {
  /** The first of them. */
  readonly segment: number;
  readonly firstLeaf: number;
  /** The leaves of each. */
  readonly counts: number[];
  readonly size: number;
}

/** The records of segments whose leaves begin with this one, together with what was sealed before. */
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

/** The leaf of an answer, and the size of the checkpoint that it was sealed with; undefined where it was not. */
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
