/**
 * What the rows of SP 800-22 say about a generator: for one sequence, and across sequences (section 4.2). A
 * good sequence fails about two of 188 rows at the level 0.01; a rule that demanded all rows would reject four of five
 * good sequences.
 */
import { assert } from '../../core/assert.ts';
import { igamc, lgamma } from '../special.ts';
import { ALPHA, runBattery, type TestName, type TestRow } from './battery.ts';
import { chiSquaredOf } from './sequence.ts';

export interface Verdict {
  readonly passed: boolean;
  /** Rows with p < 0.01. */
  readonly failures: number;
  /** 1 when there are no rows. */
  readonly smallestP: number;
  /** The rule that decided, in words for a certificate's reader. */
  readonly rule: string;
  /** Upper bound on the fraction of good sequences that the rule rejects. */
  readonly falseRejectRate: number;
}

/** Row count of the complete battery when the excursion tests do not apply. */
const ROWS_MIN = 162;
/**
 * Among 12,000 sequences of 10^6 ChaCha20 bits the rule rejected ten, three of them for their number of failures. That is
 * 0.08 %, and below 0.2 % with a confidence of 99.8 % (Clopper and Pearson). FALSE_REJECT_RATE states the bound.
 * `npm run bench -- false-rejects --rounds 12000` counts them again.
 */
const FAILURES_MAX = 12;
const P_MIN = 1e-6;
export const FALSE_REJECT_RATE = 0.002;

/** Judges one sequence of 10^6 bits or more. Fewer rows than the complete battery has never pass. */
export function verdict(rows: readonly TestRow[]): Verdict {
  let failures = 0;
  let smallestP = 1;
  for (const { pValue } of rows) {
    if (pValue < ALPHA) failures++;
    if (pValue < smallestP) smallestP = pValue;
  }
  if (rows.length < ROWS_MIN) {
    const rule = `fewer than ${ROWS_MIN} rows give no verdict: the battery needs 10^6 bits`;
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

/** The result of the battery on one sequence, as a certificate states it. */
export interface SequenceOutcome {
  /** Rows at or above 0.01, of all that apply. */
  readonly passed: number;
  readonly total: number;
  readonly smallestP: number;
  /** The verdict; false for fewer than 10^6 bits. */
  readonly verified: boolean;
  /** Why there is no verdict, or the rule that decided. */
  readonly reason: string;
  /** The tenth of [0, 1] that holds each p-value: see decilesOf. */
  readonly deciles: string;
}

/**
 * Returns in which tenth of [0, 1] each p-value of a sequence lies: one digit a row, in the order of the battery, but
 * with the rows of the excursion tests last, because these do not always apply. A record keeps this instead of 188
 * numbers.
 */
function decilesOf(rows: readonly TestRow[]): string {
  const isExcursion = ({ test }: TestRow) => test.startsWith('RandomExcursions');
  const ordered = [...rows.filter((row) => !isExcursion(row)), ...rows.filter(isExcursion)];
  return ordered
    .map(({ pValue }) => Math.min(UNIFORMITY_BINS - 1, Math.floor(UNIFORMITY_BINS * pValue)))
    .join('');
}

/** Runs the battery on the first `bitLength` bits (packed, most significant first) and judges them. */
export function testSequence(bits: Uint8Array, bitLength: number): SequenceOutcome {
  return outcomeOf(runBattery(bits, bitLength), bitLength);
}

/** Returns what a certificate states of a battery that ran on `bitLength` bits. */
export function outcomeOf(
  { enough, passed, total, rows }: ReturnType<typeof runBattery>,
  bitLength: number,
): SequenceOutcome {
  const decision = verdict(rows);
  return {
    passed,
    total,
    smallestP: decision.smallestP,
    verified: enough && decision.passed,
    reason: enough ? decision.rule : `${bitLength} bits are too few for a verdict`,
    deciles: decilesOf(rows),
  };
}

/** The results of one row over many sequences. */
interface RowAcross {
  readonly test: TestName;
  readonly subtest: string | null;
  /** Sequences in which the row applied. */
  readonly sequences: number;
  /** Those with p < 0.01. */
  readonly failures: number;
  /** Exact two-sided p-value of `failures` under Binomial(sequences, 0.01) (4.2.1). */
  readonly proportionP: number;
  /** P-value of the p-values' counts in ten equal bins: ten times the least of ten exact binomial p-values. */
  readonly uniformityP: number;
  /**
   * P_T of 4.2.2, the χ² of the same counts, for comparison; null below 55 sequences. The verdict ignores it: at
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
  /** A row fails when its proportionP or its uniformityP is below this. */
  readonly threshold: number;
  readonly rule: string;
}

const ACROSS_FALSE_REJECT_RATE = 0.001;
/** The fewest sequences for the χ² of 4.2.2. */
const CHI_SQUARED_SEQUENCES_MIN = 55;
const UNIFORMITY_BINS = 10;

/** ln of the probability of k successes in n trials that succeed with probability p. */
function logBinomial(n: number, k: number, p: number): number {
  const choices = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
  return choices + k * Math.log(p) + (n - k) * Math.log1p(-p);
}

/** P(X <= k), summed downwards from k. It is exact if k is at most the mean, and otherwise a lower bound. */
function lowerTail(n: number, k: number, p: number): number {
  const odds = p / (1 - p);
  let term = Math.exp(logBinomial(n, k, p));
  let sum = term;
  for (let i = k; i > 0 && term > 0; i--) sum += term *= i / ((n - i + 1) * odds);
  return sum;
}

/** P(X >= k), summed upwards from k. It is exact if k is at least the mean, and otherwise a lower bound. */
function upperTail(n: number, k: number, p: number): number {
  const odds = p / (1 - p);
  let term = Math.exp(logBinomial(n, k, p));
  let sum = term;
  for (let i = k; i < n && term > 0; i++) sum += term *= ((n - i) / (i + 1)) * odds;
  return sum;
}

/** min(1, 2 min(P(X <= k), P(X >= k))) for X of Binomial(n, p). */
export function binomialTwoSided(n: number, k: number, p: number): number {
  assert(k >= 0 && k <= n && p > 0 && p < 1, 'k lies in 0..n and p between 0 and 1');
  return Math.min(1, 2 * Math.min(lowerTail(n, k, p), upperTail(n, k, p)));
}

/** P(X >= k) for X of Binomial(n, p). */
export function binomialAtLeast(n: number, k: number, p: number): number {
  assert(k >= 0 && k <= n && p > 0 && p < 1, 'k lies in 0..n and p between 0 and 1');
  if (k === 0) return 1;
  return k > n * p ? upperTail(n, k, p) : 1 - lowerTail(n, k - 1, p);
}

/** P-value of counts in ten equal intervals: ten times the least of ten exact binomial p-values. */
function exactUniformityP(bins: readonly number[], sequences: number): number {
  const least = Math.min(...bins.map((count) => binomialTwoSided(sequences, count, 1 / UNIFORMITY_BINS)));
  return Math.min(1, UNIFORMITY_BINS * least);
}

/** P_T of 4.2.2, with the expected count s / 10 not truncated (sts-2.1.2 truncates it). */
function chiSquaredUniformityP(bins: readonly number[], sequences: number): number | null {
  if (sequences < CHI_SQUARED_SEQUENCES_MIN) return null;
  const chances = new Array<number>(UNIFORMITY_BINS).fill(1 / UNIFORMITY_BINS);
  return igamc((UNIFORMITY_BINS - 1) / 2, chiSquaredOf(bins, chances, sequences) / 2);
}

/** The counts of one row. */
interface RowTally {
  readonly test: TestName;
  readonly subtest: string | null;
  sequences: number;
  failures: number;
  readonly bins: number[];
}

function judgeRow({ test, subtest, sequences, failures, bins }: RowTally, threshold: number): RowAcross {
  const proportionP = binomialTwoSided(sequences, failures, ALPHA);
  const uniformityP = exactUniformityP(bins, sequences);
  const chiSquaredP = chiSquaredUniformityP(bins, sequences);
  const passed = proportionP >= threshold && uniformityP >= threshold;
  return { test, subtest, sequences, failures, proportionP, uniformityP, chiSquaredP, passed };
}

/**
 * Judges many sequences of one generator, each given by its rows. It makes both checks of 4.2 for every row
 * and divides one false-reject rate among all checks (Bonferroni): undivided, the document's
 * three-sigma interval and 0.0001 raise an alarm in more than half of good batches of 100 sequences. The
 * p-values themselves are approximations (the spectral test fails good data 1.2 % of the time), which tens of
 * thousands of sequences would show. Only counts are kept: the memory does not grow with the number of sequences.
 */
export class SequenceTally {
  readonly #rows = new Map<string, RowTally>();
  #sequences = 0;

  add(rows: readonly TestRow[]): void {
    this.#sequences++;
    for (const { test, subtest, pValue } of rows) {
      const key = `${test} ${subtest}`;
      let row = this.#rows.get(key);
      if (row === undefined) {
        row = { test, subtest, sequences: 0, failures: 0, bins: new Array(UNIFORMITY_BINS).fill(0) };
        this.#rows.set(key, row);
      }
      row.sequences++;
      if (pValue < ALPHA) row.failures++;
      row.bins[Math.min(Math.floor(pValue * UNIFORMITY_BINS), UNIFORMITY_BINS - 1)]++;
    }
  }

  verdict(): VerdictAcross {
    const checks = 2 * this.#rows.size;
    const threshold = ACROSS_FALSE_REJECT_RATE / Math.max(1, checks);
    const rows = Array.from(this.#rows.values(), (row) => judgeRow(row, threshold));
    return {
      passed: rows.length > 0 && rows.every(({ passed }) => passed),
      sequences: this.#sequences,
      rows,
      threshold,
      rule:
        "fails if any row's proportion or uniformity (exact binomial) " +
        `has p < ${ACROSS_FALSE_REJECT_RATE} / ${checks} checks`,
    };
  }
}

/**
 * How many of many sequences failed `verdict`, and whether good sequences would: the rule rejects a good one now and
 * then.
 */
export interface RejectionVerdict {
  readonly passed: boolean;
  readonly sequences: number;
  readonly rejected: number;
  /** Probability that at least as many good sequences are rejected, at FALSE_REJECT_RATE each. */
  readonly p: number;
  readonly rule: string;
}

/** Judges that `rejected` of `sequences` failed `verdict`. Exact, because sequences, unlike rows, are independent. */
export function verdictOnRejections(sequences: number, rejected: number): RejectionVerdict {
  const p = binomialAtLeast(sequences, rejected, FALSE_REJECT_RATE);
  return {
    passed: p >= ACROSS_FALSE_REJECT_RATE,
    sequences,
    rejected,
    p,
    rule:
      'fails if so many sequences are rejected that good ones do it with ' +
      `p < ${ACROSS_FALSE_REJECT_RATE} (exact binomial, ${FALSE_REJECT_RATE} a sequence)`,
  };
}
