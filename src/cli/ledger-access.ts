import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CertificateFolders } from '../certificate/open.ts';
import { loadSettings } from '../config/config.ts';
import { silentLog } from '../core/log.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { requireLmdbFile } from '../ledger/lmdb/data-file.ts';
import { requireNotImported } from '../ledger/lmdb/import-mark.ts';
import {
  type CommandCall,
  type LmdbLedger,
  type LmdbLedgerOptions,
  openLmdbLedger,
} from '../ledger/lmdb/lmdb-ledger.ts';
import { Database } from '../ledger/postgres/connection.ts';
import { openFailure } from '../ledger/postgres/failure.ts';
import { openPostgresLedger } from '../ledger/postgres/postgres-ledger.ts';
import { type CommandContext, CommandError } from './command.ts';
import { requireOwnFolder } from './data-folder.ts';
import { FolderWriter } from './folder-writer.ts';

/**
 * Opens the ledger for commands: the one in the data folder, or the one in PostgreSQL when QRN_LEDGER names a database.
 * Failures of the ledger are thrown, and the command reports them on one line.
 */

/**
 * Nodes look for changes four times a second. One that has not confirmed a change after this time has lost its
 * database.
 */
const FOLLOW_DEADLINE_MS = 2_000;
const FOLLOW_INTERVAL_MS = 10;

const QUIET = { log: silentLog, durability: 'fsync' } as const;
const TOOL = { ...QUIET, role: 'tool' } as const;
const SERVER = { ...QUIET, role: 'server' } as const;

export type ClusterSettings = NonNullable<ReturnType<typeof clusterSettings>>;

/**
 * Returns the database and the node that the settings name; undefined when the ledger is in the data folder. `path` is
 * the folder of the node's blocks and of its anchor.
 */
function clusterSettings(context: CommandContext) {
  const { ledger: url, node, dataDir, logName } = loadSettings(context.environment);
  if (url === '') return undefined;
  const paths = { path: join(dataDir, 'node'), keysPath: join(dataDir, 'keys') };
  return { url, node: node || hostname(), logName, ...paths };
}

export function requireCluster(context: CommandContext): ClusterSettings {
  const settings = clusterSettings(context);
  if (settings === undefined)
    throw new CommandError('QRN_LEDGER is not set: set it to postgres://USER@HOST:PORT/DATABASE');
  return settings;
}

interface Opened {
  close(): Promise<void>;
}

/** Runs `use` on what is opened and then closes it. */
async function using<L extends Opened, T>(opened: L, use: (opened: L) => Promise<T>): Promise<T> {
  try {
    return await use(opened);
  } finally {
    await opened.close();
  }
}

/** Runs `use` on the database of the settings. Throws an error of one sentence when it cannot open the database. */
export function withDatabase<T>(
  context: CommandContext,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const { url } = requireCluster(context);
  const opened = new Database({ url, log: silentLog, name: 'qrn cluster', connections: 1 });
  return using(opened, use).catch((error: unknown) => {
    throw error instanceof CommandError ? error : openFailure(error, url);
  });
}

/** Returns whether the ledger is in the data folder and not in PostgreSQL. */
export function hasFolderLedger(context: CommandContext): boolean {
  return clusterSettings(context) === undefined;
}

/** Throws a CommandError when the ledger is in PostgreSQL; `instead` says what to do there. */
export function requireFolderLedger(context: CommandContext, command: string, instead: string): void {
  if (hasFolderLedger(context)) return;
  throw new CommandError(
    `${command} works only with a ledger in the data folder, but QRN_LEDGER is set: ${instead}`,
  );
}

export function ledgerPath(context: CommandContext): string {
  return join(loadSettings(context.environment).dataDir, 'ledger');
}

/**
 * Returns the folder of the ledger. Throws a CommandError when there is no ledger or another user owns it. Commands
 * never make a ledger: if it is missing, the path is misspelt.
 */
export function existingLedger(context: CommandContext): string {
  const path = ledgerPath(context);
  requireNotImported(path);
  const file = join(path, 'data.mdb');
  if (!existsSync(file)) {
    throw new CommandError(
      `there is no ledger in ${path}: set QRN_DATA_DIR to the data folder of the service; qrn serve creates a new ledger`,
    );
  }
  requireLmdbFile(file, false);
  requireOwnFolder(context);
  return path;
}

/** Opens the ledger of a folder as its only server. Throws when a service is using the folder. */
export function openAsServer(
  { clock }: CommandContext,
  path: string,
  more: Pick<LmdbLedgerOptions, 'forImport' | 'mayLackJournals'> = {},
): Promise<LmdbLedger> {
  return openLmdbLedger({ ...SERVER, ...more, fronts: 0, isCommand: true, clock, path });
}

/** Opens the ledger of a folder to read it, whether or not a service is running. */
export function openToRead(
  { clock }: CommandContext,
  path: string,
  more: Pick<LmdbLedgerOptions, 'forImport'> = {},
): Promise<LmdbLedger> {
  return openLmdbLedger({ ...QUIET, ...more, role: 'reader', clock, path });
}

/**
 * Runs `use` as the only server of the folder, or as the node that the settings name. Throws when that server is
 * running.
 */
export async function asServer<T>(
  context: CommandContext,
  use: (folders: CertificateFolders) => Promise<T>,
  more: Pick<LmdbLedgerOptions, 'mayLackJournals'> = {},
): Promise<T> {
  const { dataDir, logName } = loadSettings(context.environment);
  const { clock } = context;
  const cluster = clusterSettings(context);
  if (cluster !== undefined) requireOwnFolder(context);
  const path = cluster?.path ?? existingLedger(context);
  const opened =
    cluster === undefined
      ? await openAsServer(context, path, more)
      : await openPostgresLedger({ ...SERVER, ...cluster, clock, secrets: cluster });
  return using<Ledger, T>(opened, (ledger) =>
    use({ ledger, ledgerPath: path, keysPath: join(dataDir, 'keys'), logName, clock }),
  );
}

/**
 * Runs `use`, which reads the ledger of the settings, whether or not a service is running. The user must own the folder
 * even to read it, because LMDB makes a lock file when there is none.
 */
export async function withLedger<T>(
  context: CommandContext,
  use: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  const { clock } = context;
  const cluster = clusterSettings(context);
  const ledger =
    cluster === undefined
      ? await openToRead(context, existingLedger(context))
      : await openPostgresLedger({ ...TOOL, clock, ...cluster });
  return using<Ledger, T>(ledger, use);
}

/** The result of a stored change. */
interface Changed<T> {
  readonly result: T;
  /**
   * Whether every running service applies the change. If not, a sentence on stderr says so, and a command that takes
   * something away exits with 1.
   */
  readonly isConfirmed: boolean;
}

/**
 * Runs `use`, which changes accounts or keys, withdraws a lot or charges a source. Returns when every running service
 * applies the change, so that a revoked key is refused from then on. In a folder the running service makes the change;
 * when there is none, this command does.
 */
export async function changeLedger<T>(
  context: CommandContext,
  use: (ledger: Pick<Ledger, CommandCall>) => Promise<T>,
): Promise<Changed<T>> {
  const cluster = clusterSettings(context);
  if (cluster !== undefined) return changeSharedLedger(context, cluster, use);
  const path = existingLedger(context);
  return using(new FolderWriter(path, () => openAsServer(context, path)), async (writer) => {
    const result = await use(writer.ledger);
    const { isConfirmed } = writer;
    if (!isConfirmed)
      context.talk(
        'The change is stored, but the running service has not confirmed it. It may still use the old accounts, keys and lots. See its log.\n',
      );
    return { result, isConfirmed };
  });
}

async function changeSharedLedger<T>(
  context: CommandContext,
  cluster: ClusterSettings,
  use: (ledger: Pick<Ledger, CommandCall>) => Promise<T>,
): Promise<Changed<T>> {
  const opened = await openPostgresLedger({ ...TOOL, ...cluster, clock: context.clock });
  return using(opened, async (ledger) => {
    const result = await use(ledger);
    let behind: string[] = [];
    const isConfirmed = await untilDeadline(async () => {
      behind = await ledger.nodesBehind();
      return behind.length === 0;
    });
    if (!isConfirmed)
      context.talk(
        `The change is stored, but not every node has confirmed it (${behind.join(', ')}). A node without a connection to PostgreSQL refuses ` +
          'every key within seconds. If a node no longer runs, fence it with qrn cluster fence.\n',
      );
    return { result, isConfirmed };
  });
}

async function untilDeadline(holds: () => Promise<boolean>): Promise<boolean> {
  const deadline = AbortSignal.timeout(FOLLOW_DEADLINE_MS);
  while (!(await holds())) {
    if (deadline.aborted) return false;
    await sleep(FOLLOW_INTERVAL_MS);
  }
  return true;
}

/** Does the same as `withLedger`, but passes undefined when there is no ledger yet. */
export async function withLedgerIfAny<T>(
  context: CommandContext,
  use: (ledger: Ledger | undefined) => Promise<T>,
): Promise<T> {
  return isThere(context) ? withLedger(context, use) : use(undefined);
}

/** Returns whether there is a ledger. */
export function isThere(context: CommandContext): boolean {
  return clusterSettings(context) !== undefined || existsSync(ledgerPath(context));
}
