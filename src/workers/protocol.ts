import type { LotAssessment } from '../pool/intake/assess-lot.ts';
import type { RefillOrder } from '../pool/supply/keystream.ts';
import type { SequenceOutcome } from '../stats/sp800-22/verdict.ts';
import type { ValueRequest } from '../values/value-request.ts';

/** What the threads say to each other. Plain data only; buffers are transferred where that saves a copy. */

/** Where a large answer's bytes come from. Key material and pieces are erased by the worker when it is done. */
export type DrawOrder =
  /** Seeded mode: expansion of a one-time key, mixed with system entropy. */
  | { readonly from: 'one-time-key'; readonly key: Uint8Array<ArrayBuffer> }
  /** Csprng mode: system entropy as it is. */
  | { readonly from: 'system' }
  /** Pure mode: claimed blocks, and nothing else. */
  | { readonly from: 'pieces'; readonly pieces: readonly Uint8Array<ArrayBuffer>[] };

/** What an answer is made from, and how. */
export interface AnswerOrder {
  readonly values: ValueRequest;
  /** The text of the `data` member before and after its values; canonical JSON as a whole. */
  readonly before: Uint8Array<ArrayBuffer>;
  readonly after: Uint8Array<ArrayBuffer>;
  /** 32 bytes, hashed before the `data` member. */
  readonly salt: Uint8Array<ArrayBuffer>;
  /** Bytes to leave free before (at least 32) and after the `data` member for the rest of the reply. */
  readonly headroom: number;
  readonly tailroom: number;
  /** Also give the bare values, or the plain values as MessagePack, for the other representations. */
  readonly also: 'nothing' | 'octets' | 'packed';
}

/** An answer that a worker makes. */
export interface MakeOrder extends AnswerOrder {
  readonly draw: DrawOrder;
  /** At least `answerBytesMax` bytes (workers/make.ts); moves to the worker and back. */
  readonly memory: Uint8Array<ArrayBuffer>;
}

export interface MadeValues {
  /** The memory that the answer was made in. The `data` member stands at [headroom, dataEnd). */
  readonly buffer: Uint8Array<ArrayBuffer>;
  readonly dataEnd: number;
  /** SHA-256(salt ‖ data) in hex. */
  readonly delivered: string;
  readonly consumedBytes: number;
  readonly octets: Uint8Array<ArrayBuffer> | undefined;
  readonly packed: Uint8Array<ArrayBuffer> | undefined;
}

/** As a worker gives them back. */
export interface MadeByWorker extends MadeValues {
  /** What they took of the worker's time: the answers to come are weighed by it. */
  readonly busyMs: number;
}

export type ExpandTask =
  | { readonly task: 'fill-ring'; readonly order: RefillOrder }
  | { readonly task: 'make'; readonly order: MakeOrder };

/** One statistical test of packed bits, or the hash of a lot. They are moved to the worker, which erases them. */
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

/** By task: what the tests say of the sequence; min-entropy per bit; what they say of the lot; the output bits. */
export type AssessOutcome = SequenceOutcome | number | LotAssessment | Uint8Array<ArrayBuffer>;
