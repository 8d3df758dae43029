import { type CertificateIds, NextIds } from '../certificate/ids.ts';
import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import type {
  AnswerEntry,
  DrawSource,
  SegmentContext,
  SegmentRecord,
  StoredAnswer,
} from '../ledger/records.ts';
import { SegmentWriter } from '../ledger/segment.ts';
import type { SegmentSink } from '../ledger/segment-sink.ts';
import { AT_SALT, type Making } from './make.ts';

/** An answer that waits to be durable: its entry in the segment, and the callback for the outcome. */
export interface PendingAnswer extends AnswerEntry {
  /**
   * Called once: with undefined when the certificate is durable, with the failure when it is not known to be. `atMonotonicMs` is
   * the time of the outcome; the committer reads the clock once for all answers of a commit. Must not throw, because the
   * committer calls it for the other answers of the commit afterwards.
   */
  settled(failure: Error | undefined, atMonotonicMs?: number): void;
}

/** Called after each commit, with its duration and its failure if it failed. */
export type CommitListener = (durationMs: number, failure: Error | undefined) => void;

export interface CommitterOptions {
  readonly sink: SegmentSink;
  readonly ids: CertificateIds;
  readonly context: () => SegmentContext;
  readonly clock: Clock;
  readonly log: Log;
  readonly onCommit?: CommitListener;
  /** While it returns true, new answers are refused. */
  readonly isHeldBack?: () => boolean;
}

/**
 * Segments that the sink writes at the same time. With two, a slow write delays only its own answers and those of the next
 * segment.
 */
const COMMITS_MAX = 2;
/**
 * Group commit of one front. Answers that are made during a commit form the next segment. That is committed as soon as it has
 * as many answers as are being written, or else when a write is done: so writing two segments at a time does not make
 * segments smaller. An answer waits here until its certificate, its spend and its counters are durable; only then is its
 * reply sent.
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #writer = new SegmentWriter();
  /** Sequence of the open segment; undefined before its first answer. */
  #sequence: number | undefined;
  readonly #ids: NextIds;
  #sources: DrawSource[] = [];
  #sourceIndex = new Map<DrawSource, number>();
  #answers: StoredAnswer[] = [];
  #waiting: PendingAnswer[] = [];
  #commits = 0;
  /** Answers in the segments that the sink is writing. */
  #answersInFlight = 0;
  #scheduled = false;
  #failed: Error | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#ids = new NextIds(options.ids);
  }

  /** Number of answers that are not durable yet. */
  get pending(): number {
    return this.#waiting.length + this.#answersInFlight;
  }

  /**
   * Throws a 503 error, before anything is drawn, when the sink takes no answers, too many answers wait, the ledger is too far
   * behind, the front is held back, or a commit has failed.
   */
  assertRoom(): void {
    const { sink, isHeldBack } = this.#options;
    const { refusal } = sink;
    if (refusal !== null) throw new ApiError('storage_unavailable', refusal);
    if (isHeldBack?.()) throw new ApiError('storage_unavailable', { retryAfterS: 1 });
    if (this.#failed !== undefined) throw new ApiError('storage_unavailable', { retryAfterS: 5 });
    if (this.pending >= LIMITS.pendingRepliesMax || sink.isBehind)
      throw new ApiError('overloaded', { retryAfterS: 1 });
  }

  /**
   * Returns the certificate id, 16 bytes, of the next answer that is added. The bytes are valid until the next call. The
   * caller must add the answer in the same turn of the loop.
   */
  nextCertificateId(): Uint8Array {
    this.#sequence ??= this.#options.sink.nextSequence();
    return this.#ids.of(this.#sequence, this.#writer.count);
  }

  /** Returns the index of a source among the sources of the open segment, and adds it there if it is new. */
  sourceOf(from: DrawSource): number {
    let source = this.#sourceIndex.get(from);
    if (source === undefined) {
      const { mode, lotIds, drawn } = from; // the object may have more members, which must not be stored
      source = this.#sources.push({ mode, lotIds, drawn }) - 1;
      this.#sourceIndex.set(from, source);
    }
    return source;
  }

  /**
   * Takes the record that the next answer commits to, to be hashed with those of other answers; false if it is too long for
   * that.
   */
  commitTo({ bytes, start, dataEnd }: Making): boolean {
    return this.#writer.commitTo(bytes, start + AT_SALT, dataEnd);
  }

  /**
   * Adds an answer to the open segment. Copies its entry now, and calls its `settled` when the outcome of the commit is known.
   */
  add(answer: PendingAnswer, stored?: StoredAnswer): void {
    this.#writer.append(answer);
    if (stored !== undefined) this.#answers.push(stored);
    this.#waiting.push(answer);
    this.#schedule();
  }

  /** Resolves when nothing waits any more. */
  async drain(): Promise<void> {
    while (this.pending > 0) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Commits when the code that runs now is done, so that all answers that it adds share the segment. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(this.#commitScheduled);
  }

  readonly #commitScheduled = (): void => {
    this.#scheduled = false;
    this.#commit();
  };

  #commit(): void {
    if (this.#commits === COMMITS_MAX || this.#waiting.length === 0) return;
    if (this.#waiting.length < this.#answersInFlight) return; // they are committed when the write under way is done
    const committed = this.#waiting;
    const answers = this.#answers;
    const segment = this.#closeSegment();
    this.#waiting = [];
    this.#answers = [];
    this.#commits++;
    this.#answersInFlight += committed.length;
    const { sink, clock, log } = this.#options;
    const startedMs = clock.monotonicMs();
    sink.commit(segment, answers).then(
      () => this.#finish(committed, undefined, startedMs),
      (failure: Error) => {
        // after an ApiError (a full disk, a database that is away) the next segment may succeed; after any other error none can
        if (!(failure instanceof ApiError)) this.#failed = failure;
        log.error({ segment: segment.sequence, reason: failure.message }, 'segment not committed');
        this.#finish(committed, failure, startedMs);
      },
    );
  }

  #closeSegment(): SegmentRecord {
    const { sink, clock, context } = this.#options;
    const segment: SegmentRecord = {
      sequence: this.#sequence ?? sink.nextSequence(),
      committedAtMs: clock.wallMs(),
      sources: this.#sources,
      context: context(),
      ...this.#writer.finish(),
    };
    this.#sequence = undefined;
    this.#sources = [];
    this.#sourceIndex = new Map();
    return segment;
  }

  #finish(committed: readonly PendingAnswer[], failure: Error | undefined, startedMs: number): void {
    const { clock, onCommit } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#commits--;
    this.#answersInFlight -= committed.length;
    this.#commit(); // first, so that the next segment is written while these replies are sent
    for (const answer of committed) answer.settled(failure, nowMs);
    onCommit?.(nowMs - startedMs, failure);
  }
}
