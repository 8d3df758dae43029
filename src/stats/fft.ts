/**
 * Discrete Fourier transforms in float64, X_k = Σ x_j e^(-2πi jk/n), unscaled: mixed radix 2, 4, 5 in
 * Stockham's autosort form (no bit reversal) and Bluestein's chirp for every other length. Float64 because
 * the spectral test compares moduli with a threshold: for the digits of pi the nearest of 500,000 lies 5e-4
 * from the threshold 1731. A plan owns its tables and scratch memory, so it does one transform at a time, and its
 * result is valid until its next call.
 */
import { assert } from '../core/assert.ts';
import { compileWasm, ensureBytes, instantiate, type WasmMemory } from '../core/wasm.ts';

export interface Spectrum {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** Callers write the input into `re` and `im`. The result lies there or in the plan's scratch memory. */
export interface ComplexFft extends Spectrum {
  readonly length: number;
  transform(): Spectrum;
}

/** One pass over the plan's memory: see assembly/fourier.ts. */
type PassFunction = (x: number, y: number, blocks: number, stride: number, roots: number) => void;

interface Kernels {
  readonly memory: WasmMemory;
  readonly firstByte: { readonly value: number };
  setParts(bytes: number): void;
  readonly pass2: PassFunction;
  readonly pass4: PassFunction;
  readonly pass5: PassFunction;
}

const wasm = compileWasm(new URL('./fourier.wasm', import.meta.url));

/** One pass of radix r over the interleaved transforms that the earlier passes made. */
interface Pass {
  readonly radix: number;
  readonly blocks: number;
  readonly stride: number;
}

/** The even radices come first, since the kernels process two of the interleaved transforms at a time. */
const RADICES = [4, 2, 5];

/** The radices of a length whose prime factors are 2 and 5; undefined for any other. */
function radicesOf(length: number): number[] | undefined {
  const radices: number[] = [];
  let rest = length;
  for (const radix of RADICES) {
    while (rest % radix === 0) {
      radices.push(radix);
      rest /= radix;
    }
  }
  return rest === 1 ? radices : undefined;
}

/** Writes e^(-2πi turns) to index `index` of a pair of tables. */
function setRoot(cos: Float64Array, sin: Float64Array, index: number, turns: number): void {
  cos[index] = Math.cos(2 * Math.PI * turns);
  sin[index] = -Math.sin(2 * Math.PI * turns);
}

function passesOf(length: number, radices: readonly number[]): Pass[] {
  let stride = 1;
  return radices.map((radix) => {
    const pass = { radix, blocks: length / (radix * stride), stride };
    stride *= radix;
    return pass;
  });
}

/** Count of numbers that the kernels may read and write past the end of an array. */
const SLACK = 8;

/** A plan for a length whose prime factors are 2 and 5. Each plan has its own memory, some 48 bytes a point. */
class StockhamFft implements ComplexFft {
  readonly length: number;
  readonly re: Float64Array;
  readonly im: Float64Array;
  readonly #kernels = instantiate<Kernels>(wasm);
  readonly #passes: readonly (Pass & { readonly run: PassFunction; readonly roots: number })[];
  readonly #at: number;
  readonly #scratchAt: number;
  readonly #scratch: Spectrum;

  constructor(length: number, radices: readonly number[]) {
    const { memory, firstByte, pass2, pass4, pass5 } = this.#kernels;
    const passes = passesOf(length, radices);
    const partBytes = 8 * (length + SLACK);
    this.length = length;
    this.#at = 16 * Math.ceil(firstByte.value / 16);
    this.#scratchAt = this.#at + 2 * partBytes;
    let end = this.#scratchAt + 2 * partBytes;
    this.#passes = passes.map((pass) => {
      const roots = end;
      end += 16 * (pass.radix - 1) * pass.blocks;
      return { ...pass, roots, run: pass.radix === 2 ? pass2 : pass.radix === 4 ? pass4 : pass5 };
    });
    ensureBytes(memory, end + 8 * SLACK);
    this.#kernels.setParts(partBytes);
    for (const { radix, blocks, roots } of this.#passes) {
      const table = new Float64Array(memory.buffer, roots, 2 * (radix - 1) * blocks);
      for (let k = 1; k < radix; k++) {
        const cos = table.subarray((2 * k - 2) * blocks);
        const sin = table.subarray((2 * k - 1) * blocks);
        for (let p = 0; p < blocks; p++) setRoot(cos, sin, p, (p * k) / (radix * blocks));
      }
    }
    const arrayAt = (at: number): Spectrum => ({
      re: new Float64Array(memory.buffer, at, length),
      im: new Float64Array(memory.buffer, at + partBytes, length),
    });
    ({ re: this.re, im: this.im } = arrayAt(this.#at));
    this.#scratch = arrayAt(this.#scratchAt);
  }

  transform(): Spectrum {
    let [from, to] = [this.#at, this.#scratchAt];
    for (const { run, blocks, stride, roots } of this.#passes) {
      run(from, to, blocks, stride, roots);
      [from, to] = [to, from];
    }
    return from === this.#at ? this : this.#scratch;
  }
}

/**
 * A plan for any length: the transform is a circular convolution with a chirp, because
 * jk = (j² + k² - (k - j)²) / 2 (Bluestein 1970). With w_j = e^(-πi j²/n): X_k = w_k Σ (x_j w_j) conj(w_(k-j)).
 */
class BluesteinFft implements ComplexFft {
  readonly length: number;
  readonly re: Float64Array;
  readonly im: Float64Array;
  readonly #convolution: ComplexFft;
  readonly #chirpCos: Float64Array;
  readonly #chirpSin: Float64Array;
  /** Transform of the conjugate chirp, scaled by 1 / convolution length. */
  readonly #kernelRe: Float64Array;
  readonly #kernelIm: Float64Array;

  constructor(length: number) {
    const padded = 2 ** Math.ceil(Math.log2(2 * length - 1));
    this.length = length;
    this.#convolution = complexFft(padded);
    this.#chirpCos = new Float64Array(length);
    this.#chirpSin = new Float64Array(length);
    this.re = new Float64Array(length);
    this.im = new Float64Array(length);
    const { re, im } = this.#convolution;
    for (let j = 0; j < length; j++) {
      // The phase has period 2n in j². j² < 2^53 makes the reduction exact.
      setRoot(this.#chirpCos, this.#chirpSin, j, ((j * j) % (2 * length)) / (2 * length));
      for (const at of [j, (padded - j) % padded]) {
        re[at] = this.#chirpCos[j] / padded;
        im[at] = -this.#chirpSin[j] / padded;
      }
    }
    const kernel = this.#convolution.transform();
    this.#kernelRe = kernel.re.slice();
    this.#kernelIm = kernel.im.slice();
  }

  transform(): Spectrum {
    const { re, im } = this.#convolution;
    re.fill(0);
    im.fill(0);
    multiply(this.re, this.im, this.#chirpCos, this.#chirpSin, re, im, this.length);
    const spectrum = this.#convolution.transform();
    // The inverse transform is the forward one with real and imaginary parts exchanged.
    multiply(spectrum.re, spectrum.im, this.#kernelRe, this.#kernelIm, im, re, re.length);
    const product = this.#convolution.transform();
    multiply(product.im, product.re, this.#chirpCos, this.#chirpSin, this.re, this.im, this.length);
    return this;
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

/** Returns a plan for one length >= 1. */
export function complexFft(length: number): ComplexFft {
  assert(Number.isSafeInteger(length) && length >= 1, 'a transform has at least one element');
  const radices = radicesOf(length);
  return radices === undefined ? new BluesteinFft(length) : new StockhamFft(length, radices);
}

/**
 * |X_k|² of a real signal, for the bins below the middle. Each pair of samples of an even length becomes one complex
 * number, z_j = x_2j + i x_2j+1; symmetry separates their transform into those of the even and of the odd samples.
 */
export class RealSpectrum {
  readonly length: number;
  readonly #fft: ComplexFft;
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
    this.#moduli = new Float64Array(half);
    this.#cos = new Float64Array(half);
    this.#sin = new Float64Array(half);
    for (let k = 0; k < half; k++) setRoot(this.#cos, this.#sin, k, k / length);
  }

  /** |X_k|² for k = 0 .. floor(n/2) - 1; valid until the next call. */
  squaredModuli(signal: Int8Array): Float64Array {
    assert(signal.length === this.length, 'the signal has the length of the plan');
    const isEven = this.length % 2 === 0;
    for (let j = 0; j < this.#fft.length; j++) {
      this.#fft.re[j] = signal[isEven ? 2 * j : j];
      this.#fft.im[j] = isEven ? signal[2 * j + 1] : 0;
    }
    const { re, im } = this.#fft.transform();
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
