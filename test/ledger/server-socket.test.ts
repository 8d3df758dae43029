import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { FolderWriter } from '../../src/cli/folder-writer.ts';
import { ApiError } from '../../src/core/errors.ts';
import { LedgerError } from '../../src/ledger/ledger.ts';
import { callOwner, serverLives, socketPathOf, takeFolder } from '../../src/ledger/server-socket.ts';
import { openTestLedger, temporaryFolder } from '../support/ledger-folder.ts';
import { account, block, key, lot, lotId, NO_LIMITS, NOON_MS, spend } from '../support/ledger-records.ts';
import { addReleased } from '../support/released-lots.ts';

test('a running server keeps a second one out, and a released folder is free', async (t) => {
  const folder = temporaryFolder(t);
  const owner = await takeFolder(folder);
  assert.equal(statSync(join(folder, 'server.sock')).mode & 0o777, 0o600);
  for (const isCommand of [false, true])
    await assert.rejects(takeFolder(folder, isCommand), {
      name: 'LedgerError',
      reason: 'unusable',
      message: `another server (process ${process.pid}) is using ${folder}: stop it first`,
    });
  await owner.release();
  await (await takeFolder(folder)).release();
});

test('a path too long for a socket address works all the same', async (t) => {
  const folder = join(temporaryFolder(t), 'long'.repeat(40));
  mkdirSync(folder);
  const owner = await takeFolder(folder);
  await assert.rejects(takeFolder(folder), { reason: 'unusable' });
  assert.ok(!existsSync(join(folder, 'server.sock')));
  await owner.release();
});

test('an error says what to do when nobody can be asked', async (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, '');
  const path = socketPathOf(file);
  await assert.rejects(callOwner(file, 'accounts', []), {
    reason: 'unusable',
    message: `cannot ask at ${path} whether a server is using the folder (connect ENOTDIR ${path}): run this as the user of the service, who may read and write it`,
  });
});

test('a socket file that nobody listens on blocks nobody', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'server.sock'), '');
  await (await takeFolder(folder)).release();
});

test('a starting service waits for a command to end', async (t) => {
  const folder = temporaryFolder(t);
  const command = await takeFolder(folder, true);
  const service = takeFolder(folder);
  for (let i = 0; i < 5; i++) assert.equal(await serverLives(folder), true);
  await command.release();
  await (await service).release();
});

test('a call waits until the owner serves, and returns or throws its result', async (t) => {
  const folder = temporaryFolder(t);
  assert.equal(await callOwner(folder, 'accounts', []), undefined, 'nobody has the folder');
  const owner = await takeFolder(folder);
  const early = callOwner(folder, 'putKey', [{ a: 1 }]);
  owner.serve(async (call, args) => {
    if (call === 'api') throw new ApiError('storage_unavailable', { retryAfterS: 7 });
    if (call === 'ledger') throw new LedgerError('conflict', 'taken');
    return { result: { call, args }, isConfirmed: false };
  });
  assert.deepEqual(await early, { result: { call: 'putKey', args: [{ a: 1 }] }, isConfirmed: false });
  await assert.rejects(callOwner(folder, 'api', []), {
    code: 'storage_unavailable',
    facts: { retryAfterS: 7 },
  });
  await assert.rejects(callOwner(folder, 'ledger', []), { reason: 'conflict', message: 'taken' });
  await owner.release();
});

test('an owner that does not answer in time is distinguished from one that ended', async (t) => {
  const folder = temporaryFolder(t);
  const owner = await takeFolder(folder); // it serves nobody
  assert.equal(await callOwner(folder, 'putKey', [], 20), 'late');
  const asked = callOwner(folder, 'putKey', []);
  setTimeout(() => void owner.release(), 20);
  assert.equal(await asked, 'lost');
});

test('an owner that ends answers calls under way, refuses new ones, and identifies itself to the last', async (t) => {
  const folder = temporaryFolder(t);
  const owner = await takeFolder(folder);
  const call = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  owner.serve(async () => {
    begun.resolve();
    await call.promise;
    return { result: 1, isConfirmed: true };
  });
  const first = callOwner(folder, 'accounts', []);
  await begun.promise;
  const drained = owner.drain();
  assert.equal(await callOwner(folder, 'accounts', []), 'lost');
  assert.equal(await serverLives(folder), true);
  call.resolve();
  await drained;
  assert.deepEqual(await first, { result: 1, isConfirmed: true });
  await owner.release();
});

test('a client that sends no line, an unfinished line or no JSON does no harm', async (t) => {
  const folder = temporaryFolder(t);
  const owner = await takeFolder(folder);
  owner.serve(async () => ({ result: 1, isConfirmed: true }));
  const silent = connect(join(folder, 'server.sock'));
  const garbage = connect(join(folder, 'server.sock'));
  garbage.end('{"call":\n');
  garbage.resume();
  silent.on('error', () => {});
  const endless = connect(join(folder, 'server.sock'));
  endless.on('error', () => {}); // it is hung up on
  endless.write('x'.repeat(2 ** 20 + 1));
  await once(endless, 'close');
  assert.deepEqual(await callOwner(folder, 'accounts', []), { result: 1, isConfirmed: true });
  await owner.release();
});

const opening = (path: string) => () => openTestLedger(path, { fronts: 0, isCommand: true });

test('a command changes the ledger through its server, the only writer, which sees the change at once', async (t) => {
  const path = temporaryFolder(t);
  const server = await openTestLedger(path);
  await addReleased(server, lot(1), [block('pure', 1)]);
  const writer = new FolderWriter(path, () => assert.fail('the server has the folder'));
  const created = await writer.ledger.createAccount(account(1));
  assert.deepEqual(await server.accounts(), [created]);
  await writer.ledger.putKey(key(1, created.id));
  await writer.ledger.revokeLot({ lotId: lotId(1), why: 'x', atMs: NOON_MS });
  assert.equal(await writer.ledger.charge('1', spend(0.7), NO_LIMITS), true);
  assert.equal(await writer.ledger.lot('lot_none'), undefined);
  assert.deepEqual(await server.claimBlocks('pure', 1), []);
  await assert.rejects(callOwner(path, 'commit', [[], []]), {
    reason: 'refused',
    message: /^a command may not call commit, only accounts, keys, /,
  });
  await writer.close();
  await server.close();
});

test('without a server a command opens the folder itself', async (t) => {
  const path = temporaryFolder(t);
  await (await openTestLedger(path)).close();
  const writer = new FolderWriter(path, opening(path));
  const created = await writer.ledger.createAccount(account(1));
  await writer.close();
  const server = await openTestLedger(path);
  assert.deepEqual(await server.accounts(), [created]);
  await server.close();
});

test('a change whose server ends between the write and its reply is repeated, and made once', async (t) => {
  const path = temporaryFolder(t);
  const server = await openTestLedger(path);
  await server.createAccount(account(1)); // written, and the reply is lost
  const writer = new FolderWriter(path, opening(path));
  const again = writer.ledger.createAccount(account(1));
  await server.close();
  const created = await again;
  assert.deepEqual(await writer.ledger.accounts(), [created]);
  await writer.close();
});

test('commands that find the same dead owner at the same time all make their change', async (t) => {
  const path = temporaryFolder(t);
  await (await openTestLedger(path)).close();
  writeFileSync(join(path, 'server.sock'), ''); // as a killed server leaves it
  const writers = Array.from({ length: 6 }, () => new FolderWriter(path, opening(path)));
  const made = writers.map(async (writer, i) => {
    const created = await writer.ledger.createAccount(account(i + 1));
    await writer.ledger.putKey(key(i + 1, created.id));
    await writer.close();
  });
  await Promise.all(made);
  const server = await openTestLedger(path);
  assert.deepEqual([(await server.accounts()).length, (await server.keys()).length], [6, 6]);
  await server.close();
});

test('a change waits until every follower of the directory has applied it', async (t) => {
  const path = temporaryFolder(t);
  const server = await openTestLedger(path);
  const [came, taken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let told = 0;
  await server.follow({
    async directoryChanged({ isWhole }) {
      if (isWhole) return;
      came.resolve();
      await taken.promise;
      told++;
    },
  });
  const writer = new FolderWriter(path, opening(path));
  const created = writer.ledger.createAccount(account(1)).then(() => told);
  await came.promise;
  await serverLives(path); // a round trip through the socket
  taken.resolve();
  assert.equal(await created, 1);
  assert.equal(writer.isConfirmed, true);
  await writer.close();
  await server.close();
});
