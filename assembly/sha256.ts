/**
 * SHA-256 (FIPS 180-4) of four messages at a time, one in each 32-bit lane of a vector. A call of OpenSSL takes as long as ten
 * of its blocks do.
 */

const K: usize = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);
const INITIAL: usize = memory.data<u32>([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);


export const HASH: usize = 32;
export const BLOCK: usize = 64;
/** The eight words of the states, and the schedule of a block: a vector a word. */
export const STATE: usize = memory.data(128, 16);
const WORDS_BYTES: usize = 1024;
const WORDS: usize = memory.data(WORDS_BYTES, 16);

/** Before the first block. */
export function begin(): void {
  for (let i: usize = 0; i < 8; i++) v128.store(STATE + (i << 4), v128.load32_splat(INITIAL + (i << 2)));
}

/** Zeroes what is left of the last block. */
export function eraseSchedule(): void {
  memory.fill(WORDS, 0, WORDS_BYTES);
}

@inline
function sum(a: v128, b: v128): v128 {
  return i32x4.add(a, b);
}

@inline
function xor3(a: v128, b: v128, c: v128): v128 {
  return v128.xor(v128.xor(a, b), c);
}

@inline
function turned(x: v128, bits: i32): v128 {
  return v128.or(i32x4.shr_u(x, bits), i32x4.shl(x, 32 - bits));
}

/** Σ0 and Maj (4.1.2). */
@inline
function first(a: v128, b: v128, c: v128): v128 {
  return sum(xor3(turned(a, 2), turned(a, 13), turned(a, 22)), v128.bitselect(c, b, v128.xor(a, b)));
}

/** Σ1 and Ch. */
@inline
function second(e: v128, f: v128, g: v128): v128 {
  return sum(xor3(turned(e, 6), turned(e, 11), turned(e, 25)), v128.bitselect(f, g, e));
}

/** The word of a round, and its constant. */
@inline
function word(round: usize): v128 {
  return sum(v128.load(WORDS + (round << 4)), v128.load32_splat(K + (round << 2)));
}

/** One block of each message into the four states (6.2.2); the messages lie `stride` bytes apart. */
export function compress(block: usize, stride: usize): void {
  for (let i: usize = 0; i < BLOCK; i += 16) {
    transpose(
      swapped(v128.load(block + i)),
      swapped(v128.load(block + i + stride)),
      swapped(v128.load(block + i + 2 * stride)),
      swapped(v128.load(block + i + 3 * stride)),
      WORDS + (i << 2),
      16,
    );
  }
  for (let at = WORDS + 256; at < WORDS + 1024; at += 16) {
    const early = v128.load(at - 240);
    const late = v128.load(at - 32);
    const small0 = xor3(turned(early, 7), turned(early, 18), i32x4.shr_u(early, 3));
    const small1 = xor3(turned(late, 17), turned(late, 19), i32x4.shr_u(late, 10));
    v128.store(at, sum(sum(v128.load(at - 256), small0), sum(v128.load(at - 112), small1)));
  }
  let a = v128.load(STATE);
  let b = v128.load(STATE, 16);
  let c = v128.load(STATE, 32);
  let d = v128.load(STATE, 48);
  let e = v128.load(STATE, 64);
  let f = v128.load(STATE, 80);
  let g = v128.load(STATE, 96);
  let h = v128.load(STATE, 112);
  // eight rounds, after which each variable is where it was
  for (let round: usize = 0; round < 64; round += 8) {
    h = sum(sum(h, word(round)), second(e, f, g));
    d = sum(d, h);
    h = sum(h, first(a, b, c));
    g = sum(sum(g, word(round + 1)), second(d, e, f));
    c = sum(c, g);
    g = sum(g, first(h, a, b));
    f = sum(sum(f, word(round + 2)), second(c, d, e));
    b = sum(b, f);
    f = sum(f, first(g, h, a));
    e = sum(sum(e, word(round + 3)), second(b, c, d));
    a = sum(a, e);
    e = sum(e, first(f, g, h));
    d = sum(sum(d, word(round + 4)), second(a, b, c));
    h = sum(h, d);
    d = sum(d, first(e, f, g));
    c = sum(sum(c, word(round + 5)), second(h, a, b));
    g = sum(g, c);
    c = sum(c, first(d, e, f));
    b = sum(sum(b, word(round + 6)), second(g, h, a));
    f = sum(f, b);
    b = sum(b, first(c, d, e));
    a = sum(sum(a, word(round + 7)), second(f, g, h));
    e = sum(e, a);
    a = sum(a, first(b, c, d));
  }
  v128.store(STATE, sum(a, v128.load(STATE)));
  v128.store(STATE, sum(b, v128.load(STATE, 16)), 16);
  v128.store(STATE, sum(c, v128.load(STATE, 32)), 32);
  v128.store(STATE, sum(d, v128.load(STATE, 48)), 48);
  v128.store(STATE, sum(e, v128.load(STATE, 64)), 64);
  v128.store(STATE, sum(f, v128.load(STATE, 80)), 80);
  v128.store(STATE, sum(g, v128.load(STATE, 96)), 96);
  v128.store(STATE, sum(h, v128.load(STATE, 112)), 112);
}

/** Writes the four hashes, one behind the other. */
export function finish(out: usize): void {
  for (let half: usize = 0; half < 2; half++) {
    const state = STATE + (half << 6);
    transpose(
      swapped(v128.load(state)),
      swapped(v128.load(state, 16)),
      swapped(v128.load(state, 32)),
      swapped(v128.load(state, 48)),
      out + (half << 4),
      HASH,
    );
  }
}

/** Each word with its first byte the highest, and back. */
@inline
function swapped(words: v128): v128 {
  return v128.swizzle(words, i8x16(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}

/** Writes four rows of words as columns, `stride` bytes behind each other. */
@inline
function transpose(a: v128, b: v128, c: v128, d: v128, out: usize, stride: usize): void {
  const ab01 = v128.shuffle<u32>(a, b, 0, 4, 1, 5);
  const ab23 = v128.shuffle<u32>(a, b, 2, 6, 3, 7);
  const cd01 = v128.shuffle<u32>(c, d, 0, 4, 1, 5);
  const cd23 = v128.shuffle<u32>(c, d, 2, 6, 3, 7);
  v128.store(out, v128.shuffle<u64>(ab01, cd01, 0, 2));
  v128.store(out + stride, v128.shuffle<u64>(ab01, cd01, 1, 3));
  v128.store(out + 2 * stride, v128.shuffle<u64>(ab23, cd23, 0, 2));
  v128.store(out + 3 * stride, v128.shuffle<u64>(ab23, cd23, 1, 3));
}
