/**
 * Repeated substrings of symbols of 1 to 8 bits: sorts suffixes, computes what neighbours have in common, and counts how
 * often substrings of each length repeat. Comparisons take windows of 64 bits, so one comparison places most suffixes of
 * random data. Data that repeat long stretches cost more; beyond a budget the sort gives up, and the caller sorts by
 * doubling instead.
 *
 * The text is packed into 64-bit numbers, first symbol highest, followed by two zeros. Infinitely many zeros count as
 * following each suffix. If two suffixes are then equal, the later one, which is a prefix of the other, comes first.
 */

const RADIX_BITS: i32 = 11;
const RADIX: usize = 1 << RADIX_BITS;
/** Two counters of four bytes for each digit of the radix sort. */
const STARTS: usize = memory.data(16384, 16);

/** Groups up to this size are sorted by insertion. */
const SMALL: usize = 12;
/** Depth of nested partitions at which the sort gives up; good pivots need a few dozen. */
const NESTED_MAX: i32 = 500;

let text: usize = 0;
let textBits: usize = 0;
let width: usize = 1;
/** Count of comparisons left; once it is below 0 the result is not in order. */
let budget: i64 = 0;

/**
 * Packs `n` symbols of `symbolBits` bits, one per byte, into 64-bit numbers at `to`: n · symbolBits / 64 rounded up, and
 * two zeros.
 */
export function packText(symbols: usize, n: i32, symbolBits: i32, to: usize): void {
  text = to;
  width = usize(symbolBits);
  textBits = usize(n) * width;
  const end = symbols + usize(n);
  let filled: i32 = 0;
  let word: u64 = 0;
  for (; symbols < end; symbols++) {
    const symbol = u64(load<u8>(symbols));
    filled += symbolBits;
    if (filled < 64) {
      word = (word << symbolBits) | symbol;
      continue;
    }
    filled -= 64;
    store<u64>(to, (word << (symbolBits - filled)) | (symbol >> filled));
    to += 8;
    word = symbol & ((u64(1) << filled) - 1);
  }
  store<u64>(to, filled > 0 ? word << (64 - filled) : 0);
  store<u64>(to, 0, 8);
  store<u64>(to, 0, 16);
}

/** Returns the 64 bits from a place on, with zeros after the end. */
@inline
function window(place: usize): u64 {
  const at = text + ((place >> 6) << 3);
  const shift = place & 63;
  // In two shifts, because a shift by 64 would be a shift by 0.
  return (load<u64>(at) << shift) | ((load<u64>(at, 8) >> 1) >> (63 - shift));
}

/** Returns the 64 bits that begin `depth` bits after the start of a suffix. */
@inline
function windowOf(suffix: u32, depth: usize): u64 {
  const place = usize(suffix) * width + depth;
  return place < textBits ? window(place) : 0;
}

/**
 * Sorts the suffixes of the text into n numbers at `order`; `other` has the same room. Returns false when the budget of
 * `steps` comparisons was too small.
 */
export function sortSuffixes(n: i32, order: usize, other: usize, steps: i64): bool {
  budget = steps;
  sortByFirst(n, other, order);
  let first = order;
  const end = order + (usize(n) << 2);
  let top = windowOf(load<u32>(order), 0) >> (64 - 2 * RADIX_BITS);
  for (let at = order + 4; at <= end; at += 4) {
    const next = at < end ? windowOf(load<u32>(at), 0) >> (64 - 2 * RADIX_BITS) : ~top;
    if (next == top) continue;
    if (at - first > 4) sortGroup(first, at, 0, 0);
    if (budget < 0) return false;
    first = at;
    top = next;
  }
  return true;
}

/** Sorts by the first 22 bits, later suffixes first: two passes of a radix sort, the first one into `from`. */
function sortByFirst(n: i32, from: usize, to: usize): void {
  memory.fill(STARTS, 0, 8 * RADIX);
  for (let suffix: u32 = 0; suffix < u32(n); suffix++) {
    const top = windowOf(suffix, 0) >> (64 - 2 * RADIX_BITS);
    const low = STARTS + (usize(top & (RADIX - 1)) << 2);
    const high = STARTS + ((usize(top >> RADIX_BITS) + RADIX) << 2);
    store<u32>(low, load<u32>(low) + 1);
    store<u32>(high, load<u32>(high) + 1);
  }
  let low: u32 = 0;
  let high: u32 = 0;
  for (let at = STARTS; at < STARTS + 4 * RADIX; at += 4) {
    const lowCount = load<u32>(at);
    const highCount = load<u32>(at, 4 * RADIX);
    store<u32>(at, low);
    store<u32>(at, high, 4 * RADIX);
    low += lowCount;
    high += highCount;
  }
  for (let suffix = n - 1; suffix >= 0; suffix--) {
    const top = windowOf(u32(suffix), 0) >> (64 - 2 * RADIX_BITS);
    const start = STARTS + (usize(top & (RADIX - 1)) << 2);
    const place = load<u32>(start);
    store<u32>(start, place + 1);
    store<u32>(from + (usize(place) << 2), u32(suffix));
  }
  const end = from + (usize(n) << 2);
  for (let at = from; at < end; at += 4) {
    const suffix = load<u32>(at);
    const top = windowOf(suffix, 0) >> (64 - RADIX_BITS);
    const start = STARTS + ((usize(top) + RADIX) << 2);
    const place = load<u32>(start);
    store<u32>(start, place + 1);
    store<u32>(to + (usize(place) << 2), suffix);
  }
}

/** Sorts [low, high), suffixes that share their first `depth` bits, by three-way quicksort on windows. */
function sortGroup(low: usize, high: usize, depth: usize, nested: i32): void {
  for (;;) {
    const size = (high - low) >> 2;
    if (size <= SMALL || depth >= textBits) {
      insert(low, high, depth);
      return;
    }
    budget -= i64(size);
    if (nested > NESTED_MAX) budget = -1;
    if (budget < 0) return;
    const middle = low + ((size >> 1) << 2);
    const pivot = median(
      windowOf(load<u32>(low), depth),
      windowOf(load<u32>(middle), depth),
      windowOf(load<u32>(high - 4), depth),
    );
    let less = low;
    let more = high;
    for (let at = low; at < more; ) {
      const suffix = load<u32>(at);
      const own = windowOf(suffix, depth);
      if (own < pivot) {
        store<u32>(at, load<u32>(less));
        store<u32>(less, suffix);
        less += 4;
        at += 4;
      } else if (own > pivot) {
        more -= 4;
        store<u32>(at, load<u32>(more));
        store<u32>(more, suffix);
      } else at += 4;
    }
    if (less - low > 4) sortGroup(low, less, depth, nested + 1);
    if (high - more > 4) sortGroup(more, high, depth, nested + 1);
    low = less;
    high = more;
    depth += 64;
  }
}

@inline
function median(a: u64, b: u64, c: u64): u64 {
  return max(min(a, b), min(max(a, b), c));
}

function insert(low: usize, high: usize, depth: usize): void {
  for (let at = low + 4; at < high; at += 4) {
    const suffix = load<u32>(at);
    let to = at;
    for (; to > low && comesBefore(suffix, load<u32>(to - 4), depth); to -= 4) {
      store<u32>(to, load<u32>(to - 4));
    }
    store<u32>(to, suffix);
    if (budget < 0) return;
  }
}

@inline
function comesBefore(a: u32, b: u32, depth: usize): bool {
  for (; depth < textBits; depth += 64) {
    const ofA = windowOf(a, depth);
    const ofB = windowOf(b, depth);
    budget--;
    if (ofA != ofB) return ofA < ofB;
    if (budget < 0) return true;
  }
  return a > b;
}

/**
 * Writes to `shared` how many symbols neighbours in `order` share at their beginning: element r is for ranks r - 1 and r,
 * and element 0 is 0. Returns the largest, or -1 when the budget is spent.
 */
export function commonPrefixes(n: i32, order: usize, shared: usize): i32 {
  let longest: usize = 0;
  let above = load<u32>(order);
  store<u32>(shared, 0);
  for (let r: usize = 1; r < usize(n); r++) {
    const suffix = load<u32>(order + (r << 2));
    const longestBits = textBits - usize(max(above, suffix)) * width;
    let depth: usize = 0;
    for (; depth < longestBits; depth += 64) {
      const difference = windowOf(above, depth) ^ windowOf(suffix, depth);
      budget--;
      if (difference != 0) {
        depth += usize(clz(difference));
        break;
      }
      if (budget < 0) return -1;
    }
    const symbols = min(depth, longestBits) / width;
    store<u32>(shared + (r << 2), u32(symbols));
    longest = max(longest, symbols);
    above = suffix;
  }
  return i32(longest);
}

/**
 * Counts how often substrings of each length t = 1 to `longest` repeat: writes the occurrences of the most frequent one to
 * mostFrequent[t] (u32) and the count of pairs of places with the same one to equalPairs[t] (f64). Both arrays have longest
 * + 1 zeros initially; `open` has room for 2 (longest + 2) numbers of 4 bytes, the first of them 0.
 *
 * An interval is a maximal set of c suffixes that share l symbols while a surrounding set shares m < l: it is one substring
 * with c occurrences for each length in (m, l].
 */
export function repeats(n: i32, shared: usize, longest: i32, mostFrequent: usize, equalPairs: usize, open: usize): void {
  // Open intervals, innermost last, as their length and their beginning. Lengths rise, so no more than longest + 1 are open.
  let top = open;
  for (let i: i32 = 1; i <= n; i++) {
    const common = i < n ? load<i32>(shared + (usize(i) << 2)) : 0;
    let begin = i - 1;
    while (load<i32>(top) > common) {
      const length = load<i32>(top);
      begin = load<i32>(top, 4);
      top -= 8;
      const count = i - begin;
      const pairs = (f64(count) * f64(count - 1)) / 2;
      const most = mostFrequent + (usize(length) << 2);
      if (count > load<i32>(most)) store<i32>(most, count);
      addPairs(equalPairs, length, pairs);
      addPairs(equalPairs, max(load<i32>(top), common), -pairs);
    }
    if (load<i32>(top) < common) {
      top += 8;
      store<i32>(top, common);
      store<i32>(top, begin, 4);
    }
  }
  // Every occurrence of a substring is one of each of its prefixes. A pair counts for all lengths from its interval's down
  // to the surrounding one's.
  for (let t = longest - 1; t > 0; t--) {
    const most = mostFrequent + (usize(t) << 2);
    if (load<i32>(most, 4) > load<i32>(most)) store<i32>(most, load<i32>(most, 4));
    addPairs(equalPairs, t, load<f64>(equalPairs + (usize(t) << 3), 8));
  }
}

@inline
function addPairs(equalPairs: usize, length: i32, pairs: f64): void {
  const at = equalPairs + (usize(length) << 3);
  store<f64>(at, load<f64>(at) + pairs);
}
