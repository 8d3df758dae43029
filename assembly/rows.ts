/**
 * Rows of whole numbers, each one a draw of its own: sequences and permutations, as JSON text and as MessagePack. The samplers are those
 * of src/values/offsets.ts, unique.ts and descending.ts, which prove them uniform, and take the same words. What is drawn of a
 * row stays at OFFSETS (u64) while the caller fetches more words, so that no word is drawn twice and none that no value needs.
 */
import { putInteger as putText } from './integers';
import { putInteger as putPacked } from './packed';
import { ENTROPY, OFFSETS, SECOND, TEXT, TEXT_BYTES } from './windows';

const COMMA: u8 = 0x2c;
const OPEN: u8 = 0x5b;
const CLOSE: u8 = 0x5d;

/** How a range is drawn. */
const SHUFFLED: u64 = 1;
const REPEATS_REFUSED: u64 = 2;

/**
 * What src/values/rows.ts says of each range, a word of 64 bits each: length, span, min, bytes of a word, values of a word, words of more than
 * four bytes that are accepted, how it is drawn, the order it is sorted in (0, 1 ascending, 2 descending), and the bytes of its text at most.
 */
const RANGE_SIZE: usize = 72;
/** Of LIMITS.sequencesMax (src/core/limits.ts) ranges. */
export const ranges: usize = memory.data(72 * 64, 8);

let rangeCount: i32 = 0;
let isNested = false;
let isPacked = false;
/** Of the words at ENTROPY: the next one, and where they end. */
let at: usize = 0;
let end: usize = 0;
/** The range that comes next or is under way; of that how many values or steps are done, and of its round how many are left. */
let current: i32 = 0;
let isBegun = false;
let done: usize = 0;
let round: usize = 0;

/** Begins rows of the ranges: as lists in a list where they are nested. */
export function beginRows(count: i32, nested: bool, packed: bool): void {
  // the caller writes them as float64
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

/** The rest of 2^32 by a divisor up to 2^32. */
@inline
function refusedBelow(product: u64): u64 {
  return (0x100000000 - product) % product;
}

/** Puts `size` independent offsets from place `from` on, of one word; false when the word is refused. */
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

/** Draws the rest of a row of independent values; returns false when words ran out, as the next two do. */
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

/** The next steps of a shuffle of the whole range, several from one word. */
function drawShuffled(length: usize, span: u64): bool {
  while (done < length) {
    if (at + 4 > end) return false;
    let product = span - done;
    let to = done + 1;
    while (to < length && product * (span - to) <= 0x10000000) product *= span - to++;
    let low = u64(load<u32>(at));
    at += 4;
    const rest = (low * product) & 0xffffffff; // known before anything is moved
    if (rest < product && rest < refusedBelow(product)) continue;
    for (; done < to; done++) {
      const scaled = low * (span - done);
      low = scaled & 0xffffffff;
      const other = done + usize(scaled >> 32);
      const drawn = valueAt(other);
      setValue(other, valueAt(done));
      setValue(done, drawn);
    }
  }
  return true;
}

/** Rounds of as many values as are missing, of which those are left out that were there before. */
function drawDifferent(length: usize, span: u64, wordBytes: usize, wordValues: usize, accepted: u64): bool {
  while (done < length) {
    if (round == 0) round = length - done;
    if (at + wordBytes > end) return false;
    const size = min(wordValues, round);
    const first = length + 1; // behind the values
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

/** By insertion: rows are short. */
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

/** The head of an array in MessagePack. */
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
 * Draws and writes rows until `count` lists of all ranges are done, words run out or a window is full; `bytes` were put behind
 * those that are left. Returns how many lists were done. At SECOND: bytes of the text and of MessagePack, which lies at half of the
 * window; bytes that lack for the next word, and those that are left, which were moved to the front.
 */
export function rows(count: i32, bytes: i32): i32 {
  end += usize(bytes);
  let out = TEXT;
  const packedStart = TEXT + usize(TEXT_BYTES >> 1);
  let packed = packedStart;
  const textEnd = isPacked ? packedStart - 32 : TEXT + usize(TEXT_BYTES); // a number is written in whole vectors
  let lists = 0;
  let lack: usize = 0;
  while (lists < count) {
    const range = ranges + usize(current) * RANGE_SIZE;
    const length = usize(load<u64>(range));
    const span = load<u64>(range, 8);
    const wordBytes = usize(load<u64>(range, 24));
    const wordValues = usize(load<u64>(range, 32));
    const way = load<u64>(range, 48);
    if (out + usize(load<u64>(range, 64)) > textEnd) break;
    if (!isBegun) {
      isBegun = true;
      done = 0;
      round = 0;
      if (way == SHUFFLED) for (let i: u64 = 0; i < span; i++) setValue(usize(i), i);
    }
    const isDrawn =
      way == SHUFFLED
        ? drawShuffled(length, span)
        : way == REPEATS_REFUSED
          ? drawDifferent(length, span, wordBytes, wordValues, load<u64>(range, 40))
          : drawIndependent(length, span, wordBytes, wordValues, load<u64>(range, 40));
    if (!isDrawn) {
      lack = at + wordBytes - end;
      memory.copy(ENTROPY, at, end - at);
      end -= at - ENTROPY;
      at = ENTROPY;
      break;
    }
    isBegun = false;
    const order = load<u64>(range, 56);
    if (order != 0) sort(length, order == 2);
    const first = load<i64>(range, 16);
    if (current == 0 && isNested) store<u8>(out++, OPEN);
    store<u8>(out++, OPEN);
    for (let i: usize = 0; i < length; i++) out = putText(out, i64(valueAt(i)) + first);
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
