import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../core/log.ts';
import { syncFolder } from '../block-keys.ts';
import { unpackRecord } from '../front-journal.ts';
import {
  createJournal,
  fenceJournal,
  isDraftJournal,
  isJournal,
  JournalBoard,
  type JournalFault,
  type JournalPlace,
  journalName,
  newJournalOwner,
  readLeftover,
  setAside,
} from '../journal.ts';
import { LedgerError } from '../ledger.ts';
import { decodeSegment } from '../segment.ts';
import { JOURNAL_FINISHED, type LmdbBooks } from './books.ts';
import type { FreeSpace } from './data-file.ts';
import { FollowingBooks } from './following-books.ts';
import type { GroupWriter } from './group-writer.ts';

/** The journals of a server that did not end cleanly: a clean end removes its own. */
export function journalsIn(path: string): string[] {
  return readdirSync(path).filter(isJournal);
}

export interface StartJournalsOptions {
  readonly path: string;
  /** What journalsIn found. */
  readonly names: readonly string[];
  readonly log: Log;
  readonly books: LmdbBooks;
  readonly writer: GroupWriter;
  readonly space: FreeSpace;
  readonly epoch: number;
  readonly fronts: number;
  readonly ringBytes: number;
  /** See FollowingBooks. */
  readonly intervalMs: number;
  /** See LmdbLedgerOptions. */
  readonly mayLackJournals: boolean;
}

/**
 * Stores what an unclean stop left in journals, then begins those of this start. A server that was fenced off while it
 * lived may still write into its own, which nobody reads any more, and acknowledges nothing of that.
 */
export async function startJournals(
  options: StartJournalsOptions,
): Promise<{ following: FollowingBooks; journals: readonly JournalPlace[] }> {
  const { path, names, log, books, writer, space, epoch, fronts, ringBytes, intervalMs } = options;
  if (!options.mayLackJournals) requireJournals(options);
  const kept = await recoverJournals(options);
  for (const name of names) {
    const file = join(path, name);
    const why = kept.get(name);
    if (why === undefined) rmSync(file);
    else setAside(file, why);
  }
  for (const name of readdirSync(path).filter(isDraftJournal)) rmSync(join(path, name));
  syncFolder(path);
  const board = JournalBoard.create(fronts);
  space.follow((isFull, freeBytes, freeBytesMin) => {
    board.setDiskFull(isFull);
    const facts = { free_bytes: freeBytes, free_bytes_min: freeBytesMin };
    if (isFull)
      log.error(
        facts,
        'ledger: the disk is nearly full: answers are refused until there is room; free some space',
      );
    else log.info(facts, 'ledger: the disk has room again');
  });
  const owner = newJournalOwner();
  const journals = Array.from({ length: fronts }, (_, front) => {
    const name = journalName(epoch, front);
    const file = join(path, name);
    const hasRoom = createJournal(file, ringBytes, owner);
    const place = { path: file, ringBytes: hasRoom ? ringBytes : 0, front, shared: board.shared };
    return { name, place, position: hasRoom ? 0 : JOURNAL_FINISHED };
  });
  syncFolder(path);
  await books.beginJournals(journals, owner);
  const followed = journals.filter(({ position }) => position !== JOURNAL_FINISHED);
  const following = new FollowingBooks({ books, writer, board, space, journals: followed, intervalMs });
  return { following, journals: journals.map(({ place }) => place) };
}

/** Gives those that must be kept, by name, and why. */
async function recoverJournals({
  path,
  names,
  books,
  log,
}: StartJournalsOptions): Promise<Map<string, JournalFault>> {
  const kept = new Map<string, JournalFault>();
  const known = books.journalPositions();
  let recovered = 0;
  for (const name of names) {
    const from = known.get(name);
    if (from === JOURNAL_FINISHED) continue;
    const file = join(path, name);
    fenceJournal(file);
    const { owner, payloads, damage, isTorn } = readLeftover(file, from ?? 0);
    if (from === undefined) {
      // Of a start that was killed before it began; or the data file was put in the place of the one that it belongs to.
      if (payloads.length === 0) continue;
      log.error(
        { journal: file, keptAs: `${file}.foreign` },
        'ledger: a journal is not of this ledger, or of another state of it; nothing of it was stored',
      );
      kept.set(name, 'foreign');
      continue;
    }
    // Names repeat from ledger to ledger, and the numbers of its segments may be new to this one.
    if (owner !== undefined && owner !== books.journalOwner()) {
      throw conflictOf(new LedgerError('conflict', 'it was written for another ledger'), file, path);
    }
    const records = payloads.map(unpackRecord);
    const segments = records.map(({ segment: bytes }) => ({ segment: decodeSegment(bytes), bytes }));
    const answers = records.flatMap((record) => record.answers);
    // One that is damaged is not finished before it has its other name: a start that is killed reports it again.
    const position = damage === undefined ? JOURNAL_FINISHED : from;
    try {
      await books.store(segments, answers, [{ name, position }]);
    } catch (error) {
      throw conflictOf(error, file, path);
    }
    recovered += records.length;
    if (damage !== undefined) {
      log.error(
        { journal: file, damage, keptAs: `${file}.damaged` },
        'ledger: acknowledged answers of a journal are lost to damage of the disk; the rest was recovered',
      );
      kept.set(name, 'damaged');
    } else if (isTorn) {
      log.warn(
        { journal: file },
        'ledger: the last record of a journal was being written and was not acknowledged',
      );
    }
  }
  if (recovered > 0) {
    log.warn({ commits: recovered }, 'ledger: recovered commits that an unclean stop left in the journals');
  }
  return kept;
}

/** Throws `unusable` when a journal that was neither finished nor recovered is gone, or was cut to nothing. */
function requireJournals({ path, books }: StartJournalsOptions): void {
  for (const [name, position] of books.journalPositions()) {
    const file = join(path, name);
    if (position === JOURNAL_FINISHED || existsSync(`${file}.damaged`)) continue;
    const what = !existsSync(file) ? 'missing' : statSync(file).size === 0 ? 'empty' : undefined;
    if (what === undefined) continue;
    throw new LedgerError(
      'unusable',
      `${file} is ${what}, and acknowledged answers that only it held are lost without it: put it back, or take the folder as it lies ` +
        `with \`qrn ledger restore ${path}\``,
    );
  }
}

/** Nothing is stored when the journal and the data file disagree; which of the two is right only an operator knows. */
function conflictOf(error: unknown, file: string, path: string): unknown {
  if (!(error instanceof LedgerError && error.reason === 'conflict')) return error;
  return new LedgerError(
    'unusable',
    `${file} does not fit the data file (${error.message}): one of them was replaced. Put the files of ${path} back as one ` +
      'copy that was made while the service was stopped, or restore a backup with `qrn ledger restore`',
    { cause: error },
  );
}
