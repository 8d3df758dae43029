import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../../src/core/assert.ts';
import { TEST_NAMES, type TestRow } from '../../../src/stats/sp800-22/battery.ts';
import {
  binomialAtLeast,
  binomialTwoSided,
  verdict,
  verdictOnRejections,
} from '../../../src/stats/sp800-22/verdict.ts';
import { verdictAcross } from '../../support/bit-sequences.ts';

/** Rows with the given p-values, the rest 0.5. */
function rowsWith(count: number, pValues: readonly number[]): TestRow[] {
  return Array.from({ length: count }, (_, i) => ({
    test: TEST_NAMES[i % TEST_NAMES.length],
    subtest: `${i}`,
    pValue: pValues[i] ?? 0.5,
  }));
}

test('one sequence: twelve rows below 0.01 pass, thirteen fail', () => {
  const twelve = verdict(rowsWith(188, new Array(12).fill(0.0099)));
  assert.deepEqual([twelve.passed, twelve.failures, twelve.smallestP], [true, 12, 0.0099]);
  assert.equal(verdict(rowsWith(188, new Array(13).fill(0.0099))).passed, false);
  assert.equal(verdict(rowsWith(188, new Array(188).fill(0.01))).failures, 0);
  assert.equal(twelve.falseRejectRate, 0.002);
  assert.equal(twelve.rule, 'fails if more than 12 rows are below 0.01 or any row is below 0.000001');
});

test('one sequence: one row below 1e-6 fails it', () => {
  assert.equal(verdict(rowsWith(162, [1e-6])).passed, true);
  assert.equal(verdict(rowsWith(162, [0.99e-6])).passed, false);
  assert.equal(verdict(rowsWith(162, [0])).passed, false);
});

test('fewer rows than the complete battery never pass', () => {
  const short = verdict(rowsWith(161, []));
  assert.deepEqual([short.passed, short.failures, short.falseRejectRate], [false, 0, 1]);
  assert.match(short.rule, /^fewer than 162 rows/);
  assert.deepEqual([verdict([]).passed, verdict([]).smallestP], [false, 1]);
});

test('binomialTwoSided and binomialAtLeast are exact', () => {
  // Checked by summing every term of the distribution, with exact coefficients.
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }).chain((n) => fc.tuple(fc.constant(n), fc.nat(n))),
      fc.double({ min: 0.005, max: 0.995, noNaN: true }),
      ([n, k], p) => {
        let coefficient = 1;
        let lower = 0;
        let upper = 0;
        for (let i = 0; i <= n; i++) {
          const chance = coefficient * p ** i * (1 - p) ** (n - i);
          if (i <= k) lower += chance;
          if (i >= k) upper += chance;
          coefficient *= (n - i) / (i + 1);
        }
        const expected = Math.min(1, 2 * Math.min(lower, upper));
        assert.ok(Math.abs(binomialTwoSided(n, k, p) - expected) <= 1e-10 * expected);
        const atLeast = binomialAtLeast(n, k, p);
        assert.ok(Math.abs(atLeast - upper) <= 1e-10 * upper, `${atLeast}, not ${upper}`);
      },
    ),
  );
  assert.equal(binomialTwoSided(2000, 20, 0.01), 1);
  assert.ok(binomialTwoSided(100_000, 100_000, 0.01) === 0);
  assert.throws(() => binomialTwoSided(3, 4, 0.01), InvariantError);
  assert.throws(() => binomialAtLeast(3, 4, 0.01), InvariantError);
  // far below the mean, where every term near k underflows
  assert.equal(binomialAtLeast(1_000_000, 10, 0.01), 1);
});

/** `count` sequences of one row whose p-values are spread evenly over [0, 1). */
function evenSequences(count: number): TestRow[][] {
  return Array.from({ length: count }, (_, i) => [
    { test: 'Runs', subtest: null, pValue: (i + 0.5) / count },
  ]);
}

test('many sequences: even p-values pass, and the counts are those of the rows', () => {
  const result = verdictAcross(evenSequences(200));
  assert.equal(result.passed, true);
  assert.equal(result.sequences, 200);
  assert.equal(result.threshold, 0.001 / 2);
  assert.deepEqual(result.rows, [
    {
      test: 'Runs',
      subtest: null,
      sequences: 200,
      failures: 2,
      proportionP: 1,
      uniformityP: 1,
      chiSquaredP: 1,
      passed: true,
    },
  ]);
});

test('many sequences: too many failures fail, although the p-values are evenly spread otherwise', () => {
  const sequences = evenSequences(1000).map((rows, i) =>
    i % 25 === 0 ? [{ ...rows[0], pValue: 0.001 }] : rows,
  );
  const { passed, rows } = verdictAcross(sequences);
  assert.equal(passed, false);
  assert.ok(rows[0].proportionP < 1e-9 && rows[0].uniformityP > 0.001);
});

test('many sequences: clustered p-values fail, though none is below 0.01', () => {
  const sequences = evenSequences(200).map(([row]) => [{ ...row, pValue: 0.4 + row.pValue / 10 }]);
  const { passed, rows } = verdictAcross(sequences);
  assert.equal(passed, false);
  assert.equal(rows[0].failures, 0);
  assert.ok(rows[0].uniformityP < 1e-100 && (rows[0].chiSquaredP ?? 1) < 1e-100);
});

test('many sequences: below 55 there is no χ², and a row may be missing from some', () => {
  const sequences = evenSequences(60).map((rows, i) =>
    i < 54 ? [...rows, { test: 'RandomExcursions', subtest: 'x=+1', pValue: 0.5 } as const] : rows,
  );
  const { rows, threshold } = verdictAcross(sequences);
  assert.deepEqual(
    rows.map((row) => [row.test, row.sequences, row.chiSquaredP === null]),
    [
      ['Runs', 60, false],
      ['RandomExcursions', 54, true],
    ],
  );
  assert.equal(threshold, 0.001 / 4);
});

test('many sequences: one bad row among 188 is found, and no sequences at all never pass', () => {
  const sequences = Array.from({ length: 100 }, (_, i) =>
    rowsWith(188, [i % 8 === 0 ? 0.001 : 0.5]).map((row, j) =>
      j === 0 ? row : { ...row, pValue: (i + 0.5) / 100 },
    ),
  );
  const { passed, rows } = verdictAcross(sequences);
  assert.equal(passed, false);
  assert.deepEqual(
    rows.filter((row) => !row.passed).map(({ subtest }) => subtest),
    ['0'],
  );
  assert.equal(verdictAcross([]).passed, false);
});

test('many sequences: rejections fail when only one good batch in a thousand has as many', () => {
  // P(X >= 4) = 4.9e-5 and P(X >= 3) = 1.1e-3 for X of Binomial(100, 0.002)
  assert.deepEqual([verdictOnRejections(100, 3).passed, verdictOnRejections(100, 4).passed], [true, false]);
  assert.deepEqual([verdictOnRejections(2, 1).passed, verdictOnRejections(2, 2).passed], [true, false]);
  assert.deepEqual([verdictOnRejections(1, 1).passed, verdictOnRejections(8000, 16).passed], [true, true]);
  assert.deepEqual([verdictOnRejections(8000, 0).p, verdictOnRejections(0, 0).passed], [1, true]);
  const { p, rule, rejected, sequences } = verdictOnRejections(2, 2);
  assert.ok(Math.abs(p - 4e-6) < 1e-12);
  assert.deepEqual([rejected, sequences], [2, 2]);
  assert.match(rule, /p < 0\.001 \(exact binomial, 0\.002 a sequence\)$/);
});
