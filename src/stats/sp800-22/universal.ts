/** SP 800-22 2.9, Maurer's "Universal Statistical" test: can the sequence be compressed without loss? */
import { assert } from '../../core/assert.ts';
import { erfc } from '../special.ts';
import { type BitSequence, wordAt } from './sequence.ts';

/** 2.9.4 step 5 and 2.9.7: for each L, the fewest bits n, the expected f_n and the variance of one term. */
const TABLE = [
  [6, 387_840, 5.2177052, 2.954],
  [7, 904_960, 6.1962507, 3.125],
  [8, 2_068_480, 7.1836656, 3.238],
  [9, 4_654_080, 8.1764248, 3.311],
  [10, 10_342_400, 9.1723243, 3.356],
  [11, 22_753_280, 10.170032, 3.384],
  [12, 49_643_520, 11.168765, 3.401],
] as const;

/** The fewest bits for which SP 800-22 states an expected value. */
export const UNIVERSAL_BITS_MIN = TABLE[0][1];

interface UniversalParameters {
  /** L, at most 16. */
  readonly blockBits: number;
  /** Q, the number of blocks that only fill the table. */
  readonly initialBlocks: number;
  readonly expected: number;
  /** σ, the standard deviation of f_n. */
  sigma(testBlocks: number): number;
}

/** The parameters of 2.9.7 for n bits; n is at least UNIVERSAL_BITS_MIN. */
export function universalParameters(length: number): UniversalParameters {
  const entry = TABLE.findLast(([, bitsMin]) => length >= bitsMin);
  assert(entry !== undefined, 'the universal test needs 387,840 bits');
  const [L, , expected, variance] = entry;
  return {
    blockBits: L,
    initialBlocks: 10 * 2 ** L,
    expected,
    sigma: (K) => {
      const c = 0.7 - 0.8 / L + ((4 + 32 / L) * K ** (-3 / L)) / 15; // 2.9.4 step 5
      return c * Math.sqrt(variance / K);
    },
  };
}

export function universalTest(bits: BitSequence, parameters: UniversalParameters) {
  const { blockBits, initialBlocks, expected, sigma } = parameters;
  const totalBlocks = Math.floor(bits.length / blockBits);
  const testBlocks = totalBlocks - initialBlocks; // 2.9.4 step 1: K
  assert(testBlocks > 0, 'the universal test has blocks after the initial ones');
  // Steps 2, 3: T_j, the last block that held j. The loop counts equal distances, so that each logarithm is computed
  // once.
  const lastSeen = new Int32Array(2 ** blockBits);
  const distances = new Int32Array(totalBlocks + 1);
  for (let i = 1, at = 0; i <= totalBlocks; i++, at += blockBits) {
    const block = wordAt(bits.words, at) >>> (32 - blockBits);
    if (i > initialBlocks) distances[i - lastSeen[block]]++;
    lastSeen[block] = i;
  }
  let sum = 0;
  for (let distance = 1; distance <= totalBlocks; distance++) {
    if (distances[distance] !== 0) sum += distances[distance] * Math.log2(distance);
  }
  const meanLog = sum / testBlocks; // step 4: f_n
  const pValue = erfc(Math.abs(meanLog - expected) / (Math.SQRT2 * sigma(testBlocks))); // step 5
  return { testBlocks, meanLog, pValue };
}
