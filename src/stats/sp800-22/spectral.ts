/** SP 800-22 2.6, Discrete Fourier transform (spectral) test: are there periodic features? */
import { RealSpectrum } from '../fft.ts';
import { erfc } from '../special.ts';
import type { BitSequence } from './sequence.ts';

export interface SpectralResult {
  /** N_1: moduli below the 95 % threshold T, among the bins 0 .. n/2 - 1. */
  readonly belowThreshold: number;
  readonly pValue: number;
}

/** The eight ±1 values of a byte, as two words, so that expanding a byte is two stores. */
const SIGNS = new Int32Array(512);
const signBytes = new Int8Array(SIGNS.buffer);
for (let i = 0; i < 2048; i++) signBytes[i] = ((i >>> 3) >>> (7 - (i & 7))) & 1 ? 1 : -1;

/** 2.6.4 step 1: x_i = 2ε_i - 1. */
function signsOf(bits: BitSequence): Int8Array {
  const pairs = new Int32Array(bits.words.length * 8);
  for (let i = 0, to = 0; i < bits.words.length; i++) {
    const word = bits.words[i];
    for (let shift = 24; shift >= 0; shift -= 8) {
      const byte = (word >>> shift) & 255;
      pairs[to++] = SIGNS[2 * byte];
      pairs[to++] = SIGNS[2 * byte + 1];
    }
  }
  return new Int8Array(pairs.buffer, 0, bits.length);
}

/** The plan of the last length: its tables take 20 ms and 13 MB at 10^6 bits, and a service asks for one length. */
let plan: RealSpectrum | undefined;

export function spectralTest(bits: BitSequence): SpectralResult {
  const n = bits.length;
  if (plan?.length !== n) plan = new RealSpectrum(n);
  const half = Math.floor(n / 2); // step 3: the first half of the bins, the mean among them
  const threshold = n * Math.log(1 / 0.05); // step 4: T², T = sqrt(n ln(1/0.05))
  let belowThreshold = 0;
  plan.squaredModuli(signsOf(bits), (moduli, first, step) => {
    const holdsMirrors = 2 * first === 0 || 2 * first === step;
    for (let j = 0, k = first; j < moduli.length; j++, k += step) {
      // Elsewhere each pair k, n - k is seen once, under either name.
      const bin = holdsMirrors || 2 * k < n ? k : n - k;
      if (moduli[j] < threshold && bin < half) belowThreshold++;
    }
  });
  const expected = (0.95 * n) / 2; // step 5
  const d = (belowThreshold - expected) / Math.sqrt((n * 0.95 * 0.05) / 4); // step 7, the /4 of rev 1a
  return { belowThreshold, pValue: erfc(Math.abs(d) / Math.SQRT2) }; // step 8
}
