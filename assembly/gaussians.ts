/**
 * Normally distributed decimals as JSON text, each followed by a comma, at TEXT, and as float64 at OFFSETS.
 * src/values/gaussians.ts defines them and proves them exact: Karney's algorithm N draws the deviate, then come its sign
 * and as many bits of its fraction as its rounding needs. Every bit comes from one stream, which is read in two ways:
 *
 * - Bit by bit, as the algorithm is published (`drawWhole`, `areParts`).
 * - By table: for each value of the next `INDEX_BITS` bits a table holds how far the first way gets with them, its result
 *   and the count of bits that it takes; from there the first way continues. It also fills the tables, so both give the
 *   same results for the same bits.
 *
 * The stream lies backwards in memory, with the bits of each byte reversed too: 64 bits loaded at the next bit's position
 * have that bit on top. A value that needs more bits than there are is abandoned, and drawn again once the stream has been
 * fed.
 */
import { constant, nonZero, sixteenDigits, textOf } from './digits';
import { ENTROPY, FRACTIONS, MORE_BITS, OFFSETS, SECOND, STREAM_END, TEXT } from './windows';

/** The index of the next bit, and the end of the stream. */
let next: usize = 0;
let end: usize = 0;

/** Returns the next 57 bits or more, the first on top. */
@inline
function bitsAt(at: usize): u64 {
  return load<u64>(STREAM_END - 8 - (at >> 3)) << (at & 7);
}

/** Returns the next bit; after the last one, zeros. */
function bit(): u32 {
  const at = next++;
  return at < end ? u32(bitsAt(at) >> 63) : 0;
}

/** Begins a stream without bits. */
export function beginStream(): void {
  next = 0;
  end = 0;
}

/** Appends `bytes` bytes at ENTROPY, in whole words, to the rest of the stream; returns the stream's count of bits. */
export function feedStream(bytes: i32): i32 {
  const done = next >> 3;
  const left = (end >> 3) - done;
  memory.copy(STREAM_END - left, STREAM_END - done - left, left);
  next &= 7;
  end = (left + usize(bytes)) << 3;
  const backwards = i8x16(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const reversed = i8x16(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15); // the four bits of a number, last first
  for (let from: usize = 0; from < usize(bytes); from += 16) {
    const entropy = v128.swizzle(v128.load(ENTROPY + from), backwards);
    const low = v128.swizzle(reversed, v128.and(entropy, i8x16.splat(15)));
    const high = v128.swizzle(reversed, i8x16.shr_u(entropy, 4));
    v128.store(STREAM_END - left - from - 16, v128.or(i8x16.shl(low, 4), high));
  }
  return i32(end - next);
}

/** Returns the next 1 to 24 bits as an integer, or -1 when there are fewer. */
export function takeBits(count: i32): i32 {
  const at = next;
  if (at + usize(count) > end) return -1;
  next = at + usize(count);
  return i32(bitsAt(at) >> (64 - u64(count)));
}

/**
 * Numbers in (0, 1) of which only the bits that were looked at exist. Each has the first 64 bits, the first on top and
 * zeros after the known ones; the count of known bits; and a byte for each bit after the first 64.
 */
const KNOWN: usize = 8;
const MORE: usize = 12;
const FRACTION_SIZE: usize = MORE + usize(MORE_BITS);
/** The fraction of the deviate. */
const X: usize = FRACTIONS;
const ONE: usize = FRACTIONS + FRACTION_SIZE;
const OTHER: usize = FRACTIONS + 2 * FRACTION_SIZE;
const TRIAL: usize = FRACTIONS + 3 * FRACTION_SIZE;

@inline
function put(fraction: usize, word: u64, known: u64): void {
  store<u64>(fraction, word);
  store<u32>(fraction, u32(known), KNOWN);
}

function append(fraction: usize, value: u32): u32 {
  const known = load<u32>(fraction, KNOWN);
  if (known < 64) store<u64>(fraction, load<u64>(fraction) | (u64(value) << (63 - known)));
  else if (known < 64 + u32(MORE_BITS)) store<u8>(fraction + (known - 64), value, MORE);
  else unreachable();
  store<u32>(fraction, known + 1, KNOWN);
  return value;
}

@inline
function bitOf(fraction: usize, i: u32): u32 {
  return i < 64 ? u32(load<u64>(fraction) >> (63 - i)) & 1 : load<u8>(fraction + (i - 64), MORE);
}

/**
 * Makes `fresh` a new uniform number and returns whether it is below `other`. Both get the bits that the comparison needs;
 * at each place the new number's bit is drawn first.
 */
function isNewLess(fresh: usize, other: usize): bool {
  const at = next;
  if (at >= end) {
    next = at + 1; // past the end: the caller sees that bits ran out
    return false;
  }
  const bits = bitsAt(at);
  const word = load<u64>(other);
  const known = u64(load<u32>(other, KNOWN));
  const same = clz(bits ^ word);
  if (same < min<u64>(known, 57)) {
    // They differ at a known bit of `other`.
    const kept = bits >> (63 - same);
    put(fresh, kept << (63 - same), same + 1);
    next = at + usize(same) + 1;
    return (kept & 1) == 0;
  }
  if (same >= known && known <= PAIRED_MAX) {
    // After the known bits, bits come in pairs, and the first pair of different bits decides.
    const pairs = bits << known;
    const equals = clz((pairs ^ (pairs << 1)) & 0xaaaaaaaaaaaaaaaa) >> 1;
    if (equals < 16) {
      let firsts = (pairs >> 33) & 0x55555555;
      firsts = (firsts | (firsts >> 1)) & 0x33333333;
      firsts = (firsts | (firsts >> 2)) & 0x0f0f0f0f;
      firsts = (firsts | (firsts >> 4)) & 0x00ff00ff;
      firsts = ((firsts | (firsts >> 8)) & 0xffff) >> (15 - equals);
      const last = 63 - known - equals;
      const all = word | (firsts << last);
      put(fresh, all, known + equals + 1);
      put(other, all ^ (u64(1) << last), known + equals + 1);
      next = at + usize(known + 2 * equals) + 2;
      return (firsts & 1) == 0;
    }
  }
  put(fresh, 0, 0);
  for (let i: u32 = 0; next < end; i++) {
    const first = append(fresh, bit());
    const second = i < load<u32>(other, KNOWN) ? bitOf(other, i) : append(other, bit());
    if (first != second) return first < second;
  }
  next++;
  return false;
}

/** With this many known bits, they and the 16 pairs after them fit into the bits that one load gives. */
const PAIRED_MAX: u64 = 57 - 32;

/**
 * Returns a uniform number in [0, n), n small and even, by the fast dice roller (Lumbroso 2013), which wastes less than a
 * bit.
 */
function below(n: u32): u32 {
  if (n <= 4) {
    const at = next;
    next = at + usize(n >> 1);
    return u32(bitsAt(at) >> (64 - (n >> 1)));
  }
  let range: u32 = 2;
  let offset = bit();
  while (range < n || offset >= n) {
    if (range >= n) {
      range -= n;
      offset -= n;
    }
    range *= 2;
    offset = 2 * offset + bit();
  }
  return offset;
}

/**
 * Returns true with probability exp(-1/2). The first bit of a uniform number tells whether it is below 1/2. If it is, a row
 * of uniform numbers starts from it, each below the previous one; the result is whether the row ends after an even number.
 */
function isRootOfE(): bool {
  const entry = u32(load<u8>(ROOTS + indexAt(next)));
  if (entry != 0) {
    next += usize(entry & 15);
    return entry > 15;
  }
  if (bit() == 1) return true;
  let last = ONE;
  let fresh = OTHER;
  put(last, 0, 1);
  let isEven = false;
  while (isNewLess(fresh, last)) {
    const spare = last;
    last = fresh;
    fresh = spare;
    isEven = !isEven;
  }
  return isEven;
}

/**
 * Returns true with probability exp(-x(2k + x) / (2k + 2)), x the number at X: each step of a row that starts at x must
 * also pass a trial of probability (2k + x) / (2k + 2).
 */
function isPart(k: u32): bool {
  let last = X;
  let fresh = ONE;
  let isEven = true;
  while (isNewLess(fresh, last) && passes(k)) {
    last = fresh;
    fresh = fresh == ONE ? OTHER : ONE;
    isEven = !isEven;
  }
  return isEven;
}

function passes(k: u32): bool {
  const choice = below(2 * k + 2);
  if (choice != 1) return choice > 1;
  return isNewLess(TRIAL, X);
}

/** The result of `drawWhole` for a refused deviate. */
const REFUSED: u32 = 15;

/**
 * Draws the whole part of a deviate, of which k is counted so far (all of it if isEnded), and accepts it with probability
 * exp(-k(k-1)/2).
 */
function drawWhole(k: u32, isEnded: bool): u32 {
  while (!isEnded && next <= end) {
    const run = u32(load<u16>(RUNS + (indexAt(next) << 1)));
    if (run != 0) {
      next += usize(run & 15);
      k += (run >> 4) & 15;
      isEnded = run >= ENDED;
    } else if (isRootOfE()) {
      k++;
    } else {
      isEnded = true;
    }
  }
  if (next > end) return REFUSED; // the caller sees that bits ran out and feeds the stream
  let left = k * (k - 1);
  while (left > 0) {
    const run = u32(load<u16>(RUNS + (indexAt(next) << 1)));
    const roots = (run >> 4) & 15;
    if (run == 0 || roots >= left) {
      if (!isRootOfE()) return REFUSED;
      left--;
    } else {
      next += usize(run & 15);
      if (run >= ENDED) return REFUSED;
      left -= roots;
    }
  }
  if (k >= REFUSED && next <= end) unreachable(); // has a probability below 2^-160
  return k;
}

/** Accepts the number at X, which has passed i of its k + 1 trials, with probability exp(-x(2k + x)/2) in total. */
function areParts(k: u32, i: u32): bool {
  for (; i <= k; i++) if (!isPart(k)) return false;
  return true;
}

const INDEX_BITS: usize = 12;
const INDEX_SHIFT: u64 = 64 - INDEX_BITS;
const ENTRIES: usize = 1 << INDEX_BITS;
/** `isRootOfE` by the next bits: the count of bits it takes and, in bit 4 of the entry, its result. */
const ROOTS: usize = memory.data(1 << 12, 64);
/**
 * Calls of `isRootOfE` up to the first false one, by the next bits and as far as these reach: the count of bits taken, the
 * count of true results, and ENDED after a false one.
 */
const RUNS: usize = memory.data(2 << 12, 64);
const ENDED: u32 = 256;
/** Whole parts by the next bits, after any refused ones: as in RUNS, and DECIDED if the whole part was accepted. */
const WHOLES: usize = memory.data(2 << 12, 64);
const DECIDED: u32 = 512;
/**
 * Trials of a new X, by k below PARTS_END and the next bits and as far as these reach: the count of bits taken, whether the
 * trials decide and accept, the count of trials, the count of known bits of X, and these bits.
 */
const PARTS: usize = memory.data(12 << 12, 64);
const PARTS_END: u32 = 3;
const ACCEPTED: u32 = 16;
const PASSED_SHIFT: u32 = 5;
const KNOWN_SHIFT: u32 = 10;
const X_SHIFT: u32 = 16;

/** Returns the next bits as the index of a table. */
@inline
function indexAt(at: usize): usize {
  return usize(bitsAt(at) >> INDEX_SHIFT);
}

/** Fills the tables. */
export function prepareGaussians(): void {
  for (let index: usize = 0; index < ENTRIES; index++) {
    begin(index);
    const isTrue = u32(isRootOfE());
    if (next <= end) store<u8>(ROOTS + index, u32(next) | (isTrue << 4));
  }
  for (let index: usize = 0; index < ENTRIES; index++) {
    begin(index);
    let roots: u32 = 0;
    for (let isTrue = true; isTrue; ) {
      isTrue = isRootOfE();
      if (next > end) break;
      roots += u32(isTrue);
      store<u16>(RUNS + (index << 1), u32(next) | (roots << 4) | (isTrue ? 0 : ENDED));
    }
  }
  for (let index: usize = 0; index < ENTRIES; index++) {
    begin(index);
    let whole: u32 = 0;
    for (let state: u32 = 0; state < DECIDED; ) {
      if (state == ENDED) {
        whole = drawWhole(whole, true);
        state = whole == REFUSED ? 0 : DECIDED;
        if (state == 0) whole = 0;
      } else if (isRootOfE()) {
        whole++;
      } else {
        state = ENDED;
      }
      if (next > end) break;
      store<u16>(WHOLES + (index << 1), u32(next) | (whole << 4) | state);
    }
    for (let k: u32 = 0; k < PARTS_END; k++) {
      begin(index);
      put(X, 0, 0);
      for (let i: u32 = 1, state: u32 = 0; state == 0; i++) {
        const isPassed = isPart(k);
        if (next > end) break;
        state = !isPassed ? DECIDED : i > k ? DECIDED | ACCEPTED : 0;
        const known = load<u32>(X, KNOWN) << KNOWN_SHIFT;
        const entry = u32(next) | state | (i << PASSED_SHIFT) | known | (u32(numberAtX()) << X_SHIFT);
        store<u32>(PARTS + (((usize(k) << INDEX_BITS) + index) << 2), entry);
      }
    }
  }
}

/** Begins a stream that consists of the bits of a table's index. */
function begin(index: usize): void {
  store<u64>(STREAM_END - 8, u64(index) << INDEX_SHIFT);
  next = 0;
  end = INDEX_BITS;
}

/** Returns the known bits of X, at most 64 of them, as an integer. */
function numberAtX(): u64 {
  const known = u64(load<u32>(X, KNOWN));
  return known == 0 ? 0 : load<u64>(X) >> (64 - known);
}

/** Returns bit i of X to the caller that rounds. */
export function fractionBit(i: i32): i32 {
  return bitOf(X, u32(i));
}

/** Count of decades of |X| that the kernel knows, from the largest down. */
const DECADES: usize = 7;
/**
 * The parameters that src/values/gaussian-rounding.ts writes, eight bytes each:
 * - float64: mean, stddev, a bound above the error of mean ± stddev · z in doubles (z below 16), the bits of a fraction that
 *   are drawn before rounding, and the digits of a decimal;
 * - float64: the power of ten at which the decades end, and those at which each begins;
 * - for each decade, in steps 10^e of its decimals: mean, its lowest 64 bits, of which those after the point are what
 *   10^digits leaves of 64; stddev as s / 2^q, 2^63 <= s < 2^64, truncated (s, q); the factor and then the divisor that turn
 *   a decimal into a value (float64, exact up to 10^22; beyond, the caller parses the text); the place of its first digit.
 */
export const distribution: usize = memory.data(40 + 64 + 7 * 48, 8);
const LIMITS: usize = distribution + 40;
const SCALES: usize = LIMITS + 64;
const SCALE_SIZE: usize = 48;

/** The most bits of a fraction that fit into 64 together with a whole part of four bits. */
const KNOWN_MAX: u64 = 60;
const STEP_BITS: u64 = 4;
const SIGN: u64 = 1 << 63;
/** Powers of ten; a decimal uses 10^(14 - digits) and 10^(digits - 1). */
const POWERS: usize = memory.data<u64>(
  [
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
    10000000000000,
  ],
  8,
);

/** Why `gaussians` stopped: all values are made, bits ran out, or the caller must round. */
const DONE: u32 = 0;
const NO_BITS: u32 = 1;
const UNSURE: u32 = 2;

/**
 * Continues with value `made` at `textBytes` of the text; returns the count of values then made: `count`, or fewer if bits
 * ran out or a value cannot be rounded here. At SECOND follow: the size of the text in bytes, why it stopped, the bits left
 * of the stream, and, of a value that the caller rounds, whole part, sign and the count of known bits of its fraction,
 * which lie at X.
 *
 * *The rounding.* X = mean ± stddev · N / 2^b lies between `near` (N) and `far` (N + 1). In doubles these tell the decade
 * of the bound nearer to 0, which has the finer decimals, unless they are closer to a power of ten than their error. In
 * steps of these decimals, with as many bits after the point as 10^digits leaves of 64, the bounds are computed again: s ·
 * N exactly, then truncated, and mean truncated, both modulo 2^64, which exceeds their sum. The truncation of s to 2^-q
 * makes an error below (whole + 1) · 2^-q, and the others one below the last bit each. If a bound is closer than that to
 * the border between two decimals, or may round to the first decimal of the next decade, the kernel stops. Bounds that are
 * a step or more apart (2^b < stddev) round to different decimals, so no step is computed.
 */
export function gaussians(made: i32, count: i32, textBytes: i32): i32 {
  const k0 = constant(0), k1 = constant(1), k2 = constant(2), k3 = constant(3);
  const k4 = constant(4), k5 = constant(5), k6 = constant(6);
  const mean = load<f64>(distribution);
  const stddev = load<f64>(distribution, 8);
  const error = load<f64>(distribution, 16);
  const firstBits = u64(load<f64>(distribution, 24));
  const digits = usize(load<f64>(distribution, 32));
  const padding = load<u64>((14 - digits) << 3, POWERS);
  const least = load<u64>((digits - 1) << 3, POWERS);
  const pointBits = clz(10 * least);
  const half: u64 = 1 << (pointBits - 1);
  let out = TEXT + usize(textBytes);
  let status = DONE;
  let i = made;
  for (; i < count; i++) {
    let at = next;
    let whole: u32 = 0;
    let x: u64 = 0;
    let known: u64 = 0;
    for (;;) {
      let bits = bitsAt(at);
      const first = u32(load<u16>(WHOLES + (usize(bits >> INDEX_SHIFT) << 1)));
      at += usize(first & 15);
      bits <<= u64(first & 15);
      whole = (first >> 4) & 15;
      if (first < DECIDED) {
        const from = next;
        next = at;
        whole = drawWhole(whole, first >= ENDED);
        at = next;
        next = from;
        if (at > end) break;
        if (whole == REFUSED) continue;
        bits = bitsAt(at);
      }
      const index = (usize(whole) << INDEX_BITS) + usize(bits >> INDEX_SHIFT);
      const second = whole < PARTS_END ? load<u32>(index << 2, PARTS) : 0;
      at += usize(second & 15);
      known = u64((second >> KNOWN_SHIFT) & 15);
      x = u64(second >> X_SHIFT);
      let isAccepted = (second & ACCEPTED) != 0;
      if ((second & DECIDED) == 0) {
        put(X, (x << 1) << (63 - known), known);
        const from = next;
        next = at;
        isAccepted = areParts(whole, (second >> PASSED_SHIFT) & 3);
        at = next;
        next = from;
        known = u64(load<u32>(X, KNOWN));
        x = numberAtX();
      }
      if (isAccepted || at > end) break;
    }
    const sign = bitsAt(at) & SIGN;
    at++;
    if (at > end) {
      status = NO_BITS;
      break;
    }
    // If the caller rounds, bits of X that are drawn from here on are returned to the stream.
    const afterSign = at;
    const knownBefore = known;
    const xBefore = x;
    if (known < firstBits) {
      const missing = firstBits - known;
      x = (x << missing) | (bitsAt(at) >> (64 - missing));
      at += usize(missing);
      known = firstBits;
    }
    let n = known > KNOWN_MAX ? u64.MAX_VALUE : (u64(whole) << known) | x;
    const signed = reinterpret<f64>(reinterpret<u64>(stddev) ^ sign);
    let scale: usize = 0;
    let decimal: u64 = 0;
    let below: u64 = 0;
    for (;;) {
      if (at > end) {
        status = NO_BITS;
        break;
      }
      status = UNSURE;
      if (n == u64.MAX_VALUE) break;
      const width = reinterpret<f64>((1023 - known) << 52);
      const near = mean + signed * (f64(n) * width);
      const far = near + signed * width;
      if (near * far <= 0) break;
      const inner = reinterpret<f64>(min(reinterpret<u64>(near) & ~SIGN, reinterpret<u64>(far) & ~SIGN));
      const inners = f64x2.splat(inner);
      const limitsAbove = i64x2.add(
        i64x2.add(f64x2.gt(v128.load(LIMITS), inners), f64x2.gt(v128.load(LIMITS, 16), inners)),
        i64x2.add(f64x2.gt(v128.load(LIMITS, 32), inners), f64x2.gt(v128.load(LIMITS, 48), inners)),
      );
      const decade = usize(-(i64x2.extract_lane(limitsAbove, 0) + i64x2.extract_lane(limitsAbove, 1)));
      if (decade == 0 || decade > DECADES) break;
      const limits = LIMITS + (decade << 3);
      const room = load<f64>(limits - 8) - inner;
      if (inner - load<f64>(limits) <= error || room <= error) break;
      scale = SCALES + (decade - 1) * SCALE_SIZE;
      const q = load<u64>(scale, 16);
      if (q + known >= 64) {
        const shift = q + known - pointBits;
        // s · n of 128 bits, from halves of 32 bits.
        const s = load<u64>(scale, 8);
        const s0 = s & 0xffffffff, s1 = s >> 32, n0 = n & 0xffffffff, n1 = n >> 32;
        const low = s0 * n0;
        const middle = s1 * n0 + (low >> 32);
        const other = s0 * n1 + (middle & 0xffffffff);
        const high = s1 * n1 + (middle >> 32) + (other >> 32);
        let part = (high << (64 - shift)) | (((other << 32) | (low & 0xffffffff)) >> shift);
        let step = s >> shift;
        if (shift >= 64) {
          part = shift < 128 ? high >> (shift - 64) : 0;
          step = 0;
        }
        // |near| and |far| without a branch on the sign, which cannot be predicted.
        below = u64(reinterpret<i64>(near) >> 63);
        const inwards = below ^ u64(i64(sign) >> 63);
        const nearFixed = (load<u64>(scale) ^ below) - below + ((part ^ inwards) - inwards) + half;
        const farFixed = nearFixed + ((step ^ inwards) - inwards);
        const about = (q < 64 ? (u64(whole + 1) << pointBits) >> q : 0) + 4;
        const sure = 2 * half - 2 * about;
        if (((nearFixed & (2 * half - 1)) - about > sure) || ((farFixed & (2 * half - 1)) - about > sure)) break;
        const rounded = nearFixed >> pointBits;
        const farRounded = farFixed >> pointBits;
        decimal = min(rounded, farRounded);
        if (decimal - least >= 9 * least) break;
        if (rounded == farRounded) {
          status = DONE;
          break;
        }
      } else if (room <= load<f64>(limits) / f64(least) + error) {
        break;
      }
      if (n >> (64 - STEP_BITS) != 0) break;
      n = (n << STEP_BITS) | (bitsAt(at) >> (64 - STEP_BITS));
      at += usize(STEP_BITS);
      known += STEP_BITS;
    }
    if (status != DONE) {
      if (status == UNSURE) {
        next = afterSign;
        store<u32>(SECOND, whole, 12);
        store<u32>(SECOND, u32(sign >> 63), 16);
        store<u32>(SECOND, u32(knownBefore), 20);
        if (knownBefore > 0 && knownBefore <= 64) store<u64>(X, xBefore << (64 - knownBefore));
      }
      break;
    }
    next = at;
    const value = f64(i64(decimal)) * load<f64>(scale, 24) / load<f64>(scale, 32);
    store<u64>(OFFSETS + (usize(i) << 3), reinterpret<u64>(value) | (below & SIGN));

    // The quotient is at least 10^-6 / 2 away from an integer, and its error is below 10^-7.
    const padded = decimal * padding;
    const high = u64(i32((f64(i64(padded)) + 0.5) * 1e-6));
    const low = (padded - high * 1000000) * 100;
    const numbers = sixteenDigits(high, low, k0, k1, k2, k3, k4, k5);
    const text = textOf(numbers, k6);
    const length = 32 - clz<u32>(nonZero(numbers));
    out = putDecimal(out, text, u32(length), u32(below) & 1, load<i64>(scale, 40));
  }
  store<u32>(SECOND, u32(out - TEXT));
  store<u32>(SECOND, status, 4);
  store<u32>(SECOND, u32(end - next), 8);
  return i;
}

/** '0.000000' */
const ZERO_POINT_ZEROS: u64 = 0x3030303030302e30;
/** Lanes that insert a point after the first 1 to 16 digits, and the point itself. */
const WITH_POINT: usize = memory.data(16 * 17, 16);
const POINTS: usize = memory.data(16 * 17, 16);

for (let places: usize = 1; places <= 16; places++) {
  for (let lane: usize = 0; lane < 16; lane++) {
    const from = lane < places ? lane : lane == places ? 255 : lane - 1;
    store<u8>(WITH_POINT + (places << 4) + lane, from);
    store<u8>(POINTS + (places << 4) + lane, lane == places ? 0x2e : 0);
  }
}

/**
 * Writes digits, of which the first `length` are those before the trailing zeros, and a comma, as ECMAScript prints the
 * number (ECMA-262 6.1.6.1.20); `place` is the power of ten of the first digit.
 */
@inline
function putDecimal(at: usize, text: v128, length: u32, isNegative: u32, place: i64): usize {
  store<u8>(at, 0x2d); // '-'
  let out = at + usize(isNegative);
  // No branch separates decades that are about equally frequent.
  const isSmall = place < 0 && place >= -6;
  store<u64>(out, ZERO_POINT_ZEROS);
  out += isSmall ? usize(1 - place) : 0;
  const before: u32 = isSmall ? 16 : place < 0 ? 1 : u32(place) + 1;
  const lanes = v128.load(WITH_POINT + (usize(before) << 4));
  v128.store(out, v128.or(v128.swizzle(text, lanes), v128.load(POINTS + (usize(before) << 4))));
  out += length > before ? length + 1 : isSmall ? length : before;
  if (place < -6) {
    store<u16>(out, 0x2d65); // 'e-'
    const exponent = u32(-place);
    if (exponent >= 10) {
      store<u8>(out, 0x30 + exponent / 10, 2);
      out++;
    }
    store<u8>(out, 0x30 + (exponent % 10), 2);
    out += 3;
  }
  store<u8>(out, 0x2c);
  return out + 1;
}

/** Copies the values of `gaussians` to TEXT as octets. */
export function gaussianOctets(count: i32): void {
  memory.copy(TEXT, OFFSETS, usize(count) << 3);
}
