import type { BinaryAnswer, BinaryBatchData, BinaryBatchType } from './answers.ts';
import type { QrnClient } from './client.ts';
import type { BatchParameters, BatchTypeParameters, ModeParameters } from './parameters.ts';
import type { CallOptions } from './transport.ts';

export interface StreamSize {
  /** Values in all: any whole number from 1 on. */
  readonly total: number;
  /** Values of one call, 1 to 100,000; default 100,000, or as many as 16 MiB hold. */
  readonly block?: number | undefined;
  /** Calls under way before their values are asked for, 0 to 8; default 1, and 0 in pure mode, where each costs credits. */
  readonly ahead?: number | undefined;
}

export type StreamParameters<T extends BinaryBatchType> = StreamSize &
  ModeParameters &
  BatchTypeParameters[T];

/** Every block is a call of its own, with certificate and, in pure mode, Idempotency-Key of its own. */
export type StreamOptions = Omit<CallOptions, 'idempotencyKey'>;

export type StreamBlock<T extends BinaryBatchType> = BinaryAnswer<BinaryBatchData<T>>;

const BLOCK_MAX = 100_000;
const BLOCK_BYTES_MAX = 16 * 1_048_576;
const AHEAD_MAX = 8;
const BYTES_LENGTH = 16;

/**
 * Any number of values as typed arrays, one batch after the other: `for await (const block of client.stream.floats({
 * total: 1e9 }))`. Leaving the loop ends the calls under way; an error of a call ends the loop.
 */
export class Streams {
  readonly #client: Pick<QrnClient, 'batchBinary'>;

  constructor(client: Pick<QrnClient, 'batchBinary'>) {
    this.#client = client;
  }

  integers(
    parameters: StreamParameters<'integers'>,
    call?: StreamOptions,
  ): AsyncGenerator<StreamBlock<'integers'>> {
    const { min, max } = parameters;
    return this.#stream('integers', parameters, { min, max }, call);
  }

  floats(
    parameters: StreamParameters<'floats'>,
    call?: StreamOptions,
  ): AsyncGenerator<StreamBlock<'floats'>> {
    const { precision } = parameters;
    return this.#stream('floats', parameters, { precision }, call);
  }

  bytes(
    parameters: Omit<StreamParameters<'bytes'>, 'encoding'>,
    call?: StreamOptions,
  ): AsyncGenerator<StreamBlock<'bytes'>> {
    const { length } = parameters;
    const block =
      parameters.block ?? Math.min(BLOCK_MAX, Math.floor(BLOCK_BYTES_MAX / (length ?? BYTES_LENGTH)));
    return this.#stream('bytes', { ...parameters, block }, { length }, call);
  }

  uuid(parameters: StreamSize & ModeParameters, call?: StreamOptions): AsyncGenerator<StreamBlock<'uuid'>> {
    return this.#stream('uuid', parameters, {}, call);
  }

  /** Checks the size before the first block is asked for. */
  #stream<T extends BinaryBatchType>(
    type: T,
    { total, block = BLOCK_MAX, ahead, entropyMode }: StreamSize & ModeParameters,
    params: BatchTypeParameters[T],
    call: StreamOptions = {},
  ): AsyncGenerator<StreamBlock<T>> {
    const callsAhead = ahead ?? (String(entropyMode).toLowerCase() === 'pure' ? 0 : 1);
    if (!(Number.isSafeInteger(total) && total >= 1)) throw new RangeError('total: a whole number from 1 on');
    if (!isWithin(block, 1, BLOCK_MAX)) throw new RangeError('block: 1 to 100,000');
    if (!isWithin(callsAhead, 0, AHEAD_MAX)) throw new RangeError('ahead: 0 to 8');
    return this.#blocks({ type, count: block, params, entropyMode }, total, callsAhead, call);
  }

  async *#blocks<T extends BinaryBatchType>(
    parameters: BatchParameters<T>,
    total: number,
    ahead: number,
    call: StreamOptions,
  ): AsyncGenerator<StreamBlock<T>> {
    const stopping = new AbortController();
    const { signal } = stopping;
    const onAbort = () => stopping.abort(call.signal?.reason);
    call.signal?.addEventListener('abort', onAbort, { once: true });
    if (call.signal?.aborted) onAbort();
    const coming: Promise<StreamBlock<T>>[] = [];
    let left = total;
    try {
      for (;;) {
        while (left > 0 && coming.length <= ahead) {
          const count = Math.min(left, parameters.count);
          left -= count;
          const block = this.#client.batchBinary({ ...parameters, count }, { ...call, signal });
          block.catch(() => {}); // told when its turn comes, and to nobody when the loop was left before
          coming.push(block);
        }
        const next = coming.shift();
        if (next === undefined) return;
        yield await next;
      }
    } finally {
      call.signal?.removeEventListener('abort', onAbort);
      stopping.abort();
    }
  }
}

function isWithin(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
