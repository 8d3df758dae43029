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
import { action, type CommandContext, CommandError } from './command.ts';
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

/** The exit status that a shell reports for a command that SIGINT ended. */
const INTERRUPTED = 130;

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
    'Moves the ledger of QRN_DATA_DIR into the empty database that QRN_LEDGER names, after qrn cluster init. It proves that the\n' +
    'log, the balances and the counts of all records are the same before it commits. Unclaimed blocks stay in the folder, which\n' +
    'becomes that of this node (QRN_NODE) and can no longer serve as a ledger. The service must be stopped. When the command\n' +
    'was interrupted, run it again: it goes on.',
  irreversible: async (_input, context) => {
    const { url, path } = await withMove(context, async (move) => {
      if (!(await stateOf(move)).isCommitted) await requireMovable(move);
      return move.settings;
    });
    return `This moves the ledger in ${ledgerPath(context)} into PostgreSQL at ${placeOf(url)}; the folder becomes ${path} and serves no more as a ledger.`;
  },
  run: async (_input, context) => {
    context.interruption().addEventListener('abort', () => {
      context.talk(
        'qrn cluster import-lmdb: interrupted. The ledger is still whole, in the folder or in the database: run the same command again, and it goes on.\n',
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
      `${from} went, or was about to go, into another database, at ${mark.database}: set QRN_LEDGER to that one`,
    );
  const isCommitted = mark !== undefined && (await isImported(database, mark.id));
  if (!isCommitted && !existsSync(from))
    throw new CommandError(
      `there is no ledger in ${from}: set QRN_DATA_DIR to the data folder of the service`,
    );
  if (isCommitted && existsSync(from) && firstNode !== settings.node)
    throw new CommandError(
      `the ledger was imported for the node ${firstNode}, and another one would give up its blocks: set QRN_NODE=${firstNode}, and run this again`,
    );
  if (!isCommitted && hasFiles(settings.path))
    throw new CommandError(
      `${settings.path} is not empty: this data folder has served as a node. Move it out of the way, and its blocks are lost`,
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
    context.talk('The ledger is in the database already.\n');
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
    throw new CommandError(`nothing was ever served from ${from}: start a node on the database instead`);
  if (identity.kind !== 'original')
    throw new CommandError(
      `the ledger in ${from} is not the one that was signed for last: ${identity.reason}; see docs/operations.md`,
    );
  const { ok, problems } = await ledger.audit();
  if (!ok) throw new CommandError(`the ledger is not sound, nothing was imported: ${problems.join('; ')}`);
  await agreeOnSecrets({ database, keysPath, logName, clock: context.clock }).catch((error: unknown) => {
    if (!(error instanceof LedgerError)) throw error;
    // the database must change, not the keys: without these keys nobody could prove what was signed
    throw new CommandError(
      `the database was set up with other secrets than those in ${keysPath}, which the ledger needs: keep that folder, make a new ` +
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
      `nothing was imported, for a note of it cannot be written in ${dirname(from)}: ${why}. Make that folder writable for this user, and run this again`,
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
        `blocks in ${from} are lost, delete it.\n`,
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
      `the records are in the database, and the folder of the ledger could not become that of the node: ${why}. Start no node before ` +
        'it did, for its blocks would be lost: mend what is wrong with these paths, and run this again',
    );
  }
  context.talk(
    `The ledger is in the database. Start the service with QRN_LEDGER and QRN_NODE=${node}: its blocks are in ${path}.\n`,
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
    throw new CommandError(
      `${path} is not a folder, and must become that of the node: move it out of the way`,
    );
  return readdirSync(path).length > 0;
}
