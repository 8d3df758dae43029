/**
 * What the rows of SP 800-22 say about a generator: for one sequence, and across sequences (section 4.2). A
 * good sequence fails about two of 188 rows at the level 0.01; demanding all of them would reject four good
 * ones of five.
 */
import { assert } from '../../core/assert.ts';
import { igamc, lgamma } from '../special.ts';
import { ALPHA, type TestName, type TestRow } from './battery.ts';
import { chiSquaredOf } from './chi-squared.ts';

export interface Verdict {
  readonly passed: boolean;
  /** Rows with p < 0.01. */
  readonly failures: number;
  /** 1 when there are no rows. */
  readonly smallestP: number;
  /** The rule that decided, in words for a certificate's reader. */
  readonly rule: string;
  /** How often the rule rejects a good sequence. */
  readonly falseRejectRate: number;
}

/** Rows of the whole battery when the excursion tests do not apply. */
const ROWS_MIN = 162;
/**
 * Among 2000 sequences of 10^6 ChaCha20 bits four were rejected: one with 14 failures, three with a row below
 * 1e-6. `node bench/stats.bench.ts --verdict 2000` counts them again.
 */
const FAILURES_MAX = 12;
const P_MIN = 1e-6;
const FALSE_REJECT_RATE = 4 / 2000;

/** The verdict on one sequence of 10^6 bits or more. Fewer rows than the whole battery has never pass. */
export function verdict(rows: readonly TestRow[]): Verdict {
  let failures = 0;
  let smallestP = 1;
  for (const { pValue } of rows) {
    if (pValue < ALPHA) failures++;
    if (pValue < smallestP) smallestP = pValue;
  }
  if (rows.length < ROWS_MIN) {
    const rule = `fewer than ${ROWS_MIN} rows are no verdict: the battery needs 10^6 bits`;
    return { passed: false, failures, smallestP, rule, falseRejectRate: 1 };
  }
  return {
    passed: failures <= FAILURES_MAX && smallestP >= P_MIN,
    failures,
    smallestP,
    rule: `fails if more than ${FAILURES_MAX} rows are below ${ALPHA} or any row is below ${P_MIN}`,
    falseRejectRate: FALSE_REJECT_RATE,
  };
}

/** One row seen across sequences. */
interface RowAcross {
  readonly test: TestName;
  readonly subtest: string | null;
  /** Sequences in which the row applied. */
  readonly sequences: number;
  /** Those with p < 0.01. */
  readonly failures: number;
  /** Two-sided p-value of that number under Binomial(sequences, 0.01), exact (4.2.1). */
  readonly proportionP: number;
  /** P-value of the p-values' counts in ten equal bins: the least of ten exact binomial ones, times ten. */
  readonly uniformityP: number;
  /**
   * P_T of 4.2.2, the χ² of the same counts, for comparison; null below 55 sequences. It decides nothing: at
   * the level of one check it alarms 3.3 times too often at 55 sequences, 2.2 times at 100 (exact multinomial
   * tails).
   */
  readonly chiSquaredP: number | null;
  readonly passed: boolean;
}

export interface VerdictAcross {
  readonly passed: boolean;
  readonly sequences: number;
  readonly rows: readonly RowAcross[];
  /** A row fails when one of its p-values is below this. */
  readonly threshold: number;
  readonly rule: string;
  /** Upper bound, by Bonferroni, of the chance that good sequences are rejected. */
  readonly falseRejectRate: number;
}

const ACROSS_FALSE_REJECT_RATE = 0.001;
/** 4.2.2. */
const CHI_SQUARED_SEQUENCES_MIN = 55;
const UNIFORMITY_BINS = 10;

/** ln of the chance of k among n with chance p each. */
function logBinomial(n: number, k: number, p: number): number {
  const choices = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
  return choices + k * Math.log(p) + (n - k) * Math.log1p(-p);
}

/** min(1, 2 min(P(X <= k), P(X >= k))) for X of Binomial(n, p): each tail summed from its largest term. */
export function binomialTwoSided(n: number, k: number, p: number): number {
  assert(k >= 0 && k <= n && p > 0 && p < 1, 'k of n, with a chance between 0 and 1');
  const odds = p / (1 - p);
  const at = Math.exp(logBinomial(n, k, p));
  let lower = at;
  for (let i = k, term = at; i > 0 && term > 0; i--) lower += term *= i / ((n - i + 1) * odds);
  let upper = at;
  for (let i = k, term = at; i < n && term > 0; i++) upper += term *= ((n - i) / (i + 1)) * odds;
  return Math.min(1, 2 * Math.min(lower, upper));
}

function countBins(pValues: readonly number[]): number[] {
  const bins: number[] = new Array(UNIFORMITY_BINS).fill(0);
  for (const p of pValues) bins[Math.min(Math.floor(p * UNIFORMITY_BINS), UNIFORMITY_BINS - 1)]++;
  return bins;
}

function exactUniformityP(bins: readonly number[], sequences: number): number {
  const least = Math.min(...bins.map((count) => binomialTwoSided(sequences, count, 1 / UNIFORMITY_BINS)));
  return Math.min(1, UNIFORMITY_BINS * least);
}

/** 4.2.2, with the expected count s / 10 as it is (sts-2.1.2 truncates it). */
function chiSquaredUniformityP(bins: readonly number[], sequences: number): number | null {
  if (sequences < CHI_SQUARED_SEQUENCES_MIN) return null;
  const chances = new Array<number>(UNIFORMITY_BINS).fill(1 / UNIFORMITY_BINS);
  return igamc((UNIFORMITY_BINS - 1) / 2, chiSquaredOf(bins, chances, sequences) / 2);
}

function judgeRow({ test, subtest }: TestRow, pValues: readonly number[], threshold: number): RowAcross {
  const sequences = pValues.length;
  const failures = pValues.filter((p) => p < ALPHA).length;
  const bins = countBins(pValues);
  const proportionP = binomialTwoSided(sequences, failures, ALPHA);
  const uniformityP = exactUniformityP(bins, sequences);
  const chiSquaredP = chiSquaredUniformityP(bins, sequences);
  const passed = proportionP >= threshold && uniformityP >= threshold;
  return { test, subtest, sequences, failures, proportionP, uniformityP, chiSquaredP, passed };
}

/**
 * The verdict on many sequences of one generator, each given by its rows. Both checks of 4.2 for every row,
 * with one false-reject rate shared out over all of them (Bonferroni): without that the document's
 * three-sigma interval and 0.0001 raise an alarm in more than half of good batches of 100 sequences. The
 * p-values themselves are approximations (the spectral test fails good data 1.2 % of the time), which tens of
 * thousands of sequences would show.
 */
export function verdictAcross(sequences: readonly (readonly TestRow[])[]): VerdictAcross {
  const pValuesOf = new Map<string, { readonly row: TestRow; readonly pValues: number[] }>();
  for (const rows of sequences) {
    for (const row of rows) {
      const key = `${row.test} ${row.subtest}`;
      const entry = pValuesOf.get(key);
      if (entry === undefined) pValuesOf.set(key, { row, pValues: [row.pValue] });
      else entry.pValues.push(row.pValue);
    }
  }
  const checks = 2 * pValuesOf.size;
  const threshold = ACROSS_FALSE_REJECT_RATE / Math.max(1, checks);
  const rows = Array.from(pValuesOf.values(), ({ row, pValues }) => judgeRow(row, pValues, threshold));
  return {
    passed: rows.length > 0 && rows.every(({ passed }) => passed),
    sequences: sequences.length,
    rows,
    threshold,
    rule:
      "fails if any row's proportion or uniformity (exact binomial) " +
      `has p < ${ACROSS_FALSE_REJECT_RATE} / ${checks} checks`,
    falseRejectRate: ACROSS_FALSE_REJECT_RATE,
  };
}
