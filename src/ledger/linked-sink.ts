import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { Books } from './ledger.ts';
import type { SegmentRecord, StoredAnswer } from './records.ts';
import type { SegmentSink, SinkRefusal } from './segment-sink.ts';
import type { Sequences } from './sequences.ts';

/** New answers are shed when segments of this many bytes wait for the ledger. */
const BEHIND_BYTES = 16 * 2 ** 20;
/**
 * New answers are refused when a segment has waited this long, and for this long after one was refused: the database cannot
 * be reached, is far too slow, or has a full disk. So what is drawn in vain is one turn's answers a second.
 */
const AWAY_MS = 1_000;
/** A segment that is not decided by then is reported as unknown: whoever waits for it is told to ask again. */
const UNKNOWN_AFTER_MS = 3_000;
const AWAY: SinkRefusal = { why: 'database-away', retryAfterS: 1 };

/** A segment was sent and may be stored or not: nothing of it is acknowledged, and nothing that it spends is given back. */
export class UnknownOutcome extends ApiError {
  /** Resolves or rejects when it is decided. */
  readonly outcome: Promise<void>;

  constructor(outcome: Promise<void>) {
    super('storage_unavailable', {
      message: 'The database does not answer. Repeat the request with the same Idempotency-Key.',
      retryAfterS: 1,
    });
    this.outcome = outcome;
    outcome.catch(() => {}); // told to whoever waits for it
  }
}

export interface LinkedSinkOptions {
  /** The ledger behind the port of its thread. Its `commit` resolves when the segment's row is committed. */
  readonly ledger: Pick<Books, 'commit'>;
  readonly sequences: Sequences;
  readonly clock: Clock;
}

/**
 * The sink of a front whose ledger keeps its books in another place than this machine's disk: each segment goes to the
 * ledger's thread, and is acknowledged when that has it committed. Nothing is written here, so while the database is away
 * nothing is acknowledged.
 */
export class LinkedSink implements SegmentSink {
  readonly #options: LinkedSinkOptions;
  #waitingBytes = 0;
  /** When each segment that waits came, oldest first; a segment's place is its identity. */
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
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new UnknownOutcome(outcome)), UNKNOWN_AFTER_MS);
    });
    try {
      await Promise.race([outcome, late]);
    } catch (error) {
      this.#refusedAtMs = clock.monotonicMs();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}
