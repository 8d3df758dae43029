import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type Anchor,
  checkIdentity,
  newestStateOf,
  readAnchor,
  writeAnchor,
} from '../certificate/incarnation.ts';
import { readCheckpoint } from '../certificate/signed-checkpoint.ts';
import { messageOf } from '../core/assert.ts';
import { syncToDisk } from '../core/files.ts';
import { toBase64 } from '../crypto/base64.ts';
import { LedgerError } from '../ledger/ledger.ts';
import { type ImportMark, readImportMark, writeImportMark } from '../ledger/lmdb/import-mark.ts';
import type { LmdbLedger } from '../ledger/lmdb/lmdb-ledger.ts';
import type { Database } from '../ledger/postgres/connection.ts';
import { placeOf } from '../ledger/postgres/failure.ts';
import {
  type ImportCounts,
  importFolder,
  importStateOf,
  isImported,
  requireImportable,
} from '../ledger/postgres/import.ts';
import { requireSchema } from '../ledger/postgres/schema.ts';
import { agreeOnSecrets } from '../ledger/postgres/shared-secrets.ts';
import { serverLives } from '../ledger/server-socket.ts';
import { action, type CommandContext, CommandError, INTERRUPTED } from './command.ts';
import { requireOwnFolder } from './data-folder.ts';
import {
  type ClusterSettings,
  ledgerPath,
  openAsServer,
  openToRead,
  requireCluster,
  withDatabase,
} from './ledger-access.ts';
import { textOf } from './text.ts';

/** An import: the folder of a ledger, the database that its records go into, and the node that keeps its blocks. */
interface Move {
  readonly context: CommandContext;
  readonly settings: ClusterSettings;
  readonly database: Database;
  /** The folder of the ledger. */
  readonly from: string;
}

export const importLmdb = action({
  path: 'cluster import-lmdb',
  summary:
    'Moves the ledger of QRN_DATA_DIR into the empty database QRN_LEDGER. Run qrn cluster init first, and stop the service. Before it\n' +
    'commits, the command proves that the log, the balances and the numbers of all records are the same. Unclaimed blocks stay in\n' +
    'the folder, which becomes the folder of this node (QRN_NODE) and is no longer a ledger. If the command was interrupted, run\n' +
    'it again; it then continues.',
  irreversible: async (_input, context) => {
    const { url, path } = await withMove(context, async (move) => {
      if (!(await stateOf(move)).isCommitted) await requireMovable(move);
      return move.settings;
    });
    return `This moves the ledger in ${ledgerPath(context)} into PostgreSQL at ${placeOf(url)}; the folder becomes ${path} and is no longer a ledger.`;
  },
  run: async (_input, context) => {
    context.interruption().addEventListener('abort', () => {
      context.talk(
        'qrn cluster import-lmdb: interrupted. The ledger is complete, either in the folder or in the database. Run the same command again to continue.\n',
      );
      process.exit(INTERRUPTED); // as the signal would have ended it; the database rolls back an open transaction
    });
    await withMove(context, moveLedger);
  },
});

function withMove<T>(context: CommandContext, use: (move: Move) => Promise<T>): Promise<T> {
  const settings = requireCluster(context);
  requireOwnFolder(context);
  return withDatabase(context, (database) => use({ context, settings, database, from: ledgerPath(context) }));
}

/**
 * Returns whether the import is already committed. Throws a CommandError when the paths or the database do not allow
 * it.
 */
async function stateOf({ settings, database, from }: Move) {
  await requireSchema(database);
  const { madeAtMs, firstNode } = await importStateOf(database);
  const mark = readImportMark(from);
  if (mark !== undefined && mark.databaseMadeAtMs !== madeAtMs)
    throw new CommandError(
      `the import of ${from} into another database, ${mark.database}, has begun or has ended: set QRN_LEDGER to that database`,
    );
  const isCommitted = mark !== undefined && (await isImported(database, mark.id));
  if (!isCommitted && !existsSync(from))
    throw new CommandError(
      `there is no ledger in ${from}: set QRN_DATA_DIR to the data folder of the service`,
    );
  if (isCommitted && existsSync(from) && firstNode !== settings.node)
    throw new CommandError(
      `the ledger was imported for the node ${firstNode}, and another node would lose its blocks: set QRN_NODE=${firstNode}, and run the command again`,
    );
  if (!isCommitted && hasFiles(settings.path))
    throw new CommandError(
      `${settings.path} is not empty, because this data folder was used by a node. Move it away; its blocks are then lost`,
    );
  return { isCommitted, madeAtMs };
}

/** Throws the error with which the import would be refused. Changes nothing, for a dry run. */
async function requireMovable(move: Move): Promise<void> {
  const { context, database, from } = move;
  if (await serverLives(from)) throw new CommandError(`a service is using ${from}: stop it first`);
  const ledger = await openToRead(context, from, { forImport: true });
  const records = ledger.records();
  try {
    await requireOriginal(move, ledger);
    await requireImportable(database, records);
  } finally {
    records.at.done();
    await ledger.close();
  }
}

async function moveLedger(move: Move): Promise<void> {
  const { context, from } = move;
  const { isCommitted, madeAtMs } = await stateOf(move);
  if (!existsSync(from)) {
    context.talk('The ledger is already in the database.\n');
    return;
  }
  const ledger = await openAsServer(context, from, { forImport: true });
  try {
    if (!isCommitted) {
      const counts = await importRecords(move, ledger, madeAtMs);
      context.out(textOf([{ records: counts, ...(await logHeadOf(ledger)) }]));
    }
    // kept answers and claims expire in the database; here nobody would erase them
    await ledger.expire(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  } finally {
    await ledger.close();
  }
  becomeNode(move);
}

/** Throws unless the ledger is sound and is the one for which its keys have signed last. */
async function requireOriginal(
  { context, settings: { keysPath, logName }, database, from }: Move,
  ledger: LmdbLedger,
): Promise<void> {
  const identity = await checkIdentity(ledger, from, readAnchor(keysPath));
  if (identity.kind === 'new')
    throw new CommandError(`the ledger in ${from} was never used: start a node with the database instead`);
  if (identity.kind !== 'original')
    throw new CommandError(
      `the ledger in ${from} is not the one that signed last: ${identity.reason}; see docs/operations.md`,
    );
  const { ok, problems } = await ledger.audit();
  if (!ok)
    throw new CommandError(`nothing was imported, because the ledger has errors: ${problems.join('; ')}`);
  await agreeOnSecrets({ database, keysPath, logName, clock: context.clock }).catch((error: unknown) => {
    if (!(error instanceof LedgerError)) throw error;
    // the database must change, not the keys: without these keys nobody could prove what was signed
    throw new CommandError(
      `the database was set up with different secrets than those in ${keysPath}, which the ledger needs: keep that folder, create a new ` +
        'empty database, and run qrn cluster init with this QRN_DATA_DIR and QRN_LOG_NAME',
    );
  });
}

async function importRecords(
  move: Move,
  ledger: LmdbLedger,
  databaseMadeAtMs: number,
): Promise<ImportCounts> {
  await requireOriginal(move, ledger);
  const {
    context,
    settings: { node, url },
    database,
    from,
  } = move;
  const records = ledger.records();
  const id = randomUUID();
  try {
    return await importFolder({
      database,
      records,
      node,
      id,
      nowMs: context.clock.wallMs(),
      beforeCommit: () => markImport(from, { id, database: placeOf(url), databaseMadeAtMs }),
    });
  } finally {
    records.at.done();
  }
}

function markImport(from: string, mark: ImportMark): void {
  try {
    writeImportMark(from, mark);
  } catch (error) {
    const why = messageOf(error);
    throw new CommandError(
      `nothing was imported, because ${dirname(from)} is not writable: ${why}. Make that folder writable for this user, and run the command again`,
    );
  }
}

/**
 * Makes the ledger's folder the folder of the node's blocks, and writes the anchor into it, which says what was signed
 * last.
 */
function becomeNode({ context, settings: { keysPath, path, node }, from }: Move): void {
  if (hasFiles(path)) {
    context.talk(
      `The records are in the database. ${path} is not empty, because a node was started before this command ended: the unclaimed ` +
        `blocks in ${from} are lost. Delete that folder.\n`,
    );
    return;
  }
  try {
    writeAnchor(from, readAnchor(keysPath) as Anchor);
    if (existsSync(path)) rmdirSync(path);
    renameSync(from, path);
    syncToDisk(dirname(path));
  } catch (error) {
    const why = messageOf(error);
    throw new CommandError(
      `the records are in the database, but the folder of the ledger could not become that of the node: ${why}. Correct the problem with these ` +
        'paths and run the command again. Do not start a node before that, because its blocks would be lost',
    );
  }
  context.talk(
    `The ledger is in the database. Start the service with QRN_LEDGER and QRN_NODE=${node}. The blocks of the node are in ${path}.\n`,
  );
}

/** Returns the size and the root of the log of the newest incarnation. */
async function logHeadOf(ledger: LmdbLedger) {
  const state = await newestStateOf(ledger);
  const checkpoint = state && readCheckpoint(state.checkpoint).checkpoint;
  return { log_size: checkpoint?.size ?? 0, log_root: checkpoint ? toBase64(checkpoint.root) : null };
}

function hasFiles(path: string): boolean {
  if (!existsSync(path)) return false;
  if (!statSync(path).isDirectory())
    throw new CommandError(`${path} is not a folder, but the node needs a folder there: move it away`);
  return readdirSync(path).length > 0;
}
