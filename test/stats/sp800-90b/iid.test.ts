import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  additionalIidTests,
  chiSquareIndependence,
  repeatLengthTest,
} from '../../../src/stats/sp800-90b/iid.ts';
import { repeatedSubstrings } from '../../../src/stats/sp800-90b/repeated-substrings.ts';
import { uniforms } from '../../support/chance.ts';
import { assertClose } from './details.ts';

const repeat = (pattern: readonly number[], times: number): Uint8Array =>
  Uint8Array.from({ length: pattern.length * times }, (_, i) => pattern[i % pattern.length]);

suite('independence', () => {
  test('too few bits for words of two pass untested', () => {
    assert.deepEqual(chiSquareIndependence(repeat([0, 1], 10), 2), {
      statistic: 0,
      degreesOfFreedom: 0,
      pValue: 1,
      passed: true,
    });
  });

  test('wide symbols: rare pairs are joined, the rarest first, and the remainder joins the last bin', () => {
    // Counts 1, 1, 18 of 20 symbols, 10 pairs. Expected: 0.025 four times, 0.45 four times, 8.1.
    // In one bin: 0.1 + 1.8 + 8.1 = 10. One bin less three symbols has no degree of freedom.
    const symbols = Uint8Array.from({ length: 20 }, (_, i) => Math.min(i, 2));
    const result = chiSquareIndependence(symbols, 3);
    assert.equal(result.degreesOfFreedom, -2);
    assertClose(result.statistic + 1, 1, 'statistic');
    assert.equal(result.pValue, 1);
  });
});

suite('length of the longest repeat', () => {
  test('the p-value is the probability of a repeat at least as long', () => {
    // 0001011: of 3-bit windows none repeats, of 2-bit windows 00, 01 do. Pairs of 6 places: 15. p = (16 +
    // 9) / 49.
    const symbols = Uint8Array.of(0, 0, 0, 1, 0, 1, 1);
    const result = repeatLengthTest(repeatedSubstrings(symbols, 1), symbols, 2);
    assert.equal(result.length, 2);
    assertClose(result.pCollision, 25 / 49, 'collision probability');
    assertClose(result.pValue, 1 - (1 - (25 / 49) ** 2) ** 15, 'p-value');
    assert.ok(result.passed);
  });

  test('a replayed block fails', () => {
    const uniform = uniforms(2);
    const block = Array.from({ length: 500 }, () => Math.floor(uniform() * 4));
    const tests = additionalIidTests(repeat(block, 2));
    assert.equal(tests.repeatLength.length, 500);
    assert.ok(tests.repeatLength.pValue < 1e-100);
    assert.ok(!tests.repeatLength.passed);
    assert.ok(!tests.passed);
  });
});
