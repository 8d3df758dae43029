import { type Clock, within } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { Books } from './ledger.ts';
import type { SegmentRecord, StoredAnswer } from './records.ts';
import type { SegmentSink, SinkRefusal } from './segment-sink.ts';
import type { Sequences } from './sequences.ts';

/** The front sheds new answers when more than this many bytes of segments wait for the ledger. */
const BEHIND_BYTES = 16 * 2 ** 20;
/**
 * The front refuses new answers when a segment has waited this long, and for this long after a segment was refused: the
 * database is unreachable, far too slow, or out of disk. So it draws in vain for at most one turn's answers a second.
 */
const AWAY_MS = 1_000;
/** After this time the outcome of a segment counts as unknown, and its clients are told to ask again. */
const UNKNOWN_AFTER_MS = 3_000;
const AWAY: SinkRefusal = { why: 'database-away', retryAfterS: 1 };

/** A segment was sent and may be stored or not: the front neither acknowledges its answers nor gives back what they spent. */
export class UnknownOutcome extends ApiError {
  /** Settles when the outcome is known. */
  readonly outcome: Promise<void>;

  constructor(outcome: Promise<void>) {
    super('storage_unavailable', {
      message: 'The database does not answer. Repeat the request with the same Idempotency-Key.',
      retryAfterS: 1,
    });
    this.outcome = outcome;
    outcome.catch(() => {}); // other readers of `outcome` handle a rejection
  }
}

export interface LinkedSinkOptions {
  /** The ledger, in its own thread. Its `commit` resolves when the segment's row is committed. */
  readonly ledger: Pick<Books, 'commit'>;
  readonly sequences: Sequences;
  readonly clock: Clock;
}

/**
 * The sink of a front whose ledger is in PostgreSQL. It sends each segment to the ledger's thread, and acknowledges it when
 * that thread has committed it. It has no journal, so it acknowledges nothing while the database is away.
 */
export class LinkedSink implements SegmentSink {
  readonly #options: LinkedSinkOptions;
  #waitingBytes = 0;
  /** When each waiting segment came, oldest first: one object per segment, since two may come at the same time. */
  readonly #waitingSinceMs = new Set<{ readonly atMs: number }>();
  #refusedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: LinkedSinkOptions) {
    this.#options = options;
  }

  nextSequence(): number {
    return this.#options.sequences.next();
  }

  get isBehind(): boolean {
    return this.#waitingBytes > BEHIND_BYTES;
  }

  get refusal(): SinkRefusal | null {
    return this.#isAway ? AWAY : null;
  }

  get #isAway(): boolean {
    if (this.#options.sequences.isOut) return true;
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#refusedAtMs < AWAY_MS) return true;
    const [oldest] = this.#waitingSinceMs;
    return oldest !== undefined && nowMs - oldest.atMs > AWAY_MS;
  }

  async commit(segment: SegmentRecord, answers: readonly StoredAnswer[]): Promise<void> {
    const { ledger, clock } = this.#options;
    const bytes = answers.reduce((sum, { sealed }) => sum + sealed.length, segment.entries.length);
    const waiting = { atMs: clock.monotonicMs() };
    this.#waitingBytes += bytes;
    this.#waitingSinceMs.add(waiting);
    const outcome = ledger.commit([segment], answers).finally(() => {
      this.#waitingBytes -= bytes;
      this.#waitingSinceMs.delete(waiting);
    });
    try {
      await within(UNKNOWN_AFTER_MS, outcome, () => {
        throw new UnknownOutcome(outcome);
      });
    } catch (error) {
      this.#refusedAtMs = clock.monotonicMs();
      throw error;
    }
  }
}
