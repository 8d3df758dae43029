import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DESCENDING_BOUND_MAX, fillDescending } from '../../src/values/descending.ts';
import { drawJson } from '../../src/values/sample.ts';
import { shuffledPlaces } from '../../src/values/shuffle.ts';
import { jsonBytesMax } from '../../src/values/value-request.ts';
import { keystreamReader } from './keystream.ts';
import { shuffleRequest } from './requests.ts';

class UsedUp extends Error {}

/** The words given and no more. */
function wordsOf(words: readonly number[]) {
  let next = 0;
  return {
    u32: () => {
      if (next === words.length) throw new UsedUp();
      return words[next++];
    },
    isUsedUp: () => next === words.length,
  };
}

/** How often each order comes when every sequence of `count` words is tried, refused and unfinished ones left out. */
function enumerateOrders(size: number, wordBits: number, count: number): Map<string, number> {
  const words = 2 ** wordBits;
  const orders = new Map<string, number>();
  for (let sequence = 0; sequence < words ** count; sequence++) {
    const source = wordsOf(
      Array.from({ length: count }, (_, i) => Math.floor(sequence / words ** i) % words),
    );
    try {
      const order = shuffledPlaces(source, size, wordBits).join();
      if (source.isUsedUp()) orders.set(order, (orders.get(order) ?? 0) + 1);
    } catch (error) {
      if (!(error instanceof UsedUp)) throw error;
    }
  }
  return orders;
}

describe('shuffledPlaces', () => {
  const cases = [
    { size: 3, wordBits: 8, count: 1, perOrder: 42 }, // 3 · 2 at once: floor(256 / 6) words each
    { size: 4, wordBits: 8, count: 2, perOrder: 21 * 128 }, // 4 · 3 at once, then 2: floor(256 / 12) · 256 / 2
    { size: 4, wordBits: 5, count: 3, perOrder: 8 * 10 * 16 }, // one at a time: 4 and 3 exceed a sixteenth of 32
    { size: 2, wordBits: 8, count: 1, perOrder: 128 },
  ];
  for (const { size, wordBits, count, perOrder } of cases) {
    it(`gives every order of ${size} items equally often, all words of ${wordBits} bits`, () => {
      const orders = enumerateOrders(size, wordBits, count);
      let factorial = 1;
      for (let i = 2; i <= size; i++) factorial *= i;
      assert.equal(orders.size, factorial);
      assert.deepEqual(new Set(orders.values()), new Set([perOrder]));
    });
  }

  it('keeps every place', () => {
    assert.deepEqual([...shuffledPlaces(keystreamReader(64), 6, 32).sort()], [0, 1, 2, 3, 4, 5]);
  });

  it('takes nothing for one item', () => {
    assert.deepEqual([...shuffledPlaces(wordsOf([]), 1, 32)], [0]);
  });
});

describe('fillDescending', () => {
  it('stays below each bound and reaches both ends of it', () => {
    const reader = keystreamReader(2 ** 20);
    const lowest = new Uint32Array(10).fill(10);
    const highest = new Uint32Array(10);
    for (let run = 0; run < 2_000; run++) {
      const out = new Uint32Array(10);
      fillDescending(reader, 10, out, 32);
      for (let i = 0; i < 10; i++) {
        lowest[i] = Math.min(lowest[i], out[i]);
        highest[i] = Math.max(highest[i], out[i]);
      }
    }
    assert.deepEqual([...lowest], Array(10).fill(0));
    assert.deepEqual([...highest], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  });

  it('works at its largest bound and refuses a larger one', () => {
    const top = { ...wordsOf([2 ** 32 - 1]) };
    const out = new Uint32Array(1);
    fillDescending(top, DESCENDING_BOUND_MAX, out, 32);
    assert.equal(out[0], DESCENDING_BOUND_MAX - 1);
    assert.ok(Number.isSafeInteger((2 ** 32 - 1) * DESCENDING_BOUND_MAX), 'a product is exact in a double');
    assert.throws(() => fillDescending(top, DESCENDING_BOUND_MAX + 1, out, 32));
    assert.throws(() => fillDescending(top, 3, new Uint32Array(4), 32));
  });
});

describe('the text of a shuffle', () => {
  it('has exactly the size that was announced', () => {
    fc.assert(
      fc.property(shuffleRequest, (request) => {
        assert(request.kind === 'shuffle');
        const size = jsonBytesMax(request);
        assert.equal(size, Buffer.byteLength(JSON.stringify(request.items)));
        const target = new Uint8Array(size);
        assert.equal(drawJson(request, keystreamReader(4_096), target, 0), size);
      }),
    );
  });

  it('is refused for a lone surrogate, which is no Unicode text', () => {
    const target = new Uint8Array(32);
    assert.throws(() =>
      drawJson({ kind: 'shuffle', items: ['\ud800', 'a'] }, keystreamReader(64), target, 0),
    );
  });
});
