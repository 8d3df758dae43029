import { minEntropyOf, upperBound } from './confidence.ts';
import { firstRareLength, type RepeatedSubstrings } from './repeated-substrings.ts';

export interface LongestRepeatedSubstringEstimate {
  /** The shortest length at which every tuple occurs fewer than 35 times. */
  readonly u: number;
  /** The longest length at which some tuple occurs twice. */
  readonly v: number;
  /** Largest per-symbol collision probability over the lengths u..v. */
  readonly pHat: number;
  readonly pUpper: number;
  /** Bits per symbol. */
  readonly minEntropy: number;
}

/**
 * Longest repeated substring (LRS) estimate (SP 800-90B 6.3.6). Null when u > v: what the t-tuple estimate
 * covers is then all that repeats.
 */
export function longestRepeatedSubstring(
  repeats: RepeatedSubstrings,
): LongestRepeatedSubstringEstimate | null {
  const { sampleCount, longest: v, equalPairs } = repeats;
  const u = firstRareLength(repeats);
  if (u > v) return null;
  let pHat = 0;
  for (let length = u; length <= v; length++) {
    const places = sampleCount - length + 1;
    const p = equalPairs[length] / ((places * (places - 1)) / 2);
    pHat = Math.max(pHat, p ** (1 / length));
  }
  const pUpper = upperBound(pHat, sampleCount);
  return { u, v, pHat, pUpper, minEntropy: minEntropyOf(pUpper) };
}
