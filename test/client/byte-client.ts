import type { BinaryAnswer, BinaryBatchData, BinaryBytesData } from '../../clients/typescript/src/answers.ts';
import type { ByteClient } from '../../clients/typescript/src/random.ts';

/** Stands for a QrnClient: gives a stream of known bytes, refill by refill, and remembers what it was asked. */
export class KnownBytes {
  readonly stream: Uint8Array;
  /** Each refill that was returned, so that tests see what happens to it. */
  readonly given: Uint8Array[] = [];
  readonly asked: { readonly parameters: object; readonly signal: AbortSignal | undefined }[] = [];
  /** Awaited before each answer. */
  gate: Promise<void> = Promise.resolve();
  failure: Error | undefined;
  #at = 0;

  constructor(stream: Uint8Array) {
    this.stream = stream;
  }

  get client(): ByteClient {
    return {
      bytesBinary: async (parameters = {}, call = {}) => {
        const bytes = await this.#give(parameters.count as number, parameters, call.signal);
        return answer<BinaryBytesData>({ bytes, count: bytes.length });
      },
      batchBinary: async (parameters, call = {}) => {
        const { count, params } = parameters;
        const values = await this.#give(count * (params?.length ?? 16), parameters, call.signal);
        return answer<BinaryBatchData<'bytes'>>({ values, count, type: 'bytes' });
      },
    };
  }

  async #give(count: number, parameters: object, signal: AbortSignal | undefined): Promise<Uint8Array> {
    this.asked.push({ parameters, signal });
    await this.gate;
    signal?.throwIfAborted();
    if (this.failure !== undefined) throw this.failure;
    if (this.#at + count > this.stream.length) throw new RangeError('the test bytes are used up');
    const bytes = this.stream.slice(this.#at, this.#at + count);
    this.#at += count;
    this.given.push(bytes);
    return bytes;
  }
}

function answer<Data>(data: Data): BinaryAnswer<Data> {
  return {
    data: { ...data, metadata: { entropy_mode: 'quantum-seeded', quantum_source: 'known' } },
    metadata: {
      request_id: 'req_0',
      timestamp: '2026-11-21T00:00:00.000Z',
      lang_circuit: 'known',
      lang_version: '1',
      quantum_backend: 'known',
      entropy_origin: 'simulated',
      nist_verified: false,
      certificate_id: 'cert_0',
      certificate_salt: '00',
      verify_url: '',
      processing_time_ms: 0,
      entropy_consumed_bytes: 0,
    },
    meta: { request_id: '0', duration_ms: 0 },
    credits: { remaining: Number.MAX_SAFE_INTEGER, used: 0 },
    rateLimit: null,
  };
}
