import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import { silentLog } from '../../core/log.ts';
import { syncToDisk } from '../block-keys.ts';
import { DirectoryFeed } from '../directory-feed.ts';
import type { BlockFolder } from '../domain/blocks.ts';
import { directoryIn } from '../domain/directory.ts';
import { drawsIn } from '../domain/draws.ts';
import { lotsIn } from '../domain/lots.ts';
import { ONLY_OWNER, sourcesIn } from '../domain/sources.ts';
import { filesOf, type JournalPlace, readJournal } from '../journal.ts';
import { callsOver, type FailStop, type Ledger, type LedgerCalls, LedgerError } from '../ledger.ts';
import { type Served, serverLives } from '../server-socket.ts';
import { SOLE_NODE } from '../sole-node.ts';
import { auditTables } from './audit.ts';
import { JOURNAL_FINISHED } from './books.ts';
import { makeFolder } from './data-file.ts';
import { type LmdbLedgerOptions, type OpenFolder, openFolder } from './lmdb.ts';
import type { Snapshot } from './table.ts';
import type { Tables } from './tables.ts';

/**
 * The ledger in an LMDB folder: one process writes it, its server. Commands call it through its socket (server-socket.ts),
 * and read beside it.
 */
export interface LmdbLedger extends Ledger, FailStop {
  /**
   * Like backup, without the free pages: as small as the content. To be put in the ledger's place while it is
   * down.
   */
  compactTo(directory: string): Promise<void>;
  /** Where its blocks lie: for a node whose books lie elsewhere. */
  readonly folder: BlockFolder;
  /** Where its fronts write their journals. */
  readonly journals: readonly JournalPlace[];
  /** All records as they are now, for a copy into another ledger. `at.done` must be called. */
  records(): { readonly tables: Tables; readonly at: Snapshot };
  /** Ends the jobs of all sources that have no lot yet, with this failure. */
  abandonJobs(failure: string): Promise<void>;
}

/** Opens the ledger in a folder. Throws LedgerError `unusable` with a sentence an operator can act on. */
export async function openLmdbLedger(options: LmdbLedgerOptions): Promise<LmdbLedger> {
  return lmdbLedger(await openFolder(options), options.forImport !== true);
}

/**
 * This ledger goes on with its unclaimed blocks and open jobs, so a copy gives up both: the first when it is opened without their
 * keys.
 */
async function yieldIn(directory: string, clock: Clock): Promise<void> {
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

/** The ledger over what was opened; it closes all of it. `isServing`: commands may call through the socket of the folder. */
function lmdbLedger(parts: OpenFolder, isServing: boolean): LmdbLedger {
  const { raw, tables, writer, following, journals, role, space, domain, folder } = parts;
  const journalNames = journals.map(({ path }) => basename(path));
  const requireServer = (call: string) => {
    if (role !== 'server')
      throw new LedgerError('refused', `${call} is for the server of the folder, not for a reader`);
  };

  /** A copy has no journals: what only those of a server that was killed hold would be missing from it. */
  async function requireStored(): Promise<void> {
    if (await serverLives(parts.path)) return;
    for (const [name, from] of parts.books.journalPositions()) {
      if (from === JOURNAL_FINISHED) continue;
      const journal = join(parts.path, name);
      const [, start, front] = name.split('-').map(Number);
      const count = readJournal(journal, from, { ...parts.identity, start, front }).length;
      if (count === 0) continue;
      throw new LedgerError(
        'refused',
        `${journal} holds ${count} commit(s) of a service that was killed, which a copy would lack: start the service, and back up then`,
      );
    }
  }

  async function copyTo(directory: string, compact: boolean): Promise<void> {
    if (existsSync(directory) && readdirSync(directory).length > 0) {
      throw new LedgerError('refused', `${directory} is not empty: a copy goes into a new folder`);
    }
    await following?.store();
    if (role === 'reader') await requireStored();
    // The copy takes the ledger's place after the journals are gone.
    if (compact) await parts.books.finishJournals(journalNames);
    makeFolder(directory);
    await raw.copyTo(directory, compact);
    chmodSync(join(directory, 'data.mdb'), 0o600); // LMDB makes it readable to all
    if (!compact) await yieldIn(directory, parts.clock);
    const { problems } = await parts.audit(directory);
    for (const name of ['lock.mdb', 'block-keys']) rmSync(join(directory, name), { force: true });
    if (problems.length > 0) {
      throw new LedgerError('damaged', `the copy in ${directory} is not sound: ${problems.join('; ')}`);
    }
    for (const name of [join(directory, 'data.mdb'), directory]) syncToDisk(name);
  }

  async function closeAll(): Promise<void> {
    try {
      await parts.owner?.drain();
      // stopped first: it reads a snapshot, and an audit that is not complete is repeated at the next start
      const isSound = (await parts.startAudit?.stop()) ?? true;
      parts.folderWatch?.stop();
      await parts.scrub?.stop();
      await following?.close();
      if (journals.length > 0 && isSound && writer.isRunning) {
        await parts.books.finishJournals(journalNames);
        for (const file of journals.flatMap(({ path }) => filesOf(path))) rmSync(file, { force: true });
      }
      writer.close();
    } finally {
      parts.blockKeys?.close();
      await raw.close();
      await parts.owner?.release();
    }
  }

  const upkeep = {
    async audit() {
      await following?.store();
      return auditTables(tables, raw.snapshot());
    },
    integrity: async () => ({
      startAudit: parts.startAudit?.state ?? 'none',
      scrub: parts.scrub?.state() ?? null,
      database: null,
    }),
    /**
     * Writers go on while the copy is made: it is one moment of the ledger, without its unclaimed blocks and
     * with its open jobs ended, since a restored copy would deliver their bits a second time.
     */
    async backup(directory: string) {
      const inside = relative(resolve(parts.path), resolve(directory));
      if (inside === '' || !(inside.startsWith('..') || isAbsolute(inside)))
        throw new LedgerError(
          'refused',
          `${directory} lies in the folder of the ledger: a backup goes into a folder outside of ${parts.path}`,
        );
      await copyTo(directory, false);
    },
  };
  const sources = sourcesIn(domain, ONLY_OWNER);
  const calls = callsOver(
    {
      directory: directoryIn(domain),
      entropy: lotsIn({ books: domain, folder, node: ONLY_OWNER.node }),
      sources,
      books: following ?? parts.books,
      draws: drawsIn(domain),
      log: following ?? parts.books,
      limits: SOLE_NODE,
      claims: SOLE_NODE,
      upkeep,
    },
    (call, rule) => {
      if (rule.server) requireServer(call);
      if (rule.room) space.require();
    },
  );
  const feed = new DirectoryFeed(calls.directoryChanges, parts.clock);
  const served = async (call: string, args: readonly unknown[]): Promise<Served> => {
    if (!isCommandCall(call))
      throw new LedgerError('refused', `${call} is no call for a command: ${COMMAND_CALLS.join(', ')} are`);
    const result = await (calls[call] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
    return { result, isConfirmed: await feed.push() };
  };
  if (isServing) parts.owner?.serve(served);
  let closed: Promise<void> | undefined;
  return {
    ...feed.over(calls),
    identity: parts.identity,
    failed: writer.failed,
    folder,
    journals,
    compactTo: (directory) => copyTo(directory, true),
    records: () => ({ tables, at: raw.snapshot() }),
    async abandonJobs(failure) {
      requireServer('abandonJobs');
      await sources.abandonJobs(failure);
    },
    close() {
      closed ??= closeAll();
      return closed;
    },
  };
}

/** What commands may call through the socket of the folder: each call can be made again and changes nothing twice. */
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
] as const satisfies readonly (keyof LedgerCalls)[];
export type CommandCall = (typeof COMMAND_CALLS)[number];

function isCommandCall(call: string): call is CommandCall {
  return (COMMAND_CALLS as readonly string[]).includes(call);
}
