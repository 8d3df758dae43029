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
 * Counts repeated substrings of every length in O(n log n). An LCP interval is a maximal set of c suffixes
 * that share l symbols while their surroundings share m < l: it is one tuple with c occurrences for each
 * length in (m, l].
 */
export function repeatedSubstrings(symbols: Uint8Array, bitsPerSymbol: number): RepeatedSubstrings {
  const lcp = longestCommonPrefixes(symbols, bitsPerSymbol);
  const n = lcp.length;
  let longest = 0;
  for (let i = 1; i < n; i++) if (lcp[i] > longest) longest = lcp[i];
  const mostFrequent = new Int32Array(longest + 1);
  const equalPairs = new Float64Array(longest + 1);

  // Open intervals, innermost last; their lengths rise, so no more than longest + 1 are open at once.
  const lengths = new Int32Array(longest + 2);
  const begins = new Int32Array(longest + 2);
  let depth = 0;
  for (let i = 1; i <= n; i++) {
    const shared = i < n ? lcp[i] : 0;
    let begin = i - 1;
    while (lengths[depth] > shared) {
      const length = lengths[depth];
      begin = begins[depth];
      depth--;
      const count = i - begin;
      const pairs = (count * (count - 1)) / 2;
      if (count > mostFrequent[length]) mostFrequent[length] = count;
      equalPairs[length] += pairs;
      equalPairs[Math.max(lengths[depth], shared)] -= pairs;
    }
    if (lengths[depth] < shared) {
      depth++;
      lengths[depth] = shared;
      begins[depth] = begin;
    }
  }
  // A tuple contains a shorter one wherever it occurs; a pair counts from its interval's length down to its
  // surroundings'.
  for (let t = longest - 1; t > 0; t--) {
    if (mostFrequent[t + 1] > mostFrequent[t]) mostFrequent[t] = mostFrequent[t + 1];
    equalPairs[t] += equalPairs[t + 1];
  }
  return { sampleCount: n, longest, mostFrequent, equalPairs };
}

/**
 * The shortest length at which no tuple occurs 35 times or more (SP 800-90B 6.3.5 and 6.3.6).
 */
export function firstRareLength(repeats: RepeatedSubstrings): number {
  let length = 1;
  while (length <= repeats.longest && repeats.mostFrequent[length] >= 35) length++;
  return length;
}
