import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import { closeAll } from '../../core/close-all.ts';
import { makeFolder, syncToDisk } from '../../core/files.ts';
import { type Log, silentLog } from '../../core/log.ts';
import { BlockKeys } from '../block-keys.ts';
import { DirectoryFeed } from '../directory-feed.ts';
import { type BlockFolder, Blocks } from '../domain/blocks.ts';
import { directoryIn } from '../domain/directory.ts';
import { drawsIn } from '../domain/draws.ts';
import { lotsIn } from '../domain/lots.ts';
import { ONLY_OWNER, sourcesIn } from '../domain/sources.ts';
import { type Durability, filesOf, type JournalPlace } from '../journal.ts';
import {
  type FailStop,
  guarded,
  type Ledger,
  type LedgerCalls,
  LedgerError,
  type LedgerIdentity,
} from '../ledger.ts';
import { callOwner, type Served, socketPathOf, takeFolder } from '../server-socket.ts';
import { SOLE_NODE } from '../sharing.ts';
import { auditTables } from './audit.ts';
import { auditInChild } from './audit-child.ts';
import { lmdbBooksIn } from './books.ts';
import { DATA_FILE, FREE_BYTES_MIN, FreeSpace, freeBytesOf } from './data-file.ts';
import { watchFolder } from './folder-watch.ts';
import { GroupWriter } from './group-writer.ts';
import { requireNotImported } from './import-mark.ts';
import { openFormat, openRaw, requireWhole } from './lmdb.ts';
import { LmdbStore } from './lmdb-store.ts';
import { Scrub } from './scrub.ts';
import { beginStartAudit, type FolderAudit, type StartAudit } from './start-audit.ts';
import { hasJournals, startJournals } from './start-journals.ts';
import type { RawStore, Snapshot } from './table.ts';
import { META, numberIn, type Tables, tableOf } from './tables.ts';

export interface LmdbLedgerOptions {
  /** The data folder. A server creates it when it is missing. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  /** server: the one process that writes the folder; a second one is refused. reader: a command, with or without a server. */
  readonly role: 'server' | 'reader';
  /** True when the server is a command, which owns the folder for a moment: a service that starts waits for its end. */
  readonly isCommand?: true;
  /** The durability of the fronts' journals. Writes to the ledger itself are always on disk before a promise resolves. */
  readonly durability: Durability;
  /** Count of fronts, each of which gets a journal; 1 unless given. */
  readonly fronts?: number;
  /** Opens a folder that lacks journals, or has damaged ones: gives up whatever only they held. */
  readonly mayLackJournals?: true;
  /**
   * Below this many free bytes on the file system, calls that need room (CALL_RULES) throw `storage_unavailable`, and
   * fronts refuse answers.
   */
  readonly freeBytesMin?: number;
  /** Returns the free bytes of the file system. Calls statfs on the folder unless a test gives another. */
  readonly freeBytes?: () => number;
  /** Bytes of each of the two files of a journal. */
  readonly journalFileBytes?: number;
  /** How long the start of a server waits for the audit that follows an unclean stop (start-audit.ts). */
  readonly startAuditWaitMs?: number;
  /** Audits the folder after an unclean stop, and backups. Uses a child process unless a test gives another. */
  readonly audit?: FolderAudit;
  /** Bytes per second that a server's scrub reads (scrub.ts); without it or with 0 there is no scrub. */
  readonly scrubBytesPerS?: number;
  /**
   * Opens the folder for an import into a database, also when an earlier import has begun. Commands wait until the import ends
   * and are then refused, so none changes what is copied.
   */
  readonly forImport?: true;
  /**
   * A lock (core/spin-lock.ts) that is held during each write transaction, for a ledger in a thread that the process may end at
   * any moment. Node ends a thread between two steps of JavaScript, and lmdb-js then closes the environment in that thread: it
   * would wait forever for the lock that the thread's own transaction holds (lmdb 3.5.6, `beginTxn` and `cleanupStrayTxns`).
   */
  readonly gate?: Int32Array;
  /** Wraps the store; tests make it fail. */
  readonly wrap?: (raw: RawStore) => RawStore;
}

/**
 * At 100,000 certificates a second, the 250 ms until they are logged take 2 MB. The rest is for a ledger that falls behind by
 * most of a second.
 */
const JOURNAL_FILE_BYTES = 8 * 2 ** 20;
/**
 * Half of the longest time until LMDB has what was acknowledged. The log of certificates usually stores it earlier, together
 * with its leaves; this interval is for a log that is behind.
 */
const STORE_INTERVAL_MS = 500;
const START_AUDIT_WAIT_MS = 10_000;

const BLOCK_KEYS_FILE = 'block-keys';

/**
 * The ledger in an LMDB folder. One process, its server, writes the folder. Commands make calls through the server's socket
 * (server-socket.ts), and read the folder beside it.
 */
export interface LmdbLedger extends Ledger, FailStop {
  /** Makes a copy without free pages, as small as the content, to replace the ledger while no server runs. */
  compactTo(directory: string): Promise<void>;
  /** The folder as a store of blocks, for a node whose books are in PostgreSQL. */
  readonly folder: BlockFolder;
  /** The places where the fronts write their journals. */
  readonly journals: readonly JournalPlace[];
  /** Returns all records of this moment, for a copy into another ledger. The caller must call `at.done`. */
  records(): { readonly tables: Tables; readonly at: Snapshot };
  /** Ends all jobs that have no lot yet with this failure. */
  abandonJobs(failure: string): Promise<void>;
}

/** Opens the ledger in a folder. Throws LedgerError `unusable` with a sentence an operator can act on. */
export async function openLmdbLedger(options: LmdbLedgerOptions): Promise<LmdbLedger> {
  const opened: (() => unknown)[] = [];
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= closeAll(opened));
  try {
    return { ...ledgerOver(options, await openFolder(options, opened)), close };
  } catch (error) {
    await close().catch(() => {}); // the first error tells more
    throw error;
  }
}

/**
 * Makes a copy give up its unclaimed blocks and open jobs, which the original goes on to use. Opening the copy gives up the
 * blocks, since it lacks their keys.
 */
async function giveUpBlocksAndJobs(directory: string, clock: Clock): Promise<void> {
  const copy = await openLmdbLedger({
    path: directory,
    clock,
    log: silentLog,
    role: 'server',
    durability: 'fsync',
    freeBytesMin: 0,
    fronts: 0,
    mayLackJournals: true,
  });
  try {
    await copy.abandonJobs('this ledger is a copy, and the one that it was made of goes on with the job');
  } finally {
    await copy.close();
  }
}

/** Opens the parts of a ledger. Adds to `opened` how to close each part. */
async function openFolder(options: LmdbLedgerOptions, opened: (() => unknown)[]) {
  const { path, clock, log, durability, audit = auditInChild } = options;
  const isServer = options.role === 'server';
  if (options.forImport !== true) requireNotImported(path);
  if (!isServer && !existsSync(join(path, DATA_FILE)))
    throw new LedgerError('unusable', `there is no ledger in ${path}`);
  if (isServer) makeFolder(path);
  const owner = isServer ? await takeFolder(path, options.isCommand) : undefined;
  opened.push(async () => {
    await owner?.drain();
    await owner?.release();
  });
  // The audit begins before the first write, since a write to damaged pages would do more damage.
  let startAudit: StartAudit | undefined;
  if (isServer && hasJournals(path)) {
    if (!existsSync(join(path, DATA_FILE)))
      throw new LedgerError(
        'unusable',
        `${join(path, DATA_FILE)} is missing, and journals of it are there: put it back, or move the folder away and restore a backup with \`qrn ledger restore\``,
      );
    const { startAuditWaitMs: waitMs = START_AUDIT_WAIT_MS } = options;
    startAudit = await beginStartAudit({ path, log, waitMs, audit });
    opened.push(() => startAudit?.stop());
  }
  const dataFile = await openRaw(path, { readOnly: !isServer, gate: options.gate });
  const raw: RawStore = options.wrap === undefined ? dataFile : options.wrap(dataFile);
  opened.push(() => raw.close());
  const writer = new GroupWriter(raw, log, () => requireStart(tables, identity));
  const tables = openFormat(raw, writer, path, !isServer);
  if (dataFile.lengthened) await requireWhole(raw, tables, path);
  const space = new FreeSpace(
    options.freeBytes ?? (() => freeBytesOf(path)),
    options.freeBytesMin ?? FREE_BYTES_MIN,
  );
  const identity: LedgerIdentity = {
    ledgerId: numberIn(tables, 'ledgerId'),
    start: numberIn(tables, 'start') + 1,
  };
  const domain = new LmdbStore(tables, writer);
  const books = lmdbBooksIn(domain, clock);
  const parts = { raw, tables, writer, books, domain, identity, space, startAudit, owner, audit };
  const reading: BlockFolder = { store: domain, seals: undefined, stop: (cause) => writer.stop(cause), log };
  if (!isServer) {
    writer.close(
      new LedgerError(
        'refused',
        'the ledger is open for reading, so only the server of its folder can change it',
      ),
    );
    return { ...parts, following: undefined, journals: [], folder: reading, scrub: undefined };
  }
  let seals: BlockKeys | undefined;
  opened.push(() => seals?.close());
  opened.push(() => writer.close());
  writer.transact(() => tableOf(tables, META).put('start', identity.start));
  startAudit?.damage.then((damage) => damage && writer.stop(damage));
  // Journals come before block keys: when the data file does not fit the journals, no key of a block may be erased.
  const { following, journals } = await startJournals({
    ...{ path, log, books, writer, space, identity, durability },
    fronts: options.fronts ?? 1,
    fileBytes: options.journalFileBytes ?? JOURNAL_FILE_BYTES,
    intervalMs: STORE_INTERVAL_MS,
    mayLackJournals: options.mayLackJournals === true,
  });
  opened.push(async () => {
    // When the audit is incomplete, the journals stay, so that the next start repeats it.
    const isSound = (await startAudit?.stop()) ?? true;
    await following.close();
    if (journals.length === 0 || !isSound || !writer.isRunning) return;
    await books.finishJournals(namesOf(journals));
    for (const file of journals.flatMap((journal) => filesOf(journal.path))) rmSync(file, { force: true });
  });
  seals = BlockKeys.open(join(path, BLOCK_KEYS_FILE), numberIn(tables, 'blocks') + 1);
  const folder = { ...reading, seals };
  await new Blocks(folder).begin();
  const files = [DATA_FILE, BLOCK_KEYS_FILE].map((name) => join(path, name));
  const journalFiles = journals.flatMap((journal) => filesOf(journal.path));
  const watched = { files: [...files, ...journalFiles], socket: socketPathOf(path) };
  opened.push(watchFolder({ ...watched, log, writer, space, following }));
  const bytesPerS = options.scrubBytesPerS ?? 0;
  const scrub = bytesPerS > 0 ? new Scrub({ store: raw, tables, log, clock, bytesPerS }) : undefined;
  scrub?.startAfter(startAudit?.damage);
  opened.push(() => scrub?.stop());
  opened.push(() => startAudit?.stop()); // stops before the scrub, which waits for it
  opened.push(() => owner?.drain());
  log.info({ path, ...identity, durability }, 'ledger: open');
  return { ...parts, following, journals, folder, scrub };
}

function namesOf(journals: readonly JournalPlace[]): string[] {
  return journals.map(({ path }) => basename(path));
}

/** Returns the ledger over the opened parts. */
function ledgerOver(
  { path, clock, role, forImport }: LmdbLedgerOptions,
  parts: Awaited<ReturnType<typeof openFolder>>,
): Omit<LmdbLedger, 'close'> {
  const { raw, tables, writer, books, domain, identity, space, startAudit, owner, audit } = parts;
  const { following, journals, folder, scrub } = parts;
  const isServer = role === 'server';
  const requireServer = (call: string) => {
    if (!isServer)
      throw new LedgerError('refused', `${call} is for the server of the folder, not for a reader`);
  };

  /** Makes sure that LMDB has all that the journals hold. A running server stores that before it answers `segmentSpan`. */
  async function requireStored(): Promise<void> {
    let served = await callOwner(path, 'segmentSpan', []);
    while (served === 'lost') served = await callOwner(path, 'segmentSpan', []); // the server is ending: ask again
    if (served === 'late')
      throw new LedgerError(
        'refused',
        `the service on ${path} does not answer, and a copy would lack what it has not stored: see its log, and back up again`,
      );
    if (served === undefined && hasJournals(path))
      throw new LedgerError(
        'refused',
        `the service on ${path} was killed, and a copy would lack what only its journals hold: start the service, and back up then`,
      );
  }

  async function copyTo(directory: string, compact: boolean): Promise<void> {
    if (existsSync(directory) && readdirSync(directory).length > 0) {
      throw new LedgerError('refused', `${directory} is not empty: a copy goes into a new folder`);
    }
    await following?.store();
    if (!isServer) await requireStored();
    // A compacted copy is used without the journals, so it must not list them.
    if (compact) await books.finishJournals(namesOf(journals));
    makeFolder(directory);
    await raw.copyTo(directory, compact);
    chmodSync(join(directory, 'data.mdb'), 0o600); // LMDB creates the file readable for all users
    if (!compact) await giveUpBlocksAndJobs(directory, clock);
    const { problems } = await audit(directory);
    for (const name of ['lock.mdb', 'block-keys']) rmSync(join(directory, name), { force: true });
    if (problems.length > 0) {
      throw new LedgerError('damaged', `the copy in ${directory} is not sound: ${problems.join('; ')}`);
    }
    for (const name of [join(directory, 'data.mdb'), directory]) syncToDisk(name);
  }

  const upkeep = {
    async audit() {
      await following?.store();
      return auditTables(tables, raw.snapshot());
    },
    integrity: async () => ({
      startAudit: startAudit?.state() ?? 'none',
      scrub: scrub?.state() ?? null,
      database: null,
    }),
    /**
     * Copies one moment of the ledger while writers go on. The copy has no unclaimed blocks and no open jobs, because a
     * restored copy would deliver their bits a second time.
     */
    async backup(directory: string) {
      const inside = relative(resolve(path), resolve(directory));
      if (inside === '' || !(inside.startsWith('..') || isAbsolute(inside)))
        throw new LedgerError(
          'refused',
          `${directory} lies in the folder of the ledger: a backup goes into a folder outside of ${path}`,
        );
      await copyTo(directory, false);
    },
  };
  const sources = sourcesIn(domain, ONLY_OWNER);
  const calls = guarded<LedgerCalls>(
    {
      ...directoryIn(domain),
      ...lotsIn({ books: domain, folder, node: ONLY_OWNER.node }),
      ...sources,
      ...(following?.calls ?? books),
      ...drawsIn(domain),
      ...SOLE_NODE,
      ...upkeep,
    },
    (call, rule) => {
      if (rule.server) requireServer(call);
      if (rule.room) space.require();
    },
  );
  const feed = new DirectoryFeed(calls.directoryChanges, clock);
  const served = async (call: string, args: readonly unknown[]): Promise<Served> => {
    if (!isCommandCall(call))
      throw new LedgerError('refused', `a command may not call ${call}, only ${COMMAND_CALLS.join(', ')}`);
    const result = await (calls[call] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
    return { result, isConfirmed: await feed.push() };
  };
  if (forImport !== true) owner?.serve(served);
  return {
    ...feed.over(calls),
    identity,
    failed: writer.failed,
    folder,
    journals,
    compactTo: (directory) => copyTo(directory, true),
    records: () => ({ tables, at: raw.snapshot() }),
    async abandonJobs(failure) {
      requireServer('abandonJobs');
      await sources.abandonJobs(failure);
    },
  };
}

/** Throws `stopped` when another server has started on the folder since this one. */
function requireStart(tables: Tables, { start }: LedgerIdentity): void {
  const now = numberIn(tables, 'start');
  if (now === start) return;
  throw new LedgerError(
    'stopped',
    `another process (start ${now}) has taken over the folder of the ledger from this one (start ${start})`,
  );
}

/** The calls that commands may make through the socket of the folder. Each can be repeated and changes nothing twice. */
export const COMMAND_CALLS = [
  'accounts',
  'keys',
  'createAccount',
  'putAccount',
  'putKey',
  'lot',
  'revocations',
  'revokeLot',
  'spent',
  'charge',
  'segmentSpan', // see requireStored
] as const satisfies readonly (keyof LedgerCalls)[];
export type CommandCall = (typeof COMMAND_CALLS)[number];

function isCommandCall(call: string): call is CommandCall {
  return (COMMAND_CALLS as readonly string[]).includes(call);
}
