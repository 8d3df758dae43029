import { assert } from '../core/assert.ts';
import { complexFft, type Spectrum } from './fft.ts';

/** Largest lag that is looked at, in bits, plus one. */
const LAGS_MAX = 2 ** 18;
/** -log2 of the probability that a sound lot has a lag beyond its bound: as rare as the permanent health alarms. */
const ALPHA_BITS = 40;

/** The lag that stands out most of all, of the bits of a whole lot in the order of shots. */
export interface Autocorrelation {
  readonly lag: number;
  /** Of the bits, each less the mean of its channel, that are so far apart: -1 to 1. */
  readonly correlation: number;
  /** What independent bits exceed at any of the lags with a probability of at most 2^-40. */
  readonly bound: number;
}

/**
 * Looks for bits that depend on bits before them, at every lag from 1 to a quarter of a million, or to half of a shorter
 * lot. `bits` holds `shots` shots of `width` channels, packed as RawRead packs them. Channels may be biased, each in its
 * own way: the mean of a channel is taken off its bits. Bits without a lag to look at give the correlation 0 and the bound 1.
 *
 * The bound. Let x_t be ±1 less the mean of its channel. Where bits are independent the products x_t x_(t+k) are
 * martingale differences, each within an interval of length 2 |x_t|, so that (Azuma, Hoeffding 1963)
 * P(|Σ x_t x_(t+k)| >= λ) <= 2 exp(-λ² / 2n), n = N - k. With K lags λ² = 2n (ln 2K + 40 ln 2). The means are the lot's
 * own, which moves a sum by about one a channel.
 */
export function autocorrelationOf(bits: Uint8Array, width: number, shots: number): Autocorrelation {
  const total = width * shots;
  assert(bits.length * 8 >= total, 'all shots are there');
  const lags = lagsOf(total);
  if (lags < 2) return { lag: 0, correlation: 0, bound: 1 };
  const sums = sumsByLag(centred(bits, width, shots), total, lags);
  let most: Autocorrelation = { lag: 0, correlation: 0, bound: 1 };
  for (let lag = 1; lag < lags; lag++) {
    const correlation = sums[lag] / (total - lag);
    const bound = autocorrelationBound(total, lag);
    if (Math.abs(correlation) * most.bound > Math.abs(most.correlation) * bound)
      most = { lag, correlation, bound };
  }
  return most;
}

/** The bound of `Autocorrelation` for a lot of so many bits, which whoever knows their number can compute again. */
export function autocorrelationBound(total: number, lag: number): number {
  const nats = Math.log(2 * (lagsOf(total) - 1)) + ALPHA_BITS * Math.LN2;
  return Math.sqrt((2 * nats) / (total - lag));
}

/** A power of two of which at least two fit into the lot. */
function lagsOf(total: number): number {
  return Math.min(LAGS_MAX, 2 ** Math.max(0, Math.floor(Math.log2(total)) - 1));
}

/**
 * Min-entropy per bit that a correlation r beyond its bound b leaves, at most: -log2((1 + √ρ) / 2) with ρ = |r| + b, the
 * largest that the bits leave possible; null within the bound. A hidden pattern that each of two bits follows with an
 * advantage δ gives them a correlation of δ², and somebody who knows it guesses a bit with (1 + δ) / 2; where only the
 * earlier bit tells of the later one, (1 + ρ) / 2 is less than that.
 */
export function minEntropyOfCorrelation({ correlation, bound }: Omit<Autocorrelation, 'lag'>): number | null {
  const size = Math.abs(correlation);
  return size <= bound ? null : 1 - Math.log2(1 + Math.sqrt(Math.min(1, size + bound)));
}

/** Writes the next values of x behind those before; zeros behind the last bit of the lot. */
type Values = (target: Float64Array) => void;

function centred(bits: Uint8Array, width: number, shots: number): Values {
  const total = width * shots;
  const ones = new Float64Array(width);
  for (let at = 0, channel = 0; at < total; at++) {
    ones[channel] += (bits[at >>> 3] >>> (7 - (at & 7))) & 1;
    if (++channel === width) channel = 0;
  }
  const means = ones.map((count) => (2 * count) / shots - 1);
  let at = 0;
  let channel = 0;
  return (target) => {
    const end = Math.min(target.length, total - at);
    for (let i = 0; i < end; i++, at++) {
      target[i] = 2 * ((bits[at >>> 3] >>> (7 - (at & 7))) & 1) - 1 - means[channel];
      if (++channel === width) channel = 0;
    }
    target.fill(0, Math.max(0, end));
  };
}

/**
 * Σ x_t x_(t+k) for each lag k below `lags`, block by block, so that a lot of any length takes the same memory: block a
 * of `lags` values against the window w of the block and the next one. The transform of a + iw holds those of both, and
 * the products conj(A) W of all blocks are added up before they are transformed back.
 */
function sumsByLag(next: Values, total: number, lags: number): Float64Array {
  const size = 2 * lags;
  const fft = complexFft(size);
  const { re, im } = fft;
  const products = { re: new Float64Array(size), im: new Float64Array(size) };
  const window = new Float64Array(size);
  next(window.subarray(lags));
  for (let start = 0; start < total; start += lags) {
    window.copyWithin(0, lags);
    next(window.subarray(lags));
    for (let i = 0; i < size; i++) im[i] = window[i];
    for (let i = 0; i < lags; i++) re[i] = window[i];
    re.fill(0, lags);
    addProducts(products, fft.transform(), size);
  }
  re.set(products.re);
  im.set(products.im);
  const back = fft.transform().re;
  // A forward transform gives place -k what the inverse one gives k.
  return Float64Array.from({ length: lags }, (_, lag) => back[(size - lag) % size] / size);
}

/**
 * conj(A) W: A = (Z(k) + conj Z(-k)) / 2 and W = (Z(k) - conj Z(-k)) / 2i, of Z the transform of a + iw. Both are of real
 * values, so that place -k has the conjugate.
 */
function addProducts(products: Spectrum, { re, im }: Spectrum, size: number): void {
  for (let k = 0; k <= size / 2; k++) {
    const j = k === 0 ? 0 : size - k;
    const aRe = (re[k] + re[j]) / 2;
    const aIm = (im[k] - im[j]) / 2;
    const wRe = (im[k] + im[j]) / 2;
    const wIm = (re[j] - re[k]) / 2;
    const productRe = aRe * wRe + aIm * wIm;
    const productIm = aRe * wIm - aIm * wRe;
    products.re[k] += productRe;
    products.im[k] += productIm;
    if (j === k) continue;
    products.re[j] += productRe;
    products.im[j] -= productIm;
  }
}
