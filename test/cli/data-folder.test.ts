import assert from 'node:assert/strict';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { open } from 'lmdb';
import { accounts } from '../../src/cli/accounts.ts';
import type { Command } from '../../src/cli/command.ts';
import { keys } from '../../src/cli/keys.ts';
import { ledger } from '../../src/cli/ledger.ts';
import { log } from '../../src/cli/log.ts';
import { lots } from '../../src/cli/lots.ts';
import { serve } from '../../src/cli/serve.ts';
import type { DirectoryReader } from '../../src/ledger/ledger.ts';
import { type RawDatabase, Table } from '../../src/ledger/lmdb/table.ts';
import { plainCodec } from '../../src/ledger/store.ts';
import { FORMAT } from '../../src/ledger/tables.ts';
import { openTestLedger, temporaryFolder } from '../support/ledger-folder.ts';
import { runCommand } from '../support/run-command.ts';

/** Size of a page of LMDB. */
const PAGE_BYTES = 4_096;
/** A user other than root; `nobody` on most systems. */
const STRANGER = 65_534;
const needsRoot = process.geteuid?.() !== 0 && 'only root can give a folder to another user';

const COMMANDS: readonly (readonly [Command, readonly string[]])[] = [
  [accounts, ['create', '--name', 'A', '--tier', 'free']],
  [accounts, ['set', 'acct_x', '--name', 'B']],
  [accounts, ['list']],
  [keys, ['create', '--account', 'acct_x']],
  [keys, ['rotate', 'x']],
  [keys, ['revoke', 'x']],
  [lots, ['revoke', 'lot_x', '--why', 'test']],
  [ledger, ['audit']],
  [ledger, ['backup', 'copy']],
  [ledger, ['compact']],
  [ledger, ['moved']],
  [ledger, ['restore', 'copy']],
  [log, ['show']],
  [log, ['rotate-key']],
  [serve, []],
];

/** A data folder with a ledger, and keys where `log rotate-key` looks for them. */
async function dataFolder(t: TestContext): Promise<string> {
  const dataDir = temporaryFolder(t);
  mkdirSync(join(dataDir, 'keys'));
  await (await openTestLedger(join(dataDir, 'ledger'))).close();
  return dataDir;
}

function give(dataDir: string, user: number): void {
  for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' }))
    chownSync(join(dataDir, name), user, user);
  chownSync(dataDir, user, user);
}

describe('a data folder that belongs to another user', { skip: needsRoot }, () => {
  it('is refused by every command that opens it, with the user to run as, and nothing is written', async (t) => {
    const dataDir = await dataFolder(t);
    give(dataDir, STRANGER);
    const before = readdirSync(dataDir, { recursive: true }).sort();
    for (const [command, args] of COMMANDS) {
      const { status, out, talk } = await runCommand(command, args, { QRN_DATA_DIR: dataDir });
      assert.deepEqual([status, out], [1, ''], args.join(' '));
      assert.match(
        talk,
        /^qrn [a-z -]+: the data folder \S+ belongs to user \S+ \(id 65534\)[^\n]* sudo -u \S+ qrn \.\.\.\n$/,
      );
    }
    assert.deepEqual(readdirSync(dataDir, { recursive: true }).sort(), before);
  });

  it('is refused by serve while it is still empty', async (t) => {
    const dataDir = temporaryFolder(t);
    chownSync(dataDir, STRANGER, STRANGER);
    const { status, talk } = await runCommand(serve, [], { QRN_DATA_DIR: dataDir });
    assert.equal(status, 1);
    assert.match(talk, /belongs to user/);
    assert.deepEqual(readdirSync(dataDir), []);
  });
});

it('a data folder of a newer program is refused by every command that opens it', async (t) => {
  const dataDir = await dataFolder(t);
  const path = join(dataDir, 'ledger');
  const raw = open({ path, noSubdir: false, encoding: 'binary', overlappingSync: false, maxDbs: 32 });
  const database = raw.openDB({ name: 'meta', encoding: 'binary' }) as unknown as RawDatabase;
  const meta = new Table<string, number>('meta', database, plainCodec(), { open: true, wrote() {} });
  raw.transactionSync(() => meta.put('format', FORMAT + 1));
  await raw.close();
  for (const [command, args] of COMMANDS) {
    if (command === serve || args[0] === 'restore') continue; // a thread of its own; a folder that is not empty
    const { status, out, talk } = await runCommand(command, args, { QRN_DATA_DIR: dataDir });
    assert.deepEqual([status, out], [1, ''], args.join(' '));
    assert.ok(talk.includes(`has format ${FORMAT + 1}, and this program reads format ${FORMAT} alone`), talk);
  }
  assert.deepEqual(readdirSync(join(dataDir, 'keys')), []);
});

describe('damaged files of a ledger', () => {
  /** A backup with a leaf of zeros in the middle of a table: LMDB ends a process that walks it. */
  async function damagedBackup(t: TestContext): Promise<string> {
    const backup = join(temporaryFolder(t), 'backup');
    const original = await openTestLedger(temporaryFolder(t));
    const tiles = Array.from({ length: 200 }, (_, i) => ({ key: `tile/${i}`, value: new Uint8Array(300) }));
    await original.putLog(tiles);
    await original.backup(backup);
    await original.close();
    const file = join(backup, 'data.mdb');
    const content = readFileSync(file);
    for (let at = content.indexOf('tile/150'); at >= 0; at = content.indexOf('tile/150', at + 1))
      content.fill(0, at - (at % PAGE_BYTES), at - (at % PAGE_BYTES) + PAGE_BYTES);
    writeFileSync(file, content);
    return backup;
  }

  it('an empty file is no backup, and does not replace the ledger', async (t) => {
    const dataDir = temporaryFolder(t);
    const backup = join(dataDir, 'backup');
    mkdirSync(backup);
    writeFileSync(join(backup, 'data.mdb'), '');
    const restored = await runCommand(ledger, ['restore', backup, '--yes'], { QRN_DATA_DIR: dataDir });
    const talk = `qrn ledger restore: ${join(backup, 'data.mdb')} is empty: restore a backup\n`;
    assert.deepEqual(restored, { status: 1, out: '', talk });
    assert.deepEqual(readdirSync(dataDir), ['backup']);
  });

  it('a damaged backup is not restored, and its draft is removed', async (t) => {
    const dataDir = temporaryFolder(t);
    const backup = await damagedBackup(t);
    const { status, talk } = await runCommand(ledger, ['restore', backup, '--yes'], {
      QRN_DATA_DIR: dataDir,
    });
    assert.equal(status, 1);
    assert.match(
      talk,
      /^qrn ledger restore: the ledger in .* is damaged: [^\n]*LMDB cannot follow it[^\n]*\n$/,
    );
    assert.deepEqual(readdirSync(join(dataDir, 'ledger')), []);
  });

  it('an audit of a damaged copy reports it in a sentence', async (t) => {
    const dataDir = temporaryFolder(t);
    cpSync(await damagedBackup(t), join(dataDir, 'ledger'), { recursive: true });
    const { status, talk } = await runCommand(ledger, ['audit'], { QRN_DATA_DIR: dataDir });
    assert.equal(status, 1);
    assert.match(
      talk,
      /^qrn ledger audit: the ledger in .* is damaged: [^\n]*LMDB cannot follow it[^\n]*\n$/,
    );
  });

  it('an empty data file is not compacted', async (t) => {
    const dataDir = temporaryFolder(t);
    const file = join(dataDir, 'ledger', 'data.mdb');
    mkdirSync(join(dataDir, 'ledger'));
    writeFileSync(file, '');
    const { status, talk } = await runCommand(ledger, ['compact'], { QRN_DATA_DIR: dataDir });
    assert.deepEqual([status, talk], [1, `qrn ledger compact: ${file} is empty: restore a backup\n`]);
    assert.equal(statSync(file).size, 0);
  });

  it('a backup is refused inside the folder of the ledger and where no folder can be made', {
    skip: process.platform === 'linux' ? false : 'needs /proc',
  }, async (t) => {
    const dataDir = await dataFolder(t);
    const inside = join(dataDir, 'ledger', 'copies', 'today');
    for (const [target, why] of [
      [inside, /lies in the folder of the ledger: a backup goes into a folder outside of/],
      ['/proc/nowhere/backup', /cannot make the folder \/proc\/nowhere: ENOENT/],
    ] as const) {
      const { status, talk } = await runCommand(ledger, ['backup', target], { QRN_DATA_DIR: dataDir });
      assert.equal(status, 1);
      assert.match(talk, why);
    }
    assert.ok(!existsSync(join(dataDir, 'ledger', 'copies')));
  });
});

/** A reader that takes the whole directory and never ends a change. */
function onlyTheFirst(): DirectoryReader {
  return { directoryChanged: ({ isWhole }) => (isWhole ? Promise.resolve() : new Promise(() => {})) };
}

describe('a change of accounts and keys', () => {
  it('warns on stderr when the running service has not applied it within two seconds', async (t) => {
    const dataDir = await dataFolder(t);
    const server = await openTestLedger(join(dataDir, 'ledger'));
    await server.follow(onlyTheFirst());
    const create = ['create', '--name', 'A', '--tier', 'free', '--json'];
    const { status, out, talk } = await runCommand(accounts, create, { QRN_DATA_DIR: dataDir });
    assert.equal(status, 0);
    assert.equal(JSON.parse(out).name, 'A');
    assert.match(talk, /^The change is stored, but the running service has not confirmed it[^\n]*\n$/);
    await server.close();
  });

  it('exits with 1 when the running service has not confirmed a revocation', async (t) => {
    const dataDir = await dataFolder(t);
    const environment = { QRN_DATA_DIR: dataDir };
    const create = ['create', '--name', 'A', '--tier', 'free', '--json'];
    const made = JSON.parse((await runCommand(accounts, create, environment)).out);
    const server = await openTestLedger(join(dataDir, 'ledger'));
    await server.follow(onlyTheFirst());
    const takes: readonly [typeof keys, string[]][] = [
      [accounts, ['set', made.account_id, '--tier', 'pro']],
      [keys, ['rotate', made.key_id, '--grace', '0']],
      [keys, ['revoke', made.key_id, '--yes']],
    ];
    for (const [command, args] of takes) {
      const { status, out, talk } = await runCommand(command, args, environment);
      assert.equal(status, 1, args.join(' '));
      assert.match(out, /./, 'the change is told all the same');
      assert.match(talk, /The change is stored, but the running service has not confirmed it/);
    }
    await server.close();
    const confirmed = await runCommand(keys, ['revoke', made.key_id, '--yes'], environment);
    assert.equal(confirmed.status, 0);
  });
});
