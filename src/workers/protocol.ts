import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { WorkerOrder } from '../answer/make.ts';
import type { LotAssessment } from '../pool/intake/assessor.ts';
import type { RefillOrder } from '../pool/supply/keystream.ts';
import type { SequenceOutcome } from '../stats/sp800-22/verdict.ts';

/** The tasks of the workers. Plain data only; buffers are transferred where that saves a copy. */

export type ExpandTask =
  | { readonly task: 'fill-ring'; readonly order: RefillOrder }
  | { readonly task: 'make'; readonly order: WorkerOrder };

/**
 * One statistical test of packed bits, or the hash of a lot. They are moved to the worker, which erases them.
 */
export type AssessTask = { readonly bits: Uint8Array<ArrayBuffer> } & (
  | { readonly task: 'sp800-22' | 'sp800-90b'; readonly bitLength: number }
  | { readonly task: 'lot'; readonly width: number; readonly shots: number }
  | {
      readonly task: 'extract';
      readonly bitLength: number;
      /** The public seed of the hash (pool/intake/extractor.ts). */
      readonly key: Uint8Array;
      readonly outputBits: number;
    }
);

/**
 * By task: what the tests say of the sequence; min-entropy per bit; what they say of the lot; the output
 * bits.
 */
export type AssessOutcome = SequenceOutcome | number | LotAssessment | Uint8Array<ArrayBuffer>;

/** Marks `value` so that it crosses to the caller's thread with its `buffers` moved instead of copied. */
export function transferring<T extends object>(value: T, buffers: readonly ArrayBuffer[]): T {
  const movable = { [transferableSymbol]: buffers, [valueSymbol]: value };
  return move(movable as never) as unknown as T;
}
