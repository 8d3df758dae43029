import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import { closeAll } from '../../core/close-all.ts';
import type { Log } from '../../core/log.ts';
import type { BlockFolder } from '../domain/blocks.ts';
import { booksIn } from '../domain/books.ts';
import { claimsIn } from '../domain/claims.ts';
import { drawsIn } from '../domain/draws.ts';
import { limitsIn } from '../domain/limits.ts';
import { lotsIn } from '../domain/lots.ts';
import { sourcesIn } from '../domain/sources.ts';
import type { Durability } from '../journal.ts';
import { type Books, type FailStop, guarded, type Ledger, type LedgerCalls, LedgerError } from '../ledger.ts';
import { type LmdbLedger, type LmdbLedgerOptions, openLmdbLedger } from '../lmdb/lmdb-ledger.ts';
import { AdvisoryLock } from './advisory-lock.ts';
import { SegmentCommits } from './commit.ts';
import { Database } from './connection.ts';
import { NodeFeed, nodesBehind, sharedDirectoryIn } from './directory.ts';
import { openFailure } from './failure.ts';
import { COMMIT_SLOTS } from './fence.ts';
import { clusterNow, jobOwner, NodeIdentity } from './node.ts';
import { PostgresStore } from './postgres-store.ts';
import { makeSchema, requireSchema } from './schema.ts';
import { agreeOnSecrets } from './shared-secrets.ts';
import { postgresUpkeep } from './upkeep.ts';

/** Options of the folder of blocks. */
type FolderOptions = Pick<LmdbLedgerOptions, 'scrubBytesPerS' | 'freeBytesMin' | 'gate'>;

export interface PostgresLedgerOptions extends FolderOptions {
  /** `postgres://…` */
  readonly url: string;
  /** The name of this node. */
  readonly node: string;
  /** The folder of this node's blocks. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * server: a node, which answers clients. tool: a command beside the nodes, which may read, audit, and write accounts,
   * keys, revocations, and notes and charges of sources.
   */
  readonly role: 'server' | 'tool';
  /** The `synchronous_commit` of PostgreSQL: `fsync` is `on`, `commit` is `remote_write`. */
  readonly durability: Durability;
  /** The secrets that all nodes share, which the start of a node checks; undefined when none are used. */
  readonly secrets?: { readonly keysPath: string; readonly logName: string };
}

/** The ledger of several nodes: books in PostgreSQL, blocks in a folder of each node. */
export interface PostgresLedger extends Ledger, FailStop {
  /** Resolves with whether this node now seals the log for all nodes. False while PostgreSQL does not answer. */
  isSequencer(): Promise<boolean>;
  /** Lets another node seal the log. */
  resign(): Promise<void>;
  /** See nodesBehind (directory.ts). */
  nodesBehind(): Promise<string[]>;
}

/** Opens the ledger as one of its nodes, or for a command. Throws LedgerError `unusable`, which tells what to do. */
export async function openPostgresLedger(options: PostgresLedgerOptions): Promise<PostgresLedger> {
  const { url, node: name, log, role, durability } = options;
  const synchronousCommit = durability === 'fsync' ? 'on' : 'remote_write';
  const database = new Database({ url, log, name: `qrn ${name}`, synchronousCommit });
  const opened: (() => unknown)[] = [() => database.close()];
  try {
    if (role === 'tool') {
      await requireSchema(database);
      return await toolLedger(options, database, opened);
    }
    await makeSchema(database);
    return await nodeLedger(options, database, opened);
  } catch (error) {
    await closeAll(opened).catch(() => {}); // the first error tells more
    throw openFailure(error, url);
  }
}

async function nodeLedger(
  options: PostgresLedgerOptions,
  database: Database,
  opened: (() => unknown)[],
): Promise<PostgresLedger> {
  const { url, node: name, path, clock, log, durability, secrets } = options;
  if (secrets !== undefined) await agreeOnSecrets({ database, ...secrets, clock });
  const node = await NodeIdentity.start({ database, name, clock, log });
  opened.push(() => node.close());
  // An earlier copy of the folder may have blocks that this node has delivered since.
  const isCurrent = epochIn(path) >= node.epoch - 1;
  // Noted before anything else can fail: otherwise the next start would take this folder for an earlier copy.
  if (isCurrent && existsSync(path)) noteEpoch(path, node.epoch);
  const folder = await openLmdbLedger({ ...options, role: 'server', durability: 'fsync', fronts: 0 });
  opened.push(() => folder.close());
  const commitDatabase = new Database({
    url,
    log,
    name: `qrn ${name} commits`,
    connections: COMMIT_SLOTS,
    synchronousCommit: durability === 'fsync' ? 'on' : 'remote_write',
  });
  opened.push(() => commitDatabase.close());
  const commits = new SegmentCommits({ database: commitDatabase, node, log });
  opened.push(() => commits.close());
  // The holder seals the segments of all nodes. LogStep makes a second holder harmless.
  const sequencer = new AdvisoryLock(database, 'qrn sequencer');
  opened.push(() => sequencer.release());
  await node.look();
  const rules = rulesOver(database, clock, node, folder.folder);
  const feed = new NodeFeed({ directory: rules, database, node, clock, log });
  opened.push(() => feed.close());
  if (!isCurrent) await rules.giveUpAll();
  noteEpoch(path, node.epoch);
  const commit: Books['commit'] = (segments, answers) => commits.commit(segments, answers);
  const calls: LedgerCalls = { ...rules, commit, ...postgresUpkeep(database, folder, node) };
  log.info({ node: name, number: node.number, epoch: node.epoch, durability }, 'ledger: open in PostgreSQL');
  let closed: Promise<void> | undefined;
  return {
    ...feed.over(calls),
    failed: Promise.race([node.failed, commits.failed, folder.failed]),
    isSequencer: () => sequencer.take().catch(() => false),
    resign: () => sequencer.release(),
    nodesBehind: () => nodesBehind(database),
    close: () => (closed ??= closeAll(opened)),
  };
}

/** The file in the folder of blocks that has the epoch of the node's last start with this folder. */
const EPOCH_FILE = 'epoch';

function epochIn(path: string): number {
  const file = join(path, EPOCH_FILE);
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) || 0 : 0;
}

function noteEpoch(path: string, epoch: number): void {
  writeFileSync(join(path, EPOCH_FILE), `${epoch}\n`, { flush: true });
}

/** Stands for a command. No node has this number. */
const NO_NODE = { name: 'a command', number: -1, epoch: 0 };

/** Returns the rules of the ledger for a node with its blocks, or for a command, which has neither. */
function rulesOver(
  database: Database,
  clock: Clock,
  node: NodeIdentity | undefined,
  blocks: BlockFolder | undefined,
) {
  const store = new PostgresStore(database, node);
  const writer = node ?? NO_NODE;
  return {
    ...sharedDirectoryIn(store),
    ...lotsIn({ books: store, folder: blocks, node: writer.number }),
    ...sourcesIn(store, jobOwner(database, node)),
    ...booksIn(store, clock, writer),
    ...drawsIn(store),
    ...limitsIn(store, writer, () => clusterNow(database, writer)),
    ...claimsIn(store, writer),
  };
}

async function toolLedger(
  options: PostgresLedgerOptions,
  database: Database,
  opened: (() => unknown)[],
): Promise<PostgresLedger> {
  const { path, clock, log } = options;
  let folder: LmdbLedger | undefined;
  if (existsSync(join(path, 'data.mdb'))) {
    folder = await openLmdbLedger({ path, clock, log, role: 'reader', durability: 'fsync' });
    opened.push(async () => folder?.close());
  }
  const rules = rulesOver(database, clock, undefined, undefined);
  const all: LedgerCalls = { ...rules, ...postgresUpkeep(database, folder, undefined) };
  const calls = guarded(all, (call, rule) => {
    if (rule.server) throw new LedgerError('refused', `${call} is for a node, not for a tool`);
  });
  return {
    ...calls,
    follow: async () => {}, // a command ends soon
    failed: new Promise(() => {}),
    isSequencer: async () => false,
    resign: async () => {},
    nodesBehind: () => nodesBehind(database),
    close: () => closeAll(opened),
  };
}
