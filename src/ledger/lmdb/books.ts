import type { Clock } from '../../core/clock.ts';
import { booksIn, type LogPut, type Writer } from '../domain/books.ts';
import { ONLY_OWNER } from '../domain/sources.ts';
import type { Books, LogStore } from '../ledger.ts';
import type { StoredAnswer } from '../records.ts';
import type { Run } from '../segment.ts';
import { type Body, type Store, tx } from '../store.ts';
import { META, type MetaName } from './tables.ts';

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
  journalPositions(): Promise<Map<string, number>>;
  /** Lists these journals in place of all others. Their files must be durable. */
  beginJournals(journals: readonly JournalPosition[]): Promise<void>;
  /** Notes that these journals are stored to their ends, so that their files may be removed. */
  finishJournals(names: readonly string[]): Promise<void>;
}

export function lmdbBooksIn(store: Store, clock: Clock): LmdbBooks {
  const { storing, ...books } = booksIn(store, clock, WRITER);
  return {
    ...books,

    store: (runs, answers, journals = [], put) =>
      store.write([], function* () {
        const refusal = yield* storing(runs, answers, put);
        yield* putPositions(journals);
        return refusal;
      }),

    journalPositions: () => store.read(positions),

    beginJournals: (journals) =>
      store.write([], function* () {
        yield* tx.remove(META, [...(yield* positions()).keys()].map(nameOf));
        yield* putPositions(journals);
      }),

    finishJournals: (names) =>
      store.write([], () => putPositions(names.map((name) => ({ name, position: JOURNAL_FINISHED })))),
  };
}

function nameOf(journal: string): MetaName {
  return `journal/${journal}`;
}

function* putPositions(journals: readonly JournalPosition[]): Body<void> {
  yield* tx.putAll(
    META,
    journals.map(({ name, position }) => [nameOf(name), position]),
  );
}

function* positions(): Body<Map<string, number>> {
  const known = yield* tx.range(META, { from: 'journal/', before: 'journal0' });
  return new Map(known.map(({ key, value }) => [key.slice('journal/'.length), value]));
}
