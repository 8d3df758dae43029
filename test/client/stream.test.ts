import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { QrnClient, type QrnClientOptions } from '../../clients/typescript/src/client.ts';
import { QrnError } from '../../clients/typescript/src/error.ts';
import { TestServer } from '../support/server.ts';

const FACTS = {
  'Content-Type': 'application/octet-stream; type=int32; byteorder=little-endian',
  'X-Entropy-Mode': 'quantum-seeded',
  'X-Entropy-Origin': 'simulated',
  'X-Quantum-Backend': 'simulator',
  'X-Lang-Circuit': 'h',
  'X-Lang-Version': '1',
  'X-NIST-Verified': 'true',
  'X-Request-ID': '019a0000-0000-7000-8000-000000000000',
  'X-Quantum-Credits-Remaining': 'unlimited',
  'X-Quantum-Credits-Used': '0',
  'X-Certificate-ID': 'cert_x',
  'X-Certificate-Salt': '00',
  'X-Timestamp': '2026-11-22T00:00:00.000Z',
  'X-Processing-Time-Ms': '1',
  'X-Entropy-Consumed-Bytes': '8',
};
const END = frame({ end: {} });
const REFUSED = { message: 'no', request_id: 'req_x', details: null };

function frame(facts: object, values: readonly number[] = []): Buffer {
  const text = Buffer.from(JSON.stringify(facts));
  const head = Buffer.alloc(8);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(4 * values.length, 4);
  return Buffer.concat([head, text, Buffer.from(Int32Array.from(values).buffer)]);
}

const block = (...values: number[]): Buffer => frame(FACTS, values);

/** A client of a service that answers each request with the next of these bodies; `false` at an end leaves it open. */
function scripted(bodies: readonly (readonly (Buffer | false)[])[], options: QrnClientOptions = {}) {
  const asked: URL[] = [];
  const signals: AbortSignal[] = [];
  const client = new QrnClient({
    baseUrl: 'http://127.0.0.1:1/v1',
    key: 'qrn_p_key',
    ...options,
    fetch: async (url, { signal }) => {
      const pieces = [...bodies[asked.length]];
      asked.push(new URL(url));
      signals.push(signal);
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
        pull: (controller) => {
          const piece = pieces.shift();
          if (piece === false) return new Promise(() => {});
          if (piece === undefined) controller.close();
          else controller.enqueue(new Uint8Array(piece));
          return undefined;
        },
      });
      return new Response(body, { status: 200 });
    },
  });
  const firsts = () => asked.map(({ searchParams }) => searchParams.get('first'));
  return { client, asked, signals, firsts };
}

async function valuesOf(client: QrnClient, total: number): Promise<number[]> {
  const values: number[] = [];
  for await (const { data } of client.stream.integers({ total, block: 2, min: 1, max: 9 }))
    values.push(...data.values);
  return values;
}

describe('a stream', () => {
  it('is asked for once, and read however its bytes are cut', async () => {
    const body = Buffer.concat([block(1, 2), block(3), END]);
    const { client, asked } = scripted([Array.from(body, (byte) => Buffer.of(byte))]);
    assert.deepEqual(await valuesOf(client, 3), [1, 2, 3]);
    assert.equal(
      `${asked[0].pathname}${asked[0].search}`,
      '/v1/stream?type=integers&total=3&block=2&min=1&max=9',
    );
  });

  it('is resumed at the block that did not come whole', async () => {
    const { client, firsts } = scripted([
      [block(1, 2), block(3, 4).subarray(0, 40)],
      [block(3, 4)],
      [block(5), END],
    ]);
    assert.deepEqual(await valuesOf(client, 5), [1, 2, 3, 4, 5]);
    assert.deepEqual(firsts(), [null, '1', '2']);
  });

  it('waits as the service asks it to, and goes on', async () => {
    const error = { ...REFUSED, code: 'rate_limited', status: 429 };
    const { client, firsts } = scripted([
      [block(1, 2), frame({ error, retry_after: 0, next: 1 })],
      [block(3), END],
    ]);
    assert.deepEqual(await valuesOf(client, 3), [1, 2, 3]);
    assert.deepEqual(firsts(), [null, '1']);
  });

  it('ends with an error that does not pass, behind the blocks before it', async () => {
    const error = { ...REFUSED, code: 'auth_invalid', status: 401 };
    const { client, asked } = scripted([[block(1, 2), frame({ error, next: 1 })]]);
    const stream = client.stream.integers({ total: 9, block: 2 });
    assert.equal((await stream.next()).done, false);
    await assert.rejects(stream.next(), {
      name: 'AuthenticationError',
      code: 'auth_invalid',
      requestId: 'req_x',
    });
    assert.equal((await stream.next()).done, true);
    assert.equal(asked.length, 1);
  });

  it('is given up after as many attempts without a block as a call has', async () => {
    const { client, asked } = scripted([[block(1, 2)], []], { retries: 1 });
    await assert.rejects(valuesOf(client, 9), { name: 'ConnectionFailedError', code: 'network_error' });
    assert.equal(asked.length, 2);
  });

  it('limits the time of a block, and not that of its reader', async () => {
    const { client } = scripted([[block(1, 2), false]], { timeoutMs: 30, retries: 0 });
    const stream = client.stream.integers({ total: 9, block: 2 });
    await stream.next();
    await new Promise((resolve) => setTimeout(resolve, 60));
    await assert.rejects(stream.next(), { code: 'timeout' });
  });

  it('takes no more memory than frames of the service need, whatever their lengths say', async () => {
    const { client } = scripted([[Buffer.alloc(64, 0xff)]]);
    await assert.rejects(valuesOf(client, 9), { code: 'invalid_answer' });
  });

  it('ends the request when the loop is left, and when its caller aborts', async () => {
    const left = scripted([[block(1, 2), false]]);
    for await (const _ of left.client.stream.integers({ total: 9, block: 2 })) break;
    assert.ok(left.signals[0].aborted);
    const caller = new AbortController();
    const aborted = scripted([[block(1, 2), false]]);
    const stream = aborted.client.stream.integers({ total: 9, block: 2 }, { signal: caller.signal });
    await stream.next();
    const next = stream.next();
    caller.abort(new Error('enough'));
    await assert.rejects(next, /^Error: enough$/);
  });

  it('names an error that came before the first block as a call does', async () => {
    const client = new QrnClient({
      baseUrl: 'http://127.0.0.1:1/v1',
      key: 'qrn_p_key',
      fetch: async () => Response.json({ error: { ...REFUSED, code: 'auth_scope' } }, { status: 403 }),
    });
    await assert.rejects(
      valuesOf(client, 9),
      (error) => error instanceof QrnError && error.code === 'auth_scope',
    );
  });

  it('refuses sizes that cannot be meant, before it is read', () => {
    const { client } = scripted([]);
    for (const size of [{ total: 0 }, { total: 1.5 }, { total: 9, block: 0 }, { total: 9, block: 100_001 }])
      assert.throws(() => client.stream.floats(size), RangeError, JSON.stringify(size));
  });
});

describe('a stream of the service', () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.shared();
  });

  it('gives more values than one call may, each block with a certificate that holds', async () => {
    const client = new QrnClient({ baseUrl: server.baseUrl, key: server.key });
    let count = 0;
    let sum = 0;
    const certificates = new Set<string>();
    for await (const block of client.stream.floats({ total: 250_000 })) {
      for (const value of block.data.values) sum += value;
      count += block.data.values.length;
      certificates.add(block.metadata.certificate_id);
      if (certificates.size === 3) assert.ok((await client.verify(block)).ok);
    }
    assert.deepEqual([count, certificates.size], [250_000, 3]);
    assert.ok(Math.abs(sum / count - 0.5) < 0.01);
  });

  it('in pure mode is charged for the blocks that were read and no others', async () => {
    const client = new QrnClient({ baseUrl: server.baseUrl, key: server.key });
    // other files of this process use the same account
    const usedBefore = (await client.usage()).data.credits.used;
    for await (const block of client.stream.bytes({ total: 100, block: 2, length: 8, entropyMode: 'pure' })) {
      assert.equal(block.credits.used, 16);
      break;
    }
    assert.equal((await client.usage()).data.credits.used - usedBefore, 16);
  });
});
