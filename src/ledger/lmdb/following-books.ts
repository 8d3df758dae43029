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

/** Far longer than a turn of a front's loop, in which the front checks that the journals are open and then acknowledges. */
const CLOSED_WITHIN_MS = 50;

/** Segments and answers that were read from journals and are not yet in LMDB. */
interface Gathered {
  readonly segments: EncodedSegment[];
  readonly answers: StoredAnswer[];
  /** The answerKey of each answer. */
  readonly answerKeys: Set<string>;
}

const NOTHING = (): Gathered => ({ segments: [], answers: [], answerKeys: new Set() });

function answerKey({ accountNumber, keyDigest }: Pick<StoredAnswer, 'accountNumber' | 'keyDigest'>): string {
  return `${accountNumber} ${keyDigest}`;
}

/** One front's journal, and the name under which LMDB keeps its position. */
interface Followed {
  readonly reader: JournalReader;
  readonly front: number;
  readonly name: string;
}

export interface FollowingOptions {
  readonly books: LmdbBooks;
  readonly writer: GroupWriter;
  readonly board: JournalBoard;
  readonly space: FreeSpace;
  readonly journals: readonly { readonly name: string; readonly place: JournalPlace }[];
  readonly intervalMs: number;
}

/** Calls that first store what the journals hold, so that they see all that was acknowledged. */
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
 * The books of a server. Fronts acknowledge segments from journals of their own (front-journal.ts). This thread reads the
 * journals and stores new segments, in one transaction with the positions up to which the journals are stored: together with
 * their leaves when the log seals them, at once when a read needs them, and within two `intervalMs` in any case. Every read
 * sees all that was acknowledged before it. While nothing is new, nothing runs.
 */
export class FollowingBooks {
  readonly calls: Books & LogStore;
  readonly #options: FollowingOptions;
  readonly #followed: readonly Followed[];
  #gathered = NOTHING();
  /** Sequences that are about to be sealed. They are stored in runs of their own, because a run is sealed as a whole. */
  #leaving: ReadonlySet<number> = new Set();
  /** Runs reads of the journals and stores one after the other. */
  readonly #inTurn = inOrder();
  /** The store that waits for its turn. */
  #nextStore: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: FollowingOptions) {
    const { books } = options;
    this.#options = options;
    this.calls = {
      ...books, // `commit` stores at once, and the other calls read no answers
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

  /** Stores what the journals hold in LMDB. Rejects when that fails, as every later call then does. */
  store(): Promise<void> {
    this.#nextStore ??= this.#inTurn(() => {
      this.#nextStore = undefined;
      return this.#store();
    });
    return this.#nextStore; // it has not begun, so it stores all that is acknowledged by now
  }

  /** Makes the fronts acknowledge nothing more from journals, and stores all that the journals hold. */
  async closeJournals(): Promise<void> {
    this.#options.board.closeJournals();
    await sleep(CLOSED_WITHIN_MS);
    await this.store();
    await this.#options.books.finishJournals(this.#followed.map(({ name }) => name));
  }

  /** Stores everything, after the fronts have stopped writing. */
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
    if (segment !== undefined) await this.store(); // storing gives labelled answers their serials
    return this.#options.books.segment(sequence);
  }

  /**
   * Returns stored unsealed segments, and then acknowledged ones that are not stored yet: `putLog` stores those with their
   * leaves. Segments with labelled answers are stored first, because storing gives them their serials.
   */
  unsealed(certificates: number): Promise<SegmentRecord[]> {
    return this.#inTurn(async () => {
      const { segments: gathered } = this.#gather();
      if (gathered.some(({ segment }) => segment.notes !== undefined)) await this.#store();
      const segments = await this.#options.books.unsealed(certificates);
      let missing = segments.reduce((left, { count }) => left - count, certificates);
      const ahead = this.#gathered.segments
        .map(({ segment }) => segment)
        .sort((one, other) => one.sequence - other.sequence)
        .filter(({ count }) => (missing -= count) + count > 0);
      this.#leaving = new Set(ahead.map(({ sequence }) => sequence));
      return [...segments, ...ahead];
    });
  }

  /**
   * Stores the gathered segments and puts the records, which may seal them, in the same transaction. Segments acknowledged
   * since are left to the next put.
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

  /**
   * Runs until the ledger is closed. Stores at once when a front asks for it, and otherwise at the end of an interval when
   * something that was acknowledged before the interval is still not stored.
   */
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

  /** Reads what the fronts have acknowledged, and returns all that is not stored yet. Throws at damage, and stops the writer. */
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

  /** With `put`, stores the gathered segments and the put in one transaction. Without, gathers first and stores all. */
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
      throw writer.stop(error); // the gathered segments are acknowledged, and no later store would contain them
    }
    this.#gathered = NOTHING();
    for (const { front, position } of positions) board.setStored(front, position);
    this.#options.space.look();
    if (refusal !== undefined) throw refusal;
  }
}
