import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert } from '../core/assert.ts';
import { utf8Bytes } from '../core/bytes.ts';
import type { Clock } from '../core/clock.ts';
import { inOrder } from '../core/in-order.ts';
import { nodeHashesByFour } from '../crypto/hash-kernel.ts';
import type { LogKeys } from '../crypto/key-files.ts';
import {
  CompactRange,
  consistencyProof,
  type Hash,
  inclusionProof,
  leafHash,
  verifyInclusion,
} from '../crypto/merkle.ts';
import { formatProof } from '../crypto/note.ts';
import type { WaitingDrawLeaf } from '../ledger/draw-records.ts';
import type { Books, DrawStore, EntropyStore, LogRecord, LogStore } from '../ledger/ledger.ts';
import type { LotRecord, LotRevocation, SegmentRecord } from '../ledger/records.ts';
import type { CertificateIds } from './ids.ts';
import { LeafHasher, revocationText } from './leaf.ts';
import { textOf } from './log-records.ts';
import {
  addSignatures,
  CertificateLogError,
  checkpointKey,
  isSignedBy,
  type LogState,
  leaveUnsealed,
  loadState,
  putState,
  recorded,
  STATE_KEY,
  sealedLeaf,
  sealRecords,
  signCheckpoint,
  voucherRecord,
} from './log-state.ts';
import { type CertifiedLot, CertifiedLots, certifiedLot, statementText } from './lot-leaf.ts';
import {
  drawLeafKey,
  lotLeafKey,
  namedLeaf,
  noPublicLeaves,
  type ProvenLeaf,
  PublicBatch,
  type PublicLeaf,
  publicLeavesFrom,
  readStatement,
  revocationKey,
  type StoredLeaf,
  withoutLeaf,
} from './public-leaves.ts';
import { readCheckpoint } from './signed-checkpoint.ts';
import { nodeReader, TileEdge, tileOf } from './tiles.ts';
import { firstWitnessed, putWitnessed, witnessedBy } from './witnessed.ts';

/**
 * The transparency log: one tree (RFC 9162 §2.1) over every lot, every certificate and every withdrawal of a lot.
 * Sealing takes new lots and committed segments, appends their leaves, signs a checkpoint over the whole tree and
 * stores all of it in one transaction: after a crash the log is at one checkpoint or at the next, never between. The same
 * transaction releases a lot whose leaf is in a checkpoint.
 *
 * Records, by key:
 *   state, checkpoint/<size>, seals/…   see log-state.ts
 *   public/…, withdrawn/…, lot/…, revocation/…, draw/…   see public-leaves.ts
 *   witnessed/…, tile/…   see the files of these names
 */
export interface CertificateLogOptions {
  readonly store: LogStore &
    Pick<DrawStore, 'drawLeaves' | 'drawLeavesLogged'> &
    Pick<Books, 'unsealed'> &
    Pick<EntropyStore, 'lot' | 'pendingLots' | 'revocations'>;
  readonly ids: CertificateIds;
  /** The log's origin is the keys' name. */
  readonly keys: LogKeys;
  readonly clock: Clock;
  /** The logs before this one, oldest first: what they proved is proven from them. */
  readonly earlier?: readonly LogStore[];
  /** Told every checkpoint before anybody else is; what it throws ends the batch. */
  readonly anchored?: (checkpoint: string) => void;
  /** The first leaf of a log that succeeds another. */
  readonly firstLeafText?: string;
  /** A lot is released when enough witnesses have cosigned its leaf, not as soon as it is signed. */
  readonly isWitnessed?: boolean;
  /** Signs nothing and stores nothing. */
  readonly readOnly?: true;
}

/**
 * A batch takes whole segments until it has this many leaves, with turns of the loop between. Its two signatures, its anchor and its
 * transaction take 2 to 4 ms however many leaves it has, and on another machine a dozen round trips. A front answers fewer in one
 * interval (service/ledger-worker.ts), so that one batch takes all of them and none is read back from the store.
 */
export const BATCH_LEAVES = 32_768;
/** Leaves that are hashed before the loop has a turn: commits do not wait for a whole batch. */
const LEAVES_PER_TURN = 1_024;
/** Proofs of lots that are kept, some 2 KB each. */
const LOT_PROOFS_MAX = 1_024;
/** Pending lots looked through in one batch. */
const PENDING_READ_MAX = 64;
/** Leaves of draws taken into one batch at most. */
const DRAW_LEAVES_PER_BATCH = 256;
/** A log that grows says at least this often which lots have been withdrawn, and with each lot and withdrawal. */
const STATEMENT_INTERVAL_S = 3_600;

export class CertificateLog {
  readonly #options: CertificateLogOptions;
  readonly #store: CertificateLogOptions['store'];
  readonly #earlier: readonly LogStore[];
  readonly #hasher: LeafHasher;
  readonly lots: CertifiedLots;
  /** By lot and checkpoint. */
  readonly #lotProofs = new Map<string, string>();
  /** Lots whose withdrawal is logged. */
  readonly #withdrawn = new Set<string>();
  #state: LogState;
  /** The outcome of the last write is not known: what is stored decides, and is read before the next batch. */
  #unknown = false;
  readonly #inTurn = inOrder();
  readonly #witnessing = inOrder();

  private constructor(options: CertificateLogOptions, state: LogState) {
    this.#options = options;
    this.#store = options.store;
    this.#earlier = (options.earlier ?? []).toReversed();
    this.#hasher = new LeafHasher(options.ids);
    this.lots = new CertifiedLots(options.store);
    this.#state = state;
  }

  /**
   * Opens the stored log, or starts an empty one. Throws CertificateLogError when the two do not belong
   * together.
   */
  static async open(options: CertificateLogOptions): Promise<CertificateLog> {
    const { store, ids, keys, clock } = options;
    let state = await loadState(store, ids, keys);
    if (options.readOnly === true) {
      if (state === undefined) throw new CertificateLogError('there is no log to read');
      return new CertificateLog(options, state);
    }
    const nowS = secondsOf(clock.wallMs());
    if (state === undefined) {
      const range = new CompactRange();
      const edge = await TileEdge.load(store, 0);
      const { firstLeafText } = options;
      if (firstLeafText !== undefined) {
        range.append(leafHash(utf8Bytes(firstLeafText)), (level, index, hash) =>
          edge.add(level, index, hash),
        );
      }
      const checkpoint = signCheckpoint(keys, range, nowS);
      const published = noPublicLeaves(nowS);
      const first = recorded({ range, edge, checkpoint, sealedAtS: nowS, published }, ids, keys);
      await putState(store, undefined, first, { records: edge.partialTiles(), sealed: [] });
      if (firstLeafText !== undefined) await leaveUnsealed(store, first, BATCH_LEAVES);
      state = first;
    } else if (!isSignedBy(state.checkpoint, keys.currentKeyId)) {
      // The key was rotated: what the old key vouched for, the new one does too, beside it.
      const sealedAtS = Math.max(nowS, state.sealedAtS);
      const checkpoint = addSignatures(state.checkpoint, keys, sealedAtS);
      const vouched = recorded({ ...state, checkpoint, sealedAtS }, ids, keys);
      await putState(store, state, vouched, { records: [voucherRecord(vouched, keys)], sealed: [] });
      state = vouched;
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
   * to do. When they are fewer than BATCH_LEAVES none was left behind. Calls run one after the other. Rejects when the store does; calling again then goes on from what is stored.
   */
  seal(): Promise<number> {
    return this.#inTurn(() => this.#sealBatch());
  }

  /**
   * Takes over what another writer of the log has stored: for a process that seals nothing now. Rejects when the stored
   * log is smaller than this one, or another.
   */
  follow(): Promise<void> {
    return this.#inTurn(async () => {
      if (!isSame(await this.#store.getLog(STATE_KEY), this.#state.record)) await this.#reload();
    });
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
    return this.#witnessing(() => putWitnessed(this.#store, { size, note }));
  }

  /**
   * The proof of a certificate, undefined until it is logged: against the first checkpoint that covers it and
   * was witnessed, or before there is one against the checkpoint it was logged with.
   */
  async proofOf(segment: number, index: number): Promise<string | undefined> {
    for (const store of [this.#store, ...this.#earlier]) {
      const sealed = await sealedLeaf(store, segment, index);
      if (sealed !== undefined) return await this.#shownProof(store, sealed.leaf, sealed.size);
    }
    return undefined;
  }

  /** The leaf that has this name (public-leaves.ts) and its proof; undefined until it is logged. */
  async leafOf(name: string): Promise<ProvenLeaf | undefined> {
    const found = await this.#named(name);
    if (found === undefined) return undefined;
    const proof = await this.#shownProof(found.store, found.index, found.size);
    return proof === undefined ? undefined : { leaf: found.leaf, proof };
  }

  /** In this log, or in the newest before it that has a leaf of this name. */
  async #named(name: string): Promise<(StoredLeaf & { readonly store: LogStore }) | undefined> {
    for (const store of [this.#store, ...this.#earlier]) {
      const found = await namedLeaf(store, name);
      if (found !== undefined) return { store, ...found };
    }
    return undefined;
  }

  /**
   * The proof of a leaf that was logged with a checkpoint of so many leaves. Undefined where this process may not show that.
   * Another writer's records can be read before a standby has them, and its state cannot (ledger/postgres/log-store.ts): a
   * checkpoint beyond the state may be lost, and another signed in its place.
   */
  async #shownProof(store: LogStore, leaf: number, size: number): Promise<string | undefined> {
    const isBeyond = () => store === this.#store && size > this.size;
    if (isBeyond()) await this.follow().catch(() => {}); // what was shown before stays so
    if (isBeyond()) return undefined;
    return await this.#proof(store, leaf, (await firstWitnessed(store, size)) ?? { size });
  }

  /**
   * The proof of a lot's leaf for an answer of a time: against the newest checkpoint that the log had signed by then and
   * enough witnesses have cosigned, or else the one that the leaf was logged with. Undefined until the leaf is logged.
   */
  async lotProof(lotId: string, issuedAtMs: number): Promise<string | undefined> {
    const found = await this.#named(lotLeafKey(lotId));
    if (found === undefined) return undefined;
    const { store, index, size } = found;
    const seen = await witnessedBy(store, issuedAtMs);
    const at = seen !== undefined && seen.size >= size ? seen : { size };
    const key = `${lotId} ${at.size} ${seen?.note.length}`; // a note grows with each cosignature
    const proof = this.#lotProofs.get(key) ?? (await this.#proof(store, index, at));
    if (this.#lotProofs.size >= LOT_PROOFS_MAX) this.#lotProofs.clear();
    this.#lotProofs.set(key, proof);
    return proof;
  }

  /**
   * The newest public leaf that says which lots had been withdrawn before it, and the leaves of those withdrawals in
   * order: a lot that is not among them had not been withdrawn when the log had as many leaves.
   */
  async withdrawals(): Promise<{ withdrawals: string[]; statement: ProvenLeaf | null }> {
    const { withdrawals, statement } = await readStatement(this.#store, this.#state.published);
    if (statement === undefined) return { withdrawals, statement: null };
    const proof = await this.#proof(this.#store, statement.index, { size: this.size });
    return { withdrawals, statement: { leaf: statement.leaf, proof } };
  }

  /** The public leaves from this index of the log on, at most `limit`. */
  publicLeaves(from: number, limit: number): Promise<PublicLeaf[]> {
    return publicLeavesFrom(this.#store, this.#state.published, from, limit);
  }

  /** The hashes that lead from one size to another (RFC 9162 §2.1.4); `to` is at most the newest size. */
  async consistencyProof(from: number, to: number): Promise<Hash[]> {
    assert(to <= this.size, 'a proof ends at a size that the log has reached');
    return await consistencyProof(from, to, nodeReader(this.#store));
  }

  /** A tile of the newest checkpoint's tree, whole or partial (c2sp.org/tlog-tiles); undefined when it is empty. */
  async tile(level: number, index: number): Promise<Uint8Array | undefined> {
    return await tileOf(this.#store, level, index, this.size);
  }

  /** c2sp.org/tlog-proof against the checkpoint of so many leaves; `note` is the witnessed one. */
  async #proof(
    store: LogStore,
    leaf: number,
    { size, note: witnessed }: { readonly size: number; readonly note?: string },
  ): Promise<string> {
    const stored = witnessed === undefined ? await store.getLog(checkpointKey(size)) : undefined;
    const note = witnessed ?? (stored && textOf(stored));
    assert(note !== undefined, `the checkpoint of ${size} leaves is stored`);
    const { root } = readCheckpoint(note).checkpoint;
    const readNode = nodeReader(store);
    const path = await inclusionProof(leaf, size, readNode);
    const holds = verifyInclusion(await readNode(0, leaf), leaf, size, path, root);
    assert(holds, `the stored tree gives a proof of leaf ${leaf} that holds`);
    return formatProof({ index: leaf, path, note });
  }

  async #sealBatch(): Promise<number> {
    if (this.#options.readOnly === true) throw new CertificateLogError('this log can only be read');
    if (this.#unknown) await this.#reload();
    const { clock } = this.#options;
    const { unlogged: lots, released: lotIds } = await this.#pendingLots();
    const releasedAt = (sealedAtS: number) => ({ lotIds, atMs: Math.max(clock.wallMs(), sealedAtS * 1_000) });
    const withdrawn = (await this.#store.revocations()).filter(({ lotId }) => !this.#withdrawn.has(lotId));
    const revocations = await withoutLeaf(this.#store, withdrawn, ({ lotId }) => revocationKey(lotId));
    const waiting = await this.#store.drawLeaves(DRAW_LEAVES_PER_BATCH);
    // a crash between a batch and what follows it leaves logged ones behind
    const draws = await withoutLeaf(this.#store, waiting, drawLeafKey);
    const segments = await this.#store.unsealed(BATCH_LEAVES);
    let leaves = 0;
    if (segments.length + revocations.length + lots.length + draws.length > 0) {
      const { state, records } = await this.#append(lots, segments, revocations, draws);
      leaves = state.range.size - this.#state.range.size;
      try {
        const sealed = segments.map(({ sequence }) => sequence);
        await putState(this.#store, this.#state, state, {
          records,
          sealed,
          released: releasedAt(state.sealedAtS),
        });
        this.#options.anchored?.(state.checkpoint);
      } catch (error) {
        this.#unknown = true;
        throw error;
      }
      this.#state = state;
    } else if (lotIds.length > 0) await this.#store.putLog([], undefined, releasedAt(this.#state.sealedAtS));
    for (const { lotId } of withdrawn) this.#withdrawn.add(lotId);
    if (waiting.length > 0) await this.#store.drawLeavesLogged(waiting.map(({ ordinal }) => ordinal));
    return leaves;
  }

  /**
   * Of the oldest pending lots those without a leaf, in the order in which they came, and those that the next batch releases:
   * the ones that it logs, or where witnesses are asked for, those with a leaf that enough of them have cosigned.
   */
  async #pendingLots(): Promise<{ unlogged: LotRecord[]; released: string[] }> {
    const unlogged: LotRecord[] = [];
    const released: string[] = [];
    for (const lot of await this.#store.pendingLots(PENDING_READ_MAX)) {
      const leaf = await namedLeaf(this.#store, lotLeafKey(lot.id));
      if (leaf === undefined) unlogged.push(lot);
      const isSeen = leaf !== undefined && (await firstWitnessed(this.#store, leaf.size)) !== undefined;
      if (isSeen || this.#options.isWitnessed !== true) released.push(lot.id);
    }
    return { unlogged, released };
  }

  /** What the next batch writes, and where the log then stands. Hashes; stores nothing. */
  async #append(
    lots: readonly LotRecord[],
    segments: readonly SegmentRecord[],
    revocations: readonly LotRevocation[],
    draws: readonly WaitingDrawLeaf[],
  ): Promise<{ state: ReturnType<typeof recorded>; records: LogRecord[] }> {
    const { clock, ids, keys } = this.#options;
    const certified = await this.#lotsOf(segments);
    const range = new CompactRange(this.#state.range.size, this.#state.range.roots);
    const edge = this.#state.edge.copy();
    const tiles: LogRecord[] = [];
    const append = (leaves: Uint8Array<ArrayBuffer>) =>
      range.append(
        leaves,
        (level, index, hashes) => tiles.push(...edge.add(level, index, hashes)),
        nodeHashesByFour,
      );
    const added = new PublicBatch(this.#state.published);
    const appendText = (leaf: string) => {
      const index = range.size;
      append(leafHash(utf8Bytes(leaf)));
      return { index, leaf };
    };
    for (const lot of lots) added.add(appendText(certifiedLot(lot).text), lotLeafKey(lot.id));
    for (const revocation of revocations)
      added.addWithdrawal(appendText(revocationText(revocation)), revocationKey(revocation.lotId));
    for (const draw of draws) added.add(appendText(draw.text), drawLeafKey(draw));
    // Time never goes back in the log, and no leaf is younger than the checkpoint it is sealed with, wherever
    // the clock is set.
    let latestMs = clock.wallMs();
    for (const { atMs } of revocations) latestMs = Math.max(latestMs, atMs);
    for (const { finishedAtMs } of lots) latestMs = Math.max(latestMs, finishedAtMs);
    const firstLeaf = range.size;
    let group: SegmentRecord[] = [];
    let waiting = 0;
    const appendGroup = () => {
      const { hashes, latestMs: issuedAtMs } = this.#hasher.leavesOf(group, (id) => certified.get(id)!);
      append(hashes);
      latestMs = Math.max(latestMs, issuedAtMs);
      group = [];
      waiting = 0;
    };
    for (const segment of segments) {
      group.push(segment);
      waiting += segment.count;
      if (waiting < LEAVES_PER_TURN) continue;
      appendGroup();
      await nextTurn();
    }
    appendGroup();
    const sealedAtS = Math.max(this.#state.sealedAtS, secondsOf(latestMs));
    const sinceS = secondsOf(clock.wallMs()) - this.#state.published.lastAtS;
    if (lots.length + revocations.length > 0 || sinceS >= STATEMENT_INTERVAL_S)
      added.addStatement(appendText(statementText(sealedAtS * 1_000, added.withdrawals)));
    const { size } = range;
    const published = added.finish(size, sealedAtS);
    const checkpoint = signCheckpoint(keys, range, sealedAtS);
    const state = recorded({ range, edge, checkpoint, sealedAtS, published: published.state }, ids, keys);
    const records = [
      ...tiles,
      ...edge.partialTiles(),
      ...(await sealRecords(this.#store, segments, firstLeaf, size)),
      ...published.records,
    ];
    return { state, records };
  }

  async #reload(): Promise<void> {
    const { store, ids, keys } = this.#options;
    const stored = await loadState(store, ids, keys);
    assert(stored !== undefined, 'an open log is stored');
    const { size } = this.#state.range;
    if (stored.range.size < size)
      throw new CertificateLogError(
        `the stored log has ${stored.range.size} leaves, and one of ${size} was signed: it is an earlier state`,
      );
    this.#options.anchored?.(stored.checkpoint);
    this.#state = stored;
    this.#unknown = false;
  }

  /** The lots that these segments name. */
  async #lotsOf(segments: readonly SegmentRecord[]): Promise<ReadonlyMap<string, CertifiedLot>> {
    const lots = new Map<string, CertifiedLot>();
    let known: SegmentRecord['sources'] | undefined;
    for (const { sequence, sources } of segments) {
      if (sources === known) continue; // segments that were read together share them
      known = sources;
      for (const id of sources.flatMap(({ lotIds }) => lotIds)) {
        const lot = lots.get(id) ?? (await this.lots.get(id));
        if (lot === undefined)
          throw new CertificateLogError(`segment ${sequence} names the unknown lot ${id}`);
        lots.set(id, lot);
      }
    }
    return lots;
  }
}

function isSame(stored: Uint8Array | undefined, known: Uint8Array | undefined): boolean {
  return stored !== undefined && known !== undefined && Buffer.compare(stored, known) === 0;
}

function secondsOf(atMs: number): number {
  return Math.floor(atMs / 1000);
}
