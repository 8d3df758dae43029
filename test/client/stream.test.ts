import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { QrnClient, type QrnClientOptions } from '../../clients/typescript/src/client.ts';
import { settle } from '../pool/fixtures.ts';
import { ON_NODE, TestServer } from '../support/server.ts';
import { OCTET_FIELDS } from './fake-service.ts';

interface Asked {
  readonly count: number;
  readonly key: string | undefined;
  readonly signal: AbortSignal;
  /** A block whose values are all this. */
  answer(value: number): void;
  refuse(status: number, code: string): void;
}

/** A client whose requests are answered when the test says so. */
function scripted(options: QrnClientOptions = {}) {
  const asked: Asked[] = [];
  const client = new QrnClient({
    baseUrl: 'http://127.0.0.1:1/v1',
    key: 'qrn_p_key',
    retries: 0,
    ...options,
    fetch: (url, { body, headers, signal }) =>
      new Promise((resolve, reject) => {
        assert.equal(new URL(url).pathname, '/v1/batch');
        const { count } = JSON.parse(body!) as { count: number };
        signal.addEventListener('abort', () => reject(signal.reason));
        asked.push({
          ...{ count, key: headers['Idempotency-Key'], signal },
          answer: (value) =>
            resolve(new Response(new Int32Array(count).fill(value), { status: 200, headers: OCTET_FIELDS })),
          refuse: (status, code) =>
            resolve(
              Response.json({ error: { code, message: 'no', status, request_id: 'req_x' } }, { status }),
            ),
        });
      }),
  });
  return { client, asked };
}

const SIZE = { block: 2, min: 1, max: 9 } as const;

describe('a stream', () => {
  it('requests one more block ahead with each that was taken, at most four, and returns them in order', async () => {
    const { client, asked } = scripted();
    const stream = client.stream.integers({ total: 19, ...SIZE });
    const ahead: number[] = [];
    for (let taken = 0; taken < 10; taken++) {
      const next = stream.next();
      await settle();
      ahead.push(asked.length - taken);
      asked.slice(taken).forEach((each, i) => {
        each.answer(taken + i);
      });
      const { value } = await next;
      assert.ok(value !== undefined && [...value.data.values].every((each) => each === taken));
    }
    assert.deepEqual(ahead, [1, 2, 3, 4, 4, 4, 4, 3, 2, 1]);
    assert.equal((await stream.next()).done, true);
    assert.deepEqual(
      asked.map(({ count }) => count),
      [2, 2, 2, 2, 2, 2, 2, 2, 2, 1],
    );
    const keys = asked.map(({ key }) => key);
    assert.ok(!keys.includes(undefined) && new Set(keys).size === 10, 'each has a key of its own');
  });

  it('requests each block only when it is needed if blocks cost credits or have serials', async () => {
    for (const costly of [{ entropyMode: 'pure' }, { purpose: 'a draw' }] as const) {
      const { client, asked } = scripted();
      const stream = client.stream.integers({ total: 9, ...SIZE, ...costly });
      for (let taken = 0; taken < 3; taken++) {
        const next = stream.next();
        await settle();
        assert.equal(asked.length, taken + 1);
        asked[taken].answer(1);
        await next;
      }
    }
  });

  it('ends with a permanent error after the blocks before it, and aborts the other requests', async () => {
    const { client, asked } = scripted();
    const stream = client.stream.integers({ total: 99, ...SIZE });
    const first = stream.next();
    await settle();
    asked[0].answer(1);
    await first;
    const second = stream.next();
    await settle();
    asked[2].refuse(401, 'auth_invalid');
    asked[1].answer(2);
    assert.equal((await second).done, false);
    const error = { name: 'AuthenticationError', code: 'auth_invalid', requestId: 'req_x' };
    await assert.rejects(stream.next(), error);
    await settle();
    assert.equal(asked.length, 3, 'what came behind it is given up');
    assert.equal((await stream.next()).done, true);
  });

  it('aborts its requests when the loop is left, and when its caller aborts', async () => {
    const left = scripted();
    const leaving = (async () => {
      for await (const _ of left.client.stream.integers({ total: 9, ...SIZE })) {
        break;
      }
    })();
    await settle();
    left.asked[0].answer(1);
    await leaving;
    const { client, asked } = scripted();
    const caller = new AbortController();
    const stream = client.stream.integers({ total: 9, ...SIZE }, { signal: caller.signal });
    const first = stream.next();
    await settle();
    asked[0].answer(1);
    await first;
    const next = stream.next();
    await settle();
    caller.abort(new Error('enough'));
    await assert.rejects(next, /^Error: enough$/);
    assert.ok(asked.slice(1).every(({ signal }) => signal.aborted));
    await assert.rejects(
      client.stream.integers({ total: 9 }, { signal: caller.signal }).next(),
      /^Error: enough$/,
    );
    assert.equal(asked.length, 3, 'nothing is asked for a caller that has gone before');
  });

  it('refuses invalid sizes before it is read', () => {
    const { client } = scripted();
    for (const size of [{ total: 0 }, { total: 1.5 }, { total: 9, block: 0 }, { total: 9, block: 100_001 }])
      assert.throws(() => client.stream.floats(size), RangeError, JSON.stringify(size));
  });
});

describe('a stream of the service', () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.shared(ON_NODE);
  });

  it('returns more values than one call may, and the certificate of each block verifies', async () => {
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

  it('in pure mode is charged only for the blocks that were read', async () => {
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
