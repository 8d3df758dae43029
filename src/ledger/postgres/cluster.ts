import type { Log } from '../../core/log.ts';
import type { Database } from './connection.ts';
import { fenceNode } from './node.ts';

/** What an operator asks about all nodes together, and does to one of them. */

/** A node as the database knows it. */
export interface NodeState {
  readonly name: string;
  readonly epoch: number;
  readonly state: 'live' | 'fenced';
  /** A process holds the node's name now. */
  readonly isConnected: boolean;
  readonly startedAtMs: number;
  /** When its newest stored segment was committed; null without one. */
  readonly committedAtMs: number | null;
  /** Segments that wait to be logged. */
  readonly unsealedSegments: number;
  /** What it holds of the limits of accounts: how many accounts, requests and credits. */
  readonly granted: { readonly accounts: number; readonly requests: number; readonly credits: number };
}

export interface ClusterState {
  readonly nodes: readonly NodeState[];
  /** Segments of all nodes that wait to be logged. */
  readonly unsealedSegments: number;
  /** The clock of the database, Unix ms. */
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
  (SELECT max(at_ms) FROM qrn.slot JOIN qrn.segment ON segment.sequence = slot.last WHERE slot.node = node.number) AS "committedAtMs",
  (SELECT count(*) FROM qrn.unsealed WHERE unsealed.node = node.number) AS "unsealedSegments",
  (SELECT json_build_object('accounts', count(DISTINCT account), 'requests', coalesce(sum(requests), 0), 'credits', coalesce(sum(credits), 0))
    FROM qrn.granted WHERE granted.node = node.number) AS granted
FROM qrn.node ORDER BY name`,
};
const CLUSTER = {
  name: 'cluster_state',
  text: `SELECT schema, (SELECT count(*) FROM qrn.unsealed) AS "unsealedSegments",
  floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "atMs", pg_database_size(current_database()) AS "databaseBytes"
FROM qrn.meta`,
};
export async function clusterState(database: Database): Promise<ClusterState> {
  const nodes = await database.run<NodeState>(NODES);
  const [cluster] = await database.run<Omit<ClusterState, 'nodes'>>(CLUSTER);
  return { nodes, ...cluster };
}

/**
 * Fences a node: what it may still send is refused, what it was granted and did not spend goes back, and its open jobs are the
 * next node's. Its blocks are given up: its next start finds a folder of an epoch that is not the last one. False for an
 * unknown name.
 */
export function fence(database: Database, name: string, log: Log): Promise<boolean> {
  return fenceNode(database, name, log);
}
