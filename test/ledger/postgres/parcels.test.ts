import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { openLmdbLedger } from '../../../src/ledger/lmdb/lmdb.ts';
import type { LmdbLedger } from '../../../src/ledger/lmdb/lmdb-ledger.ts';
import { Database, type Statement } from '../../../src/ledger/postgres/connection.ts';
import { PostgresLots } from '../../../src/ledger/postgres/lots.ts';
import { fenceNode, NodeIdentity } from '../../../src/ledger/postgres/node.ts';
import { Parcels, settleParcels } from '../../../src/ledger/postgres/parcels.ts';
import { type BlockKind, type ClaimedBlock, PURE_BLOCK_BYTES } from '../../../src/ledger/records.ts';
import { commitmentOf } from '../../../src/pool/intake/lot-commitment.ts';
import { lot, lotId, NOON_MS } from '../../support/ledger-records.ts';
import { emptiedDatabase } from '../../support/postgres.ts';

/** Blocks that move between two nodes on one PostgreSQL, each with a folder of its own. */
const SHARED = new Uint8Array(32).fill(7);
const MARKS = { pure: { askBelow: 4, keep: 2 }, seed: { askBelow: 2, keep: 1 } };
/** Asks for nothing. */
const RICH = { pure: { askBelow: 0, keep: 2 }, seed: { askBelow: 0, keep: 1 } };

interface Node {
  readonly identity: NodeIdentity;
  readonly folder: LmdbLedger;
  readonly lots: PostgresLots;
  /** What the parcels are given of the lots; a test replaces calls of it. */
  readonly calls: Mutable<Pick<PostgresLots, 'claimBlocks' | 'blockLevels' | 'lot' | 'addParts'>>;
  parcels: Parcels;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The last pure block of a lot is shorter. */
const LAST_BYTES = 1_056;
/** Pure blocks of each lot of the test. */
const pureBlocks = new Map<number, number>();

const folder = mkdtempSync(join(tmpdir(), 'qrn-parcels-'));
let database: Database;
const opened: (() => Promise<void>)[] = [];
let tests = 0;

async function startNode(name: string, marks = MARKS, shared = SHARED): Promise<Node> {
  const identity = await NodeIdentity.start({ database, name, clock: systemClock, log: silentLog });
  const path = join(folder, `${tests}-${name}`);
  const options = { path, clock: systemClock, log: silentLog, durability: 'commit', fronts: 0 } as const;
  const ledger = await openLmdbLedger({ ...options, role: 'server', growAheadBytes: 0, freeBytesMin: 0 });
  const lots = new PostgresLots(database, { node: identity, folder: ledger });
  await database.transact((session) => settleParcels(session, identity, 'start'));
  const calls = {
    claimBlocks: lots.claimBlocks.bind(lots),
    blockLevels: lots.blockLevels.bind(lots),
    lot: lots.lot.bind(lots),
    addParts: lots.addParts.bind(lots),
  };
  const parcels = parcelsOf({ identity, calls }, marks, shared);
  opened.push(
    () => parcels.stop(),
    () => ledger.close(),
    () => identity.close(),
  );
  return { identity, folder: ledger, lots, calls, parcels };
}

/** A new life of what the node remembers of parcels. */
function parcelsOf(
  { identity, calls }: Pick<Node, 'identity' | 'calls'>,
  marks = MARKS,
  shared = SHARED,
): Parcels {
  return new Parcels({ database, node: identity, lots: calls, shared, marks, log: silentLog });
}

function contentOf(kind: BlockKind, n: number, index: number): Uint8Array {
  const isLast = index === pureBlocks.get(n)! - 1;
  const size = kind === 'seed' ? 32 : isLast ? LAST_BYTES : PURE_BLOCK_BYTES;
  const name = createHash('sha256').update(`${kind} ${n} ${index}`).digest();
  return Uint8Array.from({ length: size }, (_, i) => name[i % 32]);
}

async function addLot({ lots }: Node, n: number, pure: number, seed = 0): Promise<void> {
  pureBlocks.set(n, pure);
  const blocks = (['pure', 'seed'] as const).flatMap((kind) =>
    Array.from({ length: kind === 'pure' ? pure : seed }, (_, i) => ({ kind, bytes: contentOf(kind, n, i) })),
  );
  assert.ok(await lots.addLot(lot(n, { commitment: await commitmentOf(blocks) }), blocks));
  await lots.releaseLots([lotId(n)], NOON_MS);
}

function sql(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
  const statement: Statement = { name: createHash('md5').update(text).digest('hex'), text };
  return database.run<Record<string, unknown>>(statement, values);
}

/** Every claimed block as lot and place; asserts that its bytes are those of the lot. */
function placesOf(blocks: readonly ClaimedBlock[], kind: BlockKind = 'pure'): string[] {
  return blocks.map(({ lotId: id, index, bytes, releasedAtMs }) => {
    const n = [1, 2].find((each) => lotId(each) === id);
    assert.ok(n !== undefined);
    assert.deepEqual(new Uint8Array(bytes), contentOf(kind, n, index), `${kind} ${id} ${index}`);
    assert.equal(releasedAtMs, NOON_MS);
    return `${n}/${index}`;
  });
}

async function claimAll({ lots }: Node, kind: BlockKind = 'pure'): Promise<string[]> {
  return placesOf(await lots.claimBlocks(kind, 100), kind);
}

const levelOf = async ({ lots }: Node, kind: BlockKind = 'pure') => (await lots.blockLevels())[kind].blocks;

describe('parcels between two nodes', () => {
  let a: Node;
  let b: Node;

  async function close(): Promise<void> {
    for (const each of opened.splice(0)) await each();
    await database?.close();
  }
  after(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await close();
    tests++;
    const url = await emptiedDatabase({ after: (end) => opened.push(async () => end()) });
    database = new Database({ url, log: silentLog });
    a = await startNode('a', RICH);
    b = await startNode('b');
  });

  /** B asks, and A answers. */
  async function send(): Promise<void> {
    await b.parcels.step();
    await a.parcels.step();
  }

  it('bring blocks under their own lot and place, and each block to one node alone', async () => {
    await addLot(a, 1, 5, 4);
    await addLot(a, 2, 5);
    await send();
    assert.equal(await levelOf(a), 2);
    await b.parcels.step();
    assert.deepEqual([await levelOf(b), await levelOf(b, 'seed')], [8, 3]);
    assert.equal(await b.lots.unclaimedBlocks(lotId(1)), 5 + 3);
    assert.deepEqual(await claimAll(a), ['2/3', '2/4']);
    assert.deepEqual(await claimAll(b), ['1/0', '1/1', '1/2', '1/3', '1/4', '2/0', '2/1', '2/2']);
    assert.deepEqual(
      [await claimAll(a, 'seed'), await claimAll(b, 'seed')],
      [['1/3'], ['1/0', '1/1', '1/2']],
    );
    assert.deepEqual(await sql('SELECT count(*)::int AS parcels FROM qrn.parcel WHERE box IS NOT NULL'), [
      { parcels: 0 },
    ]);
    assert.deepEqual(a.parcels.counts(), { blocksSent: 11, blocksReceived: 0, blocksBurned: 0, refused: 0 });
    assert.deepEqual(b.parcels.counts(), { blocksSent: 0, blocksReceived: 11, blocksBurned: 0, refused: 0 });
  });

  it('leave the sender its floor, and are asked for below the mark alone', async () => {
    await addLot(a, 1, 2, 1);
    await send();
    await b.parcels.step();
    assert.deepEqual([await levelOf(a), await levelOf(b)], [2, 0]);
    const keys = (kind: string) => sql('SELECT id FROM qrn.parcel WHERE kind = $1', [kind]);
    assert.equal((await keys('pure')).length, 1, 'one parcel would fill what is missing');
    await addLot(b, 2, 4);
    await b.parcels.step();
    assert.deepEqual(await keys('pure'), [], 'a node that has enough withdraws what it asked for');
    assert.equal((await keys('seed')).length, 1);
  });

  it('hold no byte of a block in the database', async () => {
    await addLot(a, 1, 6);
    await send();
    const [{ box }] = (await sql('SELECT box FROM qrn.parcel WHERE box IS NOT NULL')) as { box: Buffer }[];
    assert.ok(box.length > 4 * PURE_BLOCK_BYTES);
    for (let i = 0; i < 4; i++) {
      const content = Buffer.from(contentOf('pure', 1, i));
      assert.equal(box.indexOf(content.subarray(0, 8)), -1);
    }
  });

  it('burn what was sealed to a node that died, whose next life opens nothing', async () => {
    await addLot(a, 1, 6);
    await send();
    b.parcels = parcelsOf(b); // the secrets of its keys were in memory
    await b.parcels.step();
    assert.equal(await levelOf(b), 0);
    await b.identity.close();
    await startNode('b2'); // another node takes nothing of it either
    await b.folder.close();
    const next = await startNode('b');
    assert.deepEqual(await sql('SELECT id FROM qrn.parcel WHERE box IS NOT NULL'), []);
    await next.parcels.step();
    assert.deepEqual([await levelOf(next), await levelOf(a)], [0, 2]);
  });

  it('burn what a node claimed and could not send, because its recipient had gone', async () => {
    await addLot(a, 1, 6);
    await b.parcels.step();
    a.calls.claimBlocks = async (kind, max) => {
      const claimed = await a.lots.claimBlocks(kind, max);
      await b.parcels.stop(); // withdraws its keys
      return claimed;
    };
    await a.parcels.step();
    assert.deepEqual(a.parcels.counts(), { blocksSent: 0, blocksReceived: 0, blocksBurned: 4, refused: 0 });
    assert.deepEqual(await claimAll(a), ['1/4', '1/5']);
  });

  it('are burned when the recipient died between taking the parcel and storing it', async () => {
    await addLot(a, 1, 6);
    await send();
    b.calls.addParts = async (_parts, take) => {
      await database.transact(take);
      throw new Error('killed');
    };
    await assert.rejects(b.parcels.step(), /killed/);
    await b.parcels.step();
    assert.deepEqual([await levelOf(b), await levelOf(a)], [0, 2]);
    assert.equal(b.parcels.counts().blocksBurned, 4);
  });

  it('refuse a parcel that comes again, to the same node or to another', async () => {
    await addLot(a, 1, 6);
    await send();
    await sql('CREATE TABLE qrn.copy AS SELECT * FROM qrn.parcel WHERE box IS NOT NULL');
    const replay = async (recipient: number, epoch: number) => {
      await sql('UPDATE qrn.copy SET recipient = $1, recipient_epoch = $2', [recipient, epoch]);
      await sql('INSERT INTO qrn.parcel SELECT * FROM qrn.copy');
    };
    b.calls.addParts = async (parts, take) => {
      await b.lots.addParts(parts, take);
      await replay(b.identity.number, b.identity.epoch); // at once, so that no step without it is between
    };
    await b.parcels.step();
    assert.equal(await levelOf(b), 4);
    await b.parcels.step();
    assert.equal(b.parcels.counts().refused, 1);
    const c = await startNode('c');
    await c.parcels.step();
    await replay(c.identity.number, c.identity.epoch);
    await c.parcels.step();
    assert.deepEqual([c.parcels.counts().refused, await levelOf(c), await levelOf(b)], [1, 0, 4]);
    assert.deepEqual(await sql('SELECT id FROM qrn.parcel WHERE box IS NOT NULL'), []);
    await sql('DROP TABLE qrn.copy');
  });

  it('refuse a parcel that was altered, cut, relabelled or given to another key', async () => {
    const faults = [
      `box = set_byte(box, 40, get_byte(box, 40) # 1)`,
      `box = substr(box, 1, 60)`,
      `runs = '[{"lotId":"${lotId(1)}","first":1,"count":4}]'`,
      `runs = '"nothing"'`,
      `kind = 'seed'`,
      `sender = 99`,
      `sender_epoch = sender_epoch + 1`,
    ];
    await addLot(a, 1, 2 + 4 * faults.length);
    a.parcels = parcelsOf(a, { ...RICH, pure: { askBelow: 0, keep: 2 } });
    for (const [i, fault] of faults.entries()) {
      const level = await levelOf(a);
      a.parcels = parcelsOf(a, { ...RICH, pure: { askBelow: 0, keep: level - 4 } });
      await send();
      assert.equal(await levelOf(a), level - 4);
      await sql(`UPDATE qrn.parcel SET ${fault} WHERE box IS NOT NULL`);
      await b.parcels.step();
      assert.deepEqual([b.parcels.counts().refused, await levelOf(b)], [i + 1, 0], fault);
    }
  });

  it('refuse blocks that are not those of the lot, though a node sealed them', async () => {
    await addLot(a, 1, 6);
    a.calls.claimBlocks = async (kind, max) => {
      const claimed = await a.lots.claimBlocks(kind, max);
      claimed[1]?.bytes.fill(1, 0, 1);
      return claimed;
    };
    await send();
    await b.parcels.step();
    assert.deepEqual([b.parcels.counts().refused, await levelOf(b)], [1, 0]);
  });

  it('are not sent to whoever writes into the database without the secret of the nodes', async () => {
    await addLot(a, 1, 6);
    const stranger = parcelsOf(b, MARKS, new Uint8Array(32).fill(8));
    await stranger.step();
    await a.parcels.step();
    assert.deepEqual([a.parcels.counts().refused > 0, await levelOf(a)], [true, 6]);
    await stranger.stop();
  });

  it('are burned when the sender or the recipient is fenced, and sent by no fenced node', async () => {
    const fence = (name: string) =>
      fenceNode(database, name, silentLog, (session, node) => settleParcels(session, node, 'fence'));
    await addLot(a, 1, 6);
    await send();
    await fence('a');
    await b.parcels.step();
    assert.deepEqual([await levelOf(b), b.parcels.counts().refused], [0, 0]);
    a.parcels = parcelsOf(a, { ...RICH, pure: { askBelow: 0, keep: 0 } });
    await a.parcels.step();
    assert.deepEqual(await sql('SELECT id FROM qrn.parcel WHERE box IS NOT NULL'), []);
    const c = await startNode('c', RICH);
    await addLot(c, 2, 6);
    await b.parcels.step();
    await c.parcels.step();
    await b.parcels.step();
    assert.equal(await levelOf(b), 4);
    await fence('b');
    assert.deepEqual(await sql('SELECT burned FROM qrn.lot_part'), [{ burned: true }]);
    await b.identity.close();
    await b.folder.close();
    const next = await startNode('b');
    assert.deepEqual(await claimAll(next), []);
  });

  it('go with their lot when it is revoked, before and after they came', async () => {
    const revoke = () => a.lots.revokeLot({ lotId: lotId(1), why: 'test', atMs: NOON_MS });
    await addLot(a, 1, 6);
    await addLot(a, 2, 4);
    await send();
    await b.parcels.step();
    assert.equal(await levelOf(b), 8);
    await revoke();
    assert.deepEqual(await claimAll(b), ['2/0', '2/1']);
    assert.equal(await b.lots.unclaimedBlocks(lotId(1)), 0);
  });

  it('are forgotten with the answers of their time once no block of them is left, and not by a fenced node', async () => {
    await addLot(a, 1, 6);
    await addLot(a, 2, 4);
    await send();
    await b.parcels.step();
    const parts = async () =>
      (await sql('SELECT lot_id FROM qrn.lot_part ORDER BY lot_id')).map((row) => row.lot_id);
    const atMs = 1_000;
    await sql('UPDATE qrn.lot_part SET at_ms = $1', [atMs]);
    placesOf(await b.lots.claimBlocks('pure', 6));
    await b.lots.expire(atMs);
    assert.deepEqual(await parts(), [lotId(1), lotId(2)], 'they are not old enough');
    await a.lots.expire(atMs + 1);
    assert.deepEqual(await parts(), [lotId(1), lotId(2)], 'they are of another node');
    await b.lots.expire(atMs + 1);
    assert.deepEqual(await parts(), [lotId(2)], 'what has blocks stays');
    assert.deepEqual(await claimAll(b), ['2/0', '2/1']);
    await fenceNode(database, 'b', silentLog);
    await assert.rejects(b.lots.expire(atMs + 1), { reason: 'stopped' });
    assert.deepEqual(await parts(), [lotId(2)]);
    await sql('UPDATE qrn.lot_part SET burned = true');
    await a.lots.expire(atMs + 1);
    assert.deepEqual(await parts(), [], 'burned ones go with any node');
  });

  it('refuse a parcel of a lot that was revoked on its way', async () => {
    await addLot(a, 1, 6);
    await send();
    await a.lots.revokeLot({ lotId: lotId(1), why: 'test', atMs: NOON_MS });
    await b.parcels.step();
    assert.deepEqual([b.parcels.counts().refused, await levelOf(b)], [1, 0]);
    assert.deepEqual(await sql('SELECT id FROM qrn.lot_part'), []);
  });
});
