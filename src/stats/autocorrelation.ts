import { assert } from '../core/assert.ts';
import { complexFft, type Spectrum } from './fft.ts';

/** One more than the largest lag that is tested, in bits. */
const LAGS_MAX = 2 ** 18;
/** -log2 of the probability that a sound lot exceeds the bound at any lag: as rare as a false permanent health alarm. */
const ALPHA_BITS = 40;

/** The lag whose correlation is largest in relation to its bound, over all bits of a lot in the order of the shots. */
export interface Autocorrelation {
  readonly lag: number;
  /** Mean product of two bits that are `lag` apart, each taken as ±1 less the mean of its channel: -1 to 1. */
  readonly correlation: number;
  /** Independent bits exceed this at any of the lags with a probability of at most 2^-40. */
  readonly bound: number;
}

/**
 * Finds out whether bits depend on earlier bits, at every lag from 1 to a quarter of a million, or to half of a shorter
 * lot. `bits` holds `shots` shots of `width` channels, packed as RawRead packs them. Each channel may have its own bias:
 * the mean of a channel is subtracted from its bits. A lot too short for any lag gives the correlation 0 and the bound 1.
 *
 * The bound. Let x_t be ±1 less the mean of its channel. Where bits are independent the products x_t x_(t+k) are
 * martingale differences, each within an interval of length 2 |x_t|, so that (Azuma, Hoeffding 1963)
 * P(|Σ x_t x_(t+k)| >= λ) <= 2 exp(-λ² / 2n), n = N - k. With K lags λ² = 2n (ln 2K + 40 ln 2). The means are computed
 * from the lot itself, which changes a sum by about one for each channel.
 */
export function autocorrelationOf(bits: Uint8Array, width: number, shots: number): Autocorrelation {
  const total = width * shots;
  assert(bits.length * 8 >= total, 'the packed bits hold every shot');
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

/** Returns the bound of `Autocorrelation` for a lot of `total` bits; whoever knows `total` can compute it again. */
export function autocorrelationBound(total: number, lag: number): number {
  const nats = Math.log(2 * (lagsOf(total) - 1)) + ALPHA_BITS * Math.LN2;
  return Math.sqrt((2 * nats) / (total - lag));
}

/** Returns LAGS_MAX, or for a shorter lot the largest power of two that fits into it twice. */
function lagsOf(total: number): number {
  return Math.min(LAGS_MAX, 2 ** Math.max(0, Math.floor(Math.log2(total)) - 1));
}

/**
 * Returns the most min-entropy per bit that a correlation r beyond its bound b can leave: -log2((1 + √ρ) / 2) with
 * ρ = |r| + b, the largest correlation compatible with the bits; null when r lies within the bound. If a hidden pattern
 * predicts each of two bits with an advantage δ, their correlation is δ², and whoever knows the pattern guesses a bit
 * with probability (1 + δ) / 2. If only the earlier bit predicts the later one, the probability (1 + ρ) / 2 is smaller.
 */
export function minEntropyOfCorrelation({ correlation, bound }: Omit<Autocorrelation, 'lag'>): number | null {
  const size = Math.abs(correlation);
  return size <= bound ? null : 1 - Math.log2(1 + Math.sqrt(Math.min(1, size + bound)));
}

/** Writes the next values of x into `target`, and zeros after the last bit of the lot. */
type Values = (target: Float64Array) => void;

/** Returns how often each channel showed 1. */
export function onesPerChannel(bits: Uint8Array, width: number, shots: number): Uint32Array {
  const ones = new Uint32Array(width);
  for (let at = 0, channel = 0; at < width * shots; at++) {
    ones[channel] += (bits[at >>> 3] >>> (7 - (at & 7))) & 1;
    if (++channel === width) channel = 0;
  }
  return ones;
}

function centred(bits: Uint8Array, width: number, shots: number): Values {
  const total = width * shots;
  const means = Float64Array.from(onesPerChannel(bits, width, shots), (count) => (2 * count) / shots - 1);
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
 * Returns Σ x_t x_(t+k) for each lag k below `lags`. It works block by block, so that a lot of any length takes the same
 * memory: block a of `lags` values is multiplied with window w, which is the block and the next one. One transform of
 * a + iw gives the transforms A and W of both; the products conj(A) W of all blocks are added and transformed back once.
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
  // A forward transform puts at -k what the inverse transform would put at k.
  return Float64Array.from({ length: lags }, (_, lag) => back[(size - lag) % size] / size);
}

/**
 * Adds conj(A) W to `products`, where A = (Z(k) + conj Z(-k)) / 2, W = (Z(k) - conj Z(-k)) / 2i and Z is the transform
 * of a + iw. Since a and w are real, the value at -k is the conjugate of the value at k.
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
