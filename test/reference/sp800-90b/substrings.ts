/** Repeated substrings counted one by one: what the suffix sort and the interval walk must give. Slow. */
import type { RepeatedSubstrings } from '../../../src/stats/sp800-90b/kernels.ts';

/** Common prefixes of neighbours among all suffixes in order; a prefix comes before what it begins. */
export function plainLongestCommonPrefixes(symbols: Uint8Array): Int32Array {
  const suffixes = Array.from(symbols, (_, start) => symbols.subarray(start)).sort(Buffer.compare);
  return Int32Array.from(suffixes, (suffix, place) => {
    if (place === 0) return 0;
    const above = suffixes[place - 1];
    let shared = 0;
    while (shared < above.length && above[shared] === suffix[shared]) shared++;
    return shared;
  });
}

export function plainRepeatedSubstrings(symbols: Uint8Array): RepeatedSubstrings {
  const mostFrequent = [0];
  const equalPairs = [0];
  for (let length = 1; ; length++) {
    const occurrences = new Map<string, number>();
    for (let start = 0; start + length <= symbols.length; start++) {
      const tuple = symbols.subarray(start, start + length).join();
      occurrences.set(tuple, (occurrences.get(tuple) ?? 0) + 1);
    }
    const counts = [...occurrences.values()];
    const most = Math.max(0, ...counts);
    if (most < 2) break;
    mostFrequent.push(most);
    equalPairs.push(counts.reduce((pairs, times) => pairs + (times * (times - 1)) / 2, 0));
  }
  return {
    sampleCount: symbols.length,
    longest: mostFrequent.length - 1,
    mostFrequent: Int32Array.from(mostFrequent),
    equalPairs: Float64Array.from(equalPairs),
  };
}
