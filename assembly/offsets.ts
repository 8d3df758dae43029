/**
 * Draws offsets in [0, span) from words of entropy; src/values/offsets.ts proves them uniform. Functions read words at
 * ENTROPY, write offsets to OFFSETS and return their count, which is smaller than requested when words were refused. The
 * branch that refuses is nearly always predicted, and costs less than moving the end of the results conditionally.
 */
import { ENTROPY, OFFSETS } from './windows';

/** Draws `size` values from each of the words, as u32. A word is refused when its rest is below `refused`. */
export function batched(words: i32, span: f64, size: i32, refused: u32): i32 {
  let out = OFFSETS;
  const factor = u64(span);
  const step = usize(size) << 2;
  const end = ENTROPY + (usize(words) << 2);
  for (let at = ENTROPY; at < end; at += 4) {
    let low = u64(load<u32>(at));
    const next = out + step;
    for (let to = out; to < next; to += 4) {
      const product = low * factor;
      store<u32>(to, u32(product >> 32));
      low = product & 0xffffffff;
    }
    if (u32(low) >= refused) out = next;
  }
  return i32(out - OFFSETS) >> 2;
}

/**
 * Draws one value from each of the words, span up to 2^32, as u32: from four words at once, or one by one if one of them is
 * refused.
 */
export function multiplied(words: i32, span: f64, refused: u32): i32 {
  const size = usize(words) << 2;
  if (span == 4294967296.0) {
    memory.copy(OFFSETS, ENTROPY, size);
    return words;
  }
  let out = OFFSETS;
  const factor = u64(span);
  const factors = i32x4.splat(u32(span));
  const bound = i32x4.splat(refused);
  const end = ENTROPY + size;
  for (let at = ENTROPY; at < end; ) {
    const four = v128.load(at);
    const left = v128.extmul_low<u32>(four, factors);
    const right = v128.extmul_high<u32>(four, factors);
    const rest = v128.shuffle<u32>(left, right, 0, 2, 4, 6);
    if (at + 16 <= end && !v128.any_true(i32x4.lt_u(rest, bound))) {
      v128.store(out, v128.shuffle<u32>(left, right, 1, 3, 5, 7));
      at += 16;
      out += 16;
      continue;
    }
    for (const to = min(at + 16, end); at < to; at += 4) {
      const product = u64(load<u32>(at)) * factor;
      if (u32(product) < refused) continue;
      store<u32>(out, u32(product >> 32));
      out += 4;
    }
  }
  return i32(out - OFFSETS) >> 2;
}

/** Returns the mask of a word of `wordBytes` bytes (5 to 7; of seven bytes the three highest bits are dropped). */
@inline
function wordMask(wordBytes: i32): u64 {
  return wordBytes == 7 ? (1 << 53) - 1 : (u64(1) << (wordBytes << 3)) - 1;
}

/** Draws one value from each of the words, refusing those from `accepted` on, as u64. */
export function divided(words: i32, wordBytes: i32, span: f64, accepted: f64): i32 {
  let out = OFFSETS;
  const divisor = u64(span);
  const bound = u64(accepted);
  const mask = wordMask(wordBytes);
  const end = ENTROPY + usize(words * wordBytes);
  if ((divisor & (divisor - 1)) == 0) {
    // No word is refused, and the remainder of the division is the lower bits.
    for (let at = ENTROPY; at < end; at += wordBytes, out += 8) store<u64>(out, load<u64>(at) & (divisor - 1));
  } else {
    for (let at = ENTROPY; at < end; at += wordBytes) {
      const word = load<u64>(at) & mask;
      if (word >= bound) continue;
      store<u64>(out, word % divisor);
      out += 8;
    }
  }
  return i32(out - OFFSETS) >> 3;
}

/** Converts the contents of OFFSETS, u64 below 2^53, to float64. */
export function toDoubles(count: i32): void {
  const end = OFFSETS + (usize(count) << 3);
  for (let at = OFFSETS; at < end; at += 8) store<f64>(at, f64(load<i64>(at)));
}

/** Converts integers in float64 back to u64. */
export function fromDoubles(count: i32): void {
  const end = OFFSETS + (usize(count) << 3);
  for (let at = OFFSETS; at < end; at += 8) store<i64>(at, i64(load<f64>(at)));
}
