import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { offsetAt } from '../../src/values/kernels.ts';
import {
  drawnBlocks,
  drawPlanned,
  offsetBytesMax,
  planOffsets,
  refusalsMax,
} from '../../src/values/offsets.ts';
import { dividedOffset, multipliedOffsets } from '../reference/offsets.ts';
import { readerOf } from './keystream.ts';
import { anySpan } from './requests.ts';

/** Counts each result when every word is tried once; `refused` counts the words without a result. */
function enumerate(
  words: number,
  draw: (word: number) => string | undefined,
): { results: Map<string, number>; refused: number } {
  const results = new Map<string, number>();
  let refused = 0;
  for (let word = 0; word < words; word++) {
    const result = draw(word);
    if (result === undefined) refused++;
    else results.set(result, (results.get(result) ?? 0) + 1);
  }
  return { results, refused };
}

describe('the sampling rules, tried with every word of 8 or 11 bits', () => {
  for (const wordBits of [8, 11]) {
    it(`give batches of every size equally often (${wordBits} bits)`, () => {
      const words = 2 ** wordBits;
      for (let span = 2; span <= words; span++) {
        for (let size = 1; span ** size <= words; size++) {
          if (wordBits === 11 && size === 1 && span % 37 !== 0) continue; // the 8-bit words try them all
          const { results, refused } = enumerate(words, (word) =>
            multipliedOffsets(BigInt(word), BigInt(words), BigInt(span), size)?.join(),
          );
          assert.equal(results.size, span ** size, `span ${span}, ${size} values`);
          assert.deepEqual(new Set(results.values()), new Set([Math.floor(words / span ** size)]));
          assert.equal(refused, words % span ** size);
        }
      }
    });
  }

  it('give the remainder of a division equally often', () => {
    const words = 256;
    for (let span = 1; span <= words; span++) {
      const { results, refused } = enumerate(words, (word) =>
        dividedOffset(BigInt(word), BigInt(words), BigInt(span))?.toString(),
      );
      assert.equal(results.size, span);
      assert.deepEqual(new Set(results.values()), new Set([Math.floor(words / span)]));
      assert.equal(refused, words % span);
    }
  });
});

describe('offsets', () => {
  /** Words as little-endian bytes. */
  function bytesOf(words: readonly bigint[], wordBytes: number): Uint8Array {
    const bytes = new Uint8Array(words.length * wordBytes);
    words.forEach((word, i) => {
      for (let k = 0; k < wordBytes; k++) bytes[i * wordBytes + k] = Number((word >> BigInt(8 * k)) & 0xffn);
    });
    return bytes;
  }

  /** Returns the plan's results for exactly these words, in the windows and word by word. */
  function drawFrom(words: readonly bigint[], span: number, count: number): number[] {
    const plan = planOffsets(span);
    const reader = () => readerOf(bytesOf(words, plan.wordBytes), [1_000]);
    const inWindows: number[] = [];
    const blocks = drawnBlocks(reader(), plan, count);
    for (let drawn = blocks.next(); drawn > 0; drawn = blocks.next()) {
      for (let i = 0; i < drawn; i++) inWindows.push(offsetAt(i, blocks.isWide));
    }
    assert.deepEqual([...drawPlanned(reader(), plan, count)], inWindows);
    return inWindows;
  }

  const anyWord = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n });
  /** A place of a plan's results, or of its accepted words, that is examined from both sides. */
  const anyPlace = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: -2, max: 2 }));

  it('follow the rule of multiplication, especially where one result ends and the next begins', () => {
    fc.assert(
      fc.property(anySpan, fc.array(fc.oneof(anyWord, anyPlace), { maxLength: 40 }), (anyOfSpans, picks) => {
        const span = anyOfSpans % (2 ** 32 + 1);
        fc.pre(span > 1 && planOffsets(span).wordBytes === 4);
        const size = planOffsets(span).wordValues;
        const all = 2n ** 32n;
        const product = BigInt(span) ** BigInt(size);
        const words = picks.map((pick) => {
          if (typeof pick === 'bigint') return pick;
          const result = BigInt(Math.floor(pick[0] * Number(product)));
          const first = (result * all + product - 1n) / product;
          const word = first + BigInt(pick[1]);
          return word < 0n || word >= all ? 0n : word;
        });
        const expected = words.flatMap((word) => multipliedOffsets(word, all, BigInt(span), size) ?? []);
        assert.deepEqual(drawFrom(words, span, expected.length), expected.map(Number));
      }),
      { numRuns: 3_000 },
    );
  });

  it('follow the rule of division, especially at the multiples of the span and at the last word', () => {
    fc.assert(
      fc.property(anySpan, fc.array(anyPlace, { maxLength: 40 }), fc.nat(7), (span, places, topBits) => {
        const { method, wordBytes } = planOffsets(span);
        fc.pre(method === 'divided');
        const all = wordBytes === 7 ? 2n ** 53n : 2n ** BigInt(8 * wordBytes);
        const words = places.map(([place, delta]) => {
          const quotient = BigInt(Math.floor(place * Number(all / BigInt(span))));
          const word = quotient * BigInt(span) + BigInt(delta);
          return word < 0n || word >= all ? all - 1n : word;
        });
        const expected = words.flatMap((word) => dividedOffset(word, all, BigInt(span)) ?? []);
        // of seven bytes the topmost bits do not count
        const asRead = wordBytes === 7 ? words.map((word) => word | (BigInt(topBits) << 53n)) : words;
        assert.deepEqual(drawFrom(asRead, span, expected.length), expected.map(Number));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('refusalsMax', () => {
  /** log2 of P(more than r refusals before m acceptances), from the negative binomial distribution. */
  function log2Tail(m: number, p: number, r: number): number {
    let term = m * Math.log2(1 - p); // of 0 refusals
    for (let k = 1; k <= r; k++) term += Math.log2(((m + k - 1) / k) * p);
    let sum = 0;
    let next = 1;
    for (let k = r + 1; next > sum * 1e-12 || next > 1e-300 * sum; k++) {
      next *= ((m + k - 1) / k) * p;
      sum += next;
      if (next < sum * 1e-15) break;
    }
    return term + Math.log2(sum);
  }

  it('is exceeded with less than the stated probability', () => {
    for (const m of [1, 2, 3, 10, 100, 1_000, 25_000]) {
      for (const p of [2 ** -32, 1e-6, 0.0067, 1 / 16, 0.25, 0.4999]) {
        for (const bits of [64, 65]) {
          const tail = log2Tail(m, p, refusalsMax(m, p, bits));
          assert.ok(tail < -bits, `m ${m}, p ${p}: 2^${tail}`);
        }
      }
    }
  });

  it('is not far above the mean of long draws', () => {
    assert.ok(refusalsMax(1e5, 0.0067, 64) < 0.04 * 1e5);
    assert.equal(refusalsMax(1e5, 0, 64), 0);
  });
});

describe('offsetBytesMax', () => {
  it('counts the last, smaller batch with its own probability of refusal', () => {
    // 6^11 is refused for 7 % of the words, 6^10 for 4 in 10,000
    assert.ok(offsetBytesMax(planOffsets(6), 11, 64) > offsetBytesMax(planOffsets(6), 10, 64));
    assert.ok(offsetBytesMax(planOffsets(6), 21, 64) > offsetBytesMax(planOffsets(6), 10, 64) + 4);
    assert.ok(
      offsetBytesMax(planOffsets(6), 10, 64) >= 4 * (1 + 5),
      'six refusals have p = 2^-67, five 2^-56',
    );
  });

  it('is exact where no word is refused', () => {
    assert.equal(offsetBytesMax(planOffsets(256), 10, 64), 12);
    assert.equal(offsetBytesMax(planOffsets(1), 10, 64), 0);
  });
});
