import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { Random, type RandomOptions } from '../../clients/typescript/src/random.ts';
import { planWords } from '../../clients/typescript/src/uniform.ts';
import { settle } from '../pool/fixtures.ts';
import { keystream } from '../values/keystream.ts';
import { KnownBytes } from './byte-client.ts';

const STREAM = keystream(2 ** 22);

function randomOf(options: RandomOptions = {}, stream: Uint8Array = STREAM) {
  const source = new KnownBytes(stream);
  return { source, random: new Random(source.client, options) };
}

/** Reads the stream the plain way: the next word of the plan that is not refused. */
function plainReader(stream: Uint8Array): (span: number) => number {
  let at = 0;
  return (span) => {
    const { bytes, limit } = planWords(span);
    for (;;) {
      let word = 0n; // most significant byte first; seven bytes give 53 bits
      for (const byte of stream.subarray(at, at + bytes)) word = (word << 8n) | BigInt(byte);
      if (bytes === 7) word &= 2n ** 53n - 1n;
      at += bytes;
      if (word < limit) return Number(word) % span;
    }
  };
}

/**
 * Values from the first bytes of the stream. A change here changes values for everyone, and needs a line in the
 * changelog.
 */
const GOLDEN = {
  dice: [4, 2, 6],
  wide: 7_253_587_370_294_531,
  float: 0.7413159800456187,
  shuffled: ['e', 'a', 'c', 'd', 'b'],
  picked: 'y',
  uuid: 'ccb2cc7d-4cd8-4a24-922b-23cce7a26023',
  bytes: [171, 63, 14, 239],
};

describe('values', () => {
  it('are those of the stream, word after word, whatever the size of a refill', async () => {
    for (const refillBytes of [16, 37, 1_024, 4_096]) {
      const { random } = randomOf({ refillBytes });
      const next = plainReader(STREAM);
      for (let round = 0; round < 60; round++) {
        assert.equal(await random.integer(1, 6), 1 + next(6));
        assert.equal(await random.integer(-(2 ** 52), 2 ** 52 - 1), next(2 ** 53) - 2 ** 52);
        assert.equal(await random.float(), next(2 ** 53) / 2 ** 53);
        assert.equal(await random.integer(7, 7), 7);
        const items = Array.from({ length: 9 }, (_, i) => i);
        const picked = items[next(9)];
        assert.equal(await random.pick(items), picked);
        const shuffled = items.slice();
        for (let last = 8; last > 0; last--) {
          const other = next(last + 1);
          [shuffled[last], shuffled[other]] = [shuffled[other], shuffled[last]];
        }
        assert.deepEqual(await random.shuffle(items), shuffled);
        assert.deepEqual(items, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
      }
    }
  });

  it('stay the same from release to release on a fixed stream', async () => {
    const { random } = randomOf();
    const outputs = {
      dice: [await random.integer(1, 6), await random.integer(1, 6), await random.integer(1, 6)],
      wide: await random.integer(0, 2 ** 53 - 1),
      float: await random.float(),
      shuffled: await random.shuffle(['a', 'b', 'c', 'd', 'e']),
      picked: await random.pick(['x', 'y', 'z']),
      uuid: await random.uuid(),
      bytes: [...(await random.bytes(4))],
    };
    assert.deepEqual(outputs, GOLDEN);
  });

  it('are refused for invalid bounds, and draw nothing', async () => {
    const { random, source } = randomOf();
    const wrong: [min: number, max: number][] = [
      [2, 1],
      [0, 1.5],
      [Number.NaN, 1],
      [-1, 2 ** 53 - 1],
      [0, 2 ** 53],
    ];
    for (const [min, max] of wrong)
      await assert.rejects(random.integer(min, max), RangeError, `${min} ${max}`);
    for (const count of [-1, 0.5, Number.NaN]) await assert.rejects(random.bytes(count), RangeError);
    await assert.rejects(random.pick([]), RangeError);
    assert.deepEqual(await random.shuffle([]), []);
    assert.deepEqual(await random.shuffle(['one']), ['one']);
    assert.equal(source.asked.length, 0);
  });
});

describe('bytes', () => {
  it('are handed out once, in order, across refills and with any number of concurrent draws', async () => {
    const { random } = randomOf({ refillBytes: 64 });
    const pieces = await Promise.all([7, 100, 1, 64, 0, 333].map((count) => random.bytes(count)));
    assert.deepEqual(
      pieces.map((piece) => piece.length),
      [7, 100, 1, 64, 0, 333],
    );
    const rest = await random.bytes(random.availableBytes);
    // who gets which is open; together they are the stream, each byte once
    const all = Buffer.concat([...pieces, rest]).sort();
    assert.deepEqual(new Uint8Array(all), STREAM.slice(0, all.length).sort());
    const { random: alone } = randomOf({ refillBytes: 48 });
    assert.deepEqual(
      Buffer.concat([await alone.bytes(5), await alone.bytes(200), await alone.bytes(3)]),
      Buffer.from(STREAM.slice(0, 208)),
    );
  });

  it('are erased in place as soon as they are used', async () => {
    const { random, source } = randomOf({ refillBytes: 64, lowBytes: 0 });
    await random.bytes(20);
    assert.deepEqual(source.given[0], Uint8Array.of(...new Uint8Array(20), ...STREAM.slice(20, 64)));
    await random.uuid();
    await random.integer(0, 255);
    assert.deepEqual(source.given[0], Uint8Array.of(...new Uint8Array(37), ...STREAM.slice(37, 64)));
    random.close();
    assert.deepEqual(source.given[0], new Uint8Array(64));
  });

  it('are fetched ahead, one refill at a time, and no draw waits while there are enough', async () => {
    const { random, source } = randomOf({ refillBytes: 64, lowBytes: 32 });
    await random.bytes(1);
    assert.equal(source.asked.length, 1);
    let open = () => {};
    source.gate = new Promise((resolve) => (open = resolve));
    await random.bytes(31);
    assert.equal(source.asked.length, 1);
    await random.bytes(1); // 31 left
    assert.equal(source.asked.length, 2);
    await random.bytes(31); // none left, and the gate is shut
    assert.equal(random.availableBytes, 0);
    const waiting = random.integer(0, 255);
    open();
    assert.equal(await waiting, STREAM[64]);
    assert.equal(source.asked.length, 2);
  });
});

describe('a refill', () => {
  it('is a batch of values of 1 KiB, or of bytes up to 1,024, in the requested mode', async () => {
    const cases: [RandomOptions, object][] = [
      [{}, { type: 'bytes', count: 16, params: { length: 1_024 }, entropyMode: undefined }],
      [{ entropyMode: 'pure' }, { count: 256, entropyMode: 'pure' }],
      [
        { refillBytes: 1_024, entropyMode: 'csprng' },
        { count: 1_024, entropyMode: 'csprng' },
      ],
      [
        { refillBytes: 2_048 },
        { type: 'bytes', count: 2, params: { length: 1_024 }, entropyMode: undefined },
      ],
    ];
    for (const [options, parameters] of cases) {
      const { random, source } = randomOf(options);
      await random.integer(0, 1);
      assert.deepEqual(source.asked[0].parameters, parameters);
    }
    for (const refillBytes of [15, 0, 17.5, 1_025, 2_049, 2 ** 20 + 1_024, Number.NaN])
      assert.throws(() => randomOf({ refillBytes }), RangeError, `${refillBytes}`);
    for (const lowBytes of [-1, 65, Number.NaN])
      assert.throws(() => randomOf({ refillBytes: 64, lowBytes }), RangeError);
  });

  it('that fails rejects the draws that wait for it; the next draw asks again, and no other source is used', async () => {
    const { random, source } = randomOf({ refillBytes: 64, lowBytes: 0 });
    source.failure = new Error('no entropy');
    const forbidden = () => assert.fail('a value came from elsewhere');
    const guards = [
      mock.method(Math, 'random', forbidden),
      mock.method(globalThis.crypto, 'getRandomValues', forbidden),
      mock.method(globalThis.crypto, 'randomUUID', forbidden),
    ];
    try {
      const draws = [
        random.integer(1, 6),
        random.float(),
        random.uuid(),
        random.bytes(3),
        random.pick([1, 2]),
      ];
      for (const { status, reason } of (await Promise.allSettled(draws)) as PromiseRejectedResult[])
        assert.deepEqual([status, reason], ['rejected', source.failure]);
      assert.equal(source.asked.length, 1);
      source.failure = undefined;
      assert.deepEqual(await random.bytes(3), STREAM.slice(0, 3));
      assert.equal(source.asked.length, 2);
    } finally {
      for (const guard of guards) guard.mock.restore();
    }
  });

  it('made ahead fails silently, and is not retried until a draw needs its bytes', async () => {
    const { random, source } = randomOf({ refillBytes: 64, lowBytes: 32 });
    await random.bytes(1);
    source.failure = new Error('no entropy');
    await random.bytes(40);
    await settle();
    assert.equal(source.asked.length, 2);
    await random.bytes(23);
    await settle();
    assert.equal(source.asked.length, 2);
    await assert.rejects(random.bytes(1), source.failure);
    assert.equal(source.asked.length, 3);
    source.failure = undefined;
    assert.deepEqual(await random.bytes(1), STREAM.slice(64, 65));
    await random.bytes(40);
    assert.equal(source.asked.length, 5); // ahead again
  });

  it('is passed to the callback before any of it is used, and discarded when that throws', async () => {
    const seen: string[] = [];
    let failure: Error | undefined;
    const onRefill = async (answer: { metadata: { certificate_id: string } }) => {
      await settle();
      seen.push(answer.metadata.certificate_id);
      if (failure !== undefined) throw failure;
    };
    const { random, source } = randomOf({ refillBytes: 16, lowBytes: 0, onRefill });
    await random.bytes(16);
    assert.deepEqual(seen, ['cert_0']);
    failure = new Error('not verified');
    await assert.rejects(random.bytes(1), failure);
    assert.deepEqual(source.given[1], new Uint8Array(16));
    failure = undefined;
    assert.deepEqual(await random.bytes(1), STREAM.slice(32, 33));
  });
});

describe('close', () => {
  it('rejects the waiting draws and their refill, and later draws too', async () => {
    const { random, source } = randomOf({ refillBytes: 16 });
    let open = () => {};
    source.gate = new Promise((resolve) => (open = resolve));
    const waiting = random.bytes(4);
    await settle();
    random.close();
    assert.equal(source.asked[0].signal?.aborted, true);
    open();
    await assert.rejects(waiting, /was closed/);
    for (const draw of [random.bytes(1), random.bytes(0), random.integer(0, 1), random.uuid()])
      await assert.rejects(draw, /was closed/);
    assert.equal(random.availableBytes, 0);
  });

  it('erases a refill that comes too late', async () => {
    const source = new KnownBytes(STREAM);
    const late = STREAM.slice(0, 16);
    let give = (_: Uint8Array) => {};
    const answered = new Promise<Uint8Array>((resolve) => (give = resolve));
    const client = {
      ...source.client,
      bytesBinary: async () => ({ data: { bytes: await answered, count: 16 } }),
    } as unknown as ConstructorParameters<typeof Random>[0];
    const random = new Random(client, { refillBytes: 16 });
    const waiting = random.bytes(4);
    random.close();
    give(late);
    await assert.rejects(waiting, /was closed/);
    assert.deepEqual(late, new Uint8Array(16));
  });
});
