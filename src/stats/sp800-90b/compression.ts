import { bisect, minEntropyOf, Z_995 } from './confidence.ts';

/** b: bits of a block (SP 800-90B 6.3.4). */
const BLOCK_BITS = 6;
const BLOCK_VALUES = 1 << BLOCK_BITS;
/** d: blocks that only fill the dictionary (6.3.4). */
const DICTIONARY_BLOCKS = 1000;
/** Shrinks the deviation for the dependence of neighbouring distances, for b = 6 (6.3.4). */
const DEVIATION_FACTOR = 0.5907;

export interface CompressionEstimate {
  /** Mean of log2 of the distance to the last equal block. */
  readonly mean: number;
  readonly deviation: number;
  /** Lower end of the 99 % interval of the mean. */
  readonly meanLower: number;
  /** Probability of the most likely block. */
  readonly p: number;
  /** Bits per bit. */
  readonly minEntropy: number;
}

/**
 * Compression estimate, after Maurer's universal statistic (SP 800-90B 6.3.4), of bits, one per byte. Null
 * with fewer than 1,002 blocks of 6 bits.
 */
export function compression(bits: Uint8Array): CompressionEstimate | null {
  const blocks = Math.floor(bits.length / BLOCK_BITS);
  const tested = blocks - DICTIONARY_BLOCKS;
  if (tested < 2) return null;
  const log2 = new Float64Array(blocks + 1);
  for (let i = 2; i <= blocks; i++) log2[i] = Math.log2(i);

  // Equal distances are counted first, so each logarithm is weighed once and little is lost in
  // the sums.
  const distances = distanceCounts(bits, blocks);
  let sum = 0;
  let sumOfSquares = 0;
  for (let distance = 2; distance <= blocks; distance++) {
    sum += distances[distance] * log2[distance];
    sumOfSquares += distances[distance] * log2[distance] * log2[distance];
  }
  const mean = sum / tested;
  const deviation = DEVIATION_FACTOR * Math.sqrt(sumOfSquares / (tested - 1) - mean * mean);
  const meanLower = mean - (Z_995 * deviation) / Math.sqrt(tested);

  // The near-uniform family, one block of probability p and 63 of q, whose expected mean is the
  // lower bound.
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
 * counts[D]: how many tested blocks have their last equal block D blocks back, or 0 blocks before the
 * first.
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
 * z^2 (1-z)^(u-1) for u < t and z (1-z)^(t-1) for u = t. Exchanging the sums leaves one pass: log2(u)
 * (1-z)^(u-1) counts z^2 times for every t > u, that is v times when u <= d and L - u times after, and z
 * times more when u > d.
 */
function g(z: number, log2: Float64Array, blocks: number): number {
  const tested = blocks - DICTIONARY_BLOCKS;
  // The whole is at least v (1-z), and what follows a term weighs at most v log2(L) (1-z)^(u-1) / z: below
  // this power the rest is under 2^-60 of the sum for any L below 2^64.
  const negligible = 2 ** -66 * z * (1 - z);
  let power = 1 - z;
  let before = 0; // sum over u < t, by z^2
  let u = 2;
  for (; u <= DICTIONARY_BLOCKS && power > negligible; u++, power *= 1 - z) before += log2[u] * power;
  before *= tested;
  let last = 0; // the terms u = t, by z
  for (; u <= blocks && power > negligible; u++, power *= 1 - z) {
    const term = log2[u] * power;
    before += (blocks - u) * term;
    last += term;
  }
  return (z * (z * before + last)) / tested;
}
