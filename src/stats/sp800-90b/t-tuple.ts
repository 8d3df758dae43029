import { minEntropyOf, upperBound } from './confidence.ts';
import { firstRareLength, type RepeatedSubstrings } from './repeated-substrings.ts';

export interface TTupleEstimate {
  /** The longest length at which some tuple occurs at least 35 times. */
  readonly t: number;
  /** Largest per-symbol probability over the tuple lengths 1..t. */
  readonly pMax: number;
  readonly pUpper: number;
  /** Bits per symbol. */
  readonly minEntropy: number;
}

/** t-tuple estimate (SP 800-90B 6.3.5). Null when no symbol occurs 35 times. */
export function tTuple(repeats: RepeatedSubstrings): TTupleEstimate | null {
  const { sampleCount, mostFrequent } = repeats;
  const t = firstRareLength(repeats) - 1;
  if (t === 0) return null;
  let pMax = 0;
  for (let i = 1; i <= t; i++) {
    const p = mostFrequent[i] / (sampleCount - i + 1);
    pMax = Math.max(pMax, p ** (1 / i));
  }
  const pUpper = upperBound(pMax, sampleCount);
  return { t, pMax, pUpper, minEntropy: minEntropyOf(pUpper) };
}
