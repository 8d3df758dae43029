import type { BinaryAnswer, BinaryBatchData, BinaryBatchType } from './answers.ts';
import type { QrnClient } from './client.ts';
import { QrnError } from './error.ts';
import type { BatchParameters, BatchTypeParameters, DrawParameters } from './parameters.ts';
import { randomKey } from './system-random.ts';
import type { CallOptions } from './transport.ts';

export interface StreamSize {
  /** The number of all values: any whole number from 1 on. */
  readonly total: number;
  /** The number of values in a block, 1 to 100,000. Default: 100,000; for bytes at most as many as 16 MiB hold. */
  readonly block?: number | undefined;
}

export type StreamParameters<T extends BinaryBatchType> = StreamSize &
  DrawParameters &
  BatchTypeParameters[T];

/** Every block is a separate answer with its own certificate and its own Idempotency-Key. */
export type StreamOptions = Omit<CallOptions, 'idempotencyKey'>;

export type StreamBlock<T extends BinaryBatchType> = BinaryAnswer<BinaryBatchData<T>>;

const BLOCK_MAX = 100_000;
const BLOCK_BYTES_MAX = 16 * 1_048_576;
const BYTES_LENGTH = 16;
/** The most blocks that are being fetched or wait for their reader, apart from the one that it has. */
const AHEAD_MAX = 4;

interface StreamRequest<T extends BinaryBatchType> extends DrawParameters {
  readonly type: T;
  readonly total: number;
  readonly block: number;
  readonly params: BatchTypeParameters[T];
}

/**
 * Streams of any number of values in blocks of typed arrays: `for await (const block of client.stream.floats({ total:
 * 1e9 }))`. Each block is a batch. The client fetches blocks ahead of the reader: one at first, then one more for each
 * block that the reader has taken, and at most four. In pure mode, where a block costs credits, and with a purpose,
 * where it has a number, the client fetches each block when the reader wants it. It fetches a lost block again with the
 * same Idempotency-Key, so that the block is not charged again. Leaving the loop aborts all requests; an error ends the
 * loop.
 */
export class Streams {
  readonly #source: Pick<QrnClient, 'batchBinary'>;

  constructor(source: Pick<QrnClient, 'batchBinary'>) {
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

  /** Checks the sizes at the call, not at the first block. */
  #stream<T extends BinaryBatchType>(
    type: T,
    parameters: StreamSize & DrawParameters,
    params: BatchTypeParameters[T],
    call: StreamOptions = {},
  ): AsyncGenerator<StreamBlock<T>> {
    const {
      total,
      block = BLOCK_MAX,
      entropyMode,
      purpose,
      userData,
      userDataSha256,
      public: isPublic,
    } = parameters;
    if (!(Number.isSafeInteger(total) && total >= 1)) throw new RangeError('total: a whole number from 1 on');
    if (!(Number.isInteger(block) && block >= 1 && block <= BLOCK_MAX))
      throw new RangeError('block: 1 to 100,000');
    const common = { entropyMode, purpose, userData, userDataSha256, public: isPublic };
    return this.#blocks({ type, total, block, params, ...common }, call);
  }

  async *#blocks<T extends BinaryBatchType>(
    { total, block, ...same }: StreamRequest<T>,
    call: StreamOptions,
  ): AsyncGenerator<StreamBlock<T>> {
    const { entropyMode, purpose } = same;
    const aheadMax = String(entropyMode).toLowerCase() === 'pure' || purpose !== undefined ? 1 : AHEAD_MAX;
    const ending = new AbortController();
    const onAbort = () => ending.abort(call.signal?.reason);
    const ask = blockAsker<T>(this.#source, { ...call, signal: ending.signal }, aheadMax > 1);
    const coming: Promise<StreamBlock<T>>[] = [];
    let left = total;
    let taken = 0;
    try {
      call.signal?.throwIfAborted();
      call.signal?.addEventListener('abort', onAbort, { once: true });
      while (left > 0 || coming.length > 0) {
        for (; left > 0 && coming.length < Math.min(1 + taken, aheadMax); left -= block) {
          const asked = ask({ ...same, count: Math.min(left, block) } as BatchParameters<T>);
          asked.catch(() => {}); // the reader gets the failure when it reaches this block
          coming.push(asked);
        }
        yield await coming.shift()!;
        taken++;
      }
    } finally {
      call.signal?.removeEventListener('abort', onAbort);
      ending.abort();
    }
  }
}

/**
 * Returns a function that fetches a block with its own Idempotency-Key; without keys once the account has no room for
 * kept answers.
 */
function blockAsker<T extends BinaryBatchType>(
  source: Pick<QrnClient, 'batchBinary'>,
  call: StreamOptions,
  mayGoWithout: boolean,
): (parameters: BatchParameters<T>) => Promise<StreamBlock<T>> {
  let isKeyed = true;
  return async (parameters) => {
    if (isKeyed) {
      try {
        return await source.batchBinary(parameters, { ...call, idempotencyKey: await randomKey() });
      } catch (error) {
        const isFull = error instanceof QrnError && error.code === 'idempotency_full';
        if (!(isFull && mayGoWithout)) throw error;
        // the service has no room for more kept answers of this account: from now on a lost block is drawn anew
        isKeyed = false;
      }
    }
    return source.batchBinary(parameters, call);
  };
}
