import type { Clock } from '../../core/clock.ts';
import { booksIn, type LogPut, type Writer } from '../domain/books.ts';
import { ONLY_OWNER } from '../domain/sources.ts';
import type { Books, LogStore } from '../ledger.ts';
import type { StoredAnswer } from '../records.ts';
import type { Run } from '../segment.ts';
import type { GroupWriter } from './group-writer.ts';
import type { LmdbStore } from './lmdb-store.ts';
import type { Tables } from './tables.ts';

/** Stands for a position: all of the journal is stored, and its files may be gone. */
export const JOURNAL_FINISHED = -1;

/** The position up to which a journal is stored. */
export interface JournalPosition {
  readonly name: string;
  readonly position: number;
}

const WRITER: Writer = { number: ONLY_OWNER.node, epoch: 0 };

/** The books of a folder, and the positions up to which they have the journals of its fronts. */
export interface LmdbBooks extends Books, LogStore {
  /**
   * Commits runs in one transaction with the positions that the journals are then stored up to and, with `put`, with
   * records of the log. Resolves with the error of a refused put: see Storing.
   */
  store(
    runs: readonly Run[],
    answers: readonly StoredAnswer[],
    journals?: readonly JournalPosition[],
    put?: LogPut,
  ): Promise<Error | undefined>;
  /** Returns the position or JOURNAL_FINISHED of each journal that this ledger lists, by name. */
  journalPositions(): Map<string, number>;
  /** Lists these journals in place of all others. Their files must be durable. */
  beginJournals(journals: readonly JournalPosition[]): Promise<void>;
  /** Notes that these journals are stored to their ends, so that their files may be removed. */
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
