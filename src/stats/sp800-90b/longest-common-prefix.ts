/**
 * Lengths of the common prefixes of neighbours in the sorted list of all suffixes: the structure from which
 * 6.3.5, 6.3.6 and 5.2.5 count repeated substrings.
 *
 * A window of the next 32 bits stands for each suffix. A radix sort of the windows settles nearly all of
 * random data; what stays tied is refined by doubling (N. J. Larsson, K. Sadakane, "Faster suffix sorting",
 * 2007), so that every input is sorted in O(n log^2 n). First runs on 10^6 bits: good data 0.2 s, a
 * replayed block 0.7 s, zeros that end in a single 1 2.2 s.
 */

const WINDOW_BITS = 32;
const RADIX_BITS = 11;
const RADIX = 1 << RADIX_BITS;

/**
 * lcp[r], r = 1..n-1: symbols that the suffixes of rank r-1 and r share at their beginning; lcp[0] is 0. A
 * suffix that is a prefix of another sorts before it. `bitsPerSymbol` (1..8) holds every symbol.
 */
export function longestCommonPrefixes(symbols: Uint8Array, bitsPerSymbol: number): Int32Array {
  const windows = windowsOf(symbols, bitsPerSymbol);
  const windowSymbols = Math.floor(WINDOW_BITS / bitsPerSymbol);
  const order = sortByWindow(windows);
  const rank = rankByDoubling(order, windows, windowSymbols);
  return prefixLengths(order, rank, windows, bitsPerSymbol);
}

/** The 32 bits that begin at each symbol, first symbol highest, zeros after the end. */
function windowsOf(symbols: Uint8Array, bitsPerSymbol: number): Uint32Array {
  const windows = new Uint32Array(symbols.length);
  const shift = WINDOW_BITS - bitsPerSymbol;
  let window = 0;
  for (let i = symbols.length - 1; i >= 0; i--) {
    window = (symbols[i] << shift) | (window >>> bitsPerSymbol);
    windows[i] = window;
  }
  return windows;
}

/**
 * Suffixes by window; among equal windows the later one first, so a suffix cut off by the end precedes
 * longer ones.
 */
function sortByWindow(windows: Uint32Array): Int32Array {
  const n = windows.length;
  let from = new Int32Array(n);
  let to = new Int32Array(n);
  for (let i = 0; i < n; i++) to[i] = n - 1 - i;
  const starts = new Int32Array(RADIX + 1);
  for (let shift = 0; shift < WINDOW_BITS; shift += RADIX_BITS) {
    [from, to] = [to, from];
    starts.fill(0);
    for (let i = 0; i < n; i++) starts[((windows[i] >>> shift) & (RADIX - 1)) + 1]++;
    for (let digit = 1; digit < RADIX; digit++) starts[digit] += starts[digit - 1];
    for (let i = 0; i < n; i++) {
      const suffix = from[i];
      to[starts[(windows[suffix] >>> shift) & (RADIX - 1)]++] = suffix;
    }
  }
  return to;
}

/**
 * Sorts tied suffixes further, in place, and gives the rank of each. Suffixes tied in their first h symbols
 * compare by the ranks of what follows those, so every round doubles h. The rank of a group still tied is
 * its last place; the empty suffix at n ranks before all.
 */
function rankByDoubling(order: Int32Array, windows: Uint32Array, windowSymbols: number): Int32Array {
  const n = order.length;
  const rank = new Int32Array(n + 1);
  rank[n] = -1;
  let tied: number[] = [];
  for (let last = n - 1, first = last; last >= 0; last = --first) {
    const window = windows[order[last]];
    // A window cut off by the end is tied with none: its padding is not a part of the suffix.
    while (first > 0 && windows[order[first - 1]] === window && order[first - 1] + windowSymbols <= n)
      first--;
    if (first < last) tied.push(first);
    for (let at = first; at <= last; at++) rank[order[at]] = last;
  }
  const sortKeys = new Float64Array(tied.length === 0 ? 0 : n);
  for (let known = windowSymbols; tied.length > 0; known *= 2) {
    const stillTied: number[] = [];
    for (const first of tied) splitGroup(order, rank, first, known, sortKeys, stillTied);
    tied = stillTied;
  }
  return rank;
}

/**
 * Sorts one tied group by the rank of what follows the `known` shared symbols; appends the groups that stay
 * tied.
 */
function splitGroup(
  order: Int32Array,
  rank: Int32Array,
  first: number,
  known: number,
  sortKeys: Float64Array,
  stillTied: number[],
): void {
  const n = order.length;
  const last = rank[order[first]];
  // One double holds the rank and the place, later places first: exact while n^2 < 2^53.
  let isSorted = true;
  for (let at = first; at <= last; at++) {
    sortKeys[at] = (rank[order[at] + known] + 1) * n + (n - 1 - order[at]);
    if (at > first && sortKeys[at] < sortKeys[at - 1]) isSorted = false;
  }
  if (!isSorted) {
    sortKeys.subarray(first, last + 1).sort();
    for (let at = first; at <= last; at++) order[at] = n - 1 - (sortKeys[at] % n);
  }
  for (let end = last, begin = end; end >= first; end = --begin) {
    const key = Math.floor(sortKeys[end] / n);
    while (begin > first && Math.floor(sortKeys[begin - 1] / n) === key) begin--;
    if (begin < end) stillTied.push(begin);
    for (let at = begin; at <= end; at++) rank[order[at]] = end;
  }
}

/**
 * Common prefixes of neighbours in `order`. Windows that differ tell at once. The rest is compared in text
 * order, where going on by one symbol shortens the prefix shared with the neighbour above by one at most
 * (T. Kasai et al., "Linear-time longest-common-prefix computation in suffix arrays", 2001).
 */
function prefixLengths(
  order: Int32Array,
  rank: Int32Array,
  windows: Uint32Array,
  bitsPerSymbol: number,
): Int32Array {
  const n = order.length;
  const windowSymbols = Math.floor(WINDOW_BITS / bitsPerSymbol);
  const lcp = new Int32Array(n);
  const tiedAbove = new Int32Array(n).fill(-1);
  for (let place = 1; place < n; place++) {
    const above = order[place - 1];
    const suffix = order[place];
    const longest = n - Math.max(above, suffix);
    const difference = windows[above] ^ windows[suffix];
    lcp[place] = Math.min(longest, Math.floor(Math.clz32(difference) / bitsPerSymbol));
    if (difference === 0 && longest > windowSymbols) tiedAbove[suffix] = above;
  }
  let shared = 0;
  for (let suffix = 0; suffix < n; suffix++) {
    const above = tiedAbove[suffix];
    if (above < 0) {
      shared = 0;
      continue;
    }
    const longest = n - Math.max(above, suffix);
    let from = Math.max(shared - 1, windowSymbols);
    while (from < longest && windows[above + from] === windows[suffix + from]) from += windowSymbols;
    const difference = from < longest ? windows[above + from] ^ windows[suffix + from] : 0;
    shared = Math.min(longest, from + Math.floor(Math.clz32(difference) / bitsPerSymbol));
    lcp[rank[suffix]] = shared;
  }
  return lcp;
}
