/** SP 800-22 2.6, Discrete Fourier transform (spectral) test: are there periodic features? */
import { RealSpectrum } from '../fft.ts';
import { erfc } from '../special.ts';
import type { BitSequence } from './sequence.ts';

/** The eight ±1 values of each byte value as two words, so that expanding a byte takes two stores. */
const SIGNS = new Int32Array(512);
const signBytes = new Int8Array(SIGNS.buffer);
for (let i = 0; i < 2048; i++) signBytes[i] = ((i >>> 3) >>> (7 - (i & 7))) & 1 ? 1 : -1;

/** 2.6.4 step 1: x_i = 2ε_i - 1, four values to a word. */
function expandSigns(words: Int32Array, quads: Int32Array): void {
  for (let i = 0, to = 0; to < quads.length; i++) {
    const word = words[i];
    for (let shift = 24; shift >= 0; shift -= 8) {
      const byte = (word >>> shift) & 255;
      quads[to++] = SIGNS[2 * byte];
      quads[to++] = SIGNS[2 * byte + 1];
    }
  }
}

/** Tables and memory for sequences of one length. */
class SpectralPlan {
  readonly spectrum: RealSpectrum;
  readonly quads: Int32Array;
  /** The same memory, one value to a byte. */
  readonly signs: Int8Array;

  constructor(length: number) {
    this.spectrum = new RealSpectrum(length);
    this.quads = new Int32Array(8 * Math.ceil(length / 32));
    this.signs = new Int8Array(this.quads.buffer, 0, length);
  }
}

/** The plan of the last length. At 10^6 bits a plan takes 60 ms to make and 37 MB, and a service tests one length. */
let plan: SpectralPlan | undefined;

export function spectralTest(bits: BitSequence) {
  const n = bits.length;
  if (plan?.signs.length !== n) plan = new SpectralPlan(n);
  expandSigns(bits.words, plan.quads);
  const threshold = n * Math.log(1 / 0.05); // step 4: T², T = sqrt(n ln(1/0.05))
  let belowThreshold = 0; // N_1, among the bins of the first half, including bin 0, the mean (step 3)
  for (const modulus of plan.spectrum.squaredModuli(plan.signs)) if (modulus < threshold) belowThreshold++;
  const expected = (0.95 * n) / 2; // step 5
  const d = (belowThreshold - expected) / Math.sqrt((n * 0.95 * 0.05) / 4); // step 7, the /4 of rev 1a
  return { belowThreshold, pValue: erfc(Math.abs(d) / Math.SQRT2) }; // step 8
}
