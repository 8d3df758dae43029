import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawJson } from '../../src/values/sample.ts';
import { shuffledPlaces } from '../../src/values/shuffle.ts';
import { keystreamReader } from './keystream.ts';

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
});

describe('the text of a shuffle', () => {
  it('is refused for a lone surrogate, which is no Unicode text', () => {
    const target = new Uint8Array(32);
    assert.throws(() =>
      drawJson({ kind: 'shuffle', items: ['\ud800', 'a'] }, keystreamReader(64), target, 0),
    );
  });
});
