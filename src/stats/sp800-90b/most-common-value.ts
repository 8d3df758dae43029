import { minEntropyOf, upperBound } from './confidence.ts';

export interface MostCommonValueEstimate {
  readonly modeCount: number;
  readonly pHat: number;
  readonly pUpper: number;
  /** Bits per symbol. */
  readonly minEntropy: number;
}

/** Most common value estimate (SP 800-90B 6.3.1). At least two symbols, each below `alphabetSize`. */
export function mostCommonValue(symbols: Uint8Array, alphabetSize: number): MostCommonValueEstimate {
  const counts = new Int32Array(alphabetSize);
  for (let i = 0; i < symbols.length; i++) counts[symbols[i]]++;
  let modeCount = 0;
  for (const count of counts) modeCount = Math.max(modeCount, count);
  const pHat = modeCount / symbols.length;
  const pUpper = upperBound(pHat, symbols.length);
  return { modeCount, pHat, pUpper, minEntropy: minEntropyOf(pUpper) };
}
