import type { BinaryAnswer, BinaryBatchData, BinaryBytesData, EntropyMode } from './answers.ts';
import { uuidText } from './binary.ts';
import { ByteReservoir } from './byte-reservoir.ts';
import { standardNormal } from './normal.ts';
import type { BatchParameters, BytesParameters } from './parameters.ts';
import type { CallOptions } from './transport.ts';
import { planWords, SPAN_MAX, type WordPlan, wordAt } from './uniform.ts';
import { wholeWeights } from './weights.ts';

/** The answer to a refill. `data` holds the bytes that values will be made of. */
export type RefillAnswer = BinaryAnswer<BinaryBytesData | BinaryBatchData<'bytes'>>;

/** What `Random` needs of a client. */
export interface ByteClient {
  bytesBinary(
    parameters: Omit<BytesParameters, 'encoding'>,
    call: CallOptions,
  ): Promise<BinaryAnswer<BinaryBytesData>>;
  batchBinary(
    parameters: BatchParameters<'bytes'>,
    call: CallOptions,
  ): Promise<BinaryAnswer<BinaryBatchData<'bytes'>>>;
}

export interface RandomOptions {
  /** Default: the account's tier decides. In pure mode every refill costs its bytes in credits, used or not. */
  readonly entropyMode?: EntropyMode | undefined;
  /**
   * The bytes of one refill: 16 to 1,024, or more in whole KiB up to 1 MiB, which come as a batch (scope
   * `entropy:batch`). Default: 16,384, which make 4,096 values of 32 bits with one request; 256 in pure mode.
   */
  readonly refillBytes?: number | undefined;
  /**
   * The next refill starts when fewer bytes than this are left. Default: a quarter of a refill. With 0 it starts when a
   * draw needs it.
   */
  readonly lowBytes?: number | undefined;
  /**
   * Called with each refill and awaited before any of its bytes are used, to keep certificate ids or to `verify` first.
   * When it throws, the bytes are discarded and the draw fails. Bytes are erased from the answer as they are used.
   */
  readonly onRefill?: ((answer: RefillAnswer) => void | Promise<void>) | undefined;
}

const REFILL_BYTES = 16_384;
const PURE_REFILL_BYTES = 256;
const REFILL_BYTES_MAX = 1_048_576;
/** The most bytes of GET /v1/bytes, and of one value of a batch. */
const KIB = 1_024;
const FLOAT_PLAN = planWords(SPAN_MAX);

/**
 * Makes exactly uniform random values on this machine, from bytes of the service that are fetched ahead. When the
 * service gives no bytes, the draw rejects with its error: no other source is ever used. Bytes are erased as they are
 * used.
 */
export class Random {
  readonly #reservoir: ByteReservoir;
  readonly #word = new Uint8Array(8);

  constructor(client: ByteClient, options: RandomOptions = {}) {
    const { entropyMode, onRefill } = options;
    const refillBytes = options.refillBytes ?? (entropyMode === 'pure' ? PURE_REFILL_BYTES : REFILL_BYTES);
    const batched = refillBytes > KIB;
    if (!(refillBytes >= 16 && refillBytes <= REFILL_BYTES_MAX && refillBytes % (batched ? KIB : 1) === 0)) {
      throw new RangeError('refillBytes: 16 to 1,024, or whole KiB up to 1 MiB');
    }
    const lowBytes = options.lowBytes ?? refillBytes / 4;
    if (!(lowBytes >= 0 && lowBytes <= refillBytes)) throw new RangeError('lowBytes: 0 to refillBytes');
    const blocks = { type: 'bytes', count: refillBytes / KIB, params: { length: KIB }, entropyMode } as const;
    this.#reservoir = new ByteReservoir(async (signal) => {
      const answer: RefillAnswer = batched
        ? await client.batchBinary(blocks, { signal })
        : await client.bytesBinary({ count: refillBytes, entropyMode }, { signal });
      const bytes = 'bytes' in answer.data ? answer.data.bytes : answer.data.values;
      try {
        await onRefill?.(answer);
      } catch (error) {
        bytes.fill(0);
        throw error;
      }
      return bytes;
    }, lowBytes);
  }

  /** The number of bytes that are ready. */
  get availableBytes(): number {
    return this.#reservoir.available;
  }

  /** A whole number from `min` to `max`, both included; the range may hold at most 2^53 values. */
  async integer(min: number, max: number): Promise<number> {
    const safe = Number.isSafeInteger(min) && Number.isSafeInteger(max);
    if (!safe || min > max || max - min >= SPAN_MAX) {
      throw new RangeError('integer: safe integers, min at most max, and at most 2^53 values between them');
    }
    return min + (await this.#offset(planWords(max - min + 1)));
  }

  /** `count` whole numbers, each as `integer` draws it. */
  async integers(count: number, min: number, max: number): Promise<number[]> {
    return this.#several(count, () => this.integer(min, max));
  }

  /** A multiple of 2^-53 in [0, 1). */
  async float(): Promise<number> {
    return (await this.#offset(FLOAT_PLAN)) / SPAN_MAX;
  }

  /**
   * A normal deviate. The standard deviate z is exact and rounded once, to the nearest double; `mean + deviation · z`
   * is then computed in doubles.
   */
  async normal(mean = 0, deviation = 1): Promise<number> {
    if (!(Number.isFinite(mean) && deviation >= 0 && deviation < Infinity)) {
      throw new RangeError('normal: a finite mean, and a finite deviation of at least 0');
    }
    return mean + deviation * (await standardNormal((span) => this.#offset(planWords(span))));
  }

  /** A new array with the items in random order, each order equally likely. */
  async shuffle<T>(items: readonly T[]): Promise<T[]> {
    const shuffled = items.slice();
    // the shuffle of Fisher and Yates in the form of Durstenfeld (1964, Algorithm 235)
    for (let last = shuffled.length - 1; last > 0; last--) {
      const drawn = this.#offset(planWords(last + 1));
      const other = typeof drawn === 'number' ? drawn : await drawn;
      const item = shuffled[last] as T;
      shuffled[last] = shuffled[other] as T;
      shuffled[other] = item;
    }
    return shuffled;
  }

  /** One of the items, each equally likely. */
  async pick<T>(items: readonly T[]): Promise<T> {
    const { length } = items;
    if (length === 0) throw new RangeError('pick: there is no item');
    const drawn = this.#offset(planWords(length));
    if (typeof drawn === 'number') return items[drawn] as T;
    const copy = items.slice(); // the caller may change the array during the wait
    return copy[await drawn] as T;
  }

  /** `count` of the items, none twice, in random order. Each possible list is equally likely. */
  async sample<T>(items: readonly T[], count: number): Promise<T[]> {
    if (!(Number.isSafeInteger(count) && count >= 0 && count <= items.length)) {
      throw new RangeError(`sample: a count from 0 to ${items.length}, the number of items`);
    }
    const pool = items.slice();
    for (let at = 0; at < count; at++) {
      const drawn = this.#offset(planWords(pool.length - at));
      const other = at + (typeof drawn === 'number' ? drawn : await drawn);
      const item = pool[at] as T;
      pool[at] = pool[other] as T;
      pool[other] = item;
    }
    return pool.slice(0, count);
  }

  /**
   * One of the items. The probability of an item is its weight divided by the sum of all weights. Weights are finite
   * numbers of at least 0. They count as the exact binary fractions that they are, so no probability is rounded.
   */
  async weighted<T>(items: readonly T[], weights: readonly number[]): Promise<T> {
    if (items.length !== weights.length) throw new RangeError('weighted: one weight for each item');
    const copy = items.slice(); // the caller may change the array during the wait
    const whole = wholeWeights(weights);
    let left = await this.#bigOffset(whole.reduce((sum, weight) => sum + weight, 0n));
    const at = whole.findIndex((weight) => {
      left -= weight;
      return left < 0n;
    });
    return copy[at] as T;
  }

  /** A UUID of version 4 (RFC 9562 §5.4). */
  async uuid(): Promise<string> {
    const bytes = await this.bytes(16);
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    const text = uuidText(bytes);
    bytes.fill(0);
    return text;
  }

  /** `count` bytes, from as many refills as they need. */
  async bytes(count: number): Promise<Uint8Array> {
    if (!Number.isSafeInteger(count) || count < 0)
      throw new RangeError('bytes: a whole number of at least 0');
    const bytes = new Uint8Array(count);
    if (!this.#reservoir.tryTake(bytes)) await this.#reservoir.take(bytes);
    return bytes;
  }

  /** Erases all bytes. A draw that is waiting, and every later one, rejects. */
  close(): void {
    this.#reservoir.close();
  }

  async #several<T>(count: number, draw: () => Promise<T>): Promise<T[]> {
    if (!Number.isSafeInteger(count) || count < 0)
      throw new RangeError('a count is a whole number of at least 0');
    const drawn: T[] = [];
    while (drawn.length < count) drawn.push(await draw());
    return drawn;
  }

  /**
   * Returns a uniform number in [0, span), for any span: draws as many bits as span - 1 has until they are below span.
   */
  async #bigOffset(span: bigint): Promise<bigint> {
    if (span <= BigInt(SPAN_MAX)) return BigInt(await this.#offset(planWords(Number(span))));
    const bits = (span - 1n).toString(2).length;
    for (;;) {
      const bytes = await this.bytes(Math.ceil(bits / 8));
      let word = 0n;
      for (const byte of bytes) word = (word << 8n) | BigInt(byte);
      bytes.fill(0);
      word &= (1n << BigInt(bits)) - 1n;
      if (word < span) return word;
    }
  }

  /** Returns a uniform number in [0, plan.span), or a promise of it when bytes must be fetched first. */
  #offset(plan: WordPlan): number | Promise<number> {
    const { span, bytes, limit } = plan;
    if (bytes === 0) return 0;
    const target = this.#word.subarray(0, bytes);
    while (this.#reservoir.tryTake(target)) {
      const word = wordAt(target, 0, bytes);
      target.fill(0);
      if (word < limit) return word % span;
    }
    return this.#offsetLater(plan);
  }

  async #offsetLater(plan: WordPlan): Promise<number> {
    const target = new Uint8Array(plan.bytes); // not #word: other draws use that during the wait
    for (;;) {
      await this.#reservoir.take(target);
      const word = wordAt(target, 0, plan.bytes);
      target.fill(0);
      if (word < plan.limit) return word % plan.span;
    }
  }
}
