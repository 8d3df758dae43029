import { loaded } from './support/measured.ts';
import { startBare } from './support/peers.ts';
import { comparison, nameFor } from './support/revisions.ts';
import { alternate, type Contender, type Rounds } from './support/rounds.ts';
import { type Server, startService, withServers } from './support/server.ts';
import type { BenchRun, Report, Suite, Table } from './support/suite.ts';
import { of, ratio, rowOf } from './support/tables.ts';

const PATH = '/v1/integers?count=10';
const CONNECTIONS = 64;
const RATES_PER_S = [500, 2_000, 5_000, 10_000, 20_000];
/** A server whose median is above this cannot keep up and is left out at higher rates. */
const LOST_US = 200_000;
const WARM_UP_MS = 300;
const HELLO = 'bare uWS, hello';
const DURABILITIES = ['fsync', 'commit'] as const;

/** Measures how long a client waits at a given load. */
export const latency: Suite = {
  name: 'latency',
  summary: `GET ${PATH} at fixed rates, open loop: latency from the moment a request was due`,
  byDefault: true,
  run: (run): Promise<Report> =>
    withServers(async (keep) => {
      const servers: NamedServer[] = [{ name: HELLO, server: keep(await startBare([])), path: '/hello' }];
      for (const subject of run.subjects) {
        for (const durability of DURABILITIES) {
          const name = nameFor(run, subject, `service, ${durability}`);
          run.talk(`starting ${name}`);
          const server = keep(await startService(subject, { QRN_DURABILITY: durability }));
          servers.push({ name, server, path: PATH });
        }
      }
      const byRate = new Map<number, Rounds>();
      let remaining: readonly NamedServer[] = servers;
      for (const ratePerS of RATES_PER_S) {
        run.talk(`${ratePerS} requests/s`);
        const contenders = remaining.map((each) => atRate(run, each, ratePerS));
        const rounds = await alternate(contenders, run.rounds);
        byRate.set(ratePerS, rounds);
        remaining = remaining.filter(({ name }) => rounds.of(name, 'p50Us')!.median <= LOST_US);
      }
      return { tables: [table(run, byRate)] };
    }),
};

interface NamedServer {
  readonly name: string;
  readonly server: Server;
  readonly path: string;
}

function atRate(run: BenchRun, { name, server, path }: NamedServer, ratePerS: number): Contender {
  const during = (durationMs: number) =>
    loaded(name, server, { method: 'GET', path }, CONNECTIONS, { kind: 'open', ratePerS, durationMs });
  return {
    name,
    measure: (phase) => during(phase === 'warm-up' ? WARM_UP_MS : 1_000 * run.seconds).measure(phase),
  };
}

function table(run: BenchRun, byRate: ReadonlyMap<number, Rounds>): Table {
  const columns = [
    of('p50 µs', 'p50Us', { spread: true }),
    of('p90 µs', 'p90Us'),
    of('p99 µs', 'p99Us', { spread: true }),
    of('p99.9 µs', 'p999Us'),
    of('sent late p99 µs', 'lateP99Us'),
    of('failed %', 'failedPercent'),
    of('CPU µs/request', 'cpuUs'),
    of('peak MiB', 'peakMib'),
    ratio('p50 x bare', 'p50Us', HELLO),
    ratio('p99 x bare', 'p99Us', HELLO),
    ...comparison(run, 'p50', 'p50Us'),
  ];
  return {
    title: `GET ${PATH} at fixed rates, ${CONNECTIONS} connections`,
    note:
      'From the moment a request was due, so waiting for a free connection counts. sent late: how long after that the ' +
      'client sent it;\nfar above the p50 of bare uWS the load is beyond the server, or the client beyond its core. A lost server is left out of higher rates.',
    columns,
    rows: [...byRate].flatMap(([rate, rounds]) =>
      rounds.names.map((name) => rowOf(columns, rounds, name, `${rate.toLocaleString('en-US')}/s  ${name}`)),
    ),
  };
}
