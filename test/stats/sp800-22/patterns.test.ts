/** The ring patterns, and Serial and ApproximateEntropy, which rest on them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../../src/core/assert.ts';
import { approximateEntropyTest, countPatterns, serialTest } from '../../../src/stats/sp800-22/patterns.ts';
import { phi, ringPatterns } from '../../reference/sp800-22.ts';
import { arbitraryBits, sequenceOf } from '../../support/bit-sequences.ts';

test('Serial: ψ² is 2^m/n Σν² - n', () => {
  fc.assert(
    fc.property(arbitraryBits(10, 300), fc.integer({ min: 2, max: 8 }), (bits, m) => {
      const n = bits.length;
      const psi = (k: number) =>
        k === 0 ? 0 : (2 ** k / n) * ringPatterns(bits, k).reduce((sum, count) => sum + count * count, 0) - n;
      const { psiSquared } = serialTest(countPatterns(sequenceOf(bits), m), n);
      [psi(m), psi(m - 1), psi(m - 2)].forEach((expected, i) => {
        assert.ok(Math.abs(psiSquared[i] - expected) < 1e-8 * n);
      });
    }),
  );
});

test('ApproximateEntropy is φ_m - φ_(m+1)', () => {
  fc.assert(
    fc.property(arbitraryBits(10, 300), fc.integer({ min: 1, max: 6 }), (bits, m) => {
      const { entropy, chiSquared } = approximateEntropyTest(
        countPatterns(sequenceOf(bits), 8),
        bits.length,
        m,
      );
      const expected = phi(bits, m) - phi(bits, m + 1);
      assert.ok(Math.abs(entropy - expected) < 1e-12);
      assert.ok(Math.abs(chiSquared - 2 * bits.length * (Math.LN2 - expected)) < 1e-9);
    }),
  );
});

test('patterns of no bit or of more than 16 are a bug of the caller', () => {
  const bits = sequenceOf('1'.repeat(40));
  assert.throws(() => countPatterns(bits, 0), InvariantError);
  assert.throws(() => countPatterns(bits, 17), InvariantError);
});
