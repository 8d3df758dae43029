import { assert } from '../../core/assert.ts';
import { assessOriginal } from './assess.ts';

/** Restarts, and samples kept of each (SP 800-90B 3.1.4.1). */
const RESTARTS = 1000;
const SAMPLES_PER_RESTART = 1000;

/**
 * Error of one row or column such that 2,000 of them together raise a false alarm once in a hundred
 * (SP 800-90B 3.1.4.3).
 */
const RESTART_ALPHA = -Math.expm1(Math.log(0.99) / (RESTARTS + SAMPLES_PER_RESTART));

export interface RestartAssessment {
  /** The most often a symbol may occur in one row or column. */
  readonly cutoff: number;
  /** The most often one does. */
  readonly maxCount: number;
  /** maxCount <= cutoff (3.1.4.3). When it is false the rest is not computed, and no entropy is credited. */
  readonly isSane: boolean;
  /** Min-entropy per symbol of the matrix read row by row (H_r) and column by column (H_c). */
  readonly hRows: number | null;
  readonly hColumns: number | null;
  /** Sane, and neither H_r nor H_c below half of H_I (3.1.4.2). */
  readonly isValid: boolean;
  /** min(H_r, H_c, H_I) per symbol; null when the source is not validated. */
  readonly minEntropy: number | null;
}

/**
 * The restart tests (SP 800-90B 3.1.4) of a non-IID source: `matrix` holds 1,000 restarts of 1,000 symbols
 * each, row by row, one symbol per byte; `hInitial` is H_I, the initial estimate in bits per symbol.
 */
export function assessRestarts(
  matrix: Uint8Array,
  bitsPerSymbol: number,
  hInitial: number,
): RestartAssessment {
  assert(
    matrix.length === RESTARTS * SAMPLES_PER_RESTART,
    'the restart matrix has 1,000 rows of 1,000 symbols',
  );
  assert(hInitial > 0 && hInitial <= bitsPerSymbol, 'H_I is positive and at most the width of a symbol');
  const columns = transpose(matrix, RESTARTS, SAMPLES_PER_RESTART);
  const cutoff = restartCutoff(hInitial);
  const maxCount = Math.max(largestCount(matrix, SAMPLES_PER_RESTART), largestCount(columns, RESTARTS));
  if (maxCount > cutoff) {
    return { cutoff, maxCount, isSane: false, hRows: null, hColumns: null, isValid: false, minEntropy: null };
  }
  const hRows = assessOriginal(matrix, bitsPerSymbol);
  const hColumns = assessOriginal(columns, bitsPerSymbol);
  const isValid = Math.min(hRows, hColumns) >= hInitial / 2;
  const minEntropy = isValid ? Math.min(hRows, hColumns, hInitial) : null;
  return { cutoff, maxCount, isSane: true, hRows, hColumns, isValid, minEntropy };
}

/** A matrix of `rows` rows read column by column. */
function transpose(matrix: Uint8Array, rows: number, columns: number): Uint8Array {
  const transposed = new Uint8Array(matrix.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++)
      transposed[column * rows + row] = matrix[row * columns + column];
  }
  return transposed;
}

/** The most often that one symbol occurs within one row of `rowLength` symbols. */
function largestCount(matrix: Uint8Array, rowLength: number): number {
  const counts = new Int32Array(256);
  let largest = 0;
  for (let start = 0; start < matrix.length; start += rowLength) {
    counts.fill(0);
    for (let i = start; i < start + rowLength; i++) largest = Math.max(largest, ++counts[matrix[i]]);
  }
  return largest;
}

/**
 * X_cutoff (SP 800-90B 3.1.4.3): the smallest count that the most common of 1,000 symbols of min-entropy
 * `hInitial` exceeds with at most probability alpha. The standard simulates it five million times; here it
 * is computed.
 */
export function restartCutoff(hInitial: number): number {
  const p = 2 ** -hInitial;
  let low = Math.ceil(SAMPLES_PER_RESTART * p) - 1; // some symbol occurs more often than this
  let high = SAMPLES_PER_RESTART;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (largestCountAtMost(middle, SAMPLES_PER_RESTART, p) >= 1 - RESTART_ALPHA) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * Probability that no symbol occurs more than `limit` times among `samples`, for the worst source whose
 * most common symbol has probability p: as many symbols of probability p as fit, and one that takes the
 * rest.
 *
 * Counts of independent Poisson variables with means samples * p_i, given that they sum to `samples`, are
 * multinomial. So it is the sum's distribution with every variable cut off at `limit`, over that without;
 * all terms are positive, none cancel.
 */
export function largestCountAtMost(limit: number, samples: number, p: number): number {
  const logFactorial = new Float64Array(samples + 1);
  for (let i = 2; i <= samples; i++) logFactorial[i] = logFactorial[i - 1] + Math.log(i);
  const poisson = (mean: number, count: number): number =>
    mean === 0 ? Number(count === 0) : Math.exp(count * Math.log(mean) - mean - logFactorial[count]);
  const cutOff = (mean: number): Float64Array =>
    Float64Array.from({ length: samples + 1 }, (_, count) => (count <= limit ? poisson(mean, count) : 0));

  const likely = Math.floor(1 / p);
  let sum = cutOff(samples * Math.max(0, 1 - likely * p));
  let power = cutOff(samples * p);
  for (let left = likely; left > 0; left >>>= 1) {
    if (left & 1) sum = convolve(sum, power);
    if (left > 1) power = convolve(power, power);
  }
  return sum[samples] / poisson(samples, samples);
}

/** Distribution of the sum of two counts, as far as the arrays reach. */
function convolve(a: Float64Array, b: Float64Array): Float64Array {
  const sum = new Float64Array(a.length);
  for (let i = 0; i < a.length; i++) {
    if (a[i] === 0) continue;
    for (let j = 0; i + j < a.length; j++) sum[i + j] += a[i] * b[j];
  }
  return sum;
}
