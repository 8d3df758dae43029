/**
 * Lengths of the common prefixes of neighbours in the sorted list of all suffixes, from which
 * 6.3.5, 6.3.6 and 5.2.5 count repeated substrings. Suffixes are sorted by doubling (U. Manber, G. Myers, "Suffix
 * arrays", 1993), in O(n log n) for every input. Neighbours are compared in text order, where the shared length falls by
 * at most one from each position to the next (T. Kasai et al., "Linear-time longest-common-prefix computation in suffix
 * arrays", 2001).
 */

/**
 * Returns lcp[r], r = 1..n-1: the count of symbols at the beginning that the suffixes of rank r-1 and r share; lcp[0]
 * is 0. A suffix that is a prefix of another sorts before it.
 */
export function longestCommonPrefixes(symbols: Uint8Array): Int32Array {
  const n = symbols.length;
  const { order, rank } = sortedSuffixes(symbols);
  const lcp = new Int32Array(n);
  let shared = 0;
  for (let suffix = 0; suffix < n; suffix++) {
    if (rank[suffix] === 0) {
      shared = 0;
      continue;
    }
    const above = order[rank[suffix] - 1];
    const longest = n - Math.max(above, suffix);
    while (shared < longest && symbols[above + shared] === symbols[suffix + shared]) shared++;
    lcp[rank[suffix]] = shared;
    if (shared > 0) shared--;
  }
  return lcp;
}

/** Returns the suffixes by rank, and the rank of each suffix. */
function sortedSuffixes(symbols: Uint8Array): { readonly order: Int32Array; readonly rank: Int32Array } {
  const n = symbols.length;
  const order = Int32Array.from({ length: n }, (_, i) => i);
  const bySecond = new Int32Array(n);
  let rank = Int32Array.from(symbols);
  let next = new Int32Array(n);
  let starts = new Int32Array(257);
  // Each round sorts by twice as many symbols as the last: their second half is a suffix that has a rank already.
  for (let known = 0; ; known = Math.max(1, 2 * known)) {
    let at = 0;
    for (let suffix = n - known; suffix < n; suffix++) bySecond[at++] = suffix;
    for (const suffix of order) if (suffix >= known) bySecond[at++] = suffix - known;
    starts.fill(0);
    for (const group of rank) starts[group + 1]++;
    for (let group = 1; group < starts.length; group++) starts[group] += starts[group - 1];
    for (const suffix of bySecond) order[starts[rank[suffix]]++] = suffix;
    let groups = 0;
    for (let place = 0; place < n; place++) {
      const suffix = order[place];
      const above = place === 0 ? suffix : order[place - 1];
      const isTied =
        rank[suffix] === rank[above] && (known === 0 || secondOf(suffix, known) === secondOf(above, known));
      if (!isTied) groups++;
      next[suffix] = groups;
    }
    [rank, next] = [next, rank];
    if (groups === n - 1) return { order, rank };
    starts = new Int32Array(groups + 2);
  }

  /** Returns the rank of the suffix `known` symbols later; the end of the text ranks first. */
  function secondOf(suffix: number, known: number): number {
    return suffix + known < n ? rank[suffix + known] : -1;
  }
}
