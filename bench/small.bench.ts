import { existsSync } from 'node:fs';
import { HAMMER } from './support/closed-loop.ts';
import { hammered } from './support/measured.ts';
import { startBare, startPeers } from './support/peers.ts';
import { comparison, nameFor } from './support/revisions.ts';
import { alternate, type Contender, type Rounds } from './support/rounds.ts';
import { type Server, startService, withServers } from './support/server.ts';
import type { BenchRun, Report, Subject, Suite, Table } from './support/suite.ts';
import { of, ratio, rowsOf } from './support/tables.ts';

const PATH = '/v1/integers?count=10';
const HELLO = 'bare uWS, hello';
const STATIC = 'bare uWS, the same answer stored';
const LATE = 'the same, fields read, sent a turn later';
const DURABILITIES = [
  { what: 'service, durability fsync', environment: { QRN_DURABILITY: 'fsync' } },
  { what: 'service, durability commit', environment: { QRN_DURABILITY: 'commit' } },
];
const WITHOUT = 'service, certificates dropped (bench only)';
/** Here only the services run against the bare front; the peers run at 64 connections. */
const MANY_CONNECTIONS = 256;
const FEW_CONNECTIONS = 64;

/** Sends small requests as fast as they are answered. */
export const small: Suite = {
  name: 'small',
  summary: `GET ${PATH}, closed loop: throughput, CPU and memory beside bare fronts and peers`,
  byDefault: true,
  run: (run): Promise<Report> =>
    withServers(async (keep) => {
      const services = await startServices(run, keep);
      const { server: first, headers } = services[0];
      const response = await fetch(first.origin + PATH, { headers });
      const bare = keep(await startBare([{ name: 'small', response }]));
      const fronts = [
        { name: HELLO, server: bare, path: '/hello' },
        { name: STATIC, server: bare, path: '/small' },
        { name: LATE, server: bare, path: '/late/small?count=10' },
      ];
      const ours = services.map(({ name, server }) => ({ name, server, path: PATH }));
      const others = (await startPeers(run.talk, keep)).map((peer) => ({ ...peer, path: PATH }));
      const few = await race(run, [...fronts, ...ours, ...others], FEW_CONNECTIONS);
      const many = await race(run, [fronts[0], fronts[2], ...ours], MANY_CONNECTIONS);
      return { tables: [table(run, few, FEW_CONNECTIONS), table(run, many, MANY_CONNECTIONS)] };
    }),
};

interface NamedServer {
  readonly name: string;
  readonly server: Server;
  readonly path: string;
}

async function startServices(run: BenchRun, keep: <S extends Server>(server: S) => S) {
  const services = [];
  for (const subject of run.subjects) {
    for (const { what, environment } of variantsOf(subject)) {
      const name = nameFor(run, subject, what);
      run.talk(`starting ${name}`);
      const server = keep(await startService(subject, environment));
      services.push({ name, server, headers: server.headers });
    }
  }
  return services;
}

/** The difference between the first two variants and the third is the cost of waiting for the disk. */
function variantsOf({ root }: Subject): readonly { what: string; environment: Record<string, string> }[] {
  const patch = new URL('bench/support/no-durability.ts', root);
  if (!existsSync(patch)) return DURABILITIES; // a revision older than this bench
  return [...DURABILITIES, { what: WITHOUT, environment: { NODE_OPTIONS: `--import=${patch.href}` } }];
}

function race(run: BenchRun, servers: readonly NamedServer[], connections: number): Promise<Rounds> {
  run.talk(`${servers.length} servers, ${connections} connections, ${run.rounds} rounds of ${run.seconds} s`);
  const load = { connections, seconds: run.seconds };
  const contenders: Contender[] = servers.map(({ name, server, path }) => hammered(name, server, path, load));
  return alternate(contenders, run.rounds);
}

function table(run: BenchRun, rounds: Rounds, connections: number): Table {
  const columns = [
    of('requests/s', 'answersPerS'),
    ratio('ratio', 'answersPerS', HELLO),
    of('p50 µs', 'p50Us'),
    of('p99 µs', 'p99Us'),
    of('CPU µs/request', 'cpuUs'),
    of('main thread', 'frontUs'),
    of('peak MiB', 'peakMib'),
    ...comparison(run, 'requests/s', 'answersPerS'),
  ];
  return {
    title: `GET ${PATH}, ${connections} connections, ${HAMMER}`,
    note: 'ratio: requests/s against bare uWS hello in the same round (lowest..highest round).',
    columns,
    rows: rowsOf(columns, rounds),
  };
}
