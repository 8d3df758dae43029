/** SP 800-22 2.1, Frequency (Monobit) test: are there as many ones as zeros? */
import { erfc } from '../special.ts';
import { type BitSequence, onesIn } from './sequence.ts';

export interface FrequencyResult {
  readonly ones: number;
  /** S_n, ones minus zeros. */
  readonly sum: number;
  readonly pValue: number;
}

export function frequencyTest(bits: BitSequence): FrequencyResult {
  const ones = onesIn(bits.words, 0, bits.length);
  const sum = 2 * ones - bits.length; // 2.1.4 step 1
  const observed = Math.abs(sum) / Math.sqrt(bits.length); // step 2
  return { ones, sum, pValue: erfc(observed / Math.SQRT2) }; // step 3
}
