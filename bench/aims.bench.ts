import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type BareType, bareMediaType } from '../src/core/vocabulary.ts';
import { cpuTime, residentMemory } from '../test/support/process-usage.ts';
import { median, scaled, summarize } from '../test/support/statistics.ts';
import { aimText, NO_AIM, verdictOn } from './support/aims.ts';
import { hammered, loaded } from './support/measured.ts';
import { startBare, startPeers } from './support/peers.ts';
import { alternate, type Contender, type Rounds } from './support/rounds.ts';
import { dataFolder, type Server, startService, withServers } from './support/server.ts';
import type { Aim, BenchRun, Report, Row, Suite } from './support/suite.ts';
import { batchBody, VALUE_KINDS } from './support/value-kinds.ts';

const IDLE_MS = 1_000;
const SMALL = '/v1/integers?count=10';
const MANY_CONNECTIONS = 256;
const FEW_CONNECTIONS = 64;
/** The least requests/s that each durability is to reach, as a share of those of the bare front. */
const THROUGHPUT_AIMS = [
  { connections: MANY_CONNECTIONS, durability: 'fsync', aim: 0.5 },
  { connections: MANY_CONNECTIONS, durability: 'commit', aim: 0.6 },
  { connections: FEW_CONNECTIONS, durability: 'fsync', aim: 0.4 },
  { connections: FEW_CONNECTIONS, durability: 'commit', aim: 0.5 },
] as const;
/**
 * The least requests/s as a multiple of those of each peer, at 64 connections with durability commit. A peer that is not
 * installed counts as missed.
 */
const PEER_AIMS = [
  { peer: 'uWS + JSON.stringify', aim: 1.8 },
  { peer: 'Bun.serve + randomInt', aim: 1.3 },
  { peer: 'Go net/http + crypto/rand', aim: 1.3 },
] as const;
const PAGE_BYTES = 4_096;
const PAGES = 64;
const BATCH = { path: '/v1/batch', count: 100_000, connections: 8, timeMs: 600 } as const;

/** The most ns a number that batches of 100,000 are to take, by kind and form. */
const BATCH_AIMS: readonly { readonly kind: string; readonly octets?: BareType; readonly aimNs: number }[] = [
  { kind: 'integers 0..100', aimNs: 8 },
  { kind: 'integers 0..999,999', aimNs: 11 },
  { kind: 'integers int32', aimNs: 12 },
  { kind: 'integers 0..2^53-1', aimNs: 16 },
  { kind: 'floats 15 places', aimNs: 16 },
  { kind: 'floats 53 bits', aimNs: 20 },
  { kind: 'uuid', aimNs: 28 },
  { kind: 'integers int32', octets: 'int32', aimNs: 4 },
  { kind: 'integers 0..2^53-1', octets: 'float64', aimNs: 8 },
  { kind: 'floats 53 bits', octets: 'float64', aimNs: 8 },
  { kind: 'uuid', octets: 'uuid', aimNs: 14 },
  { kind: 'bytes 16 hex', octets: 'bytes', aimNs: 14 },
];

/** The figures that the service is to reach on two cores like those of November 2026, beside the measured ones. */
export const aims: Suite = {
  name: 'aims',
  summary: 'every aim for small requests, memory and batches, beside the measured figure; ask start too',
  byDefault: false,
  run: (run): Promise<Report> =>
    withServers(async (keep) => {
      const [subject] = run.subjects;
      const bare = keep(await startBare([]));
      const fsync = keep(await startService(subject, { QRN_DURABILITY: 'fsync' }));
      const commit = keep(await startService(subject, { QRN_DURABILITY: 'commit' }));
      const peers = await startPeers(run.talk, keep);
      const figures = [...(await smallFigures(run, { bare, fsync, commit, peers }))];
      const privateMib: (number | undefined)[] = [];
      for (const aim of BATCH_AIMS) {
        figures.push(...(await batchFigures(run, fsync, aim)));
        privateMib.push(residentMemory(fsync.pid)?.privateMib);
      }
      figures.push({
        what: `private memory after batches of each kind, ${BATCH.connections} connections`,
        unit: 'MiB',
        measured: summarize(privateMib),
        aim: NO_AIM,
      });
      const idle = await alternate([idling(fsync)], run.rounds);
      figures.push({
        what: 'CPU of the idle service, all threads',
        unit: 'ms a second',
        measured: idle.of('idle', 'cpuMs'),
        aim: NO_AIM,
      });
      return {
        tables: [
          {
            title: 'Aims',
            note:
              'Ratios are within one round. Times of batches are wall time over all values; CPU is that of all ' +
              'threads of the service, which other load on the machine touches least, and has no aim of its own.',
            columns: [{ title: 'measured', spread: true }, { title: 'aim' }, { title: 'verdict' }],
            rows: figures.map(rowOf),
          },
        ],
      };
    }),
};

function rowOf(aim: Aim): Row {
  return { label: `${aim.what}, ${aim.unit}`, cells: [aim.measured, aimText(aim), verdictOn(aim)] };
}

interface SmallServers {
  readonly bare: Server;
  readonly fsync: Server;
  readonly commit: Server;
  readonly peers: readonly { readonly name: string; readonly server: Server }[];
}

async function smallFigures(
  run: BenchRun,
  { bare, fsync, commit, peers }: SmallServers,
): Promise<readonly Aim[]> {
  const race = (connections: number, others: SmallServers['peers'] = []): Promise<Rounds> => {
    run.talk(`${SMALL}, ${connections} connections`);
    const load = { connections, seconds: run.seconds };
    const services = [{ name: 'fsync', server: fsync }, { name: 'commit', server: commit }, ...others];
    const contenders = services.map(({ name, server }) => hammered(name, server, SMALL, load));
    return alternate([hammered('bare', bare, '/hello', load), ...contenders], run.rounds);
  };
  const many = await race(MANY_CONNECTIONS);
  const privateMib = summarize([residentMemory(fsync.pid)?.privateMib]);
  const few = await race(FEW_CONNECTIONS, peers);
  const one = await race(1);
  const writes = await alternate([writingThrough()], run.rounds);
  const ratePerS = Math.round((many.of('fsync', 'answersPerS')?.median ?? 0) / 2);
  run.talk(`${ratePerS} requests/s, open loop`);
  const loop = { kind: 'open', ratePerS, durationMs: 1_000 * run.seconds } as const;
  const atHalf = (name: string, server: Server, path: string) =>
    loaded(name, server, { method: 'GET', path }, MANY_CONNECTIONS, loop);
  const half = await alternate([atHalf('bare', bare, '/hello'), atHalf('fsync', fsync, SMALL)], run.rounds);
  const tailOf = (name: string) =>
    scaled(half.of(name, 'p99Us'), 1 / (half.of(name, 'p50Us')?.median ?? Number.NaN));
  const bareUs = one.of('bare', 'p50Us')?.median ?? Number.NaN;
  const writeUs = writes.of('page', 'writeUs')?.median ?? Number.NaN;
  const throughput = THROUGHPUT_AIMS.map(({ connections, durability, aim }): Aim => {
    const measured = (connections === MANY_CONNECTIONS ? many : few).ratio(durability, 'bare', 'answersPerS');
    const what = `small request, ${connections} connections, ${durability}: requests/s of the bare front's`;
    return { what, unit: 'ratio', measured, aim, isLeast: true };
  });
  const ahead = PEER_AIMS.map(({ peer, aim }): Aim => {
    const measured = few.ratio('commit', peer, 'answersPerS');
    return { what: `requests/s of those of ${peer}`, unit: 'ratio', measured, aim, isLeast: true };
  });
  const at256 = 'small request, 256 connections';
  const cpu = (['fsync', 'commit'] as const).flatMap((durability): Aim[] => [
    {
      what: `${at256}, ${durability}: CPU of the front's thread of the bare front's`,
      unit: 'ratio',
      measured: many.ratio(durability, 'bare', 'frontUs'),
      aim: 1.6,
    },
    {
      what: `${at256}, ${durability}: CPU of all threads of the bare front's`,
      unit: 'ratio',
      measured: many.ratio(durability, 'bare', 'cpuUs'),
      aim: 2,
    },
  ]);
  return [
    ...cpu,
    { what: 'bare front: CPU', unit: 'µs', measured: many.of('bare', 'cpuUs'), aim: NO_AIM },
    ...throughput,
    ...ahead,
    { what: 'one connection, bare front: p50', unit: 'µs', measured: one.of('bare', 'p50Us'), aim: NO_AIM },
    { what: 'a page written through', unit: 'µs', measured: writes.of('page', 'writeUs'), aim: NO_AIM },
    {
      what: 'one connection, fsync: p50',
      unit: 'µs',
      measured: one.of('fsync', 'p50Us'),
      aim: Math.round(bareUs + 1.3 * writeUs),
    },
    {
      what: `${ratePerS} requests/s, half of the most: p99 of p50`,
      unit: 'ratio',
      measured: tailOf('fsync'),
      aim: 4,
    },
    {
      what: `${ratePerS} requests/s, fsync: p50`,
      unit: 'µs',
      measured: half.of('fsync', 'p50Us'),
      aim: NO_AIM,
    },
    {
      what: `${ratePerS} requests/s, bare front: p50`,
      unit: 'µs',
      measured: half.of('bare', 'p50Us'),
      aim: NO_AIM,
    },
    {
      what: `${ratePerS} requests/s, bare front: p99 of p50`,
      unit: 'ratio',
      measured: tailOf('bare'),
      aim: NO_AIM,
    },
    { what: 'private memory under 256 connections', unit: 'MiB', measured: privateMib, aim: 150 },
  ];
}

/** Measures how long the disk takes for one page that is written through, as a front's journal writes. */
function writingThrough(): Contender {
  const file = join(dataFolder(), 'pages');
  const page = new Uint8Array(PAGE_BYTES).fill(1);
  return {
    name: 'page',
    async measure() {
      const fd = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_DSYNC);
      const tookUs = Array.from({ length: PAGES }, (_, i) => {
        const startedMs = performance.now();
        writeSync(fd, page, 0, PAGE_BYTES, i * PAGE_BYTES);
        return 1e3 * (performance.now() - startedMs);
      });
      closeSync(fd);
      return { writeUs: median(tookUs) };
    },
  };
}

function idling(server: Server): Contender {
  return {
    name: 'idle',
    async measure() {
      const before = cpuTime(server.pid);
      const startedMs = performance.now();
      await setTimeout(IDLE_MS);
      const after = cpuTime(server.pid);
      const seconds = (performance.now() - startedMs) / 1e3;
      return { cpuMs: before && after && (after.allNs - before.allNs) / 1e6 / seconds };
    },
  };
}

async function batchFigures(
  run: BenchRun,
  service: Server,
  { kind, octets, aimNs }: (typeof BATCH_AIMS)[number],
): Promise<Aim[]> {
  const { path, count, connections, timeMs } = BATCH;
  const what = `batch, ${kind}, ${octets ?? 'json'}`;
  run.talk(what);
  const body = batchBody(VALUE_KINDS.find(({ name }) => name === kind)!, count);
  const accept = octets === undefined ? 'application/json' : bareMediaType(octets);
  const server = { ...service, headers: { ...service.headers, accept } };
  const loop = { kind: 'closed', durationMs: timeMs * run.seconds } as const;
  const { name, measure } = loaded(what, server, { method: 'POST', path, body }, connections, loop);
  const measureIfServed: Contender['measure'] = (phase) =>
    measure(phase).catch((error: Error) => {
      run.talk(`${error.message}; the round does not count`);
      return {};
    });
  const rounds = await alternate([{ name, measure: measureIfServed }], run.rounds);
  const nsOf = (quantity: string) => scaled(rounds.of(what, quantity), 1e3 / count);
  return [
    { what, unit: 'ns a number', measured: nsOf('us'), aim: aimNs },
    { what: `${what}: CPU`, unit: 'ns a number', measured: nsOf('cpuUs'), aim: NO_AIM },
  ];
}
