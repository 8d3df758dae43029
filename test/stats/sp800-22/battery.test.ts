/** The battery on the digits of e and pi, against sts-2.1.2 and an independent 40-digit implementation. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { BATTERY_BITS, type BatteryResult, runBattery } from '../../../src/stats/sp800-22/battery.ts';
import { frequencyTest, longestRunTest, rankTest, runsTest } from '../../../src/stats/sp800-22/counting.ts';
import { linearComplexityTest } from '../../../src/stats/sp800-22/linear-complexity.ts';
import { bitSequence } from '../../../src/stats/sp800-22/sequence.ts';
import { spectralTest } from '../../../src/stats/sp800-22/spectral.ts';
import {
  nonOverlappingTemplateTest,
  overlappingTemplateTest,
} from '../../../src/stats/sp800-22/templates.ts';
import { cumulativeSumsTest, walkOf } from '../../../src/stats/sp800-22/walk.ts';
import { assertRelative } from '../../support/bit-sequences.ts';
import { digitsOf } from '../../support/constants.ts';

interface KnownAnswers {
  readonly sha256_packed_msb_first: string;
  readonly totals: { readonly rows: number; readonly passed: number };
  readonly statistics: Readonly<Record<string, number | readonly number[] | readonly (readonly number[])[]>>;
  /** Values that the document prints. */
  readonly appendix_B: readonly {
    readonly name: string;
    readonly subtest: string;
    readonly published: number;
  }[];
  readonly variants: readonly { readonly name: string; readonly p_value_hp: number }[];
  readonly tests: readonly {
    readonly name: string;
    readonly subtest: string | null;
    /** sts-2.1.2, printed with 17 digits. */
    readonly p_value: number;
    /** 40-digit arithmetic, rounded. */
    readonly p_value_hp: number;
  }[];
}

function pValueOf({ rows }: BatteryResult, test: string): number {
  return rows.find((row) => row.test === test)?.pValue ?? Number.NaN;
}

for (const constant of ['pi', 'e'] as const) {
  const file = new URL(`../../vectors/sp800-22/sp800-22-${constant}.json`, import.meta.url);
  const known: KnownAnswers = JSON.parse(readFileSync(file, 'utf8'));
  const digits = digitsOf(constant, 1_000_000);
  const reference = runBattery(digits, 1_000_000, 'reference');
  const corrected = runBattery(digits, 1_000_000);

  test(`${constant}: the input is that of the known answers`, () => {
    assert.equal(createHash('sha256').update(digits).digest('hex'), known.sha256_packed_msb_first);
  });

  test(`${constant}: every count is exact`, () => {
    const bits = bitSequence(digits, 1_000_000);
    const walk = walkOf(bits);
    assert.deepEqual(
      {
        'FFT N1': spectralTest(bits).belowThreshold,
        'LongestRun nu': longestRunTest(bits, 10_000).counts,
        'Rank F': rankTest(bits).counts,
        'cusum z': cumulativeSumsTest(walk, bits.length).z,
        ones: frequencyTest(bits).ones,
        runs: runsTest(bits).runs,
        'OverlappingTemplate nu': overlappingTemplateTest(bits, 9, 1032).counts,
        J: walk.cycles,
        'LinearComplexity nu': linearComplexityTest(bits, 500).counts,
        'NonOverlappingTemplate W (8 counts per template, template order)': nonOverlappingTemplateTest(
          bits,
          9,
          8,
        ).map(({ counts }) => counts),
      },
      // The distance of a modulus from the threshold is not a count.
      Object.fromEntries(Object.entries(known.statistics).filter(([name]) => name !== 'FFT closest |X|-T')),
    );
  });

  test(`${constant}: all 188 rows are as known, in name, order and value`, () => {
    assert.equal(reference.rows.length, 188);
    assert.deepEqual(
      reference.rows.map(({ test, subtest }) => [test, subtest]),
      known.tests.map(({ name, subtest }) => [name, subtest]),
    );
    reference.rows.forEach(({ test, subtest, pValue }, i) => {
      assert.ok(Math.abs(pValue - known.tests[i].p_value) <= 1e-6, `${test} ${subtest}: ${pValue}`);
      assertRelative(pValue, known.tests[i].p_value_hp, 1e-9, `${test} ${subtest}`);
    });
    for (const { name, subtest, published } of known.appendix_B) {
      const row = reference.rows.find((each) => each.test === name && each.subtest === subtest);
      assert.ok(Math.abs(row!.pValue - published) < 1e-6, `${name} ${subtest} of Appendix B`);
    }
    const { passed, total, enough, notApplicable } = reference;
    assert.deepEqual(
      { passed, total, enough, notApplicable },
      { passed: known.totals.passed, total: known.totals.rows, enough: true, notApplicable: [] },
    );
  });

  test(`${constant}: the corrected constants change three rows, to the exact values`, () => {
    const variant = (name: string) =>
      known.variants.find((one) => one.name === name)?.p_value_hp ?? Number.NaN;
    const expected = new Map([
      ['LongestRun', variant('LongestRun exact pi')],
      ['OverlappingTemplate', variant('OverlappingTemplate exact pi')],
      ['LinearComplexity', variant('LinearComplexity exact pi0=1/96, pi6=1/48')],
    ]);
    for (const [test, p] of expected) assertRelative(pValueOf(corrected, test), p, 1e-9, test);
    const unchanged = (result: BatteryResult) => result.rows.filter(({ test }) => !expected.has(test));
    assert.deepEqual(unchanged(corrected), unchanged(reference));
  });
}

test('too few cycles: the excursion tests do not apply, which is no failure', () => {
  // A slow drift: S_n ends far from zero, so that the walk returns seldom.
  const digits = Uint8Array.from(digitsOf('e', 1_000_000));
  digits.fill(0xff, 0, 400);
  const { rows, total, notApplicable, enough } = runBattery(digits, 1_000_000);
  assert.equal(enough, true);
  assert.deepEqual(
    notApplicable.map(({ test }) => test),
    ['RandomExcursions', 'RandomExcursionsVariant'],
  );
  assert.match(notApplicable[0].reason, /^\d+ cycles; at least 500 are needed/);
  assert.equal(rows.length, 162);
  assert.equal(total, 162);
});

test('short sequences: each test begins at the length of its clause, and the others are named', () => {
  const digits = digitsOf('e', 1_000_000);
  const { rows, notApplicable, enough, passed, total } = runBattery(digits, 99);
  assert.deepEqual({ rows, enough, passed, total }, { rows: [], enough: false, passed: 0, total: 0 });
  const reasons = notApplicable.map(({ test, reason }) => `${test}: ${reason}`);
  assert.deepEqual(reasons, [
    'Frequency: 99 bits; at least 100 are needed (2.1.7)',
    'BlockFrequency: 99 bits; at least 128 are needed (2.2.7)',
    'CumulativeSums: 99 bits; at least 100 are needed (2.13.7)',
    'Runs: 99 bits; at least 100 are needed (2.3.7)',
    'LongestRun: 99 bits; at least 128 are needed (2.4.7)',
    'Rank: 99 bits; at least 38912 are needed (2.5.7)',
    'FFT: 99 bits; at least 1000 are needed (2.6.7)',
    'NonOverlappingTemplate: 99 bits; at least 20544 are needed (2.7.7)',
    'OverlappingTemplate: 99 bits; at least 1000000 are needed (2.8.7)',
    'Universal: 99 bits; at least 387840 are needed (2.9.7)',
    'ApproximateEntropy: 99 bits; at least 65536 are needed (2.12.7)',
    'RandomExcursions: 99 bits; at least 1000000 are needed (2.14.7)',
    'RandomExcursionsVariant: 99 bits; at least 1000000 are needed (2.15.7)',
    'Serial: 99 bits; at least 524288 are needed (2.11.7)',
    'LinearComplexity: 99 bits; at least 1000000 are needed (2.10.7)',
  ]);
  for (const length of [100, 128, 1000, 20_544, 38_912, 65_536, 387_840, 524_288]) {
    const applied = new Set(runBattery(digits, length).rows.map(({ test }) => test));
    const expected = notApplicable.filter(
      ({ reason }) => Number(/at least (\d+)/.exec(reason)?.[1]) <= length,
    );
    assert.deepEqual(
      [...applied],
      expected.map(({ test }) => test),
      `${length} bits`,
    );
  }
  const short = runBattery(digits, BATTERY_BITS - 1);
  assert.equal(short.enough, false);
  assert.equal(short.rows.length, 188 - 1 - 8 - 18 - 1);
});

test('a constant sequence fails every test that applies', () => {
  const { passed, total, notApplicable } = runBattery(new Uint8Array(125_000), 1_000_000);
  assert.equal(total, 162);
  assert.ok(passed <= 1, `${passed} rows passed`);
  assert.equal(notApplicable.length, 2);
});
