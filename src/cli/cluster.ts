import { beginIncarnation } from '../certificate/open.ts';
import { isoTime } from '../core/clock.ts';
import { silentLog } from '../core/log.ts';
import { type ClusterState, clusterState, type NodeState } from '../ledger/postgres/cluster.ts';
import { fence } from '../ledger/postgres/node.ts';
import { makeSchema, requireSchema } from '../ledger/postgres/schema.ts';
import { agreeOnSecrets } from '../ledger/postgres/shared-secrets.ts';
import { action, CommandError, group } from './command.ts';
import { requireOwnFolder } from './data-folder.ts';
import { importLmdb } from './import-lmdb.ts';
import { incarnationReport } from './ledger.ts';
import { asServer, requireCluster, withDatabase } from './ledger-access.ts';

const init = action({
  path: 'cluster init',
  summary:
    'Creates the schema in the empty database QRN_LEDGER, and stores the fingerprints of the secrets in QRN_DATA_DIR/keys, which\n' +
    'all nodes share. The first node creates these secrets. Copy the folder keys to every other node before its first start. qrn\n' +
    'serve does the same automatically.',
  run: async (_input, context) => {
    const { keysPath, logName } = requireCluster(context);
    requireOwnFolder(context);
    await withDatabase(context, async (database) => {
      await makeSchema(database);
      await agreeOnSecrets({ database, keysPath, logName, clock: context.clock });
      const { schema } = await clusterState(database);
      context.talk(`The database is ready (schema ${schema}). Copy ${keysPath} to every node.\n`);
    });
  },
});

const status = action({
  path: 'cluster status',
  summary:
    'Shows for each node whether it runs, the limits that it was granted and the segments that are not logged yet. Also shows the clock of the database.',
  options: {
    json: { meaning: 'print one JSON object: nodes, unsealed_segments, skew_ms, database_bytes, schema' },
  },
  run: async (_input, context) => {
    const { nodes, totals } = await withDatabase(context, async (database) => {
      await requireSchema(database);
      const state = await clusterState(database);
      return { nodes: state.nodes.map(described), totals: totalsOf(state, context.clock.wallMs()) };
    });
    const rows = nodes.map(({ granted, ...node }) => ({
      ...node,
      granted_requests: granted.requests,
      granted_credits: granted.credits,
    }));
    return { data: { nodes, ...totals }, shown: [rows, totals] };
  },
});

const fenceNode = action({
  path: 'cluster fence',
  summary:
    'Fences a lost node: the database accepts nothing more from it, unspent limits return to the accounts, its unclaimed blocks are\n' +
    'burned, and another node takes over its open jobs. A fenced node that still runs stops. It may be started again.',
  operands: [{ name: 'NODE', meaning: 'name of the node; see cluster status' }],
  irreversible: async ({ operands: [name] }) =>
    `This fences the node ${name} and burns its unclaimed blocks.`,
  run: async ({ operands: [name] }, context) => {
    const isKnown = await withDatabase(context, async (database) => {
      await requireSchema(database);
      return fence(database, name, silentLog);
    });
    if (!isKnown) throw new CommandError(`there is no node ${name}; qrn cluster status lists the nodes`);
    context.talk(`The node ${name} is fenced.\n`);
  },
});

const restored = action({
  path: 'cluster restored',
  summary:
    'States that the database was set back to an earlier state, for example by restoring a backup. The command begins a new\n' +
    'incarnation: certificate identifiers get a new number, and a new log begins that names the last checkpoint before it. Stop all\n' +
    'nodes first, run the command on the node with the largest checkpoint, and copy its folder keys to the other nodes.',
  options: { json: { meaning: 'print one JSON object: incarnation, origin, first_segment, predecessor' } },
  irreversible: async () => 'This begins a new incarnation of the ledger in PostgreSQL.',
  run: async (_input, context) => {
    requireCluster(context);
    const { incarnation } = await asServer(context, beginIncarnation);
    context.talk(
      'Keys and accounts are those of the restored database. Revoke again what was revoked since then.\n',
    );
    return incarnationReport(incarnation);
  },
});

export const cluster = group('qrn cluster', 'Sets up and manages nodes that share a database.', [
  init,
  status,
  fenceNode,
  restored,
  importLmdb,
]);

function wordFor({ state, isConnected }: NodeState): string {
  if (state === 'fenced') return 'fenced';
  return isConnected ? 'runs' : 'gone';
}

function described(node: NodeState) {
  return {
    name: node.name,
    state: wordFor(node),
    epoch: node.epoch,
    started_at: isoTime(node.startedAtMs),
    committed_at: isoTime(node.committedAtMs),
    unsealed_segments: node.unsealedSegments,
    granted: node.granted,
  };
}

function totalsOf({ unsealedSegments, databaseBytes, schema, atMs }: ClusterState, nowMs: number) {
  return {
    unsealed_segments: unsealedSegments,
    skew_ms: nowMs - atMs,
    database_bytes: databaseBytes,
    schema,
  };
}
