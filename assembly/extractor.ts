/**
 * The product of two polynomials over GF(2), by which src/pool/intake/extractor.ts applies a Toeplitz matrix. The bits
 * become the coefficients 0 and 1 of polynomials over the integers, whose cyclic product is computed exactly modulo the
 * prime P by a number-theoretic transform. A coefficient of the product counts at most as many ones as the shorter operand
 * has bits, which the caller keeps below P, so its parity is the coefficient over GF(2).
 *
 * A vector of four lanes holds the coefficients of X^4i to X^4i+3. The transform runs over the vectors and stops there: it
 * splits Z_P[X] / (X^(4n) - 1) into n rings Z_P[X] / (X^4 - c), in which `multiply` does the rest directly. Numbers
 * stand in Montgomery form or not as noted, always in [0, P).
 */

/** 15 · 2^27 + 1, of which 31 is a primitive root: rings of up to 2^27 coefficients split completely. */
const P: u32 = 2013265921;
const PRIMITIVE_ROOT: u64 = 31;
/** 1 / P modulo 2^32. */
const P_INVERSE: u32 = 2281701377;

/** Vectors of a block whose passes run one after the other: 128 KiB, so that it stays in a core's cache. */
const BLOCK: i32 = 8192;

/** a · b / 2^32 modulo P, b given with bTimesInverse = b / P modulo 2^32. */
@inline
function times(a: v128, b: v128, bTimesInverse: v128): v128 {
  const p = i32x4.splat(P);
  const m = i32x4.mul(a, bTimesInverse);
  const product = high(i64x2.extmul_low_i32x4_u(a, b), i64x2.extmul_high_i32x4_u(a, b));
  const multiple = high(i64x2.extmul_low_i32x4_u(m, p), i64x2.extmul_high_i32x4_u(m, p));
  return difference(product, multiple);
}

/** The upper halves of four 64-bit lanes. */
@inline
function high(a: v128, b: v128): v128 {
  return v128.shuffle<i32>(a, b, 1, 3, 5, 7);
}

@inline
function sum(a: v128, b: v128): v128 {
  const s = i32x4.add(a, b);
  return i32x4.min_u(s, i32x4.sub(s, i32x4.splat(P)));
}

@inline
function difference(a: v128, b: v128): v128 {
  const d = i32x4.sub(a, b);
  return i32x4.min_u(d, i32x4.add(d, i32x4.splat(P)));
}

function power(base: u64, exponent: u32): u64 {
  let result: u64 = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = (result * base) % P;
    base = (base * base) % P;
  }
  return result;
}

/**
 * Writes the roots of a transform of `vectors` (a power of two), or their inverses, to `at`: vectors / 2 numbers in
 * Montgomery form. Node s of the tree of rings splits X^2h - root(s)² into X^h - root(s), its node 2s, and X^h + root(s),
 * node 2s + 1. So root(0) = 1, root(2s)² = root(s), and root(s + 2^j) = root(s) · g for s < 2^j, g of order 2^(j + 2).
 */
export function roots(at: usize, vectors: i32, isInverse: bool): void {
  store<u32>(at, u32((u64(1) << 32) % P));
  for (let count: u32 = 1; count < u32(vectors) >> 1; count <<= 1) {
    const step = (P - 1) / (count << 2);
    const g = power(PRIMITIVE_ROOT, isInverse ? P - 1 - step : step);
    const end = at + (usize(count) << 2);
    for (let from = at; from < end; from += 4) {
      store<u32>(from + (usize(count) << 2), u32((u64(load<u32>(from)) * g) % P));
    }
  }
}

/** The coefficients of `vectors` vectors at `at`, to their remainders in the n rings. */
export function forward(at: usize, vectors: i32, rootsAt: usize): void {
  let node: i32 = 0;
  let size = vectors;
  // Passes come in pairs, so a first one alone when their number is odd.
  if (ctz(vectors) & 1) {
    const h = usize(vectors) << 3;
    forwardPass(at, h, rootsAt, 0, 1);
    size = vectors >> 1;
    forwardFrom(at, size, 0, rootsAt);
    node = 1;
    at += h;
  }
  forwardFrom(at, size, node, rootsAt);
}

/** One pass over `nodes` neighbouring nodes from `node` on, each of two halves of `half` bytes. */
@inline
function forwardPass(at: usize, half: usize, rootsAt: usize, node: i32, nodes: i32): void {
  for (let s = node; s < node + nodes; s++) {
    const r = load<u32>(rootsAt + (usize(s) << 2));
    const root = i32x4.splat(r);
    const inverse = i32x4.splat(r * P_INVERSE);
    for (const end = at + half; at < end; at += 16) {
      const a = v128.load(at);
      const b = times(v128.load(at + half), root, inverse);
      v128.store(at, sum(a, b));
      v128.store(at + half, difference(a, b));
    }
    at += half;
  }
}

/** Both passes from node s to its four grandchildren in one: each vector is read and written once. */
@inline
function forwardPasses(at: usize, quarter: usize, rootsAt: usize, node: i32, nodes: i32): void {
  for (let s = node; s < node + nodes; s++) {
    const r = load<u32>(rootsAt + (usize(s) << 2));
    const left = load<u32>(rootsAt + (usize(s) << 3));
    const right = load<u32>(rootsAt + (usize(s) << 3), 4);
    const root = i32x4.splat(r);
    const rootInverse = i32x4.splat(r * P_INVERSE);
    const leftRoot = i32x4.splat(left);
    const leftInverse = i32x4.splat(left * P_INVERSE);
    const rightRoot = i32x4.splat(right);
    const rightInverse = i32x4.splat(right * P_INVERSE);
    for (const end = at + quarter; at < end; at += 16) {
      const a0 = v128.load(at);
      const a1 = v128.load(at + quarter);
      const a2 = times(v128.load(at + 2 * quarter), root, rootInverse);
      const a3 = times(v128.load(at + 3 * quarter), root, rootInverse);
      const b0 = sum(a0, a2);
      const b1 = times(sum(a1, a3), leftRoot, leftInverse);
      const b2 = difference(a0, a2);
      const b3 = times(difference(a1, a3), rightRoot, rightInverse);
      v128.store(at, sum(b0, b1));
      v128.store(at + quarter, difference(b0, b1));
      v128.store(at + 2 * quarter, sum(b2, b3));
      v128.store(at + 3 * quarter, difference(b2, b3));
    }
    at += 3 * quarter;
  }
}

/** All passes below one node of 4^k vectors: down the tree until a subtree fits into a block. */
function forwardFrom(at: usize, size: i32, node: i32, rootsAt: usize): void {
  let nodes: i32 = 1;
  while (size > 1) {
    const quarter = usize(size) << 2;
    forwardPasses(at, quarter, rootsAt, node, nodes);
    if (size > BLOCK) {
      for (let child: i32 = 0; child < 4; child++) {
        forwardFrom(at + usize(child) * quarter, size >> 2, 4 * node + child, rootsAt);
      }
      return;
    }
    size >>= 2;
    node <<= 2;
    nodes <<= 2;
  }
}

/** Undoes `forward` but for a factor of `vectors`; the roots are the inverse ones. */
export function inverse(at: usize, vectors: i32, rootsAt: usize): void {
  if ((ctz(vectors) & 1) == 0) {
    inverseFrom(at, vectors, 0, rootsAt);
    return;
  }
  const h = usize(vectors) << 3;
  inverseFrom(at, vectors >> 1, 0, rootsAt);
  inverseFrom(at + h, vectors >> 1, 1, rootsAt);
  const r = load<u32>(rootsAt);
  const root = i32x4.splat(r);
  const rootInverse = i32x4.splat(r * P_INVERSE);
  for (const end = at + h; at < end; at += 16) {
    const a = v128.load(at);
    const b = v128.load(at + h);
    v128.store(at, sum(a, b));
    v128.store(at + h, times(difference(a, b), root, rootInverse));
  }
}

@inline
function inversePasses(at: usize, quarter: usize, rootsAt: usize, node: i32, nodes: i32): void {
  for (let s = node; s < node + nodes; s++) {
    const r = load<u32>(rootsAt + (usize(s) << 2));
    const left = load<u32>(rootsAt + (usize(s) << 3));
    const right = load<u32>(rootsAt + (usize(s) << 3), 4);
    const root = i32x4.splat(r);
    const rootInverse = i32x4.splat(r * P_INVERSE);
    const leftRoot = i32x4.splat(left);
    const leftInverse = i32x4.splat(left * P_INVERSE);
    const rightRoot = i32x4.splat(right);
    const rightInverse = i32x4.splat(right * P_INVERSE);
    for (const end = at + quarter; at < end; at += 16) {
      const a0 = v128.load(at);
      const a1 = v128.load(at + quarter);
      const a2 = v128.load(at + 2 * quarter);
      const a3 = v128.load(at + 3 * quarter);
      const b0 = sum(a0, a1);
      const b1 = times(difference(a0, a1), leftRoot, leftInverse);
      const b2 = sum(a2, a3);
      const b3 = times(difference(a2, a3), rightRoot, rightInverse);
      v128.store(at, sum(b0, b2));
      v128.store(at + quarter, sum(b1, b3));
      v128.store(at + 2 * quarter, times(difference(b0, b2), root, rootInverse));
      v128.store(at + 3 * quarter, times(difference(b1, b3), root, rootInverse));
    }
    at += 3 * quarter;
  }
}

function inverseFrom(at: usize, size: i32, node: i32, rootsAt: usize): void {
  const block = min(size, BLOCK);
  if (size > BLOCK) {
    for (let child: i32 = 0; child < 4; child++) {
      inverseFrom(at + (usize(child) * usize(size) << 2), size >> 2, 4 * node + child, rootsAt);
    }
    inversePasses(at, usize(size) << 2, rootsAt, node, 1);
    return;
  }
  for (let step: i32 = 4; step <= block; step <<= 2) {
    const nodes = size / step;
    inversePasses(at, usize(step) << 2, rootsAt, node * nodes, nodes);
  }
}

/**
 * The product of a and b in each ring, to a. Ring 2s is modulo X^4 - root(s), ring 2s + 1 modulo X^4 + root(s). Both operands
 * are as `forward` leaves them; what comes out is divided by `vectors`, for `inverse`.
 */
export function multiply(a: usize, b: usize, vectors: i32, rootsAt: usize): void {
  // 2^64 / vectors, as two Montgomery reductions follow.
  const scale = u32((power(2, 64) * power(u64(vectors), P - 2)) % P);
  const factor = i32x4.splat(scale);
  const factorInverse = i32x4.splat(scale * P_INVERSE);
  const last = a + (usize(vectors) << 4);
  let ring: u32 = 0;
  for (; a < last; a += 16, b += 16, ring++) {
    let c = load<u32>(rootsAt + (usize(ring >> 1) << 2));
    if (ring & 1) c = P - c;
    const x = times(v128.load(a), factor, factorInverse);
    const y = v128.load(b);
    const wrapped = times(y, i32x4.splat(c), i32x4.splat(c * P_INVERSE));
    const x0 = v128.shuffle<i32>(x, x, 0, 0, 0, 0);
    const x1 = v128.shuffle<i32>(x, x, 1, 1, 1, 1);
    const x2 = v128.shuffle<i32>(x, x, 2, 2, 2, 2);
    const x3 = v128.shuffle<i32>(x, x, 3, 3, 3, 3);
    const y1 = v128.shuffle<i32>(wrapped, y, 3, 4, 5, 6);
    const y2 = v128.shuffle<i32>(wrapped, y, 2, 3, 4, 5);
    const y3 = v128.shuffle<i32>(wrapped, y, 1, 2, 3, 4);
    // Four products of numbers below P stay below 2^64.
    let low = i64x2.extmul_low_i32x4_u(x0, y);
    let upper = i64x2.extmul_high_i32x4_u(x0, y);
    low = i64x2.add(low, i64x2.extmul_low_i32x4_u(x1, y1));
    upper = i64x2.add(upper, i64x2.extmul_high_i32x4_u(x1, y1));
    low = i64x2.add(low, i64x2.extmul_low_i32x4_u(x2, y2));
    upper = i64x2.add(upper, i64x2.extmul_high_i32x4_u(x2, y2));
    low = i64x2.add(low, i64x2.extmul_low_i32x4_u(x3, y3));
    upper = i64x2.add(upper, i64x2.extmul_high_i32x4_u(x3, y3));
    v128.store(a, reduced(low, upper));
  }
}

/** Four 64-bit numbers, each divided by 2^32 modulo P. */
@inline
function reduced(low: v128, upper: v128): v128 {
  const p = i32x4.splat(P);
  const m = i32x4.mul(v128.shuffle<i32>(low, upper, 0, 2, 4, 6), i32x4.splat(P_INVERSE));
  const multiple = high(i64x2.extmul_low_i32x4_u(m, p), i64x2.extmul_high_i32x4_u(m, p));
  const quotient = high(low, upper); // below 2P
  return difference(i32x4.min_u(quotient, i32x4.sub(quotient, p)), multiple);
}

/**
 * `count` bits (packed, most significant first) from bit `first` of `from` on, as the coefficients of a polynomial of
 * `vectors` vectors at `to`; the others are zero. Reads one byte beyond the bits.
 */
export function spread(from: usize, first: i32, count: i32, to: usize, vectors: i32): void {
  const start = to;
  const masks = i32x4(128, 64, 32, 16);
  for (let i: i32 = 0; i < count; i += 8, to += 32) {
    const at = from + (usize(first + i) >> 3);
    const byte = ((u32(load<u8>(at)) << 8) | u32(load<u8>(at, 1))) >> (8 - ((first + i) & 7));
    const upper = i32x4.eq(v128.and(i32x4.splat(byte), masks), masks);
    const lower = i32x4.eq(v128.and(i32x4.splat(byte << 4), masks), masks);
    v128.store(to, i32x4.shr_u(upper, 31));
    v128.store(to, i32x4.shr_u(lower, 31), 16);
  }
  const used = usize(count) << 2;
  memory.fill(start + used, 0, (usize(vectors) << 4) - used);
}

/** The parities of `count` numbers from `from` on, as bits at `to`; the bits left over of the last byte are zero. */
export function parities(from: usize, count: i32, to: usize): void {
  for (let i: i32 = 0; i < count; i += 8, to++) {
    let byte: u32 = 0;
    for (let bit: i32 = 0; bit < 8; bit++) {
      const odd = i + bit < count ? load<u32>(from + (usize(i + bit) << 2)) & 1 : 0;
      byte = (byte << 1) | odd;
    }
    store<u8>(to, u8(byte));
  }
}
