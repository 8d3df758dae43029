import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineName } from '../../../src/http/engine.ts';
import { planted } from '../../mutants/plant.ts';
import { uniforms } from '../../support/chance.ts';
import { hostileCases } from '../../support/hostile-requests.ts';
import { HttpConnection } from '../../support/http.ts';
import { freePort } from '../../support/programs.ts';
import { Target } from '../../support/raw-http.ts';
import { TestServer } from '../../support/server.ts';
import { type AbuseCase, type Arena, type Finding, withServer } from './arena.ts';
import { LOOK_UPS, PAGES, TENANT } from './floods.ts';
import {
  assertOutlivesCrowd,
  assertServes,
  cutsEndless,
  cutsSlowClients,
  holdsForReaders,
  servesBesideIdle,
  survivesLeavers,
  withstandsFlood,
} from './http-clients.ts';
import {
  assertCutsChangeNothing,
  cpuShareBesideCrowd,
  growthMb,
  keepsReplyDeadline,
  takesBodiesAsTheyCome,
} from './http-long.ts';
import { CaseRunner } from './http-malformed.ts';
import { Besieged, type Flood, type Shares } from './look-ups.ts';
import { MEMORY } from './memory.ts';
import { PROBES } from './probes.ts';

const percent = (share: number) => `${Math.round(100 * share)} %`;

/** An attack by a number of clients, requests or connections, which it returns. An error is a failure. */
interface Attack {
  readonly name: string;
  readonly attack: (target: Target, size: number, engine: EngineName) => Promise<number>;
  /** Size of the gating form (http.test.ts) and of the long one. */
  readonly short?: number;
  readonly long: number;
  /**
   * At least three times the growth of a long run; memory that grows with each attack, or by sizes that clients
   * announce, exceeds it by far.
   */
  readonly growthMbMax: number;
}

export const ATTACKS: readonly Attack[] = [
  { name: 'clients that leave', attack: survivesLeavers, short: 1, long: 20, growthMbMax: 300 },
  { name: 'a flood of refusals', attack: withstandsFlood, long: 200, growthMbMax: 150 },
  { name: 'bodies that do not come', attack: takesBodiesAsTheyCome, long: 4_000, growthMbMax: 80 },
  { name: 'clients that send without end', attack: cutsEndless, short: 1, long: 4, growthMbMax: 150 },
  { name: 'idle connections', attack: servesBesideIdle, short: 1_000, long: 10_000, growthMbMax: 80 },
  { name: 'slow clients', attack: cutsSlowClients, short: 4, long: 400, growthMbMax: 80 },
  // one account: replies beyond 128 MiB are refused to it (test/overload/stalled.test.ts)
  { name: 'readers that rest', attack: holdsForReaders, short: 2, long: 5, growthMbMax: 400 },
  { name: 'readers that trickle', attack: keepsReplyDeadline, long: 3, growthMbMax: 400 },
];

function bounded({ name, attack, long, growthMbMax }: Attack): AbuseCase {
  return {
    name,
    bound: `grows by less than ${growthMbMax} MB, others are served`,
    async run(arena) {
      const target = await arena.target();
      let count = 0;
      const grown = await growthMb(target, async () => {
        count = await attack(target, long, arena.engine);
      });
      return { figure: `${count}, grew by ${grown.toFixed(0)} MB`, isMet: grown < growthMbMax };
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

/** Measures 32 connections that repeat one request beside 8 of a paying account. */
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

/** Bounds for clients who pay nothing. */
const UNPAID_SHARES: Shares = { rateMin: 0.5, p99Max: 3 };
/**
 * Bounds for another tenant that pays, with four times as many connections: more than the fifth that the payer has of
 * all connections.
 */
const TENANT_SHARES: Shares = { rateMin: 1 / 3, p99Max: 5 };

export const CASES: readonly AbuseCase[] = [
  { name: 'a start under fire', bound: 'becomes ready, no line of level 50', run: startsUnderFire },
  {
    name: 'malformed requests',
    bound: 'each as the table says; refused is not booked',
    run: withstandsTable,
  },
  { name: 'requests cut into packets', bound: 'the same answers', run: withstandsCuts },
  ...ATTACKS.map(bounded),
  ...beside('without a key', LOOK_UPS, UNPAID_SHARES),
  ...beside('unpaid', PAGES, UNPAID_SHARES),
  ...beside('another tenant', TENANT, TENANT_SHARES),
  ...PROBES,
  { name: 'an exchanged binary', bound: 'is not loaded', run: loadsNoOtherBinary },
  ...MEMORY,
  { name: 'more connections than descriptors', bound: 'less than half of a processor', run: outlivesCrowd },
];

/** Audits the books after all other attacks on the shared service. */
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
  for (const each of cases) {
    // Cases that wait for uWebSockets.js are tried among the slow clients.
    if (arena.engine === 'node' || each.uws.connection !== 'waits')
      await runner.assertAnswer(each, arena.engine);
  }
  return { figure: `${cases.length} cases`, isMet: true };
}

async function withstandsCuts(arena: Arena): Promise<Finding> {
  if (arena.engine !== 'uws') return { figure: 'cut for uWebSockets.js alone', isMet: true };
  const cuts = await assertCutsChangeNothing(await arena.target(), 2, uniforms(arena.seed));
  return { figure: `${cuts} cases, seed ${arena.seed}`, isMet: true };
}

/** Starts a service while every hostile case is sent repeatedly, from before the port is open. */
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

/**
 * Asserts that a start with another digest of the binary is refused. test/http/uws-digests.test.ts tests which
 * binaries are.
 */
async function loadsNoOtherBinary({ engine, environment }: Arena): Promise<Finding> {
  const otherDigest = planted({
    'src/http/uws-digests.ts': ["createHash('sha256')", "createHash('sha512')"],
  });
  const server = TestServer.spawn({ ...environment, ...otherDigest });
  const serves = await server.ready().then(Boolean, () => false);
  const refuses = server.output().includes('is not the reviewed binary');
  await server.stop();
  return { figure: serves ? 'serves' : 'ends', isMet: engine === 'uws' ? refuses && !serves : serves };
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
