import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { acquireServerLock } from '../../src/ledger/server-lock.ts';
import { temporaryFolder } from '../support/ledger-folder.ts';

test('a living server keeps a second one out, and a released folder is free', async (t) => {
  const folder = temporaryFolder(t);
  const lock = await acquireServerLock(folder);
  await assert.rejects(acquireServerLock(folder), {
    name: 'LedgerError',
    reason: 'unusable',
    message: `another server (process ${process.pid}) is using ${folder}: stop it first`,
  });
  await lock.release();
  await (await acquireServerLock(folder)).release();
});

test('a path too long for a socket address is locked all the same', async (t) => {
  const folder = join(temporaryFolder(t), 'long'.repeat(40));
  mkdirSync(folder);
  const lock = await acquireServerLock(folder);
  await assert.rejects(acquireServerLock(folder), { reason: 'unusable' });
  assert.ok(!existsSync(join(folder, 'server.sock')));
  await lock.release();
});

test('a file that no socket listens on blocks nobody', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'server.sock'), '');
  await (await acquireServerLock(folder)).release();
});
