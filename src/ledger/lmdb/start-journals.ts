import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncToDisk } from '../../core/files.ts';
import type { Log } from '../../core/log.ts';
import { runsOf } from '../domain/books.ts';
import { unpackRecord } from '../front-journal.ts';
import {
  createJournal,
  type Durability,
  fenceJournal,
  filesLeftIn,
  filesOf,
  JournalBoard,
  type JournalPlace,
  journalName,
  journalOf,
  lossOf,
  ownerOf,
  readJournal,
  recordsLeftIn,
} from '../journal.ts';
import { LedgerError, type LedgerIdentity } from '../ledger.ts';
import { JOURNAL_FINISHED } from './books.ts';
import { FollowingBooks, type FollowingOptions } from './following-books.ts';

/** Whether the folder has journals, which shows an unclean stop: a server that ends cleanly removes its own. */
export function hasJournals(path: string): boolean {
  return readdirSync(path).some((file) => journalOf(file) !== undefined);
}

export interface StartJournalsOptions extends Omit<FollowingOptions, 'board' | 'journals'> {
  readonly path: string;
  readonly log: Log;
  readonly identity: LedgerIdentity;
  readonly fronts: number;
  readonly durability: Durability;
  readonly fileBytes: number;
  /** See LmdbLedgerOptions. */
  readonly mayLackJournals: boolean;
}

/**
 * Stores what an unclean stop left in journals, and then creates the journals of this start. A fenced server that still runs
 * may write to its own journals, but acknowledges nothing of that, and nobody reads them any more.
 */
export async function startJournals(
  options: StartJournalsOptions,
): Promise<{ following: FollowingBooks; journals: readonly JournalPlace[] }> {
  const { path, log, books, writer, space, identity, fronts, durability, fileBytes, intervalMs } = options;
  await recoverJournals(options);
  await removeJournals(options);
  const board = JournalBoard.create(fronts);
  space.follow((isFull, freeBytes, freeBytesMin) => {
    board.setDiskFull(isFull);
    const facts = { free_bytes: freeBytes, free_bytes_min: freeBytesMin };
    if (isFull)
      log.error(
        facts,
        'ledger: the disk is nearly full: answers are refused until there is room; free some space',
      );
    else log.info(facts, 'ledger: the disk has room again: answers are given');
  });
  const journals = Array.from({ length: fronts }, (_, front) => {
    const name = journalName({ ...identity, front });
    const hasRoom = createJournal(join(path, name), { ...identity, front, durability, fileBytes });
    const place = { path: join(path, name), fileBytes: hasRoom ? fileBytes : 0, front, shared: board.shared };
    return { name, place, position: 0 };
  });
  syncToDisk(path);
  const followed = journals.filter(({ place }) => place.fileBytes > 0);
  await books.beginJournals(followed);
  const following = new FollowingBooks({ books, writer, board, space, journals: followed, intervalMs });
  return { following, journals: journals.map(({ place }) => place) };
}

/**
 * Stores what earlier journals hold. With `mayLackJournals`, stores whatever records it can read, and sets aside files that
 * belong to another ledger or start, or that contradict the data file.
 */
async function recoverJournals({ path, books, log, identity, mayLackJournals }: StartJournalsOptions) {
  let recovered = 0;
  for (const [name, from] of await books.journalPositions()) {
    if (from === JOURNAL_FINISHED) continue;
    const journal = join(path, name);
    fenceJournal(journal);
    const owner = ownerOf(name, identity.ledgerId);
    const files = filesLeftIn(journal, owner);
    if (mayLackJournals)
      for (const file of files) if (file.isForeign) setAside(file.path, 'is of another ledger or start', log);
    const left = mayLackJournals
      ? recordsLeftIn(
          files.filter(({ isForeign }) => !isForeign),
          from,
        )
      : readJournal(files, from);
    const records = left.map(({ payload }) => unpackRecord(payload));
    try {
      await books.store(
        runsOf(records.map(({ segment }) => segment)),
        records.flatMap(({ answers }) => answers),
        [{ name, position: JOURNAL_FINISHED }],
      );
    } catch (error) {
      // only an operator can tell whether the journal or the data file is right
      if (!(error instanceof LedgerError && error.reason === 'conflict')) throw error;
      const why = `does not fit the data file (${error.message})`;
      if (!mayLackJournals) throw lossOf(journal, why);
      for (const file of filesOf(journal)) if (existsSync(file)) setAside(file, why, log);
      await books.finishJournals([name]);
      continue;
    }
    recovered += records.length;
  }
  if (recovered > 0)
    log.warn(
      { commits: recovered },
      'ledger: stored the commits that an unclean stop had left in the journals',
    );
}

/** Renames a journal file, so that no later start looks at it. */
function setAside(file: string, why: string, log: Log): void {
  renameSync(file, `${file}.foreign`);
  log.error(
    { journal: file, keptAs: `${file}.foreign` },
    `ledger: a journal file ${why}: nothing of it is stored, and it is kept under another name`,
  );
}

/** Removes journal files that are stored or that a killed start left empty. Refuses or sets aside any other. */
async function removeJournals({ path, books, log, identity, mayLackJournals }: StartJournalsOptions) {
  const known = await books.journalPositions();
  for (const file of readdirSync(path)) {
    const name = journalOf(file);
    if (name === undefined) continue;
    const at = join(path, file);
    const files = filesLeftIn(join(path, name), ownerOf(name, identity.ledgerId));
    const isForeign = files.some((each) => each.path === at && each.isForeign);
    const isStored = known.has(name) && !isForeign;
    if (isStored || recordsLeftIn(files, 0).length === 0) rmSync(at);
    else if (!mayLackJournals) throw lossOf(at, 'is of another state of the ledger than the data file');
    else setAside(at, 'is of another state of the ledger', log);
  }
  syncToDisk(path);
}
