import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { open, type RootDatabase } from 'lmdb';
import { assert, messageOf } from '../../core/assert.ts';
import type { Clock } from '../../core/clock.ts';
import { type Log, silentLog } from '../../core/log.ts';
import { BlockKeys } from '../block-keys.ts';
import { type BlockFolder, Blocks } from '../domain/blocks.ts';
import { type Durability, filesOf, type JournalPlace, newLedgerId } from '../journal.ts';
import { type AuditReport, LedgerError, type LedgerIdentity } from '../ledger.ts';
import { type FolderOwner, socketPathOf, takeFolder } from '../server-socket.ts';
import type { Key } from '../store.ts';
import { auditTables } from './audit.ts';
import { auditInChild } from './audit-child.ts';
import { lmdbBooksIn } from './books.ts';
import {
  FREE_BYTES_MIN,
  FreeSpace,
  freeBytesOf,
  lengthen,
  makeFolder,
  makePrivate,
  requireLmdbFile,
} from './data-file.ts';
import { FolderWatch } from './folder-watch.ts';
import type { FollowingBooks } from './following-books.ts';
import { GroupWriter } from './group-writer.ts';
import { requireNotImported } from './import-mark.ts';
import { LmdbStore } from './lmdb-store.ts';
import { Scrub } from './scrub.ts';
import { type FolderAudit, StartAudit } from './start-audit.ts';
import { hasJournals, startJournals } from './start-journals.ts';
import type { RawDatabase, RawStore } from './table.ts';
import { count, FORMAT, openMeta, openTables, type Tables } from './tables.ts';
import type { TransactionGate } from './transaction-gate.ts';

export interface LmdbLedgerOptions {
  /** The data folder; made when it is missing. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  /** server: the one process that writes the folder; a second one is refused. reader: a command beside it, or without one. */
  readonly role: 'server' | 'reader';
  /** The server is a command, which has the folder for a moment: a service that starts waits for its end. */
  readonly isCommand?: true;
  /**
   * That of the fronts' journals. What is written to the ledger itself is on disk before a promise resolves in either case.
   */
  readonly durability: Durability;
  /** Journals that a server makes, one for each front; 1 unless given. */
  readonly fronts?: number;
  /** The folder was copied without its journals, or is taken as it lies: what only they held is given up. */
  readonly mayLackJournals?: true;
  /**
   * Below this much free space on the file system, addLot is rejected with `storage_unavailable`, as every call is that needs
   * room, and fronts refuse answers.
   */
  readonly freeBytesMin?: number;
  /** Free bytes of the file system; statfs of the folder unless a test gives its own. */
  readonly freeBytes?: () => number;
  /** Bytes of each of the two files of a journal. */
  readonly journalFileBytes?: number;
  /** How long the start of a server waits for the audit that follows an unclean stop, see StartAudit. */
  readonly startAuditWaitMs?: number;
  /** The audit after an unclean stop, and of a backup; in a process of its own unless a test gives another. */
  readonly audit?: FolderAudit;
  /** Bytes per second that a server's scrub reads (scrub.ts); 0 or missing: there is no scrub. */
  readonly scrubBytesPerS?: number;
  /**
   * For the import into a database, which may have begun before. Commands wait until it ends, and are then refused: none of them
   * changes what is copied.
   */
  readonly forImport?: true;
  /** Of a thread that the process may end at any moment. */
  readonly gate?: TransactionGate;
  /** Wraps the store; tests make it fail. */
  readonly wrap?: (raw: RawStore) => RawStore;
}

const MEBIBYTE = 2 ** 20;
/** Address space, not memory; LMDB maps more when a ledger outgrows it. */
const MAP_BYTES = 64 * 1024 * MEBIBYTE;
const TABLES_MAX = 64;
/**
 * 150 ms at 100,000 certificates a second, until they are logged, take 1.2 MB; the rest is for a ledger that falls behind by most
 * of a second.
 */
const JOURNAL_FILE_BYTES = 8 * MEBIBYTE;
/**
 * How long what is acknowledged may wait for LMDB. The log of certificates, which stores it together with its leaves, is mostly
 * faster; this is for a ledger whose log is behind.
 */
const STORE_INTERVAL_MS = 500;
const START_AUDIT_WAIT_MS = 10_000;

const DATA_FILE = 'data.mdb';
const LOCK_FILE = 'lock.mdb';
const BLOCK_KEYS_FILE = 'block-keys';

/** A folder that was opened; lmdb-ledger.ts makes the ledger over it, and closes all of it. */
export type OpenFolder = Awaited<ReturnType<typeof openLocked>>;

/** Opens the folder of a ledger. Throws LedgerError `unusable` with a sentence an operator can act on. */
export async function openFolder(options: LmdbLedgerOptions): Promise<OpenFolder> {
  const { path, role } = options;
  const isServer = role === 'server';
  if (options.forImport !== true) requireNotImported(path);
  if (!isServer && !existsSync(join(path, DATA_FILE)))
    throw new LedgerError('unusable', `there is no ledger in ${path}`);
  if (isServer) makeFolder(path);
  const owner = isServer ? await takeFolder(path, options.isCommand) : undefined;
  try {
    return await openLocked(options, owner);
  } catch (error) {
    await owner?.drain();
    await owner?.release();
    throw error;
  }
}

async function openLocked(options: LmdbLedgerOptions, owner: FolderOwner | undefined) {
  const { path, clock, log, role, durability, audit = auditInChild } = options;
  const isServer = role === 'server';
  // before the first write: a write into damaged pages damages more
  let startAudit: StartAudit | undefined;
  if (isServer && hasJournals(path) && existsSync(join(path, DATA_FILE))) {
    const { startAuditWaitMs: waitMs = START_AUDIT_WAIT_MS } = options;
    startAudit = await StartAudit.begin({ path, log, waitMs, audit });
  }
  const dataFile = await openRaw(path, { readOnly: !isServer, gate: options.gate }).catch(
    async (error: unknown) => {
      await startAudit?.stop();
      throw error;
    },
  );
  const raw: RawStore = options.wrap === undefined ? dataFile : options.wrap(dataFile);
  let blockKeys: BlockKeys | undefined;
  try {
    const writer = new GroupWriter(raw, log, () => requireStart(tables, identity));
    const tables = openFormat(raw, writer, path, !isServer);
    if (dataFile.lengthened) await requireWhole(raw, tables, path);
    const space = new FreeSpace(
      options.freeBytes ?? (() => freeBytesOf(path)),
      options.freeBytesMin ?? FREE_BYTES_MIN,
    );
    const identity: LedgerIdentity = {
      ledgerId: count(tables.meta, 'ledgerId'),
      start: count(tables.meta, 'start') + 1,
    };
    const domain = new LmdbStore(tables, writer);
    const books = lmdbBooksIn(domain, tables, writer, clock);
    const opened = {
      raw,
      tables,
      writer,
      books,
      domain,
      clock,
      path,
      identity,
      space,
      startAudit,
      role,
      owner,
      audit,
    };
    const none = { blockKeys, folderWatch: undefined, scrub: undefined, following: undefined, journals: [] };
    const stop = (cause: unknown) => writer.stop(cause);
    const reading = { store: domain, seals: undefined, stop, log } satisfies BlockFolder;
    if (!isServer) {
      writer.close(new LedgerError('refused', 'a reader of the folder changes nothing: its server does'));
      return { ...opened, ...none, folder: reading };
    }
    writer.transact(() => tables.meta.put('start', identity.start));
    startAudit?.damage.then((damage) => damage && writer.stop(damage));
    blockKeys = BlockKeys.open(join(path, BLOCK_KEYS_FILE), count(tables.meta, 'blocks') + 1);
    const folder: BlockFolder = { ...reading, seals: blockKeys };
    await new Blocks(folder).begin();
    const started = await startJournals({
      ...{ path, log, books, writer, space, identity, durability },
      fronts: options.fronts ?? 1,
      fileBytes: options.journalFileBytes ?? JOURNAL_FILE_BYTES,
      intervalMs: STORE_INTERVAL_MS,
      mayLackJournals: options.mayLackJournals === true,
    });
    const folderWatch = watchFolder({ path, log, writer, space, ...started });
    const bytesPerS = options.scrubBytesPerS ?? 0;
    const scrub = bytesPerS > 0 ? new Scrub({ store: raw, tables, log, clock, bytesPerS }) : undefined;
    scrub?.startAfter(startAudit?.damage);
    log.info({ path, ...identity, durability }, 'ledger: open');
    return { ...opened, ...started, blockKeys, folder, folderWatch, scrub };
  } catch (error) {
    await startAudit?.stop();
    blockKeys?.close();
    await raw.close();
    throw error;
  }
}

/**
 * Reads all of the ledger in a folder, as `qrn ledger audit` does. A data file that is short is lengthened, unless another process may
 * write it. Throws LedgerError, or the signal's reason.
 */
export async function auditFolder(
  path: string,
  signal?: AbortSignal,
  mayBeServed = false,
): Promise<AuditReport> {
  const raw = await openRaw(path, { readOnly: true, mayLengthen: !mayBeServed });
  try {
    const tables = openFormat(raw, new GroupWriter(raw, silentLog, () => {}), path, true);
    return await auditTables(tables, raw.snapshot(), async () => {
      signal?.throwIfAborted();
      await nextTurn();
    });
  } finally {
    await raw.close();
  }
}

/** The store of the data file, and what only LMDB knows about the file. */
interface DataFile extends RawStore {
  /** The file was shorter than its content and was made whole with zeros. */
  readonly lengthened: boolean;
}

async function openRaw(
  path: string,
  {
    readOnly,
    mayLengthen = !readOnly,
    gate,
  }: { readOnly: boolean; mayLengthen?: boolean; gate?: TransactionGate | undefined },
): Promise<DataFile> {
  const root = openRoot(path, readOnly);
  // `env` is missing in the type declarations; `stat` and `info` read the header only, getStats() reads the
  // free list.
  const { env } = root as unknown as {
    env: { stat(): { pageSize: number }; info(): { lastPageNumber: number } };
  };
  let lengthened: boolean;
  try {
    const usedBytes = (env.info().lastPageNumber + 1) * env.stat().pageSize;
    lengthened = lengthen(join(path, DATA_FILE), usedBytes, !mayLengthen);
  } catch (error) {
    await root.close();
    throw error;
  }
  return {
    openDatabase: (name, create) => {
      const options = { name, encoding: 'binary', create } as const; // `create` is missing in the type declarations
      return root.openDB(options) as RawDatabase | undefined;
    },
    // Never transaction(): what it put before a throw would be committed. With overlappingSync off,
    // transactionSync returns after the fsync, and a failed one leaves nothing visible.
    transact: (body) =>
      gate === undefined ? root.transactionSync(body) : gate.pass(() => root.transactionSync(body)),
    snapshot: () => root.useReadTransaction(),
    copyTo: (directory, compact) => root.backup(directory, compact),
    close: () => root.close(),
    lengthened,
  };
}

function openRoot(path: string, readOnly: boolean): RootDatabase<Uint8Array, Key & string> {
  requireLmdbFile(join(path, DATA_FILE), !readOnly);
  // LMDB would make its files readable to all; they need not be in a folder of ours
  if (!readOnly) for (const name of [DATA_FILE, LOCK_FILE]) makePrivate(join(path, name));
  try {
    return open({
      path,
      noSubdir: false,
      encoding: 'binary',
      maxDbs: TABLES_MAX,
      mapSize: MAP_BYTES,
      overlappingSync: false,
      readOnly,
    });
  } catch (error) {
    const why = messageOf(error);
    throw new LedgerError('unusable', `cannot open the ledger in ${path}: ${why}`, { cause: error });
  }
}

async function requireWhole(raw: RawStore, tables: Tables, path: string): Promise<void> {
  const { ok, problems } = await auditTables(tables, raw.snapshot());
  if (ok) return;
  throw new LedgerError(
    'damaged',
    `the ledger in ${path} is cut short, restore a backup: ${problems.join('; ')}`,
  );
}

function openFormat(raw: RawStore, writer: GroupWriter, path: string, readOnly: boolean): Tables {
  const meta = openMeta(raw, writer);
  const format = meta === undefined ? 0 : count(meta, 'format');
  if (meta === undefined || (readOnly && format === 0)) {
    throw new LedgerError('unusable', `there is no ledger in ${path}`);
  }
  if (format > 0) {
    if (format === FORMAT) return openTables(raw, writer, meta, false);
    throw new LedgerError(
      'unusable',
      `the ledger in ${path} has format ${format}, and this program reads format ${FORMAT} alone: use the release that wrote it, or another data folder`,
    );
  }
  // All tables and the format in one transaction: a new folder is a whole ledger or none.
  let tables: Tables | undefined;
  writer.transact(() => {
    tables = openTables(raw, writer, meta, true);
    meta.put('format', FORMAT);
    meta.put('ledgerId', newLedgerId());
  });
  assert(tables !== undefined, 'the transaction ran');
  return tables;
}

interface WatchedFolder {
  readonly path: string;
  readonly log: Log;
  readonly writer: GroupWriter;
  readonly following: FollowingBooks;
  readonly journals: readonly JournalPlace[];
  readonly space: FreeSpace;
}

/**
 * Once a file is gone, stores what is acknowledged, and stops: what is written from then on would end with the process. A journal
 * that is gone is not missed then.
 */
function watchFolder({ path, log, writer, following, journals, space }: WatchedFolder): FolderWatch {
  const names = [DATA_FILE, BLOCK_KEYS_FILE].map((name) => join(path, name));
  const socket = socketPathOf(path);
  const all = [...names, socket, ...journals.flatMap((each) => filesOf(each.path))];
  return new FolderWatch(all, space, async (file) => {
    const what =
      file === socket ? 'start it again' : 'put it back, or restore a backup with `qrn ledger restore`';
    const gone = new LedgerError(
      'stopped',
      `${file} was removed or replaced while the service ran, and nothing more is acknowledged: ${what}`,
    );
    log.error({ file }, gone.message);
    try {
      await following.closeJournals();
    } finally {
      writer.stop(gone);
    }
  });
}

/** A server whose start is no longer the newest may not write. */
function requireStart({ meta }: Tables, { start }: LedgerIdentity): void {
  const now = count(meta, 'start');
  if (now === start) return;
  throw new LedgerError(
    'stopped',
    `another server (start ${now}) took the folder from this one (start ${start})`,
  );
}
