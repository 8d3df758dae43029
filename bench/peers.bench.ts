import { loaded } from './support/measured.ts';
import { startPeers } from './support/peers.ts';
import { alternate, type Rounds } from './support/rounds.ts';
import { type Server, startService, withServers } from './support/server.ts';
import type { BenchRun, Report, Suite, Table } from './support/suite.ts';
import { of, ratio, rowsOf } from './support/tables.ts';
import { batchBody, VALUE_KINDS } from './support/value-kinds.ts';

const SERVICE = 'service, certificates durable (fsync)';
const SMALL_PATH = '/v1/integers?count=10';
const SMALL_CONNECTIONS = 64;
const BATCH_PATH = '/v1/batch';
const BATCH_CONNECTIONS = 4;
const COUNT = 100_000;
/** Time of one contender in one round. */
const TIME_MS = 1_000;

interface Entrant {
  readonly name: string;
  readonly server: Server;
}

/** Measures competent programs on other stacks, which have no certificates, no limits and no disk. */
export const peers: Suite = {
  name: 'peers',
  summary:
    'small requests and batches beside Fastify, node:http, Bun, Go and Rust hyper with randomInt and no certificate',
  byDefault: false,
  run: (run): Promise<Report> =>
    withServers(async (keep) => {
      run.talk('starting the service');
      const service = keep(await startService(run.subjects[0]));
      const others = await startPeers(run.talk, keep);
      const entrants: Entrant[] = [{ name: SERVICE, server: service }, ...others];
      const octets = { ...service, headers: { ...service.headers, accept: 'application/octet-stream' } };
      const small = await race(run, entrants, { connections: SMALL_CONNECTIONS, path: SMALL_PATH });
      const [kind] = VALUE_KINDS;
      const batch = await race(run, [...entrants, { name: `${SERVICE}, octets`, server: octets }], {
        connections: BATCH_CONNECTIONS,
        path: BATCH_PATH,
        body: batchBody(kind, COUNT),
      });
      return {
        tables: [
          table(small, `GET ${SMALL_PATH}, ${SMALL_CONNECTIONS} connections`, 10),
          table(batch, `POST ${BATCH_PATH}, 100,000 ${kind.name}, ${BATCH_CONNECTIONS} connections`, COUNT),
        ],
      };
    }),
};

interface Load {
  readonly connections: number;
  readonly path: string;
  readonly body?: string;
}

function race(
  run: BenchRun,
  entrants: readonly Entrant[],
  { connections, path, body }: Load,
): Promise<Rounds> {
  run.talk(`${path}: ${entrants.length} servers, ${run.rounds} rounds`);
  const ask =
    body === undefined ? ({ method: 'GET', path } as const) : ({ method: 'POST', path, body } as const);
  const loop = { kind: 'closed', durationMs: TIME_MS * run.seconds } as const;
  const contenders = entrants.map(({ name, server }) => loaded(name, server, ask, connections, loop));
  return alternate(contenders, run.rounds);
}

function table(rounds: Rounds, title: string, count: number): Table {
  const columns = [
    of('requests/s', 'answersPerS'),
    ratio('x service', 'answersPerS', SERVICE),
    of('ns/number', 'us', { factor: 1e3 / count }),
    of('CPU µs', 'cpuUs'),
  ];
  const note =
    'Peers draw from system entropy, certify nothing, count nothing and write nothing to a disk. x service: requests/s against the ' +
    'service in the same round.';
  return { title, note, columns, rows: rowsOf(columns, rounds) };
}
