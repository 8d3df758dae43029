import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { collision, compression } from '../../../src/stats/sp800-90b/closed-forms.ts';
import { assertClose } from './details.ts';

const bitsOf = (text: string): Uint8Array => Uint8Array.from(text, Number);
suite('collision', () => {
  test('late collisions alone mean full entropy, and early ones alone none', () => {
    assert.equal(collision(bitsOf('01'.repeat(500)))?.minEntropy, 1);
    assert.equal(collision(new Uint8Array(1000))?.minEntropy, 0);
  });

  test('a sequence that is too short has no estimate', () => {
    assert.equal(collision(bitsOf('0010')), null);
    assert.equal(collision(bitsOf('00101'))?.collisions, 2);
  });
});

suite('compression', () => {
  test('a constant block has no entropy', () => {
    assertClose(compression(new Uint8Array(12_000))?.minEntropy ?? -1, 0, 'stuck');
  });

  test('blocks that repeat as late as possible have full entropy', () => {
    // All 64 blocks in turn: the distance is 64 each time, longer than random blocks have on average.
    const bits = Uint8Array.from({ length: 6 * 2000 }, (_, i) => (Math.floor(i / 6) >> (5 - (i % 6))) & 1);
    assert.equal(compression(bits)?.mean, 6);
    assert.equal(compression(bits)?.minEntropy, 1);
  });

  test('a sequence that is too short has no estimate', () => {
    assert.equal(compression(new Uint8Array(6 * 1001 + 5)), null);
    assert.notEqual(compression(new Uint8Array(6 * 1002)), null);
  });
});
