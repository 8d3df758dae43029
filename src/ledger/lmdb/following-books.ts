import { setTimeout as sleep } from 'node:timers/promises';
import type { EncodedSegment, LogPut } from '../domain/books.ts';
import { unpackRecord } from '../front-journal.ts';
import type { JournalBoard, JournalPlace } from '../journal.ts';
import { JournalReader } from '../journal.ts';
import type { Books, LogStore } from '../ledger.ts';
import type { SegmentRecord, StoredAnswer } from '../records.ts';
import { decodeSegment, segmentIn } from '../segment.ts';
import type { JournalPosition, LmdbBooks } from './books.ts';
import type { FreeSpace } from './data-file.ts';
import type { GroupWriter } from './group-writer.ts';

/** A front that has looked whether the journals are closed acknowledges in the same turn of its loop. */
const CLOSED_WITHIN_MS = 50;

/** What was read from journals and is not yet in LMDB. */
interface Gathered {
  readonly segments: EncodedSegment[];
  readonly answers: StoredAnswer[];
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

function answerKey(accountNumber: number, keyDigest: string): string {
  return `${accountNumber} ${keyDigest}`;
}

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
  #gathered: Gathered = { segments: [], answers: [] };
  /** Encoded segments that are read and not yet in LMDB, by sequence. */
  readonly #segmentsAhead = new Map<number, Uint8Array>();
  /** Kept answers among them. */
  readonly #answersAhead = new Map<string, StoredAnswer>();
  /** Stores run one after the other. */
  #storing: Promise<void> = Promise.resolve();
  /** The one that waits for its turn. */
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
    if (this.#nextStore !== undefined) return this.#nextStore; // it has not begun, so it takes what is there now
    const store = this.#storing.then(() => {
      this.#nextStore = undefined;
      return this.#store();
    });
    store.catch(() => {}); // told to the caller, and to whoever waits for the writer's failure
    this.#storing = store;
    this.#nextStore = store;
    return store;
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
    this.#gather();
    const ahead = this.#segmentsAhead.get(sequence);
    if (ahead === undefined) return this.#options.books.segment(sequence);
    const segment = decodeSegment(ahead);
    if (segment.notes === undefined) return segment;
    await this.store(); // which numbers labelled answers
    return this.#options.books.segment(sequence);
  }

  /**
   * What is stored and not sealed, and then what is acknowledged: `putLog` stores that with its leaves. Labelled answers get their
   * numbers when they are stored, so they are stored first.
   */
  async unsealed(certificates: number): Promise<SegmentRecord[]> {
    await this.#storing; // what a store has taken is gathered no more, and not yet in LMDB
    this.#gather();
    if (this.#gathered.segments.some(hasNotes)) await this.store();
    const ahead = this.#gathered.segments.filter((each) => !hasNotes(each)).map(({ segment }) => segment);
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
    const stored = this.#storing.then(() => this.#store(put));
    this.#storing = stored.catch(() => {}); // told to the caller
    return stored;
  }

  async storedAnswer(accountNumber: number, keyDigest: string): Promise<StoredAnswer | undefined> {
    this.#gather();
    if (this.#answersAhead.has(answerKey(accountNumber, keyDigest))) await this.store();
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

  /** Reads what the fronts have acknowledged. After damage, which it throws, nothing is stored any more. */
  #gather(): void {
    if (this.#isClosed) return;
    try {
      for (const { reader, front } of this.#followed) {
        for (const payload of reader.readTo(this.#options.board.written(front))) this.#take(payload);
      }
    } catch (error) {
      throw this.#options.writer.stop(error);
    }
  }

  #take(payload: Uint8Array<ArrayBuffer>): void {
    const { segment: bytes, answers } = unpackRecord(payload);
    const segment = segmentIn(bytes, true); // the record's own sum covers it
    this.#gathered.segments.push({ segment, bytes });
    this.#segmentsAhead.set(segment.sequence, bytes);
    for (const answer of answers) {
      this.#gathered.answers.push(answer);
      this.#answersAhead.set(answerKey(answer.accountNumber, answer.keyDigest), answer);
    }
  }

  /** With what is put into the log in the same transaction, or else with all that is acknowledged. */
  async #store(put?: LogPut): Promise<void> {
    const { board, books, writer } = this.#options;
    const isNew = this.#followed.some(({ front }) => board.written(front) > board.stored(front));
    if (isNew) writer.requireRunning();
    if (isNew && put === undefined) this.#gather();
    const { segments, answers } = this.#gathered;
    if (segments.length === 0) return put && books.putLog(...put);
    this.#gathered = { segments: [], answers: [] };
    const positions = this.#followed.map(({ reader, front, name }) => {
      return { front, name, position: reader.position };
    });
    let refusal: Error | undefined;
    try {
      refusal = await books.store(segments, answers, positions satisfies JournalPosition[], put);
    } catch (error) {
      throw writer.stop(error); // what was gathered is acknowledged, and no later store would have it
    }
    for (const { front, position } of positions) board.setStored(front, position);
    this.#options.space.look();
    for (const { segment } of segments) this.#segmentsAhead.delete(segment.sequence);
    for (const answer of answers) {
      const key = answerKey(answer.accountNumber, answer.keyDigest);
      if (this.#answersAhead.get(key) === answer) this.#answersAhead.delete(key);
    }
    if (refusal !== undefined) throw refusal;
  }
}

function hasNotes({ segment }: EncodedSegment): boolean {
  return segment.notes !== undefined;
}
