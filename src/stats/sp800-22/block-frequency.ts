/** SP 800-22 2.2, Frequency test within a block: is each block of M bits balanced? */
import { igamc } from '../special.ts';
import { type BitSequence, onesIn } from './sequence.ts';

export interface BlockFrequencyResult {
  /** N, whole blocks; the rest of the sequence is not used. */
  readonly blocks: number;
  readonly chiSquared: number;
  readonly pValue: number;
}

export function blockFrequencyTest(bits: BitSequence, blockBits: number): BlockFrequencyResult {
  const blocks = Math.floor(bits.length / blockBits); // 2.2.4 step 1
  let squares = 0;
  for (let block = 0; block < blocks; block++) {
    // Steps 2, 3: 4M (π_i - 1/2)² = (2 ones - M)² / M, summed as whole numbers.
    const excess = 2 * onesIn(bits.words, block * blockBits, blockBits) - blockBits;
    squares += excess * excess;
  }
  const chiSquared = squares / blockBits;
  return { blocks, chiSquared, pValue: igamc(blocks / 2, chiSquared / 2) }; // step 4
}
