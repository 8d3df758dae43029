import { setTimeout } from 'node:timers/promises';
import { type BareType, bareMediaType } from '../src/core/vocabulary.ts';
import { cpuTime, residentMemory } from '../test/support/process-usage.ts';
import { scaled, summarize } from '../test/support/statistics.ts';
import { aimText, NO_AIM, verdictOn } from './support/aims.ts';
import { hammered, loaded } from './support/measured.ts';
import { startBare } from './support/peers.ts';
import { alternate, type Contender, type Rounds } from './support/rounds.ts';
import { type Server, startService, withServers } from './support/server.ts';
import type { Aim, BenchRun, Report, Row, Suite } from './support/suite.ts';
import { batchBody, VALUE_KINDS } from './support/value-kinds.ts';

const IDLE_MS = 1_000;
const SMALL = '/v1/integers?count=10';
const MANY_CONNECTIONS = 256;
const FEW_CONNECTIONS = 64;
const BATCH = { path: '/v1/batch', count: 100_000, connections: 8, timeMs: 600 } as const;

/** ns a number that batches of 100,000 are to take, by kind and by what is sent. */
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

/** What the service is to reach on two cores like those of November 2026, beside what it does. */
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
      const figures = await smallFigures(run, bare, fsync, commit);
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
              'Ratios are of requests/s in the same round. Times of batches are wall time over all values; CPU is that of all ' +
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

async function smallFigures(run: BenchRun, bare: Server, fsync: Server, commit: Server): Promise<Aim[]> {
  const race = async (service: Server, connections: number): Promise<Rounds> => {
    run.talk(`${SMALL}, ${connections} connections`);
    const load = { connections, seconds: run.seconds };
    return await alternate(
      [hammered('bare', bare, '/hello', load), hammered('service', service, SMALL, load)],
      run.rounds,
    );
  };
  const many = await race(fsync, MANY_CONNECTIONS);
  const privateMib = summarize([residentMemory(fsync.pid)?.privateMib]);
  const few = await race(commit, FEW_CONNECTIONS);
  const one = await race(fsync, 1);
  const ratePerS = Math.round((many.of('service', 'answersPerS')?.median ?? 0) / 2);
  run.talk(`${ratePerS} requests/s, open loop`);
  const loop = { kind: 'open', ratePerS, durationMs: 1_000 * run.seconds } as const;
  const halfLoad = loaded('half', fsync, { method: 'GET', path: SMALL }, MANY_CONNECTIONS, loop);
  const half = await alternate([halfLoad], run.rounds);
  const oneMs = scaled(one.of('service', 'p50Us'), 1e-3);
  const halfMs = scaled(half.of('half', 'p99Us'), 1e-3);
  const at256 = 'small request, 256 connections, fsync';
  return [
    { what: `${at256}: CPU of all threads`, unit: 'µs', measured: many.of('service', 'cpuUs'), aim: 14 },
    { what: `${at256}: CPU of the front`, unit: 'µs', measured: many.of('service', 'frontUs'), aim: NO_AIM },
    { what: 'bare front: CPU', unit: 'µs', measured: many.of('bare', 'cpuUs'), aim: NO_AIM },
    {
      what: `${at256}: of the bare front`,
      unit: 'ratio',
      measured: many.ratio('service', 'bare', 'answersPerS'),
      aim: 0.45,
      isLeast: true,
    },
    {
      what: 'small request, 64 connections, commit: of the bare front',
      unit: 'ratio',
      measured: few.ratio('service', 'bare', 'answersPerS'),
      aim: 0.45,
      isLeast: true,
    },
    { what: 'one connection, fsync: p50', unit: 'ms', measured: oneMs, aim: 0.25 },
    { what: `${ratePerS} requests/s, half of the most: p99`, unit: 'ms', measured: halfMs, aim: 5 },
    { what: 'private memory under 256 connections', unit: 'MiB', measured: privateMib, aim: 150 },
  ];
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
