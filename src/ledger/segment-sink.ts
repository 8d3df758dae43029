import { InvariantError } from '../core/assert.ts';
import type { SegmentRecord, StoredAnswer } from './records.ts';

/** Why no answer can be made durable now, as `/readyz` names it, and what the clients are told. */
export interface SinkRefusal {
  readonly why: 'disk-full' | 'database-away' | 'held';
  readonly message?: string;
  readonly retryAfterS: number;
}

/** How long a client waits before it asks a service again whose operator must act first. */
const HELD_RETRY_AFTER_S = 300;

/** Where a front has its segments made durable. */
export interface SegmentSink {
  /** A sequence for one segment, which no other segment has or had. */
  nextSequence(): number;
  /** So much waits for the ledger that new answers are to be shed. */
  readonly isBehind: boolean;
  /** Why new answers are refused now, before anything is drawn for them; null while they are taken. */
  readonly refusal: SinkRefusal | null;
  /**
   * Resolves when the segment is durable and every later read sees it. Sequences are from `nextSequence`, each committed
   * once.
   */
  commit(segment: SegmentRecord, answers: readonly StoredAnswer[]): Promise<void>;
}

/** The sink of a ledger from which nothing may be acknowledged, for the reason that its messages give. */
export function heldSink(held: string): SegmentSink {
  const never = (): never => {
    throw new InvariantError('nothing is drawn while the ledger is held back');
  };
  const refusal = { why: 'held', message: held, retryAfterS: HELD_RETRY_AFTER_S } as const;
  return { nextSequence: never, isBehind: false, refusal, commit: never };
}
