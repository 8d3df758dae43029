import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CertificateIds } from '../../src/certificate/ids.ts';
import { keysDocument } from '../../src/certificate/keys-document.ts';
import { CertificateLog } from '../../src/certificate/log.ts';
import { CertificateLogError, readVouchers } from '../../src/certificate/log-state.ts';
import { nodeReader, TileEdge } from '../../src/certificate/tiles.ts';
import { InvariantError } from '../../src/core/assert.ts';
import { concatBytes } from '../../src/core/bytes.ts';
import { leafHash } from '../../src/crypto/merkle.ts';
import { parseNote, readTimestamped } from '../../src/crypto/note.ts';
import type { SegmentRecord } from '../../src/ledger/records.ts';
import { referenceRoot } from '../reference/merkle.ts';
import { answerEntry, lotRecord, seededSource, segmentRecord, TIME_MS } from './fixtures.ts';
import { LogWorld, logKeys, StoreFault } from './log-world.ts';

const LOT = lotRecord('a');
let answers = 0;

function segment(sequence: number, count: number): SegmentRecord {
  const entries = Array.from({ length: count }, () => answerEntry(answers++));
  return segmentRecord(sequence, [seededSource(LOT.id)], entries);
}

function world(): LogWorld {
  const made = new LogWorld();
  made.lots.set(LOT.id, LOT);
  made.released.set(LOT.id, 0);
  return made;
}

function timeOf(checkpoint: string): number | undefined {
  const timed = parseNote(checkpoint)?.signatures.flatMap((each) => readTimestamped(each.signature) ?? []);
  return timed?.at(-1)?.atS;
}

async function sealAll(log: CertificateLog): Promise<number> {
  let all = 0;
  for (let leaves = -1; leaves !== 0; all += leaves) leaves = await log.seal();
  return all;
}

describe('CertificateLog', () => {
  it('hashes a large batch in several turns of the loop, and writes it at once', async () => {
    const w = world();
    const log = await w.open();
    for (let sequence = 1; sequence <= 8; sequence++) w.commit(segment(sequence, 500));
    const writes = w.writes;
    let turns = 0;
    let isSealing = true;
    const count = () => {
      turns++;
      if (isSealing) setImmediate(count);
    };
    setImmediate(count);
    assert.equal(await log.seal(), 4_000);
    isSealing = false;
    assert.equal(w.writes, writes + 1);
    assert.ok(turns >= 2, `${turns} turns`);
    assert.equal(await w.check(log), 4_000);
  });

  it('logs the leaves of a draw once, publicly, whatever happens to a write, and proves them', async () => {
    const w = world();
    const log = await w.open();
    const [commit, end] = (['commit', 'end'] as const).map((kind) => {
      return { drawId: 'draw_1', kind, text: `{"type":"draw_${kind}"}` };
    });
    w.addDrawLeaf(commit);
    w.nextWrite = 'done, but said to have failed';
    await assert.rejects(log.seal());
    assert.equal(await log.seal(), 0, 'it was logged all the same');
    assert.equal(w.drawLeaves.size, 0, 'and waits no more');
    w.addDrawLeaf(end);
    assert.equal(await log.leafOf('draw/draw_1/end'), undefined);
    assert.equal(await log.seal(), 1);
    assert.equal(await (await w.open()).seal(), 0, 'nor after a restart');
    assert.equal(await w.check(log), 2);
    assert.equal((await log.leafOf('draw/draw_1/commit'))?.leaf, commit.text);
    assert.ok((await log.leafOf('draw/draw_1/end'))?.proof.startsWith('c2sp.org/tlog-proof@v1\nindex 1\n'));
    const told = await log.publicLeaves(0, 10);
    assert.deepEqual(
      told.map(({ leaf }) => leaf),
      [commit.text, end.text],
    );
  });

  it('runs calls of seal that overlap one after the other', async () => {
    const w = world();
    const log = await w.open();
    w.commit(segment(1, 3));
    assert.deepEqual(await Promise.all([log.seal(), log.seal(), log.seal()]), [3, 0, 0]);
    assert.equal(await log.proofOf(1, 3), undefined, 'the segment has no such entry');
    await w.check(log);
  });
});

describe('two writers of one log', () => {
  /**
   * Lets both writers read the unsealed segments before the other has written. Returns the reasons of refused batches.
   */
  async function race(w: LogWorld): Promise<{ logs: CertificateLog[]; refused: string[] }> {
    const logs = [await w.open(), await w.open()];
    const refused: string[] = [];
    for (let round = 0; round < 3; round++) {
      w.commit(segment(2 * round + 1, 2));
      const [first, second] = round % 2 === 0 ? logs : logs.toReversed();
      w.beforeWrite = async () => {
        w.commit(segment(2 * round + 2, 3));
        await second.seal().catch((error) => refused.push(error.reason));
      };
      await first.seal().catch((error) => refused.push(error.reason));
    }
    return { logs, refused };
  }

  it('make one history: the slower one is refused, reads what is stored and continues from there', async () => {
    const w = world();
    const { logs, refused } = await race(w);
    assert.deepEqual(refused, ['conflict', 'conflict', 'conflict']);
    for (const log of logs) await sealAll(log);
    for (const log of logs) assert.equal(await w.check(log), 15);
    assert.equal(logs[0].checkpoint, logs[1].checkpoint);
  });

  it('prove nothing by a checkpoint of the other one before they may read its state', async () => {
    const w = world();
    const writer = await w.open();
    let isKept = true;
    const getLog = async (key: string) => {
      if (key === 'state' && !isKept) throw new StoreFault('no standby has it');
      return w.store.getLog(key);
    };
    const reader = await CertificateLog.open({ ...w.options(), store: { ...w.store, getLog } });
    isKept = false;
    w.commit(segment(1, 2));
    w.withdrawn.push({ lotId: LOT.id, why: 'a fault', atMs: TIME_MS });
    w.addDrawLeaf({ drawId: 'draw', kind: 'commit', text: '{}' });
    await sealAll(writer);
    const shown = async (log: CertificateLog) => [
      await log.proofOf(1, 1),
      (await log.leafOf(`revocation/${LOT.id}`))?.proof,
      (await log.leafOf('draw/draw/commit'))?.proof,
    ];
    assert.deepEqual(await shown(reader), [undefined, undefined, undefined]);
    assert.equal(await reader.leafOf('draw/draw/commit'), undefined);
    isKept = true;
    assert.deepEqual(await shown(reader), await shown(writer));
    assert.equal(reader.checkpoint, writer.checkpoint);
    assert.ok((await shown(reader)).every((proof) => proof !== undefined));
  });
});

describe('faults', () => {
  it('leave the log complete after any history of commits, withdrawals and restarts', async () => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('commit' as const),
          lane: fc.nat(2),
          count: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 300 })),
        }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('seal' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('withdraw' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('fault' as const), lost: fc.boolean() }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const w = world();
        let log = await w.open();
        const next = [1, 1_000, 2_000];
        for (const each of steps) {
          if (each.do === 'commit') w.commit(segment(next[each.lane]++, each.count));
          if (each.do === 'seal') await log.seal();
          if (each.do === 'withdraw') {
            const lot = lotRecord(`w${w.withdrawn.length}`);
            w.withdrawn.push({ lotId: lot.id, why: 'test', atMs: TIME_MS });
          }
          if (each.do === 'restart') {
            log = await w.open();
            const floor = Math.max(0, ...w.segments.keys()) + 1;
            for (let lane = 0; lane < 3; lane++) next[lane] = floor + 1_000 * lane;
          }
          if (each.do === 'fault') {
            w.commit(segment(next[0]++, 1));
            w.nextWrite = each.lost ? 'lost' : 'done, but said to have failed';
            await assert.rejects(log.seal(), StoreFault);
          }
        }
        await sealAll(log);
        const committed = [...w.segments.values()].reduce((sum, { count }) => sum + count, 0);
        const statements = [...w.records].filter(
          ([key, value]) => /^public\/\d/.test(key) && Buffer.from(value).includes('statement'),
        );
        assert.equal(await w.check(log), committed + w.withdrawn.length + statements.length);
      }),
      { numRuns: 25 },
    );
  });

  it('such as a missing lot prevent any write', async () => {
    const w = world();
    const log = await w.open();
    w.commit(segmentRecord(1, [seededSource('lot_unknown')], [answerEntry(1)]));
    const { writes } = w;
    await assert.rejects(log.seal(), CertificateLogError);
    assert.equal(w.writes, writes);
  });

  it('are found at the start: another origin, another id key, damaged tiles, a checkpoint of an unknown key', async () => {
    const fresh = async () => {
      const w = world();
      w.commit(segment(1, 300));
      await (await w.open()).seal();
      return w;
    };
    const refused = (w: LogWorld, changes: Partial<Parameters<typeof CertificateLog.open>[0]>) =>
      assert.rejects(CertificateLog.open({ ...w.options(), ...changes }), CertificateLogError);
    const w = await fresh();
    await refused(w, { keys: { ...w.keys, name: 'qrn.example/other' } });
    await refused(w, { ids: new CertificateIds(new Uint8Array(32)) });
    await refused(w, { keys: logKeys(2) });
    for (const key of ['tile/1/0000000000000000', 'tile/0/0000000000000001']) {
      const damaged = await fresh();
      damaged.records.get(key)![0] ^= 1;
      await refused(damaged, {});
    }
    const state = JSON.parse(Buffer.from(w.records.get('state')!).toString()) as Record<string, unknown>;
    for (const other of [{ version: 2 }, { published: undefined }]) {
      w.records.set('state', Buffer.from(JSON.stringify({ ...state, ...other })));
      await refused(w, {});
    }
  });
});

it('a tile of any level is stored when its last node is complete, and read for the nodes above it', async () => {
  const edge = await TileEdge.load({ getLog: async () => undefined }, 0);
  const hashes = Array.from({ length: 256 }, (_, i) => leafHash(Uint8Array.of(i)));
  const tiles = new Map<string, Uint8Array>();
  for (const treeLevel of [0, 8, 16]) {
    assert.deepEqual(edge.add(treeLevel, 0, concatBytes(...hashes.slice(0, 255))), []);
    const next = concatBytes(hashes[255], hashes[0], hashes[1]);
    for (const { key, value } of edge.add(treeLevel, 255, next)) tiles.set(key, value);
  }
  assert.deepEqual(
    edge.partialTiles().map(({ value }) => value),
    [0, 1, 2].map(() => concatBytes(hashes[0], hashes[1])),
  );
  assert.deepEqual(
    [...tiles.keys()],
    [0, 1, 2].map((level) => `tile/${level}/0000000000000000`),
  );
  const readNode = nodeReader({ getLog: async (key) => tiles.get(key) });
  assert.deepEqual(await readNode(16, 255), hashes[255]);
  assert.deepEqual(await readNode(23, 1), referenceRoot(hashes.slice(128)));
});

it('no proof is given that does not hold', async () => {
  const w = world();
  w.commit(segment(1, 300));
  const log = await w.open();
  await log.seal();
  assert.ok(await log.proofOf(1, 17));
  w.records.get('tile/0/0000000000000000')![40 * 32] ^= 1;
  await assert.rejects(log.proofOf(1, 17), InvariantError);
});

describe('times', () => {
  it('never go back, however the clock is set', async () => {
    const w = world();
    w.clock.wall = TIME_MS + 7_200_000;
    let log = await w.open();
    w.commit(segment(1, 1));
    await log.seal();
    const first = timeOf(log.checkpoint);
    assert.equal(first, Math.floor(w.clock.wall / 1000));
    w.clock.wall -= 3_600_000;
    w.commit(segment(2, 1));
    await log.seal();
    assert.equal(timeOf(log.checkpoint), first);
    log = await w.open();
    w.commit(segment(3, 1));
    await log.seal();
    assert.equal(timeOf(log.checkpoint), first, 'nor after a restart');
  });

  it('are never before a leaf’s own time', async () => {
    const w = world();
    w.clock.wall = TIME_MS - 3_600_000;
    const log = await w.open();
    w.commit(segment(1, 1));
    await log.seal();
    assert.ok(timeOf(log.checkpoint)! >= Math.floor(TIME_MS / 1000));
  });
});

describe('keys', () => {
  it('keep valid the old proofs after a rotation, and both sign the newest checkpoint', async () => {
    const w = world();
    let log = await w.open();
    w.commit(segment(1, 3));
    await log.seal();
    w.commit(segment(2, 3));
    await log.seal();
    const [old, newest] = [await log.proofOf(1, 0), log.checkpoint];
    w.keys = logKeys(1, 2);
    log = await w.open();
    assert.equal(await log.proofOf(1, 0), old);
    assert.equal(parseNote(log.checkpoint)?.text, parseNote(newest)?.text);
    const signers = () => parseNote(log.checkpoint)?.signatures.map(({ keyId }) => keyId);
    const keyIds = w.keys.published.map((key) => [key.key_id, key.cosigner_key?.split('+')[1]]);
    assert.deepEqual(signers(), keyIds.flat());
    assert.equal(await w.check(log), 6);
    w.commit(segment(3, 1));
    await log.seal();
    assert.deepEqual(signers(), keyIds[1]);
    await w.check(await w.open());
  });

  it('sign nothing if the newest is missing, and another writer continues with it', async () => {
    const w = world();
    const other = await w.open();
    w.commit(segment(1, 1));
    await other.seal();
    w.keys = logKeys(1, 2);
    const log = await w.open();
    w.commit(segment(2, 1));
    const isOld = {
      name: 'CertificateLogError',
      message: new RegExp(
        `^the log is signed with the key ${w.keys.currentKeyId}, which this process does not have`,
      ),
    };
    await assert.rejects(other.follow(), isOld);
    await assert.rejects(other.seal(), { reason: 'conflict' });
    await assert.rejects(other.seal(), isOld);
    await assert.rejects(CertificateLog.open({ ...w.options(), keys: logKeys(1) }), isOld);
    assert.equal(await log.seal(), 1);
    const signers = parseNote(log.checkpoint)?.signatures.map(({ keyId }) => keyId);
    assert.ok(signers?.includes(w.keys.currentKeyId) && !signers.includes(w.keys.published[0].key_id));
    assert.equal(await w.check(log), 2);
  });

  it('are retired when their successor signed, if another writer used them for longer', async () => {
    const toldOf = async (retiredAtMs: number) => {
      const w = world();
      const other = await w.open();
      w.clock.advance(2_000);
      w.commit(segment(1, 1));
      await other.seal();
      const { published, ...rest } = logKeys(1, 2);
      const retired = { ...published[0], retired_at: new Date(retiredAtMs).toISOString() };
      w.keys = { ...rest, published: [retired, published[1]] };
      await w.open();
      const [old, current] = keysDocument(w.keys, [], await readVouchers(w.store, w.keys)).keys;
      assert.equal(current.retired_at, null);
      return { toldMs: Date.parse(old.retired_at ?? ''), signedMs: timeOf(other.checkpoint)! * 1_000 };
    };
    const early = await toldOf(TIME_MS);
    assert.ok(early.signedMs > TIME_MS);
    assert.equal(early.toldMs, early.signedMs);
    const later = TIME_MS + 3_600_000;
    assert.equal((await toldOf(later)).toldMs, later);
  });
});
