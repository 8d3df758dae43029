import { Piscina } from 'piscina';
import { ApiError } from '../core/errors.ts';
import { sha256Hex } from '../crypto/digest.ts';
import { ASSESSED_BITS, type Assessor } from '../pool/assessor.ts';
import type { RefillOrder } from '../pool/keystream.ts';
import type { AssessedBlock } from '../store/records.ts';
import { jsonBytesMax, type ValueRequest } from '../values/value-request.ts';
import type { BatteryOutcome } from './assess.ts';
import type { AssessTask, ExpandTask, MadeValues, MakeOrder } from './protocol.ts';

/**
 * Answers whose text may be longer than this go to the pool; shorter ones are cheaper in the front thread, because a
 * hop costs it about 40 µs (bench `dispatch`): that is 30,000 values of 0..100, 10,000 of 0..999,999, 5,000 floats,
 * 3,000 UUIDs, all of which print to about this size.
 */
export const HOP_ABOVE_JSON_BYTES = 96 * 1024;

/** Large answers that may wait for a worker; beyond it a request is shed with 503 `overloaded`. */
const MAKE_QUEUE_MAX = 64;

export function worthAHop(values: ValueRequest): boolean {
  return jsonBytesMax(values) > HOP_ABOVE_JSON_BYTES;
}

/**
 * The Piscina pools, and who decides what goes to them. Expansion and large answers share one pool; assessment has a
 * thread of its own at low priority, so that testing a lot never delays a request.
 */
export class Workers implements Assessor {
  readonly #expansion: Piscina<ExpandTask, number | MadeValues>;
  readonly #assessment: Piscina<AssessTask, BatteryOutcome | number>;

  constructor(threads: number) {
    this.#expansion = new Piscina({
      filename: new URL('./expand.ts', import.meta.url).href,
      minThreads: threads,
      maxThreads: threads,
      maxQueue: 4 * MAKE_QUEUE_MAX,
      concurrentTasksPerWorker: 1,
    });
    this.#assessment = new Piscina({
      filename: new URL('./assess.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      maxQueue: 16,
      idleTimeout: 5_000,
      concurrentTasksPerWorker: 1,
    });
  }

  /** Fills a keystream ring. Rejects when the pool is full or stopping; the front then expands for itself. */
  async fillRing(order: RefillOrder): Promise<void> {
    await this.#expansion.run({ task: 'fill-ring', order });
  }

  /** Sheds with 503 `overloaded` when too many large answers wait. Asked before anything is claimed for one. */
  assertRoom(): void {
    if (this.#expansion.queueSize >= MAKE_QUEUE_MAX) throw new ApiError('overloaded', { retryAfterS: 1 });
  }

  /** Makes a large answer. */
  async make(order: MakeOrder): Promise<MadeValues> {
    return (await this.#expansion.run({ task: 'make', order })) as MadeValues;
  }

  /** Tasks that wait for a worker now. */
  get queueLength(): number {
    return this.#expansion.queueSize;
  }

  async testBits(of: AssessedBlock['of'], bits: Uint8Array, bitLength: number): Promise<AssessedBlock> {
    const tested = bits.slice(0, Math.ceil(bitLength / 8));
    const sha256 = sha256Hex(tested);
    const outcome = (await this.#assessment.run({
      task: 'sp800-22',
      bits: tested,
      bitLength,
    })) as BatteryOutcome;
    const { passed, total, smallestP, verified, reason } = outcome;
    return { of, bits: bitLength, sha256, sp80022: { passed, total, smallestP, verified, reason } };
  }

  async minEntropyPerBit(bits: Uint8Array, bitLength: number): Promise<number | null> {
    if (bitLength < ASSESSED_BITS) return null;
    const tested = bits.slice(0, Math.ceil(bitLength / 8));
    return (await this.#assessment.run({ task: 'sp800-90b', bits: tested, bitLength })) as number;
  }

  /** Lets running tasks end and stops the threads. */
  async close(): Promise<void> {
    await Promise.all([this.#expansion.close({ force: true }), this.#assessment.destroy()]);
  }
}
