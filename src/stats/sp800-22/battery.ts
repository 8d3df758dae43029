/**
 * The fifteen tests of SP 800-22 rev 1a on one sequence, with the parameters of NIST's sts-2.1.2 at 10^6
 * bits: 188 rows, or 162 when the walk has too few cycles for the excursion tests (two of five good
 * sequences).
 */

import {
  type BlockFrequencyResult,
  blockFrequencyTest,
  type FrequencyResult,
  frequencyTest,
  type LongestRunResult,
  longestRunBlockBits,
  longestRunTest,
  type RankResult,
  type RunsResult,
  rankTest,
  runsTest,
} from './counting.ts';
import { type LinearComplexityResult, linearComplexityTest } from './linear-complexity.ts';
import {
  type ApproximateEntropyResult,
  approximateEntropyTest,
  countPatterns,
  type PatternCounts,
  type SerialResult,
  serialTest,
} from './patterns.ts';
import { type BitSequence, bitSequence, type Constants } from './sequence.ts';
import { type SpectralResult, spectralTest } from './spectral.ts';
import {
  nonOverlappingTemplateTest,
  type OverlappingTemplateResult,
  overlappingTemplateTest,
  type TemplateResult,
} from './templates.ts';
import { UNIVERSAL_BITS_MIN, type UniversalResult, universalParameters, universalTest } from './universal.ts';
import {
  type CumulativeSumsResult,
  cumulativeSumsTest,
  type ExcursionState,
  minimumCycles,
  randomExcursionsTest,
  randomExcursionsVariantTest,
  type VariantState,
  type Walk,
  walkOf,
} from './walk.ts';

/** What each test counted and computed. */
interface BatteryStatistics {
  readonly Frequency: FrequencyResult;
  readonly BlockFrequency: BlockFrequencyResult;
  readonly CumulativeSums: CumulativeSumsResult;
  readonly Runs: RunsResult;
  readonly LongestRun: LongestRunResult;
  readonly Rank: RankResult;
  readonly FFT: SpectralResult;
  readonly NonOverlappingTemplate: readonly TemplateResult[];
  readonly OverlappingTemplate: OverlappingTemplateResult;
  readonly Universal: UniversalResult;
  readonly ApproximateEntropy: ApproximateEntropyResult;
  readonly RandomExcursions: { readonly cycles: number; readonly states: readonly ExcursionState[] };
  readonly RandomExcursionsVariant: { readonly cycles: number; readonly states: readonly VariantState[] };
  readonly Serial: SerialResult;
  readonly LinearComplexity: LinearComplexityResult;
}

export type TestName = keyof BatteryStatistics;

/** One p-value. */
export interface TestRow {
  readonly test: TestName;
  /** Which p-value of the test, e.g. `000000001`, `x=-4`, `forward`; null when it has one. */
  readonly subtest: string | null;
  readonly pValue: number;
}

export interface BatteryResult {
  readonly bitLength: number;
  readonly constants: Constants;
  /** False below 10^6 bits: not all tests apply, and the verdict's rule was not measured there. */
  readonly enough: boolean;
  readonly rows: readonly TestRow[];
  /** Rows with p >= 0.01, of `total` rows. */
  readonly passed: number;
  readonly total: number;
  /** Tests without rows, and why. Not applicable is not failed. */
  readonly notApplicable: readonly { readonly test: TestName; readonly reason: string }[];
  readonly statistics: Partial<BatteryStatistics>;
}

/** The level of significance at which a row counts as passed (1.1.5, 4.2.1). */
export const ALPHA = 0.01;

/** 2.8.7, 2.10.7, 2.14.7, 2.15.7: the length below which the battery is not whole. */
export const BATTERY_BITS = 1_000_000;

/** What several tests read, computed at most once. */
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

type Outcome<Statistics> =
  | {
      readonly statistics: Statistics;
      readonly pValues: readonly (readonly [subtest: string | null, p: number])[];
    }
  | { readonly reason: string };

interface BatteryTest<Name extends TestName> {
  /** The fewest bits, and the clause that asks for them. */
  readonly bitsMin: number;
  readonly clause: string;
  run(shared: Shared): Outcome<BatteryStatistics[Name]>;
}

const BLOCK_FREQUENCY_BITS = 128;
const TEMPLATE_BITS = 9;
const TEMPLATE_BLOCKS = 8;
const OVERLAPPING_BLOCK_BITS = 1032;
const ENTROPY_PATTERN_BITS = 10;
const SERIAL_PATTERN_BITS = 16;
const LINEAR_COMPLEXITY_BITS = 500;

function single<Statistics extends { readonly pValue: number }>(statistics: Statistics): Outcome<Statistics> {
  return { statistics, pValues: [[null, statistics.pValue]] };
}

function excursions<State extends { readonly state: number; readonly pValue: number }>(
  { walk, bits }: Shared,
  test: (walk: Walk) => State[],
): Outcome<{ cycles: number; states: State[] }> {
  const { cycles } = walk;
  const needed = minimumCycles(bits.length);
  if (cycles < needed) return { reason: `${cycles} cycles; at least ${needed} are needed (2.14.4 step 3)` };
  const states = test(walk);
  return {
    statistics: { cycles, states },
    pValues: states.map(({ state, pValue }) => [`x=${state > 0 ? '+' : ''}${state}`, pValue]),
  };
}

/** In the order of sts-2.1.2's report. */
const TESTS: { readonly [Name in TestName]: BatteryTest<Name> } = {
  Frequency: { bitsMin: 100, clause: '2.1.7', run: ({ bits }) => single(frequencyTest(bits)) },
  BlockFrequency: {
    // M = 128 at any length, as the reference; 2.2.7 would have M > n / 100.
    bitsMin: BLOCK_FREQUENCY_BITS,
    clause: '2.2.7',
    run: ({ bits }) => single(blockFrequencyTest(bits, BLOCK_FREQUENCY_BITS)),
  },
  CumulativeSums: {
    bitsMin: 100,
    clause: '2.13.7',
    run({ walk, bits }) {
      const statistics = cumulativeSumsTest(walk, bits.length);
      const [forward, reverse] = statistics.pValues;
      return {
        statistics,
        pValues: [
          ['forward', forward],
          ['reverse', reverse],
        ],
      };
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
    // 2.7.7 names no length; five matches expected in each block, as for any χ² test (2.8.7).
    bitsMin: TEMPLATE_BLOCKS * (5 * 2 ** TEMPLATE_BITS + TEMPLATE_BITS - 1),
    clause: '2.7.7',
    run({ bits }) {
      const statistics = nonOverlappingTemplateTest(bits, TEMPLATE_BITS, TEMPLATE_BLOCKS);
      return { statistics, pValues: statistics.map(({ template, pValue }) => [template, pValue]) };
    },
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
      const statistics = serialTest(patterns, bits.length);
      const [first, second] = statistics.pValues;
      return {
        statistics,
        pValues: [
          ['p_value1 (del psi^2_m)', first],
          ['p_value2 (del^2 psi^2_m)', second],
        ],
      };
    },
  },
  LinearComplexity: {
    bitsMin: BATTERY_BITS,
    clause: '2.10.7',
    run: ({ bits, constants }) => single(linearComplexityTest(bits, LINEAR_COMPLEXITY_BITS, constants)),
  },
};

/** The fifteen tests in the order of their rows. */
export const TEST_NAMES = Object.keys(TESTS) as readonly TestName[];

/**
 * Runs every test that `bitLength` suffices for.
 * @param bits packed, most significant bit first
 * @param bitLength how many of them to test, 1 to 2^26
 */
export function runBattery(
  bits: Uint8Array,
  bitLength: number,
  options: { readonly constants?: Constants } = {},
): BatteryResult {
  const { constants = 'corrected' } = options;
  const shared = new Shared(bitSequence(bits, bitLength), constants);
  const rows: TestRow[] = [];
  const notApplicable: { test: TestName; reason: string }[] = [];
  const statistics: { -readonly [Name in TestName]?: BatteryStatistics[Name] } = {};

  function run<Name extends TestName>(test: Name): void {
    const { bitsMin, clause, run } = TESTS[test];
    if (bitLength < bitsMin) {
      notApplicable.push({ test, reason: `${bitLength} bits; at least ${bitsMin} are needed (${clause})` });
      return;
    }
    const outcome: Outcome<BatteryStatistics[Name]> = run(shared);
    if ('reason' in outcome) {
      notApplicable.push({ test, reason: outcome.reason });
      return;
    }
    statistics[test] = outcome.statistics;
    for (const [subtest, pValue] of outcome.pValues) rows.push({ test, subtest, pValue });
  }
  for (const test of TEST_NAMES) run(test);

  return {
    bitLength,
    constants,
    enough: bitLength >= BATTERY_BITS,
    rows,
    passed: rows.filter(({ pValue }) => pValue >= ALPHA).length,
    total: rows.length,
    notApplicable,
    statistics,
  };
}
