import assert from 'node:assert/strict';
import {
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/programs.ts';
import { runQrn, TestServer, withWallClock } from '../../support/server.ts';
import type { AbuseCase, Arena, Finding } from './arena.ts';

/** What goes wrong around a service, on its machine: clocks, other users, other binaries. */

const root = fileURLToPath(new URL('../../..', import.meta.url));
const DAY_MS = 86_400_000;
/** A user other than root, as whom the service runs; `nobody` on most systems. */
const OWNER = 65_534;

function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'qrn-abuse-'));
  return use(folder).finally(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
}

const becomesReady = (server: TestServer) => server.ready().then(Boolean, () => false);
const keyed = (key: string) => ({ authorization: `Bearer ${key}` });

/** Starts under a clock that is right, then 40 days ahead, then right again: credits are not renewed by it. */
async function renewsNothing(arena: Arena): Promise<Finding> {
  return inFolder(async (folder) => {
    const clock = join(folder, 'offset');
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    const environment = { ...arena.environment, ...withWallClock(clock) };
    let key = '';
    const spent: number[] = [];
    for (const days of [0, 40, 0, 40, 0]) {
      writeFileSync(clock, String(days * DAY_MS));
      const server = await TestServer.start(environment, dataDir);
      if (key === '') ({ key } = await server.account('pro'));
      let credits = 0;
      for (let i = 0; i < 30; i++) {
        const answer = await server.get('/bytes?count=1000&entropy_mode=pure', keyed(key));
        if (answer.status === 200) credits += 1_000;
        else if (answer.status === 503) await sleep(500);
        else break;
      }
      spent.push(credits);
      await server.kill(spent.length % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
    }
    // each of the two months has its credits once
    const sum = spent.reduce((all, each) => all + each, 0);
    return { figure: `${spent.join(', ')} credits in the five lives`, isMet: sum > 0 && sum <= 2 * 10_240 };
  });
}

const COMMANDS: readonly (readonly string[])[] = [
  ['accounts', 'create', '--name', 'A', '--tier', 'free'],
  ['accounts', 'list'],
  ['keys', 'create', '--account', 'acct_x'],
  ['ledger', 'audit'],
  ['ledger', 'compact'],
  ['ledger', 'backup', 'copy'],
  ['log', 'rotate-key'],
  ['serve'],
];

/** Root runs every command on the folder of a service that runs as another user. */
async function keepsItsFolder({ environment }: Arena): Promise<Finding> {
  if (process.geteuid?.() !== 0) return { figure: 'needs root, not run', isMet: true };
  return inFolder(async (folder) => {
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    for (const each of [folder, dataDir]) chownSync(each, OWNER, OWNER);
    const asOwner = {
      shell: `exec setpriv --reuid=${OWNER} --regid=${OWNER} --clear-groups "$0" "$@"`,
    };
    const server = await TestServer.start(environment, dataDir, asOwner);
    try {
      for (const args of COMMANDS) {
        const { code, stderr } = await runQrn(dataDir, args, { QRN_PORT: String(await freePort()) });
        assert.equal(code, 1, `${args.join(' ')}: ${stderr}`);
        assert.match(stderr, /belongs to user/, args.join(' '));
      }
      const { key } = server;
      for (let i = 0; i < 20; i++) assert.equal((await server.get('/uuid', keyed(key))).status, 200);
      const strange = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter(
        (name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.uid !== OWNER,
      );
      assert.deepEqual(strange, []);
      const ended = await server.kill('SIGTERM');
      const again = await TestServer.start(environment, dataDir, asOwner);
      await again.kill('SIGTERM');
      return {
        figure: `${COMMANDS.length} commands refused, no file left, the service starts again`,
        isMet: ended === 0,
      };
    } finally {
      server.process.kill('SIGKILL');
    }
  });
}

/** The native binary is exchanged in a copy of the program. */
async function loadsNoOtherBinary({ engine, environment }: Arena): Promise<Finding> {
  return inFolder(async (folder) => {
    for (const name of ['src', 'scripts', 'clients', 'dist'])
      cpSync(join(root, name), join(folder, name), { recursive: true });
    cpSync(join(root, 'package.json'), join(folder, 'package.json'));
    const modules = join(folder, 'node_modules');
    mkdirSync(modules);
    for (const name of readdirSync(join(root, 'node_modules')))
      if (name !== 'uWebSockets.js') symlinkSync(join(root, 'node_modules', name), join(modules, name));
    const installed = join(root, 'node_modules/uWebSockets.js');
    const binary = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
    cpSync(installed, join(modules, 'uWebSockets.js'), {
      recursive: true,
      filter: (path) => !path.endsWith('.node') || path.endsWith(binary),
    });
    const path = join(modules, 'uWebSockets.js/dist/bin', binary);
    const sound = readFileSync(path);
    const tampered = Buffer.from(sound);
    tampered[tampered.length >> 1] ^= 1;
    const found: string[] = [];
    const start = async (what: string, content: Buffer): Promise<boolean> => {
      writeFileSync(path, content);
      const dataDir = join(folder, `data-${found.length}`);
      mkdirSync(dataDir, { mode: 0o700 });
      const server = TestServer.spawn(environment, dataDir, { shell: `cd ${folder} && exec "$0" "$@"` });
      const isReady = await becomesReady(server);
      const refusal = server.output().includes('is not the reviewed binary');
      server.process.kill('SIGKILL');
      await server.ended;
      found.push(`${what}: ${isReady ? 'serves' : refusal ? 'refused' : 'fails'}`);
      return isReady ? true : refusal ? false : assert.fail(server.output().slice(-300));
    };
    const ready = [
      await start('sound', sound),
      await start('a bit changed', tampered),
      await start('cut short', sound.subarray(0, sound.length - 4096)),
    ];
    const expected = engine === 'uws' ? [true, false, false] : [true, true, true]; // node:http does not load it
    return { figure: found.join(', '), isMet: String(ready) === String(expected) };
  });
}

export const OPERATORS: readonly AbuseCase[] = [
  { name: 'starts under a wrong clock', bound: 'the credits of two months at most', run: renewsNothing },
  { name: "root on another user's folder", bound: 'refused, no file left', run: keepsItsFolder },
  { name: 'an exchanged binary', bound: 'is not loaded', run: loadsNoOtherBinary },
];
