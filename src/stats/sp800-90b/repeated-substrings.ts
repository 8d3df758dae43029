import { minEntropyOf, upperBound } from './confidence.ts';
import { repeatCounts, repeatCountsOf } from './kernels.ts';
import { longestCommonPrefixes } from './longest-common-prefix.ts';

/** How often substrings of each length repeat: what 6.3.5, 6.3.6 and 5.2.5 start from. */
export interface RepeatedSubstrings {
  /** L: symbols examined. */
  readonly sampleCount: number;
  /** v: length of the longest substring that occurs twice; 0 when nothing does. */
  readonly longest: number;
  /** mostFrequent[t], t = 1..longest: occurrences of the most frequent t-tuple (overlapping). */
  readonly mostFrequent: Int32Array;
  /** equalPairs[t], t = 1..longest: pairs of places that hold the same t-tuple. Exact below 2^53. */
  readonly equalPairs: Float64Array;
}

/**
 * Counts the repeated substrings of every length of symbols of `bitsPerSymbol` bits, one a byte. Data that
 * repeat long stretches, for which comparing suffixes takes too long, are sorted by doubling, in O(n log^2
 * n).
 */
export function repeatedSubstrings(symbols: Uint8Array, bitsPerSymbol: number): RepeatedSubstrings {
  const counts =
    repeatCounts(symbols, bitsPerSymbol) ?? repeatCountsOf(longestCommonPrefixes(symbols, bitsPerSymbol));
  return { sampleCount: symbols.length, ...counts };
}

/**
 * The shortest length at which no tuple occurs 35 times or more (SP 800-90B 6.3.5 and 6.3.6).
 */
export function firstRareLength(repeats: RepeatedSubstrings): number {
  let length = 1;
  while (length <= repeats.longest && repeats.mostFrequent[length] >= 35) length++;
  return length;
}

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
