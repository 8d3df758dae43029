import { type EntropyStore, LedgerError, type ReleasedLots } from '../ledger.ts';
import type { LotRecord, LotRevocation } from '../records.ts';
import { type Body, type Store, tx } from '../store.ts';
import {
  type HeldLot,
  increase,
  LOT_ORDER,
  LOT_STATES,
  LOTS,
  type LotState,
  PENDING_LOTS,
  REVOCATIONS,
} from '../tables.ts';
import type { Auditor } from './auditor.ts';
import { type BlockFolder, Blocks, type LotFates } from './blocks.ts';
import { DIRECTORY_LOCK, noteChange } from './directory.ts';
import { admissionOf, lotStored, SOURCES_LOCK } from './sources.ts';

/** One lock for all lots is enough: they are rare. */
export const LOTS_LOCK = 'lots';
const LOCKS = [LOTS_LOCK];
/** Stands for a source in LOT_ORDER, and lists the lots of all sources. */
const ALL_SOURCES = '';

export interface EntropyOptions {
  readonly books: Store;
  /** The folder of this node's blocks, whose store may also be that of the books; undefined for a command. */
  readonly folder: BlockFolder | undefined;
  /** The number of this node. The folder gives no blocks of a lot that another node stored: such a folder was copied. */
  readonly node: number;
}

export interface LotStore extends EntropyStore {
  /** Gives up all blocks of a folder that is an earlier copy: this node may have delivered some of them since. */
  giveUpAll(): Promise<void>;
}

/**
 * Lots, and the blocks made from them. PostgreSQL would keep delivered bytes in its log, standbys and backups, so each node
 * keeps its blocks in its own folder, under its own keys. When the folder also has the books, one transaction stores a lot
 * and its blocks. Otherwise the blocks are stored first; after a crash the folder may have blocks of a lot that the books do
 * not have, and gives them up. Before each claim the folder is told what the books say of its lots.
 */
export function lotsIn({ books, folder, node }: EntropyOptions): LotStore {
  const blocks = folder && new Blocks(folder);
  const isOneStore = blocks?.store === books;
  /** Lots that are being added: the folder may have their blocks before the books have the lot. */
  const adding = new Set<string>();

  function requireBlocks(): Blocks {
    if (blocks === undefined) throw new LedgerError('refused', 'blocks are for a node, not for a tool');
    return blocks;
  }

  /** Returns what the books say of the lots that the folder holds, and whether that is news to the folder. */
  async function fatesOf(own: Blocks): Promise<{ fates: LotFates; isNews: boolean }> {
    const held = await own.held();
    // All others are in the books by now, or never will be.
    const known = held.filter(({ lotId }) => !adding.has(lotId));
    const ids = known.map(({ lotId }) => lotId);
    const states = ids.length === 0 ? [] : await books.read(() => tx.getMany(LOT_STATES, ids));
    const fates = new Map<string, number | 'lost'>();
    let isNews = false;
    for (const [i, lot] of known.entries()) {
      const fate = fateOf(lot, states[i], node);
      if (fate === undefined) continue;
      fates.set(lot.lotId, fate);
      isNews ||= fate === 'lost' || lot.releasedAtMs === null;
    }
    return { fates, isNews };
  }

  async function follow(): Promise<void> {
    if (blocks === undefined) return;
    const { fates, isNews } = await fatesOf(blocks);
    if (isNews) await blocks.settle(fates);
  }

  return {
    async addLot(lot, bytes, jobKey) {
      const own = requireBlocks();
      if (!lot.accepted && bytes.length > 0)
        throw new LedgerError(
          'refused',
          `lot ${lot.id} was not accepted, so it must have no blocks to draw from`,
        );
      function* add(): Body<boolean> {
        const known = yield* admission(lot.id, jobKey);
        if (known !== 'new') return known === 'given';
        if (isOneStore) yield* own.add(lot.id, bytes);
        yield* put(lot, node);
        if (jobKey !== undefined) yield* lotStored(jobKey, lot.id);
        return true;
      }
      const locks = jobKey === undefined ? LOCKS : [...LOCKS, SOURCES_LOCK];
      if (isOneStore) return books.write(locks, add);
      // checked before the blocks are stored, so that a refused lot leaves none behind
      const known = await books.read(() => admission(lot.id, jobKey));
      if (known !== 'new') return known === 'given';
      adding.add(lot.id);
      try {
        await own.store.write([], () => own.add(lot.id, bytes));
        return await books.write(locks, add);
      } finally {
        adding.delete(lot.id);
      }
    },

    lot: (id) => books.read(() => tx.get(LOTS, id)),

    lots: (limit, source = ALL_SOURCES) =>
      books.read(function* () {
        const range = { from: [source, -Number.MAX_SAFE_INTEGER], before: [source, 0], limit };
        return yield* recordsOf(yield* tx.range(LOT_ORDER, range));
      }),

    pendingLots: (limit) =>
      books.read(function* () {
        return yield* recordsOf(yield* tx.range(PENDING_LOTS, { limit }));
      }),

    unclaimedBlocks: async (lotId) => (await blocks?.unclaimed(lotId)) ?? 0,

    /** Keeps the first revocation of a lot, and erases the lot's unclaimed blocks. */
    async revokeLot(revocation) {
      const { lotId } = revocation;
      await books.write([...LOCKS, DIRECTORY_LOCK], function* () {
        const state = yield* tx.get(LOT_STATES, lotId);
        if (state === undefined) throw new LedgerError('refused', `there is no lot ${lotId}`);
        if (state.isWithdrawn) return;
        yield* tx.put(LOT_STATES, lotId, { ...state, isWithdrawn: true });
        yield* tx.put(REVOCATIONS, lotId, revocation);
        yield* increase('revocations', 1);
        yield* noteChange(['lot', lotId]);
      });
      await follow();
    },

    async revocations() {
      const rows = await books.read(() => tx.range(REVOCATIONS, {}));
      const revocations: LotRevocation[] = rows.map(({ value }) => value);
      return revocations.sort((a, b) => a.atMs - b.atMs || (a.lotId < b.lotId ? -1 : 1));
    },

    /** Rejects while the books are away, because a lot may have been revoked. */
    async claimBlocks(kind, max) {
      const own = requireBlocks();
      const { fates, isNews } = await fatesOf(own);
      // Callers poll while there is nothing to claim, and even a transaction that takes nothing costs a flush.
      return isNews || (await own.hasAny(kind)) ? own.claim(kind, max, fates) : [];
    },

    blockLevels: async () => {
      const none = { blocks: 0, bytes: 0 };
      return (await blocks?.levels()) ?? { pure: none, seed: none };
    },

    nextSeedGeneration: (tier) =>
      books.write(['seed generations'], () => increase(`seedGeneration/${tier}`, 1)),

    async giveUpAll() {
      const own = requireBlocks();
      await own.settle(new Map((await own.held()).map(({ lotId }) => [lotId, 'lost'])));
    },
  };
}

/**
 * Releases lots, in the transaction that logs them: from the oldest pending lot on, up to the first that is not among
 * `lotIds`. See ReleasedLots.
 */
export function* releaseLots({ lotIds, atMs }: ReleasedLots): Body<void> {
  const oldest = yield* tx.range(PENDING_LOTS, { limit: lotIds.length });
  const held = oldest.findIndex(({ value }) => !lotIds.includes(value));
  const released = held < 0 ? oldest : oldest.slice(0, held);
  const ids = released.map(({ value }) => value);
  for (const [i, state] of (yield* tx.getAll(LOT_STATES, ids)).entries()) {
    yield* tx.remove(PENDING_LOTS, [released[i].key]);
    yield* tx.put(LOT_STATES, ids[i], { ...state, releasedAtMs: atMs });
  }
}

/**
 * Returns when the lot was released, or undefined while it is pending. Returns `lost` for a lot that was revoked, that the
 * books do not have as a lot of this node, or that is released in the folder and pending in the books, as after the restore
 * of an earlier database.
 */
function fateOf(lot: HeldLot, state: LotState | undefined, node: number): number | 'lost' | undefined {
  if (state === undefined || state.isWithdrawn || state.node !== node) return 'lost';
  if (state.releasedAtMs !== null) return state.releasedAtMs;
  return lot.releasedAtMs === null ? undefined : 'lost';
}

function* admission(lotId: string, jobKey: string | undefined): Body<'new' | 'given' | 'not given'> {
  const state = yield* tx.get(LOT_STATES, lotId);
  return yield* admissionOf(lotId, state !== undefined, jobKey);
}

function* put(lot: LotRecord, node: number): Body<void> {
  const ordinal = yield* increase('lots', 1);
  const state: LotState = { node, releasedAtMs: lot.accepted ? null : 0, isWithdrawn: false };
  yield* tx.put(LOTS, lot.id, lot);
  yield* tx.put(LOT_STATES, lot.id, state);
  for (const source of [ALL_SOURCES, lot.source]) yield* tx.put(LOT_ORDER, [source, -ordinal], lot.id);
  if (lot.accepted) yield* tx.put(PENDING_LOTS, ordinal, lot.id);
}

function* recordsOf(rows: readonly { readonly value: string }[]): Body<LotRecord[]> {
  const lots = yield* tx.getAll(
    LOTS,
    rows.map(({ value }) => value),
  );
  return [...lots];
}

/** Checks that lots, states, order and revocations agree. Returns whether each lot was accepted. */
export async function auditLots(auditor: Auditor): Promise<ReadonlyMap<string, boolean>> {
  const lots = await auditor.records(LOTS, 'lots');
  const states = await auditor.implied(LOT_STATES, new Map([...lots.keys()].map((id) => [id, undefined])));
  const ordinals = new Map<string, number>();
  await auditor.walk(LOT_ORDER, ([source, place], id) => {
    if (source === ALL_SOURCES) ordinals.set(id, -place);
  });
  const order = new Map<string, string>();
  const pending = new Map<string, string>();
  for (const [id, { source }] of lots) {
    const ordinal = ordinals.get(id) ?? 0;
    for (const each of [ALL_SOURCES, source]) order.set(String([each, -ordinal]), id);
    if (states.get(id)?.releasedAtMs === null) pending.set(String(ordinal), id);
  }
  await auditor.implied(LOT_ORDER, order);
  await auditor.implied(PENDING_LOTS, pending);
  const withdrawn = [...states].filter(([, { isWithdrawn }]) => isWithdrawn);
  await auditor.implied(REVOCATIONS, new Map(withdrawn.map(([id]) => [id, undefined])), 'revocations');
  return new Map([...lots].map(([id, { accepted }]) => [id, accepted]));
}
