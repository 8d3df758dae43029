import type { Clock } from '../../core/clock.ts';
import { booksIn, type LogPut, type Writer } from '../domain/books.ts';
import { ONLY_OWNER } from '../domain/sources.ts';
import type { Books, LogStore } from '../ledger.ts';
import type { StoredAnswer } from '../records.ts';
import type { Run } from '../segment.ts';
import type { GroupWriter } from './group-writer.ts';
import type { LmdbStore } from './lmdb-store.ts';
import type { Tables } from './tables.ts';

/** In place of a position: all of the journal is stored, and its file may be gone. */
export const JOURNAL_FINISHED = -1;

/** How far the journal of this name is stored. */
export interface JournalPosition {
  readonly name: string;
  readonly position: number;
}

const WRITER: Writer = { number: ONLY_OWNER.node, epoch: 0 };

/** The books of a folder, and how far the journals of its fronts are stored in them. */
export interface LmdbBooks extends Books, LogStore {
  /**
   * As commit, of runs, together with the positions up to which journals are stored by that, and with what is put into
   * the log. Gives the refusal of the put: see Storing.
   */
  store(
    runs: readonly Run[],
    answers: readonly StoredAnswer[],
    journals?: readonly JournalPosition[],
    put?: LogPut,
  ): Promise<Error | undefined>;
  /** The position up to which each journal that this ledger knows is stored, or JOURNAL_FINISHED, by name. */
  journalPositions(): Map<string, number>;
  /** Makes these the journals of this ledger, and forgets all others. Their files are there, durably. */
  beginJournals(journals: readonly JournalPosition[]): Promise<void>;
  /** Notes that all of these journals is stored: their files may go. */
  finishJournals(names: readonly string[]): Promise<void>;
}

export function lmdbBooksIn(
  domain: LmdbStore,
  { meta }: Tables,
  writer: GroupWriter,
  clock: Clock,
): LmdbBooks {
  const putPositions = (journals: readonly JournalPosition[]) => {
    for (const { name, position } of journals) meta.put(`journal/${name}`, position);
  };
  const journalPositions = () => {
    const known = meta.entries({ from: 'journal/', before: 'journal0' });
    return new Map([...known].map(({ key, value }) => [key.slice('journal/'.length), value]));
  };
  const { storing, ...books } = booksIn(domain, clock, WRITER);
  return {
    ...books,

    store: (runs, answers, journals = [], put) =>
      writer.submit(() => {
        const refusal = domain.within(storing(runs, answers, put));
        putPositions(journals);
        return refusal;
      }),

    journalPositions,

    beginJournals: (journals) =>
      writer.submit(() => {
        for (const name of journalPositions().keys()) meta.remove(`journal/${name}`);
        putPositions(journals);
      }),

    finishJournals: (names) =>
      writer.submit(() => putPositions(names.map((name) => ({ name, position: JOURNAL_FINISHED })))),
  };
}
