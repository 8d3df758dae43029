import type { BinaryAnswer, BinaryBatchData, BinaryBatchType } from './answers.ts';
import type { QrnClient } from './client.ts';
import type { BatchParameters, BatchTypeParameters, DrawParameters } from './parameters.ts';
import type { CallOptions } from './transport.ts';

export interface StreamSize {
  /** Values in all: any whole number from 1 on. */
  readonly total: number;
  /** Values of one block, 1 to 100,000; default 100,000, or as many as 16 MiB hold. */
  readonly block?: number | undefined;
}

export type StreamParameters<T extends BinaryBatchType> = StreamSize &
  DrawParameters &
  BatchTypeParameters[T];

/** Every block is an answer of its own, with certificate and, in pure mode, Idempotency-Key of its own. */
export type StreamOptions = Omit<CallOptions, 'idempotencyKey'>;

export type StreamBlock<T extends BinaryBatchType> = BinaryAnswer<BinaryBatchData<T>>;

const BLOCK_MAX = 100_000;
const BLOCK_BYTES_MAX = 16 * 1_048_576;
const BYTES_LENGTH = 16;

/** A stream as its blocks are asked for. */
export interface StreamRequest<T extends BinaryBatchType> extends DrawParameters {
  readonly type: T;
  readonly total: number;
  readonly block: number;
  readonly params: BatchTypeParameters[T];
}

/** What a client gives its streams. */
export interface StreamSource extends Pick<QrnClient, 'batchBinary'> {
  /** By `GET /v1/stream`, resumed where it breaks off. */
  streamed<T extends BinaryBatchType>(
    request: StreamRequest<T>,
    call: StreamOptions,
  ): AsyncGenerator<StreamBlock<T>>;
}

/**
 * Any number of values as typed arrays, block after block: `for await (const block of client.stream.floats({ total: 1e9
 * }))`. They come by `GET /v1/stream`, which makes blocks ahead of its reader. In pure mode, where each block costs
 * credits, they are batches that are asked for one by one, so that only blocks that were asked for are paid. Leaving the
 * loop ends what is under way; an error ends the loop.
 */
export class Streams {
  readonly #source: StreamSource;

  constructor(source: StreamSource) {
    this.#source = source;
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

  uuid(parameters: StreamSize & DrawParameters, call?: StreamOptions): AsyncGenerator<StreamBlock<'uuid'>> {
    return this.#stream('uuid', parameters, {}, call);
  }

  /** Checks the size before the first block is asked for. */
  #stream<T extends BinaryBatchType>(
    type: T,
    parameters: StreamSize & DrawParameters,
    params: BatchTypeParameters[T],
    call: StreamOptions = {},
  ): AsyncGenerator<StreamBlock<T>> {
    const { total, block = BLOCK_MAX, entropyMode, purpose, userData, userDataSha256 } = parameters;
    if (!(Number.isSafeInteger(total) && total >= 1)) throw new RangeError('total: a whole number from 1 on');
    if (!(Number.isInteger(block) && block >= 1 && block <= BLOCK_MAX))
      throw new RangeError('block: 1 to 100,000');
    const common = {
      entropyMode,
      purpose,
      userData,
      userDataSha256,
      public: parameters.public,
    };
    const request = { type, total, block, params, ...common };
    return String(entropyMode).toLowerCase() === 'pure'
      ? this.#batches(request, call)
      : this.#source.streamed(request, call);
  }

  async *#batches<T extends BinaryBatchType>(
    { total, block, ...same }: StreamRequest<T>,
    call: StreamOptions,
  ): AsyncGenerator<StreamBlock<T>> {
    for (let left = total; left > 0; left -= block) {
      const parameters = { ...same, count: Math.min(left, block) };
      yield await this.#source.batchBinary(parameters as BatchParameters<T>, call);
    }
  }
}
