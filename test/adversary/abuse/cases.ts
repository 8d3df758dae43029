import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { uniforms } from '../../support/chance.ts';
import { hostileCases } from '../../support/hostile-requests.ts';
import { HttpConnection } from '../../support/http.ts';
import { freePort } from '../../support/programs.ts';
import { Target } from '../../support/raw-http.ts';
import { TestServer } from '../../support/server.ts';
import { type AbuseCase, type Arena, type Finding, withServer } from './arena.ts';
import { LOOK_UPS, PAGES, TENANT } from './floods.ts';
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
import { Besieged, type Flood, type Shares } from './look-ups.ts';
import { MEMORY } from './memory.ts';
import { OPERATORS } from './operators.ts';
import { PROBES } from './probes.ts';

const percent = (share: number) => `${Math.round(100 * share)} %`;

/**
 * An attack under a bound of memory: what a run took, tripled at least. Memory that grows with each attack, or by what its
 * clients announce, goes far beyond.
 */
function bounded(
  name: string,
  growthMbMax: number,
  attack: (target: Target, arena: Arena) => Promise<string>,
): AbuseCase {
  return {
    name,
    bound: `grows by less than ${growthMbMax} MB, others are served`,
    async run(arena) {
      const target = await arena.target();
      let told = '';
      const grown = await growthMb(target, async () => {
        told = await attack(target, arena);
      });
      return { figure: `${told}, grew by ${grown.toFixed(0)} MB`, isMet: grown < growthMbMax };
    },
  };
}

const besieged = new WeakMap<TestServer, Promise<Besieged>>();

async function besiegedOf(arena: Arena): Promise<Besieged> {
  const server = await arena.server();
  let prepared = besieged.get(server);
  if (prepared === undefined) besieged.set(server, (prepared = Besieged.prepare(server)));
  return prepared;
}

/** 32 connections that ask for one thing, beside 8 of a paying account. */
function beside(who: string, floods: readonly Flood[], shares: Shares): AbuseCase[] {
  return floods.map((flood) => ({
    name: `${who}: ${flood.what}`,
    bound: `at least ${percent(shares.rateMin)} of the paid rate, at most ${shares.p99Max} times its p99`,
    async run(arena): Promise<Finding> {
      const found = await (await besiegedOf(arena)).measure(flood, shares);
      const { rateShare, p99Factor, paidPerS, answered, shed } = found;
      return {
        figure: `${percent(rateShare)} of ${paidPerS}/s, ${p99Factor.toFixed(1)} times; ${answered} answered, ${shed} shed`,
        isMet: rateShare >= shares.rateMin && p99Factor <= shares.p99Max,
      };
    },
  }));
}

/** Of those who pay nothing. */
const UNPAID_SHARES: Shares = { rateMin: 0.5, p99Max: 3 };
/** Of a tenant that pays too, with four times as many connections: more than the fifth that the payer has of all connections. */
const TENANT_SHARES: Shares = { rateMin: 1 / 3, p99Max: 5 };

export const CASES: readonly AbuseCase[] = [
  { name: 'a start under fire', bound: 'becomes ready, no line of level 50', run: startsUnderFire },
  {
    name: 'malformed requests',
    bound: 'each as the table says; refused is not booked',
    run: withstandsTable,
  },
  { name: 'requests cut into packets', bound: 'the same answers', run: withstandsCuts },
  bounded('clients that leave', 300, async (target) => `${await assertSurvivesLeavers(target, 20)} clients`),
  bounded(
    'a flood of refusals',
    150,
    async (target, { engine }) => `${await assertWithstandsFlood(target, 200, engine)} refusals`,
  ),
  bounded('bodies that do not come', 80, async (target) => {
    await assertTakesBodiesAsTheyCome(target, 4_000);
    return '4000 connections';
  }),
  bounded(
    'clients that send without end',
    150,
    async (target) => `${await assertCutsEndless(target, 4)} clients`,
  ),
  bounded(
    'idle connections',
    80,
    async (target) => `${await assertServesBesideIdle(target, 10_000, 200)} connections`,
  ),
  bounded('slow clients', 80, async (target, { engine }) => {
    const slow = await SlowClients.start(target, 400);
    await slow.assertCut(engine);
    await target.untilCalm();
    return '2000 connections';
  }),
  // one account: replies beyond 128 MiB are refused to it (test/overload/stalled.test.ts)
  bounded('readers that rest or trickle', 400, async (target) => {
    await assertHoldsForReaders(target, 5);
    await assertKeepsReplyDeadline(target, 3);
    return '5 of 20 MB that rest, 3 of 30 MB that trickle';
  }),
  ...beside('without a key', LOOK_UPS, UNPAID_SHARES),
  ...beside('unpaid', PAGES, UNPAID_SHARES),
  ...beside('another tenant', TENANT, TENANT_SHARES),
  ...PROBES,
  ...OPERATORS,
  ...MEMORY,
  { name: 'more connections than descriptors', bound: 'less than half of a processor', run: outlivesCrowd },
];

/** Looked at when all else has attacked the shared service. */
export const BOOKS: AbuseCase = {
  name: 'the books afterwards',
  bound: 'a certificate for each answer, and no line of level 50',
  async run(arena) {
    const target = await arena.target();
    await target.untilCalm();
    const { answers } = await target.books();
    const audit = JSON.parse(await target.server.qrn('ledger', 'audit', '--json'));
    const faults = target.logLines('"level":50').length;
    return {
      figure: `${answers} answers, ${audit.certificates} certificates, ${faults} faults`,
      isMet: audit.ok && audit.certificates === answers && faults === 0,
    };
  },
};

async function withstandsTable(arena: Arena): Promise<Finding> {
  const target = await arena.target();
  const cases = hostileCases(target.key);
  const runner = new CaseRunner(target);
  if (arena.engine === 'uws') {
    const silent = await SilentCases.send(
      target,
      cases.filter(({ connection }) => connection === 'waits'),
    );
    for (const each of cases) if (each.connection !== 'waits') await runner.assertAnswer(each);
    await silent.assertCut();
  } else for (const each of cases) await runner.assertBooked(each); // the table says what uWebSockets.js answers
  return { figure: `${cases.length} cases`, isMet: true };
}

async function withstandsCuts(arena: Arena): Promise<Finding> {
  if (arena.engine !== 'uws') return { figure: 'the table is of uWebSockets.js', isMet: true };
  const cuts = await assertCutsChangeNothing(await arena.target(), 2, uniforms(arena.seed));
  return { figure: `${cuts} cases, seed ${arena.seed}`, isMet: true };
}

/** A start while every hostile case is sent again and again, from before the port is open. */
async function startsUnderFire(arena: Arena): Promise<Finding> {
  const port = await freePort();
  const fired = TestServer.spawn({ ...arena.environment, QRN_PORT: String(port) });
  let isReady = false;
  let sent = 0;
  const cases = hostileCases('none');
  const fire = async () => {
    for (let i = 0; !isReady; i = (i + 1) % cases.length) {
      const connection = await HttpConnection.open(port).catch(() => undefined);
      if (connection === undefined) await sleep(5);
      else {
        connection.send(cases[i].bytes);
        await Promise.race([connection.closed, sleep(20)]);
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
    return { figure: `ready beside ${sent} hostile requests`, isMet: sent > 0 };
  } finally {
    isReady = true;
    await fired.stop();
  }
}

function outlivesCrowd({ environment }: Arena): Promise<Finding> {
  const outlives = async (poor: TestServer): Promise<Finding> => {
    const target = new Target(poor, poor.key);
    const away = await assertOutlivesCrowd(target, 120, 2_000);
    await sleep(10_000); // the pool is full by then
    const share = await cpuShareBesideCrowd(target, 1_000, 10);
    return { figure: `${away} of 2000 turned away, ${percent(share)} beside 1000`, isMet: share < 0.5 };
  };
  return withServer(environment, outlives, { shell: 'ulimit -n 120 && exec "$0" "$@"' });
}
