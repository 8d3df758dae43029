/**
 * Rows of integers, each a draw of its own: sequences and permutations, as JSON text and as MessagePack. The samplers are
 * those of src/values/offsets.ts, unique.ts and descending.ts, which prove them uniform, and take the same words. The
 * values drawn of a row stay at OFFSETS (u64) while the caller fetches more words, so that no word is drawn twice and none
 * that no value needs.
 */
import { putEntry, SMALL_COMMA } from './digits';
import { putInteger as putText } from './integers';
import { putInteger as putPacked } from './packed';
import { ENTROPY, OFFSETS, SECOND, TEXT, TEXT_BYTES } from './windows';

const COMMA: u8 = 0x2c;
const OPEN: u8 = 0x5b;
const CLOSE: u8 = 0x5d;
/** '],' */
const CLOSE_COMMA: u16 = 0x2c5d;

/** How a range is drawn. SMALL is independent numbers from 0 to 999 in drawn order, several from one word. */
const INDEPENDENT: u64 = 0;
const SHUFFLED: u64 = 1;
const REPEATS_REFUSED: u64 = 2;
const SMALL: u64 = 3;

/**
 * What src/values/rows.ts writes for each range, 64 bits each: length, span, min, bytes of a word, values of a word, the
 * bound below which words of more than four bytes are accepted, how it is drawn, the sort order (0, 1 ascending, 2
 * descending), the largest size of its text, and two bounds below which the rest of a word of four bytes makes it refused:
 * when it gives all of its values, and as the last word of a row.
 */
const RANGE_SIZE: usize = 88;
/** Room for LIMITS.sequencesMax (src/core/limits.ts) ranges. */
export const ranges: usize = memory.data(88 * 64, 8);

let rangeCount: i32 = 0;
let isNested = false;
let isPacked = false;
/** The next word at ENTROPY, and the end of the words. */
let at: usize = 0;
let end: usize = 0;
/** The range that is next or under way, the count of its values or steps that are done, and the count left in its round. */
let current: i32 = 0;
let isBegun = false;
let done: usize = 0;
let round: usize = 0;

/** Begins rows of the ranges; nested rows form a list in the list. */
export function beginRows(count: i32, nested: bool, packed: bool): void {
  // The caller writes them as float64.
  const rangesEnd = ranges + usize(count) * RANGE_SIZE;
  for (let word = ranges; word < rangesEnd; word += 8) store<i64>(word, i64(load<f64>(word)));
  rangeCount = count;
  isNested = nested;
  isPacked = packed;
  at = ENTROPY;
  end = ENTROPY;
  current = 0;
  isBegun = false;
}

@inline
function valueAt(i: usize): u64 {
  return load<u64>(OFFSETS + (i << 3));
}

@inline
function setValue(i: usize, value: u64): void {
  store<u64>(OFFSETS + (i << 3), value);
}

/**
 * Whole permutations of up to ten take one word, and the steps of their shuffle come from three tables: of three, three and
 * four steps. floor(word · n! / 2^32) is a number below n!, whose digits of mixed radix n, n - 1 .. 1 are the steps of
 * `drawShuffled`. The digits of 10 .. n + 1 before them are zeros: the first places stay where they are, and are not
 * written. Vector d of a table is what its steps make of the places 0 .. 9 when its digits are d; after a vector a, vector
 * b puts a[b[i]] at place i.
 */
const TABLED_MAX: u64 = 10;
const FIRST: usize = memory.data(16 * (720 + 210 + 24), 16);
const SECOND_THREE: usize = FIRST + 16 * 720;
const LAST_FOUR: usize = SECOND_THREE + 16 * 210;
let areTabled = false;

function putTables(): void {
  areTabled = true;
  putTable(FIRST, 0, 3);
  putTable(SECOND_THREE, 3, 6);
  putTable(LAST_FOUR, 6, 10);
}

/** Fills a table with the vectors of the steps at places `from` to `to`. */
function putTable(table: usize, from: usize, to: usize): void {
  let entries: usize = 1;
  for (let place = from; place < to; place++) entries *= 10 - place;
  for (let entry: usize = 0; entry < entries; entry++) {
    const vector = table + (entry << 4);
    for (let lane: usize = 0; lane < 16; lane++) store<u8>(vector + lane, lane);
    let rest = entry;
    let weight = entries;
    for (let place = from; place < to; place++) {
      weight /= 10 - place;
      const other = vector + place + rest / weight;
      rest %= weight;
      const moved = load<u8>(other);
      store<u8>(other, load<u8>(vector + place));
      store<u8>(vector + place, moved);
    }
  }
}

/** Tells whether the request is for permutations of up to ten numbers from 0 on. */
@inline
function areWholeTabled(): bool {
  const length = load<u64>(ranges);
  const isWhole = load<u64>(ranges, 8) == length && load<u64>(ranges, 48) == SHUFFLED;
  const isPlain = load<u64>(ranges, 16) == 0 && load<u64>(ranges, 56) == 0;
  return rangeCount == 1 && !isNested && !isPacked && isWhole && isPlain && length <= TABLED_MAX;
}

/** Draws and writes such permutations; returns their count. At SECOND: the size of their text in bytes. */
function tabledRows(count: i32, textEnd: usize): i32 {
  if (!areTabled) putTables();
  const length = load<u64>(ranges);
  let product: u64 = 1;
  for (let i: u64 = 2; i <= length; i++) product *= i;
  const refused = refusedBelow(product);
  const skipped = i8(TABLED_MAX - length);
  const zero = i8x16.splat(0x30 - skipped);
  const commas = i8x16(0, 0x2c, 0, 0x2c, 0, 0x2c, 0, 0x2c, 0, 0x2c, 0, 0x2c, 0, 0x2c, 0, 0x2c);
  const spread = i8x16.add(
    i8x16(0, -128, 1, -128, 2, -128, 3, -128, 4, -128, 5, -128, 6, -128, 7, -128),
    i8x16.splat(skipped),
  );
  const size = usize(2 * length + 2);
  let out = TEXT;
  let from = at;
  let rows = 0;
  while (rows < count && from + 4 <= end && out + size <= textEnd) {
    const scaled = u64(load<u32>(from)) * product;
    from += 4;
    if ((scaled & 0xffffffff) < refused) continue;
    const steps = u32(scaled >> 32);
    const first = steps / 5040;
    const others = steps - first * 5040;
    const second = others / 24;
    const last = others - second * 24;
    let places = v128.load(FIRST + (usize(first) << 4));
    places = v128.swizzle(places, v128.load(SECOND_THREE + (usize(second) << 4)));
    places = v128.swizzle(places, v128.load(LAST_FOUR + (usize(last) << 4)));
    const digits = i8x16.add(places, zero);
    store<u8>(out, OPEN);
    v128.store(out, v128.or(v128.swizzle(digits, spread), commas), 1);
    v128.store(out, v128.or(v128.swizzle(digits, i8x16.add(spread, i8x16.splat(8))), commas), 17);
    out += size;
    store<u16>(out - 2, CLOSE_COMMA);
    rows++;
  }
  at = from;
  store<u32>(SECOND, u32(out - TEXT));
  return rows;
}

/** Returns 2^32 mod product, for a product up to 2^32. */
@inline
function refusedBelow(product: u64): u64 {
  return (0x100000000 - product) % product;
}

/** Writes `size` independent offsets from one word, from place `from` on; returns false when the word is refused. */
@inline
function putOffsets(from: usize, size: usize, span: u64, wordBytes: usize, accepted: u64): bool {
  const word = load<u64>(at);
  at += wordBytes;
  if (wordBytes > 4) {
    const masked = wordBytes == 7 ? word & ((1 << 53) - 1) : word & ((u64(1) << (u64(wordBytes) << 3)) - 1);
    if (masked >= accepted) return false;
    setValue(from, masked % span);
    return true;
  }
  let low = word & 0xffffffff;
  let product: u64 = 1;
  for (let i = from; i < from + size; i++) {
    const scaled = low * span;
    setValue(i, scaled >> 32);
    low = scaled & 0xffffffff;
    product *= span;
  }
  return low >= product || low >= refusedBelow(product);
}

/** Draws the rest of a row of independent values; returns false when words ran out. */
function drawIndependent(length: usize, span: u64, wordBytes: usize, wordValues: usize, accepted: u64): bool {
  if (wordBytes == 0) {
    for (; done < length; done++) setValue(done, 0);
    return true;
  }
  while (done < length) {
    if (at + wordBytes > end) return false;
    const size = min(wordValues, length - done);
    if (putOffsets(done, size, span, wordBytes, accepted)) done += size;
  }
  return true;
}

/**
 * Draws and writes a row of small numbers; returns the end of its text, or 0 when words ran out, and then none of it is
 * drawn.
 */
@inline
function putSmallRow(to: usize, range: usize): usize {
  const span = load<u64>(range, 8);
  const table = SMALL_COMMA + usize(load<u64>(range, 16) << 3);
  const wordValues = i32(load<u64>(range, 32));
  let refused = load<u64>(range, 72);
  let out = to;
  let from = at;
  for (let left = i32(load<u64>(range)); left > 0; ) {
    if (from + 4 > end) return 0;
    let size = wordValues;
    if (left < size) {
      size = left;
      refused = load<u64>(range, 80);
    }
    let low = u64(load<u32>(from));
    from += 4;
    let next = out;
    for (let i = size; i > 0; i--) {
      const scaled = low * span;
      low = scaled & 0xffffffff;
      next = putEntry(next, load<u64>(table + (usize(scaled >> 32) << 3)));
    }
    if (low < refused) continue;
    out = next;
    left -= size;
  }
  at = from;
  return out;
}

/** Makes the next steps of a shuffle of the whole range, several from one word; returns false when words ran out. */
function drawShuffled(length: usize, span: u64): bool {
  const stop = end;
  let from = at;
  let i = done;
  while (i < length && from + 4 <= stop) {
    let product = span - i;
    let to = i + 1;
    while (to < length && product * (span - to) <= 0x10000000) product *= span - to++;
    let low = u64(load<u32>(from));
    from += 4;
    const rest = (low * product) & 0xffffffff; // decides about the word before anything is moved
    if (rest < product && rest < refusedBelow(product)) continue;
    for (; i < to; i++) {
      const scaled = low * (span - i);
      low = scaled & 0xffffffff;
      const other = i + usize(scaled >> 32);
      const drawn = valueAt(other);
      setValue(other, valueAt(i));
      setValue(i, drawn);
    }
  }
  at = from;
  done = i;
  return i == length;
}

/** Draws rounds of as many values as are missing and skips values seen before; returns false when words ran out. */
function drawDifferent(length: usize, span: u64, wordBytes: usize, wordValues: usize, accepted: u64): bool {
  while (done < length) {
    if (round == 0) round = length - done;
    if (at + wordBytes > end) return false;
    const size = min(wordValues, round);
    const first = length + 1; // after the values
    if (!putOffsets(first, size, span, wordBytes, accepted)) continue;
    round -= size;
    for (let i = first; i < first + size; i++) {
      const value = valueAt(i);
      let j: usize = 0;
      while (j < done && valueAt(j) != value) j++;
      if (j == done) setValue(done++, value);
    }
  }
  return true;
}

/** Sorts by insertion, because rows are short. */
function sort(length: usize, isDescending: bool): void {
  for (let i: usize = 1; i < length; i++) {
    const value = valueAt(i);
    let j = i;
    for (; j > 0; j--) {
      const before = valueAt(j - 1);
      if (isDescending ? before >= value : before <= value) break;
      setValue(j, before);
    }
    setValue(j, value);
  }
}

/** Writes the head of an array in MessagePack. */
function putHead(at: usize, count: u32): usize {
  if (count < 16) {
    store<u8>(at, 0x90 | count);
    return at + 1;
  }
  store<u8>(at, 0xdc);
  store<u16>(at, bswap<u16>(u16(count)), 1);
  return at + 3;
}

/**
 * Draws and writes rows until `count` lists of all ranges are done, words run out or a window is full; the caller has added
 * `bytes` bytes after the words that were left. Returns the count of finished lists. At SECOND: the sizes of the text and
 * of the MessagePack, which begins at half of the window; the bytes missing for the next word; and the bytes left, which
 * were moved to the front.
 */
export function rows(count: i32, bytes: i32): i32 {
  end += usize(bytes);
  let out = TEXT;
  const packedStart = TEXT + usize(TEXT_BYTES >> 1);
  let packed = packedStart;
  const textEnd = isPacked ? packedStart - 32 : TEXT + usize(TEXT_BYTES); // numbers are written as whole vectors
  let lists = 0;
  let lack: usize = 0;
  if (areWholeTabled()) {
    lists = tabledRows(count, textEnd);
    out += usize(load<u32>(SECOND));
  }
  while (lists < count) {
    const range = ranges + usize(current) * RANGE_SIZE;
    const length = usize(load<u64>(range));
    const span = load<u64>(range, 8);
    const wordBytes = usize(load<u64>(range, 24));
    const wordValues = usize(load<u64>(range, 32));
    const way = load<u64>(range, 48);
    const first = load<i64>(range, 16);
    const order = load<u64>(range, 56);
    // The shuffle moves the texts of small numbers instead of the numbers.
    const areTexts = way == SHUFFLED && order == 0 && !isPacked && first >= 0 && first + i64(span) <= 1000;
    if (out + usize(load<u64>(range, 64)) > textEnd) break;
    let written: usize = 0;
    if (way == SMALL) written = putSmallRow(out + 1 + usize(current == 0 && isNested), range);
    else if (!isBegun) {
      isBegun = true;
      done = 0;
      round = 0;
      if (areTexts) memory.copy(OFFSETS, SMALL_COMMA + usize(first << 3), usize(span << 3));
      else if (way == SHUFFLED) for (let i: u64 = 0; i < span; i++) setValue(usize(i), i);
    }
    const isDrawn =
      written != 0 ||
      (way == SHUFFLED
        ? drawShuffled(length, span)
        : way == REPEATS_REFUSED
          ? drawDifferent(length, span, wordBytes, wordValues, load<u64>(range, 40))
          : way == INDEPENDENT && drawIndependent(length, span, wordBytes, wordValues, load<u64>(range, 40)));
    if (!isDrawn) {
      lack = wordBytes - ((end - at) % wordBytes); // a row of small numbers may have left whole words unread
      memory.copy(ENTROPY, at, end - at);
      end -= at - ENTROPY;
      at = ENTROPY;
      break;
    }
    isBegun = false;
    if (order != 0) sort(length, order == 2);
    if (current == 0 && isNested) store<u8>(out++, OPEN);
    store<u8>(out++, OPEN);
    if (written != 0) out = written;
    else if (areTexts) for (let i: usize = 0; i < length; i++) out = putEntry(out, valueAt(i));
    else for (let i: usize = 0; i < length; i++) out = putText(out, i64(valueAt(i)) + first);
    store<u8>(out - 1, CLOSE);
    store<u8>(out++, COMMA);
    if (isPacked) {
      if (current == 0 && isNested) packed = putHead(packed, rangeCount);
      packed = putHead(packed, u32(length));
      for (let i: usize = 0; i < length; i++) packed = putPacked(packed, i64(valueAt(i)) + first);
    }
    current++;
    if (current == rangeCount) {
      current = 0;
      lists++;
      if (isNested) {
        store<u8>(out - 1, CLOSE);
        store<u8>(out++, COMMA);
      }
    }
  }
  store<u32>(SECOND, u32(out - TEXT));
  store<u32>(SECOND, u32(packed - packedStart), 4);
  store<u32>(SECOND, u32(lack), 8);
  store<u32>(SECOND, u32(end - ENTROPY), 12);
  return lists;
}
