import { setTimeout as sleep } from 'node:timers/promises';
import { revokeKey } from '../src/account/administration.ts';
import { systemClock } from '../src/core/clock.ts';
import { Cluster } from '../test/adversary/cluster/cluster.ts';
import { PostgresPair, serverPrograms } from '../test/adversary/cluster/postgres-pair.ts';
import { openTool } from '../test/adversary/cluster/tool.ts';
import { fetchWhole } from '../test/support/http.ts';
import { hammer } from './support/closed-loop.ts';
import { alternate, type Contender, type Rounds } from './support/rounds.ts';
import { startService } from './support/server.ts';
import type { Report, Suite, Table } from './support/suite.ts';
import { of, ratio, rowOf, rowsOf } from './support/tables.ts';

const PATH = '/v1/integers?count=10&min=1&max=100';
const CONNECTIONS = [64, 256];
/** Nobody runs dry while it is measured. */
const TOTALS = { requests: 2 ** 40, credits: 2 ** 40 };
const LMDB = 'LMDB, fsync';
const POSTGRES = 'PostgreSQL with a synchronous standby';
/** Turns are short, and there are many: what the machine does meanwhile meets both alike. */
const TURN_S = 1;
const REVOKED_WITHIN_MS = 10_000;
/** With the default lots and reservoir, as the other service. */
const QUIET = { QRN_LOG_LEVEL: 'error', QRN_SOURCE_SIMULATOR_LOT_BITS: undefined };

/** A node on PostgreSQL beside the service on LMDB: primary, standby, nodes and load share this machine. */
export const clusterService: Suite = {
  name: 'cluster-service',
  summary:
    'answers of a node on PostgreSQL with a synchronous standby, beside LMDB; how soon a revoked key is refused',
  byDefault: false,
  async run(run): Promise<Report> {
    const programs = serverPrograms();
    if (programs === undefined)
      throw new Error('there is no PostgreSQL server: install the package postgresql');
    const service = await startService(run.subjects[0]);
    const pair = await PostgresPair.start({ programs, isSynchronous: true, isTimed: true });
    const cluster = await Cluster.start({
      nodes: 2,
      database: pair.place,
      totals: TOTALS,
      isTimed: true,
      environment: QUIET,
    }).catch((error: unknown) => {
      pair.stop();
      throw error;
    });
    try {
      const rounds = new Map<number, Rounds>();
      const node = `http://127.0.0.1:${cluster.nodes[0].port}`;
      const headers = { authorization: `Bearer ${cluster.accounts.plain.key}` };
      for (const connections of CONNECTIONS) {
        run.talk(`${connections} connections`);
        const contenders = [
          answering(LMDB, { url: service.origin + PATH, headers: service.headers, connections }),
          answering(POSTGRES, { url: node + PATH, headers, connections }),
        ];
        rounds.set(connections, await alternate(contenders, run.rounds * run.seconds));
      }
      const revocations = await alternate([revoking(cluster)], run.rounds);
      return { tables: [answersTable(rounds), revocationTable(revocations)] };
    } finally {
      await cluster.stop();
      pair.stop();
      await service.stop();
    }
  },
};

function answering(
  name: string,
  load: { url: string; headers: Readonly<Record<string, string>>; connections: number },
): Contender {
  return {
    name,
    async measure() {
      const { answersPerS, p50Us, p99Us } = await hammer({ ...load, seconds: TURN_S });
      return { answersPerS, p50Us, p99Us };
    },
  };
}

/** From the moment a key is written down as revoked until the last node refuses it. */
function revoking(cluster: Cluster): Contender {
  return {
    name: 'refused on both nodes after',
    async measure() {
      const ledger = await openTool(cluster.url, cluster.nodes[0].dataDir);
      try {
        const { key, keyId } = await cluster.newKey(ledger);
        const asked = async (port: number | undefined) =>
          (
            await fetchWhole(`http://127.0.0.1:${port}${PATH}`, {
              headers: { authorization: `Bearer ${key}` },
            })
          ).status;
        for (const { port } of cluster.nodes) while ((await asked(port)) !== 200) await sleep(20);
        const fromMs = performance.now();
        await revokeKey(ledger, systemClock, keyId);
        const writtenMs = performance.now() - fromMs;
        for (const { port } of cluster.nodes)
          while ((await asked(port)) === 200 && performance.now() - fromMs < REVOKED_WITHIN_MS)
            await sleep(5);
        return { refusedMs: performance.now() - fromMs - writtenMs };
      } finally {
        await ledger.close();
      }
    },
  };
}

function answersTable(byConnections: ReadonlyMap<number, Rounds>): Table {
  const columns = [
    of('answers/s', 'answersPerS', { spread: true }),
    of('p50 ms', 'p50Us', { factor: 1e-3 }),
    of('p99 ms', 'p99Us', { factor: 1e-3 }),
    ratio('answers/s x LMDB', 'answersPerS', LMDB),
  ];
  return {
    title: `GET ${PATH}, closed loop`,
    note: 'Primary, standby, two nodes (one idle) and the load share the processor of this machine.',
    columns,
    rows: [...byConnections].flatMap(([connections, rounds]) =>
      rounds.names.map((name) => rowOf(columns, rounds, name, `${connections} connections  ${name}`)),
    ),
  };
}

function revocationTable(rounds: Rounds): Table {
  const columns = [of('ms', 'refusedMs', { spread: true })];
  return {
    title: 'A revoked key',
    note: 'From the commit of the revocation until both nodes have refused the key.',
    columns,
    rows: rowsOf(columns, rounds),
  };
}
