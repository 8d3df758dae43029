import { GRANTS, UNSEALED } from '../tables.ts';
import type { Database } from './connection.ts';
import { rangeOf } from './postgres-store.ts';

/** The state of a node, for operators. */
export interface NodeState {
  readonly name: string;
  readonly epoch: number;
  readonly state: 'live' | 'fenced';
  /** True when a process holds the node's name now. */
  readonly isConnected: boolean;
  readonly startedAtMs: number;
  /** When the node's newest stored segment was committed (Unix ms); null without one. */
  readonly committedAtMs: number | null;
  /** Count of the node's segments that wait to be logged. */
  readonly unsealedSegments: number;
  /** The requests and credits that the node is granted, and of how many accounts. */
  readonly granted: { readonly accounts: number; readonly requests: number; readonly credits: number };
}

type NodeRow = Omit<NodeState, 'unsealedSegments' | 'granted'> & { readonly number: number };

export interface ClusterState {
  readonly nodes: readonly NodeState[];
  /** Count of segments of all nodes that wait to be logged. */
  readonly unsealedSegments: number;
  /** The time by the database's clock (Unix ms). */
  readonly atMs: number;
  readonly databaseBytes: number;
  readonly schema: number;
}

const NODES = {
  name: 'cluster_nodes',
  text: `SELECT name, epoch, state, started_at_ms AS "startedAtMs",
  EXISTS (
    SELECT FROM pg_locks, hashtextextended('qrn node ' || node.name, 0) AS key
    WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND classid::bigint = (key >> 32) & 4294967295 AND objid::bigint = key & 4294967295
  ) AS "isConnected",
  number, (SELECT max(committed_at_ms) FROM qrn.slot WHERE slot.node = node.number) AS "committedAtMs"
FROM qrn.node ORDER BY name`,
};
const CLUSTER = {
  name: 'cluster_state',
  text: `SELECT schema,
  floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "atMs", pg_database_size(current_database()) AS "databaseBytes"
FROM qrn.meta`,
};
export async function clusterState(database: Database): Promise<ClusterState> {
  const nodes = await database.run<NodeRow>(NODES);
  const [cluster] = await database.run<Omit<ClusterState, 'nodes' | 'unsealedSegments'>>(CLUSTER);
  const waiting = await rangeOf(database, UNSEALED, {});
  const parts = await rangeOf(database, GRANTS, {});
  const heldBy = (number: number) => {
    const granted = parts.filter(({ key: [node] }) => node === number);
    return {
      unsealedSegments: waiting.filter(({ value }) => value.node === number).length,
      granted: {
        accounts: new Set(granted.map(({ key: [, , , account] }) => account)).size,
        requests: granted.reduce((sum, { value }) => sum + value.requests, 0),
        credits: granted.reduce((sum, { value }) => sum + value.credits, 0),
      },
    };
  };
  return {
    nodes: nodes.map(({ number, ...node }) => ({ ...node, ...heldBy(number) })),
    unsealedSegments: waiting.length,
    ...cluster,
  };
}
