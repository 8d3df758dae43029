import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { BatchType } from '../../clients/typescript/src/answers.ts';
import { QrnClient } from '../../clients/typescript/src/client.ts';
import type { BatchParameters } from '../../clients/typescript/src/parameters.ts';
import { Streams } from '../../clients/typescript/src/stream.ts';
import type { CallOptions } from '../../clients/typescript/src/transport.ts';
import { TestServer } from '../support/server.ts';

interface Asked {
  readonly parameters: BatchParameters<BatchType>;
  readonly signal: AbortSignal;
}

/** Remembers what it is asked; answers at once, or rejects the call with that number. */
function remembering(failing = -1): { readonly asked: Asked[]; readonly streams: Streams } {
  const asked: Asked[] = [];
  const batchBinary = (parameters: BatchParameters<BatchType>, call: CallOptions = {}) => {
    asked.push({ parameters, signal: call.signal as AbortSignal });
    if (asked.length - 1 === failing) return Promise.reject(new Error('no more'));
    return Promise.resolve({ data: { count: parameters.count, type: parameters.type } });
  };
  return { asked, streams: new Streams({ batchBinary } as unknown as QrnClient) };
}

describe('a stream', () => {
  it('asks for blocks until it has all, the last one smaller', async () => {
    const { asked, streams } = remembering();
    const counts: number[] = [];
    for await (const { data } of streams.floats({ total: 250_001, precision: 3, entropyMode: 'csprng' })) {
      counts.push(data.count);
    }
    assert.deepEqual(counts, [100_000, 100_000, 50_001]);
    assert.deepEqual(asked[0].parameters, {
      type: 'floats',
      count: 100_000,
      params: { precision: 3 },
      entropyMode: 'csprng',
    });
  });

  it('has one call under way ahead, and none in pure mode', async () => {
    for (const [entropyMode, first] of [
      ['quantum-seeded', 2],
      ['pure', 1],
    ] as const) {
      const { asked, streams } = remembering();
      const stream = streams.uuid({ total: 50, block: 10, entropyMode });
      assert.equal(asked.length, 0); // nothing before the first block is wanted
      await stream.next();
      assert.equal(asked.length, first);
      await stream.next();
      assert.equal(asked.length, first + 1);
    }
    const { asked, streams } = remembering();
    await streams.integers({ total: 50, block: 10, ahead: 3, min: 1, max: 6 }).next();
    assert.equal(asked.length, 4);
  });

  it('ends the calls under way when the loop is left', async () => {
    const { asked, streams } = remembering();
    for await (const _ of streams.integers({ total: 1_000, block: 10 })) break;
    assert.deepEqual(
      asked.map(({ signal }) => signal.aborted),
      [true, true],
    );
  });

  it('ends with the error of a block, after the blocks before it', async () => {
    const { asked, streams } = remembering(2);
    const stream = streams.integers({ total: 1_000, block: 10 });
    assert.equal((await stream.next()).done, false);
    assert.equal((await stream.next()).done, false);
    await assert.rejects(stream.next(), /no more/);
    assert.equal((await stream.next()).done, true);
    assert.ok(asked.length <= 4);
  });

  it('hands the abort of its caller on', async () => {
    const { asked, streams } = remembering();
    const caller = new AbortController();
    const stream = streams.integers({ total: 1_000, block: 10 }, { signal: caller.signal });
    await stream.next();
    caller.abort(new Error('enough'));
    assert.equal(asked[0].signal.reason.message, 'enough');
  });

  it('takes blocks of bytes that a reply can hold', async () => {
    const { asked, streams } = remembering();
    await streams.bytes({ total: 1e6, length: 1_024 }).next();
    assert.equal(asked[0].parameters.count, 16_384);
  });

  it('refuses sizes that cannot be meant, before it is read', () => {
    const { streams } = remembering();
    for (const size of [
      { total: 0 },
      { total: 1.5 },
      { total: 9, block: 0 },
      { total: 9, block: 100_001 },
      { total: 9, ahead: 9 },
    ])
      assert.throws(() => streams.floats(size), RangeError, JSON.stringify(size));
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
