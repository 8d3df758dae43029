import { minEntropyOf, upperBound } from './confidence.ts';
import { type RepeatedSubstrings, repeatCounts, repeatCountsOf } from './kernels.ts';
import { longestCommonPrefixes } from './longest-common-prefix.ts';

/**
 * Counts the repeated substrings of every length of symbols of `bitsPerSymbol` bits, one per byte. Where long stretches
 * repeat, comparing suffixes takes too long, and they are sorted by doubling instead.
 */
export function repeatedSubstrings(symbols: Uint8Array, bitsPerSymbol: number): RepeatedSubstrings {
  return repeatCounts(symbols, bitsPerSymbol) ?? repeatCountsOf(longestCommonPrefixes(symbols));
}

/** The shortest length at which no tuple occurs 35 times or more (SP 800-90B 6.3.5 and 6.3.6). */
function firstRareLength(repeats: RepeatedSubstrings): number {
  let length = 1;
  while (length <= repeats.longest && repeats.mostFrequent[length] >= 35) length++;
  return length;
}

/** t-tuple estimate (SP 800-90B 6.3.5). Null when no symbol occurs 35 times. */
export function tTuple(repeats: RepeatedSubstrings) {
  const { sampleCount, mostFrequent } = repeats;
  const t = firstRareLength(repeats) - 1;
  if (t === 0) return null;
  let pMax = 0; // per symbol, over the tuple lengths 1..t
  for (let i = 1; i <= t; i++) {
    const p = mostFrequent[i] / (sampleCount - i + 1);
    pMax = Math.max(pMax, p ** (1 / i));
  }
  const pUpper = upperBound(pMax, sampleCount);
  return { t, pMax, pUpper, minEntropy: minEntropyOf(pUpper) };
}

/**
 * Longest repeated substring (LRS) estimate (SP 800-90B 6.3.6). Null when u > v: no repeat is longer than the t-tuple
 * estimate covers.
 */
export function longestRepeatedSubstring(repeats: RepeatedSubstrings) {
  const { sampleCount, longest: v, equalPairs } = repeats;
  const u = firstRareLength(repeats);
  if (u > v) return null;
  let pHat = 0; // the largest collision probability per symbol, over the lengths u..v
  for (let length = u; length <= v; length++) {
    const places = sampleCount - length + 1;
    const p = equalPairs[length] / ((places * (places - 1)) / 2);
    pHat = Math.max(pHat, p ** (1 / length));
  }
  const pUpper = upperBound(pHat, sampleCount);
  return { u, v, pHat, pUpper, minEntropy: minEntropyOf(pUpper) };
}
