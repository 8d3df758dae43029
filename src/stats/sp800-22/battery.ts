/**
 * The fifteen tests of SP 800-22 rev 1a on one sequence, with the parameters of NIST's sts-2.1.2 at 10^6 bits. They give
 * 188 rows, or 162 when the walk has too few cycles for the excursion tests, as in two of five good sequences.
 */

import {
  blockFrequencyTest,
  frequencyTest,
  longestRunBlockBits,
  longestRunTest,
  rankTest,
  runsTest,
} from './counting.ts';
import { linearComplexityTest } from './linear-complexity.ts';
import { approximateEntropyTest, countPatterns, type PatternCounts, serialTest } from './patterns.ts';
import { type BitSequence, bitSequence, type Constants } from './sequence.ts';
import { spectralTest } from './spectral.ts';
import { nonOverlappingTemplateTest, overlappingTemplateTest } from './templates.ts';
import { UNIVERSAL_BITS_MIN, universalParameters, universalTest } from './universal.ts';
import {
  cumulativeSumsTest,
  minimumCycles,
  randomExcursionsTest,
  randomExcursionsVariantTest,
  type Walk,
  walkOf,
} from './walk.ts';

/** One p-value. */
export interface TestRow {
  readonly test: TestName;
  /** Names the p-value within its test, e.g. `000000001`, `x=-4`, `forward`; null when the test has only one. */
  readonly subtest: string | null;
  readonly pValue: number;
}

export interface BatteryResult {
  /** False below 10^6 bits: there not all tests apply, and the verdict's false-reject rate was not measured. */
  readonly enough: boolean;
  readonly rows: readonly TestRow[];
  /** Rows with p >= 0.01, of `total` rows. */
  readonly passed: number;
  readonly total: number;
  /** Tests without rows, and why. Not applicable is not failed. */
  readonly notApplicable: readonly { readonly test: TestName; readonly reason: string }[];
}

/** The level of significance at which a row counts as passed (1.1.5, 4.2.1). */
export const ALPHA = 0.01;

/** The length below which some tests do not apply (2.8.7, 2.10.7, 2.14.7, 2.15.7). */
export const BATTERY_BITS = 1_000_000;

/** Results that several tests read, computed at most once. */
class Shared {
  readonly bits: BitSequence;
  readonly constants: Constants;
  #walk: Walk | undefined;
  #patterns: PatternCounts | undefined;

  constructor(bits: BitSequence, constants: Constants) {
    this.bits = bits;
    this.constants = constants;
  }

  get walk(): Walk {
    this.#walk ??= walkOf(this.bits);
    return this.#walk;
  }

  get patterns(): PatternCounts {
    this.#patterns ??= countPatterns(this.bits, SERIAL_PATTERN_BITS);
    return this.#patterns;
  }
}

/** The p-values of a test, each with its subtest's name; or why the test does not apply. */
type Outcome = readonly (readonly [subtest: string | null, p: number])[] | { readonly reason: string };

interface BatteryTest {
  /** The fewest bits that the test needs, and the clause of SP 800-22 that says so. */
  readonly bitsMin: number;
  readonly clause: string;
  run(shared: Shared): Outcome;
}

const BLOCK_FREQUENCY_BITS = 128;
const TEMPLATE_BITS = 9;
const TEMPLATE_BLOCKS = 8;
const OVERLAPPING_BLOCK_BITS = 1032;
const ENTROPY_PATTERN_BITS = 10;
const SERIAL_PATTERN_BITS = 16;
const LINEAR_COMPLEXITY_BITS = 500;

function single({ pValue }: { readonly pValue: number }): Outcome {
  return [[null, pValue]];
}

function excursions(
  { walk, bits }: Shared,
  test: (walk: Walk) => readonly { readonly state: number; readonly pValue: number }[],
): Outcome {
  const { cycles } = walk;
  const needed = minimumCycles(bits.length);
  if (cycles < needed) return { reason: `${cycles} cycles; at least ${needed} are needed (2.14.4 step 3)` };
  return test(walk).map(({ state, pValue }) => [`x=${state > 0 ? '+' : ''}${state}`, pValue]);
}

/** In the order of sts-2.1.2's report. */
const TESTS = {
  Frequency: { bitsMin: 100, clause: '2.1.7', run: ({ bits }) => single(frequencyTest(bits)) },
  BlockFrequency: {
    // M = 128 at any length, as sts-2.1.2 has it; 2.2.7 would ask for M > n / 100.
    bitsMin: BLOCK_FREQUENCY_BITS,
    clause: '2.2.7',
    run: ({ bits }) => single(blockFrequencyTest(bits, BLOCK_FREQUENCY_BITS)),
  },
  CumulativeSums: {
    bitsMin: 100,
    clause: '2.13.7',
    run({ walk, bits }) {
      const [forward, reverse] = cumulativeSumsTest(walk, bits.length).pValues;
      return [
        ['forward', forward],
        ['reverse', reverse],
      ];
    },
  },
  Runs: { bitsMin: 100, clause: '2.3.7', run: ({ bits }) => single(runsTest(bits)) },
  LongestRun: {
    bitsMin: 128,
    clause: '2.4.7',
    run: ({ bits, constants }) => single(longestRunTest(bits, longestRunBlockBits(bits.length), constants)),
  },
  Rank: { bitsMin: 38 * 32 * 32, clause: '2.5.7', run: ({ bits }) => single(rankTest(bits)) },
  FFT: { bitsMin: 1000, clause: '2.6.7', run: ({ bits }) => single(spectralTest(bits)) },
  NonOverlappingTemplate: {
    // 2.7.7 states no length. Five matches are expected in each block, as any χ² test needs (2.8.7).
    bitsMin: TEMPLATE_BLOCKS * (5 * 2 ** TEMPLATE_BITS + TEMPLATE_BITS - 1),
    clause: '2.7.7',
    run: ({ bits }) =>
      nonOverlappingTemplateTest(bits, TEMPLATE_BITS, TEMPLATE_BLOCKS).map(({ template, pValue }) => [
        template,
        pValue,
      ]),
  },
  OverlappingTemplate: {
    bitsMin: BATTERY_BITS,
    clause: '2.8.7',
    run: ({ bits, constants }) =>
      single(overlappingTemplateTest(bits, TEMPLATE_BITS, OVERLAPPING_BLOCK_BITS, constants)),
  },
  Universal: {
    bitsMin: UNIVERSAL_BITS_MIN,
    clause: '2.9.7',
    run: ({ bits }) => single(universalTest(bits, universalParameters(bits.length))),
  },
  ApproximateEntropy: {
    // 2.12.7: m < floor(log2 n) - 5.
    bitsMin: 2 ** (ENTROPY_PATTERN_BITS + 6),
    clause: '2.12.7',
    run: ({ bits, patterns }) => single(approximateEntropyTest(patterns, bits.length, ENTROPY_PATTERN_BITS)),
  },
  RandomExcursions: {
    bitsMin: BATTERY_BITS,
    clause: '2.14.7',
    run: (shared) => excursions(shared, randomExcursionsTest),
  },
  RandomExcursionsVariant: {
    bitsMin: BATTERY_BITS,
    clause: '2.15.7',
    run: (shared) => excursions(shared, randomExcursionsVariantTest),
  },
  Serial: {
    // 2.11.7: m < floor(log2 n) - 2.
    bitsMin: 2 ** (SERIAL_PATTERN_BITS + 3),
    clause: '2.11.7',
    run({ bits, patterns }) {
      const [first, second] = serialTest(patterns, bits.length).pValues;
      return [
        ['p_value1 (del psi^2_m)', first],
        ['p_value2 (del^2 psi^2_m)', second],
      ];
    },
  },
  LinearComplexity: {
    bitsMin: BATTERY_BITS,
    clause: '2.10.7',
    run: ({ bits, constants }) => single(linearComplexityTest(bits, LINEAR_COMPLEXITY_BITS, constants)),
  },
} satisfies Record<string, BatteryTest>;

export type TestName = keyof typeof TESTS;

/** The fifteen tests in the order of their rows. */
export const TEST_NAMES = Object.keys(TESTS) as readonly TestName[];

/**
 * Runs every test that `bitLength` suffices for.
 * @param bits packed, most significant bit first
 * @param bitLength count of bits to test, 1 to 2^26
 */
export function runBattery(
  bits: Uint8Array,
  bitLength: number,
  constants: Constants = 'corrected',
): BatteryResult {
  const shared = new Shared(bitSequence(bits, bitLength), constants);
  const rows: TestRow[] = [];
  const notApplicable: { test: TestName; reason: string }[] = [];
  for (const test of TEST_NAMES) {
    const { bitsMin, clause, run }: BatteryTest = TESTS[test];
    const outcome =
      bitLength < bitsMin
        ? { reason: `${bitLength} bits; at least ${bitsMin} are needed (${clause})` }
        : run(shared);
    if ('reason' in outcome) notApplicable.push({ test, ...outcome });
    else for (const [subtest, pValue] of outcome) rows.push({ test, subtest, pValue });
  }
  return {
    enough: bitLength >= BATTERY_BITS,
    rows,
    passed: rows.filter(({ pValue }) => pValue >= ALPHA).length,
    total: rows.length,
    notApplicable,
  };
}
