import { assert } from '../../core/assert.ts';
import { wipe } from '../../core/bytes.ts';
import type { Log } from '../../core/log.ts';
import { type BlockKeys, SEAL_BYTES } from '../block-keys.ts';
import { BLOCK_KINDS, type BlockKind, type ClaimedBlock } from '../records.ts';
import { type Body, type Store, tx } from '../store.ts';
import { BLOCKS, type BlockKey, COUNTS, HELD_LOTS, type HeldLot, increase, raise } from '../tables.ts';
import type { Auditor } from './auditor.ts';

/** Encrypts and decrypts stored blocks. */
export type BlockSeals = Pick<BlockKeys, 'oldest' | 'seal' | 'open' | 'passOver' | 'erase'>;

export interface BlockFolder {
  /** A store on this machine. */
  readonly store: Store;
  /** Undefined for a reader, which neither stores nor claims blocks. */
  readonly seals: BlockSeals | undefined;
  /** Stops the ledger for good because keys could not be erased, as after any failed write. Returns the error to throw. */
  stop(cause: unknown): Error;
  readonly log: Log;
}

/** Lots of the folder by id: when each was released (Unix ms), or `lost` when nothing may be drawn from it any more. */
export type LotFates = ReadonlyMap<string, number | 'lost'>;

interface StoredBlock {
  readonly key: BlockKey;
  readonly lotId: string;
  readonly sealed: Uint8Array;
}

const LOCKS = ['blocks'];

/**
 * The encrypted blocks of one node. A block can be claimed once: a transaction removes it, and then its key is erased, because
 * the file may keep the encrypted bytes (BlockKeys). The keys form a chain, so blocks are claimed in the order in which they
 * came, and the blocks of a pending lot hold back all later ones.
 */
export class Blocks {
  readonly #folder: BlockFolder;

  constructor(folder: BlockFolder) {
    this.#folder = folder;
  }

  get store(): Store {
    return this.#folder.store;
  }

  /** Runs at a start. Gives up blocks whose keys are erased, as in a copy, and erases keys of blocks that are claimed. */
  async begin(): Promise<void> {
    const { store, log } = this.#folder;
    const seals = this.#seals;
    const givenUp = await store.write(LOCKS, () => this.#giveUpKeyless(seals));
    if (givenUp > 0)
      log.warn(
        { blocks: givenUp },
        'ledger: discarded blocks of entropy whose keys are erased, as after a restore: they are never delivered',
      );
    await this.#eraseKeys();
  }

  /** Stores the blocks of a lot that has none yet. */
  *add(lotId: string, blocks: readonly { kind: BlockKind; bytes: Uint8Array }[]): Body<void> {
    if (blocks.length === 0 || (yield* heldLots()).has(lotId)) return;
    const [pure, seed] = [yield* this.#put(lotId, 'pure', blocks), yield* this.#put(lotId, 'seed', blocks)];
    const ordinal = yield* increase('heldLots', 1);
    yield* tx.put(HELD_LOTS, ordinal, { ordinal, lotId, pure, seed, releasedAtMs: null });
  }

  /** Returns the lots with unclaimed blocks, oldest first. */
  async held(): Promise<readonly HeldLot[]> {
    return [...(await this.#folder.store.read(heldLots)).values()];
  }

  /** Notes which lots are released, and removes the blocks of lost lots. Lots that `fates` does not name stay pending. */
  async settle(fates: LotFates): Promise<void> {
    await this.#folder.store.write(LOCKS, () => this.#settle(fates));
    await this.#eraseKeys();
  }

  /** Does what settle does, and then takes the oldest blocks of released lots. */
  async claim(kind: BlockKind, max: number, fates: LotFates): Promise<ClaimedBlock[]> {
    const { store, log } = this.#folder;
    const seals = this.#seals;
    const settle = () => this.#settle(fates);
    const take = (blocks: readonly StoredBlock[]) => this.#take(blocks);
    const taken = await store.write(LOCKS, function* () {
      yield* settle();
      const oldest = yield* claimable(kind, max);
      yield* take(oldest);
      return oldest;
    });
    const claimed: ClaimedBlock[] = [];
    for (const { key, lotId, index, releasedAtMs, sealed } of taken) {
      const bytes = seals.open(kind, key[1], lotId, sealed);
      if (bytes !== undefined) claimed.push({ lotId, bytes, index, releasedAtMs });
      else
        log.error(
          { kind, ordinal: key[1] },
          'ledger: discarded a block of entropy that its key does not open: it is never delivered',
        );
    }
    try {
      await this.#eraseKeys();
    } catch (error) {
      for (const { bytes } of claimed) wipe(bytes);
      throw error;
    }
    return claimed;
  }

  /** Whether a block of this kind can be claimed. */
  hasAny(kind: BlockKind): Promise<boolean> {
    return this.#folder.store.read(function* () {
      return (yield* claimable(kind, 1)).length > 0;
    });
  }

  async unclaimed(lotId: string): Promise<number> {
    const lot = (await this.#folder.store.read(heldLots)).get(lotId);
    return lot === undefined ? 0 : leftOf(lot);
  }

  async levels(): Promise<Record<BlockKind, { blocks: number; bytes: number }>> {
    const levels = { pure: { blocks: 0, bytes: 0 }, seed: { blocks: 0, bytes: 0 } };
    for (const lot of await this.held())
      for (const kind of BLOCK_KINDS) {
        levels[kind].blocks += lot[kind].left;
        levels[kind].bytes += lot[kind].bytes;
      }
    return levels;
  }

  get #seals(): BlockSeals {
    assert(this.#folder.seals !== undefined, 'a server stores and claims blocks');
    return this.#folder.seals;
  }

  /** Stores the blocks of the kind, and returns their record in HeldLot. */
  *#put(lotId: string, kind: BlockKind, all: readonly { kind: BlockKind; bytes: Uint8Array }[]) {
    const ours = all.filter((block) => block.kind === kind);
    const first = (yield* increase('blocks', ours.length)) - ours.length + 1;
    const rows = ours.map(({ bytes }, i) => {
      const sealed = this.#seals.seal(kind, first + i, lotId, bytes);
      return [[kind, first + i], { lotId, sealed }] as const;
    });
    yield* tx.putAll(BLOCKS, rows);
    const size = ours.reduce((sum, { bytes }) => sum + bytes.length, 0);
    return { first, count: ours.length, left: ours.length, bytes: size };
  }

  *#settle(fates: LotFates): Body<void> {
    for (const lot of (yield* heldLots()).values()) {
      const fate = fates.get(lot.lotId);
      if (fate === 'lost') yield* this.#withdraw(lot);
      else if (fate !== undefined && lot.releasedAtMs === null)
        yield* tx.put(HELD_LOTS, lot.ordinal, { ...lot, releasedAtMs: fate });
    }
  }

  /** Removes the unclaimed blocks of a lot. */
  *#withdraw(lot: HeldLot): Body<void> {
    const keys = keysIn(lot);
    const blocks = yield* tx.getMany(BLOCKS, keys);
    yield* this.#take(
      blocks.flatMap((block, i) => (block === undefined ? [] : [{ key: keys[i], ...block }])),
    );
  }

  /** Removes blocks, in the transaction that claims or withdraws them, so that nobody else can claim them. */
  *#take(blocks: readonly StoredBlock[]): Body<void> {
    yield* tx.remove(
      BLOCKS,
      blocks.map(({ key }) => key),
    );
    const held = yield* heldLots();
    for (const [lotId, taken] of Map.groupBy(blocks, (block) => block.lotId)) {
      const lot = held.get(lotId);
      assert(lot !== undefined, `lot ${lotId} has no blocks left`);
      const [pure, seed] = BLOCK_KINDS.map((kind) => without(lot[kind], taken, kind));
      const rest = { ...lot, pure, seed };
      if (leftOf(rest) === 0) yield* tx.remove(HELD_LOTS, [lot.ordinal]);
      else yield* tx.put(HELD_LOTS, lot.ordinal, rest);
    }
  }

  *#giveUpKeyless(seals: BlockSeals): Body<number> {
    let givenUp = 0;
    for (const kind of BLOCK_KINDS) {
      const oldest = seals.oldest(kind);
      yield* raise('blocks', oldest - 1); // lower when an older data file was put in place of the newer one
      const keyless = yield* tx.range(BLOCKS, { ...allOf(kind), before: [kind, oldest] });
      yield* this.#take(keyless.map(({ key, value }) => ({ key, ...value })));
      givenUp += keyless.length;
    }
    return givenUp;
  }

  /** Erases the keys of removed blocks: after each transaction that removed some, and before anybody gets their bytes. */
  async #eraseKeys(): Promise<void> {
    const seals = this.#seals;
    const [pure, seed] = await this.#folder.store.read(function* () {
      return [yield* oldestOf('pure'), yield* oldestOf('seed')];
    });
    seals.passOver('pure', pure);
    seals.passOver('seed', seed);
    try {
      seals.erase();
    } catch (error) {
      throw this.#folder.stop(error);
    }
  }
}

/** Returns the oldest blocks of the kind, at most `max`, up to the first one whose lot is not released. */
function* claimable(kind: BlockKind, max: number) {
  const lots = yield* heldLots();
  const claimable: (StoredBlock & { readonly index: number; readonly releasedAtMs: number })[] = [];
  for (const { key, value } of yield* tx.range(BLOCKS, { ...allOf(kind), limit: Math.max(0, max) })) {
    const lot = lots.get(value.lotId);
    if (lot === undefined || lot.releasedAtMs === null) break;
    claimable.push({ key, ...value, index: key[1] - lot[kind].first, releasedAtMs: lot.releasedAtMs });
  }
  return claimable;
}

/** Returns the lots with unclaimed blocks by id, oldest first. */
function* heldLots(): Body<Map<string, HeldLot>> {
  return new Map((yield* tx.range(HELD_LOTS, {})).map(({ value }) => [value.lotId, value]));
}

function leftOf({ pure, seed }: HeldLot): number {
  return pure.left + seed.left;
}

/** Returns the record of a lot's blocks of one kind after these blocks of the lot, of either kind, were taken. */
function without(held: HeldLot[BlockKind], taken: readonly StoredBlock[], kind: BlockKind) {
  const ours = taken.filter(({ key }) => key[0] === kind);
  assert(ours.length <= held.left, `a lot has no such ${kind} blocks left`);
  const bytes = ours.reduce((sum, { sealed }) => sum + sealed.length - SEAL_BYTES, 0);
  return { ...held, left: held.left - ours.length, bytes: held.bytes - bytes };
}

/** Returns the ordinal of the oldest unclaimed block of the kind; when there is none, the next block's. */
function* oldestOf(kind: BlockKind): Body<number> {
  const [first] = yield* tx.range(BLOCKS, { ...allOf(kind), limit: 1 });
  return first?.key[1] ?? ((yield* tx.get(COUNTS, 'blocks')) ?? 0) + 1;
}

/** Returns the range of all blocks of a kind, oldest first. */
function allOf(kind: BlockKind) {
  return { from: [kind, 0] as BlockKey, before: [kind, Number.MAX_SAFE_INTEGER] as BlockKey };
}

/** Returns the keys of all blocks that a lot had. */
function keysIn(lot: HeldLot): BlockKey[] {
  return BLOCK_KINDS.flatMap((kind) => {
    const { first, count } = lot[kind];
    return Array.from({ length: count }, (_, i): BlockKey => [kind, first + i]);
  });
}

/** Checks that each lot has as many blocks stored as are left, and that no other blocks are stored. `lots` as of auditLots. */
export async function auditBlocks(auditor: Auditor, lots: ReadonlyMap<string, boolean>) {
  const held = new Map<string, HeldLot>();
  let next = 0;
  await auditor.walk(HELD_LOTS, (ordinal, lot) => {
    if (lot.ordinal !== ordinal)
      auditor.problem(`lot ${lot.lotId} is held as ${ordinal}, not ${lot.ordinal}`);
    if (held.has(lot.lotId)) auditor.problem(`lot ${lot.lotId} is held twice`);
    if (lots.get(lot.lotId) === false) auditor.problem(`lot ${lot.lotId} was not accepted and has blocks`);
    held.set(lot.lotId, lot);
    for (const { first, count } of [lot.pure, lot.seed]) {
      if (count > 0 && first < next) auditor.problem(`blocks from ${first} on are of two lots`);
      if (count > 0) next = first + count;
    }
  });
  const stored = new Map<string, { blocks: number; bytes: number }>();
  let blocksUnclaimed = 0;
  await auditor.walk(BLOCKS, ([kind, ordinal], { lotId, sealed }) => {
    const { first = 0, count = 0 } = held.get(lotId)?.[kind] ?? {};
    if (ordinal < first || ordinal >= first + count)
      auditor.problem(`block ${kind} ${ordinal} is not of the lot ${lotId} that it names`);
    const { blocks, bytes } = stored.get(`${lotId} ${kind}`) ?? { blocks: 0, bytes: 0 };
    stored.set(`${lotId} ${kind}`, { blocks: blocks + 1, bytes: bytes + sealed.length - SEAL_BYTES });
    blocksUnclaimed++;
  });
  for (const lot of held.values())
    for (const kind of BLOCK_KINDS) {
      const { blocks, bytes } = stored.get(`${lot.lotId} ${kind}`) ?? { blocks: 0, bytes: 0 };
      const { left, bytes: bytesLeft } = lot[kind];
      if (blocks !== left || bytes !== bytesLeft)
        auditor.problem(
          `lot ${lot.lotId} is held with ${left} ${kind} blocks of ${bytesLeft} bytes left, and ${blocks} of ${bytes} are stored`,
        );
    }
  return { blocksUnclaimed, blocksClaimed: ((await auditor.count('blocks')) ?? 0) - blocksUnclaimed };
}
