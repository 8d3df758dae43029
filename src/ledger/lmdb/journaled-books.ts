import { setImmediate as nextTurn } from 'node:timers/promises';
import { pack, unpack } from 'msgpackr';
import type { Journal } from '../journal.ts';
import type { Books } from '../ledger.ts';
import type { Balance, RateRecord, SegmentRecord, StoredAnswer, UsageDay } from '../records.ts';
import { decodeSegment } from '../segment.ts';
import { type EncodedSegment, encoded, type LmdbBooks } from './books.ts';
import type { GroupWriter } from './group-writer.ts';

export type Durability = 'fsync' | 'commit';

/**
 * How long what is acknowledged may wait for the ledger's own commit, in milliseconds. With `commit` nothing
 * else brings it to disk: a power cut loses this much of certificates and counters.
 */
const STORE_INTERVAL_MS: Readonly<Record<Durability, number>> = { fsync: 25, commit: 10 };

/** What one generation of the journal holds. */
interface Generation {
  readonly segments: EncodedSegment[];
  readonly answers: StoredAnswer[];
  /** Resolves when LMDB has it all. */
  readonly stored: PromiseWithResolvers<void>;
}

function newGeneration(): Generation {
  return { segments: [], answers: [], stored: Promise.withResolvers() };
}

function answerKey(accountNumber: number, keyDigest: string): string {
  return `${accountNumber} ${keyDigest}`;
}

/**
 * The books as a server keeps them. A commit is acknowledged when it stands in the journal: appended for
 * durability
 * `commit`, which survives a killed process, and flushed for `fsync`, which survives a power cut. LMDB takes it over in
 * one transaction every STORE_INTERVAL_MS, or at once where a read needs it. Claims, lots, accounts and all
 * else wait for LMDB's own commit in either case. Reads see what is acknowledged.
 *
 * A commit that the half of the journal has no room for waits for LMDB. So does the front behind it, which
 * sheds when too many of its answers wait.
 */
export class JournaledBooks implements Books {
  readonly #books: LmdbBooks;
  readonly #journal: Journal;
  readonly #writer: GroupWriter;
  readonly #durability: Durability;
  readonly #requireOwned: () => void;
  /** The highest sequence seen; one above it cannot be a repeat. */
  #last: number;
  #gathering = newGeneration();
  /** Encoded segments in the journal and not yet in LMDB, by sequence. */
  readonly #ahead = new Map<number, { readonly bytes: Uint8Array; acknowledged: boolean }>();
  /** Answers among them, by account and digest. */
  readonly #answersAhead = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  /**
   * Generations are stored one after the other: the journal has two halves, one gathering and one being
   * stored.
   */
  #stored: Promise<void> = Promise.resolve();
  /** The flush of the journal that is under way, and the one that follows it. */
  #flushing: Promise<void> = Promise.resolve();
  #nextFlush: Promise<void> | undefined;

  constructor(options: {
    books: LmdbBooks;
    journal: Journal;
    writer: GroupWriter;
    durability: Durability;
    /** The highest sequence stored. */
    last: number;
    /** Throws when another server took the folder. */
    requireOwned: () => void;
  }) {
    this.#books = options.books;
    this.#journal = options.journal;
    this.#writer = options.writer;
    this.#durability = options.durability;
    this.#last = options.last;
    this.#requireOwned = options.requireOwned;
  }

  async nextSegment(): Promise<number> {
    return this.#last + 1;
  }

  async commit(segments: readonly SegmentRecord[], answers: readonly StoredAnswer[]): Promise<void> {
    this.#writer.requireRunning();
    const all = segments.map(encoded); // checks them: a flaw is the caller's bug and must not stop a whole group
    // A segment that may be a repeat, and a commit too large for the journal, go to LMDB before they are
    // acknowledged.
    if (!this.#areNew(segments) || !this.#append(pack([all.map(({ bytes }) => bytes), answers]))) {
      await this.store();
      await this.#books.store(all, answers);
      for (const { sequence } of segments) this.#last = Math.max(this.#last, sequence);
      return;
    }
    const generation = this.#gathering;
    for (const { segment, bytes } of all) {
      this.#ahead.set(segment.sequence, { bytes, acknowledged: false });
      this.#last = Math.max(this.#last, segment.sequence);
    }
    generation.segments.push(...all);
    generation.answers.push(...answers);
    for (const { accountNumber, keyDigest } of answers)
      this.#answersAhead.add(answerKey(accountNumber, keyDigest));
    this.#timer ??= setTimeout(() => {
      this.store().catch((error) => this.#writer.stop(error));
    }, STORE_INTERVAL_MS[this.#durability]);
    // With `commit` acknowledged in the next turn: a caller that commits in a loop must not keep the event
    // loop busy.
    const journaled = this.#durability === 'fsync' ? this.#flushJournal() : nextTurn();
    await Promise.race([journaled, generation.stored.promise]);
    this.#requireFolder();
    for (const { sequence } of segments) {
      const ahead = this.#ahead.get(sequence);
      if (ahead !== undefined) ahead.acknowledged = true;
    }
  }

  /** Brings to LMDB what is in the journal. Rejects, as every later call does, when LMDB cannot take it. */
  store(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stored = this.#stored.then(() => this.#store());
    return this.#stored;
  }

  /**
   * The clean end: stores everything and closes the journal. Rejects when LMDB cannot take it. A journal that
   * is kept has nothing to repeat and makes the next start audit the ledger.
   */
  async close({ keepsJournal }: { keepsJournal: boolean }): Promise<void> {
    try {
      await this.store();
      if (!keepsJournal) this.#journal.remove();
    } finally {
      await this.#flushing.catch(() => {}); // told to those who waited for it
      this.#journal.close();
    }
  }

  async segment(sequence: number): Promise<SegmentRecord | undefined> {
    const ahead = this.#ahead.get(sequence);
    return ahead?.acknowledged ? decodeSegment(ahead.bytes) : this.#books.segment(sequence);
  }

  async segmentsFrom(from: number, limit: number): Promise<SegmentRecord[]> {
    await this.store();
    return this.#books.segmentsFrom(from, limit);
  }

  async balances(period: number): Promise<Balance[]> {
    await this.store();
    return this.#books.balances(period);
  }

  async latestPeriod(): Promise<number> {
    await this.store();
    return this.#books.latestPeriod();
  }

  async usage(accountNumber: number, sinceDay: number): Promise<UsageDay[]> {
    await this.store();
    return this.#books.usage(accountNumber, sinceDay);
  }

  saveRates(rates: readonly RateRecord[]): Promise<void> {
    return this.#books.saveRates(rates);
  }

  async loadRates(sinceMs: number): Promise<RateRecord[]> {
    await this.store();
    return this.#books.loadRates(sinceMs);
  }

  async storedAnswer(accountNumber: number, keyDigest: string): Promise<StoredAnswer | undefined> {
    if (this.#answersAhead.has(answerKey(accountNumber, keyDigest))) await this.store();
    return this.#books.storedAnswer(accountNumber, keyDigest);
  }

  async expire(nowMs: number, segmentsBeforeMs: number): Promise<{ answers: number; segments: number }> {
    await this.store();
    return this.#books.expire(nowMs, segmentsBeforeMs);
  }

  async segmentSpan(): Promise<{ oldestMs: number; newestMs: number } | undefined> {
    await this.store();
    return this.#books.segmentSpan();
  }

  probe(): Promise<void> {
    return this.#books.probe();
  }

  /** False when one may be a repeat. Several fronts commit at once, so sequences do not come in order. */
  #areNew(segments: readonly SegmentRecord[]): boolean {
    const seen = new Set<number>();
    for (const { sequence } of segments) {
      if (seen.has(sequence) || this.#ahead.has(sequence)) return false;
      if (sequence <= this.#last && !this.#books.mayTake(sequence)) return false;
      seen.add(sequence);
    }
    return true;
  }

  /**
   * A server that takes the folder over counts the epoch up before it reads this journal: with the old epoch
   * after the append, the record will be read.
   */
  #requireFolder(): void {
    try {
      this.#requireOwned();
    } catch (error) {
      throw this.#writer.stop(error);
    }
  }

  /** False when the journal has no room. An error of the disk stops the ledger. */
  #append(record: Uint8Array): boolean {
    try {
      return this.#journal.append(record);
    } catch (error) {
      throw this.#writer.stop(error);
    }
  }

  /**
   * Resolves when everything appended before the call is on disk. One flush runs at a time; who comes
   * meanwhile shares the next.
   */
  #flushJournal(): Promise<void> {
    this.#nextFlush ??= this.#flushing.then(() => {
      this.#nextFlush = undefined;
      this.#flushing = this.#journal.flush().catch((error) => {
        throw this.#writer.stop(error);
      });
      return this.#flushing;
    });
    return this.#nextFlush;
  }

  async #store(): Promise<void> {
    const generation = this.#gathering;
    const { segments, answers, stored } = generation;
    if (segments.length === 0 && answers.length === 0) return;
    this.#gathering = newGeneration();
    const turned = this.#journal.turn();
    await this.#books.store(segments, answers);
    stored.resolve();
    this.#journal.settle(turned);
    for (const { segment } of segments) this.#ahead.delete(segment.sequence);
    const gathered = new Set(
      this.#gathering.answers.map(({ accountNumber, keyDigest }) => answerKey(accountNumber, keyDigest)),
    );
    for (const { accountNumber, keyDigest } of answers) {
      const key = answerKey(accountNumber, keyDigest);
      if (!gathered.has(key)) this.#answersAhead.delete(key);
    }
  }
}

/**
 * Stores what a killed process left in its journal, in one transaction. Segments that LMDB has already are
 * repeats and change nothing.
 */
export async function replayJournal(books: Books, records: readonly Uint8Array[]): Promise<void> {
  await Promise.all(
    records.map((record) => {
      const [segments, answers] = unpack(record) as [Uint8Array[], StoredAnswer[]];
      return books.commit(
        segments.map((bytes) => decodeSegment(bytes)),
        answers.map((answer) => ({ ...answer, sealed: new Uint8Array(answer.sealed) })),
      );
    }),
  );
}
