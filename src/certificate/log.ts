import { assert } from '../core/assert.ts';
import { utf8Bytes } from '../core/bytes.ts';
import type { Clock } from '../core/clock.ts';
import { sha256 } from '../crypto/digest.ts';
import type { LogKeys, PublishedKey } from '../crypto/key-files.ts';
import {
  CompactRange,
  consistencyProof,
  type Hash,
  inclusionProof,
  leafHash,
  verifyInclusion,
} from '../crypto/merkle.ts';
import { formatProof, parseCheckpoint } from '../crypto/note.ts';
import type { Books, EntropyStore, LogStore } from '../ledger/ledger.ts';
import type { LotRecord, LotRevocation, SegmentRecord } from '../ledger/records.ts';
import type { CertificateIds } from './ids.ts';
import { type Incarnation, incarnationText, type Predecessor } from './incarnation.ts';
import { LeafHasher, revocationText } from './leaf.ts';
import {
  addSignatures,
  CertificateLogError,
  checkpointKey,
  isSignedBy,
  type LogState,
  loadState,
  noteOf,
  SealedRanges,
  type SequenceRange,
  signCheckpoint,
  stateRecords,
  textOf,
} from './log-state.ts';
import { nodeReader, paddedNumber, TileEdge, type TileRecord, tileOf } from './tiles.ts';

/**
 * The transparency log: one tree (RFC 9162 §2.1) over every certificate and every withdrawal of a lot.
 * Sealing takes committed segments, appends their leaves, signs a checkpoint over the whole tree and stores
 * all of it in one transaction: after a crash the log is at one checkpoint or at the next, never between.
 *
 * Records, by key:
 *   state              where the log stands, see StoredState
 *   checkpoint/<size>  the signed note of a checkpoint
 *   seal/<segment>     first leaf, number of leaves, size of the checkpoint that covers them
 *   revocation/<lot>   leaf of a withdrawal, its text, size of the checkpoint that covers it
 *   witnessed/count    how many checkpoints enough witnesses have cosigned
 *   witnessed/<n>      the n-th of them: its size and its signed note; sizes ascend
 *   tile/<level>/<n>   see tiles.ts
 */
export interface CertificateLogOptions {
  readonly store: LogStore & Pick<Books, 'segmentsFrom'> & Pick<EntropyStore, 'lot' | 'revocations'>;
  readonly ids: CertificateIds;
  /** The log's origin is the keys' name. */
  readonly keys: LogKeys;
  /** Every segment below it is committed or never will be: `nextSegment()` before the first front starts. */
  readonly settledBelow: number;
  readonly clock: Clock;
  /** The logs before this one, oldest first: what they proved is proven from them. */
  readonly earlier?: readonly LogStore[];
  /** Told every checkpoint before anybody else is; what it throws ends the batch. */
  readonly anchored?: (checkpoint: string) => void;
  /** How a log that succeeds another begins: its first leaf, and the segments that the one before it had. */
  readonly beginning?: { readonly leafText: string; readonly sealed: readonly SequenceRange[] };
  /** Signs nothing and stores nothing. */
  readonly readOnly?: true;
}

export interface LoggedRevocation {
  /** Canonical JSON: the leaf. */
  readonly text: string;
  /** c2sp.org/tlog-proof. */
  readonly proof: string;
}

/** A batch takes whole segments until it has this many leaves: 4 ms at 4 µs a leaf, tree and tiles too. */
export const BATCH_LEAVES = 1_024;
/** Segments read at a time. */
const SEGMENTS_PER_READ = 64;
/** Lots kept at hand. */
const LOTS_MAX = 1_024;

export class CertificateLog {
  readonly #store: CertificateLogOptions['store'];
  readonly #ids: CertificateIds;
  readonly #keys: LogKeys;
  readonly #settledBelow: number;
  readonly #clock: Clock;
  readonly #earlier: readonly LogStore[];
  readonly #anchored: (checkpoint: string) => void;
  readonly #isReadOnly: boolean;
  readonly #hasher: LeafHasher;
  readonly #lots = new Map<string, LotRecord>();
  readonly #loggedLots = new Set<string>();
  #state: LogState;
  /**
   * The outcome of the last write is not known: what is stored decides, and is read before the next batch.
   */
  #unknown = false;
  #sealing: Promise<unknown> = Promise.resolve();
  #witnessing: Promise<unknown> = Promise.resolve();

  private constructor(options: CertificateLogOptions, state: LogState) {
    this.#store = options.store;
    this.#ids = options.ids;
    this.#keys = options.keys;
    this.#settledBelow = options.settledBelow;
    this.#clock = options.clock;
    this.#earlier = (options.earlier ?? []).toReversed();
    this.#anchored = options.anchored ?? (() => {});
    this.#isReadOnly = options.readOnly === true;
    this.#hasher = new LeafHasher(options.ids);
    this.#state = state;
  }

  /**
   * Opens the stored log, or starts an empty one. Throws CertificateLogError when the two do not belong
   * together.
   */
  static async open(options: CertificateLogOptions): Promise<CertificateLog> {
    const { store, ids, keys, clock } = options;
    let state = await loadState(store, ids, keys);
    const nowS = secondsOf(clock.wallMs());
    if (options.readOnly === true) {
      if (state === undefined) throw new CertificateLogError('there is no log to read');
      return new CertificateLog(options, state);
    }
    if (state === undefined) {
      const range = new CompactRange(sha256);
      const edge = await TileEdge.load(store, 0);
      const { leafText, sealed = [] } = options.beginning ?? {};
      if (leafText !== undefined) {
        range.append(leafHash(sha256, utf8Bytes(leafText)), (level, index, hash) =>
          edge.add(level, index, hash),
        );
      }
      const checkpoint = signCheckpoint(keys, range, nowS);
      state = { range, edge, sealed: new SealedRanges(sealed), checkpoint, sealedAtS: nowS };
      await store.putLog([...edge.partialTiles(), ...stateRecords(state, ids, keys)]);
    } else if (!isSignedBy(state.checkpoint, keys.currentKeyId)) {
      // The key was rotated: what the old key vouched for, the new one does too, beside it.
      const sealedAtS = Math.max(nowS, state.sealedAtS);
      state = { ...state, checkpoint: addSignatures(state.checkpoint, keys, sealedAtS), sealedAtS };
      await store.putLog(stateRecords(state, ids, keys));
    }
    options.anchored?.(state.checkpoint);
    return new CertificateLog(options, state);
  }

  /** Leaves in the newest checkpoint. */
  get size(): number {
    return this.#state.range.size;
  }

  /** The newest checkpoint: a signed note (c2sp.org/tlog-checkpoint). */
  get checkpoint(): string {
    return this.#state.checkpoint;
  }

  /**
   * Logs a batch of what is committed and not logged yet; gives the number of leaves, 0 when there is nothing
   * to do.
   * Calls run one after the other. Rejects when the store does; calling again then goes on from what is
   * stored.
   */
  seal(): Promise<number> {
    const sealed = this.#sealing.then(() => this.#sealBatch());
    this.#sealing = sealed.catch(() => {}); // told to the caller; the next call must run all the same
    return sealed;
  }

  /**
   * Logs all that is committed: at the end of a service, so that no key of a later time has to sign for it.
   */
  async sealAll(): Promise<void> {
    while ((await this.seal()) > 0);
  }

  /**
   * Stores a checkpoint that enough witnesses have cosigned: from now on what it is the first to cover is
   * proven against it. Calls run one after the other; sizes ascend, and the same size replaces what was
   * stored of it.
   */
  addWitnessed(size: number, note: string): Promise<void> {
    const added = this.#witnessing.then(async () => {
      const count = await witnessedCount(this.#store);
      const last = count === 0 ? undefined : await readWitnessed(this.#store, count - 1);
      assert(last === undefined || last.size <= size, 'witnessed sizes ascend');
      const n = last?.size === size ? count - 1 : count;
      await this.#store.putLog([
        { key: witnessedKey(n), value: utf8Bytes(JSON.stringify({ size, note } satisfies Witnessed)) },
        { key: WITNESSED_COUNT_KEY, value: utf8Bytes(String(n + 1)) },
      ]);
    });
    this.#witnessing = added.catch(() => {}); // told to the caller
    return added;
  }

  /**
   * The proof of a certificate, undefined until it is logged: against the first checkpoint that covers it and
   * was witnessed, or before there is one against the checkpoint it was logged with.
   */
  async proofOf(segment: number, index: number): Promise<string | undefined> {
    for (const store of [this.#store, ...this.#earlier]) {
      const record = await store.getLog(sealKey(segment));
      if (record === undefined) continue;
      const { firstLeaf, count, size } = decodeSeal(record);
      if (index >= count) return undefined;
      const witnessed = await firstWitnessed(store, size);
      return await this.#proof(store, firstLeaf + index, witnessed?.size ?? size, witnessed?.note);
    }
    return undefined;
  }

  /** The leaf and the proof of a lot's withdrawal; undefined until it is logged. */
  async revocationOf(lotId: string): Promise<LoggedRevocation | undefined> {
    const record = await this.#store.getLog(revocationKey(lotId));
    if (record === undefined) return undefined;
    const { leaf, size, text } = JSON.parse(textOf(record)) as { leaf: number; size: number; text: string };
    return { text, proof: await this.#proof(this.#store, leaf, size) };
  }

  /** The hashes that lead from one size to another (RFC 9162 §2.1.4); `to` is at most the newest size. */
  async consistencyProof(from: number, to: number): Promise<Hash[]> {
    assert(to <= this.size, 'a proof ends at a size that the log has reached');
    return await consistencyProof(sha256, from, to, nodeReader(this.#store));
  }

  /**
   * A tile of the newest checkpoint's tree, whole or partial (c2sp.org/tlog-tiles); undefined when it is
   * empty.
   */
  async tile(level: number, index: number): Promise<Uint8Array | undefined> {
    return await tileOf(this.#store, level, index, this.size);
  }

  async #proof(store: LogStore, leaf: number, size: number, witnessed?: string): Promise<string> {
    const stored = witnessed === undefined ? await store.getLog(checkpointKey(size)) : undefined;
    const note = witnessed ?? (stored && textOf(stored));
    assert(note !== undefined, `the checkpoint of ${size} leaves is stored`);
    const checkpoint = parseCheckpoint(noteOf(note).text);
    const readNode = nodeReader(store);
    const path = await inclusionProof(sha256, leaf, size, readNode);
    const holds =
      checkpoint !== undefined &&
      verifyInclusion(sha256, await readNode(0, leaf), leaf, size, path, checkpoint.root);
    assert(holds, `the stored tree gives a proof of leaf ${leaf} that holds`);
    return formatProof({ index: leaf, path, note });
  }

  async #sealBatch(): Promise<number> {
    if (this.#isReadOnly) throw new CertificateLogError('this log can only be read');
    if (this.#unknown) {
      const stored = await loadState(this.#store, this.#ids, this.#keys);
      assert(stored !== undefined, 'an open log is stored');
      this.#anchored(stored.checkpoint);
      this.#state = stored;
      this.#unknown = false;
    }
    const revocations = await this.#newRevocations();
    const { segments, sealed } = await this.#newSegments();
    if (segments.length === 0 && revocations.length === 0) return 0;
    const { state, records } = this.#append(segments, revocations, sealed);
    const leaves = state.range.size - this.#state.range.size;
    try {
      await this.#store.putLog(records);
      this.#anchored(state.checkpoint);
    } catch (error) {
      this.#unknown = true;
      throw error;
    }
    for (const { lotId } of revocations) this.#loggedLots.add(lotId);
    this.#state = state;
    return leaves;
  }

  /** What the next batch writes, and where the log then stands. Hashes; stores nothing. */
  #append(
    segments: readonly SegmentRecord[],
    revocations: readonly LotRevocation[],
    sealed: SealedRanges,
  ): { state: LogState; records: TileRecord[] } {
    const range = new CompactRange(sha256, this.#state.range.size, this.#state.range.roots);
    const edge = this.#state.edge.copy();
    const tiles: TileRecord[] = [];
    const append = (leaf: Hash) =>
      range.append(leaf, (level, index, hash) => {
        const tile = edge.add(level, index, hash);
        if (tile !== undefined) tiles.push(tile);
      });
    const logged = revocations.map((revocation) => {
      const text = revocationText(revocation);
      const leaf = range.size;
      append(leafHash(sha256, utf8Bytes(text)));
      return { key: revocationKey(revocation.lotId), leaf, text };
    });
    // Time never goes back in the log, and no leaf is younger than the checkpoint it is sealed with, wherever
    // the clock is set.
    let latestMs = this.#clock.wallMs();
    for (const { atMs } of revocations) latestMs = Math.max(latestMs, atMs);
    const seals = segments.map((segment) => {
      const firstLeaf = range.size;
      const { hashes, latestMs: issuedAtMs } = this.#hasher.leavesOf(segment, (id) => this.#lotAtHand(id));
      for (const leaf of hashes) append(leaf);
      latestMs = Math.max(latestMs, issuedAtMs);
      return { key: sealKey(segment.sequence), firstLeaf, count: segment.count };
    });
    const { size } = range;
    const sealedAtS = Math.max(this.#state.sealedAtS, secondsOf(latestMs));
    const checkpoint = signCheckpoint(this.#keys, range, sealedAtS);
    const state = { range, edge, sealed, checkpoint, sealedAtS };
    const records = [
      ...tiles,
      ...edge.partialTiles(),
      ...seals.map(({ key, firstLeaf, count }) => ({ key, value: encodeSeal({ firstLeaf, count, size }) })),
      ...logged.map(({ key, leaf, text }) => ({
        key,
        value: utf8Bytes(JSON.stringify({ leaf, size, text })),
      })),
      ...stateRecords(state, this.#ids, this.#keys),
    ];
    return { state, records };
  }

  /**
   * Committed segments that are not sealed, about a batch of them, and the ranges as they are when those are.
   */
  async #newSegments(): Promise<{ segments: SegmentRecord[]; sealed: SealedRanges }> {
    const sealed = new SealedRanges(this.#state.sealed.ranges);
    const segments: SegmentRecord[] = [];
    let leaves = 0;
    for (const gap of sealed.gaps()) {
      // Numbers below it that are not there never will be.
      const dead = Math.min(gap.before, this.#settledBelow);
      let { from } = gap;
      let found: SegmentRecord[] = [];
      do {
        if (leaves >= BATCH_LEAVES) return { segments, sealed };
        found = await this.#segmentsIn(from, gap.before);
        for (const segment of found) {
          if (leaves >= BATCH_LEAVES) return { segments, sealed };
          await this.#prepareLots(segment);
          segments.push(segment);
          leaves += segment.count;
          sealed.add(from, Math.min(segment.sequence, dead));
          sealed.add(segment.sequence, segment.sequence + 1);
          from = segment.sequence + 1;
        }
      } while (found.length > 0);
      sealed.add(from, dead);
    }
    return { segments, sealed };
  }

  /** Looks first whether the gap has a segment at all: most have none, and behind it stand sealed ones. */
  async #segmentsIn(from: number, before: number): Promise<SegmentRecord[]> {
    const [next] = await this.#store.segmentsFrom(from, 1);
    if (next === undefined || next.sequence >= before) return [];
    const segments = await this.#store.segmentsFrom(from, SEGMENTS_PER_READ);
    return segments.filter((segment) => segment.sequence < before);
  }

  async #newRevocations(): Promise<LotRevocation[]> {
    const fresh: LotRevocation[] = [];
    for (const revocation of await this.#store.revocations()) {
      if (this.#loggedLots.has(revocation.lotId)) continue;
      const logged = await this.#store.getLog(revocationKey(revocation.lotId));
      if (logged === undefined) fresh.push(revocation);
      else this.#loggedLots.add(revocation.lotId);
    }
    return fresh;
  }

  async #prepareLots(segment: SegmentRecord): Promise<void> {
    if (this.#lots.size > LOTS_MAX) this.#lots.clear();
    for (const id of segment.sources.flatMap((source) => source.lotIds)) {
      if (this.#lots.has(id)) continue;
      const lot = await this.#store.lot(id);
      if (lot === undefined)
        throw new CertificateLogError(`segment ${segment.sequence} names the unknown lot ${id}`);
      this.#lots.set(id, lot);
    }
  }

  #lotAtHand(id: string): LotRecord {
    const lot = this.#lots.get(id);
    assert(lot !== undefined, 'lots are read before their segment is hashed');
    return lot;
  }
}

/** What /.well-known/qrn-keys.json says: every key that ever signed for this log. */
export interface KeysDocument {
  readonly origin: string;
  readonly current_key_id: string;
  readonly keys: readonly PublishedKey[];
  /** The logs that this one has succeeded, oldest first; absent when there is none. */
  readonly predecessors?: readonly Predecessor[];
  /**
   * First leaf of this log: canonical JSON that names the last checkpoint before it; absent when there is
   * none.
   */
  readonly first_leaf?: string;
}

export function keysDocument(keys: LogKeys, incarnations: readonly Incarnation[] = []): KeysDocument {
  const predecessors = incarnations.flatMap(({ predecessor }) => predecessor ?? []);
  const last = incarnations.at(-1);
  return {
    origin: keys.name,
    current_key_id: keys.currentKeyId,
    keys: keys.published,
    ...(last === undefined || last.predecessor === null
      ? {}
      : { predecessors, first_leaf: incarnationText(last) }),
  };
}

interface Witnessed {
  readonly size: number;
  readonly note: string;
}

const WITNESSED_COUNT_KEY = 'witnessed/count';

function witnessedKey(n: number): string {
  return `witnessed/${paddedNumber(n)}`;
}

async function witnessedCount(store: LogStore): Promise<number> {
  const record = await store.getLog(WITNESSED_COUNT_KEY);
  return record === undefined ? 0 : Number(textOf(record));
}

async function readWitnessed(store: LogStore, n: number): Promise<Witnessed> {
  const record = await store.getLog(witnessedKey(n));
  assert(record !== undefined, `the witnessed checkpoint ${n} is stored`);
  return JSON.parse(textOf(record)) as Witnessed;
}

/** The smallest witnessed checkpoint of at least `size` leaves, by halving: sizes ascend. */
async function firstWitnessed(store: LogStore, size: number): Promise<Witnessed | undefined> {
  let from = 0;
  let before = await witnessedCount(store);
  let found: Witnessed | undefined;
  while (from < before) {
    const middle = Math.floor((from + before) / 2);
    const each = await readWitnessed(store, middle);
    if (each.size >= size) {
      found = each;
      before = middle;
    } else from = middle + 1;
  }
  return found;
}

function sealKey(segment: number): string {
  return `seal/${paddedNumber(segment)}`;
}

function revocationKey(lotId: string): string {
  return `revocation/${lotId}`;
}

/** Where a segment's leaves are. Numbers up to 2^53 as float64, big-endian. */
interface Seal {
  readonly firstLeaf: number;
  readonly count: number;
  readonly size: number;
}

function encodeSeal({ firstLeaf, count, size }: Seal): Uint8Array {
  const record = new Uint8Array(24);
  const view = new DataView(record.buffer);
  view.setFloat64(0, firstLeaf);
  view.setFloat64(8, count);
  view.setFloat64(16, size);
  return record;
}

function decodeSeal(record: Uint8Array): Seal {
  assert(record.length === 24, 'a seal has 24 bytes');
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  return { firstLeaf: view.getFloat64(0), count: view.getFloat64(8), size: view.getFloat64(16) };
}

function secondsOf(atMs: number): number {
  return Math.floor(atMs / 1000);
}
