import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  cpSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { utf8Bytes } from '../../src/core/bytes.ts';
import { BlockKeys, SEAL_BYTES } from '../../src/ledger/block-keys.ts';
import type { LmdbLedger } from '../../src/ledger/lmdb/lmdb-ledger.ts';
import type { BlockKind } from '../../src/ledger/records.ts';
import { closeSound, gatheringLog, openTestLedger, temporaryFolder } from '../support/ledger-folder.ts';
import { filledSegment, lot, lotId, NOON_MS } from '../support/ledger-records.ts';
import { addReleased, release } from '../support/released-lots.ts';
import { assertRejects } from './contract/ledger.contract.ts';

/** Bytes that look random and follow from the number. */
function noise(kind: BlockKind, n: number, size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 32) {
    bytes.set(hash('sha256', utf8Bytes(`${kind} ${n} ${at}`), 'buffer').subarray(0, size - at), at);
  }
  return bytes;
}

function blocks(n: number, pure = 4, seed = 4) {
  return [
    ...Array.from({ length: seed }, (_, i) => ({
      kind: 'seed' as const,
      bytes: noise('seed', 100 * n + i, 32),
    })),
    ...Array.from({ length: pure }, (_, i) => ({
      kind: 'pure' as const,
      bytes: noise('pure', 100 * n + i, 4_096),
    })),
  ];
}

/** Counts the blocks of which any 16 bytes are in a file of the folder. */
function findable(path: string, all: readonly { bytes: Uint8Array }[]): number {
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((name) => statSync(name).isFile())
    .map((name) => readFileSync(name));
  const isIn = (bytes: Uint8Array) => files.some((file) => file.includes(Buffer.from(bytes)));
  return all.filter(({ bytes }) => {
    for (let at = 0; at + 16 <= bytes.length; at += 16) if (isIn(bytes.subarray(at, at + 16))) return true;
    return false;
  }).length;
}

function openKeys(t: TestContext, path: string, ordinal: number): BlockKeys {
  const keys = BlockKeys.open(path, ordinal);
  t.after(() => keys.close());
  return keys;
}

suite('the keys of stored blocks', () => {
  test('a block opens once, and no older block opens after it', (t) => {
    const keys = openKeys(t, join(temporaryFolder(t), 'block-keys'), 5);
    const sealed = [5, 6, 9].map((n) => keys.seal('pure', n, lotId(1), noise('pure', n, 100)));
    assert.ok(sealed.every((each) => each.length === 100 + SEAL_BYTES));
    assert.deepEqual(keys.open('pure', 6, lotId(1), sealed[1]), noise('pure', 6, 100));
    assert.equal(keys.open('pure', 6, lotId(1), sealed[1]), undefined, 'opened before');
    assert.equal(keys.open('pure', 5, lotId(1), sealed[0]), undefined, 'older');
    assert.deepEqual(keys.open('pure', 9, lotId(1), sealed[2]), noise('pure', 9, 100));
    assert.equal(keys.oldest('pure'), 10);
    assert.equal(keys.oldest('seed'), 5, 'a chain of its own');
  });

  test('a block opens only as the block that it was sealed as', (t) => {
    const folder = temporaryFolder(t);
    const sealed = openKeys(t, join(folder, 'block-keys'), 1).seal('pure', 3, lotId(1), noise('pure', 3, 64));
    const flipped = new Uint8Array(sealed);
    flipped[20] ^= 1;
    const wrong: [BlockKind, number, string, Uint8Array][] = [
      ['seed', 3, lotId(1), sealed],
      ['pure', 2, lotId(1), sealed],
      ['pure', 3, lotId(2), sealed],
      ['pure', 3, lotId(1), flipped],
      ['pure', 3, lotId(1), sealed.subarray(0, SEAL_BYTES - 1)],
    ];
    for (const each of wrong)
      assert.equal(openKeys(t, join(folder, 'block-keys'), 1).open(...each), undefined);
    const opened = openKeys(t, join(folder, 'block-keys'), 1).open('pure', 3, lotId(1), sealed);
    assert.deepEqual(opened, noise('pure', 3, 64));
  });

  test('erased keys are not in the file, and the others open their blocks after a restart', (t) => {
    const path = join(temporaryFolder(t), 'block-keys');
    const first = openKeys(t, path, 1);
    const sealed = [1, 2, 3, 4].map((n) => first.seal('seed', n, lotId(1), noise('seed', n, 32)));
    const before = readFileSync(path);
    assert.ok(first.open('seed', 1, lotId(1), sealed[0]) !== undefined);
    first.passOver('seed', 3);
    first.passOver('seed', 2);
    assert.deepEqual(readFileSync(path), before, 'not before `erase`');
    first.erase();
    const link = before.subarray(56, 88);
    assert.ok(!readFileSync(path).includes(link), 'the link of block 1 is gone');
    const second = openKeys(t, path, 99);
    assert.equal(second.oldest('seed'), 3);
    assert.equal(second.open('seed', 2, lotId(1), sealed[1]), undefined);
    assert.deepEqual(second.open('seed', 3, lotId(1), sealed[2]), noise('seed', 3, 32));
    // sealing goes on from where opening is
    const fifth = second.seal('seed', 5, lotId(1), noise('seed', 5, 32));
    assert.deepEqual(second.open('seed', 4, lotId(1), sealed[3]), noise('seed', 4, 32));
    assert.deepEqual(second.open('seed', 5, lotId(1), fifth), noise('seed', 5, 32));
  });

  test('a damaged file of keys opens none of the blocks that were sealed with it', (t) => {
    const path = join(temporaryFolder(t), 'block-keys');
    const sealed = openKeys(t, path, 1).seal('pure', 1, lotId(1), noise('pure', 1, 32));
    const whole = readFileSync(path);
    for (const at of [0, 5, 10, 30, 87]) {
      const damaged = Buffer.from(whole);
      damaged[at] ^= 1;
      writeFileSync(path, damaged);
      const keys = openKeys(t, path, 2);
      assert.equal(keys.oldest('pure'), 2, `byte ${at}`);
      assert.equal(keys.open('pure', 1, lotId(1), sealed), undefined);
    }
  });

  test('only the owner may read the file of keys', { skip: process.platform === 'win32' }, (t) => {
    const path = join(temporaryFolder(t), 'block-keys');
    openKeys(t, path, 1);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });
});

suite('claimed blocks in the data folder', () => {
  test('the folder contains no byte of a block, claimed or not', async (t) => {
    const path = temporaryFolder(t);
    const ledger = await openTestLedger(path);
    await addReleased(ledger, lot(1), blocks(1));
    assert.equal(findable(path, blocks(1)), 0, 'not before the claim');
    const claimed = [...(await ledger.claimBlocks('pure', 4)), ...(await ledger.claimBlocks('seed', 4))];
    assert.deepEqual(
      claimed.map(({ bytes }) => bytes),
      [...blocks(1).slice(4), ...blocks(1).slice(0, 4)].map(({ bytes }) => bytes),
    );
    assert.equal(findable(path, blocks(1)), 0, 'nor after it');
    await ledger.close();
    writeFileSync(join(path, 'canary'), blocks(1)[7].bytes.subarray(1_000, 1_100));
    assert.equal(findable(path, blocks(1)), 1, 'the search finds what is there');
  });

  for (const isPending of [false, true])
    test(`whoever has the blocks ${isPending ? 'of a pending lot' : 'after a claim'} and the folder after the next claim opens no claimed block`, async (t) => {
      const [path, stolen] = [temporaryFolder(t), temporaryFolder(t)];
      const ledger = await openTestLedger(path);
      await ledger.addLot(lot(1), blocks(1));
      if (!isPending) {
        await release(ledger, lot(1).id);
        await ledger.claimBlocks('pure', 1);
      }
      const sealedBefore = readFileSync(join(path, 'data.mdb'));
      if (isPending) await release(ledger, lot(1).id);
      await ledger.claimBlocks('pure', 2);
      cpSync(path, stolen, { recursive: true, filter: (name) => !name.endsWith('.sock') });
      await ledger.close();
      const claimed = isPending ? 2 : 3;
      const thief = openKeys(t, join(stolen, 'block-keys'), 1);
      assert.deepEqual([thief.oldest('pure'), thief.oldest('seed')], [claimed + 1, 5]);
      // put back as it was, sealed bytes and all, the older data file gives only what was never given
      writeFileSync(join(stolen, 'data.mdb'), sealedBefore);
      const rolledBack = await openTestLedger(stolen);
      await release(rolledBack, lot(1).id);
      assert.deepEqual(
        (await rolledBack.claimBlocks('pure', 9)).map(({ bytes }) => bytes),
        blocks(1)
          .slice(4 + claimed)
          .map(({ bytes }) => bytes),
      );
      await closeSound(rolledBack);
    });

  test('a pending lot survives a restart, and its keys are erased when it is withdrawn', async (t) => {
    const path = temporaryFolder(t);
    const oldest = () => openKeys(t, join(path, 'block-keys'), 1).oldest('pure');
    const ledger = await openTestLedger(path);
    await ledger.addLot(lot(1), blocks(1));
    await ledger.addLot(lot(2), blocks(2));
    await ledger.close();
    const again = await openTestLedger(path);
    assert.equal(oldest(), 1);
    await again.revokeLot({ lotId: lotId(1), why: 'x', atMs: NOON_MS });
    assert.equal(oldest(), 9, 'the first block of the second lot');
    for (const n of [1, 2]) await release(again, lotId(n));
    assert.deepEqual(
      (await again.claimBlocks('pure', 9)).map(({ bytes }) => bytes),
      blocks(2)
        .slice(4)
        .map(({ bytes }) => bytes),
    );
    await closeSound(again);
  });

  test('keys that a crash left after the claim are erased by the next start', async (t) => {
    const path = temporaryFolder(t);
    const file = join(path, 'block-keys');
    const ledger = await openTestLedger(path);
    await addReleased(ledger, lot(1), blocks(1));
    copyFileSync(file, join(path, 'before'));
    await ledger.claimBlocks('pure', 2);
    await ledger.close();
    copyFileSync(join(path, 'before'), file); // the process died between the two
    const again = await openTestLedger(path);
    assert.equal(openKeys(t, file, 1).oldest('pure'), 3);
    assert.deepEqual(
      (await again.claimBlocks('pure', 9)).map(({ bytes }) => bytes),
      blocks(1)
        .slice(6)
        .map(({ bytes }) => bytes),
    );
    await again.close();
  });

  test('blocks whose keys are lost are given up, with a line in the log', async (t) => {
    const path = temporaryFolder(t);
    const ledger = await openTestLedger(path);
    await addReleased(ledger, lot(1), blocks(1));
    await ledger.close();
    writeFileSync(join(path, 'block-keys'), 'torn');
    const { log, told } = gatheringLog('warn');
    const again = await openTestLedger(path, { log });
    assert.deepEqual(told, [
      [
        { blocks: 8 },
        'ledger: discarded blocks of entropy whose keys are erased, as after a restore: they are never delivered',
      ],
    ]);
    assert.deepEqual((await again.blockLevels()).pure, { blocks: 0, bytes: 0 });
    await addReleased(again, lot(2), blocks(2));
    assert.equal((await again.claimBlocks('pure', 9)).length, 4);
    await closeSound(again);
  });

  test('a block that its key does not open is given up when it is claimed, with a line in the log', async (t) => {
    const path = temporaryFolder(t);
    const ledger = await openTestLedger(path);
    await addReleased(ledger, lot(1), blocks(1, 2, 0));
    await ledger.close();
    const ofAnother = join(temporaryFolder(t), 'block-keys');
    BlockKeys.open(ofAnother, 1).close();
    copyFileSync(ofAnother, join(path, 'block-keys'));
    const { log, told } = gatheringLog('error');
    const again = await openTestLedger(path, { log });
    assert.deepEqual(await again.claimBlocks('pure', 9), []);
    const line = 'ledger: discarded a block of entropy that its key does not open: it is never delivered';
    assert.deepEqual(
      told,
      [1, 2].map((ordinal) => [{ kind: 'pure', ordinal }, line]),
    );
    await closeSound(again);
  });

  test('a backup opens no block, even with the keys of the ledger it was made of', async (t) => {
    const path = temporaryFolder(t);
    const copy = join(temporaryFolder(t), 'copy');
    const ledger = await openTestLedger(path);
    await addReleased(ledger, lot(1), blocks(1));
    await ledger.backup(copy);
    assert.equal(findable(copy, blocks(1)), 0);
    assert.deepEqual(readdirSync(copy), ['data.mdb']);
    assert.equal((await ledger.claimBlocks('pure', 9)).length, 4, 'the ledger goes on with them');
    await ledger.close();
  });

  test('a compacted ledger still opens its blocks', async (t) => {
    const path = temporaryFolder(t);
    const ledger = await openTestLedger(path);
    await addReleased(ledger, lot(1), blocks(1));
    await ledger.claimBlocks('pure', 1);
    await ledger.compactTo(join(path, 'compacted'));
    await ledger.close();
    copyFileSync(join(path, 'compacted', 'data.mdb'), join(path, 'data.mdb'));
    const again = await openTestLedger(path);
    assert.equal((await again.claimBlocks('pure', 9)).length, 3);
    assert.equal((await again.claimBlocks('seed', 9)).length, 4);
    await again.close();
  });

  test('a key that cannot be erased stops the ledger', { skip: process.platform !== 'linux' }, async (t) => {
    const path = temporaryFolder(t);
    const ledger: LmdbLedger = await openTestLedger(path);
    await addReleased(ledger, lot(1), blocks(1));
    const descriptor = readdirSync('/proc/self/fd').find((fd) => isFile(fd, join(path, 'block-keys')));
    assert.ok(descriptor !== undefined);
    closeSync(Number(descriptor));
    assert.equal(openSync('/dev/full', 'r+'), Number(descriptor), 'a full disk in its place');
    await assertRejects(ledger.claimBlocks('pure', 1), 'stopped');
    assert.match((await ledger.failed).message, /ENOSPC/);
    await assertRejects(ledger.commit([filledSegment(1, 1)], []), 'stopped');
    await ledger.close();
  });
});

function isFile(fd: string, path: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === path;
  } catch {
    return false; // the descriptor that listed the folder
  }
}
