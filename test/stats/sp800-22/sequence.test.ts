import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../../src/core/assert.ts';
import {
  bitSequence,
  byteAt,
  onesIn,
  popcount,
  SEQUENCE_BITS_MAX,
  wordAt,
} from '../../../src/stats/sp800-22/sequence.ts';
import { arbitraryBits, packBits, sequenceOf } from '../../support/bit-sequences.ts';

test('words, bytes and counts are those of the bits, at every position', () => {
  fc.assert(
    fc.property(arbitraryBits(1, 200), fc.nat(200), fc.nat(200), (bits, from, count) => {
      const { words, length } = sequenceOf(bits);
      assert.equal(length, bits.length);
      const at = from % bits.length;
      const window = Array.from({ length: 32 }, (_, i) => bits[at + i] ?? 0).join('');
      assert.equal((wordAt(words, at) >>> 0).toString(2).padStart(32, '0'), window);
      const byte = Array.from({ length: 8 }, (_, i) => bits[8 * (at >>> 3) + i] ?? 0).join('');
      assert.equal(byteAt(words, at >>> 3), Number.parseInt(byte, 2));
      const ones = bits.slice(at, at + count).filter((bit) => bit === 1).length;
      assert.equal(onesIn(words, at, Math.min(count, bits.length - at)), ones);
    }),
  );
});

test('bits beyond the length do not count', () => {
  assert.deepEqual(
    bitSequence(Uint8Array.of(0xff, 0xff), 11),
    bitSequence(packBits(new Array(11).fill(1)), 11),
  );
});

test('popcount counts the ones of a word', () => {
  fc.assert(
    fc.property(fc.integer(), (word) => {
      assert.equal(popcount(word), (word >>> 0).toString(2).replaceAll('0', '').length);
    }),
  );
});

test('a sequence without bits, or longer than its bytes, is a bug of the caller', () => {
  assert.throws(() => bitSequence(new Uint8Array(2), 0), InvariantError);
  assert.throws(() => bitSequence(new Uint8Array(2), 17), InvariantError);
  assert.throws(() => bitSequence(new Uint8Array(2), 3.5), InvariantError);
  const tooLong = SEQUENCE_BITS_MAX + 8;
  assert.throws(() => bitSequence(new Uint8Array(tooLong / 8), tooLong), InvariantError);
});
