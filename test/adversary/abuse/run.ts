/*
 * The long form of test/adversary/abuse/*.test.ts, with memory and processor time:
 *   node test/adversary/abuse/run.ts [SEED] [ENGINE ...]   ENGINE is uws or node; both unless named. About 5 minutes each.
 */
import assert from 'node:assert/strict';
import type { EngineName } from '../../../src/http/engine.ts';
import { uniforms } from '../../support/chance.ts';
import { HttpConnection } from '../../support/http.ts';
import { freePort } from '../../support/programs.ts';
import { noProc, Target } from '../../support/raw-http.ts';
import { TestServer } from '../../support/server.ts';
import {
  assertCutsEndless,
  assertHoldsForReaders,
  assertOutlivesCrowd,
  assertServes,
  assertServesBesideIdle,
  assertSurvivesLeavers,
  assertWithstandsFlood,
  SlowClients,
} from './http-clients.ts';
import {
  assertCutsChangeNothing,
  assertKeepsReplyDeadline,
  assertTakesBodiesAsTheyCome,
  cpuShareBesideCrowd,
  growthMb,
} from './http-long.ts';
import { CaseRunner, SilentCases } from './http-malformed.ts';
import { hostileCases } from './http-table.ts';
import { type Beside, besideLookUps, besidePages, besideTenant } from './look-ups.ts';

assert.equal(noProc, false, 'the long form needs /proc of Linux');
const seed = Number(process.argv[2] ?? 1);
const named = process.argv.slice(3);
const ENGINES = (['uws', 'node'] as const).filter((engine) => named.length === 0 || named.includes(engine));

/**
 * Generous bounds on growth: what a run of this file took, tripled at least. Memory that grows with each attack, or by
 * what its clients announce, goes far beyond.
 */
const GROWTH_MB_MAX = {
  bodies: 80,
  idle: 80,
  endless: 150,
  slow: 80,
  flood: 150,
  leavers: 300,
  readers: 400,
};

const say = (text: string) => process.stdout.write(`${text}\n`);

/** Long enough for the 99th percentile, and short enough that both see the same machine. */
const BESIDE_WINDOWS = { rounds: 12, windowMs: 700 };

/** Runs an attack under its bound of memory. */
async function bounded(target: Target, name: keyof typeof GROWTH_MB_MAX, attack: () => Promise<unknown>) {
  let told: unknown;
  const grown = await growthMb(target, async () => {
    told = await attack();
  });
  say(`${name}: ${told === undefined ? '' : `${told}, `}grew by ${grown.toFixed(0)} MB at most`);
  assert.ok(grown < GROWTH_MB_MAX[name], `${name}: ${grown} MB`);
}

/**
 * What others leave to paid requests: of those who pay nothing at least half of the rate, and three times the time; another
 * tenant with four times as many connections a fifth, which is their part of all connections. All are told before one fails.
 */
async function assertOthersYield(server: TestServer): Promise<void> {
  const missed: string[] = [];
  const tell = (measured: readonly Beside[], shareMin: number, p99Max: number) => {
    for (const { what, rateShare, p99Factor, answered, shed } of measured) {
      const told = `${what}: ${Math.round(100 * rateShare)} % of the paid rate, ${p99Factor.toFixed(1)} times the p99`;
      say(`beside ${told}; ${answered} answered, ${shed} shed`);
      if (rateShare < shareMin || p99Factor > p99Max) missed.push(told);
    }
  };
  tell(await besideLookUps(server, BESIDE_WINDOWS), 0.5, 3);
  tell(await besidePages(server, BESIDE_WINDOWS), 0.5, 3);
  tell(await besideTenant(server, BESIDE_WINDOWS), 0.2, 10);
  assert.deepEqual(missed, []);
}

for (const engine of ENGINES) {
  say(`on ${engine}`);
  await startsUnderFire(engine);
  await withstands(engine);
  await outlivesCrowd(engine);
}

async function withstands(engine: EngineName): Promise<void> {
  const environment = { QRN_ACCESS_LOG_SAMPLE: '0', QRN_FRONT: engine };
  const server = await TestServer.start(environment);
  try {
    const { key } = await server.account('enterprise', '--credits-per-month', '1000000000');
    const target = new Target(server, key);
    const cases = hostileCases(key);
    const runner = new CaseRunner(target);
    if (engine === 'uws') {
      const silent = await SilentCases.send(
        target,
        cases.filter(({ connection }) => connection === 'waits'),
      );
      for (const each of cases) if (each.connection !== 'waits') await runner.assertAnswer(each);
      await silent.assertCut();
      const cuts = await assertCutsChangeNothing(target, 10, uniforms(seed));
      say(`cut into packets: ${cuts} cases, seed ${seed}`);
    } else for (const each of cases) await runner.assertBooked(each); // the table says what uWebSockets.js answers
    say(`table: ${cases.length} cases`);
    await bounded(target, 'leavers', async () => `${await assertSurvivesLeavers(target, 40)} clients`);
    await bounded(
      target,
      'flood',
      async () => `${await assertWithstandsFlood(target, 400, engine)} refusals`,
    );
    await bounded(target, 'bodies', () => assertTakesBodiesAsTheyCome(target, 4_000));
    await bounded(target, 'endless', async () => `${await assertCutsEndless(target, 10)} clients`);
    await bounded(
      target,
      'idle',
      async () => `${await assertServesBesideIdle(target, 10_000, 500)} connections`,
    );
    await bounded(target, 'slow', async () => {
      const slow = await SlowClients.start(target, 800);
      await slow.assertCut(engine);
      await target.untilCalm();
      return '4000 connections';
    });
    await bounded(target, 'readers', async () => {
      // one account: replies beyond 128 MiB are refused to it (test/overload/stalled.test.ts)
      await assertHoldsForReaders(target, 5);
      await assertKeepsReplyDeadline(target, 3);
      return '5 of 20 MB that rest, 3 of 30 MB that trickle';
    });
    await assertOthersYield(server);
    const { answers } = await target.books();
    const audit = JSON.parse(await server.qrn('ledger', 'audit', '--json'));
    assert.deepEqual([audit.ok, audit.certificates], [true, answers]);
    assert.deepEqual(target.logLines('"level":50'), []);
    say(`books: ${answers} answers, as many certificates`);
  } finally {
    await server.stop();
  }
}

/** A start while every hostile case is sent again and again, from before the port is open. */
async function startsUnderFire(engine: EngineName): Promise<void> {
  const port = await freePort();
  const fired = TestServer.spawn({ QRN_ACCESS_LOG_SAMPLE: '0', QRN_FRONT: engine, QRN_PORT: String(port) });
  let isReady = false;
  let sent = 0;
  const cases = hostileCases('none');
  const fire = async () => {
    for (let i = 0; !isReady; i = (i + 1) % cases.length) {
      const connection = await HttpConnection.open(port).catch(() => undefined);
      if (connection === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
      else {
        connection.send(cases[i].bytes);
        await Promise.race([connection.closed, new Promise((resolve) => setTimeout(resolve, 20))]);
        connection.leave();
        sent++;
      }
    }
  };
  const attackers = Array.from({ length: 8 }, fire);
  try {
    const server = await fired.ready();
    isReady = true;
    await Promise.all(attackers);
    const target = new Target(server, server.key);
    await assertServes(target, 20);
    assert.deepEqual(target.logLines('"level":50'), []);
    say(`start: ready beside ${sent} hostile requests`);
    assert.ok(sent > 0, 'the port was open before the service was ready');
  } finally {
    isReady = true;
    await fired.stop();
  }
}

async function outlivesCrowd(engine: EngineName): Promise<void> {
  const environment = { QRN_ACCESS_LOG_SAMPLE: '0', QRN_FRONT: engine };
  const poor = await TestServer.start(environment, undefined, {
    shell: 'ulimit -n 120 && exec "$0" "$@"',
  });
  try {
    const target = new Target(poor, poor.key);
    const away = await assertOutlivesCrowd(target, 120, 2_000);
    await new Promise((resolve) => setTimeout(resolve, 10_000)); // the pool is full by then
    const share = await cpuShareBesideCrowd(target, 1_000, 15);
    say(
      `120 descriptors: ${away} of 2000 turned away, ${(100 * share).toFixed(0)} % of a processor beside 1000`,
    );
    assert.ok(share < 0.5, 'the service does not spin');
  } finally {
    await poor.stop();
  }
}
