/**
 * Discrete Fourier transforms in float64, X_k = Σ x_j e^(-2πi jk/n), unscaled: mixed radix 2, 4, 5 in
 * Stockham's autosort form (no bit reversal) and Bluestein's chirp for every other length. Float64 because
 * the spectral test compares moduli with a threshold: for the digits of pi the nearest of 500,000 lies 5e-4
 * beside 1731. A plan holds tables and scratch, so it does one transform at a time and its result is valid
 * until its next call.
 */
import { assert } from '../core/assert.ts';
import { type PassFunction, pass2, pass4, pass5 } from './fft-passes.ts';

export interface Spectrum {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

export interface ComplexFft {
  readonly length: number;
  /** Transforms (and overwrites) its arguments; the result lies in them or in the plan's scratch. */
  transform(re: Float64Array, im: Float64Array): Spectrum;
}

/** One pass of radix r; see fft-passes.ts for the order in the tables. */
interface Pass {
  readonly run: PassFunction;
  readonly blocks: number;
  readonly stride: number;
  readonly cos: Float64Array;
  readonly sin: Float64Array;
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
function setRoot(cos: Float64Array, sin: Float64Array, index: number, turns: number): void {
  cos[index] = Math.cos(2 * Math.PI * turns);
  sin[index] = -Math.sin(2 * Math.PI * turns);
}

function passesOf(length: number, radices: readonly number[]): Pass[] {
  const passes: Pass[] = [];
  let rest = length;
  let stride = 1;
  for (const radix of radices) {
    const blocks = rest / radix;
    const cos = new Float64Array(blocks * (radix - 1));
    const sin = new Float64Array(blocks * (radix - 1));
    for (let p = 0; p < blocks; p++) {
      for (let k = 1; k < radix; k++) setRoot(cos, sin, p * (radix - 1) + k - 1, ((p * k) % rest) / rest);
    }
    passes.push({ run: PASS_OF_RADIX.get(radix)!, blocks, stride, cos, sin });
    rest = blocks;
    stride *= radix;
  }
  return passes;
}

/** Of a length whose prime factors are 2 and 5. */
class StockhamFft implements ComplexFft {
  readonly length: number;
  readonly #passes: readonly Pass[];
  readonly #scratchRe: Float64Array;
  readonly #scratchIm: Float64Array;

  constructor(length: number, radices: readonly number[]) {
    this.length = length;
    this.#passes = passesOf(length, radices);
    this.#scratchRe = new Float64Array(length);
    this.#scratchIm = new Float64Array(length);
  }

  transform(re: Float64Array, im: Float64Array): Spectrum {
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
  readonly #chirpCos: Float64Array;
  readonly #chirpSin: Float64Array;
  /** Transform of the conjugate chirp, scaled by 1 / convolution length. */
  readonly #kernelRe: Float64Array;
  readonly #kernelIm: Float64Array;
  readonly #re: Float64Array;
  readonly #im: Float64Array;

  constructor(length: number) {
    const padded = 2 ** Math.ceil(Math.log2(2 * length - 1));
    this.length = length;
    this.#convolution = complexFft(padded);
    this.#chirpCos = new Float64Array(length);
    this.#chirpSin = new Float64Array(length);
    this.#re = new Float64Array(padded);
    this.#im = new Float64Array(padded);
    const kernelRe = new Float64Array(padded);
    const kernelIm = new Float64Array(padded);
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

  transform(re: Float64Array, im: Float64Array): Spectrum {
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
  xRe: Float64Array,
  xIm: Float64Array,
  yRe: Float64Array,
  yIm: Float64Array,
  outRe: Float64Array,
  outIm: Float64Array,
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
  return radices === undefined ? new BluesteinFft(length) : new StockhamFft(length, radices);
}

/**
 * |X_k|² of a real signal, for the bins below the middle. The samples of an even length are the parts of half as many complex
 * ones, z_j = x_2j + i x_2j+1; their transform gives those of the even and of the odd samples by symmetry.
 */
export class RealSpectrum {
  readonly length: number;
  readonly #fft: ComplexFft;
  readonly #re: Float64Array;
  readonly #im: Float64Array;
  /** e^(-2πi k/n) for each bin k of an even length. */
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;
  readonly #moduli: Float64Array;

  constructor(length: number) {
    assert(Number.isSafeInteger(length) && length >= 2, 'a signal has at least two samples');
    const half = Math.floor(length / 2);
    const size = length % 2 === 0 ? half : length;
    this.length = length;
    this.#fft = complexFft(size);
    this.#re = new Float64Array(size);
    this.#im = new Float64Array(size);
    this.#moduli = new Float64Array(half);
    this.#cos = new Float64Array(half);
    this.#sin = new Float64Array(half);
    for (let k = 0; k < half; k++) setRoot(this.#cos, this.#sin, k, k / length);
  }

  /** |X_k|² for k = 0 .. floor(n/2) - 1; valid until the next call. */
  squaredModuli(signal: Int8Array): Float64Array {
    assert(signal.length === this.length, 'the signal has the length of the plan');
    const isEven = this.length % 2 === 0;
    for (let j = 0; j < this.#re.length; j++) {
      this.#re[j] = signal[isEven ? 2 * j : j];
      this.#im[j] = isEven ? signal[2 * j + 1] : 0;
    }
    const { re, im } = this.#fft.transform(this.#re, this.#im);
    const moduli = this.#moduli;
    for (let k = 0; k < moduli.length; k++) {
      if (!isEven) {
        moduli[k] = re[k] * re[k] + im[k] * im[k];
        continue;
      }
      const mirror = k === 0 ? 0 : moduli.length - k;
      const evenRe = (re[k] + re[mirror]) / 2;
      const evenIm = (im[k] - im[mirror]) / 2;
      const oddRe = (im[k] + im[mirror]) / 2;
      const oddIm = (re[mirror] - re[k]) / 2;
      const x = evenRe + oddRe * this.#cos[k] - oddIm * this.#sin[k];
      const y = evenIm + oddRe * this.#sin[k] + oddIm * this.#cos[k];
      moduli[k] = x * x + y * y;
    }
    return moduli;
  }
}
