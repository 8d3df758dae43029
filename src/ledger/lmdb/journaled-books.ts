import { setImmediate as nextTurn } from 'node:timers/promises';
import { pack, unpack } from 'msgpackr';
import type { Journal } from '../journal.ts';
import type { Books } from '../ledger.ts';
import type { Balance, RateRecord, SegmentRecord, StoredAnswer, UsageDay } from '../records.ts';
import { decodeSegment, encodeSegment } from '../segment.ts';

interface Acknowledged {
  readonly segments: SegmentRecord[];
  readonly answers: StoredAnswer[];
}

/**
 * Durability `commit`: a commit is acknowledged when it stands in the journal (killing the process loses nothing) and
 * reaches the disk with the ledger's next commit, at most `intervalMs` later, so a power cut may lose that much of
 * certificates and counters. LMDB itself keeps its full fsync: what the journal takes over is the waiting, so claims,
 * lots and accounts are on disk before they are acknowledged in either mode. Reads see what is acknowledged.
 */
export class JournaledBooks implements Books {
  readonly #books: Books;
  readonly #journal: Journal;
  readonly #intervalMs: number;
  readonly #requireRunning: () => void;
  readonly #stop: (error: unknown) => void;
  /** The highest sequence seen; one above it cannot be a repeat. */
  #last: number;
  #gathering: Acknowledged = { segments: [], answers: [] };
  /** Encoded segments acknowledged and not yet on disk, by sequence. */
  readonly #ahead = new Map<number, Uint8Array>();
  #timer: NodeJS.Timeout | undefined;
  /** Flushes follow one another: the journal has two halves, one gathering and one being flushed. */
  #flushed: Promise<void> = Promise.resolve();

  /** `requireRunning` throws when the ledger has stopped; `stop` stops it when a flush fails. */
  private constructor(
    books: Books,
    journal: Journal,
    last: number,
    intervalMs: number,
    requireRunning: () => void,
    stop: (error: unknown) => void,
  ) {
    this.#books = books;
    this.#journal = journal;
    this.#last = last;
    this.#intervalMs = intervalMs;
    this.#requireRunning = requireRunning;
    this.#stop = stop;
  }

  static async over(
    books: Books,
    journal: Journal,
    intervalMs: number,
    requireRunning: () => void,
    stop: (error: unknown) => void,
  ): Promise<JournaledBooks> {
    const last = (await books.nextSegment()) - 1;
    return new JournaledBooks(books, journal, last, intervalMs, requireRunning, stop);
  }

  async nextSegment(): Promise<number> {
    return this.#last + 1;
  }

  async commit(segments: readonly SegmentRecord[], answers: readonly StoredAnswer[]): Promise<void> {
    this.#requireRunning();
    const encoded = segments.map((segment) => encodeSegment(segment));
    // A segment that may be a repeat, and a commit too large for the journal, go to the disk before they are answered.
    if (!this.#areNew(segments) || !this.#journal.append(pack([encoded, answers]))) {
      await this.flush();
      await this.#books.commit(segments, answers);
      for (const { sequence } of segments) this.#last = Math.max(this.#last, sequence);
      return;
    }
    segments.forEach(({ sequence }, i) => {
      this.#ahead.set(sequence, encoded[i]);
      this.#last = sequence;
    });
    this.#gathering.segments.push(...segments);
    this.#gathering.answers.push(...answers);
    this.#timer ??= setTimeout(() => this.flush().catch(this.#stop), this.#intervalMs);
    // Acknowledged in the next turn: a caller that commits in a loop must not keep the event loop from the flush.
    await nextTurn();
  }

  /** Brings to disk what is acknowledged. Rejects, as every later flush does, when the ledger cannot. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushed = this.#flushed.then(() => this.#flush());
    return this.#flushed;
  }

  async segment(sequence: number): Promise<SegmentRecord | undefined> {
    const ahead = this.#ahead.get(sequence);
    return ahead === undefined ? this.#books.segment(sequence) : decodeSegment(ahead);
  }

  async segmentsFrom(from: number, limit: number): Promise<SegmentRecord[]> {
    await this.flush();
    return this.#books.segmentsFrom(from, limit);
  }

  probe(): Promise<void> {
    return this.#books.probe();
  }

  async balances(period: number): Promise<Balance[]> {
    await this.flush();
    return this.#books.balances(period);
  }

  async latestPeriod(): Promise<number> {
    await this.flush();
    return this.#books.latestPeriod();
  }

  async usage(accountNumber: number, sinceDay: number): Promise<UsageDay[]> {
    await this.flush();
    return this.#books.usage(accountNumber, sinceDay);
  }

  saveRates(rates: readonly RateRecord[]): Promise<void> {
    return this.#books.saveRates(rates);
  }

  async loadRates(sinceMs: number): Promise<RateRecord[]> {
    await this.flush();
    return this.#books.loadRates(sinceMs);
  }

  async storedAnswer(accountNumber: number, keyDigest: string): Promise<StoredAnswer | undefined> {
    await this.flush();
    return this.#books.storedAnswer(accountNumber, keyDigest);
  }

  async expire(nowMs: number, segmentsBeforeMs: number): Promise<{ answers: number; segments: number }> {
    await this.flush();
    return this.#books.expire(nowMs, segmentsBeforeMs);
  }

  async segmentSpan(): Promise<{ oldestMs: number; newestMs: number } | undefined> {
    await this.flush();
    return this.#books.segmentSpan();
  }

  #areNew(segments: readonly SegmentRecord[]): boolean {
    let last = this.#last;
    for (const { sequence } of segments) {
      if (sequence <= last) return false;
      last = sequence;
    }
    return true;
  }

  async #flush(): Promise<void> {
    const { segments, answers } = this.#gathering;
    if (segments.length === 0 && answers.length === 0) return;
    this.#gathering = { segments: [], answers: [] };
    const generation = this.#journal.turn();
    await this.#books.commit(segments, answers);
    this.#journal.settle(generation);
    for (const { sequence } of segments) this.#ahead.delete(sequence);
  }
}

/**
 * Commits what a killed process acknowledged and left in its journal. Segments that reached the disk before are
 * repeats and change nothing.
 */
export async function replayJournal(books: Books, records: readonly Uint8Array[]): Promise<void> {
  for (const record of records) {
    const [encoded, answers] = unpack(record) as [Uint8Array[], StoredAnswer[]];
    const segments = encoded.map((bytes) => decodeSegment(bytes));
    await books.commit(
      segments,
      answers.map((answer) => ({ ...answer, sealed: new Uint8Array(answer.sealed) })),
    );
  }
}
