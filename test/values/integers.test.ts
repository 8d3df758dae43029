import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { writeIntegers } from '../../src/values/integers.ts';
import { blocksOf } from '../../src/values/offsets.ts';
import { drawnText } from './drawn.ts';
import { readerOf } from './keystream.ts';
import { integers } from './requests.ts';

const MAX = Number.MAX_SAFE_INTEGER;

/** Every power of ten and of two with its neighbours, where lengths and carries change. */
const EDGES: number[] = [0, MAX];
for (let e = 0; e <= 15; e++) EDGES.push(10 ** e - 1, 10 ** e, 10 ** e + 1);
for (let e = 0; e <= 52; e++) EDGES.push(2 ** e - 1, 2 ** e, 2 ** e + 1);
for (let e = 8; e <= 15; e++) EDGES.push(9 * 10 ** e - 1, 9 * 10 ** (e - 8) * 1e8 - 1);

/** Checks the text of these values, which lie in [min, max]. */
function check(values: readonly number[], min: number, max: number): void {
  const offsets = values.map((value) => value - min);
  const widths = max - min < 2 ** 32 ? [Uint32Array, Float64Array] : [Float64Array];
  for (const Width of widths) {
    const target = new Uint8Array(values.length * 18 + 20).fill(0xee);
    const end = writeIntegers(blocksOf(Width.from(offsets)), { min, max }, target, 5);
    const text = Buffer.from(target.subarray(5, end)).toString();
    const expected = values.map((value) => `${value},`).join('');
    if (text !== expected) assert.deepEqual(JSON.parse(`[${text.slice(0, -1)}]`), values); // a message on failure alone
    assert.equal(text, expected);
    assert.ok(
      target.subarray(0, 5).every((byte) => byte === 0xee) && target[end] === 0xee,
      'nothing around it',
    );
  }
}

describe('the text of integers', () => {
  it('is that of String: all up to 20,000 and the edges, of either sign', () => {
    const small = Array.from({ length: 20_000 }, (_, n) => n);
    check(small, 0, 2 ** 31 - 1);
    check(
      small.map((n) => -n),
      -(2 ** 31),
      0,
    );
    const int32 = EDGES.flatMap((n) => [n, -n]).filter((n) => n !== 0 && n >= -(2 ** 31) && n < 2 ** 31);
    check(int32, -(2 ** 31), 2 ** 31 - 1);
    check(
      EDGES.filter((n) => n < 2 ** 32),
      0,
      2 ** 32 - 1,
    );
    check(EDGES, 0, MAX);
    check(
      EDGES.filter((n) => n > 0).map((n) => -n),
      -MAX,
      -1,
    );
  });

  it('is that of String for any safe integers in any range', () => {
    const anyValues = fc.array(fc.maxSafeInteger(), { minLength: 1, maxLength: 100 });
    fc.assert(
      fc.property(anyValues, fc.integer({ min: 0, max: 52 }), (wide, bits) => {
        const first = wide[0];
        const near = wide.map((n) => Math.max(-MAX, Math.min(MAX, first + (n % 2 ** bits))));
        const min = near.reduce((a, b) => Math.min(a, b));
        const max = near.reduce((a, b) => Math.max(a, b));
        fc.pre(max - min < 2 ** 53);
        check(near, min, max);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is exact where the quotient that splits a safe integer is nearly whole', () => {
    const values: number[] = [];
    for (let high = 90_071_900; high <= 90_071_992; high++) {
      for (const low of [0, 1, 99_999_999]) values.push(high * 1e8 + low);
    }
    check(
      values.filter((n) => n <= MAX),
      0,
      MAX,
    );
  });

  it('is right for every number of every small range, drawn and written at once', () => {
    // Each word gives one value at a time: the first word of result k is ceil(k · 2^32 / span), and it is accepted
    // when it is not the very first of a span that does not divide 2^32.
    for (const [min, span] of [
      [0, 1_000],
      [0, 101],
      [1, 6],
      [7, 2],
      [990, 10],
      [899, 101],
    ]) {
      for (let k = 0; k < span; k++) {
        const word = Math.ceil((k * 2 ** 32 + (2 ** 32 % span)) / span);
        const bytes = new Uint8Array(4);
        new DataView(bytes.buffer).setUint32(0, word, true);
        assert.equal(drawnText(integers(1, min, min + span - 1), readerOf(bytes)), `[${min + k}]`);
      }
    }
  });
});
