import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Command } from '../../src/cli/command.ts';
import { qrn as root } from '../../src/cli/commands.ts';
import { systemClock } from '../../src/core/clock.ts';
import { openTestLedger } from '../support/ledger-folder.ts';
import { noProc } from '../support/raw-http.ts';
import { runCommand } from '../support/run-command.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { STRIPPED } from '../support/server.ts';
import { SmallDisk } from '../support/small-disk.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const folder = scratchFolder();
const dataDir = join(folder, 'new', 'data');

interface Done {
  readonly status: number;
  readonly out: string;
  readonly talk: string;
}

/** The exit status of the program on full disks. */
function onFullDisk(...args: string[]): number | null {
  const shell = 'exec "$0" "$@" >/dev/full 2>/dev/full';
  return spawnSync('sh', ['-c', shell, process.execPath, ...STRIPPED, MAIN, ...args]).status;
}

/** Runs the program on a line as it is typed, as a script does: another process, its streams and its exit status. */
function qrn(line: string, environment: Record<string, string> = {}): Promise<Done> {
  const env = { PATH: process.env['PATH'] ?? '', QRN_DATA_DIR: dataDir, ...environment };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...STRIPPED, MAIN, ...(line === '' ? [] : line.split(' '))],
      { env },
      (error, out, talk) => {
        resolve({ status: error === null ? 0 : Number(error.code), out, talk });
      },
    );
  });
}

/** Runs the program in this process, because a new one takes half a second of processor time. */
async function qrnHere(line: string, environment: Record<string, string> = {}): Promise<Done> {
  return runCommand(root, line.split(' '), { QRN_DATA_DIR: dataDir, ...environment }, systemClock);
}

describe('the program', () => {
  it('fails if it cannot write its results, but not when it serves', { skip: noProc }, () => {
    assert.deepEqual([onFullDisk('--help'), onFullDisk('serve', '--help')], [1, 0]);
  });

  it('names the data folder whose disk is full', async (t) => {
    const disk = SmallDisk.mount(2);
    if (disk === undefined) return t.skip('needs the right to mount');
    t.after(() => disk.unmount());
    disk.fillTo(0);
    const there = join(disk.folder, 'new', 'data');
    assert.deepEqual(await qrn('serve', { QRN_DATA_DIR: there }), {
      status: 1,
      out: '',
      talk: `qrn serve: the disk of the data folder ${there} is full: free some space, or set QRN_DATA_DIR to a folder on another disk\n`,
    });
  });

  it('says where a folder cannot be made, and which setting to change', { skip: noProc }, async () => {
    const cannot = 'cannot make the folder /proc/x: ENOENT: no such file or directory';
    const inTheWay = scratchFolder();
    const file = join(inTheWay, 'ledger');
    writeFileSync(file, '');
    const exists = `cannot make the folder ${file}: EEXIST: file already exists`;
    const witness = 'witness --name w.example/1 --logs /dev/null --state /proc/x/y';
    assert.deepEqual(
      [
        await qrnHere('serve', { QRN_DATA_DIR: inTheWay }),
        await qrnHere('serve', { QRN_DATA_DIR: '/proc/x/y' }),
        await qrnHere(witness),
      ],
      [
        {
          status: 1,
          out: '',
          talk: `qrn serve: ${exists}; set QRN_DATA_DIR to a folder that can be created\n`,
        },
        {
          status: 1,
          out: '',
          talk: `qrn serve: ${cannot}; set QRN_DATA_DIR to a folder that can be created\n`,
        },
        { status: 1, out: '', talk: `qrn witness: ${cannot}; set --state to a folder that can be created\n` },
      ],
    );
  });

  it('says what an interrupted import leaves', async (t) => {
    const silent = createServer(() => {}); // a database that never answers
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    t.after(() => silent.close());
    const { port } = silent.address() as AddressInfo;
    const env = { QRN_DATA_DIR: dataDir, QRN_LEDGER: `postgres://qrn@127.0.0.1:${port}/qrn` };
    const child = spawn(process.execPath, [...STRIPPED, MAIN, 'cluster', 'import-lmdb', '--yes'], { env });
    silent.once('connection', () => child.kill('SIGINT'));
    let talk = '';
    child.stderr.on('data', (chunk) => (talk += chunk));
    const [status] = await once(child, 'close');
    assert.equal(status, 130);
    assert.match(
      talk,
      /^qrn cluster import-lmdb: interrupted\. The ledger is complete, [^\n]+ to continue\.\n$/,
    );
  });

  it('prints its version and its commands', async () => {
    const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const [version, help] = await Promise.all([qrn('--version'), qrn('--help')]);
    assert.deepEqual(version, { status: 0, out: `${manifest.version}\n`, talk: '' });
    assert.equal(help.status, 0);
    assert.match(help.out, /^ {2}accounts {2,}\S/m);
    assert.match(help.out, /^ {2}keys {2,}\S/m);
    assert.deepEqual(await qrn(''), help, 'qrn alone tells them too');
  });

  it('explains each command in lines that fit 80 columns', async () => {
    const explain = async (path: string, command: Command): Promise<void> => {
      const { status, out: help } = await runCommand(command, ['--help']);
      assert.equal(status, 0, path);
      for (const line of help.split('\n')) assert.ok(line.length <= 80, `${path}: ${line}`);
      const { commands } = await command.words();
      for (const each of commands) await explain(`${path} ${each.name}`, each);
    };
    await explain('qrn', root);
    const { out } = await qrnHere('config --help');
    assert.match(out, /^ {2}QRN_DATA_DIR +\S.*\n +stored data; default: \.\/data$/m);
  });

  it('fails with one line, and makes no folder by mistake', async () => {
    const there = join(dataDir, 'ledger');
    const wrong: readonly [line: string, status: number, talk: string][] = [
      ['frob', 2, "qrn: unknown command 'frob'; the commands are "],
      ['accounts list', 1, `qrn accounts list: there is no ledger in ${there}: `],
      ['keys revoke x', 1, `qrn keys revoke: there is no ledger in ${there}: `],
      ['accounts create --name A --tier free', 1, `qrn accounts create: there is no ledger in ${there}: `],
      ['accounts create --name A --tier gold', 2, 'qrn accounts create: --tier must be one of free, '],
    ];
    const assertFails = ({ status, out, talk }: Done, expected: number, start: string) => {
      assert.deepEqual([status, out], [expected, '']);
      assert.ok(talk.startsWith(start), talk);
      assert.match(talk, /^[^\n]+\n$/);
    };
    for (const [line, status, talk] of wrong) assertFails(await qrnHere(line), status, talk);
    const misspelt = await qrn('keys list', { QRN_DATADIR: 'x' });
    assertFails(misspelt, 1, 'qrn keys list: QRN_DATADIR is not a setting. ');
    assert.ok(!existsSync(dataDir));
  });

  it('makes the first account of a ledger without a running service', async () => {
    await (await openTestLedger(join(dataDir, 'ledger'))).close();
    const { status, out, talk } = await qrn('accounts create --name Ann --tier free --json');
    assert.deepEqual([status, talk], [0, '']);
    assert.match(out, /^[^\n]+\n$/);
    const made = JSON.parse(out);
    assert.deepEqual(Object.keys(made), ['account_id', 'name', 'tier', 'key_id', 'key']);
    assert.equal(made.name, 'Ann');
    assert.equal(made.tier, 'free');
    assert.equal(made.key.slice(0, 28), `qrn_f_${made.key_id}`);
    assert.equal(statSync(join(dataDir, 'ledger')).mode & 0o077, 0);
  });

  it('shows tables to people, and the warning about the key beside them', async () => {
    const made = await qrnHere('accounts create --name Bob --tier developer');
    assert.match(
      made.out,
      /^account_id {2}acct_\w{26}\nname {8}Bob\ntier {8}developer\nkey_id {6}\w{22}\nkey {9}qrn_d_\w{54}\n$/,
    );
    assert.match(made.talk, /^The key is shown only once[^\n]*\n$/);
    const [accounts, keys] = [await qrnHere('accounts list'), await qrnHere('keys list')];
    assert.match(accounts.out, /^ACCOUNT_ID +NAME +TIER +REQUESTS_PER_MINUTE +[^\n]+\n(acct_[^\n]+\n){2}$/);
    assert.match(accounts.out, /^acct_\w{26} +Bob +developer +100 +50000 +0 +\S+ +20/m);
    assert.match(
      keys.out,
      /^KEY_ID +ACCOUNT_ID +STATUS +SCOPES +CREATED_AT +EXPIRES_AT\n([^\n]+live +entropy:read [^\n]+-\n){2}$/,
    );
  });
});
