import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/assert.ts';
import { concatBytes, toHex, wipe } from '../../core/bytes.ts';
import type { Log } from '../../core/log.ts';
import { BlockCommitment } from '../../crypto/block-commitment.ts';
import { sha256 } from '../../crypto/digest.ts';
import { seedHash } from '../../crypto/hash-tree.ts';
import { newRecipientKey, recipientOf } from '../../crypto/sealed-box.ts';
import type { ParcelCounts } from '../integrity.ts';
import { type BlockRun, type ParcelLabel, ParcelSeal } from '../parcel-box.ts';
import {
  BLOCK_KINDS,
  type BlockKind,
  type ClaimedBlock,
  type LotRecord,
  PURE_BLOCK_BYTES,
  SEED_BLOCK_BYTES,
} from '../records.ts';
import type { Database, Session } from './connection.ts';
import { type LotPart, storePart } from './lot-parts.ts';
import type { PostgresLots } from './lots.ts';
import { CALL_SLOT, type NodeEpoch } from './node.ts';

/** What is asked for and given, in blocks of a kind. */
export interface ParcelMarks {
  /** A node asks while it has fewer. */
  readonly askBelow: number;
  /** A node gives none that would leave it with fewer. At least `askBelow`, or blocks would wander. */
  readonly keep: number;
}

export interface ParcelsOptions {
  readonly database: Database;
  readonly node: NodeEpoch;
  readonly lots: Pick<PostgresLots, 'claimBlocks' | 'blockLevels' | 'lot' | 'addParts'>;
  /** A secret that all nodes have. */
  readonly shared: Uint8Array;
  readonly marks: Readonly<Record<BlockKind, ParcelMarks>>;
  readonly log: Log;
}

const STEP_INTERVAL_MS = 500;
/** One-time keys that a node has published at most: as many parcels may be under way to it. */
const OPEN_REQUESTS: Readonly<Record<BlockKind, number>> = { pure: 4, seed: 1 };
const PARCEL_BLOCKS: Readonly<Record<BlockKind, number>> = { pure: 32, seed: 8 };
/** Parcels that a node sends or takes in one step, at most. */
const PARCELS_PER_STEP = 4;
/** A request is made anew after this time, so that nobody seals blocks for a node that is gone. */
const REQUEST_RENEWED_MS = 10_000;
/** Older requests are not answered. */
const REQUEST_FRESH_MS = 15_000;
const HASH_BYTES = 32;

/** $1, $2 and CALL_SLOT: a fenced node finds no row. */
const FENCE = `WITH fence AS (SELECT 1 FROM qrn.slot WHERE node = $1 AND slot = ${CALL_SLOT} AND epoch = $2 FOR SHARE)`;
const NOW_MS = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

const ASK = {
  name: 'parcels_ask',
  text: `${FENCE} INSERT INTO qrn.parcel (id, kind, recipient, recipient_epoch, proof)
SELECT $3, $4, $1, $2, $5 FROM fence ON CONFLICT (id) DO NOTHING`,
};
const OWN = {
  name: 'parcels_own',
  text: `SELECT id, kind, box IS NOT NULL AS is_sealed, ${NOW_MS} - asked_at_ms AS age_ms FROM qrn.parcel
WHERE recipient = $1 AND recipient_epoch = $2`,
};
const WITHDRAW = {
  name: 'parcels_withdraw',
  text: 'DELETE FROM qrn.parcel WHERE id = ANY($1) AND box IS NULL RETURNING id',
};
const RESERVE = {
  name: 'parcels_reserve',
  text: `${FENCE}, wanted AS (
  SELECT parcel.id FROM qrn.parcel JOIN qrn.slot ON slot.node = recipient AND slot.slot = ${CALL_SLOT} AND slot.epoch = recipient_epoch
  WHERE sender IS NULL AND recipient <> $1 AND kind = $3 AND asked_at_ms > ${NOW_MS} - ${REQUEST_FRESH_MS}
  ORDER BY asked_at_ms LIMIT 1 FOR UPDATE OF parcel SKIP LOCKED)
UPDATE qrn.parcel SET sender = $1, sender_epoch = $2 FROM wanted, fence WHERE parcel.id = wanted.id
RETURNING parcel.id, recipient, recipient_epoch, proof`,
};
const LET_GO = {
  name: 'parcels_let_go',
  text: `UPDATE qrn.parcel SET sender = NULL, sender_epoch = NULL
WHERE id = $3 AND sender = $1 AND sender_epoch = $2 AND box IS NULL`,
};
/** Gives no row when the request was withdrawn, or this node was fenced. */
const SEND = {
  name: 'parcels_send',
  text: `${FENCE} UPDATE qrn.parcel SET runs = $4, box = $5 FROM fence
WHERE id = $3 AND sender = $1 AND sender_epoch = $2 AND (box IS NULL OR box = $5) RETURNING id`,
};
const IS_TAKEN = { name: 'parcels_is_taken', text: 'SELECT 1 FROM qrn.lot_part WHERE parcel = $1 LIMIT 1' };
const ARRIVED = {
  name: 'parcels_arrived',
  text: `SELECT id, kind, sender, sender_epoch, runs, box FROM qrn.parcel
WHERE recipient = $1 AND recipient_epoch = $2 AND box IS NOT NULL ORDER BY asked_at_ms LIMIT ${PARCELS_PER_STEP}`,
};
const TAKE = {
  name: 'parcels_take',
  text: `${FENCE} DELETE FROM qrn.parcel USING fence WHERE id = $3 RETURNING id`,
};
const IS_REVOKED = {
  name: 'parcels_is_revoked',
  text: 'SELECT 1 FROM qrn.revocation WHERE lot_id = ANY($1) LIMIT 1',
};
const DROP = { name: 'parcels_drop', text: 'DELETE FROM qrn.parcel WHERE id = $1' };
/** What an earlier life of the node asked for, nobody can open any more. */
const FORGET = {
  name: 'parcels_forget',
  text: `DELETE FROM qrn.parcel
WHERE recipient = $1 AND recipient_epoch < $2 OR sender = $1 AND sender_epoch < $2 AND (box IS NULL OR $3)`,
};
const BURN_PARTS = {
  name: 'parcels_burn_parts',
  text: 'UPDATE qrn.lot_part SET burned = true WHERE node = $1',
};

interface OwnRequest {
  readonly id: Uint8Array;
  readonly kind: BlockKind;
  readonly is_sealed: boolean;
  readonly age_ms: number;
}

interface ArrivedParcel {
  readonly id: Uint8Array;
  readonly kind: BlockKind;
  readonly sender: number;
  readonly sender_epoch: number;
  readonly runs: unknown;
  readonly box: Uint8Array;
}

/** Why a parcel or a request is not accepted. Its bytes are erased, and the row goes. */
class Refusal extends Error {
  override name = 'Refusal';
}

/**
 * Blocks that move between nodes, so that one node with a quantum source feeds the others. A node that runs low publishes
 * one-time public keys. A node that has enough reserves one of them, claims blocks as for a delivery (their keys are
 * erased), seals them to the key and stores the parcel. The recipient opens it, erases the one-time secret, and takes the
 * parcel in the transaction that makes the blocks its own.
 *
 * Blocks are delivered once or burned. The secret of a one-time key is in the recipient's memory alone: a parcel whose
 * recipient died, or that comes a second time from a copy of the database, opens for nobody.
 */
export class Parcels {
  readonly #options: ParcelsOptions;
  readonly #seal: ParcelSeal;
  /** One-time secrets by the public key, in hex. */
  readonly #secrets = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #counts = { blocksSent: 0, blocksReceived: 0, blocksBurned: 0, refused: 0 };
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: ParcelsOptions) {
    this.#options = options;
    this.#seal = new ParcelSeal(options.shared);
  }

  counts(): ParcelCounts {
    return { ...this.#counts };
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Withdraws what this node asked for; what was sealed for it meanwhile is burned. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    const { database } = this.#options;
    const ids = [...this.#secrets.keys()].map((id) => Buffer.from(id, 'hex'));
    for (const secret of this.#secrets.values()) wipe(secret);
    this.#secrets.clear();
    this.#seal.erase();
    if (ids.length > 0) await database.run(WITHDRAW, [ids]).catch(() => {}); // the next start forgets them
  }

  /** Takes what came, asks for what is missing, and gives what others ask for. */
  async step(): Promise<void> {
    await this.#receive();
    const { database, node } = this.#options;
    const open = await database.run<OwnRequest>(OWN, [node.number, node.epoch]);
    const known = new Set(open.map(({ id }) => toHex(id)));
    for (const id of this.#secrets.keys()) if (!known.has(id)) this.#forget(id);
    for (const kind of BLOCK_KINDS) {
      await this.#ask(
        kind,
        open.filter((row) => row.kind === kind),
      );
    }
    for (const kind of BLOCK_KINDS) await this.#give(kind);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { log } = this.#options;
    let failed = false;
    while (!signal.aborted) {
      try {
        await this.step();
        failed = false;
      } catch (error) {
        if (!failed) log.error({ reason: messageOf(error) }, 'parcels: a step failed; it is tried again');
        failed = true;
      }
      await sleep(STEP_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  async #ask(kind: BlockKind, open: readonly OwnRequest[]): Promise<void> {
    const { database, lots, marks } = this.#options;
    const { blocks } = (await lots.blockLevels())[kind];
    const missing = marks[kind].askBelow - blocks;
    const old = open.filter((row) => !row.is_sealed && (missing <= 0 || row.age_ms > REQUEST_RENEWED_MS));
    if (old.length > 0) {
      const gone = await database.run<{ id: Uint8Array }>(WITHDRAW, [old.map(({ id }) => id)]);
      for (const { id } of gone) this.#forget(toHex(id));
    }
    const wanted = Math.min(Math.ceil(missing / PARCEL_BLOCKS[kind]), OPEN_REQUESTS[kind]);
    for (let i = open.length - old.length; i < wanted; i++) await this.#publish(kind);
  }

  async #publish(kind: BlockKind): Promise<void> {
    const { database, node } = this.#options;
    const secret = newRecipientKey();
    const publicKey = recipientOf(secret);
    const id = toHex(publicKey);
    this.#secrets.set(id, secret); // before anybody can seal to it
    try {
      const proof = this.#seal.proof({ publicKey, kind, recipient: node });
      await database.run(ASK, [node.number, node.epoch, publicKey, kind, proof]);
    } catch (error) {
      this.#forget(id); // whether it was published is unknown
      throw error;
    }
  }

  async #give(kind: BlockKind): Promise<void> {
    const { lots, marks } = this.#options;
    for (let given = 0; given < PARCELS_PER_STEP; given++) {
      const { blocks } = (await lots.blockLevels())[kind];
      const count = Math.min(PARCEL_BLOCKS[kind], blocks - marks[kind].keep);
      if (count <= 0 || !(await this.#answer(kind, count))) return;
    }
  }

  /** False when nobody asks, or no block may be claimed now. */
  async #answer(kind: BlockKind, count: number): Promise<boolean> {
    const { database, node, lots, log } = this.#options;
    const own = [node.number, node.epoch];
    const [asked] = await database.run<{
      id: Uint8Array;
      recipient: number;
      recipient_epoch: number;
      proof: Uint8Array;
    }>(RESERVE, [...own, kind]);
    if (asked === undefined) return false;
    const recipient = { number: asked.recipient, epoch: asked.recipient_epoch };
    const request = { publicKey: asked.id, kind, recipient };
    if (!this.#seal.isProof(request, asked.proof)) {
      this.#refuse(kind, 'a request for blocks that no node of the cluster made');
      await database.run(DROP, [asked.id]);
      return true;
    }
    const claimed = await lots.claimBlocks(kind, count);
    if (claimed.length === 0) {
      await database.run(LET_GO, [...own, asked.id]);
      return false;
    }
    let isSent = false;
    try {
      const label = { ...request, sender: node, runs: runsOf(claimed) };
      const bytes = concatBytes(...claimed.map((block) => block.bytes));
      const box = this.#seal.seal(label, bytes);
      wipe(bytes);
      const sent = await database.run(SEND, [...own, asked.id, JSON.stringify(label.runs), box]);
      isSent = sent.length > 0 || (await database.run(IS_TAKEN, [asked.id])).length > 0;
    } finally {
      for (const block of claimed) wipe(block.bytes);
      this.#counts[isSent ? 'blocksSent' : 'blocksBurned'] += claimed.length;
      const facts = { kind, blocks: claimed.length, to: recipient.number };
      if (isSent) log.info(facts, 'parcels: blocks sent to another node');
      else log.warn(facts, 'parcels: blocks burned: their recipient had gone, or PostgreSQL did not answer');
    }
    return true;
  }

  async #receive(): Promise<void> {
    const { database, node } = this.#options;
    if (this.#secrets.size === 0) return;
    for (const parcel of await database.run<ArrivedParcel>(ARRIVED, [node.number, node.epoch]))
      await this.#open(parcel);
  }

  async #open(parcel: ArrivedParcel): Promise<void> {
    const { database, node, lots, log } = this.#options;
    const { id, kind, sender, sender_epoch: epoch } = parcel;
    const runs = runsIn(parcel.runs);
    const count = runs.reduce((sum, run) => sum + run.count, 0);
    const label = { publicKey: id, kind, recipient: node, sender: { number: sender, epoch }, runs };
    let bytes: Uint8Array<ArrayBuffer> | undefined;
    try {
      bytes = this.#openOnce(label, parcel.box);
      const parts = await this.#partsOf(label, bytes);
      await lots.addParts(parts, (session) => this.#take(session, label));
      this.#counts.blocksReceived += count;
      log.info({ kind, blocks: count, from: sender }, 'parcels: blocks received from another node');
    } catch (error) {
      if (bytes !== undefined) this.#counts.blocksBurned += count;
      if (!(error instanceof Refusal)) throw error;
      this.#refuse(kind, error.message, sender);
      await database.run(DROP, [id]);
    } finally {
      if (bytes !== undefined) wipe(bytes);
    }
  }

  /** The secret is gone after the first try, whatever comes of it. */
  #openOnce(label: ParcelLabel, box: Uint8Array): Uint8Array<ArrayBuffer> {
    const secret = this.#secrets.get(toHex(label.publicKey));
    if (secret === undefined)
      throw new Refusal('a parcel for a key that this node did not make, or used before');
    const bytes = this.#seal.open(label, secret, box);
    this.#forget(toHex(label.publicKey));
    if (bytes === undefined) throw new Refusal('a parcel that was altered, or was sealed for another place');
    return bytes;
  }

  async #partsOf(label: ParcelLabel, bytes: Uint8Array): Promise<LotPart[]> {
    const { kind } = label;
    const parts: LotPart[] = [];
    let at = 0;
    for (const run of label.runs) {
      const lot = await this.#options.lots.lot(run.lotId);
      if (lot === undefined)
        throw new Refusal(`a parcel of lot ${run.lotId}, which PostgreSQL does not have`);
      const blocks = Array.from({ length: run.count }, (_, i) =>
        bytes.subarray(at, (at += blockBytes(lot, kind, run.first + i))),
      );
      for (const [i, block] of blocks.entries()) {
        if (!isCommitted(lot, kind, run.first + i, block))
          throw new Refusal(`a parcel whose blocks are not those of lot ${run.lotId}`);
      }
      parts.push({ parcel: label.publicKey, kind, lot, run, blocks });
    }
    if (at !== bytes.length)
      throw new Refusal('a parcel whose bytes are not those of the blocks that it names');
    return parts;
  }

  /** Ends the parcel and makes its blocks this node's. May run again after a commit whose outcome is unknown. */
  async #take(session: Session, { publicKey, kind, runs, sender, recipient }: ParcelLabel): Promise<void> {
    const taken = await session.run(TAKE, [recipient.number, recipient.epoch, publicKey]);
    if (taken.length === 0) {
      if ((await session.run(IS_TAKEN, [publicKey])).length > 0) return;
      throw new Refusal('a parcel that was withdrawn: its sender or this node was fenced');
    }
    for (const run of runs)
      await storePart(session, { parcel: publicKey, kind, run, node: recipient.number, from: sender.number });
    // After the parts, so that a later revocation finds them.
    const lotIds = runs.map(({ lotId }) => lotId);
    if ((await session.run(IS_REVOKED, [lotIds])).length > 0)
      throw new Refusal('a parcel of a lot that was revoked meanwhile');
  }

  #refuse(kind: BlockKind, what: string, from?: number): void {
    this.#counts.refused++;
    this.#options.log.error({ kind, ...(from === undefined ? {} : { from }) }, `parcels: refused ${what}`);
  }

  #forget(publicKey: string): void {
    const secret = this.#secrets.get(publicKey);
    if (secret !== undefined) wipe(secret);
    this.#secrets.delete(publicKey);
  }
}

/** Burns what earlier lives of a node asked for and reserved, and all that a fenced node has sent or received. */
export async function settleParcels(
  session: Session,
  node: NodeEpoch,
  why: 'start' | 'fence',
): Promise<void> {
  await session.run(FORGET, [node.number, node.epoch, why === 'fence']);
  if (why === 'fence') await session.run(BURN_PARTS, [node.number]);
}

/** Claimed blocks as runs of neighbours. */
function runsOf(blocks: readonly ClaimedBlock[]): BlockRun[] {
  const runs: { lotId: string; first: number; count: number }[] = [];
  for (const { lotId, index } of blocks) {
    const last = runs.at(-1);
    if (last?.lotId === lotId && last.first + last.count === index) last.count++;
    else runs.push({ lotId, first: index, count: 1 });
  }
  return runs;
}

/** What stands in the row may be anything; of what is not a run nothing opens. */
function runsIn(value: unknown): BlockRun[] {
  const isRun = (run: Partial<BlockRun> | null) =>
    typeof run?.lotId === 'string' && Number.isSafeInteger(run.first) && Number.isSafeInteger(run.count);
  return Array.isArray(value) && value.every(isRun) ? (value as BlockRun[]) : [];
}

/** Of the block with this place in its lot: the last pure block may be shorter. Lots without a commitment tell no size. */
function blockBytes({ commitment }: LotRecord, kind: BlockKind, index: number): number {
  if (kind === 'seed') return SEED_BLOCK_BYTES;
  const left = commitment === undefined ? PURE_BLOCK_BYTES : commitment.pureBytes - index * PURE_BLOCK_BYTES;
  return Math.max(0, Math.min(left, PURE_BLOCK_BYTES));
}

/** Whether it is the block that the lot's leaf in the log holds it to. Lots of releases that committed to none pass. */
function isCommitted({ commitment }: LotRecord, kind: BlockKind, index: number, block: Uint8Array): boolean {
  if (commitment === undefined) return true;
  const hashes = Buffer.from(kind === 'pure' ? commitment.blockRoots : commitment.seedHashes, 'base64');
  const expected = hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);
  if (kind === 'seed') return expected.equals(seedHash(sha256, block));
  const committed = new BlockCommitment(block);
  committed.erase();
  return expected.equals(committed.tree.root);
}
