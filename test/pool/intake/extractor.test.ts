import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toHex } from '../../../src/core/bytes.ts';
import { chacha20ByNoble } from '../../../src/crypto/chacha20.ts';
import { sha256Hex } from '../../../src/crypto/digest.ts';
import {
  extractableBits,
  publishedBits,
  toeplitzHash,
  toeplitzSeed,
} from '../../../src/pool/intake/extractor.ts';
import { toeplitzBits } from '../../reference/toeplitz.ts';
import { packBits } from '../../support/bit-sequences.ts';
import { keystream } from '../../vectors/sp800-90b/inputs.ts';

fc.configureGlobal({ seed: 161_003 });

const bitAt = (packed: Uint8Array, at: number) => (packed[at >>> 3] >>> (7 - (at & 7))) & 1;
const bitsOf = (text: string) => Array.from(text, Number);

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);

describe('toeplitzHash', () => {
  it('applies the matrix of a worked example', () => {
    // N = 4, m = 3, s = 011010: rows s[3..0], s[4..1], s[5..2]
    //   0110   1     0·1 + 1·0 + 1·1 + 0·1 = 1
    //   1011 · 0  =  1·1 + 0·0 + 1·1 + 1·1 = 1
    //   0101   1     0·1 + 1·0 + 0·1 + 1·1 = 1
    //          1
    const hashed = toeplitzHash(packBits(bitsOf('1011')), 4, packBits(bitsOf('011010')), 3);
    assert.deepEqual([...hashed], [0b1110_0000]);
  });

  it('gives what the slow twin gives, bit by bit', () => {
    const sizes = fc.tuple(fc.integer({ min: 1, max: 700 }), fc.integer({ min: 1, max: 700 }));
    const inputs = sizes.chain(([rawBits, outputBits]) => {
      const bits = (count: number) => fc.array(fc.nat(1), { minLength: count, maxLength: count });
      return fc.tuple(bits(rawBits), bits(rawBits + outputBits - 1), fc.constant(outputBits));
    });
    fc.assert(
      fc.property(inputs, fc.nat(255), ([raw, seed, outputBits], beyond) => {
        // What stands behind the last bit of either operand must not matter.
        const packedRaw = Uint8Array.of(...packBits(raw), beyond);
        const packedSeed = packBits([...seed, ...bitsOf(beyond.toString(2))]);
        const expected = packBits(toeplitzBits(raw, seed, outputBits));
        assert.deepEqual(toeplitzHash(packedRaw, raw.length, packedSeed, outputBits), expected);
      }),
      { numRuns: 150 },
    );
  });

  // SHA-256 of the result of an independent program (numpy, convolution by floating-point FFT with an error below 3e-10).
  const known = [
    [1000, 100, 'f96d0db2301b41eed584203bd00e8589c13dcca8f60fb892a83bcad6065df871'],
    [65_537, 40_003, 'bff66ff604270157f7e67879787993cf0636062f95bcd0aa426cf8407746fc1c'],
    [4_194_304, 2_883_584, 'df61c25d008c8761699f98dbee0ba3cffd0b09f1e9a5df2df98bb6565cd08c39'],
  ] as const;
  for (const [rawBits, outputBits, digest] of known) {
    it(`gives the known answer for ${rawBits} raw bits and ${outputBits} output bits`, () => {
      const raw = keystream(120, Math.ceil(rawBits / 8));
      const hashed = toeplitzHash(raw, rawBits, toeplitzSeed(KEY, rawBits, outputBits), outputBits);
      assert.equal(sha256Hex(hashed), digest);
    });
  }

  it('counts every bit of the largest block: all ones against all ones', () => {
    const rawBits = 2 ** 22 - 1;
    const raw = new Uint8Array(2 ** 19).fill(255);
    const seed = new Uint8Array(2 ** 19 + 2).fill(255);
    const hashed = toeplitzHash(raw, rawBits, seed, 9); // each sum is 4,194,303, which is odd
    assert.deepEqual([...hashed], [255, 128]);
  });

  it('joins the blocks of a matrix that is larger than one, at any row and column', () => {
    const blockBits = 2 ** 22;
    for (const [rawBits, outputBits] of [
      [blockBits + 1_003, 77],
      [301, blockBits + 1_001],
    ]) {
      const seed = toeplitzSeed(KEY, rawBits, outputBits);
      const ones = [0, 150, 299, blockBits - 1, blockBits, blockBits + 1_002].filter((at) => at < rawBits);
      const raw = new Uint8Array(Math.ceil(rawBits / 8));
      for (const at of ones) raw[at >>> 3] |= 128 >>> (at & 7);
      const hashed = toeplitzHash(raw, rawBits, seed, outputBits);
      for (let i = 0; i < outputBits; i += i < 99 ? 1 : 997) {
        const expected = ones.reduce((sum, j) => sum ^ bitAt(seed, rawBits - 1 + i - j), 0);
        assert.equal(bitAt(hashed, i), expected, `row ${i}`);
      }
      assert.equal(
        bitAt(hashed, outputBits - 1),
        ones.reduce((sum, j) => sum ^ bitAt(seed, rawBits + outputBits - 2 - j), 0),
      );
    }
  });

  it('is two-universal: each difference of two inputs is hashed to 0 by exactly 2^-m of all seeds', () => {
    const [rawBits, outputBits] = [5, 3];
    for (let difference = 1; difference < 2 ** rawBits; difference++) {
      const bytes = Uint8Array.of(difference << (8 - rawBits));
      let zeros = 0;
      for (let seed = 0; seed < 2 ** 7; seed++) {
        if (toeplitzHash(bytes, rawBits, Uint8Array.of(seed << 1), outputBits)[0] === 0) zeros++;
      }
      assert.equal(zeros, 2 ** (7 - outputBits), `difference ${difference}`);
    }
  });

  it('refuses sizes that the operands do not have', () => {
    const raw = new Uint8Array(2);
    assert.throws(() => toeplitzHash(raw, 17, new Uint8Array(9), 8), /rawBits/);
    assert.throws(() => toeplitzHash(raw, 0, new Uint8Array(9), 8), /rawBits/);
    assert.throws(() => toeplitzHash(raw, 16, new Uint8Array(2), 8), /Toeplitz/);
    assert.throws(() => toeplitzHash(raw, 16, new Uint8Array(9), 0), /output bits/);
  });
});

describe('toeplitzSeed', () => {
  it('is the ChaCha20 keystream of its key', () => {
    const expected = chacha20ByNoble(KEY, new Uint8Array(12), 0, new Uint8Array(126));
    assert.equal(toHex(toeplitzSeed(KEY, 901, 101)), toHex(expected));
  });
});

describe('publishedBits', () => {
  it('counts the share of ones of a channel as one of shots + 1 values', () => {
    assert.deepEqual([publishedBits(3, 255), publishedBits(3, 256)], [4096 + 3 * 8, 4096 + 3 * 9]);
  });
});

describe('extractableBits', () => {
  it('is the min-entropy less twice the error bits, in whole bits', () => {
    assert.equal(extractableBits(1_000_000, 40), 999_920);
    assert.equal(extractableBits(2_558_525.9, 64), 2_558_397);
    assert.equal(extractableBits(79, 40), 0);
    assert.equal(extractableBits(80.5, 40), 0);
    assert.equal(extractableBits(81, 40), 1);
  });

  it('refuses an error that is none', () => {
    assert.throws(() => extractableBits(1_000, 0), /error below 1/);
    assert.throws(() => extractableBits(-1, 40), /min-entropy/);
  });
});
