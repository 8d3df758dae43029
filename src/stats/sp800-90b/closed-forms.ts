import { bisect, minEntropyOf, upperBound, Z_995 } from './confidence.ts';

/*
 * The estimators of SP 800-90B 6.3.1 to 6.3.4, which are formulas of counts. Each returns
 * its `minEntropy` in bits per symbol, and the intermediate values that NIST's tool prints.
 */

/** Most common value estimate (SP 800-90B 6.3.1). At least two symbols, each below `alphabetSize`. */
export function mostCommonValue(symbols: Uint8Array, alphabetSize: number) {
  const counts = new Int32Array(alphabetSize);
  for (let i = 0; i < symbols.length; i++) counts[symbols[i]]++;
  let modeCount = 0;
  for (const count of counts) modeCount = Math.max(modeCount, count);
  const pHat = modeCount / symbols.length;
  const pUpper = upperBound(pHat, symbols.length);
  return { modeCount, pHat, pUpper, minEntropy: minEntropyOf(pUpper) };
}

/** Collision estimate (SP 800-90B 6.3.2) of bits, one per byte. Null when there are fewer than two collisions. */
export function collision(bits: Uint8Array) {
  let collisions = 0; // v
  let sumOfSquares = 0;
  let at = 0; // the sum of the times to collision, which is the count of samples used
  // Among three bits two are equal, so the time to a collision is 2 (00, 11) or 3 (all other triples).
  while (at < bits.length - 1) {
    const time = bits[at] === bits[at + 1] ? 2 : 3;
    if (at + time > bits.length) break;
    collisions++;
    sumOfSquares += time * time;
    at += time;
  }
  if (collisions < 2) return null;
  const mean = at / collisions;
  const deviation = Math.sqrt((sumOfSquares - at * mean) / (collisions - 1));
  // Lower end of the 99 % interval of the mean, which is not below 2.
  const meanLower = Math.max(2, mean - (Z_995 * deviation) / Math.sqrt(collisions));
  // With q = 1 - p the expected time of 6.3.2 collapses to 2 + 2pq = 2 + 2p - 2p^2, a quadratic in p; it has
  // no root above 1/2 when the mean exceeds 2.5, and then entropy is full.
  const p = meanLower < 2.5 ? 0.5 + Math.sqrt(1.25 - 0.5 * meanLower) : 0.5;
  return { collisions, samplesUsed: at, mean, deviation, meanLower, p, minEntropy: minEntropyOf(p) };
}

/** Length of the chain whose most likely path the estimate uses (SP 800-90B 6.3.3). */
const CHAIN_LENGTH = 128;

/** Markov estimate (SP 800-90B 6.3.3) of at least two bits, one per byte. */
export function markov(bits: Uint8Array) {
  const pairs = new Int32Array(4);
  for (let i = 1; i < bits.length; i++) pairs[(bits[i - 1] << 1) | bits[i]]++;
  const [count00, count01, count10, count11] = pairs;
  const zeros = count00 + count01 + (bits[bits.length - 1] === 0 ? 1 : 0);
  const initial = [zeros / bits.length, 1 - zeros / bits.length] as const; // Pr[0] and Pr[1]
  const transition = [row(count00, count01), row(count10, count11)] as const; // [a][b]: that b follows a
  const chainBits = lowestChainBits(initial, transition);
  return { initial, transition, pMax: 2 ** -chainBits, minEntropy: Math.min(chainBits / CHAIN_LENGTH, 1) };
}

/** Returns 0 for both when the bit never occurs before the last place. */
function row(toZero: number, toOne: number): readonly [number, number] {
  const total = toZero + toOne;
  return total === 0 ? [0, 0] : [toZero / total, toOne / total];
}

/** Returns -log2 of the probability of the most likely of the six chains of 6.3.3; at most 128. */
function lowestChainBits(
  initial: readonly [number, number],
  transition: readonly [readonly [number, number], readonly [number, number]],
): number {
  // An impossible step costs infinitely many bits, so a chain that contains one is never the lowest.
  const [start0, start1] = initial.map(minEntropyOf);
  const [[t00, t01], [t10, t11]] = transition.map((probabilities) => probabilities.map(minEntropyOf));
  return Math.min(
    CHAIN_LENGTH,
    start0 + 127 * t00, // 00...0
    start0 + 64 * t01 + 63 * t10, // 0101...01
    start0 + t01 + 126 * t11, // 011...1
    start1 + t10 + 126 * t00, // 100...0
    start1 + 64 * t10 + 63 * t01, // 1010...10
    start1 + 127 * t11, // 11...1
  );
}

/** b: bits of a block (SP 800-90B 6.3.4). */
const BLOCK_BITS = 6;
const BLOCK_VALUES = 1 << BLOCK_BITS;
/** d: blocks that only fill the dictionary (6.3.4). */
const DICTIONARY_BLOCKS = 1000;
/** Reduces the deviation, because neighbouring distances depend on each other; the value is for b = 6 (6.3.4). */
const DEVIATION_FACTOR = 0.5907;

/**
 * Compression estimate, after Maurer's universal statistic (SP 800-90B 6.3.4), of bits, one per byte. Null
 * with fewer than 1,002 blocks of 6 bits.
 */
export function compression(bits: Uint8Array) {
  const blocks = Math.floor(bits.length / BLOCK_BITS);
  const tested = blocks - DICTIONARY_BLOCKS;
  if (tested < 2) return null;
  const log2 = new Float64Array(blocks + 1);
  for (let i = 2; i <= blocks; i++) log2[i] = Math.log2(i);

  // Equal distances are counted first, so that each logarithm is multiplied once and the sums lose few digits.
  const distances = distanceCounts(bits, blocks);
  let sum = 0;
  let sumOfSquares = 0;
  for (let distance = 2; distance <= blocks; distance++) {
    sum += distances[distance] * log2[distance];
    sumOfSquares += distances[distance] * log2[distance] * log2[distance];
  }
  const mean = sum / tested; // of log2 of the distance to the last equal block
  const deviation = DEVIATION_FACTOR * Math.sqrt(sumOfSquares / (tested - 1) - mean * mean);
  const meanLower = mean - (Z_995 * deviation) / Math.sqrt(tested);

  // The near-uniform family: one block has probability p and 63 have q. Its expected mean must equal the lower bound.
  const expectedMean = (p: number): number => {
    const q = (1 - p) / (BLOCK_VALUES - 1);
    return g(p, log2, blocks) + (BLOCK_VALUES - 1) * g(q, log2, blocks);
  };
  const uniform = 1 / BLOCK_VALUES;
  // No solution means full entropy.
  const p =
    expectedMean(uniform) > meanLower ? bisect(uniform, 1, (x) => expectedMean(x) > meanLower) : uniform;
  return { mean, deviation, meanLower, p, minEntropy: minEntropyOf(p) / BLOCK_BITS };
}

/**
 * Counts by distance D the tested blocks whose last equal block is D blocks back; a block without one counts as equal
 * to a block 0.
 */
function distanceCounts(bits: Uint8Array, blocks: number): Int32Array {
  const counts = new Int32Array(blocks + 1);
  const lastSeen = new Int32Array(BLOCK_VALUES);
  for (let i = 1, at = 0; i <= blocks; i++) {
    let value = 0;
    for (const end = at + BLOCK_BITS; at < end; at++) value = (value << 1) | bits[at];
    if (i > DICTIONARY_BLOCKS) counts[i - lastSeen[value]]++;
    lastSeen[value] = i;
  }
  return counts;
}

/**
 * G(z) of 6.3.4: 1/v * sum over t = d+1..L of sum over u = 1..t of log2(u) F(z, t, u), where F is
 * z^2 (1-z)^(u-1) for u < t and z (1-z)^(t-1) for u = t. Exchanging the sums leaves one pass: the term log2(u)
 * (1-z)^(u-1) has the weight z^2 for every t > u, that is v times when u <= d and L - u times when u > d, and when u > d
 * the weight z once more.
 */
function g(z: number, log2: Float64Array, blocks: number): number {
  const tested = blocks - DICTIONARY_BLOCKS;
  // The whole sum is at least v (1-z), and the terms after u add at most v log2(L) (1-z)^(u-1) / z. Once (1-z)^(u-1) is
  // below this, the rest is under 2^-60 of the sum for any L below 2^64.
  const negligible = 2 ** -66 * z * (1 - z);
  let power = 1 - z;
  let before = 0; // sum over u < t, without its factor z^2
  let u = 2;
  for (; u <= DICTIONARY_BLOCKS && power > negligible; u++, power *= 1 - z) before += log2[u] * power;
  before *= tested;
  let last = 0; // the terms u = t, without their factor z
  for (; u <= blocks && power > negligible; u++, power *= 1 - z) {
    const term = log2[u] * power;
    before += (blocks - u) * term;
    last += term;
  }
  return (z * (z * before + last)) / tested;
}
