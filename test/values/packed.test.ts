import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { pack, unpack } from 'msgpackr';
import type { EntropyReader } from '../../src/values/entropy-reader.ts';
import { BLOCK_VALUES, windowsAreErased } from '../../src/values/kernels.ts';
import { packedBytesMax } from '../../src/values/packed.ts';
import { drawJson } from '../../src/values/sample.ts';
import { jsonBytesMax, type ValueRequest } from '../../src/values/value-request.ts';
import { drawnText } from './drawn.ts';
import { keystream, readerOf } from './keystream.ts';
import {
  anyRequest,
  gaussiansRequest,
  integers,
  permutationsRequest,
  sampleRequest,
  sequencesRequest,
  shuffleRequest,
  stringsRequest,
  weightedRequest,
} from './requests.ts';

const ENTROPY = keystream(2 ** 20);

/** Returns both forms of one draw, in memory of exactly the bounded size, between bytes that must not change. */
function drawn(request: ValueRequest, reader: EntropyReader): { text: string; packed: Buffer } {
  const textMax = jsonBytesMax(request);
  const packedMax = packedBytesMax(request, textMax);
  const bytes = new Uint8Array(8 + textMax + 8 + packedMax + 8).fill(0xee);
  const packed = { bytes, at: 16 + textMax };
  const textEnd = drawJson(request, reader, bytes, 8, packed);
  assert.ok(textEnd <= 8 + textMax && packed.at <= 16 + textMax + packedMax, 'both keep to their bounds');
  for (const [from, to] of [
    [0, 8],
    [8 + textMax, 16 + textMax],
    [16 + textMax + packedMax, bytes.length],
  ]) {
    assert.ok(
      bytes.subarray(from, to).every((byte) => byte === 0xee),
      'nothing around them is touched',
    );
  }
  const all = Buffer.from(bytes);
  return { text: all.toString('utf8', 8, textEnd), packed: all.subarray(16 + textMax, packed.at) };
}

/** The text is that of `drawJson`, which others hold against a slow twin. */
function assertSame(request: ValueRequest, entropy = ENTROPY): void {
  const reader = readerOf(entropy, [4_096]);
  const { text, packed } = drawn(request, reader);
  const again = readerOf(entropy, [4_096]);
  assert.ok(text === drawnText(request, again));
  assert.equal(reader.consumedBytes, again.consumedBytes);
  assert.ok(JSON.stringify(unpack(packed)) === text, `${request.kind} as MessagePack`);
  assert.ok(windowsAreErased());
}

describe('values in MessagePack', () => {
  it('are those of the JSON text beside them, over several blocks and after heads of every length', () => {
    const requests: ValueRequest[] = [
      integers(2 * BLOCK_VALUES + 7, 0, 100),
      integers(66_000, -(2 ** 31), 2 ** 31 - 1),
      integers(BLOCK_VALUES + 1, -(2 ** 52), 2 ** 52 - 1, { sort: 'ascending' }),
      { kind: 'floats', count: BLOCK_VALUES + 1, precision: null },
      { kind: 'floats', count: BLOCK_VALUES + 1, precision: 15 },
      { kind: 'uuid', count: 600 },
      ...[15, 16, 127, 128, 1_024].map(
        (length): ValueRequest => ({ kind: 'bytes', count: 40, length, encoding: 'hex', single: false }),
      ),
      { kind: 'bytes', count: 1, length: 1_024, encoding: 'base64', single: true },
      { kind: 'floats', count: 20, precision: 6 },
      integers(50, 0, 10 ** 12, { unique: true, sort: 'descending' }),
      { kind: 'shuffle', items: ['a', 'é', '"'] },
      { kind: 'bitstring', length: 31 },
      { kind: 'bitstring', length: 66_000 },
    ];
    for (const request of requests) assertSame(request);
    // the text of a block ends so close to the other form of its first row that whole vectors would reach it
    const ranges = [{ length: 2, min: 12_345, max: 2_147_495_997, unique: true }];
    assertSame({ kind: 'sequences', count: 3_519, ranges, sort: 'none' }, ENTROPY.subarray(100));
  });

  it('are those of the JSON text beside them, for any request', () => {
    fc.assert(
      fc.property(anyRequest, fc.nat(2 ** 19), (request, skip) =>
        assertSame(request, ENTROPY.subarray(skip)),
      ),
      { numRuns: 500 },
    );
  });

  it('equal byte for byte what msgpackr writes for lists and their texts', () => {
    const lists = fc.oneof(
      ...[shuffleRequest, sampleRequest, weightedRequest, stringsRequest, sequencesRequest],
      ...[permutationsRequest, gaussiansRequest],
    );
    fc.assert(
      fc.property(lists, fc.nat(2 ** 19), (request, skip) => {
        const { text, packed } = drawn(request, readerOf(ENTROPY.subarray(skip), [4_096]));
        assert.ok(packed.equals(pack(JSON.parse(text))), request.kind);
      }),
      { numRuns: 300 },
    );
  });

  it('are integers in the fewest bytes, and float64 beyond 32 bits', () => {
    const sizes: [value: number, bytes: number][] = [
      [0, 1],
      [127, 1],
      [128, 2],
      [255, 2],
      [256, 3],
      [65_535, 3],
      [65_536, 5],
      [2 ** 32 - 1, 5],
      [2 ** 32, 9],
      [Number.MAX_SAFE_INTEGER, 9],
      [-1, 1],
      [-32, 1],
      [-33, 2],
      [-128, 2],
      [-129, 3],
      [-32_768, 3],
      [-32_769, 5],
      [-(2 ** 31), 5],
      [-(2 ** 31) - 1, 9],
      [-Number.MAX_SAFE_INTEGER, 9],
    ];
    for (const [value, size] of sizes) {
      const { packed } = drawn(integers(1, value, value), readerOf(new Uint8Array(8)));
      assert.equal(packed.length, 1 + size, String(value));
      assert.deepEqual(unpack(packed), [value]);
    }
  });
});
