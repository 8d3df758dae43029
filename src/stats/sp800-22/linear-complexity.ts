/** SP 800-22 2.10, Linear complexity test: how long a shift register generates each block? */
import { igamc } from '../special.ts';
import { type BitSequence, type Constants, chiSquaredOf, wordAt } from './sequence.ts';

/** 3.10: the exact limit distribution of T. */
const CORRECTED = [1 / 96, 1 / 32, 1 / 8, 1 / 2, 1 / 4, 1 / 16, 1 / 48];
/** sts-2.1.2: 0.01047 is a misprint of the document's 0.010417. */
const REFERENCE = [0.01047, 0.03125, 0.125, 0.5, 0.25, 0.0625, 0.020833];

/** Words of zeros in front of a series, so that a shifted read may start before its first word. */
const PAD = 2;

/**
 * Returns the length of the shortest linear feedback shift register that generates a block (Berlekamp-Massey). Of the
 * two polynomials of the algorithm, C and B, it keeps only their products with the block S, as series of bits:
 * `current` = S·C and `previous` = S·B. The first one of S·C at or after the last discrepancy is the next discrepancy.
 * So no inner product is ever computed, and one clz32 skips the bits between two discrepancies. `current` holds the
 * block from word PAD on, `previous` has the same length; the function overwrites both.
 */
function linearComplexity(current: Int32Array, previous: Int32Array, blockBits: number): number {
  const end = current.length;
  let complexity = 0;
  let lastChange = -1; // m: B = 1 as if a discrepancy had been met just before the first bit
  previous.set(current);
  let word = PAD;
  let pending = current[word];
  for (;;) {
    while (pending === 0) {
      if (++word >= end) return complexity;
      pending = current[word];
    }
    const n = 32 * (word - PAD) + Math.clz32(pending);
    if (n >= blockBits) return complexity;
    // C += x^(n - m) B. Words before `word` are not read again.
    const skip = (n - lastChange) >>> 5;
    const shift = (n - lastChange) & 31;
    if (2 * complexity <= n) {
      complexity = n + 1 - complexity;
      lastChange = n;
      // Backwards, so that `previous` can take over the old series in place.
      for (let j = end - 1; j >= word; j--) {
        const old = current[j];
        current[j] = old ^ shifted(previous, j - skip, shift);
        previous[j] = old;
      }
    } else {
      for (let j = word; j < end; j++) current[j] ^= shifted(previous, j - skip, shift);
    }
    pending = current[word] & (0x7fffffff >>> (n & 31));
  }
}

/** Returns word `index` of a series that is shifted later by `shift` bits. */
function shifted(series: Int32Array, index: number, shift: number): number {
  return (series[index] >>> shift) | ((series[index - 1] << 1) << (31 - shift));
}

/** Returns the index of T = (-1)^M (L - μ) + 2/9 among the classes (-∞, -2.5], (-2.5, -1.5], ..., (2.5, ∞). */
function classOf(t: number): number {
  return Math.min(Math.max(Math.ceil(t + 2.5), 0), 6);
}

/** `blockBits` is M; 2.10.7 asks for 500 to 5000, and for 200 blocks or more. */
export function linearComplexityTest(
  bits: BitSequence,
  blockBits: number,
  constants: Constants = 'corrected',
) {
  const blocks = Math.floor(bits.length / blockBits); // 2.10.4 step 1
  const sign = blockBits % 2 === 0 ? 1 : -1;
  const mean = blockBits / 2 + (9 - sign) / 36 - (blockBits / 3 + 2 / 9) / 2 ** blockBits; // step 3
  const wordCount = Math.ceil(blockBits / 32);
  const current = new Int32Array(PAD + wordCount);
  const previous = new Int32Array(PAD + wordCount);
  const tail = blockBits & 31;
  const counts: number[] = new Array(CORRECTED.length).fill(0); // ν_0 .. ν_6: blocks by the class of T_i
  for (let block = 0; block < blocks; block++) {
    current.fill(0, 0, PAD);
    for (let i = 0; i < wordCount; i++) current[PAD + i] = wordAt(bits.words, block * blockBits + 32 * i);
    if (tail !== 0) current[PAD + wordCount - 1] &= -1 << (32 - tail);
    const complexity = linearComplexity(current, previous, blockBits); // step 2
    counts[classOf(sign * (complexity - mean) + 2 / 9)]++; // steps 4, 5
  }
  const chances = constants === 'reference' ? REFERENCE : CORRECTED;
  const chiSquared = chiSquaredOf(counts, chances, blocks); // step 6
  return { blocks, counts, pValue: igamc((CORRECTED.length - 1) / 2, chiSquared / 2) }; // step 7
}
