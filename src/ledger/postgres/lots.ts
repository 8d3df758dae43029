import type { SeededTier } from '../../core/vocabulary.ts';
import { admissionOf, lotStored, SOURCES_LOCK } from '../domain/sources.ts';
import { type EntropyStore, type Ledger, LedgerError } from '../ledger.ts';
import type { BlockKind, ClaimedBlock, LotRecord, LotRevocation } from '../records.ts';
import { COMMIT_NOTHING, type Database, type Session } from './connection.ts';
import { lockDirectory, nextDirectoryVersion } from './directory.ts';
import { type NamedEpoch, requireEpoch } from './node.ts';
import { inSession, lockIn } from './postgres-store.ts';

const LOT = { name: 'lots_lot', text: 'SELECT record FROM qrn.lot WHERE id = $1' };
const ADD = {
  name: 'lots_add',
  text: `INSERT INTO qrn.lot (id, node, source, record, is_pending)
VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING RETURNING id`,
};
const NEWEST = {
  name: 'lots_newest',
  text: 'SELECT record FROM qrn.lot ORDER BY ordinal DESC LIMIT $1',
};
const NEWEST_OF_SOURCE = {
  name: 'lots_newest_of_source',
  text: 'SELECT record FROM qrn.lot WHERE source = $2 ORDER BY ordinal DESC LIMIT $1',
};
const PENDING = {
  name: 'lots_pending',
  text: 'SELECT record FROM qrn.lot WHERE is_pending ORDER BY ordinal LIMIT $1',
};
/** Of this node alone: in a folder that was copied from another node, or belonged to one, nothing is its own. */
const STATES = {
  name: 'lots_states',
  text: `SELECT id, is_pending, released_at_ms, burned FROM qrn.lot WHERE id = ANY($1) AND node = $2`,
};
const REVOCATION = { name: 'lots_revocation', text: 'SELECT 1 FROM qrn.revocation WHERE lot_id = $1' };
const REVOKE = {
  name: 'lots_revoke',
  text: 'INSERT INTO qrn.revocation (lot_id, why, at_ms, version) VALUES ($1, $2, $3, $4)',
};
const REVOCATIONS = {
  name: 'lots_revocations',
  text: 'SELECT lot_id, why, at_ms FROM qrn.revocation ORDER BY at_ms, lot_id COLLATE "C"',
};
const OWN_REVOCATIONS = {
  name: 'lots_own_revocations',
  text: `SELECT lot_id, why, at_ms, version FROM qrn.revocation JOIN qrn.lot ON lot.id = lot_id
WHERE version > $2 AND node = $1 ORDER BY version`,
};
const NEXT_GENERATION = {
  name: 'lots_next_generation',
  text: `INSERT INTO qrn.seed_generation (tier, last) VALUES ($1, 1)
ON CONFLICT (tier) DO UPDATE SET last = seed_generation.last + 1 RETURNING last`,
};

interface LotState {
  readonly id: string;
  readonly is_pending: boolean;
  readonly released_at_ms: number | null;
  readonly burned: boolean;
}

interface RevocationRow {
  readonly lot_id: string;
  readonly why: string;
  readonly at_ms: number;
}

interface VersionedRevocation extends RevocationRow {
  readonly version: number;
}

/** Lots of one step of `follow`. More are settled by the next one. */
const FOLLOWED_MAX = 1_024;
const ALL = Number.MAX_SAFE_INTEGER;
/** The blocks of this node, in a folder of its own. */
type BlockFolder = Pick<
  Ledger,
  | 'addLot'
  | 'lot'
  | 'lots'
  | 'pendingLots'
  | 'putLog'
  | 'revokeLot'
  | 'claimBlocks'
  | 'blockLevels'
  | 'unclaimedBlocks'
>;

/** A node that has blocks. */
export interface BlockOwner {
  readonly node: NamedEpoch;
  readonly folder: BlockFolder;
}

/**
 * Lots of all nodes, over the blocks of this one. PostgreSQL would keep what was delivered in its log, its standbys and
 * its backups, so blocks stay in the folder of the node that has them, under the keys of that node.
 *
 * A lot comes in three steps: it is stored in the folder, where it is pending; then the lot and its job are stored in
 * PostgreSQL; then the folder releases it, once PostgreSQL has. After a crash the folder has a pending lot that PostgreSQL
 * does not have, and gives it up. What PostgreSQL says of a lot, the folder learns before each claim.
 */
export class PostgresLots implements EntropyStore {
  readonly #database: Database;
  readonly #owner: BlockOwner | undefined;
  /** Lots whose second step is under way. */
  readonly #adding = new Set<string>();
  /** The version of the directory up to which the folder knows revocations; undefined before the first look. */
  #revokedTo: number | undefined;
  #following: Promise<void> = Promise.resolve();

  /** A command has no blocks: `owner` is undefined. */
  constructor(database: Database, owner: BlockOwner | undefined) {
    this.#database = database;
    this.#owner = owner;
  }

  async addLot(
    lot: LotRecord,
    blocks: readonly { kind: BlockKind; bytes: Uint8Array }[],
    jobKey?: string,
  ): Promise<boolean> {
    const { folder } = this.#requireOwner();
    if (!lot.accepted && blocks.length > 0)
      throw new LedgerError('refused', `lot ${lot.id} was not accepted: nothing may be drawn from it`);
    // before the blocks are stored: what is refused leaves nothing behind
    const known = await this.#database.transact((session) => admission(session, lot.id, jobKey));
    if (known !== 'new') return known === 'given';
    this.#adding.add(lot.id);
    try {
      if (blocks.length > 0) await folder.addLot(lot, blocks);
      return await this.#database.transact((session) => this.#add(session, lot, jobKey));
    } finally {
      this.#adding.delete(lot.id);
      await this.#follow().catch(() => {}); // the next claim does it
    }
  }

  /** Gives up all blocks of the folder: it is older than what this node did since, and some may have been delivered. */
  async giveUpAll(): Promise<void> {
    const { folder } = this.#requireOwner();
    for (const { id } of await folder.lots(ALL))
      await folder.revokeLot({ lotId: id, why: 'the folder of blocks is an earlier copy', atMs: 0 });
  }

  async lot(id: string): Promise<LotRecord | undefined> {
    const [row] = await this.#database.run<{ record: LotRecord }>(LOT, [id]);
    return row?.record;
  }

  async lots(limit: number, source?: string): Promise<LotRecord[]> {
    const rows =
      source === undefined
        ? await this.#database.run<{ record: LotRecord }>(NEWEST, [limit])
        : await this.#database.run<{ record: LotRecord }>(NEWEST_OF_SOURCE, [limit, source]);
    return rows.map(({ record }) => record);
  }

  /** Blocks on this node: those of other nodes are not known here. */
  async unclaimedBlocks(lotId: string): Promise<number> {
    return (await this.#owner?.folder.unclaimedBlocks(lotId)) ?? 0;
  }

  /** Gives nothing while PostgreSQL is away: a lot may have been withdrawn. */
  async claimBlocks(kind: BlockKind, max: number): Promise<ClaimedBlock[]> {
    const { folder } = this.#requireOwner();
    await this.#follow();
    return folder.claimBlocks(kind, max);
  }

  /** Of this node. */
  async blockLevels(): Promise<Record<BlockKind, { blocks: number; bytes: number }>> {
    const none = { blocks: 0, bytes: 0 };
    return (await this.#owner?.folder.blockLevels()) ?? { pure: none, seed: none };
  }

  async pendingLots(limit: number): Promise<LotRecord[]> {
    const rows = await this.#database.run<{ record: LotRecord }>(PENDING, [limit]);
    return rows.map(({ record }) => record);
  }

  /** The first revocation of a lot stays. */
  async revokeLot({ lotId, why, atMs }: LotRevocation): Promise<void> {
    await this.#database.transact(async (session) => {
      await lockDirectory(session);
      const [lot] = await session.run(LOT, [lotId]);
      if (lot === undefined) throw new LedgerError('refused', `there is no lot ${lotId}`);
      const [revocation] = await session.run(REVOCATION, [lotId]);
      if (revocation !== undefined) return;
      await session.run(REVOKE, [lotId, why, atMs, await nextDirectoryVersion(session)]);
    });
    await this.#follow();
  }

  async revocations(): Promise<LotRevocation[]> {
    const rows = await this.#database.run<RevocationRow>(REVOCATIONS);
    return rows.map(revocationOf);
  }

  async nextSeedGeneration(tier: SeededTier): Promise<number> {
    const [{ last }] = await this.#database.run<{ last: number }>(NEXT_GENERATION, [tier]);
    return last;
  }

  #requireOwner(): BlockOwner {
    if (this.#owner === undefined) throw new LedgerError('refused', 'blocks are for a node, not for a tool');
    return this.#owner;
  }

  async #add(session: Session, lot: LotRecord, jobKey: string | undefined): Promise<boolean> {
    await requireEpoch(session, this.#owner?.node);
    if (jobKey !== undefined) await lockIn(session, [SOURCES_LOCK]);
    const known = await admission(session, lot.id, jobKey);
    if (known !== 'new') return known === 'given';
    const values = [lot.id, this.#owner?.node.number, lot.source, JSON.stringify(lot), lot.accepted];
    const [added] = await session.run(ADD, values);
    if (added === undefined) return (await admission(session, lot.id, jobKey)) === 'given';
    if (jobKey !== undefined) await inSession(session, lotStored(jobKey, lot.id));
    return true;
  }

  /** Tells the folder what PostgreSQL says of its lots. */
  #follow(): Promise<void> {
    const owner = this.#owner;
    return owner === undefined ? Promise.resolve() : this.#inOrder(() => this.#followOnce(owner));
  }

  async #followOnce(owner: BlockOwner): Promise<void> {
    await this.#followRevocations(owner);
    await this.#followReleases(owner);
  }

  #inOrder(step: () => Promise<void>): Promise<void> {
    const done = this.#following.then(step);
    this.#following = done.catch(() => {}); // told to the caller
    return done;
  }

  async #followRevocations(owner: BlockOwner): Promise<void> {
    const { node, folder } = owner;
    if (this.#revokedTo === undefined) await this.#giveUpLost(owner);
    const rows = await this.#revocationsSince(node.number, this.#revokedTo ?? 0);
    for (const row of rows) await giveUp(folder, revocationOf(row));
    this.#revokedTo = rows.at(-1)?.version ?? this.#revokedTo ?? 0;
  }

  /** Withdrawals that a standby has: after a failover another one might bear the version, and would not be looked for. */
  async #revocationsSince(node: number, version: number): Promise<VersionedRevocation[]> {
    const read = (session: Session) => session.run<VersionedRevocation>(OWN_REVOCATIONS, [node, version]);
    if ((await read(this.#database)).length === 0) return [];
    return this.#database.transact(async (session) => {
      await session.run(COMMIT_NOTHING);
      return read(session);
    });
  }

  /**
   * At a start: gives up blocks whose lot PostgreSQL burned when it fenced this node, has as pending although the folder
   * does not, gave to another node, or does not have, as after the restore of an earlier database.
   */
  async #giveUpLost({ node, folder }: BlockOwner): Promise<void> {
    const pending = new Set((await folder.pendingLots(ALL)).map(({ id }) => id));
    const free: string[] = [];
    for (const { id } of await folder.lots(ALL))
      if (!pending.has(id) && (await folder.unclaimedBlocks(id)) > 0) free.push(id);
    const states = await this.#statesOf(free, node.number);
    for (const id of free) {
      const state = states.get(id);
      if (state === undefined || state.burned || state.is_pending)
        await giveUp(folder, { lotId: id, why: 'PostgreSQL does not let it be drawn from', atMs: 0 });
    }
  }

  async #statesOf(lotIds: readonly string[], node: number): Promise<Map<string, LotState>> {
    const rows = await this.#database.run<LotState>(STATES, [lotIds, node]);
    return new Map(rows.map((row) => [row.id, row]));
  }

  async #followReleases({ node, folder }: BlockOwner): Promise<void> {
    const pending = await folder.pendingLots(FOLLOWED_MAX);
    const adding = new Set(this.#adding); // all others of these are in PostgreSQL by now, or never will be
    if (pending.length === 0) return;
    const ids = pending.map(({ id }) => id);
    const states = await this.#statesOf(ids, node.number);
    for (const id of ids) {
      const state = states.get(id);
      if (state === undefined && adding.has(id)) return; // the folder releases lots in the order in which they came
      const isLost = state === undefined || state.burned;
      if (isLost) await giveUp(folder, { lotId: id, why: 'PostgreSQL does not have it', atMs: 0 });
      else if (state.is_pending) return;
      await folder.putLog([], undefined, { lotIds: [id], atMs: state?.released_at_ms ?? 0 });
    }
  }
}

async function admission(session: Session, lotId: string, jobKey: string | undefined) {
  const [stored] = await session.run(LOT, [lotId]);
  return inSession(session, admissionOf(lotId, stored !== undefined, jobKey));
}

async function giveUp(folder: BlockFolder, revocation: LotRevocation): Promise<void> {
  if ((await folder.lot(revocation.lotId)) !== undefined) await folder.revokeLot(revocation);
}

function revocationOf({ lot_id, why, at_ms }: RevocationRow): LotRevocation {
  return { lotId: lot_id, why, atMs: at_ms };
}
