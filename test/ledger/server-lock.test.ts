import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { acquireServerLock, serverHasApplied } from '../../src/ledger/server-lock.ts';
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

test('a server has applied a directory version when the last of its readers has', async (t) => {
  const folder = temporaryFolder(t);
  assert.equal(await serverHasApplied(folder, 9), true, 'no server lives');
  const lock = await acquireServerLock(folder);
  assert.equal(await serverHasApplied(folder, 9), true, 'nobody is served yet');
  lock.appliedVersions.set('a', 9);
  lock.appliedVersions.set('b', -1);
  assert.equal(await serverHasApplied(folder, 9), false);
  lock.appliedVersions.set('b', 8);
  assert.equal(await serverHasApplied(folder, 9), false);
  lock.appliedVersions.set('b', 10);
  assert.equal(await serverHasApplied(folder, 9), true);
  await lock.release();
});
