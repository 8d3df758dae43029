import { InvariantError } from '../core/assert.ts';
import type { SegmentRecord, StoredAnswer } from './records.ts';

/** Why no answer can be made durable now: the reason that `/readyz` names, and what clients are told. */
export interface SinkRefusal {
  readonly why: 'disk-full' | 'database-away' | 'held';
  readonly message?: string;
  readonly retryAfterS: number;
}

/** How long clients wait before they ask again, when an operator must act first. */
export const HELD_RETRY_AFTER_S = 300;

/** Makes a front's segments durable. */
export interface SegmentSink {
  /** Returns a sequence that no other segment has or had. */
  nextSequence(): number;
  /** True when so much waits for the ledger that the front must shed new answers. */
  readonly isBehind: boolean;
  /** Why new answers are refused now, before anything is drawn for them; null when they are accepted. */
  readonly refusal: SinkRefusal | null;
  /** Resolves when the segment is durable and every later read sees it. A sequence of `nextSequence` is committed once. */
  commit(segment: SegmentRecord, answers: readonly StoredAnswer[]): Promise<void>;
}

/** Returns the sink of a ledger that may acknowledge nothing. `held` is the message that gives the reason. */
export function heldSink(held: string): SegmentSink {
  const never = (): never => {
    throw new InvariantError('nothing is drawn while the ledger is held back');
  };
  const refusal = { why: 'held', message: held, retryAfterS: HELD_RETRY_AFTER_S } as const;
  return { nextSequence: never, isBehind: false, refusal, commit: never };
}
