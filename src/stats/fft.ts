/**
 * Discrete Fourier transforms in float64, X_k = Σ x_j e^(-2πi jk/n), unscaled: mixed radix 2, 4, 5 in
 * Stockham's autosort form (no bit reversal) and Bluestein's chirp for every other length. Float64 because
 * the spectral test compares moduli with a threshold: for the digits of pi the nearest of 500,000 lies 5e-4
 * beside 1731. A plan holds tables and scratch, so it does one transform at a time and its result is valid
 * until its next call.
 */
import { assert } from '../core/assert.ts';
import { type PassFunction, pass2, pass4, pass5, type Reals, reals } from './fft-passes.ts';

export interface Spectrum {
  readonly re: Reals;
  readonly im: Reals;
}

export interface ComplexFft {
  readonly length: number;
  /** Transforms (and overwrites) its arguments; the result lies in them or in the plan's scratch. */
  transform(re: Reals, im: Reals): Spectrum;
}

/** One pass of radix r over `stride` interleaved transforms; see fft-passes.ts for the tables' order. */
interface Pass {
  readonly run: PassFunction;
  readonly blocks: number;
  readonly stride: number;
  readonly cos: Reals;
  readonly sin: Reals;
}

/** The cheapest a point first. */
const PASS_OF_RADIX = new Map<number, PassFunction>([
  [5, pass5],
  [4, pass4],
  [2, pass2],
]);

/** The radices of a length whose prime factors are 2 and 5; undefined for any other. */
function radicesOf(length: number): number[] | undefined {
  const radices: number[] = [];
  let rest = length;
  for (const radix of PASS_OF_RADIX.keys()) {
    while (rest % radix === 0) {
      radices.push(radix);
      rest /= radix;
    }
  }
  return rest === 1 ? radices : undefined;
}

/** Writes e^(-2πi turns) into one place of a pair of tables. */
function setRoot(cos: Reals, sin: Reals, index: number, turns: number): void {
  cos[index] = Math.cos(2 * Math.PI * turns);
  sin[index] = -Math.sin(2 * Math.PI * turns);
}

function passesOf(length: number, radices: readonly number[], batch: number): Pass[] {
  const passes: Pass[] = [];
  let rest = length;
  let stride = batch;
  for (const radix of radices) {
    const blocks = rest / radix;
    const cos = reals(blocks * (radix - 1));
    const sin = reals(blocks * (radix - 1));
    for (let p = 0; p < blocks; p++) {
      for (let k = 1; k < radix; k++) setRoot(cos, sin, p * (radix - 1) + k - 1, ((p * k) % rest) / rest);
    }
    passes.push({ run: PASS_OF_RADIX.get(radix)!, blocks, stride, cos, sin });
    rest = blocks;
    stride *= radix;
  }
  return passes;
}

/**
 * `batch` interleaved transforms (element j of transform b at j·batch + b) of a length whose prime factors
 * are 2 and 5.
 */
class StockhamFft implements ComplexFft {
  readonly length: number;
  readonly #passes: readonly Pass[];
  readonly #scratchRe: Reals;
  readonly #scratchIm: Reals;

  constructor(length: number, radices: readonly number[], batch: number) {
    this.length = length;
    this.#passes = passesOf(length, radices, batch);
    this.#scratchRe = reals(length * batch);
    this.#scratchIm = reals(length * batch);
  }

  transform(re: Reals, im: Reals): Spectrum {
    let fromRe = re;
    let fromIm = im;
    let toRe = this.#scratchRe;
    let toIm = this.#scratchIm;
    for (const { run, blocks, stride, cos, sin } of this.#passes) {
      run(fromRe, fromIm, toRe, toIm, blocks, stride, cos, sin);
      [fromRe, toRe] = [toRe, fromRe];
      [fromIm, toIm] = [toIm, fromIm];
    }
    return { re: fromRe, im: fromIm };
  }
}

/**
 * Any length as a circular convolution with a chirp: jk = (j² + k² - (k - j)²) / 2 (Bluestein 1970). With
 * w_j = e^(-πi j²/n): X_k = w_k Σ (x_j w_j) conj(w_(k-j)).
 */
class BluesteinFft implements ComplexFft {
  readonly length: number;
  readonly #convolution: ComplexFft;
  readonly #chirpCos: Reals;
  readonly #chirpSin: Reals;
  /** Transform of the conjugate chirp, scaled by 1 / convolution length. */
  readonly #kernelRe: Reals;
  readonly #kernelIm: Reals;
  readonly #re: Reals;
  readonly #im: Reals;

  constructor(length: number) {
    const padded = 2 ** Math.ceil(Math.log2(2 * length - 1));
    this.length = length;
    this.#convolution = complexFft(padded);
    this.#chirpCos = reals(length);
    this.#chirpSin = reals(length);
    this.#re = reals(padded);
    this.#im = reals(padded);
    const kernelRe = reals(padded);
    const kernelIm = reals(padded);
    for (let j = 0; j < length; j++) {
      // The phase has period 2n in j²; reduced as an exact whole number (j² < 2^53).
      setRoot(this.#chirpCos, this.#chirpSin, j, ((j * j) % (2 * length)) / (2 * length));
      for (const at of [j, (padded - j) % padded]) {
        kernelRe[at] = this.#chirpCos[j] / padded;
        kernelIm[at] = -this.#chirpSin[j] / padded;
      }
    }
    const kernel = this.#convolution.transform(kernelRe, kernelIm);
    this.#kernelRe = kernel.re.slice();
    this.#kernelIm = kernel.im.slice();
  }

  transform(re: Reals, im: Reals): Spectrum {
    this.#re.fill(0);
    this.#im.fill(0);
    multiply(re, im, this.#chirpCos, this.#chirpSin, this.#re, this.#im, this.length);
    const spectrum = this.#convolution.transform(this.#re, this.#im);
    multiply(spectrum.re, spectrum.im, this.#kernelRe, this.#kernelIm, this.#re, this.#im, this.#re.length);
    // The inverse transform is the forward one with real and imaginary parts exchanged.
    const product = this.#convolution.transform(this.#im, this.#re);
    multiply(product.im, product.re, this.#chirpCos, this.#chirpSin, re, im, this.length);
    return { re, im };
  }
}

/** out = x · y, element by element; out may be x. */
function multiply(
  xRe: Reals,
  xIm: Reals,
  yRe: Reals,
  yIm: Reals,
  outRe: Reals,
  outIm: Reals,
  count: number,
): void {
  for (let j = 0; j < count; j++) {
    const a = xRe[j];
    const b = xIm[j];
    outRe[j] = a * yRe[j] - b * yIm[j];
    outIm[j] = a * yIm[j] + b * yRe[j];
  }
}

/**
 * A plan for one length >= 1. Its arrays may be longer than that; only the first `length` elements are read.
 */
export function complexFft(length: number): ComplexFft {
  assert(Number.isSafeInteger(length) && length >= 1, 'a transform has at least one element');
  const radices = radicesOf(length);
  return radices === undefined ? new BluesteinFft(length) : new StockhamFft(length, radices, 1);
}

/** The largest divisor of n up to its square root whose prime factors are 2 and 5. */
function smoothDivisor(n: number): number {
  for (let divisor = Math.floor(Math.sqrt(n)); divisor > 1; divisor--) {
    if (n % divisor === 0 && radicesOf(divisor) !== undefined) return divisor;
  }
  return 1;
}

/**
 * Real columns transformed at once, two to a complex transform: 8 float64 are one cache line of the matrix.
 */
const COLUMNS_AT_ONCE = 8;

/**
 * |X_k|² of a real signal. The signal of n = R·C samples is seen as R rows of C columns (sample c + C·r) and
 * transformed in two sweeps (Gentleman & Sande 1966), so that each short transform stays in the first-level
 * cache: columns over r, two real ones as the parts of one complex transform; then, as the signal is real,
 * only the rows k1 = 0 .. R/2, each times e^(-2πi c·k1/n), over c. Row k1 gives the bins k1 + R·k2. At n =
 * 10^6 (R = C = 1000) the matrix takes 8 MB and bench/micro.bench.ts measures 20 ms.
 */
export class RealSpectrum {
  readonly length: number;
  readonly #rows: number;
  readonly #columns: number;
  /**
   * Distance of two rows in the matrix; the extra line keeps powers of two from falling into one cache set.
   */
  readonly #pitch: number;
  readonly #columnFft: ComplexFft;
  readonly #rowFft: ComplexFft;
  readonly #matrix: Spectrum;
  readonly #work: Spectrum;
  /** e^(-2πi c/n) for each column c: the step of the twiddle factors from one row to the next. */
  readonly #step: Spectrum;
  readonly #twiddle: Spectrum;
  readonly #moduli: Reals;
  /** The signal and some zeros, so that the last batch of columns may read past its end. */
  readonly #samples: Int8Array;

  constructor(length: number) {
    assert(Number.isSafeInteger(length) && length >= 1, 'a signal has at least one sample');
    const rows = smoothDivisor(length);
    const columns = length / rows;
    const batches = Math.ceil(columns / COLUMNS_AT_ONCE);
    const scratch = Math.max(columns, (rows * COLUMNS_AT_ONCE) / 2);
    this.length = length;
    this.#rows = rows;
    this.#columns = columns;
    this.#pitch = (batches + 1) * COLUMNS_AT_ONCE;
    this.#columnFft = new StockhamFft(rows, radicesOf(rows) ?? [], COLUMNS_AT_ONCE / 2);
    this.#rowFft = complexFft(columns);
    const cells = (Math.floor(rows / 2) + 1) * this.#pitch;
    this.#matrix = zeros(cells);
    this.#work = zeros(scratch);
    this.#step = zeros(columns);
    this.#twiddle = zeros(columns);
    this.#moduli = reals(columns);
    this.#samples = new Int8Array(length + COLUMNS_AT_ONCE);
    for (let c = 0; c < columns; c++) setRoot(this.#step.re, this.#step.im, c, c / length);
  }

  /**
   * Calls `visit` for each row with moduli[j] = |X_k|², k = first + step·j; the array is valid during the
   * call. Every pair of bins k, n - k is seen in one of its two places, except in the rows where 2·first is 0
   * or step: those hold both.
   */
  squaredModuli(
    signal: Int8Array,
    visit: (moduli: readonly number[], first: number, step: number) => void,
  ): void {
    assert(signal.length === this.length, 'the signal has the length of the plan');
    this.#samples.set(signal);
    for (let c = 0; c < this.#columns; c += COLUMNS_AT_ONCE) this.#transformColumns(c);
    // A row starts with half: the columns' parts were separated without dividing by two.
    this.#twiddle.re.fill(0.5);
    this.#twiddle.im.fill(0);
    for (let row = 0; 2 * row <= this.#rows; row++) {
      this.#loadRow(row);
      const { re, im } = this.#rowFft.transform(this.#work.re, this.#work.im);
      const moduli = this.#moduli;
      for (let j = 0; j < moduli.length; j++) {
        const x = re[j];
        const y = im[j];
        moduli[j] = x * x + y * y;
      }
      visit(moduli, row, this.#rows);
    }
  }

  /**
   * Columns c .. c+7: gathered, transformed, separated by symmetry (Z_k ± conj Z_(R-k)) and stored by rows.
   */
  #transformColumns(c: number): void {
    const pairs = COLUMNS_AT_ONCE / 2;
    const samples = this.#samples;
    const { re: workRe, im: workIm } = this.#work;
    for (let row = 0, i = 0, from = c; row < this.#rows; row++, from += this.#columns) {
      for (let pair = 0; pair < pairs; pair++, i++) {
        workRe[i] = samples[from + 2 * pair];
        workIm[i] = samples[from + 2 * pair + 1];
      }
    }
    const { re, im } = this.#columnFft.transform(workRe, workIm);
    const { re: matrixRe, im: matrixIm } = this.#matrix;
    for (let row = 0; 2 * row <= this.#rows; row++) {
      const at = row * pairs;
      const mirror = row === 0 ? 0 : (this.#rows - row) * pairs;
      const to = row * this.#pitch + c;
      for (let pair = 0; pair < pairs; pair++) {
        const zRe = re[at + pair];
        const zIm = im[at + pair];
        const mirrorRe = re[mirror + pair];
        const mirrorIm = im[mirror + pair];
        matrixRe[to + 2 * pair] = zRe + mirrorRe;
        matrixIm[to + 2 * pair] = zIm - mirrorIm;
        matrixRe[to + 2 * pair + 1] = zIm + mirrorIm;
        matrixIm[to + 2 * pair + 1] = mirrorRe - zRe;
      }
    }
  }

  /** One row times its twiddle factors, which then take their step; 500 steps cost about 1e-14. */
  #loadRow(row: number): void {
    const { re: matrixRe, im: matrixIm } = this.#matrix;
    const { re: workRe, im: workIm } = this.#work;
    const { re: twiddleRe, im: twiddleIm } = this.#twiddle;
    const { re: stepRe, im: stepIm } = this.#step;
    for (let c = 0, from = row * this.#pitch; c < this.#columns; c++, from++) {
      const re = matrixRe[from];
      const im = matrixIm[from];
      const cos = twiddleRe[c];
      const sin = twiddleIm[c];
      workRe[c] = re * cos - im * sin;
      workIm[c] = re * sin + im * cos;
      const stepCos = stepRe[c];
      const stepSin = stepIm[c];
      twiddleRe[c] = cos * stepCos - sin * stepSin;
      twiddleIm[c] = cos * stepSin + sin * stepCos;
    }
  }
}

function zeros(length: number): Spectrum {
  return { re: reals(length), im: reals(length) };
}
