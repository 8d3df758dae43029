import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  additionalIidTests,
  chiSquareGoodnessOfFit,
  chiSquareIndependence,
  repeatLengthTest,
} from '../../../src/stats/sp800-90b/iid.ts';
import { repeatedSubstrings } from '../../../src/stats/sp800-90b/repeated-substrings.ts';
import { igamc } from '../../../src/stats/special.ts';
import { uniforms } from '../../support/chance.ts';
import { assertClose } from './details.ts';

const repeat = (pattern: readonly number[], times: number): Uint8Array =>
  Uint8Array.from({ length: pattern.length * times }, (_, i) => pattern[i % pattern.length]);

suite('independence', () => {
  test('bits: words of the largest length whose rarest is expected five times', () => {
    // 80 balanced bits: 2^-3 * 26 < 5 <= 2^-2 * 40. Words of two are all 01, each word is expected 10 times.
    const result = chiSquareIndependence(repeat([0, 1], 40), 2);
    assert.equal(result.degreesOfFreedom, 2);
    assertClose(result.statistic, (3 * 10 ** 2 + 30 ** 2) / 10, 'statistic');
    assert.equal(result.pValue, igamc(1, 60));
    assert.ok(!result.passed);
  });

  test('bits that are too few for words of two pass untested', () => {
    assert.deepEqual(chiSquareIndependence(repeat([0, 1], 10), 2), {
      statistic: 0,
      degreesOfFreedom: 0,
      pValue: 1,
      passed: true,
    });
  });

  test('bits that are weighed: every word by its ones', () => {
    const result = chiSquareIndependence(repeat([0, 0, 0, 1], 40), 2);
    // 160 bits: 80 words of two, expected 45, 15, 15, 5; seen 40 times 00 and 40 times 01
    const expected = (40 - 45) ** 2 / 45 + (40 - 15) ** 2 / 15 + 15 + 5;
    assertClose(result.statistic, expected, 'statistic');
  });

  test('wide symbols: pairs that do not overlap', () => {
    // 0, 1, 2 in turn, 90 symbols, 45 pairs: 01, 20, 12 fifteen times each of nine pairs expected 5 times
    const result = chiSquareIndependence(repeat([0, 1, 2], 30), 3);
    assert.equal(result.degreesOfFreedom, 9 - 3);
    assertClose(result.statistic, (3 * 10 ** 2 + 6 * 5 ** 2) / 5, 'statistic');
  });

  test('wide symbols: rare pairs are joined, the rarest first, and what is left joins the last bin', () => {
    // Counts 1, 1, 18 of 20 symbols, 10 pairs. Expected: 0.025 four times, 0.45 four times, 8.1.
    // In one bin: 0.1 + 1.8 + 8.1 = 10. One bin less three symbols has no degree of freedom.
    const symbols = Uint8Array.from({ length: 20 }, (_, i) => Math.min(i, 2));
    const result = chiSquareIndependence(symbols, 3);
    assert.equal(result.degreesOfFreedom, -2);
    assertClose(result.statistic + 1, 1, 'statistic');
    assert.equal(result.pValue, 1);
  });
});

suite('goodness of fit', () => {
  test('bits are compared in ten subsets with one frequency', () => {
    // 100 zeros, then 100 ones: each subset of 20 holds 20 of one kind where 10 of each are expected.
    const bits = Uint8Array.from({ length: 200 }, (_, i) => Number(i >= 100));
    const result = chiSquareGoodnessOfFit(bits, 2);
    assert.equal(result.degreesOfFreedom, 9);
    assertClose(result.statistic, 10 * (10 + 10), 'statistic');
    assert.ok(!result.passed);
    assertClose(chiSquareGoodnessOfFit(repeat([0, 1], 100), 2).statistic + 1, 1, 'evenly spread');
  });

  test('wide symbols: rare ones are joined', () => {
    // 500 symbols: 0 and 1 fifty times, 2 a hundred, 3 three hundred; of 50 that is 5, 5, 10, 30, so no bin
    // is joined.
    const even = repeat([0, 1, 2, 2, 3, 3, 3, 3, 3, 3], 50);
    assert.equal(chiSquareGoodnessOfFit(even, 4).degreesOfFreedom, 9 * 3);
    // Of 40 it is 4, 4, 8, 24: 0 and 1 share a bin.
    const fewer = repeat([0, 1, 2, 2, 3, 3, 3, 3, 3, 3], 40);
    assert.equal(chiSquareGoodnessOfFit(fewer, 4).degreesOfFreedom, 9 * 2);
    // All 0 before all 1 makes no difference then, 2 and 3 apart do.
    const joined = fewer.map((symbol, i) => (symbol < 2 ? Number(i >= 200) : symbol));
    assertClose(chiSquareGoodnessOfFit(joined, 4).statistic + 1, 1, 'joined symbols');
  });

  test('symbols as rare as one another are joined in order', () => {
    // Of 15: 3 each. 0 and 1 share a bin; 2, 3 and the left-over 4 the other.
    const pattern = repeat([0, 1, 2, 3, 4], 30);
    const exchanged = (one: number, other: number): Uint8Array =>
      pattern.map((symbol, i) => (symbol === one || symbol === other ? (i < 75 ? one : other) : symbol));
    for (const [one, other] of [
      [0, 1],
      [2, 3],
      [3, 4],
    ]) {
      assertClose(chiSquareGoodnessOfFit(exchanged(one, other), 5).statistic + 1, 1, `${one} for ${other}`);
    }
    const { statistic, degreesOfFreedom } = chiSquareGoodnessOfFit(exchanged(1, 2), 5);
    assert.equal(degreesOfFreedom, 9);
    assertClose(statistic, 10 * (3 ** 2 / 6 + 3 ** 2 / 9), '1 for 2');
  });

  test('a last bin that is too small joins the one before it', () => {
    // Of 20: 4, 4, 6, 6. 4 + 4 close a bin, 6 the next, 6 the last. Of 15: 3 + 3, 4.5 + 4.5.
    const pattern = [0, 0, 1, 1, 2, 2, 2, 3, 3, 3];
    assert.equal(chiSquareGoodnessOfFit(repeat(pattern, 20), 4).degreesOfFreedom, 9 * 2);
    assert.equal(chiSquareGoodnessOfFit(repeat(pattern, 15), 4).degreesOfFreedom, 9 * 1);
    // Of 10: 2 + 2 + 3 close a bin, 3 is left over: one bin.
    assert.equal(chiSquareGoodnessOfFit(repeat(pattern, 10), 4).degreesOfFreedom, 0);
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
