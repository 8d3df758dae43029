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
  loadState,
  putState,
  recorded,
  STATE_KEY,
  sealedLeaf,
  sealRecords,
  sealWithoutLeaves,
  signCheckpoint,
  voucherRecord,
} from './log-state.ts';
import { type CertifiedLot, CertifiedLots, certifiedLot, statementText } from './lot-leaf.ts';
import {
  drawLeafKey,
  lotLeafKey,
  namedLeaf,
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
 * The transparency log: one tree (RFC 9162 §2.1) over all lots, certificates, withdrawals of lots, statements and
 * leaves of draws. Sealing takes what is new, appends the leaves, signs a checkpoint over the whole tree and stores
 * everything in one transaction. So after a crash the log is at one checkpoint or at the next, never between. The same
 * transaction releases the lots whose leaf is now in a checkpoint.
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
  /** The log's keys. Their name is the log's origin. */
  readonly keys: LogKeys;
  readonly clock: Clock;
  /** The logs of earlier incarnations, oldest first. The leaves that they hold are proven from them. */
  readonly earlier?: readonly LogStore[];
  /** Called with every new checkpoint before this process shows it to anybody. If it throws, the batch fails. */
  readonly anchored?: (checkpoint: string) => void;
  /** The first leaf of a log that succeeds another. */
  readonly firstLeafText?: string;
  /** Whether a lot waits until enough witnesses have cosigned its leaf, and not only until the log has signed it. */
  readonly isWitnessed?: boolean;
  /** If set, the log signs nothing and stores nothing. */
  readonly readOnly?: true;
}

/**
 * A batch takes whole segments until it has this many certificates. Its two signatures, its anchor and its transaction
 * take 2 to 4 ms whatever its size, and with a database on another machine a dozen round trips. All answers of a front
 * in one sealing interval (service/ledger-worker.ts) are fewer, so one batch takes them all, and the ledger still has
 * them in memory.
 */
export const BATCH_LEAVES = 32_768;
/** How many leaves are hashed before the event loop gets a turn, so that commits do not wait for a whole batch. */
const LEAVES_PER_TURN = 1_024;
/** How many proofs of lots are cached, about 2 KB each. */
const LOT_PROOFS_MAX = 1_024;
/** How many pending lots one batch examines at most. */
const PENDING_READ_MAX = 64;
/** How many leaves of draws one batch takes at most. */
const DRAW_LEAVES_PER_BATCH = 256;
/** A batch logs a statement if it has a lot or a withdrawal, or if the newest statement is at least this old. */
const STATEMENT_INTERVAL_S = 3_600;

export class CertificateLog {
  readonly #options: CertificateLogOptions;
  readonly #store: CertificateLogOptions['store'];
  readonly #earlier: readonly LogStore[];
  readonly #hasher: LeafHasher;
  readonly lots: CertifiedLots;
  /** Cached proofs of lots, by lot id, size of the checkpoint and length of its note. */
  readonly #lotProofs = new Map<string, string>();
  /** Ids of the lots whose withdrawal this process knows to be logged. */
  readonly #withdrawn = new Set<string>();
  #state: LogState;
  /** Whether the outcome of the last write is unknown. Then the stored state is read again before the next batch. */
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
   * Opens the stored log, or starts a new one. Throws CertificateLogError if the stored log does not fit the options.
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
      const published = { count: 0, statement: null, lastAtS: nowS, withdrawals: 0 };
      const began = { range, edge, checkpoint, sealedAtS: nowS, published, withdrawals: new CompactRange() };
      const first = recorded(began, ids, keys);
      await putState(store, undefined, first, { records: edge.partialTiles(), sealed: [] });
      if (firstLeafText !== undefined) await sealWithoutLeaves(store, first, BATCH_LEAVES);
      state = first;
    } else if (!isSignedBy(state.checkpoint, keys.currentKeyId)) {
      // The key was rotated. The new key signs the newest checkpoint too, so that the old key vouches for it.
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
   * Logs one batch of what is committed and not logged yet. Resolves to the number of new leaves; 0 if there was
   * nothing to log. If it is below BATCH_LEAVES, no segment was left. Calls run one after the other. Rejects if the
   * store does; the next call then goes on from what is stored.
   */
  seal(): Promise<number> {
    return this.#inTurn(() => this.#sealBatch());
  }

  /**
   * Reads the state that another writer of the log has stored, in a process that does not seal now. Rejects if the
   * stored log is smaller than this one, or is another log.
   */
  follow(): Promise<void> {
    return this.#inTurn(async () => {
      if (!isSame(await this.#store.getLog(STATE_KEY), this.#state.record)) await this.#reload();
    });
  }

  /** Logs everything that is committed. Called when the service stops, so that no later key has to sign for it. */
  async sealAll(): Promise<void> {
    while ((await this.seal()) > 0);
  }

  /**
   * Stores a checkpoint that enough witnesses have cosigned. From now on the leaves that it is the first to cover are
   * proven against it. Sizes must not descend; if the size is the same, the new cosignatures are added to the stored
   * ones. Calls run one after the other.
   */
  addWitnessed(size: number, note: string): Promise<void> {
    return this.#witnessing(() => putWitnessed(this.#store, { size, note }));
  }

  /**
   * Resolves to the proof of a certificate; undefined until it is logged. The proof is against the first witnessed
   * checkpoint that covers the certificate or, until there is one, against the checkpoint that it was logged with.
   */
  async proofOf(segment: number, index: number): Promise<string | undefined> {
    for (const store of [this.#store, ...this.#earlier]) {
      const sealed = await sealedLeaf(store, segment, index);
      if (sealed !== undefined) return await this.#shownProof(store, sealed.leaf, sealed.size);
    }
    return undefined;
  }

  /** Resolves to the leaf with this name (public-leaves.ts) and its proof; undefined until it is logged. */
  async leafOf(name: string): Promise<ProvenLeaf | undefined> {
    const found = await this.#named(name);
    if (found === undefined) return undefined;
    const proof = await this.#shownProof(found.store, found.index, found.size);
    return proof === undefined ? undefined : { leaf: found.leaf, proof };
  }

  /** Resolves to the leaf with this name in this log or, if it has none, in the newest earlier log that has one. */
  async #named(name: string): Promise<(StoredLeaf & { readonly store: LogStore }) | undefined> {
    for (const store of [this.#store, ...this.#earlier]) {
      const found = await namedLeaf(store, name);
      if (found !== undefined) return { store, ...found };
    }
    return undefined;
  }

  /**
   * Resolves to the proof of a leaf that was logged with the checkpoint of `size` leaves. Undefined while this process
   * must not show that checkpoint: PostgreSQL shows the records of another writer before its standby has them, so a
   * failover may lose the checkpoint, and another would be signed in its place. The state is only readable when the
   * standby has it (ledger/domain/log.ts), so a checkpoint that the state covers is safe.
   */
  async #shownProof(store: LogStore, leaf: number, size: number): Promise<string | undefined> {
    const isBeyond = () => store === this.#store && size > this.size;
    if (isBeyond()) await this.follow().catch(() => {}); // on failure the old state stays
    if (isBeyond()) return undefined;
    return await this.#proof(store, leaf, (await firstWitnessed(store, size)) ?? { size });
  }

  /**
   * Resolves to the proof of a lot's leaf for an answer that was issued at this time; undefined until the leaf is
   * logged. The proof is against the newest witnessed checkpoint that the log had signed by then or, if that does not
   * cover the leaf, against the checkpoint that the leaf was logged with.
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
   * Resolves to the newest statement of withdrawals with its proof, and to the leaves of the withdrawals that it
   * counts, in order. A lot that is not among them had not been withdrawn when the log had as many leaves as the
   * statement's index.
   */
  async withdrawals(): Promise<{ withdrawals: string[]; statement: ProvenLeaf | null }> {
    const { withdrawals, statement } = await readStatement(this.#store, this.#state.published);
    if (statement === undefined) return { withdrawals, statement: null };
    const proof = await this.#proof(this.#store, statement.index, { size: this.size });
    return { withdrawals, statement: { leaf: statement.leaf, proof } };
  }

  /** Resolves to at most `limit` public leaves, from this index of the log on. */
  publicLeaves(from: number, limit: number): Promise<PublicLeaf[]> {
    return publicLeavesFrom(this.#store, this.#state.published, from, limit);
  }

  /** Resolves to the consistency proof from one size to another (RFC 9162 §2.1.4). `to` is at most the newest size. */
  async consistencyProof(from: number, to: number): Promise<Hash[]> {
    assert(to <= this.size, 'a proof ends at a size that the log has reached');
    return await consistencyProof(from, to, nodeReader(this.#store));
  }

  /** Resolves to a tile of the newest tree, full or partial (c2sp.org/tlog-tiles); undefined if it is empty. */
  async tile(level: number, index: number): Promise<Uint8Array | undefined> {
    return await tileOf(this.#store, level, index, this.size);
  }

  /** Resolves to a leaf's proof (c2sp.org/tlog-proof) against `note`, or else the checkpoint of `size` leaves. */
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
    // After a crash between a batch and drawLeavesLogged, some of the waiting leaves are logged already.
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
   * Examines the oldest pending lots. Resolves to those without a leaf, oldest first, and to the ids of those that the
   * next batch releases: without witnesses all of them, with witnesses those whose leaf a witnessed checkpoint covers.
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

  /** Makes the records of the next batch and the state after it. Stores nothing. */
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
    const added = new PublicBatch(this.#state.published, this.#state.withdrawals);
    const appendText = (leaf: string) => {
      const index = range.size;
      append(leafHash(utf8Bytes(leaf)));
      return { index, leaf };
    };
    for (const lot of lots) added.add(appendText(certifiedLot(lot).text), lotLeafKey(lot.id));
    for (const revocation of revocations)
      added.addWithdrawal(appendText(revocationText(revocation)), revocationKey(revocation.lotId));
    for (const draw of draws) added.add(appendText(draw.text), drawLeafKey(draw));
    // Whatever the clock says, time never goes back in the log, and no leaf is later than its checkpoint.
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
    const { withdrawals } = added;
    const { state: published, records: ofLeaves } = added.finish(size, sealedAtS);
    const checkpoint = signCheckpoint(keys, range, sealedAtS);
    const state = recorded({ range, edge, checkpoint, sealedAtS, published, withdrawals }, ids, keys);
    const records = [
      ...tiles,
      ...edge.partialTiles(),
      ...(await sealRecords(this.#store, segments, firstLeaf, size)),
      ...ofLeaves,
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
        `the stored log has ${stored.range.size} leaves, but a tree of ${size} leaves was signed: the ledger is in an earlier state`,
      );
    this.#options.anchored?.(stored.checkpoint);
    this.#state = stored;
    this.#unknown = false;
  }

  /** Resolves to the lots that these segments name, by id. */
  async #lotsOf(segments: readonly SegmentRecord[]): Promise<ReadonlyMap<string, CertifiedLot>> {
    const lots = new Map<string, CertifiedLot>();
    let known: SegmentRecord['sources'] | undefined;
    for (const { sequence, sources } of segments) {
      if (sources === known) continue; // segments that were read together share one list of sources
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
