import type { CertificateIds } from '../certificate/ids.ts';
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

/** An answer that waits to be durable: what is kept of it, and what follows. */
export interface PendingAnswer extends AnswerEntry {
  /**
   * Called once: with undefined when the certificate is durable, with the failure when it is not known to be.
   * `atMonotonicMs` is the time of both, so that the answers of one commit need not ask for it each. Never throws: the other answers
   * of its commit are told after it.
   */
  settled(failure: Error | undefined, atMonotonicMs?: number): void;
}

/** Told of each commit once it is over, with the milliseconds that it took. */
export type CommitListener = (durationMs: number, failure: Error | undefined) => void;

export interface CommitterOptions {
  readonly sink: SegmentSink;
  readonly ids: CertificateIds;
  readonly context: () => SegmentContext;
  readonly clock: Clock;
  readonly log: Log;
  readonly onCommit?: CommitListener;
  /** While true nothing new is answered. */
  readonly isHeldBack?: () => boolean;
}

/** The sink is given so many segments at a time: a write that takes long then delays only its own answers and those of the next. */
const COMMITS_MAX = 2;
/**
 * Certificate ids are made so many at a time, with one cipher call: for each of the next segments about as many as the one before
 * had answers.
 */
const IDS = 256;
const SEGMENT_IDS_MIN = 16;
const ID_BYTES = 16;

/**
 * Group commit of one front. Answers made while a commit is under way form the next segment, which follows at once when it has
 * grown as large as the one before it, else when that is done: segments do not get smaller because two are written at a time.
 * An answer waits here until its certificate, its spend and its counters are durable, and only then leaves.
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #writer = new SegmentWriter();
  /** Of the open segment; undefined before its first answer. */
  #sequence: number | undefined;
  /** Ids made ahead, and a view of each. */
  readonly #idBytes = new Uint8Array(IDS * ID_BYTES);
  readonly #idViews = Array.from({ length: IDS }, (_, i) =>
    this.#idBytes.subarray(i * ID_BYTES, (i + 1) * ID_BYTES),
  );
  /** Whose they are: of so many segments from this one on, so many of each from this index on. */
  #ids = { segment: 0, segments: 0, from: 0, count: 0 };
  #segmentIds = SEGMENT_IDS_MIN;
  #sources: DrawSource[] = [];
  #sourceIndex = new Map<DrawSource, number>();
  #answers: StoredAnswer[] = [];
  #waiting: PendingAnswer[] = [];
  #commits = 0;
  /** Answers in the segments that are under way. */
  #answersInFlight = 0;
  #scheduled = false;
  #failed: Error | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  /** Answers that wait now. */
  get pending(): number {
    return this.#waiting.length + this.#answersInFlight;
  }

  /**
   * Sheds with 503 before anything is drawn when the sink takes no answers, too many wait, the ledger is too far behind, the
   * front is held back, or a commit has failed.
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
   * The certificate id, 16 bytes, that the next `add` gets. Valid until the next call; read and add in one
   * turn.
   */
  nextCertificateId(): Uint8Array {
    const index = this.#writer.count;
    this.#sequence ??= this.#options.sink.nextSequence();
    const segment = this.#sequence - this.#ids.segment;
    const place = index - this.#ids.from;
    const { segments, count } = this.#ids;
    if (segment >= 0 && segment < segments && place >= 0 && place < count)
      return this.#idViews[segment * count + place];
    this.#makeIds(this.#sequence, index);
    return this.#idViews[0];
  }

  #makeIds(segment: number, from: number): void {
    const count = this.#segmentIds;
    const segments = from === 0 ? Math.floor(IDS / count) : 1;
    const ranges = Array.from({ length: segments }, (_, i) => ({ segment: segment + i, from, count }));
    this.#idBytes.set(this.#options.ids.blocks(ranges));
    this.#ids = { segment, segments, from, count }; // not before: those of a call that failed would be given twice
  }

  /** The index of a source among those of the open segment, for the entry of the next `add`. */
  sourceOf(from: DrawSource): number {
    let source = this.#sourceIndex.get(from);
    if (source === undefined) {
      const { mode, lotIds, drawn } = from; // and nothing else of what it may be
      source = this.#sources.push({ mode, lotIds, drawn }) - 1;
      this.#sourceIndex.set(from, source);
    }
    return source;
  }

  /** Takes what the answer of the next `add` is committed to, if that is short (see SegmentWriter). */
  commitTo({ bytes, start, dataEnd }: Making): boolean {
    return this.#writer.commitTo(bytes, start + AT_SALT, dataEnd);
  }

  /**
   * Takes an answer into the open segment; its entry is copied now, its `settled` called when that is
   * durable.
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

  /**
   * Commits what waits at once. For a caller that has added all that this turn brings: waiting for the end of the turn
   * would cost a whole turn where the caller itself runs there.
   */
  endTurn(): void {
    this.#commit();
  }

  /** Commits when the code that runs now is done, unless its caller ends the turn before: what is added meanwhile shares the segment. */
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
    if (this.#waiting.length < this.#answersInFlight) return; // the commit that is under way goes on with them
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
        // refused beforehand (a full disk): nothing was written and the next may go through; else nothing more will
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
    this.#segmentIds = Math.min(Math.max(segment.count, SEGMENT_IDS_MIN), IDS);
    this.#sources = [];
    this.#sourceIndex = new Map();
    return segment;
  }

  #finish(committed: readonly PendingAnswer[], failure: Error | undefined, startedMs: number): void {
    const { clock, onCommit } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#commits--;
    this.#answersInFlight -= committed.length;
    this.#commit(); // the next is under way while these replies are written
    for (const answer of committed) answer.settled(failure, nowMs);
    onCommit?.(nowMs - startedMs, failure);
  }
}
