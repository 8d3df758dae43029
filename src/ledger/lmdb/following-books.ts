import { setTimeout as sleep } from 'node:timers/promises';
import { inOrder } from '../../core/in-order.ts';
import { type LogPut, runsOf } from '../domain/books.ts';
import { unpackRecord } from '../front-journal.ts';
import type { JournalBoard, JournalPlace } from '../journal.ts';
import { JournalReader } from '../journal.ts';
import type { Books, LogStore } from '../ledger.ts';
import type { SegmentRecord, StoredAnswer } from '../records.ts';
import type { EncodedSegment } from '../segment.ts';
import type { JournalPosition, LmdbBooks } from './books.ts';
import type { FreeSpace } from './data-file.ts';
import type { GroupWriter } from './group-writer.ts';

/** A front that has looked whether the journals are closed acknowledges in the same turn of its loop. */
const CLOSED_WITHIN_MS = 50;

/** What was read from journals and is not yet in LMDB. */
interface Gathered {
  readonly segments: EncodedSegment[];
  readonly answers: StoredAnswer[];
  /** Accounts and keys of those answers. */
  readonly answerKeys: Set<string>;
}

const NOTHING = (): Gathered => ({ segments: [], answers: [], answerKeys: new Set() });

function answerKey({ accountNumber, keyDigest }: Pick<StoredAnswer, 'accountNumber' | 'keyDigest'>): string {
  return `${accountNumber} ${keyDigest}`;
}

/** One front's journal, and the name of its position in LMDB. */
interface Followed {
  readonly reader: JournalReader;
  readonly front: number;
  readonly name: string;
}

interface FollowingOptions {
  readonly books: LmdbBooks;
  readonly writer: GroupWriter;
  readonly board: JournalBoard;
  readonly space: FreeSpace;
  readonly journals: readonly { readonly name: string; readonly place: JournalPlace }[];
  readonly intervalMs: number;
}

/** Calls that see all that was acknowledged because it is stored first. */
const AFTER_STORE = [
  'seriesPage',
  'segmentsFrom',
  'balances',
  'usage',
  'loadRates',
  'storedAnswerSizes',
  'expire',
  'segmentSpan',
] as const satisfies readonly (keyof Books)[];

/**
 * The books as a server keeps them. Fronts acknowledge their segments from journals of their own (front-journal.ts). This
 * thread reads the journals and stores what is new in one transaction with its leaves, or at once where a read needs it,
 * and within two `intervalMs` in any case, together with the position up to which each journal is stored. Every read sees all that was acknowledged before it. While
 * nothing is new, nothing runs.
 */
export class FollowingBooks {
  readonly calls: Books & LogStore;
  readonly #options: FollowingOptions;
  readonly #followed: readonly Followed[];
  #gathered = NOTHING();
  /** Of those segments the ones that are about to be sealed. They are stored in runs of their own, for a run is sealed as a whole. */
  #leaving: ReadonlySet<number> = new Set();
  /** Of what reads the journals or stores what was read. */
  readonly #inTurn = inOrder();
  /** The store that waits for its turn. */
  #nextStore: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: FollowingOptions) {
    const { books } = options;
    this.#options = options;
    this.calls = {
      ...books, // a commit stores at once, and the rest holds no answers
      ...Object.fromEntries(AFTER_STORE.map((name) => [name, this.#afterStore(books[name])])),
      segment: (sequence) => this.segment(sequence),
      unsealed: (certificates) => this.unsealed(certificates),
      storedAnswer: (...key) => this.storedAnswer(...key),
      putLog: (...put) => this.putLog(...put),
    };
    this.#followed = options.journals.map(({ name, place }) => ({
      reader: new JournalReader(place),
      front: place.front,
      name,
    }));
    void this.#follow();
  }

  /**
   * Brings to LMDB what the journals hold. Rejects, as every later call does, when LMDB cannot take it.
   */
  store(): Promise<void> {
    this.#nextStore ??= this.#inTurn(() => {
      this.#nextStore = undefined;
      return this.#store();
    });
    return this.#nextStore; // it has not begun, so it takes what is there now
  }

  /** Has the fronts acknowledge nothing more from journals, and stores all that they had. Rejects when LMDB cannot take it. */
  async closeJournals(): Promise<void> {
    this.#options.board.closeJournals();
    await sleep(CLOSED_WITHIN_MS);
    await this.store();
    await this.#options.books.finishJournals(this.#followed.map(({ name }) => name));
  }

  /** Stores everything; the fronts write no more. Rejects when LMDB cannot take it. */
  async close(): Promise<void> {
    try {
      await this.store();
    } finally {
      this.#isClosed = true;
      this.#options.board.wake(true); // ends the loop
      for (const { reader } of this.#followed) reader.close();
    }
  }

  async segment(sequence: number): Promise<SegmentRecord | undefined> {
    const { segments } = await this.#inTurn(async () => this.#gather());
    const segment = segments.find((each) => each.segment.sequence === sequence)?.segment;
    if (segment !== undefined && segment.notes === undefined)
      return { ...segment, entries: segment.entries.slice() };
    if (segment !== undefined) await this.store(); // which numbers labelled answers
    return this.#options.books.segment(sequence);
  }

  /**
   * What is stored and not sealed, and then what is acknowledged: `putLog` stores that with its leaves. Labelled answers get their
   * numbers when they are stored, so they are stored first.
   */
  async unsealed(certificates: number): Promise<SegmentRecord[]> {
    const gathered = await this.#inTurn(async () => {
      const segments = this.#gather().segments.map(({ segment }) => segment);
      this.#leaving = new Set(segments.map(({ sequence }) => sequence));
      return segments;
    });
    const ahead = gathered.filter(({ notes }) => notes === undefined);
    if (ahead.length < gathered.length) await this.store();
    const segments = await this.#options.books.unsealed(certificates);
    const stored = new Set(segments.map(({ sequence }) => sequence));
    let missing = segments.reduce((left, { count }) => left - count, certificates);
    for (const segment of ahead.sort((a, b) => a.sequence - b.sequence)) {
      if (missing <= 0) break;
      if (stored.has(segment.sequence)) continue; // since it was looked for
      segments.push(segment);
      missing -= segment.count;
    }
    return segments;
  }

  /**
   * Stores what was read of the journals, and puts the records in the same transaction: they may seal it. What was acknowledged
   * since is left to the next put, which seals it.
   */
  putLog(...put: LogPut): Promise<void> {
    return this.#inTurn(() => this.#store(put));
  }

  async storedAnswer(accountNumber: number, keyDigest: string): Promise<StoredAnswer | undefined> {
    const { answerKeys } = await this.#inTurn(async () => this.#gather());
    if (answerKeys.has(answerKey({ accountNumber, keyDigest }))) await this.store();
    return this.#options.books.storedAnswer(accountNumber, keyDigest);
  }

  #afterStore(call: (...args: never[]) => Promise<unknown>) {
    return async (...args: never[]) => {
      await this.store();
      return call(...args);
    };
  }

  /** Until the ledger is closed or fails, stores at once where a front asks for it, and else what an interval did not store. */
  async #follow(): Promise<void> {
    const { board, intervalMs, writer } = this.#options;
    let due = this.#followed.map(() => 0);
    for (;;) {
      const isUrgent = await board.awaitWork(intervalMs);
      if (this.#isClosed) return;
      if (isUrgent || this.#followed.some(({ front }, i) => board.stored(front) < due[i]))
        await this.store().catch((error) => writer.stop(error));
      due = this.#followed.map(({ front }) => board.written(front));
      if (this.#followed.some(({ front }, i) => board.stored(front) < due[i])) board.wake(false);
    }
  }

  /** Reads what the fronts have acknowledged; gives all that waits. After damage, which it throws, nothing is stored any more. */
  #gather(): Gathered {
    if (this.#isClosed) return this.#gathered;
    const { board, writer } = this.#options;
    let before: EncodedSegment | undefined;
    try {
      for (const { reader, front } of this.#followed) {
        for (const payload of reader.readTo(board.written(front))) {
          const { segment, answers } = unpackRecord(payload, before);
          before = segment;
          this.#gathered.segments.push(segment);
          this.#gathered.answers.push(...answers);
          for (const each of answers) this.#gathered.answerKeys.add(answerKey(each));
        }
      }
    } catch (error) {
      throw writer.stop(error);
    }
    return this.#gathered;
  }

  /** With what is put into the log in the same transaction, or else with all that is acknowledged. */
  async #store(put?: LogPut): Promise<void> {
    const { board, books, writer } = this.#options;
    const isNew = this.#followed.some(({ front }) => board.written(front) > board.stored(front));
    if (isNew) writer.requireRunning();
    if (isNew && put === undefined) this.#gather();
    const { segments, answers } = this.#gathered;
    if (segments.length === 0) return put && books.putLog(...put);
    const positions = this.#followed.map(({ reader, front, name }) => {
      return { front, name, position: reader.position };
    });
    let refusal: Error | undefined;
    try {
      const runs = runsOf(segments, put?.[1] === undefined ? this.#leaving : new Set(put[1].sealed));
      refusal = await books.store(runs, answers, positions satisfies JournalPosition[], put);
    } catch (error) {
      throw writer.stop(error); // what was gathered is acknowledged, and no later store would have it
    }
    this.#gathered = NOTHING();
    for (const { front, position } of positions) board.setStored(front, position);
    this.#options.space.look();
    if (refusal !== undefined) throw refusal;
  }
}
