/**
 * SHA-256 (FIPS 180-4) of four messages at a time, one in each 32-bit lane of a vector. A call of OpenSSL takes as long as
 * four of its blocks do, or as ten where the processor has instructions for SHA-256.
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
/** The eight words of the four states, one vector for each word; schedules have the same form. */
export const STATE: usize = memory.data(128, 16);
/** Size of a schedule in bytes. */
export const SCHEDULE: usize = 1024;
/** The schedule of a block, without and with the constants of its rounds. */
const WORDS: usize = memory.data(1024, 16);
const SUMS: usize = memory.data(1024, 16);

/** Pads a message that has zeros after it (5.1.1), and returns the offset at which its last block ends. */
export function padded(message: usize, bytes: i32): usize {
  const end = (usize(bytes) + 9 + BLOCK - 1) & ~(BLOCK - 1);
  store<u8>(message + usize(bytes), 0x80);
  store<u64>(message + end - 8, bswap(u64(bytes) << 3));
  return end;
}

/** Sets the states to their initial values. */
export function begin(): void {
  for (let i: usize = 0; i < 8; i++) v128.store(STATE + (i << 4), v128.load32_splat(INITIAL + (i << 2)));
}

/** Zeroes the schedule of the last block, which would reveal the block. */
export function eraseSchedule(): void {
  memory.fill(WORDS, 0, SCHEDULE);
  memory.fill(SUMS, 0, SCHEDULE);
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

/** Σ0 (4.1.2). */
@inline
function sigma0(a: v128): v128 {
  return xor3(turned(a, 2), turned(a, 13), turned(a, 22));
}

/** Σ1 + Ch (4.1.2). */
@inline
function second(e: v128, f: v128, g: v128): v128 {
  return sum(xor3(turned(e, 6), turned(e, 11), turned(e, 25)), v128.bitselect(f, g, e));
}

/** Returns the terms of the schedule word at `at` + 256 except the one from two words before it. */
@inline
function early(at: usize): v128 {
  const word = v128.load(at, 16);
  const small0 = xor3(turned(word, 7), turned(word, 18), i32x4.shr_u(word, 3));
  return sum(sum(v128.load(at), small0), v128.load(at, 144));
}

@inline
function late(word: v128): v128 {
  return xor3(turned(word, 17), turned(word, 19), i32x4.shr_u(word, 10));
}

/**
 * Writes the schedule of one block of each message, with the constant of its round added to each word. The messages lie
 * `stride` bytes apart.
 */
export function schedule(block: usize, stride: usize, out: usize): void {
  for (let i: usize = 0; i < BLOCK; i += 16) {
    transpose(
      swapped(v128.load(block + i)),
      swapped(v128.load(block + i + stride)),
      swapped(v128.load(block + i + 2 * stride)),
      swapped(v128.load(block + i + 3 * stride)),
      WORDS + (i << 2),
      WORDS + (i << 2) + 16,
      WORDS + (i << 2) + 32,
      WORDS + (i << 2) + 48,
    );
  }
  for (let i: usize = 0; i < 16; i++)
    v128.store(out + (i << 4), sum(v128.load(WORDS + (i << 4)), v128.load32_splat(K + (i << 2))));
  let word0 = v128.load(WORDS, 224);
  let word1 = v128.load(WORDS, 240);
  let at = WORDS;
  let sums = out + 256;
  for (let k = K + 64; k < K + 256; k += 8) {
    word0 = sum(early(at), late(word0));
    word1 = sum(early(at + 16), late(word1));
    v128.store(at, word0, 256);
    v128.store(at, word1, 272);
    v128.store(sums, sum(word0, v128.load32_splat(k)));
    v128.store(sums, sum(word1, v128.load32_splat(k, 4)), 16);
    at += 32;
    sums += 32;
  }
}

/** Processes the block with this schedule in all four states (6.2.2). */
export function rounds(words: usize): void {
  let a = v128.load(STATE);
  let b = v128.load(STATE, 16);
  let c = v128.load(STATE, 32);
  let d = v128.load(STATE, 48);
  let e = v128.load(STATE, 64);
  let f = v128.load(STATE, 80);
  let g = v128.load(STATE, 96);
  let h = v128.load(STATE, 112);
  // Maj(a, b, c) = b ^ ((a ^ b) & (b ^ c)); a ^ b of one round is b ^ c of the next.
  let bc = v128.xor(b, c);
  let ab: v128;
  // Eight rounds, after which each variable is in its place again.
  for (const end = words + SCHEDULE; words < end; words += 128) {
    h = sum(sum(h, v128.load(words)), second(e, f, g));
    d = sum(d, h);
    ab = v128.xor(a, b);
    h = sum(sum(h, sigma0(a)), v128.xor(b, v128.and(ab, bc)));
    g = sum(sum(g, v128.load(words, 16)), second(d, e, f));
    c = sum(c, g);
    bc = v128.xor(h, a);
    g = sum(sum(g, sigma0(h)), v128.xor(a, v128.and(bc, ab)));
    f = sum(sum(f, v128.load(words, 32)), second(c, d, e));
    b = sum(b, f);
    ab = v128.xor(g, h);
    f = sum(sum(f, sigma0(g)), v128.xor(h, v128.and(ab, bc)));
    e = sum(sum(e, v128.load(words, 48)), second(b, c, d));
    a = sum(a, e);
    bc = v128.xor(f, g);
    e = sum(sum(e, sigma0(f)), v128.xor(g, v128.and(bc, ab)));
    d = sum(sum(d, v128.load(words, 64)), second(a, b, c));
    h = sum(h, d);
    ab = v128.xor(e, f);
    d = sum(sum(d, sigma0(e)), v128.xor(f, v128.and(ab, bc)));
    c = sum(sum(c, v128.load(words, 80)), second(h, a, b));
    g = sum(g, c);
    bc = v128.xor(d, e);
    c = sum(sum(c, sigma0(d)), v128.xor(e, v128.and(bc, ab)));
    b = sum(sum(b, v128.load(words, 96)), second(g, h, a));
    f = sum(f, b);
    ab = v128.xor(c, d);
    b = sum(sum(b, sigma0(c)), v128.xor(d, v128.and(ab, bc)));
    a = sum(sum(a, v128.load(words, 112)), second(f, g, h));
    e = sum(e, a);
    bc = v128.xor(b, c);
    a = sum(sum(a, sigma0(b)), v128.xor(c, v128.and(bc, ab)));
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

/** Processes one block of each message. The messages lie `stride` bytes apart. */
export function compress(block: usize, stride: usize): void {
  schedule(block, stride, SUMS);
  rounds(SUMS);
}

/** Writes the four hashes to the given addresses. */
export function finish(a: usize, b: usize, c: usize, d: usize): void {
  for (let half: usize = 0; half < 32; half += 16) {
    const state = STATE + (half << 2);
    transpose(
      swapped(v128.load(state)),
      swapped(v128.load(state, 16)),
      swapped(v128.load(state, 32)),
      swapped(v128.load(state, 48)),
      a + half,
      b + half,
      c + half,
      d + half,
    );
  }
}

/** Reverses the bytes of each word: FIPS 180-4 words are big-endian. */
@inline
function swapped(words: v128): v128 {
  return v128.swizzle(words, i8x16(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}

/** Writes the four columns of four rows of words. */
@inline
function transpose(a: v128, b: v128, c: v128, d: v128, outA: usize, outB: usize, outC: usize, outD: usize): void {
  const ab01 = v128.shuffle<u32>(a, b, 0, 4, 1, 5);
  const ab23 = v128.shuffle<u32>(a, b, 2, 6, 3, 7);
  const cd01 = v128.shuffle<u32>(c, d, 0, 4, 1, 5);
  const cd23 = v128.shuffle<u32>(c, d, 2, 6, 3, 7);
  v128.store(outA, v128.shuffle<u64>(ab01, cd01, 0, 2));
  v128.store(outB, v128.shuffle<u64>(ab01, cd01, 1, 3));
  v128.store(outC, v128.shuffle<u64>(ab23, cd23, 0, 2));
  v128.store(outD, v128.shuffle<u64>(ab23, cd23, 1, 3));
}
