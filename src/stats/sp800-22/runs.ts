/** SP 800-22 2.3, Runs test: does the sequence oscillate as often as it should? */
import { erfc } from '../special.ts';
import { type BitSequence, onesIn, popcount } from './sequence.ts';

export interface RunsResult {
  /** V_n, the number of runs of equal bits. */
  readonly runs: number;
  /** π, the share of ones. */
  readonly onesShare: number;
  readonly pValue: number;
}

export function runsTest(bits: BitSequence): RunsResult {
  const { words, length } = bits;
  const onesShare = onesIn(words, 0, length) / length; // 2.3.4 step 1
  const runs = changes(words, length) + 1; // step 3
  // Step 2: without a passed frequency test this one is not made; document and reference say p = 0.
  if (Math.abs(onesShare - 0.5) >= 2 / Math.sqrt(length)) return { runs, onesShare, pValue: 0 };
  const spread = onesShare * (1 - onesShare);
  const distance = Math.abs(runs - 2 * length * spread);
  return { runs, onesShare, pValue: erfc(distance / (2 * Math.sqrt(2 * length) * spread)) }; // step 4
}

/** How often a bit differs from the next one. */
function changes(words: Int32Array, length: number): number {
  const pairs = length - 1;
  const whole = pairs >>> 5;
  let count = 0;
  for (let i = 0; i < whole; i++) count += popcount(words[i] ^ ((words[i] << 1) | (words[i + 1] >>> 31)));
  const rest = pairs & 31;
  if (rest !== 0) {
    const next = (words[whole] << 1) | (words[whole + 1] >>> 31);
    count += popcount((words[whole] ^ next) & (-1 << (32 - rest)));
  }
  return count;
}
