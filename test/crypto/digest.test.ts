import assert from 'node:assert/strict';
import { hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import fc from 'fast-check';
import { concatBytes, fromHex, toHex, utf8Bytes } from '../../src/core/bytes.ts';
import { deriveKey, hkdfSha256, KEY_LABELS, seedKey, sha256Hex } from '../../src/crypto/digest.ts';
import { sha256 } from '../../src/crypto/sha256.ts';

const golden = JSON.parse(
  readFileSync(new URL('../vectors/crypto/expander.json', import.meta.url), 'utf8'),
) as {
  key: string;
  quantumSeed: string;
  systemEntropy: string;
  seedKey: { first: string; after: string };
};

const known = JSON.parse(
  readFileSync(new URL('../vectors/crypto/digests.json', import.meta.url), 'utf8'),
) as {
  sha256: { message: string; times?: number; digest: string }[];
  hkdf: { ikm: string; salt: string; info: string; okm: string }[];
};

describe('sha256', () => {
  for (const { message, times = 1, digest } of known.sha256) {
    it(`is that of FIPS 180-4 for ${message || 'nothing'}, ${times} times`, () => {
      const bytes = utf8Bytes(message.repeat(times));
      assert.equal(toHex(sha256(bytes)), digest);
      assert.equal(sha256Hex(bytes), digest);
    });
  }

  it('equals @noble/hashes, in a new array', () => {
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
  known.hkdf.forEach(({ okm, ...inputs }, i) => {
    it(`equals RFC 5869 A.${i + 1}`, () => {
      const [ikm, salt, info] = [inputs.ikm, inputs.salt, inputs.info].map(fromHex);
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

  it('reject inputs of another size', () => {
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
