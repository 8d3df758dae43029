import assert from 'node:assert/strict';
import { hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import fc from 'fast-check';
import { concatBytes, fromHex, toHex, utf8Bytes } from '../../src/core/bytes.ts';
import { deriveKey, hkdfSha256, KEY_LABELS, seedKey, sha256, sha256Hex } from '../../src/crypto/digest.ts';

const golden = JSON.parse(
  readFileSync(new URL('../vectors/crypto/expander.json', import.meta.url), 'utf8'),
) as {
  key: string;
  quantumSeed: string;
  systemEntropy: string;
  seedKey: { first: string; after: string };
};

describe('sha256', () => {
  // FIPS 180-4 examples, and the million letters of FIPS 180-2 B.3.
  const known: [name: string, message: Uint8Array, digest: string][] = [
    ['empty', new Uint8Array(0), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', utf8Bytes('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'two blocks',
      utf8Bytes('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'),
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
    [
      'a million a',
      new Uint8Array(1_000_000).fill(97),
      'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0',
    ],
  ];
  for (const [name, message, digest] of known) {
    it(name, () => {
      assert.equal(toHex(sha256(message)), digest);
      assert.equal(sha256Hex(message), digest);
    });
  }

  it('is what @noble/hashes computes, in an array of its own', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (message) => {
        const digest = sha256(message);
        assert.deepEqual(new Uint8Array(digest), new Uint8Array(nobleSha256(message)));
        assert.equal(digest.buffer.byteLength, 32);
      }),
    );
  });
});

describe('hkdfSha256', () => {
  // RFC 5869 A.1 to A.3
  const sequence = (from: number, to: number) =>
    Uint8Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const known: [ikm: Uint8Array, salt: Uint8Array, info: Uint8Array, okm: string][] = [
    [
      new Uint8Array(22).fill(0x0b),
      sequence(0x00, 0x0c),
      sequence(0xf0, 0xf9),
      '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865',
    ],
    [
      sequence(0x00, 0x4f),
      sequence(0x60, 0xaf),
      sequence(0xb0, 0xff),
      'b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87',
    ],
    [
      new Uint8Array(22).fill(0x0b),
      new Uint8Array(0),
      new Uint8Array(0),
      '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8',
    ],
  ];
  known.forEach(([ikm, salt, info, okm], i) => {
    it(`gives the answer of RFC 5869 A.${i + 1}`, () => {
      assert.equal(toHex(hkdfSha256(ikm, salt, info, okm.length / 2)), okm);
      assert.equal(toHex(new Uint8Array(hkdfSync('sha256', ikm, salt, info, okm.length / 2))), okm);
    });
  });
});

describe('derived keys', () => {
  it('are the golden values for a seed', () => {
    const [quantum, system, key] = [golden.quantumSeed, golden.systemEntropy, golden.key].map(fromHex);
    assert.equal(toHex(seedKey(quantum, system, null)), golden.seedKey.first);
    assert.equal(toHex(seedKey(quantum, system, key)), golden.seedKey.after);
    assert.equal(toHex(quantum), golden.quantumSeed, 'inputs are left as they are');
  });

  it('are refused for inputs of another size', () => {
    const good = new Uint8Array(32);
    const bad = new Uint8Array(31);
    assert.throws(() => seedKey(bad, good, good), RangeError);
    assert.throws(() => seedKey(good, bad, good), RangeError);
    assert.throws(() => seedKey(good, good, bad), RangeError);
    assert.throws(() => seedKey(good, good, new Uint8Array(0)), RangeError, 'no key is null, not empty');
  });

  it('depend on where one input ends and the next begins', () => {
    const [a, b, c] = ['ab', 'c', ''].map(utf8Bytes);
    const lists = [[a, b], [concatBytes(a, b)], [utf8Bytes('a'), utf8Bytes('bc')], [a, b, c], [c, a, b]];
    assert.equal(new Set(lists.map((list) => toHex(deriveKey('seed', list)))).size, lists.length);
  });

  it('have a label of their own for each domain', () => {
    const labels = Object.values(KEY_LABELS);
    assert.equal(new Set(labels).size, labels.length);
  });
});
