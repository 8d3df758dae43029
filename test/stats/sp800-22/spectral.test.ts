import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { spectralTest } from '../../../src/stats/sp800-22/spectral.ts';
import { dft } from '../../reference/dft.ts';
import { arbitraryBits, sequenceOf } from '../../support/bit-sequences.ts';

test('the moduli below the threshold are those of the defining sum, for even and odd lengths', () => {
  fc.assert(
    fc.property(arbitraryBits(2, 150), (bits) => {
      const n = bits.length;
      const { re, im } = dft(
        bits.map((bit) => 2 * bit - 1),
        new Array(n).fill(0),
      );
      const moduli = re.map((x, k) => Math.hypot(x, im[k])).slice(0, Math.floor(n / 2));
      const threshold = Math.sqrt(n * Math.log(20));
      // A modulus on the threshold itself may fall either way.
      fc.pre(moduli.every((modulus) => Math.abs(modulus - threshold) > 1e-9));
      const expected = moduli.filter((modulus) => modulus < threshold).length;
      assert.equal(spectralTest(sequenceOf(bits)).belowThreshold, expected);
    }),
    { numRuns: 150 },
  );
});

test('a periodic sequence has few bins and little chance', () => {
  assert.ok(spectralTest(sequenceOf('1100'.repeat(300))).belowThreshold === 599);
  const { pValue } = spectralTest(sequenceOf('1101001'.repeat(200)));
  assert.ok(pValue < 1e-6, `${pValue}`);
});
