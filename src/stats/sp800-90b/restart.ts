import { assert } from '../../core/assert.ts';
import { assessOriginal } from './assess.ts';

/** Count of restarts, and of samples taken after each (SP 800-90B 3.1.4.1). */
const RESTARTS = 1000;
const SAMPLES_PER_RESTART = 1000;

/**
 * False-alarm probability of one row or column, such that 2,000 of them raise a false alarm once in a hundred
 * assessments (3.1.4.3).
 */
const RESTART_ALPHA = -Math.expm1(Math.log(0.99) / (RESTARTS + SAMPLES_PER_RESTART));

export interface RestartAssessment {
  /** The largest count of one symbol that a row or column may have. */
  readonly cutoff: number;
  /** The largest count of one symbol that any row or column has. */
  readonly maxCount: number;
  /** maxCount <= cutoff (3.1.4.3). When it is false the rest is not computed, and no entropy is credited. */
  readonly isSane: boolean;
  /** Min-entropy per symbol of the matrix read row by row (H_r) and column by column (H_c). */
  readonly hRows: number | null;
  readonly hColumns: number | null;
  /** True when isSane and neither H_r nor H_c is below half of H_I (3.1.4.2). */
  readonly isValid: boolean;
  /** min(H_r, H_c, H_I) per symbol; null when the source is not validated. */
  readonly minEntropy: number | null;
}

/**
 * Runs the restart tests (SP 800-90B 3.1.4) of a non-IID source. `matrix` holds 1,000 restarts of 1,000 symbols
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

/** Returns the elements of a matrix of `rows` rows, column by column. */
function transpose(matrix: Uint8Array, rows: number, columns: number): Uint8Array {
  const transposed = new Uint8Array(matrix.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++)
      transposed[column * rows + row] = matrix[row * columns + column];
  }
  return transposed;
}

/** Returns the largest count of one symbol within any row of `rowLength` symbols. */
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
 * X_cutoff (SP 800-90B 3.1.4.3): the smallest limit that the count of the most common of 1,000 symbols of min-entropy
 * `hInitial` exceeds with probability alpha at most. The standard finds it by five million simulations; this function
 * computes it.
 */
export function restartCutoff(hInitial: number): number {
  const p = 2 ** -hInitial;
  let low = Math.ceil(SAMPLES_PER_RESTART * p) - 1; // the count of some symbol always exceeds this
  let high = SAMPLES_PER_RESTART;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (largestCountAtMost(middle, SAMPLES_PER_RESTART, p) >= 1 - RESTART_ALPHA) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * Returns the probability that no symbol occurs more than `limit` times among `samples`, for the worst source whose
 * most common symbol has probability p: as many symbols of probability p as fit, and one that takes the
 * rest.
 *
 * Independent Poisson counts with means samples * p_i, conditioned on the sum `samples`, are
 * multinomial. So the probability is that of the sum `samples` with every count cut off at `limit`, divided by that
 * without the limit. All terms are positive, so no digits cancel.
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
