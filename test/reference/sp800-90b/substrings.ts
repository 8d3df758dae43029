/** Repeated substrings counted one by one: what the suffix sort and the interval walk must give. Slow. */
import type { RepeatedSubstrings } from '../../../src/stats/sp800-90b/kernels.ts';

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
