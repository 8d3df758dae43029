import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { EntropyReader } from '../../src/values/entropy-reader.ts';
import type { SortOrder } from '../../src/values/integers.ts';
import { BLOCK_BYTES, BLOCK_VALUES, windowsAreErased } from '../../src/values/kernels.ts';
import { drawJson } from '../../src/values/sample.ts';
import {
  jsonBytesMax,
  octetTypeOf,
  type SequenceRange,
  type ValueRequest,
} from '../../src/values/value-request.ts';
import { twinOctets, twinSample } from '../reference/values.ts';
import { drawnOctets, drawnText } from './drawn.ts';
import { keystream, readerOf } from './keystream.ts';
import { anyRequest, integers } from './requests.ts';

const ENTROPY = keystream(2 ** 20);

describe('answers of several blocks', () => {
  const counts = [BLOCK_VALUES - 1, BLOCK_VALUES, BLOCK_VALUES + 1, 2 * BLOCK_VALUES + 7];
  const requests: ValueRequest[] = counts.flatMap((count): ValueRequest[] => [
    integers(count, 5, 5),
    integers(count, 0, 1),
    integers(count, 0, 100),
    integers(count, -3, 9),
    integers(count, 2 ** 40, 2 ** 40 + 9),
    integers(count, 0, 999_999),
    integers(count, -(2 ** 31), 2 ** 31 - 1),
    integers(count, -1_500_000_000, 1_500_000_000),
    integers(count, -(2 ** 52), 2 ** 52 - 1),
    integers(count, -(10 ** 15), 10 ** 15),
    integers(count, -(10 ** 6), 10 ** 6, { sort: 'ascending' }),
    integers(count, 0, 10 ** 12, { unique: true }),
    { kind: 'floats', count, precision: null },
    ...[1, 4, 5, 6, 8, 9, 15].map((precision): ValueRequest => ({ kind: 'floats', count, precision })),
    { kind: 'uuid', count: Math.ceil(count / 2) },
  ]);
  for (const length of [1, 3, 13, 100, 1_024]) {
    for (const encoding of ['hex', 'base64'] as const) {
      for (const count of [1, Math.floor(BLOCK_BYTES / length), Math.floor((2.5 * BLOCK_BYTES) / length)]) {
        requests.push({ kind: 'bytes', count, length, encoding, single: count === 1 });
      }
    }
  }
  for (const bits of [-9, -1, 0, 1, 100_000]) {
    requests.push({ kind: 'bitstring', length: 8 * BLOCK_BYTES + bits });
  }

  // Rows at the bounds of what the kernel draws, more than a window holds, and lists of which a part is too long for it.
  const row = (length: number, max: number, unique = false) => ({ length, min: -7, max, unique });
  const rows: [ranges: SequenceRange[], count: number, sort: SortOrder][] = [
    [[row(1_024, 50_000)], 5, 'none'],
    [[row(1_025, 50_000)], 2, 'none'],
    [[row(64, 400, true), row(1, -7)], 90, 'ascending'],
    [[row(65, 400, true)], 9, 'descending'],
    [[row(600, 2_040, true), row(3, 2 ** 31 + 5)], 12, 'none'],
    [[row(600, 2_041, true)], 4, 'none'],
    [[row(64, 2 ** 40, true), row(2, 2 ** 53 - 8, true), row(40, 2)], 60, 'none'],
    [[row(5, 2 ** 52 - 6)], 900, 'descending'],
  ];
  // Small numbers, written as they are drawn: more than a window holds, words that are refused, a last word that gives fewer, beside others.
  const small = (length: number, min: number, max: number) => ({ length, min, max, unique: false });
  rows.push(
    [[small(10, 1, 49)], 5_000, 'none'],
    [[small(1, 0, 5)], 4_000, 'none'],
    [[small(13, 998, 999), small(3, 0, 999), row(2, 10 ** 10), small(7, 0, 102)], 900, 'none'],
    [[small(1_024, 0, 25)], 20, 'none'],
    [[row(8, 5 * 10 ** 15), small(694, 0, 3)], 2, 'none'], // words run out in the middle of a row behind another
  );
  // Shuffled small numbers, whose texts are moved, and the first that are too large for that.
  const shuffled = (length: number, min: number, max: number) => ({ length, min, max, unique: true });
  rows.push(
    [[shuffled(600, 0, 999), shuffled(2, 990, 997)], 30, 'none'],
    [[shuffled(600, 1, 1_000), shuffled(999, 1, 999)], 9, 'none'],
    [[shuffled(40, 0, 99)], 9, 'descending'],
  );
  for (const [ranges, count, sort] of rows) requests.push({ kind: 'sequences', count, ranges, sort });
  for (const [length, count] of [
    [1, 20_000],
    [2, 3_000],
    [7, 9_000],
    [10, 8_000],
    [11, 1_000],
    [1_024, 8],
    [1_025, 3],
  ]) {
    requests.push({ kind: 'permutations', count, length });
  }

  // alphabets of one byte, of everything that JSON escapes and of the most that the kernel's table holds; items that it holds or not
  const pairs = Array.from({ length: 1_000 }, (_, i) => String.fromCodePoint(0x1_f300 + i));
  for (const alphabet of [['a', 'b', 'c'], ['"', '\\', '\n', '\u0001', 'é', '€', '\u{1f600}'], pairs]) {
    for (const length of [1, 7, 100]) {
      requests.push({ kind: 'strings', count: Math.ceil(5_000 / length), length, alphabet });
    }
  }
  for (const length of [1, 16, 128]) {
    const alphabet = [...'abcdefghijklmnopqrstuvwxyz'];
    requests.push({ kind: 'strings', count: Math.ceil(40_000 / length), length, alphabet });
  }
  for (const size of [0, 29, 30, 5_000]) {
    const items = ['é', '"', 'x'.repeat(size)];
    for (const last of [3, 1_021, 1_022, 10 ** 12])
      requests.push({ kind: 'weighted', count: 5_000, items, weights: [1, 2, last] });
  }

  for (const request of requests) {
    it(`equal those of the slow twin: ${JSON.stringify(request).slice(0, 120)}`, () => {
      const { plain, consumedBytes } = twinSample(request, ENTROPY);
      const expected = JSON.stringify(plain);
      const reader = readerOf(ENTROPY, [65_504]);
      assert.ok(drawnText(request, reader) === expected, 'text');
      assert.ok(windowsAreErased());
      assert.equal(reader.consumedBytes, consumedBytes);
      const type = octetTypeOf(request);
      if (type !== undefined) {
        const again = readerOf(ENTROPY, [1_000]);
        const octets = drawnOctets(request, again);
        assert.ok(Buffer.from(octets).equals(twinOctets(request, type, plain)), type);
        assert.equal(again.consumedBytes, consumedBytes);
      }
    });
  }
});

describe('the windows', () => {
  it('are zero after an answer', () => {
    const target = new Uint8Array(2 ** 17);
    fc.assert(
      fc.property(anyRequest, fc.nat(2 ** 19), (request, skip) => {
        const reader = readerOf(ENTROPY.subarray(skip), [4_096]);
        drawJson(request, reader, target, 0);
        assert.ok(windowsAreErased());
        if (octetTypeOf(request) !== undefined) {
          drawnOctets(request, reader);
          assert.ok(windowsAreErased());
        }
      }),
      { numRuns: 300 },
    );
    for (const [min, max] of [
      [0, 1],
      [998, 999],
      [0, 2],
    ]) {
      drawJson(integers(10_000, min, max), readerOf(ENTROPY), target, 0);
      assert.ok(windowsAreErased());
    }
  });

  it('are zero after an answer that fails', () => {
    const requests: ValueRequest[] = [
      integers(9_000, 0, 100),
      { kind: 'floats', count: 9_000, precision: null },
      { kind: 'uuid', count: 9_000 },
      { kind: 'gaussians', count: 9_000, mean: 0, stddev: 1, digits: 14 },
      { kind: 'permutations', count: 900, length: 10 },
    ];
    for (const request of requests) {
      let chunks = 0;
      const reader = new EntropyReader(() => {
        if (chunks++ === 3) throw new Error('no entropy');
        return ENTROPY.slice(0, 1_001);
      });
      const target = new Uint8Array(jsonBytesMax(request));
      assert.throws(() => drawJson(request, reader, target, 0), /no entropy/);
      assert.ok(windowsAreErased());
    }
  });
});
