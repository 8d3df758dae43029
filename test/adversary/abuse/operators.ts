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
import { meetsFullDisk } from '../../overload/full-disk.ts';
import { Chance } from '../../support/chance.ts';
import { fetchWhole } from '../../support/http.ts';
import { freePort } from '../../support/programs.ts';
import { freshMetrics } from '../../support/prometheus.ts';
import { runQrn, TestServer, until, withWallClock } from '../../support/server.ts';
import { SmallDisk } from '../../support/small-disk.ts';
import { type AbuseCase, type Arena, type Finding, withServer } from './arena.ts';

/** What goes wrong around a service, on its machine: clocks, disks, other users, other binaries. */

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

/** Nobody takes the log, or its disk is full: neither may stop the service. */
async function losesItsLog({ environment }: Arena): Promise<Finding> {
  const chatty = { ...environment, QRN_ACCESS_LOG_SAMPLE: '1' };
  const found: string[] = [];
  const asks = async (origin: string, key: string, what: string) => {
    for (let i = 0; i < 1_500; i++) {
      const answer = await fetchWhole(`${origin}/v1/uuid?entropy_mode=csprng`, { headers: keyed(key) });
      assert.equal(answer.status, 200, what);
      if (i % 100 === 0) assert.equal((await fetchWhole(`${origin}/livez`)).status, 200, what);
    }
    const lost = Number(/^qrn_log_lines_lost_total (\d+)/m.exec(await freshMetrics(origin))?.[1]);
    found.push(`${what}: ${lost} lines lost`);
    return lost;
  };
  const enterprise = ['accounts', 'create', '--name', 'a', '--tier', 'enterprise', '--json'];
  const away = await TestServer.start(chatty);
  let lostAway = 0;
  try {
    const { key } = await away.account('enterprise');
    away.process.stderr!.pause(); // a pipe that nobody reads
    away.process.stdout!.pause();
    lostAway += await asks(away.origin, key, 'no reader');
    away.process.stderr!.destroy(); // and one whose reader has ended
    away.process.stdout!.destroy();
    lostAway += await asks(away.origin, key, 'reader gone');
  } finally {
    await away.stop();
  }
  const port = await freePort();
  const full = TestServer.spawn({ ...chatty, QRN_PORT: String(port) }, undefined, {
    shell: 'exec "$0" "$@" >/dev/full 2>/dev/full',
  });
  try {
    const origin = `http://127.0.0.1:${port}`;
    const isReady = async () => (await fetchWhole(`${origin}/readyz`).catch(() => undefined))?.status === 200;
    await full.until('ready on a full disk', isReady, 60_000);
    const { key } = JSON.parse(await full.qrn(...enterprise)) as { key: string };
    const lostFull = await asks(origin, key, 'a full disk');
    const ended = await full.kill('SIGTERM');
    return {
      figure: `${found.join(', ')}; ended with ${ended}`,
      isMet: lostAway > 0 && lostFull > 1_000 && ended === 0,
    };
  } finally {
    await full.stop();
  }
}

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

/** The clock of a running service jumps by 401 days and comes back after ten seconds. */
async function believesNoClock(arena: Arena): Promise<Finding> {
  return inFolder((folder) => {
    const clock = join(folder, 'offset');
    writeFileSync(clock, '0');
    return withServer({ ...arena.environment, ...withWallClock(clock) }, async (server) => {
      const { key } = await server.account('pro');
      const ids: string[] = [];
      const answer = async () => {
        const reply = await server.get('/bytes?count=16&entropy_mode=pure', keyed(key));
        assert.equal(reply.status, 200, await reply.clone().text());
        const { metadata } = (await reply.json()) as { metadata: { certificate_id: string } };
        ids.push(metadata.certificate_id);
      };
      const period = async () => {
        const usage = (await (await server.get('/usage', keyed(key))).json()) as {
          data: { period: unknown };
        };
        return JSON.stringify(usage.data.period);
      };
      const ready = async () => (await fetchWhole(`${server.origin}/readyz`)).status;
      for (let i = 0; i < 10; i++) await answer();
      const before = await period();
      const jumps: string[] = [];
      for (const days of [401, -401, 31]) {
        writeFileSync(clock, String(days * DAY_MS));
        await until('it is not ready', async () => (await ready()) === 503, 30_000);
        for (let i = 0; i < 20; i++) {
          await server.get('/uuid', keyed(key));
          await sleep(100);
        }
        assert.equal(await period(), before, `the period moved by ${days} days`);
        for (const id of ids) {
          const found = await fetchWhole(`${server.origin}/verify/${id}`, {
            headers: { accept: 'application/json' },
          });
          assert.equal(found.status, 200, `a certificate after ${days} days`);
        }
        writeFileSync(clock, '0');
        await until('it is ready again', async () => (await ready()) === 200, 30_000);
        await answer();
        jumps.push(`${days}`);
      }
      assert.equal(await period(), before);
      return {
        figure: `jumps of ${jumps.join(', ')} days: period and ${ids.length} certificates stay`,
        isMet: true,
      };
    });
  });
}

/** The disk is filled to the last byte while pure bytes are asked for. */
async function keepsItsReservoir({ environment }: Arena): Promise<Finding> {
  const disk = SmallDisk.mount(400);
  if (disk === undefined) return { figure: 'needs the right to mount, not run', isMet: true };
  try {
    const { refused, burnt, lines } = await meetsFullDisk(disk, environment);
    return {
      figure: `${refused} refused, ${burnt} pure bytes taken, not ready, ${lines} lines of warnings and errors`,
      isMet: burnt === 0 && lines <= 10,
    };
  } finally {
    disk.unmount();
  }
}

const PAGE_BYTES = 4096;
const DAMAGES = 4;

/** Pages of a ledger are overwritten while a killed service is away: it must not serve what an audit refuses. */
async function findsDamage({ environment, seed }: Arena): Promise<Finding> {
  return inFolder(async (folder) => {
    const whole = join(folder, 'whole');
    mkdirSync(whole, { mode: 0o700 });
    const first = await TestServer.start(environment, whole);
    const { key } = await first.account('enterprise');
    for (let i = 0; i < 400; i++) await first.get('/uuid?entropy_mode=csprng', keyed(key));
    await sleep(3_000); // the journal is folded into the ledger
    await first.kill('SIGKILL');
    const chance = new Chance(`damage ${seed}`);
    let refused = 0;
    let harmless = 0;
    let served = 0;
    for (let round = 0; round < DAMAGES; round++) {
      const dataDir = join(folder, `damaged-${round}`);
      cpSync(whole, dataDir, { recursive: true });
      const file = join(dataDir, 'ledger', 'data.mdb');
      const content = readFileSync(file);
      const used = Array.from({ length: content.length / PAGE_BYTES }, (_, page) => page).filter(
        (page) =>
          page >= 2 &&
          content.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES).some((byte) => byte !== 0),
      );
      for (let i = 0; i < 8; i++) {
        const page = used[chance.below(used.length)];
        chance.fill(content.subarray(page * PAGE_BYTES + 64, (page + 1) * PAGE_BYTES));
      }
      writeFileSync(file, content);
      const next = TestServer.spawn(environment, dataDir);
      const isReady = await becomesReady(next);
      await next.kill('SIGKILL');
      const audit = await runQrn(dataDir, ['ledger', 'audit', '--json']);
      if (!isReady) refused++;
      else if (audit.code === 0) harmless++;
      else served++;
      rmSync(dataDir, { recursive: true, force: true });
    }
    return {
      figure: `${refused} refused, ${harmless} sound all the same, ${served} served although damaged`,
      isMet: served === 0 && refused > 0,
    };
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
  { name: 'a log that nobody takes', bound: 'every request answered, lost lines counted', run: losesItsLog },
  { name: 'starts under a wrong clock', bound: 'the credits of two months at most', run: renewsNothing },
  { name: 'a clock that jumps', bound: 'not ready; period and certificates stay', run: believesNoClock },
  {
    name: 'a full disk',
    bound: 'no pure byte for 300 refused, not ready, at most 10 lines',
    run: keepsItsReservoir,
  },
  { name: 'overwritten pages', bound: 'what an audit refuses is not served', limitS: 400, run: findsDamage },
  { name: "root on another user's folder", bound: 'refused, no file left', run: keepsItsFolder },
  { name: 'an exchanged binary', bound: 'is not loaded', run: loadsNoOtherBinary },
];
